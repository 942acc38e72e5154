"""RAGAS' own metrics on a `Sample`, unmodified, with their verdicts captured at no extra call."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from langchain_core.callbacks import BaseCallbackHandler
from pydantic import BaseModel
from ragas.callbacks import ChainType
from ragas.dataset_schema import SingleTurnSample
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics._faithfulness import Faithfulness as LegacyFaithfulness
from ragas.metrics.collections import (
    AnswerRelevancy,
    ContextRecall,
    FactualCorrectness,
    Faithfulness,
)

from tcva_adapters.core.collapse import from_ragas
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.loops import wait_for
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

Reply = TypeVar("Reply", bound=BaseModel)

_METRICS: Final[dict[str, Callable[..., Any]]] = {
    "faithfulness": Faithfulness,
    "context_recall": ContextRecall,
    "factual_correctness": FactualCorrectness,
    "answer_relevancy": AnswerRelevancy,
    "legacy_faithfulness": LegacyFaithfulness,
}
_WITH_EMBEDDINGS: Final = frozenset({"answer_relevancy"})
_LEGACY: Final = "legacy_"


def framework_metrics() -> dict[str, Callable[..., Any]]:
    """RAGAS' metrics that can be scored beside TCVA, by name.

    The newer family, and with ``legacy_`` before the name the one that ``evaluate`` takes.

    >>> len(framework_metrics())
    5
    """
    return dict(_METRICS)


def score_framework_metric(
    name: str, sample: Sample, llm: Any, *, embeddings: Any = None
) -> FrameworkScore:
    """Run one of RAGAS' metrics on a sample; it also works where an event loop is running.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: A RAGAS LLM that the metric takes; `LexicalLLM` needs no network. A legacy metric takes
            one of either family.
        embeddings: RAGAS embeddings; ``answer_relevancy`` needs them, no other metric does.

    Returns:
        The metric's score with its verdicts and its calls; an error of the metric or of its LLM is
        in ``error``.

    Raises:
        InvalidValueError: The name is unknown, ``llm`` is of the other family, or embeddings lack.
    """
    metric = _metric(name, llm, embeddings)
    return wait_for(_run(name, metric, sample))


async def ascore_framework_metric(
    name: str, sample: Sample, llm: Any, *, embeddings: Any = None
) -> FrameworkScore:
    """The same, awaited.

    Raises:
        InvalidValueError: The name is unknown, ``llm`` is of the other family, or embeddings lack.
    """
    return await _run(name, _metric(name, llm, embeddings), sample)


@dataclass
class _Recorder(InstructorBaseRagasLLM):
    """Passes everything on to an LLM, and records what it replied."""

    llm: InstructorBaseRagasLLM
    replies: list[BaseModel] = field(default_factory=list)

    def generate(self, prompt: str, response_model: type[Reply]) -> Reply:
        reply = self.llm.generate(prompt, response_model)
        self.replies.append(reply)
        return reply

    async def agenerate(self, prompt: str, response_model: type[Reply]) -> Reply:
        reply = await self.llm.agenerate(prompt, response_model)
        self.replies.append(reply)
        return reply


@dataclass
class _Listener(BaseCallbackHandler):
    """Keeps the replies to a legacy metric's prompts; RAGAS reports them to callbacks."""

    replies: list[BaseModel] = field(default_factory=list)
    runs: set[Any] = field(default_factory=set)

    def on_chain_start(self, *args: Any, run_id: Any, metadata: Any = None, **kwargs: Any) -> None:
        del args, kwargs
        if (metadata or {}).get("type") is ChainType.RAGAS_PROMPT:
            self.runs.add(run_id)

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: Any, **kwargs: Any) -> None:
        del kwargs
        if run_id in self.runs:
            self.replies += outputs["output"]


def _metric(name: str, llm: Any, embeddings: Any) -> Any:
    if name not in _METRICS:
        msg = f"unknown RAGAS metric {name!r}; known are {', '.join(_METRICS)}"
        raise InvalidValueError(msg)
    if name in _WITH_EMBEDDINGS and embeddings is None:
        msg = f"{name} compares embeddings; pass embeddings=..., e.g. of ragas' embedding_factory"
        raise InvalidValueError(msg)
    if name.startswith(_LEGACY):
        return _METRICS[name](llm=llm)
    if not isinstance(llm, InstructorBaseRagasLLM):
        msg = (
            f"{name} takes an LLM of RAGAS' newer family (llm_factory, LexicalLLM), not "
            f"{type(llm).__name__}; {_LEGACY}faithfulness takes both"
        )
        raise InvalidValueError(msg)
    more = {"embeddings": embeddings} if name in _WITH_EMBEDDINGS else {}
    return _METRICS[name](llm=_Recorder(llm), **more)


async def _run(name: str, metric: Any, sample: Sample) -> FrameworkScore:
    columns: dict[str, Any] = {
        "user_input": sample.input,
        "response": sample.response,
        "retrieved_contexts": None if sample.contexts is None else list(sample.contexts),
        "reference": sample.reference,
    }
    listener = _Listener()
    replies = listener.replies if name.startswith(_LEGACY) else metric.llm.replies
    try:
        if name.startswith(_LEGACY):
            turn = SingleTurnSample(**columns)
            score = float(await metric.single_turn_ascore(turn, callbacks=[listener]))
        else:
            wanted = inspect.signature(metric.ascore).parameters
            score = float(await metric.ascore(**{key: columns[key] for key in wanted}))
    except Exception as error:  # noqa: BLE001  # whatever it raises, it has no score
        said = f"{type(error).__name__}: {error}"
        return FrameworkScore(name, None, calls=len(replies), error=said)
    verdicts = tuple(_verdicts(replies))
    if math.isnan(score):
        return FrameworkScore(name, None, verdicts, len(replies), "the metric returned nan")
    return FrameworkScore(name, score, verdicts, calls=len(replies))


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
