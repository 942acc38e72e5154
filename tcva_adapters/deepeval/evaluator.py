"""TCVAMetric: five-level verdicts and the dial wherever DeepEval takes a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics.utils import construct_verbose_logs
from deepeval.test_case import LLMTestCase
from pydantic_core import to_jsonable_python

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.verdicts import LEVELS, WeightScheme
from tcva_adapters.deepeval.adjustable import AdjustableMetric
from tcva_adapters.deepeval.results import log_of, result_of, results_of
from tcva_adapters.deepeval.settings import SETTINGS, attributes, default_name, fingerprint
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode
from tcva_adapters.results.assessment import Assessment, Reason, Unscored
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import GEOMETRIC, Fusion, HumanScale, Profiles
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

__all__ = ["Collected", "TCVAMetric", "result_of", "results_of"]


class Collected(NamedTuple):
    """One judged test case.

    Attributes:
        test_case: The test case.
        result: Its result, with claims, verdicts and evidence.
    """

    test_case: LLMTestCase
    result: Result


class TCVAMetric(FromConfig, AdjustableMetric):  # type: ignore[no-untyped-call]  # DeepEval's __init_subclass__
    """Judges claims on five levels and scores them on the dial.

    Takes the place of `FaithfulnessMetric` and its siblings in ``evaluate``, ``assert_test`` and
    ``deepeval test run``. DeepEval measures copies of a metric, one per test case, so results are
    also put where all copies reach: in `collected` and in ``verbose_logs`` (see `results_of`).

    Every argument is also an attribute that may be set later, as in ``metric.threshold = 0.8``. A
    new value is checked as one given here, and from then on everything follows it: the score, the
    name, copies, and DeepEval's cache.

    Args:
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        threshold: A score passes from here on. None as for DeepEval's own metrics: the test case
            is scored, neither passed nor failed.
        temperature: Strictness in [0.1, 1.0], low is strict; or ``strict``, ``balanced``,
            ``lenient``.
        model: The judge: a DeepEval LLM, ``"lexical"``, ``"openai:MODEL"``, or another framework's
            LLM object. None and all other names mean what they mean to DeepEval's own metrics:
            its settings choose the provider.
        scheme: Weights of the levels.
        penalty: ``paper``, ``ramped``, ``absolute`` or ``off``.
        eps: Floor under the weights at exponents that are not positive.
        floor: ``paper`` or ``always``.
        on_unscored: Score for test cases that have none of their own; None leaves them unscored.
        claims: ``split`` (sentences, one call) or ``llm`` (asked of the judge, two calls).
        max_claims: Most claims per test case.
        store: A path or a `VerdictStore`: judgements made before are served from it.
        fuse: A further judge, or several, whose scores are fused with the first one's.
        fusion: The mean that fuses them, geometric by default.
        mapping: From scores to a human scale, for ``Result.human_score``.
        profiles: Settings for test cases with certain ``metadata``. DeepEval shows ``threshold``
            for all of them; a test case passes by its own.
        name: What reports call the metric; by default ``TCVA``, the criterion, and in brackets the
            settings that are not the usual ones: ``TCVA faithfulness (T=0.2)``.
        include_reason: Say why in ``reason``. It costs no call.
        async_mode: As DeepEval expects it of every metric. `measure` needs no event loop.
        strict_mode: As in DeepEval: the threshold is 1, and a score below it counts as 0.
        verbose_mode: Print claims and verdicts.
        flaky: As in DeepEval: reported, but it decides nothing.
        collected: The list that results are added to; by default a new one.

    Attributes:
        collected: `Collected` of every measured test case, in the order they were finished.
        result: The `Result` of the last test case that this object measured, or None.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call, also
            where an attribute is set, which then keeps its value.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: The choice is left to DeepEval, and its provider has no key.

    >>> metric = TCVAMetric(model="lexical")
    >>> opens = "The office opens at nine."
    >>> metric.measure(LLMTestCase(input="When?", actual_output=opens, retrieval_context=[opens]))
    1.0
    """

    setting_names = SETTINGS

    criterion: Criterion
    temperature: float
    store: VerdictStore | None
    profiles: Profiles | None
    name: str
    collected: list[Collected]
    _tcva: TCVA

    def __init__(
        self,
        criterion: Criterion | str = "faithfulness",
        threshold: float | None = 0.5,
        temperature: float | str = 0.5,
        model: Any = None,
        *,
        scheme: WeightScheme | str | Sequence[float] = WeightScheme.DEFAULT,
        penalty: Penalty = "paper",
        eps: float = 1e-9,
        floor: Floor = "paper",
        on_unscored: float | None = None,
        claims: ClaimsMode = "split",
        max_claims: int = MAX_CLAIMS,
        store: VerdictStore | str | Path | None = None,
        fuse: Any = None,
        fusion: Fusion = GEOMETRIC,
        mapping: HumanScale | None = None,
        profiles: Profiles | None = None,
        name: str | None = None,
        include_reason: bool = True,
        async_mode: bool = True,
        strict_mode: bool = False,
        verbose_mode: bool = False,
        flaky: bool = False,
        collected: list[Collected] | None = None,
    ) -> None:
        given = {
            "criterion": criterion,
            "threshold": threshold,
            "temperature": temperature,
            "model": model,
            "scheme": scheme,
            "penalty": penalty,
            "eps": eps,
            "floor": floor,
            "on_unscored": on_unscored,
            "claims": claims,
            "max_claims": max_claims,
            "store": store,
            "fuse": fuse,
            "fusion": fusion,
            "mapping": mapping,
            "profiles": profiles,
            "name": name,
            "include_reason": include_reason,
            "async_mode": async_mode,
            "strict_mode": strict_mode,
            "verbose_mode": verbose_mode,
            "flaky": flaky,
            "collected": collected,
        }
        vars(self).update(attributes(given))

    @classmethod
    def attributes_for(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """See `AdjustableMetric`."""
        return attributes(given)

    @classmethod
    def name_for(cls, given: Mapping[str, Any]) -> str:
        """See `AdjustableMetric`."""
        return default_name(given)

    def __repr__(self) -> str:
        return f"TCVAMetric(name={self.name!r}, tcva={self._tcva!r})"

    def measure(  # type: ignore[override]  # a score may be missing
        self, test_case: LLMTestCase, _show_indicator: bool = True, _in_component: bool = False
    ) -> float | None:
        """Judge one test case without an event loop: it also works where one is running.

        Args:
            test_case: The test case; a retrieved context with a source is judged by its text.

        Returns:
            The score in [0, 1]; None where there is none. A failure of the judge is in ``error``,
            as DeepEval reports it; it does not end the run.

        Raises:
            MissingTestCaseParamsError: The test case has no field that the criterion needs.
            InvalidSampleError: It is a conversation, or multimodal (a ValueError, as DeepEval's
                own metrics raise).
        """
        sample = _start(self, test_case)
        return _finish(self, test_case, self._tcva.evaluate(sample))

    async def a_measure(  # type: ignore[override]  # as above
        self, test_case: LLMTestCase, _show_indicator: bool = True, _in_component: bool = False
    ) -> float | None:
        """The same, awaited.

        Raises:
            MissingTestCaseParamsError: See `measure`.
            InvalidSampleError: See `measure`.
        """
        sample = _start(self, test_case)
        return _finish(self, test_case, await self._tcva.aevaluate(sample))

    @property
    def criteria(self) -> str:
        """What can change a score: DeepEval's cache compares it, and none of the settings."""
        settings = fingerprint(self._tcva)
        # The metadata that profiles go by is in no key of the cache: nothing may be taken from it.
        return settings if self.profiles is None else f"{settings} {uuid4()}"

    def is_successful(self) -> bool | None:
        """Whether the score reaches the threshold; that of its profile, if the test case has one.

        Returns:
            None without a threshold.
        """
        if self.profiles is None or self.threshold is None or self.error is not None:
            usual: bool | None = super().is_successful()
            return usual
        result = self.result
        self.success = result is not None and bool(result.passed)
        return self.success

    @property
    def result(self) -> Result | None:
        """The result of the last test case, also where it came from DeepEval's cache."""
        return None if self.verbose_logs is None else result_of(self)


