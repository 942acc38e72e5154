"""TCVA, and any other scorer, as metrics of both families of RAGAS."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar, Final, Generic, Self

from langchain_core.callbacks import Callbacks
from langchain_core.runnables.config import var_child_runnable_config
from ragas.callbacks import ChainType, new_group
from ragas.dataset_schema import BaseSample, SingleTurnSample
from ragas.metrics.base import (
    MetricOutputType,
    MetricType,
    MetricWithLLM,
    SingleTurnMetric,
)
from ragas.metrics.collections.base import BaseMetric
from ragas.run_config import RunConfig

from tcva_adapters._adapter.evaluator import check_scorer, check_settings, require
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, JudgeError, SharedNameWarning
from tcva_adapters.evaluator import Frozen, R, Scorer, lacks
from tcva_adapters.judges.resolve import is_lexical
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.ragas.llm import unwrapped
from tcva_adapters.ragas.results import JUDGEMENT, ScorerMetricResult, score_of
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.reasons import Reason
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_model import shows_settings
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

COLUMNS: Final = {
    "input": "user_input",
    "response": "response",
    "contexts": "retrieved_contexts",
    "reference": "reference",
}
"""RAGAS' names of a sample's fields."""


class NoLLM:
    """Stands in for the LLM of ``evaluate(llm=...)``, so that settings are checked early."""

    name = "none"
    parameters: Final[dict[str, Any]] = {}

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Refused."""
        del request
        msg = "the metric has no LLM: pass llm=... to the metric or to evaluate()"
        raise JudgeError(msg, fatal=True)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Refused likewise."""
        return self.complete(request)


class OfScorer(Frozen, Generic[R]):
    """What the metrics of both families have in common.

    Attributes:
        scorer: The scorer, with the metric's LLM.
        name: The column in the result: as given, or the scorer's name.
    """

    settable: ClassVar[tuple[str, ...]] = ("name",)
    scorer: Scorer[R]
    name: str
    _llm: Any

    def _begin(
        self,
        scorer: Scorer[R],
        llm: Any,
        name: str | None,
    ) -> None:
        check_scorer(self, scorer)
        _check_name(name)
        self._adopt(scorer, llm)
        self.name = name or scorer.name
        self._is_built = True

    def _build(
        self,
        criterion: Criterion | str,
        llm: Any,
        name: str | None,
        settings: dict[str, Any],
    ) -> None:
        """Begin with a TCVA of these settings; it is built last, as it opens the store."""
        check_settings(self, settings, TCVASettings.model_fields, judge="llm")
        _check_name(name)
        tcva: Any = TCVA(criterion, judge=_judge(llm), **settings)
        self._begin(tcva, llm, name)

    def _adopt(self, scorer: Scorer[R], llm: Any) -> None:
        needed = "one without profiles, because RAGAS' samples have no metadata"
        require(getattr(scorer, "profiles", None) is None, "scorer", scorer, needed)
        vars(self).update(scorer=scorer, _llm=llm)

    @property
    def llm(self) -> Any:
        """The LLM as it was given, or the scorer's own; None if there is none yet.

        Raises:
            InvalidValueError: What is set cannot judge, or does not fit a setting.
        """
        return self._llm

    @llm.setter
    def llm(self, llm: Any) -> None:
        self._adopt(self.scorer.changed(judge=_judge(llm)), llm)
        if guarantee := self.scorer.arguments.get("guarantee"):
            guarantee.warned_of.clear()  # RAGAS sets it where a run begins

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, scorer={self.scorer!r})"

    def changed(self, **settings: Any) -> Self:
        """A copy with another ``llm`` or other settings; it shares judge and store.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        check_settings(self, settings, ["llm", *self.scorer.arguments], judge="llm")
        other, llm = copy(self), self._llm
        if "llm" in settings:
            llm = settings.pop("llm")
            settings["judge"] = _judge(llm)
        scorer = self.scorer.changed(**settings)
        other._adopt(scorer, llm)  # noqa: SLF001  # of this class
        if self.name == self.scorer.name:
            other.name = scorer.name
        return other


def _judge(llm: Any) -> Any:
    """What a scorer takes for this LLM."""
    if llm is None:
        return NoLLM()
    return "lexical" if is_lexical(unwrapped(llm)) else llm


def _llm_of(scorer: Any) -> Any:
    """The LLM that a scorer asks, to which RAGAS gives retries and waits; else its judge."""
    judge = getattr(scorer, "judge", None) or getattr(scorer, "rater", scorer)
    return getattr(getattr(judge, "model", None), "llm", judge)


def _check_name(name: str | None) -> None:
    is_name = name is None or (
        isinstance(name, str) and (not name or bool(name.strip()))
    )
    require(is_name, "name", name, "a text, or None for the default name")


