"""TCVAMetric and TCVACollectionMetric: five-level verdicts and the dial in both RAGAS families."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
from langchain_core.callbacks import Callbacks
from pydantic import BaseModel
from ragas.callbacks import ChainType, new_group
from ragas.dataset_schema import EvaluationResult, SingleTurnSample
from ragas.metrics.base import MetricOutputType, MetricType, MetricWithLLM, SingleTurnMetric
from ragas.metrics.collections.base import BaseMetric as CollectionMetric
from ragas.metrics.result import MetricResult
from ragas.prompt import PydanticPrompt

from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.facade import TCVA
from tcva_adapters.judging.assessment import Assessment, ClaimVerdict, Reason, Unscored
from tcva_adapters.judging.criteria import Criterion
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode, Judge, ModelJudge
from tcva_adapters.judging.models import ModelReply
from tcva_adapters.judging.prompts import JudgeRequest
from tcva_adapters.judging.resolve import resolve_judge
from tcva_adapters.judging.result import Result, Scoring
from tcva_adapters.judging.sample import Sample
from tcva_adapters.judging.store import VerdictStore
from tcva_adapters.ragas.model import calls_traced_by
from tcva_adapters.ragas.prompts import CriterionText, check_prompts, texts_of, with_texts

_COLUMNS: Final = {
    "input": "user_input",
    "response": "response",
    "contexts": "retrieved_contexts",
    "reference": "reference",
}

_PROMPTS: Final = (
    "wording_prompt",
    "fully_prompt",
    "mostly_prompt",
    "partial_prompt",
    "minor_prompt",
    "nothing_prompt",
)

JUDGEMENT: Final = "tcva_judgement"
"""The name of the judgement in RAGAS' traces."""


