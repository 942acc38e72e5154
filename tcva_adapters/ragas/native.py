"""RAGAS' own metrics on a `Sample`, unmodified, with their verdicts captured at no extra call.

The newer family, and with ``legacy_`` before the name the one that ``evaluate`` takes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

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

from tcva_adapters._adapter.evaluator import require
from tcva_adapters._adapter.native import NativeRun
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.loops import wait_for
from tcva_adapters.ragas.evaluator import COLUMNS
from tcva_adapters.ragas.llm import Reply
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_LEVELS: Final = {1: Verdict.FULLY, 0: Verdict.NONE}
"""Asked for 0 or 1, a model may answer 2: counted by RAGAS, but no level of ours."""

_COMPARES_QUESTIONS: Final = "answer_relevancy"


class _Run(NativeRun):
    title = "RAGAS"
    metrics: ClassVar = {
        "faithfulness": Faithfulness,
        "context_recall": ContextRecall,
        "factual_correctness": FactualCorrectness,
        "answer_relevancy": AnswerRelevancy,
        "legacy_faithfulness": LegacyFaithfulness,
    }
    llm_classes = InstructorBaseRagasLLM

    def __init__(
        self,
        name: str,
        sample: Sample,
        llm: Any,
        embeddings: Any = None,
    ) -> None:
        needed = (
            "an LLM of RAGAS' newer family, e.g. from llm_factory(...), or LexicalLLM()"
        )
        require(isinstance(llm, self.llm_classes), "llm", llm, needed)
        super().__init__(name, sample, llm)
        if name == _COMPARES_QUESTIONS:
            needed = "embeddings of RAGAS, e.g. from embedding_factory(...)"
            require(embeddings is not None, "embeddings", embeddings, needed)
        self._recorder = _Recorder(llm, [])
        more = {"embeddings": embeddings} if name == _COMPARES_QUESTIONS else {}
        self._metric = self.metrics[name](llm=self._recorder, **more)

    def _measure(self) -> Any:
        return wait_for(self._ameasure())

    async def _ameasure(self) -> Any:
        columns = {
            column: getattr(self.sample, name) for name, column in COLUMNS.items()
        }
        if self.sample.contexts is not None:
            columns["retrieved_contexts"] = list(self.sample.contexts)
        if isinstance(self._metric, LegacyFaithfulness):
            return await self._metric.single_turn_ascore(SingleTurnSample(**columns))
        if columns["user_input"] == "" and self.name != _COMPARES_QUESTIONS:
            columns["user_input"] = (
                " "  # this family refuses an empty one, `evaluate` scores it
            )
        wanted = inspect.signature(self._metric.ascore).parameters
        return await self._metric.ascore(**{key: columns[key] for key in wanted})

    def _read(self, returned: Any) -> FrameworkScore:
        return self._scored(float(returned), _verdicts(self._recorder.replies))

    def _calls(self) -> int:
        return len(self._recorder.replies)


framework_metrics = _Run.known
score_framework_metric = _Run.scored
ascore_framework_metric = _Run.ascored


@dataclass
class _Recorder(InstructorBaseRagasLLM):
    """Passes everything on to an LLM, and records what it replied."""

    llm: InstructorBaseRagasLLM
    replies: list[Any]
    is_async = True

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        return self.llm.generate(prompt, response_model)  # no metric calls it

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        reply = await self.llm.agenerate(prompt, response_model)
        self.replies.append(reply)
        return reply


def _verdicts(replies: list[Any]) -> Iterator[FrameworkVerdict]:
    """The verdicts in the replies to a metric's prompts, whichever of the families it is of."""
    decompositions = 0
    for reply in replies:
        # Factual correctness also takes the reference apart, second, to see what is left out.
        decompositions += hasattr(reply, "claims")
        if decompositions > 1:
            return
        for said in getattr(reply, "statements", getattr(reply, "classifications", ())):
            if isinstance(
                said, BaseModel
            ):  # those of a statement generator are plain texts
                of: Any = said
                number = int(of.verdict if hasattr(of, "verdict") else of.attributed)
                yield FrameworkVerdict(
                    of.statement, str(number), _LEVELS.get(number), of.reason
                )
