"""``require_citations``: a claim whose mark is wrong is served like an unsupported one."""

import random
import re
from typing import Any

import pytest

from tcva_adapters import TCVA, Conversation, Result, Sample
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.models.judge_model import JudgeRequest
from tcva_adapters.serving import REFUSAL, OnFail, serve
from tcva_adapters.streaming import AnswerStream
from tests.support.scripted import ScriptedModel
from tests.support.server import auto_judge

PASSAGES = (
    "The office opens at nine.",
    "Parking is free for visitors.",
    "Lunch is served at noon in the hall.",
)
RIGHT = "The office opens at nine [1]."
ELSEWHERE = "Parking is free for visitors [1]."
BROKEN = "Lunch is served at noon in the hall [7]."
UNCONFIRMED = "Olav Berg is the captain [2]."
MISSING = "Lunch is served at noon in the hall."
REQUIRED = TCVA(judge="lexical", require_citations=True)
USUAL = REQUIRED.changed(require_citations=False)


def sample(*sentences: str) -> Sample:
    return Sample(input="When?", response=" ".join(sentences), contexts=PASSAGES)


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        (RIGHT, None),
        (MISSING, None),
        ("Hello!", None),
        ("Lunch is served at noon in the hall [2][3].", None),
        (ELSEWHERE, "wrong citation [1] (elsewhere)"),
        (BROKEN, "wrong citation [7] (broken)"),
        ("Lunch is served at noon in the hall [3, 7].", "wrong citation [3, 7] (broken)"),
    ],
)  # fmt: skip
def test_wrong_marks_are_cut_with_their_reason(sentence: str, why: str | None) -> None:
    asked = sample(RIGHT, sentence)
    result = REQUIRED.evaluate(asked)
    usual = USUAL.evaluate(asked)
    kept = RIGHT if why else asked.response
    # The score says how far claims are supported; what is served alone depends on marks.
    assert (result.score, result.claims) == (usual.score, usual.claims)
    assert usual.supported().text == asked.response
    supported = result.supported()
    assert supported.text == kept
    assert [part.reason for part in supported.removed] == ([why] if why else [])
    assert serve(result, "remove").text == kept
    # What was read back needs the sample, and never passes without it.
    again = Result.from_json(result.to_json())
    assert again == result
    assert again.supported(sample=asked) == supported
    with pytest.raises(InvalidValueError, match="sample="):
        again.supported()
    with pytest.raises(InvalidValueError, match="sample="):
        serve(again, "refuse")
    with pytest.raises(InvalidValueError, match="not the sentences"):
        serve(again, "refuse", sample=sample("Lunch is free."))


def test_refuse_and_raise_count_wrong_marks() -> None:
    result = REQUIRED.evaluate(sample(RIGHT, ELSEWHERE))
    assert result.passed
    served = serve(result, "refuse")
    assert (served.text, served.failed) == (REFUSAL, True)
    assert "wrong citation [1] (elsewhere)" in served.why
    assert [mark["supported"] for mark in served.marks] == [True, False]
    assert serve(result, "raise").failed
    assert not serve(result.changed(require_citations=False), "raise").failed
    # One wrong mark among many right ones counts as one unsupported claim does.
    many = [RIGHT, "Lunch is served at noon [3].", "Parking is free [2]."]
    lenient: dict[str, Any] = {"temperature": "lenient", "penalty": "off"}
    judge = REQUIRED.changed(**lenient)
    wrong = serve(judge.evaluate(sample(*many, ELSEWHERE)), "refuse")
    unsupported = serve(judge.evaluate(sample(*many, UNCONFIRMED)), "refuse")
    assert (wrong.failed, unsupported.failed) == (False, False)


def test_what_cannot_be_held_against_marks_is_refused() -> None:
    reference = sample(RIGHT).model_copy(update={"reference": PASSAGES[0]})
    result = REQUIRED.changed(criterion="correctness").evaluate(reference)
    with pytest.raises(InvalidValueError, match="faithfulness"):
        serve(result, "remove")
    # Without contexts, or without a score, an answer is served as it always is.
    modes: tuple[OnFail, ...] = ("remove", "refuse")
    for asked in (sample("Hello!"), Sample(response=RIGHT, contexts=())):
        for on_fail in modes:
            required = serve(REQUIRED.evaluate(asked), on_fail)
            assert required.text == serve(USUAL.evaluate(asked), on_fail).text


