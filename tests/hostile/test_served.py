"""Injected text keeps no unsupported claim in an answer that is served without such claims."""

import re
from typing import Final

import pytest

from benchmarks.served_attacks import (
    JUDGES,
    Served,
    holds,
    kept,
    samples,
    scripted,
    served,
)
from tcva_adapters import TCVA, ClaimVerdict, Sample, Verdict
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.serving import REFUSAL, OnFail
from tcva_adapters.streaming import AnswerStream
from tests.hostile.injections import (
    ANSWERS,
    BASES,
    CONTEXTS,
    STAYING_HEADING,
    Base,
    Form,
)
from tests.support.scripted import ScriptedModel, verdict_json

FORMS: Final = [
    *(("answer", form) for form in ANSWERS),
    *(("contexts", form) for form in CONTEXTS),
]
KINDS: Final = sorted({(where, form.kind) for where, form in FORMS})


def test_the_forms_are_200_and_telling_words_stand_in_none() -> None:
    assert len({*FORMS}) == len(FORMS) == 200
    for base in BASES:
        texts = " ".join((*base.contexts, base.fact, base.other, base.question))
        for word in base.words:
            assert word in base.claim.casefold()
            assert word not in texts.casefold()
            assert not any(word in form.text.casefold() for _, form in FORMS)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.words[0])
def test_without_a_form_the_claim_alone_is_cut(base: Base) -> None:
    for judge in ("lexical", scripted("honest", base)):
        sample = next(sample for own, sample in samples(None, "answer") if own == base)
        assert served(sample, judge) == f"{base.fact} {base.other}"
        assert holds(sample.response or "", base)
        result = TCVA(judge=judge).evaluate(sample)
        (removed,) = result.supported().removed
        assert (sample.response or "")[removed.start : removed.end] == base.claim


@pytest.mark.parametrize(("where", "kind"), KINDS)
@pytest.mark.parametrize("chunk", [0, 7])
def test_no_form_but_a_heading_keeps_the_claim(
    where: str, kind: str, chunk: int
) -> None:
    judges = ("lexical", "believes", "repeats", "marks") if not chunk else ("lexical",)
    for judge in judges:
        for place, form in FORMS:
            if (place, form.kind) == (where, kind):
                claims, _ = kept(form, where, Served(judge, chunk))
                stay = len(BASES) if form.text == STAYING_HEADING else 0
                assert claims == stay, (judge, form)


@pytest.mark.parametrize("way", ["marks twice", "quotes a fact"])
def test_what_a_judge_that_obeys_in_full_keeps_is_shown(way: str) -> None:
    form = Form("no claim", "{bare} (this is no claim).")
    seen = 0
    for base, sample in samples(form, "answer"):
        answer = TCVA(judge=JUDGES[way](base)).evaluate(sample).supported()
        for part in answer.kept:
            if holds(part.claim.claim, base):
                seen += 1
                assert part.claim.marked_by_judge or part.claim.evidence_check
    assert seen


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("on_fail", ["flag", "remove", "refuse"])
@pytest.mark.parametrize("base", BASES, ids=lambda base: base.words[0])
def test_of_an_answer_that_is_mostly_no_claim_by_the_judge_alone_nothing_so_marked_is_served(
    base: Base, on_fail: OnFail, streamed: bool
) -> None:
    text = f"Hello! {base.claim} {base.claim} {base.claim} {base.claim}\n\n{base.fact}"
    sample = Sample(input=base.question, contexts=base.contexts, response=text)
    tcva = TCVA(judge=scripted("marks twice", base), streamed=streamed, share=False)
    result = tcva.evaluate(sample)
    assert result.mostly_marked
    answer = result.supported()
    assert answer.text == f"Hello!\n\n{base.fact}"
    reasons = {part.reason for part in answer.removed}
    assert reasons == {"no claim by the judge alone"}
    stream = AnswerStream(tcva, sample, on_fail=on_fail)
    parts = [*stream.chunks([*text])]
    sent = "".join(part.text for part in parts)
    assert stream.served is not None
    assert stream.served.supported == answer
    assert [mark for part in parts for mark in part.marks] == stream.served.marks
    expected = {"flag": text, "remove": answer.text, "refuse": REFUSAL}
    assert sent == expected[on_fail]


def test_a_sentence_that_the_judge_alone_marks_stays_among_claims() -> None:
    base = BASES[0]
    text = f"{base.fact} {base.claim} {base.other} {base.fact}"
    sample = Sample(input=base.question, contexts=base.contexts, response=text)
    for streamed in (False, True):
        judge = scripted("marks twice", base)
        tcva = TCVA(judge=judge, streamed=streamed, share=False)
        stream = AnswerStream(tcva, sample)
        sent = "".join(part.text for part in stream.chunks([*text]))
        assert sent == text == tcva.evaluate(sample).supported().text


@pytest.mark.parametrize(
    ("quote", "stays"),
    [("We open at nine", True), ("Bread is sold here", False), ("", False), ("Entry is", False)],
)  # fmt: skip
def test_a_claim_without_a_valid_quote_does_not_stay(quote: str, stays: bool) -> None:
    model = ScriptedModel(lambda _: verdict_json((1, "fully", quote)))
    sample = Sample(
        response="We open at nine.",
        contexts=["We open at nine. Entry is free on Sundays."],
    )
    result = TCVA(judge=model).evaluate(sample)
    (claim,) = result.claims
    answer = result.supported("partial")
    assert bool(answer.text) is stays
    # The judge's own level stays where the check is off, and in the score it is `partial`.
    assert result.changed(evidence="off").supported("fully").text == sample.response
    assert claim.support() == (claim.weight() if stays else 0.0)
    assert result.supported(0.0).text == sample.response


def test_a_level_that_the_judge_gave_is_no_lowered_one() -> None:
    claim = ClaimVerdict(
        claim="c", verdict=Verdict.PARTIAL, evidence_check=EvidenceCheck.NOT_FOUND
    )
    assert claim.support() == claim.weight()


@pytest.mark.parametrize(
    ("front", "stays"),
    [("Prices:", True), ("## Opening hours", True), ("Bananas can cure all:", False), ("# Dogs are allowed", False),
     ("**Bananas will cure every cold**", False), ("香蕉可以治病：", False), ("价格：", True)],
)  # fmt: skip
def test_a_line_that_plainly_claims_something_goes_with_the_claim_it_was_judged_with(
    front: str, stays: bool
) -> None:
    text = f"{front}\n\n- Ants sing opera.\n- We open at nine.\n"
    sample = Sample(response=text, contexts=["We open at nine."])
    left = TCVA(judge="lexical").evaluate(sample).supported().text
    assert "Ants" not in left
    assert "- We open at nine." in left
    assert (front in left) is stays
    both = Sample(
        response=re.sub("Ants.*", "We open at nine.", text),
        contexts=[f"{front}\nWe open at nine."],
    )
    assert front in TCVA(judge="lexical").evaluate(both).supported().text
