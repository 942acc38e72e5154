"""LlamaIndex's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    BaseEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
)
from llama_index.core.llms import LLM

from tcva_adapters._adapter.native import NativeRun
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_NO_ANSWER: Final = "Empty Response"
"""What a query engine answers without asking anybody, e.g. because there are no contexts."""

_BEST: Final = 5
_YES_OR_NO: Final = {1.0: Verdict.FULLY, 0.0: Verdict.NONE}
_POINTS_OF_TWO: Final = {1.0: Verdict.FULLY, 0.5: Verdict.PARTIAL, 0.0: Verdict.NONE}


def _one_to_five(score: float) -> Verdict | None:
    # Five steps for five levels; 4.5 has not reached the fifth.
    return LEVELS[_BEST - int(score)] if 1 <= score <= _BEST else None


_METRICS: Final[Mapping[str, Callable[..., BaseEvaluator]]] = {
    "faithfulness": FaithfulnessEvaluator,
    "answer_relevancy": AnswerRelevancyEvaluator,
    "correctness": CorrectnessEvaluator,
}
_LEVELS: Final[Mapping[str, Callable[[float], Verdict | None]]] = {
    "faithfulness": _YES_OR_NO.get,
    "answer_relevancy": _POINTS_OF_TWO.get,
    "correctness": _one_to_five,
}
_IN_WORDS: Final = "faithfulness"
"""The metric whose reply is the verdict in a word; that of the others is a reason."""


def framework_metrics() -> dict[str, Callable[..., BaseEvaluator]]:
    """LlamaIndex's evaluators that can be scored beside TCVA, by name.

    >>> sorted(framework_metrics())
    ['answer_relevancy', 'correctness', 'faithfulness']
    """
    return dict(_METRICS)


def score_framework_metric(name: str, sample: Sample, llm: LLM) -> FrameworkScore:
    """Run one of LlamaIndex's evaluators on a sample.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: A LlamaIndex LLM; `LexicalLLM` needs no network.

    Returns:
        The score as the evaluator gives it (``correctness``: 1 to 5, the others 0 to 1) with its
        one verdict; an error of the evaluator or its LLM is in ``error``.

    Raises:
        InvalidValueError: The name is unknown, or ``llm`` is no LlamaIndex LLM.
    """
    return _Run(name, sample, llm).score()


async def ascore_framework_metric(name: str, sample: Sample, llm: LLM) -> FrameworkScore:
    """The same, awaited.

    Raises:
        InvalidValueError: See `score_framework_metric`.
    """
    return await _Run(name, sample, llm).ascore()


class _Run(NativeRun):
    title = "LlamaIndex"
    metrics = _METRICS
    llm_classes = LLM

    def _measure(self) -> Any:
        return _METRICS[self.name](llm=self.llm).evaluate(**self._arguments())

    async def _ameasure(self) -> Any:
        return await _METRICS[self.name](llm=self.llm).aevaluate(**self._arguments())

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
            return self._failed(returned.invalid_reason or f"no score in the reply {feedback!r}")
        said = feedback.strip()
        verdict = None if said == _NO_ANSWER else _LEVELS[self.name](score)
        word, reason = (said, "") if self.name == _IN_WORDS else (f"{score:g}", said)
        claim = self.sample.response or ""
        return self._scored(score, [FrameworkVerdict(claim, word, verdict, reason)])
