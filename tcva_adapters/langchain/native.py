"""LangChain's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal

from langchain_classic.evaluation import (
    ContextQAEvalChain,
    Criteria,
    LabeledCriteriaEvalChain,
)
from langchain_classic.evaluation.schema import StringEvaluator
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_REFERENCES: Final[Mapping[str, Literal["reference", "contexts"]]] = MappingProxyType(
    {
        "labeled_criteria": "reference",
        "context_qa": "contexts",
    }
)
"""LangChain's evaluators, each with what of a sample it calls the reference."""

# What `load_evaluator` makes of these names; it fails where langchain-openai is not installed, even
# with an LLM at hand.
_MAKERS: Final[Mapping[str, Callable[..., StringEvaluator]]] = MappingProxyType(
    {
        "labeled_criteria": partial(
            LabeledCriteriaEvalChain.from_llm, criteria=Criteria.CORRECTNESS
        ),
        "context_qa": ContextQAEvalChain.from_llm,
    }
)


def framework_metrics() -> dict[str, Callable[..., StringEvaluator]]:
    """LangChain's evaluators that can be scored beside TCVA, by name; each takes ``llm=``.

    >>> sorted(framework_metrics())
    ['context_qa', 'labeled_criteria']
    """
    return dict(_MAKERS)


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
    call = _Call(name, sample, llm)
    try:
        return call.read(call.evaluator.evaluate_strings(**call.arguments))
    except Exception as error:  # noqa: BLE001  # whatever it raises is its outcome
        return call.failed(error)


async def ascore_framework_metric(
    name: str, sample: Sample, llm: Runnable[Any, Any]
) -> FrameworkScore:
    """The same, awaited."""
    call = _Call(name, sample, llm)
    try:
        return call.read(await call.evaluator.aevaluate_strings(**call.arguments))
    except Exception as error:  # noqa: BLE001  # as above
        return call.failed(error)


class _Call:
    """One run of one of LangChain's evaluators, without the running."""

    def __init__(self, name: str, sample: Sample, llm: object) -> None:
        if name not in _REFERENCES:
            msg = f"unknown framework metric {name!r}; LangChain has {', '.join(_REFERENCES)}"
            raise InvalidValueError(msg)
        if not isinstance(llm, Runnable):
            msg = f"llm={llm!r} is no LangChain LLM; LexicalLLM() is one that needs no network"
            raise InvalidValueError(msg)
        self._name, self._sample, self._counter = name, sample, _Counter()
        self.evaluator = framework_metrics()[name](llm=llm)

    @property
    def arguments(self) -> dict[str, Any]:
        sample, reference = self._sample, _REFERENCES[self._name]
        if sample.response is None:  # LangChain would have the word None judged
            msg = "the sample has no response"
            raise InvalidSampleError(msg)
        given = {"prediction": sample.response, "input": sample.input, "callbacks": [self._counter]}
        return {**given, "reference": sample.field(reference)}

    def read(self, output: Mapping[str, Any]) -> FrameworkScore:
        score, reason = output["score"], output["reasoning"]
        if score is None:
            return self.failed(f"no verdict in the reply {reason!r:.200}")
        level = Verdict.FULLY if score else Verdict.NONE
        said = FrameworkVerdict(self._sample.response or "", output["value"], level, reason)
        return FrameworkScore(self._name, float(score), (said,), self._counter.calls)

    def failed(self, error: Exception | str) -> FrameworkScore:
        text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        return FrameworkScore(self._name, None, calls=self._counter.calls, error=text)


class _Counter(BaseCallbackHandler):
    """Counts the calls of a model."""

    def __init__(self) -> None:
        self.calls = 0

    def on_llm_start(self, *_: Any, **__: Any) -> None:
        self.calls += 1

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.calls += 1
