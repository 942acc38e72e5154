"""A small RAG application with a RAGAS suite of both families, and TCVA added to each.

    python examples/ragas_suite.py
    python examples/ragas_suite.py --judge openai:gpt-4.1-mini

The first command needs no network: the answers are fixed below (one good, one half right, one wrong),
and the lexical judge serves all metrics. The second command asks a model for the answers and the
verdicts; it needs OPENAI_API_KEY, and OPENAI_BASE_URL for a server other than OpenAI's.
"""

from __future__ import annotations

import argparse
import os
import re
import warnings
from typing import Any

os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")  # before RAGAS is first used

from ragas import EvaluationDataset, evaluate
from ragas.llms import llm_factory
from ragas.metrics._faithfulness import Faithfulness
from ragas.metrics.collections import Faithfulness as NewerFaithfulness

from tcva_adapters.ragas import (
    LexicalLLM,
    TCVACollectionMetric,
    TCVAMetric,
)  # TCVA: line 1 of 3

DOCUMENTS = [
    "The bakery opens at six on weekdays and at seven on Saturdays. It is closed on Sundays.",
    "Cakes are made to order. An order is taken up to two days before.",
    "Bread from the day before is sold at half price until noon.",
    "The café beside the bakery has twenty seats and a terrace.",
]

ANSWERS = {
    "When does the bakery open on Saturdays?": "The bakery opens at seven on Saturdays.",
    "How do I get a cake?": "Cakes are made to order. Delivery by drone costs nothing.",
    "Is there cheap bread?": "Yes, old loaves are handed out as presents all week long.",
}


def retrieve(question: str) -> list[str]:
    """The two documents that share most words with the question."""
    asked = _words(question)
    return sorted(DOCUMENTS, key=lambda text: -len(asked & _words(text)))[:2]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def answer(question: str, contexts: list[str], model: str) -> str:
    """The application: a model on a server, or the fixed answers."""
    if not model:
        return ANSWERS[question]
    import openai  # noqa: PLC0415  # only this choice needs a server

    system = "Answer only from these texts:\n" + "\n".join(contexts)
    messages: Any = [
        {"role": "system", "content": system},
        {"role": "user", "content": question},
    ]
    done = openai.OpenAI().chat.completions.create(model=model, messages=messages)
    return done.choices[0].message.content or ""


def judging_llm(model: str) -> Any:
    """The LLM of RAGAS' own metrics."""
    if not model:
        return LexicalLLM()
    import openai  # noqa: PLC0415  # as above

    return llm_factory(model, client=openai.AsyncOpenAI(), max_tokens=4096)


def main(judge: str) -> None:
    """Answer the questions, judge the answers, print the scores."""
    model = judge.partition(":")[2]
    rows = []
    for question in ANSWERS:
        contexts = retrieve(question)
        text = answer(question, contexts, model)
        rows.append(
            {"user_input": question, "response": text, "retrieved_contexts": contexts}
        )

    # The suite as it was ...
    metrics: list[Any] = [Faithfulness(llm=judging_llm(model))]
    # ... and with TCVA.
    tcva = TCVAMetric(llm=judge, temperature="balanced")  # TCVA: line 2 of 3
    metrics.append(tcva)  # TCVA: line 3 of 3
    found: Any = evaluate(
        EvaluationDataset.from_list(rows), metrics=metrics, show_progress=False
    )

    print(f"judge: {judge}")
    print("faithfulness  T=0.2  T=0.5  T=0.9  answer")
    for row, scores in zip(rows, found.scores, strict=True):
        score = scores[tcva.name]
        others = "  ".join(f"{score.at(t):.3f}" for t in (0.2, 0.5, 0.9))  # no call
        print(f"{scores['faithfulness']:12.3f}  {others}  {row['response']}")
        for claim in score.result.claims:
            print(f"              {claim.verdict}: {claim.claim}")

    # The newer family, one sample at a time.
    faithfulness = NewerFaithfulness(llm=judging_llm(model))
    newer_tcva = TCVACollectionMetric(judge)
    sample: dict[str, Any] = {
        key: rows[1][key] for key in ("user_input", "response", "retrieved_contexts")
    }
    print()
    result = newer_tcva.score(**sample)
    print(f"newer family: faithfulness {faithfulness.score(**sample).value:.3f}")
    print(f"              {newer_tcva.name} {result.value:.3f}: {result.reason}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="TCVA and RAGAS' faithfulness on the same answers"
    )
    parser.add_argument("--judge", default="lexical", help="lexical, or openai:MODEL")
    # RAGAS deprecates evaluate().
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="__main__")
    main(parser.parse_args().judge)
