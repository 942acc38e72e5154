"""What holds for every reply: no wrong label."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.judges.reply import (
    Label,
    ParsedVerdict,
    parse_verdicts,
    read_label,
)

MARKS: tuple[Label, ...] = ("not_a_claim", "refusal")
WORD: st.SearchStrategy[Label] = st.sampled_from((*LEVELS, *MARKS))
NASTY = st.sampled_from(
    ['"', "\\", '", "verdict": "fully"', "'", "{", "}]}", "</think>", "<think>", "```", "\n", ",", ":", "…",
     '{"claim":1,"verdict":"fully"}', '{"verdicts":[{"claim":1,"verdict":"fully"},{"claim":2,"verdict":"fully"}]}',
     "\n1. fully", "//", "/*", "\u2028", "\ua66e", "none", "null", "901", "[1]", "claim"]
)  # fmt: skip
TEXT = st.lists(st.one_of(NASTY, st.text(max_size=6)), max_size=6).map("".join)


def by_key(expected: dict[int, ParsedVerdict], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The same verdicts in the form that is asked for: an object with a key for each claim."""
    renamed = {"evidence": "quote_from_passage"}
    return {
        f"claim_{number}": {renamed.get(key, key): row[key] for key in row if key != "claim"}
        for number, row in zip(expected, rows, strict=True)
    }


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, dict[int, ParsedVerdict]]:
    """A well-formed reply in some form and order, with any text in its quotes and reasons."""
    labels = draw(st.lists(WORD, min_size=1, max_size=12))
    numbers = draw(st.permutations(range(1, len(labels) + 1)))
    keys = draw(st.permutations(["claim", "evidence", "passage", "reason", "verdict"]))
    rows: list[dict[str, Any]] = []
    expected: dict[int, ParsedVerdict] = {}
    for number, label in zip(numbers, labels, strict=True):
        row: dict[str, Any] = {
            "claim": draw(st.sampled_from([number, str(number), f"claim {number}"])),
            "evidence": draw(TEXT),
            "passage": draw(st.integers(0, 3)),
            "reason": draw(TEXT),
            "verdict": label,
        }
        rows.append({key: row[key] for key in keys})
        expected[number] = ParsedVerdict(
            number, label, row["evidence"].strip(), row["reason"].strip()
        )
    text = json.dumps(
        draw(st.sampled_from([{"verdicts": rows}, by_key(expected, rows)])),
        indent=draw(st.sampled_from([None, 0, 1, 4])),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
        ensure_ascii=draw(st.booleans()),
    )
    return text, expected


DRESS = st.sampled_from(
    ["{}", "```json\n{}\n```", "Sure:\n{}\nDone.", "<think>1. fully</think>{}", "\n\n{}\n"]
)


@given(replies(), DRESS, st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_whole_reply_is_read_as_it_is_and_a_cut_one_gives_no_wrong_label(
    reply: tuple[str, dict[int, ParsedVerdict]], dress: str, share: float
) -> None:
    text, expected = reply
    text = dress.replace("{}", text)
    parsed = parse_verdicts(text, len(expected))
    assert parsed.problems == ()
    found = {n: (v.label, v.evidence, v.reason) for n, v in parsed.verdicts.items()}
    assert found == {n: (v.label, v.evidence, v.reason) for n, v in expected.items()}
    for n_claims in (len(expected), len(expected) + 5):
        cut = parse_verdicts(text[: int(share * len(text))], n_claims).verdicts
        assert all(verdict.label == expected[n].label for n, verdict in cut.items())


@given(replies(), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_a_cut_and_broken_reply_gives_no_wrong_label(
    reply: tuple[str, dict[int, ParsedVerdict]], share: float
) -> None:
    labels = {n: v.label for n, v in reply[1].items()}
    rows = [
        {"claim": n, "evidence": "it's there", "verdict": str(label), "reason": "a, b: c"}
        for n, label in labels.items()
    ]
    for form in ({"verdicts": rows}, by_key(reply[1], rows)):
        for text in (repr(form), json.dumps(form).replace("}, ", ",}, ")):
            parsed = parse_verdicts(text[: int(share * len(text))], len(rows))
            assert {n: v.label for n, v in parsed.verdicts.items()}.items() <= labels.items()
            whole = parse_verdicts(text, len(rows))
            assert {n: v.label for n, v in whole.verdicts.items()} == labels


@given(st.text(max_size=30))
@example("0\x1f")
def test_a_label_is_never_part_of_a_text(word: str) -> None:
    if read_label(word) is None:
        reply = json.dumps({"verdicts": [{"claim": 1, "verdict": word}]})
        assert parse_verdicts(reply, 1).verdicts == {}
    assert read_label(f"not {word}") in {None, Verdict.NONE, "not_a_claim"}
