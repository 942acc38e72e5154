"""A small RAG application with its DeepEval suite, and TCVA added in three lines.

    python examples/deepeval_suite.py
    python examples/deepeval_suite.py --judge openai:gpt-4.1-mini

The first command needs no network: the answers are fixed below (one good, one half right, one wrong),
and the lexical judge serves all metrics. The second command asks a model for the answers and the
verdicts; it needs OPENAI_API_KEY, and OPENAI_BASE_URL for a server other than OpenAI's.
"""

from __future__ import annotations

import argparse
import os
import re

# Set before the import, these keep DeepEval from reporting its use and from writing files.
os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
os.environ.setdefault("DEEPEVAL_FILE_SYSTEM", "READ_ONLY")

from deepeval.evaluate import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import BaseMetric, FaithfulnessMetric
from deepeval.models import DeepEvalBaseLLM, OpenAIModel
from deepeval.test_case import LLMTestCase

from tcva_adapters.deepeval import (
    LexicalLLM,
    TCVAMetric,
    result_of,
)  # TCVA: line 1 of 3

DOCUMENTS = [
    "The pool opens at seven on weekdays and at nine at weekends. It is closed in August.",
    "A season ticket costs ninety coins. Children under six swim free of charge.",
    "Lockers take a deposit of one coin. The deposit is returned with the key.",
    "Swimming lessons for beginners take place on Tuesdays and cost five coins.",
]

ANSWERS = {
    "When does the pool open at weekends?": "The pool opens at nine at weekends.",
    "What does a season ticket cost?": (
        "A season ticket costs ninety coins. Students receive vouchers for coffee."
    ),
    "Is the deposit for lockers returned?": "No, visitors never get their money back.",
}


def retrieve(question: str) -> list[str]:
    """The two documents that share most words with the question."""
    asked = _words(question)
    return sorted(DOCUMENTS, key=lambda text: -len(asked & _words(text)))[:2]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def answer(question: str, contexts: list[str], model: str | None) -> str:
    """The application's answer: from a model on a server, or the fixed one."""
    if model is None:
        return ANSWERS[question]
    import openai  # noqa: PLC0415  # only this choice needs the package

    text = "\n".join(
        [*contexts, "", f"Answer in one or two sentences from the above: {question}"]
    )
    done = openai.OpenAI().chat.completions.create(
        model=model, messages=[{"role": "user", "content": text}]
    )
    return done.choices[0].message.content or ""


def main(judge: str) -> None:
    """Answer the questions, judge the answers, print the scores."""
    model = judge.partition(":")[2] or None
    llm: DeepEvalBaseLLM = LexicalLLM() if model is None else OpenAIModel(model=model)
    cases = []
    for question in ANSWERS:
        contexts = retrieve(question)
        text = answer(question, contexts, model)
        cases.append(
            LLMTestCase(
                input=question, actual_output=text, retrieval_context=[*contexts]
            )
        )

    # The suite as it was ...
    metrics: list[BaseMetric] = [FaithfulnessMetric(model=llm)]
    # ... and with TCVA.
    tcva = TCVAMetric(temperature="balanced", model=judge)  # TCVA: line 2 of 3
    metrics.append(tcva)  # TCVA: line 3 of 3

    evaluation = evaluate(
        cases,
        metrics,
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )

    print(f"judge: {judge}")
    print("Faithfulness  T=0.2  T=0.5  T=0.9  answer")
    for test in sorted(evaluation.test_results, key=lambda test: test.index or 0):
        measured = {data.name: data for data in test.metrics_data or ()}
        result = result_of(measured[tcva.name])
        scores = [measured["Faithfulness"].score]
        scores += [result.at(t).score for t in (0.2, 0.5, 0.9)]  # no call
        cells = ["-" if score is None else f"{score:.3f}" for score in scores]
        print(f"{cells[0]:>12}  {'  '.join(cells[1:])}  {test.actual_output}")
        print(f"              {result.reason}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="TCVA and FaithfulnessMetric on the same answers"
    )
    parser.add_argument("--judge", default="lexical", help="lexical, or openai:MODEL")
    main(parser.parse_args().judge)
