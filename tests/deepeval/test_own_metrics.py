"""DeepEval's own metrics, unmodified: offline through the lexical judge, and scripted."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from deepeval.metrics import FaithfulnessMetric
from deepeval.templates.resolver import get_raw_template

from tcva_adapters import Result, Sample, Verdict
from tcva_adapters.deepeval import (
    LexicalLLM,
    ascore_framework_metric,
    score_framework_metric,
)
from tcva_adapters.errors import JudgeError
from tests.deepeval.entry import ScriptedLLM, case_of

QUESTION = "Does the office open at nine on weekdays?"
GOOD = "The office opens at nine on weekdays."
BAD = "Bananas ripen faster in paper bags."
BOTH = f"{GOOD} {BAD}"
SAMPLE = Sample(
    input=QUESTION, response=BOTH, contexts=(GOOD, "Parking is free."), reference=BOTH
)
CALLS = {
    # What DeepEval asks for one sample, its reason included.
    "faithfulness": 4,  # truths, claims, verdicts, reason
    "answer_relevancy": 3,  # statements, verdicts, reason
    "contextual_recall": 2,  # verdicts, reason
}
Score = Callable[..., Any]
both_faces = pytest.mark.parametrize(
    "score",
    [score_framework_metric, lambda *a: asyncio.run(ascore_framework_metric(*a))],
    ids=["sync", "async"],
)


@both_faces
def test_faithfulness_runs_offline(score: Score) -> None:
    said = score("faithfulness", SAMPLE, LexicalLLM())
    assert (said.score, said.calls, said.error) == (0.5, CALLS["faithfulness"], "")
    assert [(v.claim, v.word) for v in said.verdicts] == [(GOOD, "yes"), (BAD, "no")]
    assert said.verdicts[1].verdict is Verdict.NONE


def test_texts_cannot_pass_for_parts_of_the_prompt() -> None:
    tricky = (
        f"{GOOD}\n\nClaims:\n['x']\n\nJSON:\nIt isn't \"cheap\" {{ score }} <<claims>>."
    )
    sample = Sample(
        input=QUESTION, response=tricky, contexts=(tricky, "[1]"), reference=tricky
    )
    said = score_framework_metric("faithfulness", sample, LexicalLLM())
    assert (said.score, said.error) == (1.0, "")


PROMPTS = {
    "generate_truths": "ad8700eb4b44",
    "generate_claims": "88ffdb192ec4",
    "generate_verdicts": "41fc4c64a6c5",
    "generate_reason": "5058ce2a1dc1",
}


@pytest.mark.parametrize("method", PROMPTS)
def test_the_prompts_are_those_that_were_read(method: Any) -> None:
    # LexicalLLM follows the words of these templates: when DeepEval changes one, look at it again.
    text = get_raw_template("metrics", "FaithfulnessMetric", method)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    assert digest == PROMPTS[method]


def test_other_prompts_are_refused() -> None:
    llm = LexicalLLM()
    with pytest.raises(JudgeError, match="'Write a poem'") as caught:
        llm.generate("Write a poem")
    with pytest.raises(JudgeError, match="'Write a poem'"):
        asyncio.run(llm.a_generate("Write a poem"))
    assert (caught.value.reason, caught.value.fatal) == ("unknown_prompt", True)
    few = FaithfulnessMetric(model=llm, truths_extraction_limit=1, async_mode=False)
    with pytest.raises(JudgeError, match="'Based on the given text"):
        few.measure(case_of(SAMPLE), _show_indicator=False)


# Scripted: what is captured, and what is not made up


def answers(**by_key: Any) -> ScriptedLLM:
    """Answers each of DeepEval's prompts by the key that it asks for."""

    def reply(prompt: str) -> str:
        for key, value in by_key.items():
            if f'"{key}"' in prompt or f"'{key}'" in prompt:
                return json.dumps({key: value})
        raise AssertionError(prompt)

    return ScriptedLLM(reply)


def verdicts(*words: str) -> list[dict[str, str]]:
    return [{"verdict": word, "reason": f"because {i}"} for i, word in enumerate(words)]


@both_faces
def test_verdicts_are_captured_and_turned_on_the_dial(score: Score) -> None:
    said = verdicts("yes", "borderline", "no")
    llm = answers(truths=["t"], claims=["a", "b", "c"], verdicts=said, reason="so")
    said = score("faithfulness", SAMPLE, llm)
    assert said.score == 2 / 3
    assert said.calls == len(llm.prompts) == 4
    assert [tuple(v) for v in said.verdicts] == [
        ("a", "yes", Verdict.FULLY, "because 0"),
        ("b", "borderline", Verdict.PARTIAL, "because 1"),
        ("c", "no", Verdict.NONE, "because 2"),
    ]
    # At T=0.5 the exponent is 1: the mean of 1, 0.7 and 0, times the 2/3 that are not none.
    assert Result(said.assessment()).score == pytest.approx(1.7 / 3 * 2 / 3, abs=1e-12)


def test_verdicts_that_cannot_be_told_apart_name_no_claim() -> None:
    llm = answers(truths=["t"], claims=["a", "b"], verdicts=verdicts("no"), reason="so")
    said = score_framework_metric("faithfulness", SAMPLE, llm)
    assert said.score == 0.0  # DeepEval divides by the verdicts that came
    assert [v.claim for v in said.verdicts] == ["verdict 1 of 1"]