@pytest.mark.parametrize("on_fail", ["flag", "remove", "refuse", "raise"])
def test_streams_serve_as_the_whole(on_fail: OnFail) -> None:
    draw = random.Random(3)
    sentences = [RIGHT, ELSEWHERE, BROKEN, UNCONFIRMED, MISSING, "Hello!"]
    sentences += ["Lunch is served at noon in the hall.[3]", "Parking is free. [1][2]"]
    for _ in range(40):
        asked = sample(*draw.choices(sentences, k=draw.randint(1, 6)))
        text = str(asked.response)
        whole = serve(REQUIRED.evaluate(asked), on_fail)
        stream = AnswerStream(REQUIRED, asked, on_fail=on_fail)
        size = draw.randint(1, 12)
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        parts = [*stream.chunks(chunks)]
        served = stream.served
        assert served is not None
        assert (served.failed, served.supported) == (whole.failed, whole.supported)
        marks = [mark for part in parts for mark in part.marks]
        assert marks == whole.marks
        if on_fail in {"flag", "remove"} or not whole.failed:
            assert "".join(part.text for part in parts) == whole.text


@pytest.mark.parametrize(
    "text",
    [
        "The office opens at nine (9). Parking is free for visitors (8). Lunch is served at noon [3]. Hello!",
        "Parking is free for visitors (2). The office opens at nine (1). Lunch is free (see 3).",
        f"{RIGHT}\n\nSources:\n[9] The office opens at nine. Parking is free for visitors.\n[8] Lunch is served.",
        "It costs $5 at nine [9]. Parking is free for visitors [8]. Lunch costs 7$ at noon [7]. Hello!",
    ],
)
@pytest.mark.parametrize("on_fail", ["flag", "remove"])
@pytest.mark.parametrize("streamed", [False, True])
def test_streams_read_the_marks_of_the_whole_answer(
    text: str, on_fail: OnFail, *, streamed: bool
) -> None:
    def reply(request: JudgeRequest) -> str:
        """Judge the claims without their marks."""
        prompt = re.sub(r" [\[(]\d[\])]", "", request.user)
        return auto_judge({"messages": [{"content": prompt}]}, 0)

    asked = sample(text)
    model = ScriptedModel(reply)
    for judge in (
        REQUIRED,
        TCVA(judge=model, require_citations=True, streamed=streamed),
    ):
        stream = AnswerStream(judge, asked, on_fail=on_fail)
        parts = [*stream.chunks(text[at : at + 7] for at in range(0, len(text), 7))]
        served = stream.served
        assert served is not None
        assert isinstance(served.result, Result)
        assert served.supported == served.result.supported(sample=asked)
        whole = serve(served.result, on_fail, sample=asked)
        assert "".join(part.text for part in parts) == whole.text
        assert [mark for part in parts for mark in part.marks] == whole.marks


@pytest.mark.parametrize("evidence", ["lower", "off"])
def test_fused_judges_and_judgements_without_the_evidence_check_follow(
    evidence: str,
) -> None:
    for settings in ({"fuse": "lexical"}, {"evidence": evidence}):
        judge = REQUIRED.changed(**settings)
        supported = judge.evaluate(sample(RIGHT, ELSEWHERE, BROKEN)).supported()
        assert supported.text == RIGHT


@pytest.mark.parametrize("weights", [(0, 1), (1, 0), (1, 1)])
def test_marks_count_for_each_fused_judge(weights: tuple[int, int]) -> None:
    judge = REQUIRED.changed(fuse="lexical", fuse_weights=weights)
    result = judge.evaluate(sample(ELSEWHERE, BROKEN))
    assert serve(result, "refuse").failed
    assert serve(result, "remove").text == REFUSAL
    assert not serve(judge.evaluate(sample(RIGHT)), "refuse").failed


def test_conversations_say_that_each_turn_is_served_by_itself() -> None:
    turns = (sample(RIGHT), sample(ELSEWHERE))
    result = REQUIRED.evaluate_conversation(Conversation(turns=turns))
    with pytest.raises(InvalidValueError, match="this conversation has 2; call it on"):
        result.as_cited()
    assert [turn.supported().is_empty for turn in result.turns] == [False, True]
    alone = REQUIRED.evaluate_conversation(Conversation(turns=turns[1:]))
    assert serve(alone, "refuse", sample=turns[1]).failed


def test_a_fused_judge_of_other_claims_keeps_them() -> None:
    asked = sample(RIGHT, ELSEWHERE, BROKEN)
    result = REQUIRED.evaluate(asked)
    for n_claims in (0, 1):
        other = USUAL.evaluate(sample("Hello!" if n_claims == 0 else MISSING))
        fused = result.assessment.model_copy(update={"members": (other.assessment,)})
        cited = Result(fused, result.scoring, sample=asked).as_cited(asked)
        assert cited.members[0].claims == other.claims
        assert [str(claim.verdict) for claim in cited.claims[1:]] == ["none", "none"]
