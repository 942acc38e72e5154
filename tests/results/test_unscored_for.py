"""The result of a sample that was never judged, made after one that was."""

from __future__ import annotations

import pytest

from tcva_adapters import CCRS, TCVA, Sample
from tcva_adapters.results.assessment import Reason, Unscored
from tcva_adapters.results.protocol import Scored, read_result

SAMPLE = Sample(
    input="When?",
    response="It opens at nine.",
    contexts=("It opens at nine.",),
    reference="At nine.",
    id="one",
    metadata={"domain": "hours"},
)
WHY = Unscored(reason=Reason.TIMEOUT, detail="never begun")


@pytest.mark.parametrize(
    "result",
    [
        TCVA(
            judge="lexical", temperature="strict", fuse=TCVA("answer_relevancy", judge="lexical")
        ).evaluate(SAMPLE),
        CCRS(("qr", "ac"), judge="lexical", threshold=0.7, lambda_=0.2).evaluate(SAMPLE),
    ],
    ids=["tcva", "ccrs"],
)
def test_judge_and_settings_are_the_same_and_nothing_else_is_left(result: Scored) -> None:
    other = result.unscored_for(WHY)
    assert (other.score, other.passed, other.unscored, other.claims) == (None, None, WHY, ())
    assert (other.sample_id, other.usage.calls) == (None, 0)
    assert read_result(other.to_json()) == other
    kept = ("kind", "judge", "criterion", "prompt_version", "scoring", "lambda_", "threshold", "em")
    before, after = result.to_dict(), other.to_dict()
    assert {name: after.get(name) for name in kept} == {name: before.get(name) for name in kept}


def test_a_scorer_tells_its_judge_s_name() -> None:
    for scorer in (TCVA(judge="lexical"), CCRS("qr", judge="lexical")):
        result = scorer.evaluate(SAMPLE).to_dict()
        assert scorer.judge_name == result["judge"]