class OlderMetric(OfScorer[R], MetricWithLLM):
    """What the metrics of `evaluate` and `aevaluate` have in common."""

    settable = ("name", "llm")
    output_type = MetricOutputType.CONTINUOUS

    def init(self, run_config: RunConfig) -> None:
        """What RAGAS calls at the start of an evaluation, with one object for all of its metrics.

        Warns:
            SharedNameWarning: Another one of these metrics has the name of this one.
        """
        super().init(run_config)
        # Scoring clears them, as one object may take part in several evaluations.
        names = vars(self)["_names"] = vars(run_config).setdefault("_tcva_names", {})
        if names.setdefault(self.name, self) is not self:
            msg = (
                f"two metrics of this evaluation are called {self.name!r}, and RAGAS keeps the "
                "scores of one alone; give each a name of its own with name=..."
            )
            warnings.warn(msg, SharedNameWarning, stacklevel=2)


class ScorerMetric(OlderMetric[R], SingleTurnMetric):
    """Scores samples in ``evaluate`` and ``aevaluate`` with any scorer: `TCVA`, `CCRS`.

    Only ``name`` and ``llm`` can be set later; with ``llm = None`` the metric takes that of
    ``evaluate(llm=...)``. For other settings, `changed` returns a copy.

    Args:
        scorer: A `TCVA` or a `CCRS`.
        name: The column in the result; by default the scorer's name.

    Raises:
        InvalidValueError: ``scorer`` is not a scorer, or cannot be used here.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerMetric(CCRS("qr", judge="lexical", threshold=0.6))
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('ccrs_qr(threshold=0.6)', ['response', 'user_input'])
    """

    def __init__(self, scorer: Scorer[R], *, name: str | None = None) -> None:
        self._begin(scorer, _llm_of(scorer), name)

    def _adopt(self, scorer: Scorer[R], llm: Any) -> None:
        super()._adopt(scorer, llm)
        required = {COLUMNS[name] for name in scorer.required}
        optional = {f"{COLUMNS[name]}:optional" for name in scorer.shown}
        self._required_columns = {MetricType.SINGLE_TURN: required | optional}

    def single_turn_score(
        self, sample: SingleTurnSample, callbacks: Callbacks = None
    ) -> float:
        """Score one sample. It needs no event loop and also works inside a running one.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError).
            JudgeError: The judge failed.
        """
        sample = self._only_required_columns_single_turn(sample)
        with recorded(self.scorer, sample, callbacks or []) as found:
            found.append(self.scorer.evaluate(_of_turn(self.scorer, sample)))
        return score_of(found[0])

    async def _single_turn_ascore(
        self, sample: SingleTurnSample, callbacks: Callbacks
    ) -> float:
        vars(self).pop("_names", {}).clear()
        with recorded(self.scorer, sample, callbacks) as found:
            found.append(await self.scorer.aevaluate(_of_turn(self.scorer, sample)))
        return score_of(found[0])


def _of_turn(scorer: Scorer[Any], turn: SingleTurnSample) -> Sample:
    return _sample(scorer, *(getattr(turn, column) for column in COLUMNS.values()))


def _sample(scorer: Scorer[Any], *columns: Any) -> Sample:
    """A sample with all that a scorer needs; the error has RAGAS' names of the fields."""
    sample = Sample(**dict(zip(COLUMNS, columns, strict=True)))
    if missing := [COLUMNS[name] for name in scorer.missing(sample)]:
        raise InvalidSampleError(lacks("the sample", missing, scorer.subject))
    return sample


@contextmanager
def recorded(
    scorer: Any, sample: BaseSample, callbacks: Callbacks
) -> Iterator[list[Any]]:
    """Around a judgement: a run in RAGAS' traces, with the result that is put into what it gives.

    Calls of LangChain's LLMs report to it: traces, token counts, costs. A sample that lacks a field
    gets its result here, and one whose judgement RAGAS ends.
    """
    inputs, metadata = {"data": sample}, {"type": ChainType.RAGAS_PROMPT}
    run, group = new_group(JUDGEMENT, inputs, callbacks, metadata=metadata)
    around = var_child_runnable_config.get() or {}
    within = var_child_runnable_config.set({**around, "callbacks": group})
    found: list[Any] = []
    try:
        yield found
    except InvalidSampleError as error:
        found.append(
            scorer.emit_result(scorer.unscored(Reason.MISSING_FIELD, str(error)))
        )
        raise
    except asyncio.CancelledError:
        detail = "RAGAS ended the measurement after run_config.timeout"
        found.append(scorer.emit_result(scorer.unscored(Reason.TIMEOUT, detail)))
        raise
    finally:
        var_child_runnable_config.reset(within)
        if run.handlers:
            run.on_chain_end({"output": [result.to_dict() for result in found] or {}})


