"""ScorerMetric and TCVAMetric: any scorer, and five-level verdicts and the dial, in `evaluate`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar, Final, Generic, Self

from langchain_core.callbacks import Callbacks
from ragas.callbacks import ChainType, new_group
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricOutputType, MetricType, MetricWithLLM, SingleTurnMetric
from ragas.prompt import PydanticPrompt

from tcva_adapters._adapter.evaluator import Frozen, check_scorer, check_settings, require
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, JudgeError
from tcva_adapters.evaluator import R, Scorer
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.ragas.llm import calls_traced_by, lexical_or, llm_of
from tcva_adapters.ragas.results import JUDGEMENT, score_of
from tcva_adapters.ragas.samples import COLUMNS, sample_of
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings, shows_settings
from tcva_adapters.tcva import TCVA

OWN: Final = "own"
"""The judge that a scorer was built with."""


class NoLLM:
    """Stands in for the LLM that ``evaluate(llm=...)`` gives, so that settings are checked now."""

    name = "none"
    parameters: Final[dict[str, Any]] = {}

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Refused."""
        del request
        msg = "the metric has no LLM; pass llm=... to the metric or to evaluate()"
        raise JudgeError(msg, fatal=True)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Refused likewise."""
        return self.complete(request)


class OfScorer(Frozen, Generic[R]):
    """What the metrics of both families have of their scorer: name, LLM, and settings that stay.

    Attributes:
        scorer: What scores, with the LLM that the metric has now.
    """

    settable: ClassVar[tuple[str, ...]] = ("name",)
    scorer: Scorer[R]
    _llm: Any

    def _begin(self, scorer: Scorer[R], llm: Any, name: str | None) -> None:
        check_scorer(self, scorer)
        self.name = name
        is_own = isinstance(llm, str) and llm == OWN
        judged = scorer if is_own else scorer.changed(judge=self._judge(llm))
        self._adopt(judged, llm_of(scorer) if is_own else llm)
        self._is_built = True

    def _tcva(
        self, criterion: Criterion | str, llm: Any, name: str | None, settings: dict[str, Any]
    ) -> TCVA:
        """The TCVA of a metric that is built from settings; checked last, as it opens the store."""
        known = [each for each in TCVASettings.model_fields if each != "profiles"]
        check_settings(self, settings, known, judge="llm")
        self.name = name
        return TCVA(criterion, judge=self._judge(llm), **settings)

    def _judge(self, llm: Any) -> Any:
        """What a scorer takes for this LLM."""
        return lexical_or(llm)

    def _adopt(self, scorer: Scorer[R], llm: Any) -> None:
        known = "samples of RAGAS carry no metadata, which profiles go by"
        require(getattr(scorer, "profiles", None) is None, "scorer", scorer, known)
        vars(self).update(scorer=scorer, _llm=llm)

    @property
    def name(self) -> str:
        """The column in the result: as given, or the scorer's name, which tells its settings.

        Raises:
            InvalidValueError: The name set is no text, or blank.
        """
        return self._name or self.scorer.name

    @name.setter
    def name(self, name: str | None) -> None:
        is_name = name is None or (isinstance(name, str) and (name == "" or bool(name.strip())))
        require(is_name, "name", name, "a column's name is a text, and None gives it the usual one")
        self._name = name or ""

    @property
    def llm(self) -> Any:
        """The LLM as it was given, or the scorer's own; None where there is none yet.

        Raises:
            InvalidValueError: What is set is nothing that can judge, or cannot follow a setting.
        """
        return self._llm

    @llm.setter
    def llm(self, llm: Any) -> None:
        self._adopt(self.scorer.changed(judge=self._judge(llm)), llm)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, scorer={self.scorer!r})"

    def changed(self, **settings: Any) -> Self:
        """A copy with another ``llm`` or other settings of its scorer; it shares judge and store.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        check_settings(self, settings, ["llm", *self.scorer.arguments], judge="llm")
        other, llm = copy(self), self.llm
        if "llm" in settings:
            llm = settings.pop("llm")
            settings["judge"] = self._judge(llm)
        other._adopt(self.scorer.changed(**settings), llm)  # noqa: SLF001  # of this class
        return other


