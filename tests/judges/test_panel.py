"""Several judges over one list of claims. The models are scripted, all else is real."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, Panel, Sample, Verdict
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import panel_of
from tcva_adapters.results.assessment import Reason
from tests.support.scripted import ScriptedModel, verdict_json
from tests.support.server import ScriptedServer, later

SAMPLE = Sample(
    id="a",
    input="When does the office open?",
    response="The office opens at nine. Parking costs money.",
    contexts=("The office opens at nine. Parking is free for visitors.",),
)
FULLY, MINOR, PARTIAL, NONE = "fully", "minor", "partial", "none"


def reply(first: str, second: str) -> str:
    return verdict_json((1, first, "opens at nine"), (2, second, "Parking is free"))


def models(*verdicts: tuple[str, str] | Exception) -> list[ScriptedModel]:
    return [
        ScriptedModel([v if isinstance(v, Exception) else reply(*v)], name=f"scripted:{i}")
        for i, v in enumerate(verdicts, start=1)
    ]


def judged(*verdicts: tuple[str, str] | Exception, **options: Any) -> Assessment:
    return TCVA(judge=Panel(models(*verdicts), **options)).evaluate(SAMPLE).assessment


@pytest.mark.parametrize(
    ("verdicts", "median"),
    [
        ([(FULLY, NONE), (FULLY, MINOR), (PARTIAL, PARTIAL)], [FULLY, MINOR]),
        ([(FULLY, FULLY), RuntimeError("boom"), (PARTIAL, NONE)], [PARTIAL, NONE]),  # the stricter
    ],
)
def test_each_claim_gets_the_median_level(verdicts: list[Any], median: list[str]) -> None:
    assessment = judged(*verdicts)
    assert list(assessment.verdicts) == median
    assert assessment.unscored is None
    assert [each.judge for each in assessment.panel] == ["scripted:1", "scripted:2", "scripted:3"]
    assert Assessment.from_json(assessment.to_json()) == assessment


@pytest.mark.parametrize(
    ("verdicts", "least", "says"),
    [
        ([(FULLY, MINOR), RuntimeError("boom")], 2, ["1 of 2 judges gave", "2 needed"]),
        ([RuntimeError("boom"), JudgeError("slow", reason="timeout")], 1, ["boom", "slow"]),
    ],
)
def test_too_few_judges_make_no_score(verdicts: list[Any], least: int, says: list[str]) -> None:
    assessment = judged(*verdicts, least=least)
    assert assessment.unscored is not None
    assert assessment.unscored.reason is Reason.JUDGE_ERROR
    assert all(part in assessment.unscored.detail for part in says)
    # What was paid for is there.
    assert [bool(each.verdicts) for each in assessment.panel] == [
        not isinstance(each, Exception) for each in verdicts
    ]


def test_fused_votes_are_shares() -> None:
    result = TCVA(
        judge=Panel(models((FULLY, MINOR), (FULLY, FULLY)), combine="fused"), penalty="off"
    ).evaluate(SAMPLE)
    assert result.claims[1].probabilities == (0.5, 0.0, 0.0, 0.5, 0.0)
    # T=.5 is the mean weight: claim 1 has 1, claim 2 (1 + .3)/2.
    assert result.score == pytest.approx((1 + 0.65) / 2, abs=1e-12)
    assert result.claims[1].verdict is Verdict.MINOR  # the stricter of two equal shares


def test_every_judge_keeps_its_own_place_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "verdicts.sqlite"
    alone = ScriptedModel([reply(FULLY, MINOR)], name="scripted:1")
    TCVA(judge=alone, store=store).evaluate(SAMPLE)
    second = ScriptedModel([reply(FULLY, NONE)], name="scripted:2")
    panel = Panel([ScriptedModel([], name="scripted:1"), second])
    first = TCVA(judge=panel, store=store).evaluate(SAMPLE)
    assert first.assessment.verdicts == (Verdict.FULLY, Verdict.NONE)
    assert [each.from_store for each in first.assessment.panel] == [True, False]
    assert first.usage.calls == 1
    unasked = Panel([ScriptedModel([], name=f"scripted:{i}") for i in (1, 2)])
    again = TCVA(judge=unasked, store=store).evaluate(SAMPLE)
    assert (again.score, again.assessment.from_store) == (first.score, True)
    # A judge that failed is asked again, and it alone.
    for answer in (RuntimeError("boom"), reply(NONE, NONE)):
        panel = Panel([ScriptedModel([], name="scripted:1"), ScriptedModel([answer], name="new")])
        last = TCVA(judge=panel, store=store).evaluate(SAMPLE).assessment.panel[1]
        assert (last.unscored is None) is isinstance(answer, str)


def test_a_judge_that_computes_may_sit_in_and_says_what_the_sample_lacks() -> None:
    tcva = TCVA(judge=Panel([*models((FULLY, MINOR)), "lexical"]))
    assessment = tcva.evaluate(SAMPLE).assessment
    assert assessment.judge == "panel(scripted:1, lexical/3)"
    assert assessment.usage.calls == 1
    empty = tcva.evaluate(SAMPLE.model_copy(update={"response": ""}))
    assert empty.unscored is not None
    assert empty.unscored.reason is Reason.EMPTY_RESPONSE


def test_async_and_batches_are_the_same() -> None:
    def built() -> TCVA:
        return TCVA(judge=Panel(models((FULLY, MINOR), (PARTIAL, MINOR))))

    one = built().evaluate(SAMPLE)
    assert asyncio.run(built().aevaluate(SAMPLE)).assessment.claims == one.assessment.claims
    twin = SAMPLE.model_copy(update={"id": "twin"})
    both = built().evaluate_many([SAMPLE, twin])
    assert [r.score for r in both] == [one.score] * 2
    assert [r.assessment.panel[0].sample_id for r in both] == ["a", "twin"]
    assert sum(each.usage.calls for each in both) == 2
    assert asyncio.run(built().judge.aassess(SAMPLE, built().criterion)).claims == one.claims


def test_a_judge_of_other_claims_is_left_out() -> None:
    panel = Panel(models((FULLY, FULLY), (FULLY, FULLY)))
    other = Assessment.from_verdicts(["none"], judge="elsewhere")
    ours = panel.judges[0].assess(SAMPLE, TCVA().criterion)
    assert panel.combined([ours, other]).verdicts == ours.verdicts


@pytest.mark.parametrize(
    ("judges", "options", "message"),
    [
        ("lexical", {}, "a panel of 1"),
        (["lexical", "lexical"], {}, "called 'lexical/3'; each has one vote: leave one out"),
        ([LLMJudge(ScriptedModel([]), claims="llm"), "lexical"], {}, "claims of its own"),
        (["lexical", "lexcial"], {}, "unknown judge 'lexcial'"),
        ([*models((FULLY, FULLY)), "lexical"], {"combine": "mode"}, "combine='mode'"),
        ([*models((FULLY, FULLY)), "lexical"], {"least": 3}, "least=3"),
    ],
)
def test_a_bad_panel_fails_when_built(judges: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Panel(judges, **options)


def test_models_of_a_panel_are_asked_as_often_at_once_as_others() -> None:
    samples = [SAMPLE.model_copy(update={"id": f"{n}", "input": f"{n}?"}) for n in range(16)]
    with ScriptedServer(later(0.05, lambda *_: reply(FULLY, MINOR))) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_BASE_URL", server.base_url)
            panel, settings = panel_of(["lexical", "openai:m"], "median", {"max_concurrency": 5})
        TCVA(judge=panel, share=False, **settings).evaluate_many(samples)
        assert server.busiest == 5
