"""DeepEval's own metrics on a `Sample`, unmodified, with their verdicts captured.

A metric that was measured still holds the claims and verdicts that it asked for, so they are read
from it: no further call, and nothing of it replaced.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from deepeval.metrics import (
    AnswerRelevancyMetric,
    BaseMetric,
    ContextualRecallMetric,
    FaithfulnessMetric,
)
from deepeval.metrics.utils import split_sentences
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase

from tcva_adapters.core.collapse import from_deepeval
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_Texts = Callable[[Any, LLMTestCase], Sequence[str]]

_METRICS: Final[Mapping[str, tuple[Callable[..., BaseMetric], _Texts]]] = MappingProxyType(
    {
        "faithfulness": (FaithfulnessMetric, lambda metric, _: metric.claims),
        "answer_relevancy": (AnswerRelevancyMetric, lambda metric, _: metric.statements),
        "contextual_recall": (
            ContextualRecallMetric,
            lambda _, case: split_sentences(case.expected_output or ""),
        ),
    }
)
"""DeepEval's metrics, each with the texts that its verdicts are about."""


def framework_metrics() -> dict[str, Callable[..., BaseMetric]]:
    """DeepEval's metrics that can be scored beside TCVA, by name; each takes ``model=``.

    >>> sorted(framework_metrics())
    ['answer_relevancy', 'contextual_recall', 'faithfulness']
    """
    return {name: build for name, (build, _) in _METRICS.items()}


def score_framework_metric(name: str, sample: Sample, llm: Any) -> FrameworkScore:
    """Run one of DeepEval's metrics on a sample, without an event loop.

    Args:
        name: One of `framework_metrics`.
        sample: The sample; its contexts are DeepEval's ``retrieval_context``.
        llm: A DeepEval LLM; `LexicalLLM` needs no network.

    Returns:
        The score in [0, 1] with the metric's verdicts and the number of calls. Where the metric
        fails, ``error`` says why.

    Raises:
        InvalidValueError: The name is unknown, or ``llm`` is no DeepEval LLM.
    """
    run = _Run(name, sample, llm)
    try:
        run.metric.measure(run.case, _show_indicator=False)
    except Exception as error:  # noqa: BLE001  # whatever the metric raises is its outcome
        return run.failed(error)
    return run.read()


async def ascore_framework_metric(name: str, sample: Sample, llm: Any) -> FrameworkScore:
    """The same, awaited.

    Raises:
        InvalidValueError: See `score_framework_metric`.
    """
    run = _Run(name, sample, llm)
    try:
        await run.metric.a_measure(run.case, _show_indicator=False)
    except Exception as error:  # noqa: BLE001  # as above
        return run.failed(error)
    return run.read()


class _Run:
    """One run of a metric of DeepEval's, without the running."""

    def __init__(self, name: str, sample: Sample, llm: Any) -> None:
        if name not in _METRICS:
            msg = f"unknown DeepEval metric {name!r}; known are {', '.join(_METRICS)}"
            raise InvalidValueError(msg)
        if not isinstance(llm, DeepEvalBaseLLM):
            msg = f"llm={llm!r} is no DeepEval LLM; LexicalLLM() is one that needs no network"
            raise InvalidValueError(msg)
        build, self._texts = _METRICS[name]
        self._name, self._llm = name, _CountingLLM(llm)
        contexts: Any = None if sample.contexts is None else list(sample.contexts)
        self.case = LLMTestCase(
            input=sample.input or "",
            actual_output=sample.response,
            expected_output=sample.reference,
            retrieval_context=contexts,
        )
        # Synchronous through and through: with async_mode it would patch the event loop.
        # Only with an LLM as judge there are claims to capture, whatever the environment says.
        self.metric: Any = build(model=self._llm, async_mode=False, eval_mode="llm")

    def read(self) -> FrameworkScore:
        verdicts = self.metric.verdicts
        texts = self._texts(self.metric, self.case)
        if len(texts) != len(verdicts):
            # Verdicts carry no number: with one too few nobody knows which claim it is about.
            texts = [f"verdict {i} of {len(verdicts)}" for i in range(1, len(verdicts) + 1)]
        words = [str(verdict.verdict) for verdict in verdicts]
        reasons = [verdict.reason or "" for verdict in verdicts]
        said = map(FrameworkVerdict, texts, words, from_deepeval(words), reasons)
        return FrameworkScore(self._name, float(self.metric.score), tuple(said), self._llm.calls)

    def failed(self, error: Exception) -> FrameworkScore:
        text = f"{type(error).__name__}: {error}"
        return FrameworkScore(self._name, None, calls=self._llm.calls, error=text)


class _CountingLLM(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Hands every call on and counts it."""

    def __init__(self, llm: DeepEvalBaseLLM) -> None:
        self._llm = llm
        self._lock = threading.Lock()
        self.calls = 0
        super().__init__(llm.get_model_name())

    def load_model(self, *_: Any, **__: Any) -> DeepEvalBaseLLM:
        return self._llm

    def get_model_name(self) -> str:
        return str(self._llm.get_model_name())

    def generate(self, prompt: str, schema: Any = None) -> Any:
        self._count()
        llm: Any = self._llm
        return _without_cost(llm.generate_with_schema(prompt, schema=schema))

    async def a_generate(self, prompt: str, schema: Any = None) -> Any:
        self._count()
        llm: Any = self._llm
        return _without_cost(await llm.a_generate_with_schema(prompt, schema=schema))

    def _count(self) -> None:
        with self._lock:
            self.calls += 1


def _without_cost(answer: Any) -> Any:
    # DeepEval expects the pair of reply and cost of its own classes alone.
    return answer[0] if isinstance(answer, tuple) else answer
