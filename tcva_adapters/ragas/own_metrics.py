"""RAGAS' own metrics on a `Sample`, unmodified, with their verdicts captured at no extra call.

They are those of the newer family and, with ``legacy_`` before the name, those that ``evaluate`` takes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel
from ragas.dataset_schema import SingleTurnSample
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics._faithfulness import Faithfulness as LegacyFaithfulness
from ragas.metrics.collections import (
    AnswerRelevancy,
    ContextRecall,
    FactualCorrectness,
    Faithfulness,
)
from ragas.metrics.result import MetricResult

from tcva_adapters._adapter.evaluator import require
from tcva_adapters._adapter.own_metrics import MetricRun, Metrics
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.loops import blocking
from tcva_adapters.ragas.llm import Reply
from tcva_adapters.ragas.samples import COLUMNS
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_LEVELS = {1: Verdict.FULLY, 0: Verdict.NONE}
"""The levels of RAGAS' verdicts. A model may answer 2, which RAGAS counts, but it is no level."""

_COMPARES_QUESTIONS = "answer_relevancy"


class _Run(MetricRun):
    title = "RAGAS"
    metrics: ClassVar = {
        "faithfulness": Faithfulness,
        "context_recall": ContextRecall,
        "factual_correctness": FactualCorrectness,
        "answer_relevancy": AnswerRelevancy,
        "legacy_faithfulness": LegacyFaithfulness,
    }
    llm_classes = InstructorBaseRagasLLM
    llm_kind = (
        "an LLM of RAGAS' newer family, e.g. from llm_factory(...), or LexicalLLM()"
    )

    def __init__(
        self, name: str, sample: Sample, llm: object, embeddings: object
    ) -> None:
        self._embeddings = embeddings
        super().__init__(name, sample, llm)

    @property
    def calls(self) -> int:
        return len(self.metric.llm.replies)

    def _build(self, llm: InstructorBaseRagasLLM) -> Any:
        build = self.metrics[self.name]
        recorder = _Recorder(llm, [])
        if self.name != _COMPARES_QUESTIONS:
            return build(llm=recorder)
        require(
            self._embeddings is not None,
            "embeddings",
            self._embeddings,
            "embeddings of RAGAS, e.g. from embedding_factory(...)",
        )
        return build(llm=recorder, embeddings=self._embeddings)

    async def _measure(self) -> Any:
        columns = {
            column: getattr(self.sample, name) for name, column in COLUMNS.items()
        }
        if self.sample.contexts is not None:
            columns["retrieved_contexts"] = list(self.sample.contexts)
        if isinstance(self.metric, LegacyFaithfulness):
            return await self.metric.single_turn_ascore(SingleTurnSample(**columns))
        if columns["user_input"] == "" and self.name != _COMPARES_QUESTIONS:
            columns["user_input"] = " "  # only `evaluate` scores an empty one
        parameters = inspect.signature(self.metric.ascore).parameters
        return await self.metric.ascore(**{name: columns[name] for name in parameters})

    def _read(self, returned: MetricResult | float) -> FrameworkScore:
        return self._with_score(float(returned), _verdicts(self.metric.llm.replies))


def framework_metrics() -> Metrics:
    """Return the constructors of RAGAS's own metrics that can run on a `Sample`, by name."""
    return _Run.metrics


@with_checked_names
async def ascore_framework_metric(
    name: str, sample: Sample, llm: object, embeddings: object = None
) -> FrameworkScore:
    """Run one of RAGAS's own metrics on a sample.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: An LLM of RAGAS' newer family; `LexicalLLM` needs no network.
        embeddings: Embeddings of RAGAS, which only answer_relevancy needs.

    Returns:
        The score on the metric's own scale, its verdicts, and the number of calls.
        If the metric fails, ``score`` is None and ``error`` says why.

    Raises:
        InvalidValueError: The name is unknown, or the metric does not take ``llm``.
    """
    return await _Run(name, sample, llm, embeddings).score()


score_framework_metric = with_checked_names(blocking(ascore_framework_metric))


@dataclass
class _Recorder(InstructorBaseRagasLLM):
    """Passes everything on to an LLM, and records what it replied."""

    llm: InstructorBaseRagasLLM
    replies: list[BaseModel]
    is_async = True

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        return self.llm.generate(prompt, response_model)  # no metric calls it

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        reply = await self.llm.agenerate(prompt, response_model)
        self.replies.append(reply)
        return reply


def _verdicts(replies: list[BaseModel]) -> Iterator[FrameworkVerdict]:
    """Yield the verdicts in the replies to a metric's prompts, of either family."""
    decompositions = 0
    for reply in replies:
        # Factual correctness then also splits the reference, to see what is left out.
        decompositions += hasattr(reply, "claims")
        if decompositions > 1:
            return
        statements = getattr(reply, "statements", getattr(reply, "classifications", ()))
        for judged in statements:
            if isinstance(judged, str):  # of a statement generator
                continue
            number = int(
                judged.verdict if hasattr(judged, "verdict") else judged.attributed
            )
            yield FrameworkVerdict(
                claim=judged.statement,
                word=str(number),
                verdict=_LEVELS.get(number),
                reason=judged.reason,
            )