class ScorerCollectionMetric(OfScorer[R], BaseMetric):  # type: ignore[misc]  # RAGAS' own bases disagree
    """Scores with any scorer in RAGAS' newer family: ``score``, ``ascore``, batches, ``@experiment``.

    If the judge fails, the value is NaN and the reason says why. An exception would lose other
    rows of a batch, and the row of an experiment.

    The metric is frozen: `changed` returns a copy, and results have ``at(...)``.

    Args:
        scorer: A `TCVA` or a `CCRS`.
        name: By default the scorer's name.

    Raises:
        InvalidValueError: ``scorer`` is not a scorer, or cannot be used here.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerCollectionMetric(CCRS("qr", judge="lexical"))
    >>> metric.score(user_input="Where is the car?", response="The car is at home.").value
    1.0
    """

    def __init__(self, scorer: Scorer[R], *, name: str | None = None) -> None:
        BaseMetric.__init__(self)
        self._begin(scorer, _llm_of(scorer), name)

    def score(  # type: ignore[override]  # RAGAS' own metrics name their arguments too
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> ScorerMetricResult[R]:
        """Score one sample. It needs no event loop and also works inside a running one.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing, or has a type that
                cannot be read (a ValueError).
        """
        sample = _sample(
            self.scorer, user_input, response, retrieved_contexts, reference
        )
        return ScorerMetricResult(self.scorer.evaluate(sample))

    async def ascore(  # type: ignore[override]  # likewise
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> ScorerMetricResult[R]:
        """The same, awaited.

        Raises:
            InvalidSampleError: See `score`.
        """
        sample = _sample(
            self.scorer, user_input, response, retrieved_contexts, reference
        )
        return ScorerMetricResult(await self.scorer.aevaluate(sample))

    def batch_score(  # type: ignore[override]  # a list of a subclass is another type
        self, inputs: list[dict[str, Any]]
    ) -> list[ScorerMetricResult[R]]:
        """Score many: one result per input, in order, whatever fails. Equal ones are judged once.

        If an input lacks a field, its value is NaN and its reason says so.

        Raises:
            InvalidSampleError: An input is not a dict, or a field of it has a type that cannot be
                read; raised before any call.
        """
        results = self.scorer.evaluate_many(_samples(inputs), progress=False)
        return list(map(ScorerMetricResult, results))

    async def abatch_score(  # type: ignore[override]  # likewise
        self, inputs: list[dict[str, Any]]
    ) -> list[ScorerMetricResult[R]]:
        """The same, awaited.

        Raises:
            InvalidSampleError: See `batch_score`.
        """
        results = await self.scorer.aevaluate_many(_samples(inputs), progress=False)
        return list(map(ScorerMetricResult, results))


def _samples(inputs: Iterable[Any]) -> list[Sample]:
    samples = []
    for number, row in enumerate(inputs):
        try:
            samples.append(Sample.from_record(dict(row)))
        except (TypeError, ValueError) as error:
            msg = f"inputs[{number}] must be a dict of a sample's fields, got {row!r:.60}: {error}"
            raise InvalidSampleError(msg) from None
    return samples


class TCVAArguments(OfScorer[R], FromConfig):
    """Builds a metric's `TCVA` of its arguments."""

    scorer: TCVA  # type: ignore[assignment]  # its results are of conversations, too

    @shows_settings(TCVASettings, without=("profiles",))
    def __init__(
        self,
        *,
        name: str | None = None,
        llm: Any = None,
        criterion: Criterion | str = "faithfulness",
        **settings: Any,
    ) -> None:
        self._build(criterion, llm, name, settings)


class TCVAMetric(TCVAArguments[Result], ScorerMetric[Result]):
    """Judges claims on five levels and scores them at a temperature, in ``evaluate`` and ``aevaluate``.

    A `ScorerMetric` that builds its `TCVA` from its arguments.

    Args:
        name: The column in the result; by default ``tcva_``, the criterion's name, and in brackets
            every setting that differs from its default: ``tcva_faithfulness(T=0.2)``.
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object; by default the LLM of ``evaluate(llm=...)``.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        **settings: See `TCVASettings`. There are no profiles, because RAGAS' samples have no metadata.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVAMetric(llm="lexical")
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('tcva_faithfulness', ['response', 'retrieved_contexts'])
    """


class TCVACollectionMetric(ScorerCollectionMetric[Result], FromConfig):  # type: ignore[misc]  # as above
    """Judges claims on five levels in RAGAS' newer family, as `ScorerCollectionMetric` does.

    Args:
        llm: The judge, as for `TCVAMetric`.
        name: As for `TCVAMetric`.
        criterion: As for `TCVAMetric`.
        **settings: As for `TCVAMetric`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or ``llm`` cannot judge.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVACollectionMetric("lexical")
    >>> score = metric.score(response="It opens at nine.", retrieved_contexts=["It opens at nine."])
    >>> score.value, score.claims[0].verdict.value
    (1.0, 'fully')
    """

    scorer: TCVA

    @shows_settings(TCVASettings, without=("profiles",))
    def __init__(
        self,
        llm: Any,
        name: str | None = None,
        *,
        criterion: Criterion | str = "faithfulness",
        **settings: Any,
    ) -> None:
        BaseMetric.__init__(self)
        self._build(criterion, llm, name, settings)
