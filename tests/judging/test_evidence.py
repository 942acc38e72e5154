"""Whether quotes are found, and what happens to a verdict whose quote is not."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.judging.evidence.check import check_evidence
from tcva_adapters.judging.evidence.places import NEAR_ENOUGH, Passages
from tcva_adapters.judging.evidence.search import Found, find_quote
from tcva_adapters.results.assessment import ClaimVerdict, EvidenceCheck

FERRY = (
    "The ferry to Aldra runs twice a day in winter, and four times a day from May to September. "
    "It does not run on 24 December. Tickets cost $12.50; children under 6 don't pay. "
    "Dogs aren't allowed on deck – only in the hold."
)
LAKE = "The lake (depth: 1,250 m) has been protected since 1984. Fishing is allowed with a permit."
HELD = [FERRY, LAKE]

FOUND = [
    ("runs twice a day in winter", 1),
    ("RUNS TWICE A DAY IN WINTER", 1),
    ("runs  twice\n a day in winter,", 1),
    ('"runs twice a day in winter"', 1),
    ("“runs twice a day in winter”", 1),
    ("runs twice-a-day in winter", 1),
    ("children under 6 don’t pay", 1),
    ("children under 6 do n't pay", 1),
    ("children under 6 don 't pay", 1),
    ("Dogs aren't allowed on deck - only in the hold", 1),
    ("Dogs aren't allowed on deck — only in the hold", 1),
    ("Tickets cost $ 12.50", 1),
    ("ｒｕｎｓ ｔｗｉｃｅ ａ ｄａｙ", 1),
    ("runs tw\u00adice a d\u200bay", 1),
    ("depth 1250 m", 2),
    ("depth: 1,250 m", 2),
    ("The lake -LRB- depth : 1,250 m -RRB- has been", 2),
    ("1984", 2),
    ("permit", 2),
    ("protected since 1984. Fishing is allowed", 2),
    ("The ferry to Aldra ... four times a day", 1),
    ("The ferry to Aldra [...] four times a day", 1),
    ("The ferry to Aldra… four times a day…", 1),
    ("... runs twice a day ...", 1),
    ("The ferry to Aldra runs twice a day ... Tickets cost $12.50", 1),
    # In both passages, three words each: the longer fragment names the passage.
    ("runs twice a day ... Fishing is allowed with a permit", 2),
    # One word left out of 14: 10 of the 11 sequences that a quote of 13 words has are there.
    ("The ferry to Aldra runs twice a day in winter, four times a day", 1),
    # "operates" for "runs": 12 sequences in 14 words, 3 of them changed, 9/12 = 0.75.
    ("The ferry to Aldra operates twice a day in winter, and four times", 1),
]

NOT_FOUND = [
    "",
    "  ",
    "...",
    "“”",
    "The ferry is blue",
    "run twice",
    "he ferry",
    "winter in day a twice runs",
    # Numbers: another one, part of one, a sign more, a comma less.
    "children under 7 don't pay",
    "depth: 250 m",
    "depth: 1,25 m",
    "since 198",
    "since -1984",
    "Tickets cost $12",
    "Tickets cost €12.50",
    "Tickets cost 12.50%",
    # One word of 18 changed would be near enough (13/16), were it not a number or a negation.
    "The ferry to Aldra runs twice a day in winter, and five times a day from May to September",
    "The ferry to Aldra never runs twice a day in winter, and four times a day from May to September",
    "It does run on 24 December. Tickets cost $12.50; children under 6 don't pay. Dogs aren't allowed",
    "Dogs are allowed on deck – only in the hold",
    "Dogs are allowed on deck",
    # The same numbers and negations in other places: changed order, one moved by a few words.
    "The ferry to Aldra runs four times a day in winter, and twice a day from May to September. It",
    # 24 words with 22 sequences, of which "are" and "not" break 3 each: 16/22 = 0.73 are there.
    "It does not run on 24 December. Tickets cost $12.50; children under 6 don't pay. Dogs are allowed on deck, not only in",
    # A negation in the gap, with and without another sentence in between.
    "It does ... run on 24 December",
    "It does ... Tickets cost $12.50",
    "children under 6 ... pay",
    # Fragments: one is missing, wrong order, single words of different sentences.
    "The ferry to Aldra ... is painted blue",
    "four times a day ... The ferry to Aldra",
    "lake ... allowed",
    # Two fragments in different passages, one of them shorter than three words.
    "runs twice a day ... a permit",
    # 2 words of 8 changed: 6 sequences, at most 2 left.
    "The boat to Aldra goes twice a day",
]


def place_of(quote: str, passages: Sequence[str]) -> int | None:
    found = find_quote(quote, Passages(passages))
    return None if found is None else found.passages[0]


@pytest.mark.parametrize(("quote", "passage"), FOUND, ids=lambda x: ascii(x)[:40])
def test_found(quote: str, passage: int) -> None:
    assert place_of(quote, HELD) == passage


@pytest.mark.parametrize("quote", NOT_FOUND, ids=lambda x: ascii(x)[:40])
def test_not_found(quote: str) -> None:
    assert place_of(quote, HELD) is None


@pytest.mark.parametrize(
    ("quote", "passage", "found"),
    [
        ("湖は1984年から保護", "この湖は1984年から保護されています。", True),
        ("湖は1985年から保護", "この湖は1984年から保護されています。", False),
        ("許可があれば釣りができ", "許可があれば釣りができます。", True),
        ("渡轮每天两班", "冬季，渡轮每天两班。", True),
        ("渡轮不每天两班", "冬季，渡轮每天两班。", False),
        ("नाव रोज़ चलती है", "सर्दियों में नाव रोज़ चलती है।", True),
        ("Fähre fährt täglich", "Die FÄHRE fährt täglich.", True),
        ("STRASSE", "Die Straße ist gesperrt.", True),
        ("١٩٨٤", "protected since 1984", True),
        ("العبارة تعمل يوميا", "العبارة تعمل يومياً", False),
        ("café", "the cafe\u0301 by the port", True),
        ("-5 degrees", "it fell to −5 degrees", True),
        ("5 degrees", "it fell to −5 degrees", False),
        ("2010-2015", "from 2010–2015", True),
        ("50%", "50 percent of them", True),
        ("3.5", "3,5", False),
        ("15", "1 5", False),
        ("covid 19", "COVID-19", True),
        ("5kg", "5 kg", True),
    ],
)
def test_scripts_and_numbers(quote: str, passage: str, found: bool) -> None:
    assert (place_of(quote, [passage]) == 1) is found


def test_an_exact_quote_comes_before_a_near_one_and_the_first_of_equals_counts() -> None:
    near = "The ferry to Aldra operates twice a day in winter, and four times a day"
    exact = near.replace("operates", "runs")
    assert place_of(exact, [near, exact, exact]) == 2
    assert place_of(exact, [near]) == 1
    assert place_of("x y", []) is None


def test_the_threshold_is_what_the_documentation_says() -> None:
    # In the middle of a quote of n words one changed word takes 3 of its n - 2 sequences: 12 words
    # leave 7/10, which is enough, and 11 leave 6/9, which is not.
    assert NEAR_ENOUGH == 0.7
    words = list("abcdefghijkl")
    changed = [*words[:5], "x", *words[6:]]
    assert place_of(" ".join(changed), [" ".join(words)]) == 1
    assert place_of(" ".join(changed[:-1]), [" ".join(words[:-1])]) is None


WORDS = st.lists(
    st.sampled_from(["ferry", "runs", "a", "day", "in", "not", "4", "12.50", "don't", "lake"]),
    min_size=1,
    max_size=30,
)


@given(WORDS, st.data())
def test_every_part_of_a_passage_is_found(words: list[str], data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(begin + 1, len(words)))
    joint = data.draw(st.sampled_from([" ", "  ", "\n", ", ", " \u2014 "]))
    quote = joint.join(words[begin:end])
    assert place_of(quote.upper(), [" ".join(words)]) == 1


@given(WORDS, st.integers(0, 29), st.sampled_from(["5", "never", "12.51", "no"]))
def test_a_new_number_or_negation_is_never_found(words: list[str], at: int, new: str) -> None:
    at %= len(words)
    passage = " ".join(words)
    assert place_of(" ".join([*words[:at], new, *words[at:]]), [passage]) is None
    if words[at] not in {"not", "don't"}:  # one negation for another is no new one
        assert place_of(" ".join([*words[:at], new, *words[at + 1 :]]), [passage]) is None


@given(st.text(), st.lists(st.text(), max_size=3))
@settings(max_examples=200)
def test_any_text_is_read(quote: str, passages: list[str]) -> None:
    found = place_of(quote, passages)
    assert found is None or 1 <= found <= len(passages)
    if any(char.isalpha() for char in quote):
        assert place_of(quote, ["x", quote]) in {1, 2}


def test_long_texts_are_searched_quickly() -> None:
    begin = time.process_time()
    for text in (
        "a " * 50_000,
        "the ferry runs " * 4_000,
        "x" * 200_000,
        "... " * 50_000,
        "1" * 100_000,
        "不" * 50_000,
    ):
        place_of(text, [text[:-7] + " y " + text, text])
        place_of("the ferry runs the ferry runs the ferry sails " * 20, [text])
        place_of("a ... a ... the ... a ... b", [text])
    # Usual is about 2 s for 1.4 million characters; quadratic work would take minutes.
    assert time.process_time() - begin < 20


CLAIM = "The lake is protected since 1984, and the ferry runs twice a day."


def checked(verdict: ClaimVerdict, passages: Sequence[str] = HELD) -> ClaimVerdict:
    [made] = check_evidence([verdict], passages)
    return made


def verdict(level: Verdict | None, evidence: str, **more: object) -> ClaimVerdict:
    return ClaimVerdict.model_validate(
        {"claim": CLAIM, "verdict": level, "evidence": evidence, "reason": "Because.", **more}
    )


@pytest.mark.parametrize("level", [Verdict.FULLY, Verdict.MOSTLY])
@pytest.mark.parametrize("evidence", ["The ferry is blue", ""])
def test_a_high_level_without_its_quote_is_lowered(level: Verdict, evidence: str) -> None:
    made = checked(verdict(level, evidence, passage=2))
    assert (made.verdict, made.original_verdict, made.passage) == (Verdict.PARTIAL, level, None)
    assert made.reason == (
        f"Because. (quote not found in the passages: lowered from {level.value})"
    )
    assert made.evidence == evidence
    assert checked(made) == made


@pytest.mark.parametrize("level", [Verdict.PARTIAL, Verdict.MINOR, Verdict.NONE, None])
def test_other_levels_stay(level: Verdict | None) -> None:
    given_ = verdict(level, "The ferry is blue", passage=2)
    assert checked(given_) == given_


@pytest.mark.parametrize("level", Verdict)
def test_a_found_quote_keeps_the_level_and_corrects_the_passage(level: Verdict) -> None:
    for named, right in ((None, 2), (1, 2), (2, 2), (7, 2), (0, 2)):
        made = checked(verdict(level, "protected since 1984", passage=named))
        assert made == verdict(level, "protected since 1984", passage=right)


def test_a_named_passage_that_holds_the_quote_too_is_left() -> None:
    given_ = verdict(Verdict.FULLY, "protected since 1984", passage=3)
    assert checked(given_, [*HELD, LAKE]) == given_


def test_probabilities_of_high_levels_move_to_partial() -> None:
    shares = (0.5, 0.25, 0.125, 0.0625, 0.0625)
    made = checked(verdict(Verdict.FULLY, "blue", probabilities=shares))
    # .5 + .25 + .125 = .875, exact in binary
    assert made.probabilities == (0.0, 0.0, 0.875, 0.0625, 0.0625)
    kept = checked(verdict(Verdict.FULLY, "runs twice a day", probabilities=shares))
    assert kept.probabilities == shares


def test_no_reason_leaves_no_blank() -> None:
    made = checked(ClaimVerdict(claim="c", verdict=Verdict.FULLY))
    assert made.reason == "(quote not found in the passages: lowered from fully)"
