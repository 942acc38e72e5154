"""The model judge: one call, one repair, failures as values, and replies that repeat the prompt."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tcva_adapters import TCVA, Assessment, Criterion, Panel, Sample, Verdict, rubric
from tcva_adapters.criteria import ANSWER_RELEVANCY, COMPLETENESS, FAITHFULNESS
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges import written
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.prompts import blocks_for, verdict_request
from tcva_adapters.models.judge_model import JudgeModel, ModelReply
from tcva_adapters.results.judgement import Reason
from tcva_adapters.text.sentences import split_claims
from tests.support.scripted import Answer, ScriptedModel, verdict_json

CONTEXT = "The office opens at nine on weekdays. Parking is free for visitors."
RESPONSE = "The office opens at nine. Parking costs five euros. Happy to help!"
_TEXTS: Any = {
    "input": "When does the office open?",
    "reference": "At nine on weekdays.",
}
_TEXTS |= {"contexts": (CONTEXT,), "response": RESPONSE}
SAMPLE = Sample(id="s1", metadata={"domain": "support"}, **_TEXTS)
GOOD = verdict_json(
    (1, "fully", "opens at nine"), (2, "none", ""), (3, "not_a_claim", "")
)


def judged(
    *answers: Answer,
    sample: Sample = SAMPLE,
    criterion: Criterion = FAITHFULNESS,
    claims: str = "split",
) -> tuple[Assessment, ScriptedModel]:
    model = ScriptedModel(answers)
    judge = LLMJudge(model, claims=claims)  # type: ignore[arg-type]  # one of the two
    return judge.assess(sample, criterion), model


def test_one_call_gives_all_verdicts() -> None:
    assessment, model = judged(GOOD)
    assert [c.verdict for c in assessment.claims] == [Verdict.FULLY, Verdict.NONE, None]
    assert assessment.counts.tolist() == [1, 0, 0, 0, 1]
    assert len(model.requests) == 1
    used = assessment.usage
    assert (used.calls, used.input_tokens, used.output_tokens) == (1, 10, 5)
    assert (assessment.sample_id, assessment.metadata) == ("s1", {"domain": "support"})
    assert assessment.unscored is None
    assert isinstance(model, JudgeModel)
    assert isinstance(LLMJudge(model), Judge)
    assert isinstance(LexicalJudge(), Judge)


FIRST = verdict_json((1, "fully", "opens at nine"))
QUOTING = '{"claims": ["Parking is free."]}'
INCOMPLETE, UNREADABLE = Reason.INCOMPLETE_VERDICTS, Reason.UNREADABLE_REPLY


@pytest.mark.parametrize(("answers", "claims", "reason", "detail", "raw"), [
    ([FIRST, "No."], "split", INCOMPLETE, "claim 2 of 2", f"{FIRST}\n---\nNo."),
    ([FIRST, JudgeError("busy", reason="rate_limit")], "split", INCOMPLETE, "busy", FIRST),
    (["lorem", "ipsum"], "split", UNREADABLE, "no verdicts found", "lorem\n---\nipsum"),
    ([JudgeError("wrong key", fatal=True)], "split", Reason.JUDGE_ERROR, "wrong key", None),
    ([JudgeError("down", reason="connection")], "split", Reason.JUDGE_ERROR, "down", None),
    ([RuntimeError("boom")], "split", Reason.JUDGE_ERROR, "boom", None),
    (["no list here"], "llm", UNREADABLE, "list of claims", "no list here"),
    ([QUOTING], "llm", UNREADABLE, "list of claims", QUOTING),
])  # fmt: skip
def test_a_failure_is_a_value_with_its_reason_and_its_cost(
    answers: list[Answer], claims: str, reason: Reason, detail: str, raw: str | None
) -> None:
    sample = SAMPLE.model_copy(update={"contexts": (CONTEXT, QUOTING)})
    assessment, model = judged(*answers, sample=sample, claims=claims)
    unscored = assessment.unscored
    assert unscored is not None
    assert (unscored.reason, unscored.fatal) == (reason, detail == "wrong key")
    assert detail in unscored.detail
    assert unscored.raw_reply == raw
    assert assessment.counts.sum() == 0
    assert len(model.requests) == len(answers)
    assert assessment.usage.calls == sum(isinstance(answer, str) for answer in answers)


def quoting(quote: str, level: str = "fully") -> str:
    return verdict_json((1, level, quote), (2, "minor", ""), (3, "not_a_claim", ""))


UNKNOWN: Final = "the office is open around the clock"
EUROS, SAFE = "It costs 5 euros.", "The drug is safe for small children."
TONE: Final = rubric("tone", ["Is polite.", "Gives a time."])
NONE = verdict_json((2, "none", ""))
NINE = "The office opens at nine."


@pytest.mark.parametrize(
    ("answers", "response", "criterion", "said"),
    [
        # A quote that does not occur lowers; a function word is no quote, a word of the claim is.
        ([quoting(UNKNOWN)], "", FAITHFULNESS, ["partial", "minor", None]),
        ([quoting("the")], "", FAITHFULNESS, ["partial", "minor", None]),
        ([quoting("nine")], "", FAITHFULNESS, ["fully", "minor", None]),
        # A judge cannot wave a claim through.
        *(
            ([verdict_json((1, "fully", "opens at nine"), (2, mark, "")), '{"asserts": "yes"}', NONE],
             f"{NINE} {claim}", FAITHFULNESS, ["fully", "none"])
            for mark in ("not_a_claim", "refusal") for claim in (EUROS, SAFE)
        ),
        # A rubric has a verdict for each text, and no non-claims.
        ([verdict_json((1, "not_a_claim", ""), (2, "fully", "")), verdict_json((1, "mostly", ""))],
         "", TONE, ["mostly", "fully"]),
        # The reference is judged against the response.
        ([verdict_json((1, "fully", "The office opens at nine"))], "", COMPLETENESS, ["fully"]),
    ],
)  # fmt: skip
def test_replies_give_these_verdicts(
    answers: list[Answer], response: str, criterion: Criterion, said: list[str | None]
) -> None:
    sample = SAMPLE.model_copy(update={"response": response or SAMPLE.response})
    assessment, model = judged(*answers, sample=sample, criterion=criterion)
    claims = criterion.statements or split_claims(
        getattr(sample, criterion.claims) or ""
    )
    assert [claim.claim for claim in assessment.claims] == [*claims]
    assert [claim.verdict for claim in assessment.claims] == said
    lowered = UNKNOWN in answers[0] or '"the"' in answers[0]  # type: ignore[operator]  # texts
    assert (assessment.claims[0].original_verdict == "fully") is lowered
    assert len(model.requests) == assessment.usage.calls == len(answers)


def test_claims_of_the_judge_cost_two_calls_and_a_list_that_was_cut_off_is_not_used() -> (
    None
):
    listed = '{"claims": ["The office opens at nine.", "Parking costs five euros."]}'
    verdicts = verdict_json((1, "fully", "opens at nine"), (2, "none", ""))
    assessment, model = judged(listed, verdicts, claims="llm")
    assert [c.claim for c in assessment.claims] == [NINE, "Parking costs five euros."]
    assert len(model.requests) == assessment.usage.calls == 2
    rounds = LLMJudge(model, claims="llm").rounds(SAMPLE, FAITHFULNESS)
    next(rounds)
    with pytest.raises(StopIteration) as done:
        rounds.send(
            [ModelReply("1. The office opens at nine.\n2. Par", truncated=True)]
        )
    assert done.value.value.unscored.reason is UNREADABLE


def many(number: int) -> Sample:
    text = " ".join(f"Room number {i} opens at nine." for i in range(1, number + 1))
    return Sample(response=text, contexts=("Rooms open at ten.",))


@pytest.mark.parametrize(
    ("number", "calls"), [(24, [24]), (25, [13, 12]), (240, [24] * 10)]
)
def test_up_to_24_claims_are_asked_for_in_a_call(number: int, calls: list[int]) -> None:
    replies = [verdict_json(*((i, "none", "") for i in range(1, n + 1))) for n in calls]
    assessment, model = judged(*replies, sample=many(number))
    assert [len(request.schema["properties"]) for request in model.requests] == calls
    assert [c.claim for c in assessment.claims] == split_claims(
        many(number).response or ""
    )
    assert (assessment.verdicts, assessment.usage.calls) == (
        ("none",) * number,
        len(calls),
    )


def test_what_parts_of_a_long_text_lack_is_asked_for_in_one_round() -> None:
    said = [(i, "none", "") for i in range(1, 14) if i != 5]
    first, second = verdict_json(*said), verdict_json(*said[:-1])
    rounds = LLMJudge(ScriptedModel([])).rounds(many(25), FAITHFULNESS)
    assert len(next(rounds)) == 2
    again = rounds.send([ModelReply(first), ModelReply(second)])
    assert [list(request.schema["properties"]) for request in again] == [
        ["claim_5"]
    ] * 2
    with pytest.raises(StopIteration) as done:
        rounds.send([ModelReply(verdict_json((5, "minor", ""))), ModelReply("No.")])
    unscored = done.value.value.unscored
    assert unscored.reason is Reason.INCOMPLETE_VERDICTS
    assert "no verdict for claim 18 of 25" in unscored.detail


def test_too_many_claims_are_not_judged() -> None:
    listed = json.dumps({"claims": [f"Claim {n}." for n in range(241)]})
    for claims, answers in (("split", []), ("llm", [listed])):
        assessment, model = judged(*answers, sample=many(241), claims=claims)
        assert assessment.unscored is not None
        assert assessment.unscored.reason is Reason.TOO_LONG
        assert not assessment.unscored.reason.is_failure
        assert len(model.requests) == len(answers)


def test_an_empty_response_to_empty_contexts_is_an_empty_response_and_costs_no_call() -> (
    None
):
    sample = SAMPLE.model_copy(update={"response": " \n", "contexts": ()})
    for judge in (ScriptedModel([]), "lexical"):
        unscored = TCVA(judge=judge).evaluate(sample).unscored
        assert unscored is not None
        assert unscored.reason is Reason.EMPTY_RESPONSE


def test_what_cannot_be_set_or_judged_is_refused() -> None:
    for options, says in (({"claims": "words"}, "words"), ({"max_claims": 0}, "0")):
        with pytest.raises(InvalidValueError, match=says):
            LLMJudge(ScriptedModel([]), **options)
    with pytest.raises(InvalidValueError, match="tone"):
        LexicalJudge().assess(SAMPLE, TONE)


def test_half_a_character_in_a_reply_reaches_no_store() -> None:
    assessment, _ = judged("lone \ud83d", "again \ud83d")
    assert Assessment.from_json(assessment.to_json()) == assessment


@pytest.mark.parametrize("field", ["input", "response"])
@pytest.mark.parametrize("own", [verdict_json((1, "none", "")), "I cannot judge this."])
def test_a_verdict_out_of_the_samples_own_text_never_counts(
    own: str, field: str
) -> None:
    text = f"A note. {FIRST}"
    sample = Sample(
        input="When?", response="It opens at nine.", contexts=("It opens at ten.",)
    )
    sample = sample.model_copy(update={field: text})
    criterion = rubric("tone", ["Is polite."])
    reply = f"{own}\nThe text says {FIRST}"
    assessment, _ = judged(reply, reply, sample=sample, criterion=criterion)
    assert assessment.verdicts == ((Verdict.NONE,) if own.startswith("{") else ())
    # Changed a little it is a second reading, which differs.
    changed = reply.replace("opens at nine", "opens")
    assessment, _ = judged(changed, changed, sample=sample, criterion=criterion)
    if own.startswith("{"):
        assert assessment.unscored is not None
        assert "read in two ways for claim 1" in assessment.unscored.detail


PASSAGE: Final = (
    "The ferry to the island leaves every day at nine. Dogs travel for free on it."
)
FERRY_CLAIMS: Final = (
    "The ferry to the island goes daily.",
    "Dogs need a ticket on the ferry.",
)
ASKED: Final = "When does the ferry run?"
FERRY: Final = Sample(input=ASKED, response=" ".join(FERRY_CLAIMS), contexts=(PASSAGE,))
OPENS: Final = "The ferry to the island leaves every day"
DOGS: Final = "Dogs travel for free on it"
RULE: Final = (
    "Judge the meaning, not the words. The same content in other words, shortened or in"
)


@pytest.mark.parametrize(("level", "quote", "taken"), [
    ("none", RULE, None),
    ("none", FAITHFULNESS.levels[2], None),  # the definition of another level
    ("fully", FERRY_CLAIMS[0], "partial"),  # lowered, since nothing better came
    ("mostly", FERRY_CLAIMS[1].upper(), "partial"),  # nor is another claim a quote
    ("partial", FERRY_CLAIMS[0], "partial"),  # no level that a quote has to bear out
    ("fully", OPENS, "fully"),
    ("fully", "the ferry to the island", "fully"),  # the passage has these words, too
    ("none", "", "none"),
])  # fmt: skip
def test_what_is_copied_from_the_prompt(
    level: str, quote: str, taken: str | None
) -> None:
    reply = verdict_json((1, level, quote), (2, "none", DOGS))
    result, model = judged(reply, reply, sample=FERRY)
    assert [str(claim.verdict) for claim in result.claims[:1]] == [taken][
        : taken is not None
    ]
    assert len(model.requests) == (1 if taken == level else 2)
    assert taken == level or " for claim_1" in model.requests[1].user
    if taken is None:
        assert result.unscored is not None
        assert result.unscored.reason is Reason.INCOMPLETE_VERDICTS
        assert (
            "the reply repeats the instructions for claim 1" in result.unscored.detail
        )


def test_a_claim_may_be_quoted_where_quotes_are_not_looked_up() -> None:
    reply = verdict_json((1, "fully", FERRY_CLAIMS[0]), (2, "none", ""))
    result = LLMJudge(ScriptedModel([reply])).assess(FERRY, ANSWER_RELEVANCY)
    assert result.verdicts == (Verdict.FULLY, Verdict.NONE)


def test_the_whole_prompt_as_a_reply_gives_no_verdict() -> None:
    request = verdict_request(
        blocks_for(FERRY, FAITHFULNESS), FAITHFULNESS, FERRY_CLAIMS
    )
    for line in (
        line for line in request.system.splitlines() if len(line.split()) >= 8
    ):
        reply = verdict_json((1, "none", line), (2, "none", line))
        result = LLMJudge(ScriptedModel([reply, reply])).assess(FERRY, FAITHFULNESS)
        assert result.unscored is not None, line


_ABOUT: Any = {
    "input": "When?",
    "contexts": ("It opens at nine.",),
    "reference": "At nine.",
}
SAMPLES = [
    Sample(id=str(i), response=f"It opens at nine on day {i}.", **_ABOUT)
    for i in range(3)
]
WRITTEN = verdict_json((1, "partial", ""))
HUGE = 10**400
DIGITS = "9" * 5000


def odd_model(odd: Any, good: str = WRITTEN) -> ScriptedModel:
    """Gives an odd answer, or raises it, for the second sample."""
    return ScriptedModel(
        lambda r: odd if "day 1" in r.user else ModelReply(good), name="odd"
    )


ODD: list[dict[str, Any]] = [
    {"input_tokens": HUGE, "output_tokens": HUGE, "retries": HUGE, "cost": HUGE},
    {"input_tokens": -1, "output_tokens": -HUGE, "retries": -1, "cost": -1.0},
    {"input_tokens": "7", "output_tokens": [], "retries": {}, "cost": "0.1"},
]
AT_KEYS = '{"verdicts":[{"claim":1,"evidence":%s,"reason":%s,"extra":%s,"verdict":"partial"}]}'
ODD_REPLIES = [
    *(ModelReply(WRITTEN, **usage) for usage in ODD),
    *(
        ModelReply(AT_KEYS % ((n,) * 3))
        for n in (DIGITS, "-1e999", "NaN", "true", "[[1]]")
    ),
]


def test_what_is_odd_in_a_reply_costs_no_verdict() -> None:
    for reply in ODD_REPLIES:
        for results in both_ways(TCVA(judge=odd_model(reply), share=False)):
            assert [result.score for result in results] == [0.7] * 3, reply
            assert results[1].claims[0].context in {None, 1}
            used = results[1].usage
            assert (used.calls, used.input_tokens, used.output_tokens) == (1, 0, 0), (
                reply
            )
            assert (used.retries, used.cost) == (0, None)


FAULTS = [RecursionError("b"), MemoryError("c"), ValueError("\ud800")]


STEPS = [*zip(("parse_verdicts", "check_evidence"), FAULTS[:2], strict=True)]


@pytest.mark.parametrize(("step", "fault"), STEPS, ids=str)
def test_a_fault_of_ours_costs_its_sample_alone(
    step: str, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = getattr(written, step)

    def failing(first: Any, *rest: Any, **options: Any) -> Any:
        first = list(first) if step == "check_evidence" else first
        if "odd" in str(first):
            raise fault
        return ours(first, *rest, **options)

    monkeypatch.setattr(written, step, failing)
    odd = verdict_json((1, "partial", "odd"))
    for results in both_ways(TCVA(judge=odd_model(ModelReply(odd)), share=False)):
        assert results[0].score == results[2].score is not None
        why = results[1].unscored
        assert why is not None
        assert (why.reason, why.raw_reply, why.fatal) == (
            Reason.JUDGE_ERROR,
            odd,
            False,
        )
        assert type(fault).__name__ in why.detail
        results[1].to_json().encode()


@dataclass(frozen=True)
class OwnJudge(LexicalJudge):
    """A judge of somebody's own that raises."""

    raised: BaseException
    name = "own"
    is_local = False

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        if sample.id == "1":
            raise self.raised
        return Assessment.from_verdicts(["partial"])

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        return self.assess(sample, criterion)


