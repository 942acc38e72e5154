"""Replies that repeat the prompt or the claim: seen, asked again once, and never a verdict."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.criteria import ANSWER_RELEVANCY, CRITERIA, FAITHFULNESS, Criterion
from tcva_adapters.judging.echo import Echo, Given
from tcva_adapters.judging.forms import PROMPT_FORMS, PromptForm
from tcva_adapters.judging.model_judge import ModelJudge
from tcva_adapters.judging.prompts import verdict_request
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, EvidenceCheck, Reason
from tcva_adapters.samples.sample import Sample
from tests.support.scripted import ScriptedModel, verdict_json

PASSAGE: Final = "The ferry to the island leaves every day at nine. Dogs travel for free on it."
CLAIMS: Final = ("The ferry to the island goes daily.", "Dogs need a ticket on the ferry.")
SAMPLE: Final = Sample(
    input="When does the ferry run?", response=" ".join(CLAIMS), contexts=(PASSAGE,)
)
OPENS: Final = "The ferry to the island leaves every day"
DOGS: Final = "Dogs travel for free on it"
RULE: Final = "Judge the meaning, not the words. The same content in other words, shortened or in"


def given_by(criterion: Criterion = FAITHFULNESS, form: PromptForm = "full") -> Given:
    request = verdict_request(SAMPLE, criterion, CLAIMS, form=form)
    return Given(SAMPLE, criterion, CLAIMS, (PASSAGE,), request.system)


def said(level: Verdict, evidence: str = "", reason: str = "") -> ClaimVerdict:
    return ClaimVerdict(claim=CLAIMS[0], verdict=level, evidence=evidence, reason=reason)


@pytest.mark.parametrize(
    ("verdict", "echo"),
    [
        (said(Verdict.NONE, RULE), "prompt"),
        (said(Verdict.NONE, "", RULE), "prompt"),
        (said(Verdict.NONE, FAITHFULNESS.levels[2]), "prompt"),  # the definition of another level
        (said(Verdict.FULLY, CLAIMS[0]), "claim"),
        (said(Verdict.MOSTLY, CLAIMS[1].upper()), "claim"),  # another claim is no proof either
        (said(Verdict.FULLY, "to the island goes daily"), "claim"),
        (said(Verdict.PARTIAL, CLAIMS[0]), None),  # no level that a quote has to bear out
        (said(Verdict.FULLY, OPENS), None),
        (said(Verdict.FULLY, "the ferry to the island"), None),  # the passage has these words, too
        (said(Verdict.NONE, "", FAITHFULNESS.levels[4]), None),  # the level it explains
        (said(Verdict.NONE, FAITHFULNESS.levels[4]), None),
        (said(Verdict.FULLY, OPENS, "The claim is supported by the passages."), None),
        (said(Verdict.NONE, "", FAITHFULNESS.wording), None),  # the criterion, in its own words
        (said(Verdict.NONE), None),
    ],
)
def test_what_is_an_echo(verdict: ClaimVerdict, echo: Echo | None) -> None:
    assert given_by().echo(verdict) == echo


def test_a_claim_may_be_quoted_where_quotes_are_not_looked_up() -> None:
    assert given_by(ANSWER_RELEVANCY).echo(said(Verdict.FULLY, CLAIMS[0])) is None


def test_words_of_the_instructions_that_the_sample_has_as_well_are_no_echo() -> None:
    given = given_by()
    quoting = replace(
        given, sample=SAMPLE.model_copy(update={"input": f"What does this mean: {RULE}"})
    )
    assert quoting.echo(said(Verdict.NONE, "", RULE)) is None


WORDS = st.lists(
    st.sampled_from([*RULE.split(), *" ".join(CLAIMS).split(), *PASSAGE.split(), "zero", "42"]),
    min_size=1,
    max_size=40,
).map(" ".join)


@given(
    WORDS, st.data(), st.sampled_from(LEVELS), st.sampled_from([*CRITERIA.values()]),
    st.sampled_from(PROMPT_FORMS),
)  # fmt: skip
def test_no_honest_quote_is_an_echo(
    passage: str, data: st.DataObject, level: Verdict, criterion: Criterion, form: PromptForm
) -> None:
    words = passage.split()
    begin = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[begin : data.draw(st.integers(begin + 1, len(words)))])
    given = replace(given_by(criterion, form), passages=("Other.", passage))
    assert given.echo(said(level, quote)) is None


def judged(*answers: str) -> tuple[Assessment, ScriptedModel]:
    model = ScriptedModel([*answers, *answers])
    result = ModelJudge(model).assess(SAMPLE, FAITHFULNESS)
    again = asyncio.run(ModelJudge(model).aassess(SAMPLE, FAITHFULNESS))
    assert again.claims == result.claims
    assert len(model.requests) == 2 * result.usage.calls
    return result, model


def test_an_echo_of_the_prompt_is_asked_again_and_told_why() -> None:
    first = verdict_json((1, "none", RULE), (2, "none", DOGS))
    result, model = judged(first, verdict_json((1, "fully", OPENS)))
    assert [claim.verdict for claim in result.claims] == ["fully", "none"]
    asked, again = model.requests[:2]
    assert list(again.schema["properties"]) == ["claim_1"]
    assert "Your reply repeated the instructions for claim_1." in again.user
    assert again.system == asked.system
    shared = asked.user[: asked.user.index("The data ends here.")]
    assert again.user.startswith(shared)


def test_an_echo_of_the_prompt_twice_is_no_verdict() -> None:
    echo = verdict_json((1, "none", RULE), (2, "none", DOGS))
    result, _ = judged(echo, echo)
    assert result.unscored is not None
    assert result.unscored.reason is Reason.INCOMPLETE_VERDICTS
    assert "the reply repeats the instructions for 1" in result.unscored.detail


def test_a_claim_quoted_as_its_own_proof_is_asked_again() -> None:
    first = verdict_json((1, "fully", CLAIMS[0]), (2, "none", ""))
    result, model = judged(first, verdict_json((1, "fully", OPENS)))
    assert (result.claims[0].verdict, result.claims[0].evidence) == ("fully", OPENS)
    assert "copy from PASSAGE" in model.requests[1].user


@pytest.mark.parametrize(
    "second",
    [verdict_json((1, "fully", CLAIMS[0])), "No.", verdict_json((1, "none", RULE))],
    ids=["again", "nothing", "the prompt"],
)
def test_a_claim_that_stays_its_own_proof_is_lowered(second: str) -> None:
    first = verdict_json((1, "fully", CLAIMS[0]), (2, "none", ""))
    result, _ = judged(first, second)
    assert result.claims[0].verdict == "partial"
    assert result.claims[0].evidence_check is EvidenceCheck.NOT_FOUND


def test_a_second_look_may_lower_the_level() -> None:
    first = verdict_json((1, "fully", CLAIMS[0]), (2, "none", ""))
    result, _ = judged(first, verdict_json((1, "minor", CLAIMS[0])))
    assert result.claims[0].verdict == "minor"


def test_a_further_call_that_fails_leaves_what_there_is() -> None:
    first = verdict_json((1, "fully", CLAIMS[0]), (2, "none", ""))
    model = ScriptedModel([first, TimeoutError("late")])
    result = ModelJudge(model).assess(SAMPLE, FAITHFULNESS)
    assert result.unscored is None
    assert result.claims[0].verdict == "partial"


@pytest.mark.parametrize("form", PROMPT_FORMS)
def test_the_whole_prompt_as_a_reply_gives_no_verdict(form: PromptForm) -> None:
    request = verdict_request(SAMPLE, FAITHFULNESS, CLAIMS, form=form)
    lines = [line for line in request.system.splitlines() if line]
    for line in lines:
        reply = json.dumps(
            {
                f"claim_{i}": {"quote_from_passage": line, "reason": line, "verdict": "none"}
                for i in (1, 2)
            }
        )
        result = ModelJudge(ScriptedModel([reply, reply]), prompt=form).assess(SAMPLE, FAITHFULNESS)
        is_own = any(level in line for level in FAITHFULNESS.levels[4:])
        if len(line.split()) >= 8 and not is_own and FAITHFULNESS.wording not in line:
            assert result.unscored is not None, line
