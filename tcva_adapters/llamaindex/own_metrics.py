"""LlamaIndex's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    CorrectnessEvaluator,
    EvaluationResult,
    FaithfulnessEvaluator,
)
from llama_index.core.llms import LLM

from tcva_adapters._adapter.own_metrics import MetricRun, Metrics
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.loops import blocking
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_NO_ANSWER = "Empty Response"
"""A query engine's answer where it asked no LLM, e.g. because there are no contexts."""

_BEST = 5
_SHARES = {
    1.0: Verdict.FULLY,
    0.5: Verdict.PARTIAL,
    0.0: Verdict.NONE,
}


class _Run(MetricRun):
    title = "LlamaIndex"
    metrics: ClassVar = {
        "faithfulness": FaithfulnessEvaluator,
        "answer_relevancy": AnswerRelevancyEvaluator,
        "correctness": CorrectnessEvaluator,
    }
    llm_classes = LLM
    llm_kind = "a LlamaIndex LLM, e.g. LexicalLLM()"

    async def _measure(self) -> Any:
        sample = self.sample
        return await self.metric.aevaluate(
            query=sample.input,
            response=sample.response,
            contexts=None if sample.contexts is None else list(sample.contexts),
            reference=sample.reference,
        )

    def _read(self, returned: EvaluationResult) -> FrameworkScore:
        score = returned.score
        feedback = returned.feedback or ""
        if score is None or not math.isfinite(score):
            return self._without_score(
                returned.invalid_reason or f"the reply has no score: {feedback!r}"
            )
        level = _SHARES.get(score)
        if self.name == "correctness":
            # The five scores are the five levels; a score between two counts as the lower.
            level = LEVELS[_BEST - int(score)] if 1 <= score <= _BEST else None
        reply = feedback.strip()
        # The reply of faithfulness is a verdict in a word; the others reply with a reason.
        is_word = self.name == "faithfulness"
        verdict = FrameworkVerdict(
            claim=self.sample.response or "",
            word=reply if is_word else f"{score:g}",
            verdict=None if reply == _NO_ANSWER else level,
            reason="" if is_word else reply,
        )
        return self._with_score(score, [verdict])


def framework_metrics() -> Metrics:
    """Return the constructors of LlamaIndex's own metrics that can run on a `Sample`, by name."""
    return _Run.metrics


@with_checked_names
async def ascore_framework_metric(
    name: str, sample: Sample, llm: object
) -> FrameworkScore:
    """Run one of LlamaIndex's own metrics on a sample.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: A LlamaIndex LLM; `LexicalLLM` needs no network.

    Returns:
        The score on the metric's own scale, and its verdicts.
        If the metric fails, ``score`` is None and ``error`` says why.

    Raises:
        InvalidValueError: The name is unknown, or the metric does not take ``llm``.
    """
    return await _Run(name, sample, llm).score()


score_framework_metric = with_checked_names(blocking(ascore_framework_metric))
