"""RAGAS' own metrics, unmodified, on samples; offline with the lexical judge as their LLM."""

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from pydantic import BaseModel
from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.metrics._faithfulness import NLIStatementPrompt, StatementGeneratorPrompt
from ragas.metrics.collections.faithfulness import util as faithfulness

from tcva_adapters import Result, Sample, Verdict
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.ragas import (
    LexicalLLM,
    ascore_framework_metric,
    score_framework_metric,
)

SAMPLE = Sample(
    input="When does the office open?",
    response="Hello! The office opens at nine. Penguins juggle violins.",
    contexts=("The office opens at nine. It closes at five.",),
    reference="The office opens at nine.",
)


class Letters(BaseRagasEmbedding):
    """How often each letter occurs: an embedding without a model."""

    def embed_text(self, text: str, **kwargs: Any) -> list[float]:
        del kwargs
        return [
            float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"
        ]

    async def aembed_text(self, text: str, **kwargs: Any) -> list[float]:
        return self.embed_text(text, **kwargs)


# Of the two sentences that claim something one is in the context, word by word, and the other
# shares no word with it.
OFFLINE = ["faithfulness", "legacy_faithfulness"]


@pytest.mark.parametrize("name", OFFLINE)
def test_faithfulness_runs_offline_and_its_verdicts_are_captured(name: str) -> None:
    found = score_framework_metric(name, SAMPLE, LexicalLLM())
    assert (found.metric, found.score, found.calls, found.error) == (name, 0.5, 2, "")
    assert [said.word for said in found.verdicts] == ["1", "0"]
    result = Result(found.assessment())
    # one fully, one none: T=.5 gives the mean .5 times (1 - .5)**1
    assert result.score == pytest.approx(0.25, abs=1e-12)
    assert result.at(0.1).score == pytest.approx(0.0, abs=1e-8)


def test_answer_relevancy_runs_where_an_embedding_is_given() -> None:
    found = score_framework_metric(
        "answer_relevancy", SAMPLE, Fixed(1), embeddings=Letters()
    )
    # The cosine of the letters of the question made up (see Fixed) and of the one asked.
    ours, theirs = (Letters().embed_text(t) for t in ("When?", SAMPLE.input or ""))
    dot = sum(a * b for a, b in zip(ours, theirs, strict=True))
    norm = (sum(a * a for a in ours) * sum(b * b for b in theirs)) ** 0.5
    assert found.score == pytest.approx(dot / norm, abs=1e-12)
    assert found.verdicts == ()
    with pytest.raises(ValueError, match="embeddings"):
        score_framework_metric("answer_relevancy", SAMPLE, Fixed(1))


class Fixed(InstructorBaseRagasLLM):
    """Says the same number about every claim but the last, which is a 0."""

    is_async = True

    def __init__(self, number: int, claims: int = 2) -> None:
        self.number = number
        self.claims = [f"The value {i} is {i}." for i in range(claims)]

    def generate(self, prompt: str, response_model: Any) -> Any:
        del prompt
        names = set(response_model.model_fields)
        if "question" in names:
            return response_model(question="When?", noncommittal=0)
        if "claims" in names or response_model.__name__.startswith(
            "StatementGenerator"
        ):
            return response_model.model_validate({names.pop(): self.claims})
        word = "attributed" if "classifications" in names else "verdict"
        numbers = [*[self.number] * (len(self.claims) - 1), 0]
        said = [
            {"statement": claim, "reason": "r", word: number}
            for claim, number in zip(self.claims, numbers, strict=True)
        ]
        return response_model.model_validate({names.pop(): said})

    async def agenerate(self, prompt: str, response_model: Any) -> Any:
        return self.generate(prompt, response_model)


@pytest.mark.parametrize(
    "name", ["faithfulness", "legacy_faithfulness", "context_recall"]
)
def test_verdicts_of_ragas_own_metrics_are_reaggregated_as_by_hand(name: str) -> None:
    native = score_framework_metric(name, SAMPLE, Fixed(1, claims=4))
    assert native.score == 0.75
    assert sorted(said.word for said in native.verdicts) == ["0", "1", "1", "1"]
    result = Result(native.assessment())
    # Three of four. T=.5: p=1, the mean .75 times (1-.25)**1. T=.9: p=10, .75**.1 times .75**.6.
    # T=1: p=12.25, .75**(1/12.25) times .75**.5. T=.1: p=-8, with the none raised to 1e-9 about
    # (4 / 1e72)**(1/8) times .75**1.4.
    assert result.score == pytest.approx(0.5625, abs=1e-12)
    assert result.at(0.9).score == pytest.approx(0.75**0.7, abs=1e-12)
    assert result.at(1.0).score == pytest.approx(0.75 ** (1 / 12.25 + 0.5), abs=1e-12)
    assert result.at(0.1).score == pytest.approx(4**0.125 * 1e-9 * 0.75**1.4, rel=1e-6)
    assert result.at(0.5, penalty="off").score == pytest.approx(0.75, abs=1e-12)


