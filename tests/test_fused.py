"""Several judges on one sample: fused scores, what they cost, and what happens where one fails."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from tcva_adapters import TCVA, Assessment, Result, Sample
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.summary import summarise
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
    assert result.member_scores == pytest.approx(
        {"scripted:one": 0.85, "scripted:two": 0.65}, abs=1e-12
    )
    assert result.score == pytest.approx(math.sqrt(0.85 * 0.65), abs=1e-12)
    assert "fused from scripted:one 0.850, scripted:two 0.650" in result.reason


def test_every_other_setting_is_free() -> None:
    result, model = fused()
    strict = (((1 + 0.7**-8) / 2) ** (-1 / 8), ((1 + 0.3**-8) / 2) ** (-1 / 8))
    assert result.at(0.1).score == pytest.approx(math.sqrt(math.prod(strict)), abs=1e-12)
    weighted = result.at(0.5, fuse_weights=(3, 1))
    assert weighted.score == pytest.approx(0.85**0.75 * 0.65**0.25, abs=1e-12)
    assert len(model.requests) == 1


def test_the_flip_temperature_is_that_of_the_fused_score() -> None:
    result, _ = fused()
    flip = result.at(0.5, threshold=0.8).flip_temperature
    assert flip is not None
    assert result.at(flip).score >= 0.8 > result.at(flip - 1e-6).score  # type: ignore[operator]  # both have one


def test_the_lexical_judge_joins_without_a_call() -> None:
    model = ScriptedModel([REPLY])
    tcva = TCVA(judge=model, fuse="lexical")
    result = tcva.evaluate(SAMPLE)
    alone = TCVA(judge="lexical").evaluate(SAMPLE).score
    assert alone is not None
    assert result.score == pytest.approx(math.sqrt(0.85 * alone), abs=1e-12)
    assert len(model.requests) == 1
    assert summarise([result]).usage.calls == 1


def test_a_member_may_judge_another_criterion() -> None:
    member = TCVA("faithfulness", judge="lexical")
    model = ScriptedModel([REPLY])
    result = TCVA("answer_relevancy", judge=model, fuse=[member]).evaluate(SAMPLE)
    assert result.assessment.criterion == "answer_relevancy"
    assert [m.criterion for m in result.assessment.members] == ["faithfulness"]


def test_a_member_that_fails_is_left_out_and_said() -> None:
    second = ScriptedModel([RuntimeError("boom")], name="scripted:two")
    result = TCVA(judge=ScriptedModel([REPLY]), fuse=second).evaluate(SAMPLE)
    assert result.score == pytest.approx(0.85, abs=1e-12)
    assert "scripted:two none" in result.reason


def test_a_member_that_lacks_a_field_is_left_out() -> None:
    member = TCVA("correctness", judge="lexical")  # needs a reference
    result = TCVA(judge=ScriptedModel([REPLY]), fuse=member).evaluate(SAMPLE)
    assert result.score == pytest.approx(0.85, abs=1e-12)
    unscored = result.assessment.members[0].unscored
    assert unscored is not None
    assert unscored.reason is Reason.MISSING_FIELD


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


def test_async_and_batches_fuse_the_same() -> None:
    def built() -> TCVA:
        return TCVA(judge=ScriptedModel([REPLY]), fuse="lexical")

    one = built().evaluate(SAMPLE).score
    assert asyncio.run(built().aevaluate(SAMPLE)).score == one
    both = built().evaluate_many([SAMPLE, SAMPLE.model_copy(update={"id": "twin"})])
    assert [r.score for r in both] == [one, one]
    assert [r.assessment.members[0].sample_id for r in both] == ["a", "twin"]
    assert asyncio.run(built().aevaluate_many([SAMPLE]))[0].score == one


def test_each_judge_is_served_from_the_store(tmp_path: Path) -> None:
    store = tmp_path / "verdicts.sqlite"
    first = TCVA(judge=ScriptedModel([REPLY]), store=store).evaluate(SAMPLE)
    assert not first.assessment.members
    second = ScriptedModel([OTHER], name="scripted:two")
    later = TCVA(judge=ScriptedModel([]), fuse=second, store=store).evaluate(SAMPLE)
    assert later.assessment.from_store
    again = TCVA(
        judge=ScriptedModel([]), fuse=ScriptedModel([], name="scripted:two"), store=store
    ).evaluate(SAMPLE)
    assert again.score == later.score
    assert again.assessment.members[0].from_store


def test_fused_assessments_survive_json() -> None:
    result, _ = fused()
    back = Assessment.from_json(result.assessment.to_json())
    assert Result(back, result.scoring).score == result.score


def test_wrong_weights_fail_when_built() -> None:
    with pytest.raises(InvalidValueError, match="for 2 judges"):
        TCVA(judge="lexical", fuse="lexical", fuse_weights=(1, 1, 1))
    with pytest.raises(InvalidValueError, match="weights"):
        TCVA(judge="lexical", fuse="lexical", fuse_weights=(-1, 1))
    with pytest.raises(InvalidValueError, match="unknown judge 'lexcial'"):
        TCVA(judge="lexical", fuse="lexcial")


def test_samples_that_differ_for_a_further_judge_alone_are_not_judged_as_one() -> None:
    # Faithfulness does not look at the reference, correctness does.
    tcva = TCVA("faithfulness", judge="lexical", fuse=TCVA("correctness", judge="lexical"))
    samples = [
        SAMPLE.model_copy(update={"reference": reference})
        for reference in (SAMPLE.response, "Grass is green.", SAMPLE.response)
    ]
    scores = [result.score for result in tcva.evaluate_many(samples)]
    assert scores == [tcva.evaluate(sample).score for sample in samples]
    assert scores[0] != scores[1]
    assert asyncio.run(tcva.aevaluate_many(samples))[1].score == scores[1]


def test_a_judge_that_is_fused_already_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="is fused already; list all the judges"):
        TCVA(judge="lexical", fuse=TCVA("correctness", judge="lexical", fuse="lexical"))
