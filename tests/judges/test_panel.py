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
from tcva_adapters.results.summary import summarise
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


def test_each_claim_gets_the_median_level() -> None:
    assessment = judged((FULLY, NONE), (FULLY, MINOR), (PARTIAL, PARTIAL))
    assert assessment.verdicts == (Verdict.FULLY, Verdict.MINOR)
    assert assessment.unscored is None
    assert [each.judge for each in assessment.panel] == ["scripted:1", "scripted:2", "scripted:3"]


def test_of_two_levels_in_the_middle_the_stricter_counts() -> None:
    assert judged((FULLY, FULLY), (PARTIAL, NONE)).verdicts == (Verdict.PARTIAL, Verdict.NONE)


def test_fused_votes_are_shares() -> None:
    result = TCVA(
        judge=Panel(models((FULLY, MINOR), (FULLY, FULLY)), combine="fused"), penalty="off"
    ).evaluate(SAMPLE)
    assert result.claims[1].probabilities == (0.5, 0.0, 0.0, 0.5, 0.0)
    # T=.5 is the mean weight: claim 1 has 1, claim 2 (1 + .3)/2.
    assert result.score == pytest.approx((1 + 0.65) / 2, abs=1e-12)
    assert result.claims[1].verdict is Verdict.MINOR  # the stricter of two equal shares


def test_a_judge_that_fails_is_left_out_and_kept() -> None:
    assessment = judged((FULLY, MINOR), RuntimeError("boom"), (FULLY, MINOR))
    assert assessment.verdicts == (Verdict.FULLY, Verdict.MINOR)
    failed = [each.unscored for each in assessment.panel]
    assert failed[1] is not None
    assert "boom" in failed[1].detail
    assert failed[0] is failed[2] is None


def test_too_few_judges_make_no_score() -> None:
    assessment = judged((FULLY, MINOR), RuntimeError("boom"), least=2)
    assert assessment.unscored is not None
    assert assessment.unscored.reason is Reason.JUDGE_ERROR
    assert "1 of 2 judges gave verdicts, 2 needed" in assessment.unscored.detail
    assert assessment.panel[0].verdicts  # what was paid for is there


def test_when_all_fail_the_reason_is_theirs() -> None:
    assessment = judged(RuntimeError("boom"), JudgeError("slow", reason="timeout"))
    assert assessment.unscored is not None
    assert assessment.unscored.reason.is_failure
    assert "boom" in assessment.unscored.detail
    assert "slow" in assessment.unscored.detail


def test_an_empty_response_is_the_samples_own_reason() -> None:
    panel = Panel([*models((FULLY, FULLY)), "lexical"])
    empty = TCVA(judge=panel).evaluate(SAMPLE.model_copy(update={"response": ""}))
    assert empty.unscored is not None
    assert empty.unscored.reason is Reason.EMPTY_RESPONSE


def test_a_free_judge_may_sit_in() -> None:
    assessment = TCVA(judge=Panel([*models((FULLY, MINOR)), "lexical"])).evaluate(SAMPLE).assessment
    assert assessment.judge == "panel(scripted:1, lexical/3)"
    assert assessment.usage.calls == 1


def test_every_judge_keeps_its_own_place_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "verdicts.sqlite"
    alone = ScriptedModel([reply(FULLY, MINOR)], name="scripted:1")
    TCVA(judge=alone, store=store).evaluate(SAMPLE)
    second = ScriptedModel([reply(FULLY, NONE)], name="scripted:2")
    panel = Panel([ScriptedModel([], name="scripted:1"), second])
    first = TCVA(judge=panel, store=store).evaluate(SAMPLE)
    assert first.assessment.verdicts == (Verdict.FULLY, Verdict.NONE)
    assert [each.from_store for each in first.assessment.panel] == [True, False]
    assert summarise([first]).usage.calls == 1
    again = TCVA(
        judge=Panel([ScriptedModel([], name=f"scripted:{i}") for i in (1, 2)]), store=store
    ).evaluate(SAMPLE)
    assert again.score == first.score
    assert again.assessment.from_store


