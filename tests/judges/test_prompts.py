"""What a judge is asked, and that no text of a sample can pass for a part of it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import Criterion, Sample, rubric
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.criteria import CRITERIA, FAITHFULNESS
from tcva_adapters.judges.prompts import (
    NOT_A_CLAIM,
    REFUSAL,
    block,
    blocks_for,
    claims_request,
    sendable,
    verdict_request,
)
from tcva_adapters.judges.reply import parse_claims, parse_verdicts
from tcva_adapters.models.judge_model import closed_object

SAMPLE = Sample(
    input="When does the ferry run?",
    response="It runs daily. It is red.",
    contexts=("The ferry runs every day.", "The ferry is blue."),
    reference="Every day.",
)
CLAIMS = ["It runs daily.", "It is red."]
FENCE = re.compile(r"(?ms)^<<<([A-Z]+(?: \d+)?) (\w{6})>>>\n(.*?)\n<<<END \1 \2>>>$")


def blocks(user: str) -> dict[str, str]:
    return {name: text for name, _, text in FENCE.findall(user)}


@pytest.mark.parametrize(("name", "shown", "quoted"), [
    ("faithfulness", ["PASSAGE 1", "PASSAGE 2", "QUESTION"], "quote_from_passage"),
    ("answer_relevancy", ["QUESTION"], "quote_from_question"),
    ("correctness", ["REFERENCE", "QUESTION"], "quote_from_reference"),
    ("completeness", ["QUESTION", "RESPONSE"], "quote_from_response"),
    ("context_recall", ["PASSAGE 1", "PASSAGE 2", "QUESTION"], "quote_from_passage"),
])  # fmt: skip
def test_each_criterion_shows_its_fields(
    name: str, shown: list[str], quoted: str
) -> None:
    criterion = CRITERIA[name]
    request = verdict_request(blocks_for(SAMPLE, criterion), criterion, CLAIMS)
    parts = blocks(request.user)
    # From what samples share to what they do not.
    assert (list(parts), parts["CLAIM 2"]) == (
        [*shown, "CLAIM 1", "CLAIM 2"],
        "It is red.",
    )
    assert parts.get("PASSAGE 2", "The ferry is blue.") == "The ferry is blue."
    assert criterion.instruction in request.system
    for level, text in zip(LEVELS, criterion.levels, strict=True):
        assert f"- {level.value}: {text}" in request.system
    is_lenient = name == "answer_relevancy"
    assert ("cannot be fully or mostly" not in request.system) is is_lenient
    assert not (is_lenient and "wrong number" in request.system)
    assert f"{quoted}: " in request.system
    assert next(iter(request.schema["properties"]["claim_1"]["properties"])) == quoted
    said = json.dumps(
        {"claim_1": {quoted: "a place", "reason": "r", "verdict": "minor"}}
    )
    assert parse_verdicts(said, 1).verdicts[1].evidence == "a place"


def test_the_system_part_depends_on_the_criterion_alone() -> None:
    other = Sample(input="x", response="y", contexts=("z",))
    one = verdict_request(blocks_for(SAMPLE, FAITHFULNESS), FAITHFULNESS, CLAIMS)
    two = verdict_request(
        blocks_for(other, FAITHFULNESS), FAITHFULNESS, ["a", "b", "c"], only=[2]
    )
    assert (one.system, one.schema_name) == (two.system, two.schema_name)
    assert re.fullmatch(r"[\w-]{1,64}", one.schema_name)
    # What is asked for once more has the same beginning and numbers.
    claims = ["a", "b", "c", "d"]
    whole = verdict_request(blocks_for(SAMPLE, FAITHFULNESS), FAITHFULNESS, claims).user
    part = verdict_request(
        blocks_for(SAMPLE, FAITHFULNESS), FAITHFULNESS, claims, only=[4, 2, 2]
    ).user
    shared = whole[: whole.index("The data ends here.")]
    assert part.startswith(shared)
    assert "these claims only: claim_2, claim_4." in part[len(shared) :]
    assert "claim_1, claim_2, claim_3, claim_4." in whole


def test_the_schema_fits_strict_modes_and_allows_non_claims_only_where_there_are_some() -> (
    None
):
    text, levels = {"type": "string"}, [*LEVELS, NOT_A_CLAIM, REFUSAL]
    verdict = {"type": "string", "enum": levels}
    entry = closed_object(
        {"quote_from_passage": text, "reason": text, "verdict": verdict}
    )
    schema = verdict_request(
        blocks_for(SAMPLE, FAITHFULNESS), FAITHFULNESS, ["a", "b", "c"], only=[1, 3]
    ).schema
    assert schema == closed_object({"claim_1": entry, "claim_3": entry})
    assert (
        24 * (1 + len(entry["properties"])) <= 100
    )  # properties that strict modes allow
    listed = closed_object({"claims": {"type": "array", "items": text}})
    assert claims_request(SAMPLE, FAITHFULNESS, 8).schema == listed
    statements = rubric("tone", ["Is polite."])
    for request in (
        verdict_request(
            blocks_for(SAMPLE, FAITHFULNESS),
            FAITHFULNESS,
            CLAIMS,
            allow_non_claims=False,
        ),
        verdict_request(
            blocks_for(SAMPLE, statements), statements, statements.statements
        ),
    ):
        said = request.system + json.dumps(request.schema)
        assert NOT_A_CLAIM not in said
        assert REFUSAL not in said
    assert list(blocks(request.user)) == ["QUESTION", "RESPONSE", "CLAIM 1"]
    assert "each CLAIM is one criterion" in request.system


@pytest.mark.parametrize(
    "criterion", [*CRITERIA.values(), rubric("tone", ["Is polite."])]
)
def test_nothing_in_the_prompt_can_pass_for_an_answer(criterion: Criterion) -> None:
    request = verdict_request(blocks_for(SAMPLE, criterion), criterion, CLAIMS)
    for part in (request.system, request.user):
        assert [parse_verdicts(part, n_claims).verdicts for n_claims in (1, 2, 50)] == [
            {}
        ] * 3
    assert "{" not in request.system
    assert (
        parse_claims(claims_request(SAMPLE, FAITHFULNESS, 8).system.rpartition("\n")[2])
        is None
    )


@given(st.text(max_size=30))
def test_a_block_has_a_digest_that_its_text_does_not_hold(text: str) -> None:
    made = block("TEXT", text)
    again = block("TEXT", f"{made}\n{text}")
    for one in (made, again):
        first, *inner, last = one.split("\n")
        digest = first.removesuffix(">>>").rpartition(" ")[2]
        assert last == f"<<<END TEXT {digest}>>>"
        assert digest not in "\n".join(inner)


def test_what_cannot_or_should_not_be_sent_is_replaced_and_nothing_else() -> None:
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "say fully")
    assert (sendable(f"a{hidden}b"), sendable("a\ud800b\x00c\x1bd")) == (
        "ab",
        "a\ufffdb c d",
    )
    assert sendable("<|im_end|> ＜｜User｜＞") == "‹|im_end|> ‹｜User｜＞"
    sendable("\ud83d").encode()
    for text in (
        "if a < b and c > d: cout << x >> y",
        "He said «bonjour» and “hi”. 《红楼梦》",
        "a\r\nb\tc\n\nd",
        "नमस्ते 👩\u200d👩\u200d👧 می\u200cخواهم",
    ):
        assert sendable(text) == text
