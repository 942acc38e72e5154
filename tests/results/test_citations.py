"""Marks are held against the checked quotes of the claims they stand in."""

from __future__ import annotations

import json
import time

import pytest

from tcva_adapters import TCVA, Assessment, ClaimVerdict, Result, Sample, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.citations import CitationOutcome

CONTEXTS = (
    "The museum opens at nine in the morning.",
    "Entry is free for children.",
    "Dogs must stay outside the museum.",
    "The museum opens at nine in the morning. Bags are searched.",
)
TCVA_LEXICAL = TCVA(judge="lexical")


def outcomes(response: str, **fields: object) -> list[tuple[str, tuple[int, ...]]]:
    sample = Sample.from_record(
        {"response": response, "contexts": [*CONTEXTS], **fields}
    )
    parts = TCVA_LEXICAL.evaluate(sample).citations().parts
    return [(part.outcome.value, part.cited) for part in parts]


def outcome(response: str, ids: tuple[str, ...]) -> tuple[str, tuple[int, ...]]:
    """The outcome where a judge says that the second passage supports it."""
    claim = ClaimVerdict(claim=response, verdict=Verdict.FULLY, evidence=CONTEXTS[1])
    judged = Assessment.from_verdicts(["fully"])
    judged = judged.model_copy(update={"claims": (claim,)})
    sample = Sample(response=response, contexts=CONTEXTS, context_ids=ids)
    [part] = Result(judged).citations(sample).parts
    return part.outcome.value, part.cited


def test_each_outcome() -> None:
    response = (
        "The museum opens at nine in the morning [1]. Entry is free for children [3]. "
        "Dogs must stay outside the museum [9]. Whales sing operas underwater nightly [2]. "
        "Bags are searched."
    )
    assert outcomes(response) == [
        ("confirmed", (1,)),
        ("elsewhere", (3,)),
        ("broken", (0,)),
        ("unconfirmed", (2,)),
        ("missing", ()),
    ]


def test_a_quote_in_several_passages_is_confirmed_by_each() -> None:
    for number in (1, 4):
        response = f"The museum opens at nine in the morning [{number}]."
        assert outcomes(response) == [("confirmed", (number,))]


def test_nothing_is_missing_in_an_answer_that_does_not_cite() -> None:
    assert outcomes("Entry is free for children. Bags are searched.") == []


def test_a_claim_of_code_or_sources_needs_no_mark() -> None:
    response = "Entry is free for children [2].\n\nSources:\n[2] Dogs must stay outside the museum.\n"
    assert outcomes(response) == [("confirmed", (2,))]


def test_precision_and_recall_by_hand() -> None:
    """Of the marks 1, 3 and 9 and the second one of 2 and 3, two are right: 1 and 2."""
    response = (
        "The museum opens at nine in the morning [1]. Entry is free for children [2][3]. "
        "Dogs must stay outside the museum [9]. Whales sing operas underwater nightly [2]. "
        "Bags are searched."
    )
    sample = Sample(response=response, contexts=CONTEXTS)
    citations = TCVA_LEXICAL.evaluate(sample).citations()
    assert citations.precision == pytest.approx(2 / 4, abs=1e-12)
    assert citations.recall == pytest.approx(2 / 4, abs=1e-12)
    plain = json.loads(json.dumps(citations.to_dict()))
    assert plain["parts"][0] == {
        "claim": "The museum opens at nine in the morning [1].",
        "place": 0,
        "marks": ["[1]"],
        "cited": [1],
        "found": [1, 4],
        "outcome": "confirmed",
    }


def test_what_cannot_be_told_counts_in_neither_share() -> None:
    sample = Sample(response="Whales sing operas nightly [2].", contexts=CONTEXTS)
    citations = TCVA_LEXICAL.evaluate(sample).citations()
    assert [part.outcome for part in citations.parts] == [CitationOutcome.UNCONFIRMED]
    assert (citations.precision, citations.recall) == (None, None)


def test_ids_name_passages() -> None:
    ids = ("hours", "price-1", "dogs", "price-2")
    for mark, expected in {
        "hours": ("elsewhere", (1,)),
        "price-1": ("confirmed", (2,)),
        "Price-1": ("confirmed", (2,)),
        "price-3": ("broken", (0,)),
        "2": ("confirmed", (2,)),
        "Source 2": ("confirmed", (2,)),
        "0": ("broken", (0,)),
    }.items():
        response = f"Entry is free for children [{mark}]."
        assert outcome(response, ids) == expected, mark


