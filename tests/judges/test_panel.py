"""Several judges over one list of claims, and one asked several times. The models are scripted."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, Panel, Result, Verdict
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import REPEAT_TEMPERATURE, with_panel
from tcva_adapters.models.judge_model import JudgeRequest, Sampling
from tcva_adapters.results.judgement import Reason
from tests.support.office import VISITED as SAMPLE
from tests.support.scripted import Answer, ScriptedModel, verdict_json
from tests.support.server import ScriptedServer, later

FULLY, MINOR, PARTIAL, NONE = "fully", "minor", "partial", "none"


def reply(first: str, second: str) -> str:
    return verdict_json((1, first, "opens at nine"), (2, second, "Parking is free"))


def models(*verdicts: tuple[str, str] | Exception) -> list[ScriptedModel]:
    said = [v if isinstance(v, Exception) else reply(*v) for v in verdicts]
    return [
        ScriptedModel([text], name=f"scripted:{i}")
        for i, text in enumerate(said, start=1)
    ]


def judged(*verdicts: tuple[str, str] | Exception, **options: Any) -> Assessment:
    return TCVA(judge=Panel(models(*verdicts), **options)).evaluate(SAMPLE).assessment


@pytest.mark.parametrize(("verdicts", "median"), [
    ([(FULLY, NONE), (FULLY, MINOR), (PARTIAL, PARTIAL)], [FULLY, MINOR]),
    ([(FULLY, FULLY), RuntimeError("boom"), (PARTIAL, NONE)], [PARTIAL, NONE]),  # the stricter
])  # fmt: skip
def test_each_claim_gets_the_median_level(
    verdicts: list[Any], median: list[str]
) -> None:
    assessment = judged(*verdicts)
    assert (list(assessment.verdicts), assessment.unscored) == (median, None)
    assert [each.judge for each in assessment.panel] == [
        "scripted:1",
        "scripted:2",
        "scripted:3",
    ]
    assert Assessment.from_json(assessment.to_json()) == assessment


@pytest.mark.parametrize(("verdicts", "least", "says"), [
    ([(FULLY, MINOR), RuntimeError("boom")], 2, ["1 of 2 judges gave", "2 required"]),
    ([RuntimeError("boom"), JudgeError("slow", reason="timeout")], 1, ["boom", "slow"]),
])  # fmt: skip
def test_too_few_judges_make_no_score(
    verdicts: list[Any], least: int, says: list[str]
) -> None:
    assessment = judged(*verdicts, least=least)
    assert assessment.unscored is not None
    assert assessment.unscored.reason is Reason.JUDGE_ERROR
    assert all(part in assessment.unscored.detail for part in says)
    answered = [not isinstance(each, Exception) for each in verdicts]
    assert [
        bool(each.verdicts) for each in assessment.panel
    ] == answered  # what was paid for


def test_fused_votes_are_shares() -> None:
    panel = Panel(models((FULLY, MINOR), (FULLY, FULLY)), combine="fused")
    result = TCVA(judge=panel, penalty="off").evaluate(SAMPLE)
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
        panel = Panel(
            [ScriptedModel([], name="scripted:1"), ScriptedModel([answer], name="new")]
        )
        last = TCVA(judge=panel, store=store).evaluate(SAMPLE).assessment.panel[1]
        assert (last.unscored is None) is isinstance(answer, str)


def test_a_judge_that_computes_may_sit_in_and_says_what_the_sample_lacks() -> None:
    tcva = TCVA(judge=Panel([*models((FULLY, MINOR)), "lexical"]))
    assessment = tcva.evaluate(SAMPLE).assessment
    assert (assessment.judge, assessment.usage.calls) == (
        "panel(scripted:1, lexical/6)",
        1,
    )
    empty = tcva.evaluate(SAMPLE.model_copy(update={"response": ""}))
    assert empty.unscored is not None
    assert empty.unscored.reason is Reason.EMPTY_RESPONSE


def test_async_and_batches_are_the_same() -> None:
    def built() -> TCVA:
        return TCVA(judge=Panel(models((FULLY, MINOR), (PARTIAL, MINOR))))

    one = built().evaluate(SAMPLE)
    assert (
        asyncio.run(built().aevaluate(SAMPLE)).assessment.claims
        == one.assessment.claims
    )
    twin = SAMPLE.model_copy(update={"id": "twin"})
    both = built().evaluate_many([SAMPLE, twin])
    assert [r.score for r in both] == [one.score] * 2
    assert [r.assessment.panel[0].sample_id for r in both] == ["a", "twin"]
    assert sum(each.usage.calls for each in both) == 2
    assert (
        asyncio.run(built().judge.aassess(SAMPLE, built().criterion)).claims
        == one.claims
    )


def test_a_judge_of_other_claims_is_left_out() -> None:
    panel = Panel(models((FULLY, FULLY), (FULLY, FULLY)))
    other = Assessment.from_verdicts(["none"], judge="elsewhere")
    ours = panel.judges[0].assess(SAMPLE, TCVA().criterion)
    assert panel.combined([ours, other]).verdicts == ours.verdicts


@pytest.mark.parametrize(("judges", "options", "message"), [
    ("lexical", {}, "at least two judges, got 1"),
    (["lexical", "lexical"], {}, "must differ, got 'lexical/6' twice"),
    ([LLMJudge(ScriptedModel([]), claims="llm"), "lexical"], {}, "claims='llm' cannot be used"),
    (["lexical", "lexcial"], {}, "unknown judge 'lexcial'"),
    ([*models((FULLY, FULLY)), "lexical"], {"combine": "mode"}, "combine must .*got 'mode'"),
    ([*models((FULLY, FULLY)), "lexical"], {"least": 3}, "least must .*got 3"),
])  # fmt: skip
def test_a_bad_panel_fails_when_built(
    judges: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Panel(judges, **options)


def test_models_of_a_panel_are_asked_as_often_at_once_as_others() -> None:
    samples = [
        SAMPLE.model_copy(update={"id": f"{n}", "input": f"{n}?"}) for n in range(16)
    ]
    five = threading.Event()

    def together(*_: Any) -> str:
        if server.busiest >= 5:
            five.set()
        five.wait(20)  # so that it does not depend on how fast they come
        return reply(FULLY, MINOR)

    with ScriptedServer(later(0.05, together)) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_BASE_URL", server.base_url)
            settings = with_panel(
                ["lexical", "openai:m"], "median", {"max_concurrency": 5}
            )
        TCVA(share=False, **settings).evaluate_many(samples)
        assert server.busiest == 5


class Drawn(ScriptedModel):
    """Says another thing for each seed, as a model above temperature 0 does."""

    follows_sampling = True

    def __init__(
        self, *levels: str, name: str = "scripted:one", temperature: float = 0.0
    ) -> None:
        def said(request: JudgeRequest) -> str:
            return reply(
                FULLY,
                levels[(request.sampling or Sampling()).seed_offset % len(levels)],
            )

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
    warm = REPEAT_TEMPERATURE
    assert model.samplings == [
        Sampling(temperature=warm, seed_offset=n) for n in range(3)
    ]
    levels = [
        [verdict.value for verdict in each.verdicts]
        for each in result.assessment.repeats
    ]
    assert levels == [[FULLY, FULLY], [FULLY, NONE], [FULLY, PARTIAL]]
    third = 1 / 3
    assert result.claims[1].probabilities == (third, 0.0, third, 0.0, third)
    # At T = .5 the mean of weights 1 and 1, 0 or 0.5.
    assert [each.score for each in result.repeats] == [1.0, 0.5, 0.75]
    assert result.score == pytest.approx(0.75, abs=1e-9)
    assert "3 repeats score 0.500 to 1.000, 2 of them pass" in result.reason
    assert Result.from_json(result.to_json()).repeats == result.repeats
    awaited = TCVA(judge=Drawn(FULLY, NONE, PARTIAL), repeats=3, **options).aevaluate(
        SAMPLE
    )
    assert asyncio.run(awaited) == result


def test_equal_samples_share_repeats_and_repeats_share_nothing() -> None:
    model = Drawn(FULLY, NONE)
    twin = SAMPLE.model_copy(update={"id": "twin"})
    results = TCVA(judge=model, repeats=2).evaluate_many([SAMPLE, twin])
    assert len(model.requests) == sum(each.usage.calls for each in results) == 2
    assert results[0].score == results[1].score
    assert [each.sample_id for each in results[1].assessment.repeats] == [
        "twin",
        "twin",
    ]


def test_a_repeat_that_fails_is_left_out() -> None:
    # A model that follows no seed and no temperature is asked as it is.
    one_fails: list[Answer] = [
        reply(FULLY, FULLY),
        RuntimeError("boom"),
        reply(FULLY, NONE),
    ]
    tcva = TCVA(judge=ScriptedModel(one_fails), repeats=3, max_concurrency=1)
    assert "repeat_temperature" not in tcva.judge.parameters
    result = tcva.evaluate(SAMPLE)
    assert result.score is not None
    assert sorted(each.score is not None for each in result.repeats) == [
        False,
        True,
        True,
    ]
    none = TCVA(judge=ScriptedModel([RuntimeError("boom")] * 3), repeats=3).evaluate(
        SAMPLE
    )
    assert none.unscored is not None
    assert "0 of 3 repeats gave verdicts" in none.unscored.detail


def test_a_panel_is_asked_several_times() -> None:
    panel = Panel([Drawn(FULLY, NONE), "lexical"])
    result = TCVA(judge=panel, repeats=2).evaluate(SAMPLE)
    assert result.assessment.judge == "repeats(panel(scripted:one, lexical/6), 2)"
    assert [len(each.panel) for each in result.assessment.repeats] == [2, 2]
    alone = TCVA(judge=Panel([Drawn(FULLY), "lexical"])).evaluate(SAMPLE)
    assert result.repeats[0].score == alone.score


def test_fused_scores_are_made_of_what_was_said_the_same_time() -> None:
    first, second = Drawn(FULLY, NONE), Drawn(PARTIAL, FULLY, name="scripted:two")
    result = TCVA(judge=first, fuse=[second, "lexical"], repeats=2).evaluate(SAMPLE)
    assert len(second.requests) == 2
    for each, one, two in zip(
        result.repeats, (FULLY, NONE), (PARTIAL, FULLY), strict=True
    ):
        fuse = [Drawn(two, name="scripted:two"), "lexical"]
        assert each.score == TCVA(judge=Drawn(one), fuse=fuse).evaluate(SAMPLE).score


@pytest.mark.parametrize(("settings", "message"), [
    ({"judge": "lexical"}, "repeats=2 needs a model judge; lexical/6"),
    ({"judge": Drawn(FULLY), "claims": "llm"}, "claims='llm' cannot be used"),
    ({"judge": Drawn(FULLY), "repeats": 0}, "repeats must be at least 1, got 0"),
])  # fmt: skip
def test_what_cannot_be_repeated_is_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=message.replace("(", r"\(")):
        TCVA(**{"repeats": 2, **settings})