class ScorerMetric(OfScorer[R], MetricWithLLM, SingleTurnMetric):
    """Scores samples in ``evaluate`` and ``aevaluate`` with any scorer: `TCVA`, `CCRS`.

    Only ``name`` and ``llm`` may be set later, which RAGAS and its users do. For other settings
    `changed` gives a copy.

    Args:
        scorer: What scores.
        llm: Takes the place of the scorer's judge: a RAGAS LLM of either family, ``"lexical"``,
            ``"openai:MODEL"``, or another framework's LLM object. By default the scorer keeps its
            own; None waits for that of ``evaluate(llm=...)``.
        name: The column in the result; by default the scorer's name.
        output_type: For RAGAS.

    Raises:
        InvalidValueError: ``scorer`` is no scorer, or cannot be used with such an LLM or here.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerMetric(CCRS("qr", judge="lexical", threshold=0.6))
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('ccrs_qr(threshold=0.6)', ['response', 'user_input'])
    """

    settable = ("name", "llm")

    def __init__(
        self,
        scorer: Scorer[R],
        llm: Any = OWN,
        *,
        name: str | None = None,
        output_type: MetricOutputType | None = MetricOutputType.CONTINUOUS,
    ) -> None:
        is_known = output_type is None or isinstance(output_type, MetricOutputType)
        require(is_known, "output_type", output_type, "a score is MetricOutputType.CONTINUOUS")
        self.output_type = output_type
        self._begin(scorer, llm, name)

    def _judge(self, llm: Any) -> Any:
        return NoLLM() if llm is None else super()._judge(llm)

    def _adopt(self, scorer: Scorer[R], llm: Any) -> None:
        super()._adopt(scorer, llm)
        self._required_columns = {
            MetricType.SINGLE_TURN: {
                *(COLUMNS[name] for name in scorer.required),
                *(f"{COLUMNS[name]}:optional" for name in scorer.shown),
            }
        }

    def _get_prompts(self) -> dict[str, PydanticPrompt[Any, Any]]:
        # RAGAS looks through all attributes, and would resolve the judge on its way.
        return {}

    def single_turn_score(self, sample: SingleTurnSample, callbacks: Callbacks = None) -> float:
        """Score one sample without an event loop: it also works where one is running.

        Raises:
            InvalidSampleError: A field that the scorer needs is missing (a ValueError).
            JudgeError: The judge failed.
        """
        sample = self._only_required_columns_single_turn(sample)
        inputs, metadata = sample.to_dict(), {"type": ChainType.METRIC}
        run, group = new_group(self.name, inputs, callbacks or [], metadata=metadata)
        scorer = self.scorer
        try:
            with _recorded(scorer, sample, group) as found:
                found.append(scorer.evaluate(sample_of(inputs)))
            score = score_of(found[0])
        except Exception as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end({"output": score})
        return score

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Callbacks) -> float:
        scorer = self.scorer
        with _recorded(scorer, sample, callbacks) as found:
            found.append(await scorer.aevaluate(sample_of(sample.to_dict())))
        return score_of(found[0])


@contextmanager
def _recorded(
    scorer: Scorer[R], sample: SingleTurnSample, callbacks: Callbacks
) -> Iterator[list[R]]:
    """Around a judgement: a run in RAGAS' traces, with the result that is put into what it gives.

    A sample that lacks a field gets its result here, and one whose judgement RAGAS ends.
    """
    inputs, metadata = {"data": sample}, {"type": ChainType.RAGAS_PROMPT}
    run, group = new_group(JUDGEMENT, inputs, callbacks, metadata=metadata)
    found: list[R] = []
    try:
        with calls_traced_by(group):
            yield found
    except InvalidSampleError as error:
        found.append(scorer.unscored(Reason.MISSING_FIELD, str(error)))
    except asyncio.CancelledError:
        detail = "no judgement was recorded: RAGAS ended it (run_config.timeout)"
        found.append(scorer.unscored(Reason.TIMEOUT, detail))
        raise
    finally:
        run.on_chain_end({"output": [result.to_dict() for result in found] or {}})


class TCVAMetric(FromConfig, ScorerMetric[Result]):
    """Judges claims on five levels and scores them on the dial, in ``evaluate`` and ``aevaluate``.

    A `ScorerMetric` that builds its `TCVA` from its arguments.

    Args:
        name: The column in the result; by default ``tcva_``, the criterion's name, and in brackets
            every setting that is not the usual one: ``tcva_faithfulness(T=0.2)``.
        llm: The judge, as for `ScorerMetric`; by default what ``evaluate(llm=...)`` is given.
        output_type: For RAGAS.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        **settings: See `TCVASettings`; samples of RAGAS have no metadata, so there are no profiles.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised when built.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVAMetric(llm="lexical")
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('tcva_faithfulness', ['response', 'retrieved_contexts'])
    """

    sees_metadata: ClassVar[bool] = False
    scorer: TCVA

    @shows_settings(TCVASettings, without=("profiles",))
    def __init__(
        self,
        *,
        name: str | None = None,
        llm: Any = None,
        output_type: MetricOutputType | None = MetricOutputType.CONTINUOUS,
        criterion: Criterion | str = "faithfulness",
        **settings: Any,
    ) -> None:
        tcva = self._tcva(criterion, llm, name, settings)
        super().__init__(tcva, llm, name=name, output_type=output_type)