class TCVAScore(float):
    """A score as RAGAS takes it, a plain number, and the judgement behind it.

    NaN where the sample has no score. Copies and pickles.

    Attributes:
        result: The `Result`, with claims, verdicts, evidence, and ``at(T)`` without a call.
    """

    result: Result

    def __new__(cls, result: Result) -> Self:
        """The number and its origin in one."""
        score = super().__new__(cls, math.nan if result.score is None else result.score)
        score.result = result
        return score

    def __reduce__(self) -> tuple[type[Self], tuple[Result]]:
        return type(self), (self.result,)

    def at(self, temperature: float | str, **changes: Any) -> TCVAScore:
        """The same judgement at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return TCVAScore(self.result.at(temperature, **changes))


class TCVAJudgement(BaseModel):
    """What stands in RAGAS' traces.

    Attributes:
        score: The score; None where there is none.
        reason: The score in one sentence.
        assessment: Claims, verdicts, evidence.
        scoring: The setting of the dial.
    """

    score: float | None
    reason: str
    assessment: Assessment
    scoring: Scoring

    @classmethod
    def of(cls, result: Result) -> TCVAJudgement:
        """The trace of a result."""
        return cls(
            score=result.score,
            reason=result.reason,
            assessment=result.assessment,
            scoring=result.scoring,
        )

    @property
    def result(self) -> Result:
        """The same as a `Result`, as `TCVA` returns it."""
        return Result(self.assessment, self.scoring)


class _NoModelYet:
    """Stands in for the LLM that ``evaluate(llm=...)`` brings, so that options are checked now."""

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


@dataclass(repr=False, eq=False)
class TCVAMetric(MetricWithLLM, SingleTurnMetric):
    """Judges claims on five levels and scores them on the dial, in ``evaluate`` and ``aevaluate``.

    Attributes:
        name: The column in the result; by default ``tcva_`` and the criterion's name.
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default what ``evaluate(llm=...)`` is given.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        temperature: Strictness in [0.1, 1.0], low is strict; or ``strict``, ``balanced``,
            ``lenient``.
        threshold: A score passes from here on.
        scheme: Weights of the levels: a scheme, its name, or five numbers.
        penalty: ``paper``, ``ramped``, ``absolute`` or ``off``.
        eps: Floor under the weights at exponents that are not positive.
        floor: ``paper`` or ``always``.
        on_unscored: Score for samples that have none of their own; None leaves them NaN.
        claims: ``split`` (sentences, one call) or ``llm`` (asked of the judge, two calls).
        max_claims: Most claims per sample.
        store: A path or a `VerdictStore`: judgements made before are served from it.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised when built.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVAMetric(llm="lexical")
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('tcva_faithfulness', ['response', 'retrieved_contexts'])
    """

    llm: Any = None
    output_type: MetricOutputType | None = MetricOutputType.CONTINUOUS
    _: KW_ONLY
    criterion: Criterion | str = "faithfulness"
    temperature: float | str = 0.5
    threshold: float = 0.5
    scheme: WeightScheme | str | Sequence[float] = WeightScheme.DEFAULT
    penalty: Penalty = "paper"
    eps: float = 1e-9
    floor: Floor = "paper"
    on_unscored: float | None = None
    claims: ClaimsMode = "split"
    max_claims: int = MAX_CLAIMS
    store: VerdictStore | str | Path | None = None
    wording_prompt: CriterionText = field(init=False)
    fully_prompt: CriterionText = field(init=False)
    mostly_prompt: CriterionText = field(init=False)
    partial_prompt: CriterionText = field(init=False)
    minor_prompt: CriterionText = field(init=False)
    nothing_prompt: CriterionText = field(init=False)

    def __post_init__(self) -> None:
        self._tcva = TCVA(
            self.criterion,
            judge=_judge(self.llm, self.claims, self.max_claims),
            temperature=self.temperature,
            threshold=self.threshold,
            scheme=self.scheme,
            penalty=self.penalty,
            eps=self.eps,
            floor=self.floor,
            on_unscored=self.on_unscored,
            store=self.store,
        )
        self._built_for = self.llm
        self.criterion = criterion = self._tcva.criterion
        self.name = self.name or f"tcva_{criterion.name}"
        for name, prompt in zip(_PROMPTS, texts_of(criterion), strict=True):
            setattr(self, name, prompt)
        shown = (name for name in criterion.shows if name not in criterion.required)
        self.required_columns = {
            MetricType.SINGLE_TURN: {
                *(_COLUMNS[name] for name in criterion.required),
                *(f"{_COLUMNS[name]}:optional" for name in shown),
            }
        }

    def __repr__(self) -> str:
        return f"TCVAMetric(name={self.name!r}, tcva={self.tcva!r})"

    @property
    def tcva(self) -> TCVA:
        """The `TCVA` behind the metric, with the LLM and the prompts that it has now.

        Raises:
            InvalidValueError: The LLM is nothing that can judge, or a prompt cannot be used.
        """
        prompts = [getattr(self, name) for name in _PROMPTS]
        criterion = with_texts(self._tcva.criterion, prompts)
        if self.llm is not self._built_for or criterion is not self._tcva.criterion:
            # A new object: judgements under way keep the model and the texts they began with.
            tcva = copy(self._tcva)
            tcva.criterion = criterion
            if self.llm is not self._built_for:
                tcva.judge = _judge(self.llm, self.claims, self.max_claims)
            self._tcva, self._built_for = tcva, self.llm
        return self._tcva

    def _get_prompts(self) -> dict[str, PydanticPrompt[Any, Any]]:
        # RAGAS looks through all attributes, and would resolve the judge on its way.
        return {name: getattr(self, name) for name in _PROMPTS}

    def set_prompts(self, **prompts: Any) -> None:
        """Change texts of the criterion: the wording, or what a level means.

        Raises:
            InvalidValueError: Not a text of a criterion, or one with examples.
            ValueError: No prompt has this name.
        """
        check_prompts(prompts)
        super().set_prompts(**prompts)  # type: ignore[no-untyped-call]  # RAGAS has no types here

    def single_turn_score(self, sample: SingleTurnSample, callbacks: Callbacks = None) -> float:
        """Score one sample without an event loop: it also works where one is running.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError).
            JudgeError: The judge failed.
        """
        sample = self._only_required_columns_single_turn(sample)
        inputs = sample.to_dict()
        metadata = {"type": ChainType.METRIC}
        run, group = new_group(self.name, inputs, callbacks or [], metadata=metadata)
        tcva = self.tcva
        judgement, group = self._open(sample, group)
        try:
            with calls_traced_by(group):
                result = tcva.evaluate(_sample(sample.to_dict()))
        except InvalidSampleError as error:
            result = _not_judged(tcva, error)
        judgement.on_chain_end({"output": [TCVAJudgement.of(result)]})
        try:
            score = _score(result)
        except Exception as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end({"output": score})
        return score

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Callbacks) -> float:
        tcva = self.tcva
        judgement, group = self._open(sample, callbacks)
        try:
            with calls_traced_by(group):
                result = await tcva.aevaluate(_sample(sample.to_dict()))
        except InvalidSampleError as error:
            result = _not_judged(tcva, error)
        judgement.on_chain_end({"output": [TCVAJudgement.of(result)]})
        return _score(result)

    def _open(self, sample: SingleTurnSample, callbacks: Callbacks) -> tuple[Any, Any]:
        return new_group(
            JUDGEMENT,
            inputs={"data": sample},
            callbacks=callbacks,
            metadata={"type": ChainType.RAGAS_PROMPT},
        )


class TCVAMetricResult(MetricResult):
    """A result as RAGAS' newer metrics give it, and the judgement behind it.

    ``value`` is the score, NaN where there is none; ``reason`` says what it rests on or why there
    is none; ``traces`` hold what was judged and what came out. Copies and pickles.

    Attributes:
        result: The `Result`, with claims, verdicts, evidence, and ``at(T)`` without a call.
    """

    def __init__(self, result: Result, judged: dict[str, Any] | None = None) -> None:
        value = math.nan if result.score is None else result.score
        output = TCVAJudgement.of(result).model_dump(mode="json")
        super().__init__(value, result.reason, {"input": judged or {}, "output": output})
        self.result = result
        self._judged = judged

    def __reduce__(self) -> tuple[type[Self], tuple[Result, dict[str, Any] | None]]:
        # RAGAS' class cannot be copied: it looks its value up in objects that have none yet.
        return type(self), (self.result, self._judged)

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with verdict, evidence and reason, non-claims included."""
        return self.result.claims

    def at(self, temperature: float | str, **changes: Any) -> TCVAMetricResult:
        """The same judgement at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return TCVAMetricResult(self.result.at(temperature, **changes), self._judged)


class TCVACollectionMetric(CollectionMetric):
    """The same for RAGAS' newer family: ``score``, ``ascore``, batches, ``@experiment``.

    A judge that fails gives a result whose value is NaN and whose reason says why: in a batch or
    an experiment an exception would lose other rows, or its own without a trace.

    Args:
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object.
        name: By default ``tcva_`` and the criterion's name.
        **options: As for `TCVAMetric`, and ``max_concurrency`` for batches.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or ``llm`` cannot judge.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVACollectionMetric("lexical")
    >>> score = metric.score(response="It opens at nine.", retrieved_contexts=["It opens at nine."])
    >>> score.value, score.claims[0].verdict.value
    (1.0, 'fully')
    """

    def __init__(self, llm: Any, name: str | None = None, **options: Any) -> None:
        if "judge" in options:
            msg = "the judge of this metric is called llm; pass it as llm=..."
            raise InvalidValueError(msg)
        criterion = options.pop("criterion", "faithfulness")
        self.tcva = TCVA(criterion, judge=llm, **options)
        super().__init__(name=name or f"tcva_{self.tcva.criterion.name}")
        self.llm = llm

    def score(  # type: ignore[override]  # RAGAS' own metrics name their arguments too
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> TCVAMetricResult:
        """Score one sample without an event loop: it also works where one is running.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError).
        """
        judged = _given(user_input, response, retrieved_contexts, reference)
        return TCVAMetricResult(self.tcva.evaluate(_sample(judged)), judged)

    async def ascore(  # type: ignore[override]  # likewise
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> TCVAMetricResult:
        """The same, awaited.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError).
        """
        judged = _given(user_input, response, retrieved_contexts, reference)
        return TCVAMetricResult(await self.tcva.aevaluate(_sample(judged)), judged)

    def batch_score(self, inputs: list[dict[str, Any]]) -> list[MetricResult]:
        """Score many; one result per input, in order, whatever fails. Equal ones are judged once.

        Raises:
            InvalidSampleError: A field has a type that cannot be read.
        """
        rows = [_given(**row) for row in inputs]
        results = self.tcva.evaluate_many(map(_sample, rows), progress=False)
        return [TCVAMetricResult(*pair) for pair in zip(results, rows, strict=True)]

    async def abatch_score(self, inputs: list[dict[str, Any]]) -> list[MetricResult]:
        """The same, awaited.

        Raises:
            InvalidSampleError: A field has a type that cannot be read.
        """
        rows = [_given(**row) for row in inputs]
        results = await self.tcva.aevaluate_many(map(_sample, rows), progress=False)
        return [TCVAMetricResult(*pair) for pair in zip(results, rows, strict=True)]


def results_of(evaluation: EvaluationResult, metric: str | None = None) -> list[Result]:
    """The results of a TCVA metric, one per row in order, those without a score included.

    Args:
        evaluation: What ``evaluate`` or ``aevaluate`` returned.
        metric: The metric's name; needed where the suite has several TCVA metrics.

    Raises:
        InvalidValueError: There is no such TCVA metric, or several and no name.
    """
    names = _tcva_names(evaluation)
    if metric is None and len(names) == 1:
        metric = names[0]
    if metric not in names:
        known = ", ".join(names) or "none"
        msg = f"metric={metric!r} names no TCVA metric of this evaluation; there are: {known}"
        raise InvalidValueError(msg)
    return [_result(trace[metric][JUDGEMENT]["output"], metric) for trace in evaluation.traces]


def claims_to_pandas(evaluation: EvaluationResult) -> pd.DataFrame:
    """One row per claim of every TCVA metric of an evaluation; no call.

    ``row`` is the row of ``evaluation.to_pandas()``. A sample without claims keeps one row, with
    the reason in ``unscored``.
    """
    table: list[dict[str, Any]] = []
    for name in _tcva_names(evaluation):
        for row, result in enumerate(results_of(evaluation, name)):
            unscored = result.unscored and result.unscored.reason.value
            head = {"row": row, "metric": name, "score": result.score, "unscored": unscored}
            table += [head | _columns(claim) for claim in result.claims or [None]]
    return pd.DataFrame(table, columns=list(_TABLE))


_CLAIM_COLUMNS: Final = ("claim", "verdict", "judged", "evidence", "passage", "reason")
_TABLE: Final = ("row", "metric", "score", "unscored", *_CLAIM_COLUMNS)


def _columns(claim: ClaimVerdict | None) -> dict[str, Any]:
    found = {} if claim is None else claim.model_dump(mode="json")
    return {name: found.get(name) for name in _CLAIM_COLUMNS}


def _tcva_names(evaluation: EvaluationResult) -> list[str]:
    first: dict[str, Any] = evaluation.traces[0] if evaluation.traces else {}
    return [name for name, prompts in first.items() if JUDGEMENT in prompts]


def _result(output: TCVAJudgement | dict[str, Any], metric: str) -> Result:
    if isinstance(output, TCVAJudgement):
        return output.result
    detail = "no judgement was recorded: RAGAS ended it (run_config.timeout)"
    unscored = Unscored(reason=Reason.TIMEOUT, detail=detail)
    return Result(Assessment(criterion=metric, judge="", prompt_version="", unscored=unscored))


def _judge(llm: Any, claims: ClaimsMode, max_claims: int) -> Judge:
    if llm is None:
        return ModelJudge(_NoModelYet(), claims=claims, max_claims=max_claims)
    return resolve_judge(llm, claims=claims, max_claims=max_claims)


def _given(
    user_input: str | None = None,
    response: str | None = None,
    retrieved_contexts: list[str] | None = None,
    reference: str | None = None,
) -> dict[str, Any]:
    return {
        "user_input": user_input,
        "response": response,
        "retrieved_contexts": retrieved_contexts,
        "reference": reference,
    }


def _sample(columns: dict[str, Any]) -> Sample:
    return Sample.from_record({name: columns.get(name) for name in _COLUMNS.values()})


def _not_judged(tcva: TCVA, error: InvalidSampleError) -> Result:
    assessment = Assessment(
        criterion=tcva.criterion.name,
        judge=tcva.judge.name,
        prompt_version=tcva.judge.prompt_version,
        unscored=Unscored(reason=Reason.MISSING_FIELD, detail=str(error)),
    )
    return Result(assessment, tcva.scoring)


def _score(result: Result) -> TCVAScore:
    """The score, or the exception that RAGAS turns into NaN, or raises where it is told to."""
    unscored = result.unscored
    if unscored is not None and unscored.reason is Reason.MISSING_FIELD:
        raise InvalidSampleError(unscored.detail)
    if unscored is not None and unscored.reason.is_failure:
        raise JudgeError(result.reason, reason=unscored.reason.value, fatal=unscored.fatal)
    return TCVAScore(result)
