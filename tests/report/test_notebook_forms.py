"""Results in a notebook: a sentence, a table with words for levels, and nothing that runs."""

from __future__ import annotations

from tcva_adapters import Assessment, Result, Verdict
from tcva_adapters.results.assessment import ClaimVerdict
from tests.hostile.corpus import TEXTS


def test_a_result_shows_its_claims_by_level() -> None:
    claims = Assessment.from_verdicts(["fully", "none"]).claims
    greeting = ClaimVerdict(claim="Hello!", verdict=None)
    judged = Assessment.from_verdicts(["fully"]).model_copy(update={"claims": (*claims, greeting)})
    page = Result(judged)._repr_html_()
    for word in ("fully", "none", "claim 1", "Hello!", "at T=0.5"):
        assert word in page


def test_hostile_texts_are_inert_in_it() -> None:
    for each in TEXTS:
        claim = ClaimVerdict(claim=each.text, verdict=Verdict.NONE, reason=each.text)
        judged = Assessment.from_verdicts(["fully"]).model_copy(update={"claims": (claim,)})
        page = Result(judged)._repr_html_()
        assert "<script" not in page
        assert "<img" not in page
        assert not set("\x00\x1b\u202e\u2066") & set(page)


def test_what_has_no_score_says_why() -> None:
    page = Result(Assessment.from_verdicts([]))._repr_html_()
    assert "unscored: no_claims" in page
    assert "<table" not in page
