"""DeepEval's own metrics on a `Sample`, unmodified, with their verdicts captured.

A metric that was measured still has the claims and verdicts that it asked for, so they are read from
it, without a further call, and no part of it is replaced.
"""

from __future__ import annotations

from typing import Any, ClassVar

from deepeval.metrics import (
    AnswerRelevancyMetric,
    ContextualRecallMetric,
    FaithfulnessMetric,
)
from deepeval.metrics.utils import split_sentences
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase

from tcva_adapters._adapter.own_metrics import MetricRun, Metrics
from tcva_adapters.core.collapse import from_deepeval
from tcva_adapters.deepeval.llm import NamedLLM
from tcva_adapters.loops import blocking
from tcva_adapters.models.framework_prompts import Shape
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_TEXTS = {"faithfulness": "claims", "answer_relevancy": "statements"}
"""The attribute with the texts that a metric judged; other metrics judge the reference's sentences."""


class _Run(MetricRun):
    title = "DeepEval"
    metrics: ClassVar = {
        "faithfulness": FaithfulnessMetric,
        "answer_relevancy": AnswerRelevancyMetric,
        "contextual_recall": ContextualRecallMetric,
    }
    llm_classes = DeepEvalBaseLLM
    llm_kind = "a DeepEval LLM, e.g. LexicalLLM()"

    @property
    def calls(self) -> int:
        return int(self.metric.model.calls)

    def _build(self, llm: DeepEvalBaseLLM) -> Any:
        return self.metrics[self.name](
            model=_CountingLLM(llm),
            # Synchronous, because the metric would otherwise patch the event loop.
            async_mode=False,
            # The environment may choose a mode without an LLM, which has no claims to capture.
            eval_mode="llm",
        )

    async def _measure(self) -> Any:
        sample = self.sample
        contexts: Any = None if sample.contexts is None else list(sample.contexts)
        case = LLMTestCase(
            input=sample.input or "",
            actual_output=sample.response,
            expected_output=sample.reference,
            retrieval_context=contexts,
        )
        return await self.metric.a_measure(case, _show_indicator=False)

    def _read(self, returned: float) -> FrameworkScore:
        verdicts = self.metric.verdicts
        texts = split_sentences(self.sample.reference or "")
        if self.name in _TEXTS:
            texts = getattr(self.metric, _TEXTS[self.name])
        if len(texts) != len(verdicts):
            # Verdicts carry no number: if one is missing, their claims are unknown.
            texts = [
                f"verdict {i} of {len(verdicts)}" for i in range(1, len(verdicts) + 1)
            ]
        words = [str(verdict.verdict) for verdict in verdicts]
        reasons = [verdict.reason or "" for verdict in verdicts]
        read = map(FrameworkVerdict, texts, words, from_deepeval(words), reasons)
        return self._with_score(returned, read)


def framework_metrics() -> Metrics:
    """Return the constructors of DeepEval's own metrics that can run on a `Sample`, by name."""
    return _Run.metrics


@with_checked_names
async def ascore_framework_metric(
    name: str, sample: Sample, llm: object
) -> FrameworkScore:
    """Run one of DeepEval's own metrics on a sample.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: A DeepEval LLM; `LexicalLLM` needs no network.

    Returns:
        The score on the metric's own scale, its verdicts, and the number of calls.
        If the metric fails, ``score`` is None and ``error`` says why.

    Raises:
        InvalidValueError: The name is unknown, or the metric does not take ``llm``.
    """
    return await _Run(name, sample, llm).score()


score_framework_metric = with_checked_names(blocking(ascore_framework_metric))


class _CountingLLM(NamedLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Passes every call on and counts it."""

    def __init__(self, llm: DeepEvalBaseLLM) -> None:
        self._llm: Any = llm
        self.calls = 0
        super().__init__(llm.get_model_name())

    def generate(self, prompt: str, schema: Shape = None) -> Any:
        return self._llm.generate(prompt, schema=schema)  # no metric calls it

    async def a_generate(self, prompt: str, schema: Shape = None) -> Any:
        self.calls += 1
        answer = await self._llm.a_generate_with_schema(prompt, schema=schema)
        # DeepEval expects the pair of reply and cost from its own classes only.
        return answer[0] if isinstance(answer, tuple) else answer
