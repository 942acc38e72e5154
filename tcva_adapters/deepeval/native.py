"""DeepEval's own metrics on a `Sample`, unmodified, with their verdicts captured.

A metric that was measured still holds the claims and verdicts that it asked for, so they are read
from it: no further call, and nothing of it replaced.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from deepeval.metrics import (
    AnswerRelevancyMetric,
    ContextualRecallMetric,
    FaithfulnessMetric,
)
from deepeval.metrics.utils import split_sentences
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase

from tcva_adapters._adapter.native import NativeRun
from tcva_adapters.core.collapse import from_deepeval
from tcva_adapters.deepeval.llm import NamedLLM
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_TEXTS: Final = {"faithfulness": "claims", "answer_relevancy": "statements"}
"""Where a metric has what its verdicts are about; else they are about the reference's sentences."""


class _Run(NativeRun):
    title = "DeepEval"
    metrics: ClassVar = {
        "faithfulness": FaithfulnessMetric,
        "answer_relevancy": AnswerRelevancyMetric,
        "contextual_recall": ContextualRecallMetric,
    }
    llm_classes = DeepEvalBaseLLM

    def __init__(
        self,
        name: str,
        sample: Sample,
        llm: Any,
    ) -> None:
        super().__init__(name, sample, llm)
        self._counting = _CountingLLM(llm)
        contexts: Any = None if sample.contexts is None else list(sample.contexts)
        self._case = LLMTestCase(
            input=sample.input or "",
            actual_output=sample.response,
            expected_output=sample.reference,
            retrieval_context=contexts,
        )
        # Synchronous through and through: with async_mode it would patch the event loop.
        # Only with an LLM as judge there are claims to capture, whatever the environment says.
        build = self.metrics[name]
        self._metric: Any = build(
            model=self._counting,
            async_mode=False,
            eval_mode="llm",
        )

    def _measure(self) -> Any:
        return self._metric.measure(self._case, _show_indicator=False)

    async def _ameasure(self) -> Any:
        return await self._metric.a_measure(self._case, _show_indicator=False)

    def _read(self, returned: Any) -> FrameworkScore:
        verdicts, held = self._metric.verdicts, _TEXTS.get(self.name)
        of_reference = self._case.expected_output or ""
        texts = getattr(self._metric, held) if held else split_sentences(of_reference)
        if len(texts) != len(verdicts):
            # Verdicts carry no number: with one too few nobody knows which claim it is about.
            texts = [
                f"verdict {i} of {len(verdicts)}" for i in range(1, len(verdicts) + 1)
            ]
        words = [str(verdict.verdict) for verdict in verdicts]
        reasons = [verdict.reason or "" for verdict in verdicts]
        said = map(FrameworkVerdict, texts, words, from_deepeval(words), reasons)
        return self._scored(float(returned), said)

    def _calls(self) -> int:
        return self._counting.calls


framework_metrics = _Run.known
score_framework_metric = _Run.scored
ascore_framework_metric = _Run.ascored


class _CountingLLM(NamedLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Passes every call on and counts it."""

    def __init__(self, llm: DeepEvalBaseLLM) -> None:
        self._llm: Any = llm
        self.calls = 0
        super().__init__(llm.get_model_name())

    def generate(self, prompt: str, schema: Any = None) -> Any:
        self.calls += 1
        return _without_cost(self._llm.generate_with_schema(prompt, schema=schema))

    async def a_generate(self, prompt: str, schema: Any = None) -> Any:
        self.calls += 1
        return _without_cost(
            await self._llm.a_generate_with_schema(prompt, schema=schema)
        )


def _without_cost(answer: Any) -> Any:
    # DeepEval expects the pair of reply and cost of its own classes alone.
    return answer[0] if isinstance(answer, tuple) else answer
