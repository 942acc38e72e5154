"""TCVAMetric and TCVACollectionMetric: five-level verdicts and the dial in both RAGAS families."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd
from langchain_core.callbacks import Callbacks
from pydantic import BaseModel
from ragas.callbacks import ChainType, new_group
from ragas.dataset_schema import EvaluationResult, SingleTurnSample
from ragas.metrics.base import MetricOutputType, MetricType, MetricWithLLM, SingleTurnMetric
from ragas.metrics.collections.base import BaseMetric as CollectionMetric
from ragas.metrics.result import MetricResult

from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.facade import TCVA
from tcva_adapters.judging.assessment import Assessment, ClaimVerdict, Reason, Unscored
from tcva_adapters.judging.criteria import Criterion
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode, ModelJudge
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
        self._built_for: Any = None
        no_model_yet = ModelJudge(_NoModelYet(), claims=self.claims, max_claims=self.max_claims)
        self._tcva = TCVA(
            self.criterion,
            judge=no_model_yet if self.llm is None else self.llm,
            temperature=self.temperature,
            threshold=self.threshold,
            scheme=self.scheme,
            penalty=self.penalty,
            eps=self.eps,
            floor=self.floor,
            on_unscored=self.on_unscored,
            claims=self.claims,
            max_claims=self.max_claims,
            store=self.store,
        )
        self._built_for = self.llm
        self.criterion = criterion = self._tcva.criterion
        self.name = self.name or f"tcva_{criterion.name}"
        for name, prompt in texts_of(criterion).items():
            setattr(self, f"{name}_prompt", prompt)
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
        names = texts_of(self._tcva.criterion)
        criterion = with_texts(
            self._tcva.criterion, (getattr(self, f"{name}_prompt") for name in names)
        )
        if self.llm is not self._built_for or criterion is not self._tcva.criterion:
            # A new object: judgements under way keep the model and the texts they began with.
            tcva = copy(self._tcva)
            tcva.criterion = criterion
            if self.llm is not self._built_for:
                tcva.judge = _judge(self.llm, self.claims, self.max_claims)
            self._tcva, self._built_for = tcva, self.llm
        return self._tcva

    def set_prompts(self, **prompts: Any) -> None:
        """Change texts of the criterion: the wording, or what a level means.

        Raises:
            InvalidValueError: Not a text of a criterion, or one with examples.
            ValueError: No prompt has this name.
        """
        check_prompts(prompts)
        super().set_prompts(**prompts)

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