def _start(metric: TCVAMetric, test_case: object) -> Sample:
    metric.error = None  # and all else that is left from the test case before
    metric.skipped = False
    # DeepEval may end the measurement at its time limit, and then reports what the logs hold now.
    ended = "the measurement was ended before there were verdicts"
    metric.verbose_logs = _log(metric, test_case, Reason.TIMEOUT, ended)
    try:
        return sample_for(metric, test_case)
    except (MissingTestCaseParamsError, InvalidSampleError) as error:
        metric.error = str(error)
        metric.verbose_logs = _log(metric, test_case, Reason.MISSING_FIELD, metric.error)
        raise


def _log(metric: TCVAMetric, test_case: object, reason: Reason, detail: str) -> str:
    """The logs of a test case that was not judged."""
    tcva = metric._tcva  # noqa: SLF001  # in the class, DeepEval would trace it as a span
    assessment = Assessment(
        criterion=tcva.criterion.name,
        judge=tcva.judge.name,
        prompt_version=tcva.judge.prompt_version,
        sample_id=getattr(test_case, "name", None),
        unscored=Unscored(reason=reason, detail=detail),
    )
    return log_of(Result(assessment, tcva.scoring))


def sample_for(metric: Any, test_case: object) -> Sample:
    """What a metric judges of a test case.

    Raises:
        MissingTestCaseParamsError: It has no field that the metric needs.
        InvalidSampleError: It is a conversation, or multimodal.
    """
    if not isinstance(test_case, LLMTestCase):
        msg = (
            f"'{metric.name}' judges an LLMTestCase, not a {type(test_case).__name__}; judge each "
            "answer of a conversation as an LLMTestCase with the context it was given"
        )
        raise InvalidSampleError(msg)
    if test_case.multimodal:
        msg = f"'{metric.name}' judges text; the test case is multimodal"
        raise InvalidSampleError(msg)
    missing = [p.value for p in metric._required_params if getattr(test_case, p.value) is None]  # noqa: SLF001  # DeepEval's name
    if missing:
        fields = " and ".join(f"'{field}'" for field in missing)
        msg = f"{fields} cannot be None for the '{metric.name}' metric"
        raise MissingTestCaseParamsError(msg)
    retrieved = test_case.retrieval_context
    return Sample(
        input=test_case.input,
        response=test_case.actual_output,
        contexts=None if retrieved is None else tuple(map(_text, retrieved)),
        reference=test_case.expected_output,
        id=test_case.name,
        metadata=to_jsonable_python(test_case.metadata or {}, fallback=str),
    )


