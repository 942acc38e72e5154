"""LlamaIndex's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
)
from llama_index.core.llms import LLM

from tcva_adapters._adapter.native import NativeRun
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict

_NO_ANSWER: Final = "Empty Response"
"""What a query engine answers without asking anybody, e.g. because there are no contexts."""

_BEST: Final = 5
_SHARES: Final = {
    1.0: Verdict.FULLY,
    0.5: Verdict.PARTIAL,
    0.0: Verdict.NONE,
}


class _Run(NativeRun):
    title = "LlamaIndex"
    metrics: ClassVar = {
        "faithfulness": FaithfulnessEvaluator,
        "answer_relevancy": AnswerRelevancyEvaluator,
        "correctness": CorrectnessEvaluator,
    }
    llm_classes = LLM

    def _measure(self) -> Any:
        return self.metrics[self.name](llm=self.llm).evaluate(**self._arguments())

    async def _ameasure(self) -> Any:
        return await self.metrics[self.name](llm=self.llm).aevaluate(
            **self._arguments()
        )

    def _arguments(self) -> dict[str, Any]:
        sample = self.sample
        return {
            "query": sample.input,
            "response": sample.response,
            "contexts": None if sample.contexts is None else list(sample.contexts),
            "reference": sample.reference,
        }

    def _read(self, returned: Any) -> FrameworkScore:
        score, feedback = returned.score, returned.feedback or ""
        if score is None or not math.isfinite(score):
            return self._failed(
                returned.invalid_reason or f"the reply has no score: {feedback!r}"
            )
        said, verdict = feedback.strip(), _SHARES.get(score)
        if (
            self.name == "correctness"
        ):  # five steps for five levels; 4.5 has not reached the fifth
            verdict = LEVELS[_BEST - int(score)] if 1 <= score <= _BEST else None
        if said == _NO_ANSWER:
            verdict = None
        # The reply of faithfulness is the verdict in a word; that of the others is a reason.
        word, reason = (
            (said, "") if self.name == "faithfulness" else (f"{score:g}", said)
        )
        claim = self.sample.response or ""
        return self._scored(score, [FrameworkVerdict(claim, word, verdict, reason)])


framework_metrics = _Run.known
score_framework_metric = _Run.scored
ascore_framework_metric = _Run.ascored
