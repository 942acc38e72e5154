"""Replies that repeat the prompt or the claim: seen, asked again once, and never a verdict."""

from __future__ import annotations

from typing import Final

import pytest

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import ANSWER_RELEVANCY, FAITHFULNESS
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.prompts import verdict_request
from tcva_adapters.results.assessment import Assessment, EvidenceCheck, Reason
from tcva_adapters.samples.sample import Sample
from tests.support.scripted import Answer, ScriptedModel, verdict_json

PASSAGE: Final = "The ferry to the island leaves every day at nine. Dogs travel for free on it."
CLAIMS: Final = ("The ferry to the island goes daily.", "Dogs need a ticket on the ferry.")
SAMPLE: Final = Sample(
    input="When does the ferry run?", response=" ".join(CLAIMS), contexts=(PASSAGE,)
)
OPENS: Final = "The ferry to the island leaves every day"
DOGS: Final = "Dogs travel for free on it"
RULE: Final = "Judge the meaning, not the words. The same content in other words, shortened or in"


@pytest.mark.parametrize(
    ("level", "quote", "taken"),
    [
        ("none", RULE, None),
        ("none", FAITHFULNESS.levels[2], None),  # the definition of another level
        ("fully", CLAIMS[0], "partial"),  # lowered, since nothing better came
        ("mostly", CLAIMS[1].upper(), "partial"),  # another claim is no proof either
        ("partial", CLAIMS[0], "partial"),  # no level that a quote has to bear out
        ("fully", OPENS, "fully"),
        ("fully", "the ferry to the island", "fully"),  # the passage has these words, too
        ("none", "", "none"),
    ],
)
def test_what_is_copied_from_the_prompt(level: str, quote: str, taken: str | None) -> None:
    reply = verdict_json((1, level, quote), (2, "none", DOGS))
    result, model = judged(reply, reply)
    assert [str(claim.verdict) for claim in result.claims[:1]] == [taken][: taken is not None]
    assert len(model.requests) == (1 if taken == level else 2)
    if taken is None:
        assert result.unscored is not None
        assert result.unscored.reason is Reason.INCOMPLETE_VERDICTS
        assert "the reply repeats the instructions for 1" in result.unscored.detail


def test_a_claim_may_be_quoted_where_quotes_are_not_looked_up() -> None:
    reply = verdict_json((1, "fully", CLAIMS[0]), (2, "none", ""))
    result = LLMJudge(ScriptedModel([reply])).assess(SAMPLE, ANSWER_RELEVANCY)
    assert result.verdicts == (Verdict.FULLY, Verdict.NONE)


def judged(*answers: Answer) -> tuple[Assessment, ScriptedModel]:
    model = ScriptedModel(answers)
    return LLMJudge(model).assess(SAMPLE, FAITHFULNESS), model


def test_an_echo_of_the_prompt_is_asked_again_and_told_why() -> None:
    first = verdict_json((1, "none", RULE), (2, "none", DOGS))
    result, model = judged(first, verdict_json((1, "fully", OPENS)))
    assert [claim.verdict for claim in result.claims] == ["fully", "none"]
    asked, again = model.requests
    assert list(again.schema["properties"]) == ["claim_1"]
    assert "Your reply repeated the instructions for claim_1." in again.user
    assert again.system == asked.system
    shared = asked.user[: asked.user.index("The data ends here.")]
    assert again.user.startswith(shared)


@pytest.mark.parametrize(
    ("second", "level"),
    [
        (verdict_json((1, "fully", OPENS)), "fully"),
        ("No.", "partial"),
        (verdict_json((1, "none", RULE)), "partial"),
        (verdict_json((1, "minor", CLAIMS[0])), "minor"),  # a second look may lower the level
    ],
    ids=["a quote", "nothing", "the prompt", "lower"],
)
def test_a_claim_that_stays_its_own_proof_is_lowered(second: Answer, level: str) -> None:
    result, model = judged(verdict_json((1, "fully", CLAIMS[0]), (2, "none", "")), second)
    assert "copy from PASSAGE" in model.requests[1].user
    assert result.claims[0].verdict == level
    checked = result.claims[0].evidence_check
    assert checked is (None if level == "fully" else EvidenceCheck.NOT_FOUND)


def test_the_whole_prompt_as_a_reply_gives_no_verdict() -> None:
    request = verdict_request(SAMPLE, FAITHFULNESS, CLAIMS)
    for line in (line for line in request.system.splitlines() if len(line.split()) >= 8):
        reply = verdict_json((1, "none", line), (2, "none", line))
        result = LLMJudge(ScriptedModel([reply, reply])).assess(SAMPLE, FAITHFULNESS)
        assert result.unscored is not None, line
