"""Several judges on one sample: fused scores, what they cost, and what happens where one fails."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from tcva_adapters import TCVA, Assessment, Result, Sample
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.results.assessment import Reason
from tests.support.scripted import ScriptedModel, verdict_json

SAMPLE = Sample(
    id="a",
    input="When does the office open?",
    response="The office opens at nine. Parking costs money.",
    contexts=("The office opens at nine. Parking is free for visitors.",),
)
REPLY = verdict_json((1, "fully", "opens at nine"), (2, "partial", "Parking is free"))
OTHER = verdict_json((1, "fully", "opens at nine"), (2, "minor", "Parking is free"))


def fused() -> tuple[Result, ScriptedModel]:
    model = ScriptedModel([REPLY])
    second = ScriptedModel([OTHER], name="scripted:two")
    return TCVA(judge=model, fuse=second).evaluate(SAMPLE), model


def test_the_fused_score_is_the_geometric_mean_of_both() -> None:
    result, _ = fused()
    # T=.5 is the arithmetic mean: (1 + .7)/2 = .85 and (1 + .3)/2 = .65.
    scores = {"scripted:one": 0.85, "scripted:two": 0.65}
    assert result.member_scores == pytest.approx(scores, abs=1e-12)
    assert result.score == pytest.approx(math.sqrt(0.85 * 0.65), abs=1e-12)
    assert "fused from scripted:one 0.850, scripted:two 0.650" in result.reason


def test_every_other_setting_is_free() -> None:
    result, model = fused()
    # T=.1: the exponent is -8.
    strict = (((1 + 0.7**-8) / 2) ** (-1 / 8), ((1 + 0.3**-8) / 2) ** (-1 / 8))
    assert result.at(0.1).score == pytest.approx(math.sqrt(math.prod(strict)), abs=1e-12)
    weighted = result.at(0.5, fuse_weights=(3, 1))
    assert weighted.score == pytest.approx(0.85**0.75 * 0.65**0.25, abs=1e-12)
    flip = result.at(0.5, threshold=0.8).flip_temperature
    assert flip is not None
    assert result.at(flip).score >= 0.8 > result.at(flip - 1e-6).score  # type: ignore[operator]  # both have one
    assert len(model.requests) == 1
    back = Assessment.from_json(result.assessment.to_json())
    assert Result(back, result.scoring).score == result.score


def test_the_lexical_judge_joins_without_a_call_and_may_have_its_own_criterion() -> None:
    model = ScriptedModel([REPLY] * 2)
    result = TCVA(judge=model, fuse="lexical").evaluate(SAMPLE)
    alone = TCVA(judge="lexical").evaluate(SAMPLE).score
    assert alone is not None
    assert result.score == pytest.approx(math.sqrt(0.85 * alone), abs=1e-12)
    assert len(model.requests) == result.usage.calls == 1
    member = TCVA("faithfulness", judge="lexical")
    other = TCVA("answer_relevancy", judge=model, fuse=[member]).evaluate(SAMPLE)
    assert other.assessment.criterion == "answer_relevancy"
    assert [m.criterion for m in other.assessment.members] == ["faithfulness"]


def test_a_member_that_fails_or_lacks_a_field_is_left_out_and_said() -> None:
    broken = ScriptedModel([RuntimeError("boom")], name="scripted:two")
    needs_reference = TCVA("correctness", judge="lexical")
    members = {
        "scripted:two none": (broken, Reason.JUDGE_ERROR),
        "none": (needs_reference, Reason.MISSING_FIELD),
    }
    for said, (member, reason) in members.items():
        result = TCVA(judge=ScriptedModel([REPLY]), fuse=member).evaluate(SAMPLE)
        assert result.score == pytest.approx(0.85, abs=1e-12)
        assert said in result.reason
        (found,) = result.assessment.members
        assert found.unscored is not None
        assert found.unscored.reason is reason


def test_without_the_first_judge_there_is_no_score_and_nothing_paid_is_lost() -> None:
    second = ScriptedModel([OTHER], name="scripted:two")
    result = TCVA(judge=ScriptedModel([RuntimeError("boom")]), fuse=second).evaluate(SAMPLE)
    assert result.score is None
    assert len(second.requests) == result.usage.calls == 1


def test_a_member_that_can_never_answer_is_asked_once_in_a_batch() -> None:
    samples = [SAMPLE.model_copy(update={"id": str(i), "input": f"{i}?"}) for i in range(5)]
    wrong_key = JudgeError("wrong key", fatal=True)
    second = ScriptedModel([wrong_key] * 5, name="scripted:two")
    tcva = TCVA(judge=ScriptedModel([REPLY] * 5), fuse=second, max_concurrency=1)
    results = tcva.evaluate_many(samples)
    assert [r.score for r in results] == pytest.approx([0.85] * 5, abs=1e-12)
    assert len(second.requests) == 1


def test_each_judge_is_served_from_the_store(tmp_path: Path) -> None:
    store = tmp_path / "verdicts.sqlite"
    TCVA(judge=ScriptedModel([REPLY]), store=store).evaluate(SAMPLE)
    for second in (ScriptedModel([OTHER], name="two"), ScriptedModel([], name="two")):
        later = TCVA(judge=ScriptedModel([]), fuse=second, store=store).evaluate(SAMPLE)
        assert later.assessment.from_store
        assert later.score == pytest.approx(math.sqrt(0.85 * 0.65), abs=1e-12)
    assert later.assessment.members[0].from_store


def test_wrong_members_and_weights_fail_when_built() -> None:
    again = TCVA("correctness", judge="lexical", fuse="lexical")
    for how, said in (
        ({"fuse": "lexical", "fuse_weights": (1, 1, 1)}, "for 2 judges"),
        ({"fuse": "lexical", "fuse_weights": (-1, 1)}, "weights"),
        ({"fuse": "lexcial"}, "unknown judge 'lexcial'"),
        ({"fuse": again}, "is fused already; list all the judges"),
    ):
        with pytest.raises(InvalidValueError, match=said):
            TCVA(judge="lexical", **how)


def test_samples_that_differ_for_a_further_judge_alone_are_not_judged_as_one() -> None:
    # Faithfulness does not look at the reference, correctness does.
    tcva = TCVA("faithfulness", judge="lexical", fuse=TCVA("correctness", judge="lexical"))
    samples = [
        SAMPLE.model_copy(update={"reference": reference})
        for reference in (SAMPLE.response, "Grass is green.", SAMPLE.response)
    ]
    scores = [result.score for result in tcva.evaluate_many(samples)]
    assert scores == [tcva.evaluate(sample).score for sample in samples]
    assert scores == [result.score for result in asyncio.run(tcva.aevaluate_many(samples))]
    assert scores[0] != scores[1]
