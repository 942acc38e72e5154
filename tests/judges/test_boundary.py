"""Nothing that a judge replies or raises comes out of an evaluation, or costs another sample."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from tcva_adapters.criteria import Criterion
from tcva_adapters.judges import llm as judging
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.panel import Panel
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.results.assessment import Assessment, Reason
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA
from tests.support.scripted import ScriptedModel, verdict_json

SAMPLES = [
    Sample(
        id=str(i),
        input="When?",
        response=f"It opens at nine on day {i}.",
        contexts=("It opens at nine.",),
        reference="At nine.",
    )
    for i in range(3)
]
GOOD = verdict_json((1, "partial", ""))
HUGE = 10**400
DIGITS = "9" * 5000


def odd_model(odd: Any, good: str = GOOD) -> ScriptedModel:
    """Gives an odd answer, or raises it, for the second sample."""
    return ScriptedModel(
        lambda request: odd if "day 1" in request.user else ModelReply(good), name="odd"
    )


ODD: list[dict[str, Any]] = [
    {"input_tokens": HUGE, "output_tokens": HUGE, "retries": HUGE, "cost": HUGE},
    {"input_tokens": -1, "output_tokens": -HUGE, "retries": -1, "cost": -1.0},
    {"input_tokens": "7", "output_tokens": [], "retries": {}, "cost": "0.1"},
]
AT_KEYS = '{"verdicts":[{"claim":1,"evidence":%s,"reason":%s,"extra":%s,"verdict":"partial"}]}'
ODD_REPLIES = [
    *(ModelReply(GOOD, **usage) for usage in ODD),
    *(ModelReply(AT_KEYS % ((n,) * 3)) for n in (DIGITS, "-1e999", "NaN", "true", "[[1]]")),
]


def test_what_is_odd_in_a_reply_costs_no_verdict() -> None:
    for reply in ODD_REPLIES:
        for results in both_ways(TCVA(judge=odd_model(reply), share=False)):
            assert [result.score for result in results] == [0.7] * 3, reply
            assert results[1].claims[0].passage in {None, 1}
            used = results[1].usage
            assert (used.calls, used.input_tokens, used.output_tokens) == (1, 0, 0), reply
            assert (used.retries, used.cost) == (0, None)


FAULTS = [RecursionError("b"), MemoryError("c"), ValueError("\ud800")]


@pytest.mark.parametrize(
    ("step", "fault"), [("parse_verdicts", FAULTS[0]), ("check_evidence", FAULTS[1])], ids=str
)
def test_a_fault_of_ours_costs_its_sample_and_keeps_the_paid_reply(
    step: str, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = getattr(judging, step)

    def failing(first: Any, *rest: Any, **options: Any) -> Any:
        first = list(first) if step == "check_evidence" else first
        if "odd" in str(first):
            raise fault
        return ours(first, *rest, **options)

    monkeypatch.setattr(judging, step, failing)
    odd = verdict_json((1, "partial", "odd"))
    for results in both_ways(TCVA(judge=odd_model(ModelReply(odd)), share=False)):
        assert results[0].score == results[2].score is not None
        why = results[1].unscored
        assert why is not None
        assert (why.reason, why.raw_reply, why.fatal) == (Reason.JUDGE_ERROR, odd, False)
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
                TCVA(judge=make(raised), share=False, max_concurrency=1).evaluate(SAMPLES[1])
    cancelled = TCVA(judge=OwnJudge(asyncio.CancelledError()), share=False)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled.aevaluate(SAMPLES[1]))


def both_ways(scorer: Any) -> list[list[Any]]:
    """The results of the three samples in a batch, awaited, and one by one."""
    return [
        scorer.evaluate_many(SAMPLES),
        asyncio.run(scorer.aevaluate_many(SAMPLES)),
        [scorer.evaluate(sample) for sample in SAMPLES],
    ]
