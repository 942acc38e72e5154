"""One judge asked several times. The models are scripted, all else is real."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Panel, Result, Sample
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import REPEAT_TEMPERATURE
from tcva_adapters.models.protocol import JudgeRequest, Sampling
from tcva_adapters.scale.cost import estimate
from tcva_adapters.scale.settings import scorer_of
from tests.support.scripted import Answer, ScriptedModel, verdict_json

SAMPLE = Sample(
    id="a",
    input="When does the office open?",
    response="The office opens at nine. Parking costs money.",
    contexts=("The office opens at nine. Parking is free for visitors.",),
)
FULLY, MINOR, PARTIAL, NONE = "fully", "minor", "partial", "none"


def reply(second: str) -> str:
    return verdict_json((1, FULLY, "opens at nine"), (2, second, "Parking is free"))


class Drawn(ScriptedModel):
    """Says another thing for each seed, as a model above temperature 0 does."""

    follows_sampling = True

    def __init__(self, *levels: str, name: str = "scripted:one", temperature: float = 0.0) -> None:
        def said(request: JudgeRequest) -> str:
            return reply(levels[(request.sampling or Sampling()).seed_offset % len(levels)])

        super().__init__(said, name=name)
        self.parameters = {"seed": 0, "temperature": temperature}

    @property
    def samplings(self) -> list[Sampling | None]:
        asked = [request.sampling for request in self.requests]
        return sorted(asked, key=lambda each: each.seed_offset if each else -1)


def test_each_repeat_has_its_own_seed_and_a_stated_temperature() -> None:
    model = Drawn(FULLY, NONE, PARTIAL)
    options: Any = {"penalty": "off", "scheme": "linear", "threshold": 0.6}
    result = TCVA(judge=model, repeats=3, **options).evaluate(SAMPLE)
    assert model.samplings == [
        Sampling(temperature=REPEAT_TEMPERATURE, seed_offset=offset) for offset in range(3)
    ]
    levels = [[verdict.value for verdict in each.verdicts] for each in result.assessment.repeats]
    assert levels == [[FULLY, FULLY], [FULLY, NONE], [FULLY, PARTIAL]]
    third = 1 / 3
    assert result.claims[1].probabilities == (third, 0.0, third, 0.0, third)
    # At T = .5 the mean of weights 1 and 1, 0 or 0.5.
    assert [each.score for each in result.repeats] == [1.0, 0.5, 0.75]
    assert result.score == pytest.approx(0.75, abs=1e-9)
    assert "3 repeats from 0.500 to 1.000, 2 of them pass" in result.reason
    assert Result.from_json(result.to_json()).repeats == result.repeats
    awaited = TCVA(judge=Drawn(FULLY, NONE, PARTIAL), repeats=3, **options).aevaluate(SAMPLE)
    assert asyncio.run(awaited) == result


def test_a_temperature_above_zero_stays() -> None:
    model = Drawn(FULLY, NONE, temperature=1.2)
    once = TCVA(judge=model).evaluate(SAMPLE)
    again = TCVA(judge=model, repeats=2).evaluate(SAMPLE)
    assert model.samplings[1:] == [Sampling(seed_offset=1)]
    # The first repeat is the judgement that was there already, and is not asked for again.
    assert len(model.requests) == 2
    assert again.assessment.repeats[0].claims == once.assessment.claims
    assert (again.usage.calls, once.repeats) == (1, ())


def test_every_repeat_has_its_own_place_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "verdicts.sqlite"
    first, second = Drawn(FULLY, NONE, PARTIAL), Drawn(FULLY, NONE, PARTIAL)
    judged = TCVA(judge=first, repeats=3, store=store).evaluate(SAMPLE)
    again = TCVA(judge=second, repeats=3, store=store).evaluate(SAMPLE)
    assert (len(first.requests), len(second.requests)) == (3, 0)
    assert again == judged
    assert again.assessment.from_store
    more = TCVA(judge=second, repeats=5, store=store).evaluate(SAMPLE)
    assert [each.seed_offset for each in second.samplings if each] == [3, 4]
    assert more.assessment.repeats[:3] == judged.assessment.repeats
    # A judgement at temperature 0 is none of them.
    TCVA(judge=second, store=store).evaluate(SAMPLE)
    assert second.samplings[0] is None


def test_equal_samples_share_repeats_and_repeats_share_nothing() -> None:
    model = Drawn(FULLY, NONE)
    twin = SAMPLE.model_copy(update={"id": "twin"})
    results = TCVA(judge=model, repeats=2).evaluate_many([SAMPLE, twin])
    assert len(model.requests) == sum(each.usage.calls for each in results) == 2
    assert results[0].score == results[1].score
    assert [each.sample_id for each in results[1].assessment.repeats] == ["twin", "twin"]


def test_a_repeat_that_fails_is_left_out() -> None:
    # A model that follows no seed and no temperature is asked as it is.
    one_fails: list[Answer] = [reply(FULLY), RuntimeError("boom"), reply(NONE)]
    tcva = TCVA(judge=ScriptedModel(one_fails), repeats=3, max_concurrency=1)
    assert "repeat_temperature" not in tcva.judge.parameters
    result = tcva.evaluate(SAMPLE)
    assert result.score is not None
    assert sorted(each.score is not None for each in result.repeats) == [False, True, True]
    none = TCVA(judge=ScriptedModel([RuntimeError("boom")] * 3), repeats=3).evaluate(SAMPLE)
    assert none.unscored is not None
    assert "0 of 3 repeats gave verdicts" in none.unscored.detail


def test_a_panel_is_asked_several_times() -> None:
    panel = Panel([Drawn(FULLY, NONE), "lexical"])
    result = TCVA(judge=panel, repeats=2).evaluate(SAMPLE)
    assert result.assessment.judge == "repeats(panel(scripted:one, lexical/3), 2)"
    assert [len(each.panel) for each in result.assessment.repeats] == [2, 2]
    alone = TCVA(judge=Panel([Drawn(FULLY), "lexical"])).evaluate(SAMPLE)
    assert result.repeats[0].score == alone.score


def test_fused_scores_are_made_of_what_was_said_the_same_time() -> None:
    first, second = Drawn(FULLY, NONE), Drawn(PARTIAL, FULLY, name="scripted:two")
    result = TCVA(judge=first, fuse=[second, "lexical"], repeats=2).evaluate(SAMPLE)
    assert len(second.requests) == 2
    for place, (one, two) in enumerate([(FULLY, PARTIAL), (NONE, FULLY)]):
        fuse = [Drawn(two, name="scripted:two"), "lexical"]
        assert (
            result.repeats[place].score == TCVA(judge=Drawn(one), fuse=fuse).evaluate(SAMPLE).score
        )


def test_a_changed_copy_repeats_too() -> None:
    tcva = TCVA(judge=Drawn(FULLY, NONE), repeats=2)
    copy = tcva.changed(temperature="strict")
    assert copy.name == "tcva_faithfulness(T=0.2,repeats=2)"
    assert copy.judge.name == "repeats(scripted:one, 2)"
    assert isinstance(tcva.changed(repeats=1).judge, LLMJudge)
    model = {"base_url": "http://127.0.0.1:9/v1", "api_key": "none"}
    plain = scorer_of({"judge": "openai:m", "repeats": 3, "model": model})
    assert estimate(plain, [SAMPLE] * 4).calls == 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"judge": "lexical"}, "repeats=2 of lexical/3: only a model can be asked again"),
        ({"judge": Drawn(FULLY), "claims": "llm"}, "claims='llm': each repeat would make claims"),
        ({"judge": Drawn(FULLY), "repeats": 0}, "repeats=0; it should be greater than"),
    ],
)
def test_what_cannot_be_repeated_is_refused_when_built(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message.replace("(", r"\(")):
        TCVA(**{"repeats": 2, **settings})