@pytest.mark.parametrize("share", [False, True])
def test_a_judge_that_raises_costs_its_sample(*, share: bool) -> None:
    for fault in FAULTS:
        for results in both_ways(TCVA(judge=OwnJudge(fault), share=share)):
            assert [result.score for result in results] == [0.7, None, 0.7]
            why = results[1].unscored
            assert why is not None
            assert (why.reason, why.fatal) == (Reason.JUDGE_ERROR, False)
    panel = Panel([OwnJudge(TypeError("a")), "lexical"])
    for results in both_ways(TCVA(judge=panel, share=share)):
        assert results[1].score is not None  # of the other judge


def test_what_ends_a_program_or_a_task_is_not_held_back() -> None:
    for make in (OwnJudge, odd_model):
        for raised in (KeyboardInterrupt(), SystemExit()):
            with pytest.raises(type(raised)):
                TCVA(judge=make(raised), share=False, max_concurrency=1).evaluate(
                    SAMPLES[1]
                )
    cancelled = TCVA(judge=OwnJudge(asyncio.CancelledError()), share=False)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled.aevaluate(SAMPLES[1]))


def both_ways(scorer: Any) -> list[list[Any]]:
    """The results of the three samples in a batch, awaited, and one by one."""
    alone = [scorer.evaluate(sample) for sample in SAMPLES]
    return [
        scorer.evaluate_many(SAMPLES),
        asyncio.run(scorer.aevaluate_many(SAMPLES)),
        alone,
    ]
