"""A small RAG application with a RAGAS suite of both families, and TCVA added to each.

    python examples/ragas_suite.py
    python examples/ragas_suite.py --judge openai:gpt-4.1-mini

The first needs no network: the answers are written down here, one good, one half right, one wrong,
and the lexical judge stands behind all metrics. The second asks a model for the answers and for
the verdicts (OPENAI_API_KEY, OPENAI_BASE_URL).
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

from tcva_adapters.ragas import LexicalLLM, TCVACollectionMetric, TCVAMetric  # TCVA: line 1 of 3

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
    """The application: a model on a server, or the answers written down above."""
    if not model:
        return ANSWERS[question]
    import openai  # noqa: PLC0415  # only this choice needs a server

    told = "Answer from these passages alone:\n" + "\n".join(contexts)
    messages: Any = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    done = openai.OpenAI().chat.completions.create(model=model, messages=messages)
    return done.choices[0].message.content or ""


def judging_llm(model: str) -> Any:
    """What RAGAS' own metrics ask."""
    if not model:
        return LexicalLLM()
    import openai  # noqa: PLC0415  # as above

    return llm_factory(model, client=openai.AsyncOpenAI(), max_tokens=4096)


def main(judge: str) -> None:
    """Ask, judge, and print the scores."""
    model = judge.partition(":")[2]
    rows = []
    for question in ANSWERS:
        contexts = retrieve(question)
        said = answer(question, contexts, model)
        rows.append({"user_input": question, "response": said, "retrieved_contexts": contexts})

    # The suite as it was ...
    metrics: list[Any] = [Faithfulness(llm=judging_llm(model))]
    # ... and with TCVA.
    tcva = TCVAMetric(llm=judge, temperature="balanced")  # TCVA: line 2 of 3
    metrics.append(tcva)  # TCVA: line 3 of 3
    found: Any = evaluate(EvaluationDataset.from_list(rows), metrics=metrics, show_progress=False)

    print(f"judge: {judge}")
    print("theirs  strict  balanced  lenient  answer")
    for row, scores in zip(rows, found.scores, strict=True):
        ours = scores[tcva.name]
        dial = [ours.at(t) for t in ("strict", "balanced", "lenient")]
        shown = "  ".join(f"{value:8.3f}" for value in dial)
        print(f"{scores['faithfulness']:6.3f}{shown}   {row['response']}")
        for claim in scores[tcva.name].result.claims:
            print(f"        {claim.verdict}: {claim.claim}")

    # The newer family, one sample at a time.
    theirs = NewerFaithfulness(llm=judging_llm(model))
    ours = TCVACollectionMetric(judge)
    sample: dict[str, Any] = {
        key: rows[1][key] for key in ("user_input", "response", "retrieved_contexts")
    }
    print()
    print(f"faithfulness {theirs.score(**sample).value:.3f}, TCVA {ours.score(**sample)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="TCVA beside RAGAS' own metrics")
    parser.add_argument("--judge", default="lexical", help="lexical, or openai:MODEL")
    # RAGAS announces the end of evaluate() on every call.
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="__main__")
    main(parser.parse_args().judge)
