"""LangChain's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from langchain_classic.evaluation import (
    ContextQAEvalChain,
    Criteria,
    LabeledCriteriaEvalChain,
)
from langchain_classic.evaluation.schema import StringEvaluator
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable

from tcva_adapters._adapter.native import NativeRun
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

# What `load_evaluator` makes of these names; it fails where langchain-openai is not installed, even
# with an LLM at hand.
_METRICS: Final[Mapping[str, Callable[..., StringEvaluator]]] = MappingProxyType(
    {
        "labeled_criteria": partial(
            LabeledCriteriaEvalChain.from_llm, criteria=Criteria.CORRECTNESS
        ),
        "context_qa": ContextQAEvalChain.from_llm,
    }
)
_REFERENCES: Final = {"labeled_criteria": "reference", "context_qa": "contexts"}
"""What of a sample each of them calls the reference."""


def framework_metrics() -> dict[str, Callable[..., StringEvaluator]]:
    """LangChain's evaluators that can be scored beside TCVA, by name; each takes ``llm=``.

    >>> sorted(framework_metrics())
    ['context_qa', 'labeled_criteria']
    """
    return dict(_METRICS)


def score_framework_metric(name: str, sample: Sample, llm: Runnable[Any, Any]) -> FrameworkScore:
    """Run one of LangChain's evaluators on a sample.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: A LangChain LLM; `LexicalLLM` needs no network.

    Returns:
        The score on LangChain's scale, 0 or 1.
        Where the evaluator fails, ``error`` says why.

    Raises:
        InvalidValueError: No such evaluator, or ``llm`` is no LangChain LLM.
    """
    return _Run(name, sample, llm).score()


async def ascore_framework_metric(
    name: str, sample: Sample, llm: Runnable[Any, Any]
) -> FrameworkScore:
    """The same, awaited.

    Raises:
        InvalidValueError: See `score_framework_metric`.
    """
    return await _Run(name, sample, llm).ascore()


class _Run(NativeRun):
    title = "LangChain"
    metrics = _METRICS
    llm_classes = Runnable

    def __init__(self, name: str, sample: Sample, llm: Any) -> None:
        super().__init__(name, sample, llm)
        self._evaluator = _METRICS[name](llm=llm)
        self._counter = _Counter()

    def _measure(self) -> Any:
        return self._evaluator.evaluate_strings(**self._arguments())

    async def _ameasure(self) -> Any:
        return await self._evaluator.aevaluate_strings(**self._arguments())

    def _arguments(self) -> dict[str, Any]:
        if self.sample.response is None:  # LangChain would have the word None judged
            msg = "the sample has no response"
            raise InvalidSampleError(msg)
        return {
            "prediction": self.sample.response,
            "input": self.sample.input,
            "reference": self.sample.field(_REFERENCES[self.name]),
            "callbacks": [self._counter],
        }

    def _read(self, returned: Any) -> FrameworkScore:
        score, reason = returned["score"], returned["reasoning"]
        if score is None:
            return self._failed(f"no verdict in the reply {reason!r:.200}")
        level = Verdict.FULLY if score else Verdict.NONE
        said = FrameworkVerdict(self.sample.response or "", returned["value"], level, reason)
        return self._scored(float(score), [said])

    def _calls(self) -> int:
        return self._counter.calls


class _Counter(BaseCallbackHandler):
    """Counts the calls of a model."""

    calls = 0

    def on_llm_start(self, *_: Any, **__: Any) -> None:
        self.calls += 1

    on_chat_model_start = on_llm_start
