"""Verdicts by how likely a model held yes; every figure is derived by hand."""

import asyncio
import math
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample, Verdict, rubric
from tcva_adapters.criteria import CRITERIA, FAITHFULNESS
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.prompts import block, blocks_for
from tcva_adapters.judges.yes_no import SCHEMA_NAME, read_yes, yes_no_request
from tcva_adapters.models.judge_model import (
    JudgeRequest,
    ModelReply,
    Sampling,
    TokenLogprob,
)
from tests.support.scripted import ScriptedModel

OPENS = "The office opens at nine."
SAMPLE = Sample(
    id="s1",
    input="When does the office open?",
    response=f"{OPENS} Parking costs five euros. Happy to help!",
    contexts=(f"{OPENS} Parking is free for visitors.", "The canteen has soup."),
    reference=OPENS,
)


def token(**top: float) -> TokenLogprob:
    others = tuple((text, math.log(p)) for text, p in top.items())
    first = next(iter(top))
    return TokenLogprob(first, math.log(top[first]), others)


def said(*tokens: TokenLogprob) -> ModelReply:
    return ModelReply("".join(one.token for one in tokens), token_logprobs=tokens)


SURE = said(token(yes=1.0))
BLANK = TokenLogprob("\n", 0.0, (("\n", 0.0),))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (said(token(**{"yes": 0.3, " Yes": 0.2, "YES.": 0.1, "y": 0.1, "No,": 0.2, "maybe": 0.1})),
         "P(yes) 0.78; 0.10 of the probability on other words"),
        (said(BLANK, token(yes=1.0)), "P(yes) 1.00"),
        (said(token(n=0.7, y=0.3), token(o=1.0)), "P(yes) 0.30"),  # a word in pieces
        (said(token(No=0.6, Yes=0.4), token(**{", since": 1.0})), "P(yes) 0.40"),
        (said(token(Well=0.9, yes=0.1)), None),
        (said(token(N=1.0), token(**{"/A": 1.0})), None),
        (said(token(No=1.0), token(ted=1.0)), None),
        (said(token(yes=1.0), token(**{" and": 1.0}), token(**{" no": 1.0})), None),
        (ModelReply("yes"), None),
        (said(TokenLogprob("yes", 0.0, (("yes", 0.0), ("no", 0.0)))), None),  # more than 1 together
        (ModelReply("yes", token_logprobs=5), None),  # type: ignore[arg-type]  # likewise
    ],
)  # fmt: skip
def test_the_first_word_decides(reply: ModelReply, reason: str | None) -> None:
    found = read_yes(OPENS, reply)
    assert (None if found is None else found.reason) == reason


def test_what_comes_before_the_claim_is_the_same_for_all() -> None:
    for criterion in CRITERIA.values():
        one, other = (
            yes_no_request(blocks_for(SAMPLE, criterion), criterion, claim)
            for claim in ("One.", "Two.")
        )
        start = one.user.partition("<<<CLAIM ")[0]
        assert start
        assert other.user.startswith(start)
        assert block("CLAIM", "Two.") in other.user
        assert one.system == other.system
        assert yes_no_request(
            blocks_for(SAMPLE, criterion), criterion, "One.", again=True
        ).user.startswith(one.user)


def test_a_claim_stands_between_two_levels() -> None:
    model = ScriptedModel(lambda _: said(token(yes=0.8, no=0.2)))
    judge = LLMJudge(model, verdicts="yes_no")
    found = asyncio.run(judge.aassess(SAMPLE, FAITHFULNESS))
    assert judge.assess(SAMPLE, FAITHFULNESS) == found
    first, _, greeting = found.claims
    assert first.verdict is Verdict.PARTIAL  # of equal ones the strictest
    assert first.probabilities == pytest.approx((0, 0.5, 0.5, 0, 0), abs=1e-12)
    assert (first.evidence, first.evidence_check) == ("", None)
    assert (greeting.verdict, greeting.reason) == (None, "greeting")
    assert (found.form, found.prompt_version, found.usage.calls) == (
        "yes_no",
        "tcva/5 yes_no",
        2,
    )
    assert all(
        each.schema == {} and each.schema_name == SCHEMA_NAME for each in model.requests
    )
    assert len(model.requests) == 4
    assert {each.sampling for each in model.requests} == {
        Sampling(max_tokens=4, top_logprobs=20)
    }


