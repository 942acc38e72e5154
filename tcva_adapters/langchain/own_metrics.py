"""LangChain's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, ClassVar

from langchain_classic.evaluation import (
    ContextQAEvalChain,
    Criteria,
    LabeledCriteriaEvalChain,
)
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable

from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters._adapter.own_metrics import MetricRun, Metrics
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.loops import blocking
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample


class _Run(MetricRun):
    title = "LangChain"
    # The evaluators that `load_evaluator` makes of these names; it fails without
    # langchain-openai, even if it is given an LLM.
    metrics: ClassVar = {
        "labeled_criteria": partial(
            LabeledCriteriaEvalChain.from_llm, criteria=Criteria.CORRECTNESS
        ),
        "context_qa": ContextQAEvalChain.from_llm,
    }
    llm_classes = Runnable
    llm_kind = "a LangChain LLM, e.g. LexicalLLM()"

    @cached_property
    def _counter(self) -> _Counter:
        return _Counter()

    @property
    def calls(self) -> int:
        return self._counter.calls

    async def _measure(self) -> Any:
        if self.sample.response is None:  # LangChain would have the word None judged
            raise InvalidSampleError("the sample has no response")
        reference = "contexts" if self.name == "context_qa" else "reference"
        return await self.metric.aevaluate_strings(
            prediction=self.sample.response,
            input=self.sample.input,
            reference=self.sample.field(reference),
            callbacks=[self._counter],
        )

    def _read(self, returned: Arguments) -> FrameworkScore:
        score = returned["score"]
        reason = returned["reasoning"]
        if score is None:
            return self._without_score(f"the reply has no verdict: {reason!r:.200}")
        verdict = FrameworkVerdict(
            claim=self.sample.response or "",
            word=returned["value"],
            verdict=Verdict.FULLY if score else Verdict.NONE,
            reason=reason,
        )
        return self._with_score(float(score), [verdict])


def framework_metrics() -> Metrics:
    """Return the constructors of LangChain's own metrics that can run on a `Sample`, by name."""
    return _Run.metrics


@with_checked_names
async def ascore_framework_metric(
    name: str, sample: Sample, llm: object
) -> FrameworkScore:
    """Run one of LangChain's own metrics on a sample.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: A LangChain LLM or chat model; `LexicalLLM` needs no network.

    Returns:
        The score on the metric's own scale, its verdicts, and the number of calls.
        If the metric fails, ``score`` is None and ``error`` says why.

    Raises:
        InvalidValueError: The name is unknown, or the metric does not take ``llm``.
    """
    return await _Run(name, sample, llm).score()


score_framework_metric = with_checked_names(blocking(ascore_framework_metric))


class _Counter(BaseCallbackHandler):
    """Counts the calls of a model."""

    calls = 0

    def on_llm_start(self, *_: object, **__: object) -> None:
        self.calls += 1

    on_chat_model_start = on_llm_start