def _text(passage: Any) -> str:
    return passage if isinstance(passage, str) else str(passage.context)


def _finish(metric: TCVAMetric, test_case: LLMTestCase, result: Result) -> float | None:
    usage, unscored = result.assessment.usage, result.unscored
    metric.score = result.score
    metric.reason = unmarked(result.reason) if metric.include_reason else None
    if metric.strict_mode and result.score is not None and not result.passed:
        metric.score = 0.0
    if unscored is not None and unscored.reason.is_failure:
        metric.error = unmarked(f"{unscored.reason.value}: {unscored.detail}")
    counts = result.assessment.counts.tolist()
    metric.score_breakdown = dict(zip(_LEVELS, counts, strict=True))
    metric.evaluation_cost = usage.cost
    metric.input_tokens, metric.output_tokens = usage.input_tokens, usage.output_tokens
    # The last step is printed in verbose mode only, the others also make up the logs.
    steps = [log_of(result), f"Score: {metric.score}\nReason: {result.reason}"]
    metric.verbose_logs = construct_verbose_logs(metric, steps=steps)
    metric.success = metric.is_successful()
    metric.collected.append(Collected(test_case, result))
    score: float | None = metric.score
    return score


_LEVELS: Final = tuple(level.value for level in LEVELS)
_ROUND: Final = str.maketrans("[]", "()")


def unmarked(text: str) -> str:
    """A text without square brackets."""
    # DeepEval prints it as markup of rich, which swallows "[none]" and breaks off at a "[/INST]".
    return text.translate(_ROUND)