def test_a_failed_judge_alone_is_asked_again(tmp_path: Path) -> None:
    store = tmp_path / "verdicts.sqlite"
    first = TCVA(judge=Panel(models((FULLY, MINOR), RuntimeError("boom"))), store=store)
    assert first.evaluate(SAMPLE).assessment.panel[1].unscored is not None
    later = [ScriptedModel([], name="scripted:1"), *models((NONE, NONE))]
    later[1].name = "scripted:2"
    second = TCVA(judge=Panel(later), store=store).evaluate(SAMPLE).assessment
    assert all(each.unscored is None for each in second.panel)


def test_async_and_batches_are_the_same() -> None:
    def built() -> TCVA:
        return TCVA(judge=Panel(models((FULLY, MINOR), (PARTIAL, MINOR))))

    one = built().evaluate(SAMPLE)
    assert asyncio.run(built().aevaluate(SAMPLE)).assessment.claims == one.assessment.claims
    twin = SAMPLE.model_copy(update={"id": "twin"})
    both = built().evaluate_many([SAMPLE, twin])
    assert [r.score for r in both] == [one.score] * 2
    assert [r.assessment.panel[0].sample_id for r in both] == ["a", "twin"]
    assert summarise(both).usage.calls == 2
    direct = Panel(models((FULLY, MINOR), (PARTIAL, MINOR)))
    criterion = built().criterion
    assert direct.assess(SAMPLE, criterion).claims == one.assessment.claims
    again = Panel(models((FULLY, MINOR), (PARTIAL, MINOR)))
    assert asyncio.run(again.aassess(SAMPLE, criterion)).claims == one.assessment.claims


def test_a_judge_of_other_claims_is_left_out() -> None:
    panel = Panel(models((FULLY, FULLY), (FULLY, FULLY)))
    other = Assessment.from_verdicts(["none"], judge="elsewhere")
    ours = panel.judges[0].assess(SAMPLE, TCVA().criterion)
    assert panel.combined([ours, other]).verdicts == ours.verdicts


def test_it_survives_json() -> None:
    assessment = judged((FULLY, MINOR), (FULLY, MINOR))
    assert Assessment.from_json(assessment.to_json()) == assessment


@pytest.mark.parametrize(
    ("judges", "options", "message"),
    [
        ("lexical", {}, "a panel of 1"),
        ([], {}, "a panel of 0"),
        (["lexical", "lexical"], {}, "called 'lexical/3'; each has one vote: leave one out"),
        (["lexical", "lexcial"], {}, "unknown judge 'lexcial'"),
        ([*models((FULLY, FULLY)), "lexical"], {"combine": "mode"}, "combine='mode'"),
        ([*models((FULLY, FULLY)), "lexical"], {"least": 3}, "least=3"),
        ([*models((FULLY, FULLY)), "lexical"], {"least": True}, "least=True"),
    ],
)
def test_a_bad_panel_fails_when_built(judges: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Panel(judges, **options)


@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.slow), 12])
def test_models_of_a_panel_are_asked_as_often_at_once_as_others(at_once: int) -> None:
    samples = [SAMPLE.model_copy(update={"id": f"{n}", "input": f"{n}?"}) for n in range(16)]
    with ScriptedServer(later(0.2, lambda *_: reply(FULLY, MINOR))) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_BASE_URL", server.base_url)
            panel, settings = panel_of(
                ["lexical", "openai:m"], "median", {"max_concurrency": at_once}
            )
        TCVA(judge=panel, share=False, **settings).evaluate_many(samples)
        assert server.busiest == at_once


def test_claims_by_the_judge_are_refused() -> None:
    own = LLMJudge(ScriptedModel([]), claims="llm")
    with pytest.raises(InvalidValueError, match="claims of its own"):
        Panel([own, "lexical"])
