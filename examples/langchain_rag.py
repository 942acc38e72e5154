"""A small LangChain application with its LangSmith suite, and TCVA added in three lines.

    python examples/langchain_rag.py
    python examples/langchain_rag.py --judge openai:gpt-4.1-mini

The answers are fixed below: one good, one half right, one wrong. The first command needs no network:
the lexical judge serves both evaluators. The second command asks a model for the verdicts; it needs
the package langchain-openai and OPENAI_API_KEY.
"""

from __future__ import annotations

import argparse
import re
import uuid
import warnings
from datetime import UTC, datetime
from typing import Any

from langchain_classic.evaluation import ContextQAEvalChain
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langsmith.evaluation import evaluate
from langsmith.schemas import Example

from tcva_adapters.langchain import (  # TCVA: line 1 of 3
    LexicalLLM,
    TCVAEvaluator,
    TCVARunEvaluator,
    local_client,
    result_of,
)

DOCUMENTS = [
    "The library is open from nine to six on weekdays. It is closed on Sundays.",
    "A reader's card is free for residents. Visitors pay five pounds a year for it.",
    "Members may borrow up to twelve books at once. A loan lasts three weeks.",
    "The reading room on the second floor has forty desks and no lift.",
]

ANSWERS = {
    "When is the library open?": "The library is open from nine to six on weekdays.",
    "What does a reader's card cost?": (
        "A reader's card is free for residents. Jugglers receive it with a biscuit."
    ),
    "How many books may I borrow at once?": "You can take home twenty, if you ask nicely.",
}


class WordRetriever(BaseRetriever):
    """Finds the documents that share most words with the question."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        found = sorted(DOCUMENTS, key=lambda text: -len(_words(query) & _words(text)))
        return [Document(text) for text in found[:2]]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def rag() -> Runnable[dict[str, Any], dict[str, Any]]:
    """The application: a question in, its documents and the answer out."""
    retrieve = RunnableLambda(lambda x: x["question"]) | WordRetriever()
    answer = RunnableLambda[dict[str, Any], str](lambda x: ANSWERS[x["question"]])
    return RunnablePassthrough.assign(context=retrieve) | RunnablePassthrough.assign(
        answer=answer
    )


def main(judge: str) -> None:
    """Answer the questions, judge the answers, print the scores."""
    qa_evaluator = ContextQAEvalChain.from_llm(_llm(judge))

    def context_qa(inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
        found = qa_evaluator.evaluate_strings(
            prediction=outputs["answer"],
            input=inputs["question"],
            reference="\n\n".join(
                document.page_content for document in outputs["context"]
            ),
        )
        return {"key": "context_qa", "score": found["score"]}

    # The suite as it was ...
    evaluators: list[Any] = [context_qa]
    # ... and with TCVA.
    tcva = TCVARunEvaluator(
        TCVAEvaluator(judge, temperature="balanced")
    )  # TCVA: line 2 of 3
    evaluators.append(tcva)  # TCVA: line 3 of 3

    dataset, now = uuid.uuid4(), datetime.now(UTC)
    examples = [
        Example(
            id=uuid.uuid4(),
            dataset_id=dataset,
            created_at=now,
            inputs={"question": question},
        )
        for question in ANSWERS
    ]
    warnings.filterwarnings("ignore", message="'upload_results' parameter is in beta")
    rows = evaluate(
        rag().invoke,
        data=examples,
        evaluators=evaluators,
        upload_results=False,
        client=local_client(),  # LangSmith's server is not contacted
        max_concurrency=0,
    )

    print(f"judge: {judge}")
    print("context_qa  T=0.2  T=0.5  T=0.9  answer")
    for row in rows:
        own, added = row["evaluation_results"]["results"]
        result = result_of(added)
        scores = "  ".join(
            _shown(result.at(t).score) for t in (0.2, 0.5, 0.9)
        )  # no call
        answer = (row["run"].outputs or {})["answer"]
        print(
            f"{_shown(own.score):>10}  {scores}  {answer}\n            {added.comment}"
        )


def _llm(judge: str) -> Any:
    if judge == "lexical":
        return LexicalLLM()
    from langchain_openai import ChatOpenAI  # noqa: PLC0415  # only this choice needs the package

    return ChatOpenAI(model=judge.partition(":")[2], temperature=0, seed=0)


def _shown(score: float | bool | None) -> str:
    return "-" if score is None else f"{score:.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="TCVA and LangChain's context_qa on the same answers"
    )
    parser.add_argument("--judge", default="lexical", help="lexical, or openai:MODEL")
    main(parser.parse_args().judge)
