"""TCVAMetric: five-level verdicts and the dial wherever DeepEval takes a metric."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from deepeval.errors import MissingTestCaseParamsError
from deepeval.evaluate.types import EvaluationResult
from deepeval.metrics import BaseMetric
from deepeval.metrics.utils import construct_verbose_logs, initialize_model
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams
from pydantic import BaseModel, ValidationError

from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.verdicts import LEVELS, WeightScheme
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.facade import TCVA
from tcva_adapters.judging.assessment import Assessment
from tcva_adapters.judging.criteria import Criterion
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode, Judge, ModelJudge
from tcva_adapters.judging.result import Result, Scoring
from tcva_adapters.judging.sample import Sample
from tcva_adapters.judging.store import VerdictStore

_PARAMS: Final = {
    "input": SingleTurnParams.INPUT,
    "response": SingleTurnParams.ACTUAL_OUTPUT,
    "contexts": SingleTurnParams.RETRIEVAL_CONTEXT,
    "reference": SingleTurnParams.EXPECTED_OUTPUT,
}
"""A sample's fields under DeepEval's names."""


_OURS: Final = re.compile(r"lexical|openai:.*")
"""Names of judges that are not DeepEval's to understand."""


class Collected(NamedTuple):
    """One judged test case.

    Attributes:
        test_case: The test case.
        result: Its result, with claims, verdicts and evidence.
    """

    test_case: LLMTestCase
    result: Result


class _Log(BaseModel):
    """What ``verbose_logs`` holds: of all that DeepEval keeps, the one text that is ours."""

    assessment: Assessment
    scoring: Scoring


class TCVAMetric(BaseMetric):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Judges claims on five levels and scores them on the dial.

    Takes the place of `FaithfulnessMetric` and its siblings in ``evaluate``, ``assert_test`` and
    ``deepeval test run``. DeepEval measures copies of a metric, one per test case, so results are
    also put where all copies reach: in `collected` and in ``verbose_logs`` (see `results_of`).

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
        name: What reports call the metric; by default ``TCVA`` and the criterion.
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
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: The choice is left to DeepEval, and its provider has no key.

    >>> metric = TCVAMetric(model="lexical")
    >>> opens = "The office opens at nine."
    >>> metric.measure(LLMTestCase(input="When?", actual_output=opens, retrieval_context=[opens]))
    1.0
    """

    # Any: DeepEval declares them narrower than it uses them.
    model: Any
    score_breakdown: Any
    _required_params: Any

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
        name: str | None = None,
        include_reason: bool = True,
        async_mode: bool = True,
        strict_mode: bool = False,
        verbose_mode: bool = False,
        flaky: bool = False,
        collected: list[Collected] | None = None,
    ) -> None:
        self.threshold = 1.0 if strict_mode else threshold
        judge = _judge(model)
        tcva = TCVA(
            criterion,
            judge=judge,
            temperature=temperature,
            # Without a threshold there is nothing that a score could fall short of.
            threshold=0.0 if self.threshold is None else self.threshold,
            scheme=scheme,
            penalty=penalty,
            eps=eps,
            floor=floor,
            on_unscored=on_unscored,
            claims=claims,
            max_claims=max_claims,
            store=store,
        )
        # DeepEval copies a metric by calling its class with every attribute that has the name of
        # a parameter. Judge, store and list are handed on as objects, so that copies share them.
        self.criterion = tcva.criterion
        self.temperature = tcva.scoring.temperature
        self.model = _shared(judge, tcva.judge)
        self.scheme = tcva.scoring.scheme
        self.penalty = penalty
        self.eps = eps
        self.floor = floor
        self.on_unscored = on_unscored
        self.claims = claims
        self.max_claims = max_claims
        self.store = tcva.store
        self.name = name or f"TCVA {tcva.criterion.name}"
        self.include_reason = include_reason
        self.async_mode = async_mode
        self.strict_mode = strict_mode
        self.verbose_mode = verbose_mode
        self.flaky = flaky
        self.collected = [] if collected is None else collected

        self._tcva = tcva
        self._required_params = [_PARAMS[field] for field in tcva.criterion.required]
        self.evaluation_model = tcva.judge.name
        # DeepEval's cache compares this attribute, and none of the dial's settings.
        self.criteria = _fingerprint(tcva)

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
    def result(self) -> Result | None:
        """The result of the last test case, also where it came from DeepEval's cache."""
        return None if self.verbose_logs is None else _read(self.verbose_logs)

    @property
    def __name__(self) -> str:
        """What reports call the metric."""
        return self.name


