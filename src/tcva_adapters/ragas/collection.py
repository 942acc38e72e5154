"""TCVACollectionMetric: five-level verdicts and the dial in RAGAS' newer family of metrics."""

from __future__ import annotations

import math
from typing import Any, Self

from ragas.metrics.collections.base import BaseMetric
from ragas.metrics.result import MetricResult

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.facade import TCVA
from tcva_adapters.judging.assessment import ClaimVerdict
from tcva_adapters.judging.result import Result
from tcva_adapters.ragas.views import TCVAJudgement, sample_of


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


class TCVACollectionMetric(BaseMetric):
    """Judges claims on five levels in RAGAS' newer family: ``score``, ``ascore``, batches, ``@experiment``.

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
        return TCVAMetricResult(self.tcva.evaluate(sample_of(judged)), judged)

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
        return TCVAMetricResult(await self.tcva.aevaluate(sample_of(judged)), judged)

    def batch_score(  # type: ignore[override]  # a list of a subclass is another type
        self, inputs: list[dict[str, Any]]
    ) -> list[TCVAMetricResult]:
        """Score many; one result per input, in order, whatever fails. Equal ones are judged once.

        Raises:
            InvalidSampleError: A field has a type that cannot be read.
        """
        rows = [_given(**row) for row in inputs]
        results = self.tcva.evaluate_many(map(sample_of, rows), progress=False)
        return [TCVAMetricResult(*pair) for pair in zip(results, rows, strict=True)]

    async def abatch_score(  # type: ignore[override]  # likewise
        self, inputs: list[dict[str, Any]]
    ) -> list[TCVAMetricResult]:
        """The same, awaited.

        Raises:
            InvalidSampleError: A field has a type that cannot be read.
        """
        rows = [_given(**row) for row in inputs]
        results = await self.tcva.aevaluate_many(map(sample_of, rows), progress=False)
        return [TCVAMetricResult(*pair) for pair in zip(results, rows, strict=True)]


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
