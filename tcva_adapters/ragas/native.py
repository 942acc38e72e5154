"""RAGAS' own metrics on a `Sample`, unmodified, with their verdicts captured at no extra call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseLanguageModel
from pydantic import BaseModel
from ragas.callbacks import ChainType
from ragas.dataset_schema import SingleTurnSample
from ragas.llms import BaseRagasLLM
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
from tcva_adapters.core.collapse import from_ragas
from tcva_adapters.loops import wait_for
from tcva_adapters.ragas.evaluator import COLUMNS
from tcva_adapters.ragas.llm import Reply
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_METRICS: Final[dict[str, Callable[..., Any]]] = {
    "faithfulness": Faithfulness,
    "context_recall": ContextRecall,
    "factual_correctness": FactualCorrectness,
    "answer_relevancy": AnswerRelevancy,
    "legacy_faithfulness": LegacyFaithfulness,
}
_COMPARES_QUESTIONS: Final = "answer_relevancy"


class _Run(NativeRun):
    title = "RAGAS"
    metrics = _METRICS
    llm_classes = (InstructorBaseRagasLLM, BaseRagasLLM, BaseLanguageModel)

    def __init__(self, name: str, sample: Sample, llm: Any, embeddings: Any = None) -> None:
        super().__init__(name, sample, llm)
        self._listener = _Listener()
        self._is_legacy = name.startswith("legacy_")
        needed = (
            "it is of RAGAS' newer family (llm_factory, LexicalLLM) but for legacy_faithfulness"
        )
        require(self._is_legacy or isinstance(llm, InstructorBaseRagasLLM), "llm", llm, needed)
        needed = f"{name} compares embeddings, e.g. of embedding_factory"
        self._compares = name == _COMPARES_QUESTIONS
        require(embeddings is not None or not self._compares, "embeddings", embeddings, needed)
        asked = llm if self._is_legacy else _Recorder(llm, self._listener.replies)
        more = {"embeddings": embeddings} if self._compares else {}
        self._metric = _METRICS[name](llm=asked, **more)

    def _measure(self) -> Any:
        return wait_for(self._ameasure())

    async def _ameasure(self) -> Any:
        columns = {column: getattr(self.sample, name) for name, column in COLUMNS.items()}
        if self.sample.contexts is not None:
            columns["retrieved_contexts"] = list(self.sample.contexts)
        if self._is_legacy:
            turn = SingleTurnSample(**columns)
            return await self._metric.single_turn_ascore(turn, callbacks=[self._listener])
        if columns["user_input"] == "" and not self._compares:
            columns["user_input"] = (
                " "  # which this family refuses to be empty, and `evaluate` scores
            )
        wanted = inspect.signature(self._metric.ascore).parameters
        return await self._metric.ascore(**{key: columns[key] for key in wanted})

    def _read(self, returned: Any) -> FrameworkScore:
        return self._scored(float(returned), tuple(_verdicts(self._listener.replies)))

    def _calls(self) -> int:
        return len(self._listener.replies)


framework_metrics = _Run.known
score_framework_metric = _Run.scored
ascore_framework_metric = _Run.ascored


@dataclass
class _Recorder(InstructorBaseRagasLLM):
    """Passes everything on to an LLM, and records what it replied."""

    llm: InstructorBaseRagasLLM
    replies: list[BaseModel]

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        return self.llm.generate(prompt, response_model)  # no metric calls it

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        reply = await self.llm.agenerate(prompt, response_model)
        self.replies.append(reply)
        return reply


@dataclass
class _Listener(BaseCallbackHandler):
    """Keeps the replies to a legacy metric's prompts; RAGAS reports them to callbacks."""

    replies: list[BaseModel] = field(default_factory=list)
    runs: set[Any] = field(default_factory=set)

    def on_chain_start(self, *_: Any, run_id: Any, metadata: Any = None, **__: Any) -> None:
        if (metadata or {}).get("type") is ChainType.RAGAS_PROMPT:
            self.runs.add(run_id)

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: Any, **_: Any) -> None:
        if run_id in self.runs:
            self.replies += outputs["output"]


def _verdicts(replies: Iterable[BaseModel]) -> Iterable[FrameworkVerdict]:
    """The verdicts in the replies to a metric's prompts, whichever of the families it is of."""
    decompositions = 0
    for reply in replies:
        # Factual correctness also takes the reference apart, second, to see what is left out.
        decompositions += hasattr(reply, "claims")
        if decompositions > 1:
            return
        for said in _items(reply):
            number = int(said.verdict if hasattr(said, "verdict") else said.attributed)
            # Told to answer 0 or 1, a model may answer 2: counted by RAGAS, but no level of ours.
            level = from_ragas([number])[0] if number in (0, 1) else None
            yield FrameworkVerdict(said.statement, str(number), level, said.reason)


def _items(reply: BaseModel) -> list[Any]:  # of models that have no common class
    """Statements that were judged; the statement generator's are plain texts."""
    found = getattr(reply, "statements", None) or getattr(reply, "classifications", None) or []
    return [said for said in found if isinstance(said, BaseModel)]