def result_of(measured: Any) -> Result:
    """The `Result` behind what DeepEval reports of a `TCVAMetric`; no call.

    Args:
        measured: A ``MetricData`` (of a ``TestResult``), or anything with ``verbose_logs``.

    Raises:
        UnreadableInputError: Its ``verbose_logs`` do not come from a `TCVAMetric`, or there are
            none because it was never judged; the message quotes DeepEval's error.
    """
    logs = getattr(measured, "verbose_logs", None)
    if logs is None:
        name, error = getattr(measured, "name", measured), getattr(measured, "error", None)
        msg = f"{name!r} was not judged by a TCVAMetric: {error or 'it has no verbose_logs'}"
        raise UnreadableInputError(msg)
    return _read(logs)


def results_of(evaluation: EvaluationResult, name: str = "TCVA faithfulness") -> list[Result]:
    """The results of a `TCVAMetric` from what ``evaluate`` returns, in the order of its test cases.

    Args:
        evaluation: What DeepEval's ``evaluate`` returned.
        name: The metric's name.

    Raises:
        InvalidValueError: No metric of this name was measured.
        UnreadableInputError: See `result_of`.
    """
    # DeepEval lists test cases as they were finished.
    ordered = sorted(evaluation.test_results, key=lambda test: test.index or 0)
    measured = [data for test in ordered for data in test.metrics_data or ()]
    found = [result_of(data) for data in measured if data.name == name]
    if not found:
        names = ", ".join(dict.fromkeys(data.name for data in measured)) or "none"
        msg = f"no metric {name!r} in the evaluation; it has {names}"
        raise InvalidValueError(msg)
    return found


def _judge(model: Any) -> Any:
    if model is None or (isinstance(model, str) and not _OURS.fullmatch(model)):
        return initialize_model(model)[0]
    return model


def _shared(given: Any, judge: Judge) -> Any:
    if isinstance(given, DeepEvalBaseLLM) or not isinstance(judge, ModelJudge):
        return given
    # One client for all copies; how claims are made is theirs to say again.
    return given if given is judge else judge.model


def _fingerprint(tcva: TCVA) -> str:
    """Everything that can change a score."""
    judge, criterion = tcva.judge, tcva.criterion
    settings = sorted(judge.parameters.items())
    return (
        f"tcva {criterion.name} {criterion.fingerprint} {tcva.scoring!r} "
        f"{judge.name} {judge.prompt_version} {settings!r}"
    )


def _read(logs: str) -> Result:
    try:
        log = _Log.model_validate_json(logs)
    except ValidationError as error:
        first = error.errors()[0]["msg"]
        msg = f"verbose_logs {logs[:40]!r} were not written by a TCVAMetric: {first}"
        raise UnreadableInputError(msg) from None
    return Result(log.assessment, log.scoring)


def _start(metric: TCVAMetric, test_case: object) -> Sample:
    # What is left from the test case before must not be reported for this one.
    metric.score = metric.reason = metric.success = metric.error = None
    metric.score_breakdown = metric.verbose_logs = metric.evaluation_cost = None
    metric.input_tokens = metric.output_tokens = None
    try:
        return _sample(metric, test_case)
    except (MissingTestCaseParamsError, InvalidSampleError) as error:
        metric.error = str(error)
        raise


def _sample(metric: TCVAMetric, test_case: object) -> Sample:
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
    )


def _text(passage: Any) -> str:
    return passage if isinstance(passage, str) else str(passage.context)


def _finish(metric: TCVAMetric, test_case: LLMTestCase, result: Result) -> float | None:
    usage, unscored = result.assessment.usage, result.unscored
    metric.score = result.score
    metric.reason = result.reason if metric.include_reason else None
    if metric.strict_mode and result.score is not None and not result.passed:
        metric.score = 0.0
    if unscored is not None and unscored.reason.is_failure:
        metric.error = f"{unscored.reason.value}: {unscored.detail}"
    counts = result.assessment.counts.tolist()
    metric.score_breakdown = dict(zip(_LEVELS, counts, strict=True))
    metric.evaluation_cost = usage.cost
    metric.input_tokens, metric.output_tokens = usage.input_tokens, usage.output_tokens
    metric.success = metric.is_successful()
    log = _Log(assessment=result.assessment, scoring=result.scoring).model_dump_json()
    # The last step is printed in verbose mode only, the others also make up the logs.
    steps = [log, f"Score: {metric.score}\nReason: {result.reason}"]
    metric.verbose_logs = construct_verbose_logs(metric, steps=steps)
    metric.collected.append(Collected(test_case, result))
    score: float | None = metric.score
    return score


_LEVELS: Final = tuple(level.value for level in LEVELS)