def test_all_claims_of_a_sample_are_one_round() -> None:
    judge = LLMJudge(ScriptedModel([]), verdicts="yes_no")
    rounds = judge.rounds(SAMPLE, rubric("tone", ["Hello!", "Thanks."]))
    assert len(next(rounds)) == 2
    with pytest.raises(StopIteration) as done:
        rounds.send([SURE, said(token(no=1.0))])
    assert done.value.value.verdicts == (Verdict.FULLY, Verdict.NONE)


def test_claims_of_the_judge_are_asked_for_first() -> None:
    model = ScriptedModel(['{"claims": ["It opens at nine."]}', SURE])
    judge = LLMJudge(model, claims="llm", verdicts="yes_no")
    (claim,) = judge.assess(SAMPLE, FAITHFULNESS).claims
    assert (claim.claim, claim.verdict) == ("It opens at nine.", Verdict.FULLY)
    assert [each.schema_name for each in model.requests] == ["tcva_claims", SCHEMA_NAME]


@pytest.mark.parametrize(
    ("says", "reason", "fatal", "detail", "requests"),
    [
        (lambda _: ModelReply("yes"), "judge_error", True, "verdicts='written'", 2),
        # After a failed call the rest is not asked.
        (lambda _: JudgeError("no", reason="authentication", fatal=True),
         "judge_error", True, "no", 1),
        (lambda r: ModelReply("?") if "five euros" in r.user else said(token(yes=1.0)),
         "incomplete_verdicts", False, "", 3),
        (lambda _: said(token(Well=0.9, yes=0.1)),
         "unreadable_reply", False, "no verdict for claim 1, 2 of 2", 4),
    ],
)  # fmt: skip
def test_a_sample_with_a_missing_answer_is_unscored(
    says: Any, reason: str, fatal: bool, detail: str, requests: int
) -> None:
    model = ScriptedModel(says)
    unscored = LLMJudge(model, verdicts="yes_no").assess(SAMPLE, FAITHFULNESS).unscored
    assert unscored is not None
    assert (unscored.reason.value, unscored.fatal) == (reason, fatal)
    assert detail in unscored.detail
    assert len(model.requests) == requests


def test_an_answer_elsewhere_is_asked_for_again() -> None:
    def at_last(request: JudgeRequest) -> ModelReply:
        word = (
            "yes"
            if "Nothing else" in request.user or "nine" in request.user[-200:]
            else "Well"
        )
        return said(token(**{word: 1.0}))

    again = LLMJudge(ScriptedModel(at_last), verdicts="yes_no").assess(
        SAMPLE, FAITHFULNESS
    )
    assert [claim.verdict for claim in again.claims] == [
        Verdict.FULLY,
        Verdict.FULLY,
        None,
    ]


def test_the_form_is_part_of_the_key_and_the_name_and_others_are_refused() -> None:
    usual = TCVA(judge=ScriptedModel([]))
    other = usual.changed(verdicts="yes_no")
    assert usual.key(SAMPLE) != other.key(SAMPLE)
    assert other.name == "tcva_faithfulness(verdicts=yes_no)"
    assert usual.changed(verdicts="yes_no", fuse="lexical").members[0].judge.is_local
    with pytest.raises(InvalidValueError, match=r"'written'.*'yes_no'.*'labels'"):
        usual.changed(verdicts="labels")
    with pytest.raises(InvalidValueError, match="verdicts='yes_no'"):
        TCVA(judge="lexical", verdicts="yes_no")