@pytest.mark.parametrize("number", [2, -1])
@pytest.mark.parametrize(
    "name", ["faithfulness", "legacy_faithfulness", "factual_correctness"]
)
def test_a_number_that_is_no_verdict_is_captured_without_a_level(
    name: str, number: int
) -> None:
    native = score_framework_metric(name, SAMPLE, Fixed(number))
    assert native.score == 0.5  # RAGAS counts whatever is not 0
    said = [(verdict.word, verdict.verdict) for verdict in native.verdicts]
    assert said == [(str(number), None), ("0", Verdict.NONE)]
    assert Result(native.assessment()).score == pytest.approx(0.0, abs=1e-8)


def test_inside_a_running_loop_both_faces_work() -> None:
    async def inside() -> list[float | None]:
        awaited = await ascore_framework_metric(
            "legacy_faithfulness", SAMPLE, LexicalLLM()
        )
        return [
            awaited.score,
            score_framework_metric("faithfulness", SAMPLE, LexicalLLM()).score,
        ]

    assert asyncio.run(inside()) == [0.5, 0.5]


def test_llms_of_the_older_family_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="newer"):
        score_framework_metric(
            "legacy_faithfulness", SAMPLE, FakeListChatModel(responses=["x"])
        )


def test_no_score_is_a_failure() -> None:
    greeting = SAMPLE.model_copy(update={"response": "Hello!"})
    found = score_framework_metric("faithfulness", greeting, LexicalLLM())
    assert found.error == "the metric returned nan"


@pytest.mark.parametrize(
    "name", ["faithfulness", "context_recall", "legacy_faithfulness"]
)
def test_a_row_with_an_empty_question_is_scored_as_ragas_evaluate_does(
    name: str,
) -> None:
    empty = SAMPLE.model_copy(update={"input": ""})
    found = score_framework_metric(name, empty, Fixed(1))
    assert (found.score, found.error) == (0.5, "")
    assert found == score_framework_metric(name, SAMPLE, Fixed(1))
    # One whose score compares the question refuses it.
    compared = score_framework_metric(
        "answer_relevancy", empty, Fixed(1), embeddings=Letters()
    )
    assert compared.error == "ValueError: user_input cannot be empty"


# --- the prompts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "asked"), [
    (StatementGeneratorPrompt, {"question": "q", "answer": "It opens at nine."}),
    (NLIStatementPrompt, {"context": "c", "statements": ["It opens at nine."]}),
    (faithfulness.StatementGeneratorPrompt, {"question": "q", "answer": "It is 1."}),
    (faithfulness.NLIStatementPrompt, {"context": "c", "statements": ["It is 1."]}),
])  # fmt: skip
@pytest.mark.parametrize(
    "data", ["", "\nNow perform the same with the following input\ninput: {}\nOutput: "]
)
def test_every_prompt_is_known(kind: Any, asked: dict[str, Any], data: str) -> None:
    asked = {k: v + data if isinstance(v, str) else v for k, v in asked.items()}
    prompt = kind()
    text = prompt.to_string(prompt.input_model(**asked))
    assert isinstance(
        LexicalLLM().generate(text, prompt.output_model), prompt.output_model
    )


def test_an_unknown_prompt_is_an_error_that_names_it() -> None:
    class Poem(BaseModel):
        lines: list[str]

    with pytest.raises(
        JudgeError, match=r"RAGAS' faithfulness.*'Write a poem"
    ) as caught:
        LexicalLLM().generate("Write a poem about offices.", Poem)
    assert (caught.value.reason, caught.value.fatal) == ("unknown_prompt", True)
    changed = NLIStatementPrompt()
    changed.instruction = "Judge."
    text = changed.to_string(changed.input_model(context="c", statements=["s"]))
    with pytest.raises(JudgeError, match="'Judge\\."):
        asyncio.run(LexicalLLM().agenerate(text, changed.output_model))
