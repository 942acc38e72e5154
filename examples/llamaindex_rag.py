"""A small LlamaIndex application with its evaluation suite, and TCVA added in three lines.

    python examples/llamaindex_rag.py
    python examples/llamaindex_rag.py --judge openai:gpt-4.1-mini

The first command needs no network: the answers are fixed below (one good, one half right, one wrong),
and the lexical judge serves all metrics. The second command asks a model for the answers and the
verdicts; it needs OPENAI_API_KEY, and OPENAI_BASE_URL for a server other than OpenAI's.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from typing import Any

from llama_index.core.evaluation import BatchEvalRunner, FaithfulnessEvaluator
from llama_index.core.llms import (
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from tcva_adapters.llamaindex import LexicalLLM, TCVAEvaluator  # TCVA: line 1 of 3

DOCUMENTS = [
    "The reading room opens at nine on weekdays and at ten on Saturdays. It is closed on Sundays.",
    "Members may borrow up to six books for four weeks. A loan can be renewed twice.",
    "Lost books are replaced at their shop price. There is no fee for late returns.",
    "The map collection is kept in the basement and may be seen by appointment.",
]

ANSWERS = {
    "When does the reading room open on Saturdays?": "The reading room opens at ten on Saturdays.",
    "How many books may I borrow?": (
        "Members may borrow up to six books for four weeks. Students receive a voucher for coffee."
    ),
    "Is there a fee for late returns?": "Yes, ten coins are charged for every day of delay.",
}


class WordRetriever(BaseRetriever):
    """Finds the documents that share most words with the question."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        asked = _words(query_bundle.query_str)
        scored = [(len(asked & _words(text)), text) for text in DOCUMENTS]
        best = sorted(scored, key=lambda pair: -pair[0])[:2]
        return [
            NodeWithScore(node=TextNode(text=text), score=score) for score, text in best
        ]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


class Writer(CustomLLM):
    """The application's LLM: a model on a server, or the fixed answers."""

    model: str | None = None

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata that LlamaIndex needs."""
        return LLMMetadata(model_name=self.model or "fixed-answers")

    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Answer a prompt."""
        del formatted, kwargs
        if self.model is None:
            answer = next(
                text for question, text in ANSWERS.items() if question in prompt
            )
            return CompletionResponse(text=answer)
        import openai  # noqa: PLC0415  # only this choice needs the package

        messages: Any = [{"role": "user", "content": prompt}]
        done = openai.OpenAI().chat.completions.create(
            model=self.model, messages=messages
        )
        return CompletionResponse(text=done.choices[0].message.content or "", raw=done)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Not used here."""
        raise NotImplementedError


async def main(judge: str) -> None:
    """Answer the questions, judge the answers, print the scores."""
    model = judge.partition(":")[2] or None
    engine = RetrieverQueryEngine.from_args(WordRetriever(), llm=Writer(model=model))
    judging_llm = LexicalLLM() if model is None else Writer(model=model)

    # The suite as it was ...
    evaluators: dict[str, Any] = {
        "faithfulness": FaithfulnessEvaluator(llm=judging_llm)
    }
    # ... and with TCVA.
    tcva = TCVAEvaluator(judge, temperature="balanced")  # TCVA: line 2 of 3
    evaluators["tcva"] = tcva  # TCVA: line 3 of 3

    runner = BatchEvalRunner(evaluators)
    found: dict[str, list[Any]] = await runner.aevaluate_queries(
        engine, queries=list(ANSWERS)
    )

    print(f"judge: {judge}")
    print("faithfulness  T=0.2  T=0.5  T=0.9  answer")
    for own, added in zip(found["faithfulness"], found["tcva"], strict=True):
        scores = "  ".join(
            _shown(added.at(t).score) for t in (0.2, 0.5, 0.9)
        )  # no call
        print(f"{_shown(own.score):>12}  {scores}  {added.response}")
        print(f"              {added.feedback}")


def _shown(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="TCVA and FaithfulnessEvaluator on the same answers"
    )
    parser.add_argument("--judge", default="lexical", help="lexical, or openai:MODEL")
    asyncio.run(main(parser.parse_args().judge))
