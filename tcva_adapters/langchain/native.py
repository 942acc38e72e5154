"""LangChain's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from langchain_classic.evaluation import (
    ContextQAEvalChain,
    Criteria,
    LabeledCriteriaEvalChain,
)
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable

from tcva_adapters._adapter.native import NativeRun
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample


class _Run(NativeRun):
    title = "LangChain"
    # What `load_evaluator` makes of these names; it fails where langchain-openai is not installed,
    # even with an LLM at hand.
    metrics: ClassVar = {
        "labeled_criteria": partial(
            LabeledCriteriaEvalChain.from_llm, criteria=Criteria.CORRECTNESS
        ),
        "context_qa": ContextQAEvalChain.from_llm,
    }
    llm_classes = Runnable

    def __init__(
        self,
        name: str,
        sample: Sample,
        llm: Any,
    ) -> None:
        super().__init__(name, sample, llm)
        self._evaluator = self.metrics[name](llm=llm)
        self._counter = _Counter()

    def _measure(self) -> Any:
        return self._evaluator.evaluate_strings(**self._arguments())

    async def _ameasure(self) -> Any:
        return await self._evaluator.aevaluate_strings(**self._arguments())

    def _arguments(self) -> dict[str, Any]:
        if self.sample.response is None:  # LangChain would have the word None judged
            msg = "the sample has no response"
            raise InvalidSampleError(msg)
        reference = "contexts" if self.name == "context_qa" else "reference"
        return {
            "prediction": self.sample.response,
            "input": self.sample.input,
            "reference": self.sample.field(reference),
            "callbacks": [self._counter],
        }

    def _read(self, returned: Any) -> FrameworkScore:
        score, reason = returned["score"], returned["reasoning"]
        if score is None:
            return self._failed(f"the reply has no verdict: {reason!r:.200}")
        level = Verdict.FULLY if score else Verdict.NONE
        said = FrameworkVerdict(
            self.sample.response or "", returned["value"], level, reason
        )
        return self._scored(float(score), [said])

    def _calls(self) -> int:
        return self._counter.calls


framework_metrics = _Run.known
score_framework_metric = _Run.scored
ascore_framework_metric = _Run.ascored


class _Counter(BaseCallbackHandler):
    """Counts the calls of a model."""

    calls = 0

    def on_llm_start(self, *_: Any, **__: Any) -> None:
        self.calls += 1

    on_chat_model_start = on_llm_start