def test_digits_of_other_scripts_and_of_any_number_name_passages() -> None:
    for mark, ids, expected in (
        ("[٢]", (), ("confirmed", (2,))),
        ("[२]", (), ("confirmed", (2,))),
        ("[資料２]", ("資料１", "資料２", "x", "y"), ("confirmed", (2,))),
    ):
        assert outcome(f"Entry is free for children {mark}.", ids) == expected, mark
    for digits in ("2" * 4400, "0" * 20 + "2"):
        sample = Sample(response=f"Entry is free @{digits}.", contexts=CONTEXTS)
        result = TCVA(judge="lexical", citations=r"@(\d+)").evaluate(sample)
        assert [part.outcome.value for part in result.citations().parts] == ["broken"]


def test_an_id_of_several_passages_is_confirmed_by_any() -> None:
    ids = ("info.pdf", "info.pdf", "dogs.pdf", "info.pdf")
    response = "Entry is free for children [{}]."
    assert outcome(response.format("info.pdf"), ids) == ("confirmed", (2,))
    assert outcome(response.format("dogs.pdf"), ids) == ("elsewhere", (3,))
    assert outcome(response.format("Dogs.PDF, info.pdf"), ids) == ("confirmed", (3, 2))


@pytest.mark.parametrize(
    ("response", "ids", "cited"),
    [
        # All numbers can be positions: ids of a database change nothing.
        ("Entry is free for children [2].", ("0", "1", "2", "3"), (2,)),
        ("Entry is free for children [2].", ("4", "3", "2", "1"), (2,)),
        # One is an id and no position.
        ("Entry is free for children [1]. Dogs must stay outside the museum [0].", ("0", "1", "2", "3"), (2, 1)),
        ("Entry is free for children [7].", ("9", "7", "2", "3"), (2,)),
        ("Entry is free for children [2] [9].", ("1", "2", "3", "4"), (2, 0)),
        # A word and its number, however they are parted.
        ("Entry is free for children [Doc 2].", ("doc-1", "doc-2", "doc-12", "doc-1-2"), (2,)),
        ("Entry is free for children [Doc 2].", ("doc-2", "doc-1", "doc-3", "doc-4"), (1,)),
        ("Entry is free for children [Source 2].", ("doc-2", "doc-1", "doc-3", "doc-4"), (2,)),
        ("Entry is free for children [doc-9-1].", ("doc-1-9", "doc-2-9", "doc-3-9", "doc-4-9"), (0,)),
    ],
)  # fmt: skip
def test_ids_and_positions(
    response: str, ids: tuple[str, ...], cited: tuple[int, ...]
) -> None:
    named = [name for _, names in outcomes(response, context_ids=ids) for name in names]
    assert tuple(named) == cited


def test_passages_cited_twice_count_once() -> None:
    response = "Entry is free for children [2][Source 2][8][9]."
    sample = Sample(response=response, contexts=CONTEXTS)
    citations = TCVA_LEXICAL.evaluate(sample).citations()
    [part] = citations.parts
    assert part.cited == (2, 0, 0)
    assert citations.precision == pytest.approx(1 / 3, abs=1e-12)


MORNING = "The museum opens at nine in the morning."
FREE = "Entry is free for children."


@pytest.mark.parametrize(
    ("response", "marks"),
    [
        (f"{MORNING} (1) {FREE} (2)", [("(1)",), ("(2)",)]),
        (f"{MORNING} [hours] {FREE} [fees]", [("[hours]",), ("[fees]",)]),
        (f"{MORNING} [hours.md] {FREE} [2019]", [("[hours.md]",), ("[2019]",)]),
        (f"{MORNING} [a1b2c3] {FREE} [a2b3c4]", [("[a1b2c3]",), ("[a2b3c4]",)]),
        (f"{MORNING} ([1], [2]) {FREE} ([2])", [("[1]", "[2]"), ("[2]",)]),
        (f"{MORNING} [[1]] {FREE} [ 2 ]", [("[1]",), ("[ 2 ]",)]),
        (f"{MORNING} ［1, 2］ {FREE} ［2］", [("［1, 2］",), ("［2］",)]),
        (f"{MORNING} [Source 1] {FREE} [1][2]", [("[Source 1]",), ("[1]", "[2]")]),
        (f"**{MORNING}** [1][2]\n\n{FREE}\n\n[2]", [("[1]", "[2]"), ("[2]",)]),
        (f"# Hours [9]\n{MORNING}\n\nPrices [8]:\n- {FREE}", [("[9]",), ("[8]",)]),
    ],
)
def test_marks_belong_to_the_claim_before_them(
    response: str, marks: list[tuple[str, ...]]
) -> None:
    ids = ["hours.md", "2019", "a1b2c3", "a2b3c4"]
    if "[hours]" in response:
        ids[:2] = ["hours", "fees"]
    sample = Sample(response=response, contexts=CONTEXTS, context_ids=ids)
    result = TCVA_LEXICAL.evaluate(sample)
    assert [part.marks for part in result.citations().parts] == marks
    assert len(result.claims) == 2


def test_long_answers_take_no_longer_than_their_length() -> None:
    response = f"{FREE} [2] " * 3000
    sample = Sample(response=response, contexts=CONTEXTS)
    claim = ClaimVerdict(claim=f"{FREE} [2]", verdict=Verdict.FULLY, evidence=FREE)
    judged = Assessment.from_verdicts(["fully"])
    judged = judged.model_copy(update={"claims": (claim,) * 3000})
    began = time.perf_counter()
    assert len(Result(judged).citations(sample).parts) == 3000
    assert time.perf_counter() - began < 2.5


def test_a_faulty_or_missing_quote_confirms_nothing() -> None:
    for fields in (
        {
            "verdict": "partial",
            "evidence_check": "contradicts",
            "evidence": CONTEXTS[1],
        },
        {"verdict": "fully", "evidence": ""},
        {"verdict": "fully", "evidence": "Entry costs nine."},
        {"verdict": "none", "evidence": CONTEXTS[1]},
    ):
        claim = ClaimVerdict.model_validate(
            {"claim": "Entry is free for children [2].", **fields}
        )
        judged = Assessment.from_verdicts(["fully"]).model_copy(
            update={"claims": (claim,)}
        )
        sample = Sample(response=claim.claim, contexts=CONTEXTS)
        [part] = Result(judged).citations(sample).parts
        assert part.outcome is CitationOutcome.UNCONFIRMED


def test_a_result_that_was_read_back_needs_the_sample() -> None:
    sample = Sample(response="Entry is free for children [2].", contexts=CONTEXTS)
    result = TCVA_LEXICAL.evaluate(sample)
    read = Result(result.assessment, result.scoring)
    with pytest.raises(InvalidValueError, match=r"pass it: citations\(sample="):
        read.citations()
    assert read.citations(sample) == result.citations()
    with pytest.raises(InvalidValueError, match="are not the sentences"):
        read.citations(sample.model_copy(update={"response": "Entry costs 5 [2]."}))


def test_another_criterion_is_refused() -> None:
    sample = Sample(
        response="Entry is free [1].", contexts=CONTEXTS, reference="Entry is free."
    )
    result = TCVA("correctness", judge="lexical").evaluate(sample)
    with pytest.raises(InvalidValueError, match="correctness"):
        result.citations()


def test_a_pattern_of_ones_own() -> None:
    sample = Sample(response="Entry is free for children {2}.", contexts=CONTEXTS)
    result = TCVA(judge="lexical", citations=r"\{(\d+)\}").evaluate(sample)
    [part] = result.citations().parts
    assert (part.marks, part.cited) == (("{2}",), (2,))
    assert "citations" not in TCVA_LEXICAL.scoring.model_dump()
    assert result.scoring.model_dump()["citations"] == r"\{(\d+)\}"
    with pytest.raises(InvalidValueError, match="citations must be a regular"):
        TCVA(judge="lexical", citations="(")


def test_earlier_contexts_are_cited_where_they_were_judged() -> None:
    sample = Sample(
        response="Entry is free for children [2].", earlier_contexts=CONTEXTS
    )
    result = TCVA(judge="lexical", uncontexted="earlier").evaluate(sample)
    assert [part.outcome.value for part in result.citations().parts] == ["confirmed"]


def test_empty_contexts_give_way_to_earlier_ones() -> None:
    sample = Sample(
        response="Entry is free for children [2].",
        contexts=[""],
        context_ids=["a"],
        earlier_contexts=CONTEXTS,
    )
    result = TCVA(judge="lexical", uncontexted="earlier").evaluate(sample)
    for given in (None, sample):
        [part] = result.citations(given).parts
        assert part.outcome.value == "confirmed"
        assert [use.is_used for use in result.passages(given)] == [
            False,
            True,
            False,
            False,
        ]
