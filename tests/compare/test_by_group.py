"""What is printed by group: copies of a sample in its group tell nothing new."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tcva_adapters import TCVA, Assessment, Panel, Sample
from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.ccrs.summary import summarise_ccrs
from tcva_adapters.compare import Evaluation, panel_report, panel_worth, rated_ccrs
from tcva_adapters.compare.agreement import alpha_text
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.printing import Report
from tcva_adapters.results.settings import ScoringConfig

COPIES = 4
GROUPS = 40
RNG = np.random.default_rng(5)
COUNTS: FloatArray = RNG.multinomial(6, [0.3, 0.2, 0.2, 0.1, 0.2], size=GROUPS).astype(float)
HUMAN: FloatArray = COUNTS @ [1, 0.9, 0.7, 0.3, 0] / 6 + RNG.normal(0, 0.2, GROUPS)
OF = np.repeat(np.arange(GROUPS), COPIES)
NOTE = "40 groups of samples, the largest with 4 of 160"


def printed(report: Report) -> str:
    return " ".join("\n".join(map(str, report.parts())).split())


def panel(n: int) -> list[Assessment]:
    """Three judges, one of them mostly right, and their median."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 5, n)
    errors = np.column_stack([rng.integers(-1, 2, n), rng.integers(-2, 3, (n, 2))])
    found = []
    for number, levels in enumerate(np.clip(truth[:, None] + errors, 0, 4)):
        members = tuple(
            Assessment.from_verdicts([LEVELS[level]], judge=f"judge {place}")
            for place, level in enumerate(levels.tolist())
        )
        whole = Assessment.from_verdicts([LEVELS[int(np.median(levels))]], judge="panel")
        ratings = {"true": 4.0 - truth[number], "median": 4.0 - np.median(levels)}
        about = {"panel": members, "sample_id": f"s{number}", "metadata": ratings}
        found.append(whole.model_copy(update=about))
    return found


def test_a_panel_is_worth_something_to_other_groups() -> None:
    judged = panel(GROUPS)
    copies, groups = [judged[i] for i in OF], OF.tolist()
    human = [each.metadata["true"] for each in copies]
    worth = panel_worth(copies, human=human, scoring=ScoringConfig(temperature=0.5), groups=groups)
    assert worth.best is not None
    best = worth.best
    assert best.difference.clusters == GROUPS
    assert "on 160 samples of 40 groups" in best.sentence
    alone = panel_worth(judged, human=human[::COPIES], scoring=ScoringConfig(temperature=0.5)).best
    assert alone is not None
    assert best.difference.low <= alone.difference.low
    told = json.loads(json.dumps(worth.to_dict()))["best_judge"]
    assert told["difference"]["clusters"] == GROUPS
    assert best.would_do
    assert f"a true difference of {told['smallest']:.3f}" in best.sentence


def test_a_panel_ahead_of_its_best_judge_on_few_groups_is_not_told_from_chance() -> None:
    judged = panel(GROUPS)
    human = [each.metadata["median"] for each in judged]
    few = panel_worth(
        judged,
        human=human,
        scoring=ScoringConfig(temperature=0.5),
        groups=[i % 3 for i in range(GROUPS)],
    )
    assert few.best is not None
    assert few.best.difference.delta > 0.0
    assert few.best.difference.reason == "3 groups: an interval needs 10"
    assert few.best.would_do is None
    assert "whether it would do alone cannot be told" in few.best.sentence
    assert few.to_dict()["best_judge"]["would_do"] is None


def test_a_panel_agrees_on_other_groups() -> None:
    judged = panel(GROUPS)
    found = panel_report([judged[i] for i in OF], groups=OF.tolist())
    once = panel_report(judged)
    # Alpha knows that levels are as many as there are: copies move it by less than one in n.
    assert found.agreement.alpha.low == pytest.approx(once.agreement.alpha.low, abs=0.01)
    assert found.agreement.alpha.clusters == found.to_dict()["agreement"]["groups"] == GROUPS
    assert "the samples are of 40 groups" in printed(found)
    few = panel_report([judged[i] for i in OF], groups=[i % 3 for i in OF.tolist()])
    assert alpha_text(few.agreement.alpha).count("[") == 0
    assert "no interval of alpha: 3 groups" in printed(few)


def ratings() -> list[CCRSResult]:
    rated = (100 * np.clip(HUMAN + RNG.normal(0, 0.1, GROUPS), 0, 1)).round()
    return [
        CCRSResult(
            judge="j",
            prompt_version="1",
            answers={"cc": MetricAnswer(rating=rated[group])},
            sample_id=f"s{number}",
            metadata={"rating": float(HUMAN[group]), "document": int(group)},
        )
        for number, group in enumerate(OF)
    ]


def test_direct_metrics_agree_on_other_groups() -> None:
    every = ratings()
    found = rated_ccrs(summarise_ccrs(every), "rating", "document")
    once = rated_ccrs(summarise_ccrs(every[::COPIES]), "rating")
    for measure, (one,) in once.agreements.items():
        (other,) = found.agreements[measure]
        assert (other.n, other.clusters) == (GROUPS * COPIES, GROUPS)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-3), measure
    assert np.isnan(found.p_holm).all()
    said = printed(found)
    assert NOTE in said
    assert "a single correlation has no p by groups" in said
    assert found.to_dict()["human"]["groups"] == NOTE


def test_the_panel_of_an_evaluation_is_by_group() -> None:
    class Strict(LexicalJudge):
        name = "strict"

    tcva = TCVA(judge=Panel(["lexical", Strict()]))
    samples = [
        Sample(
            id=f"s{i}",
            response=f"The office opens at {hour}.",
            contexts=("The office opens at nine.",),
            metadata={"document": i // 4, "human": float(hour == "nine")},
        )
        for i, hour in enumerate(RNG.choice(["nine", "ten"], 96).tolist())
    ]
    results = tcva.evaluate_many(samples, progress=False)
    found = Evaluation.of(tcva, results, group="document", human="human").panel()
    assert found.agreement.groups == 24
    assert found.worth.best is not None
    assert found.worth.best.difference.clusters == 24
    alone = Evaluation.of(tcva, results, human="human").panel()
    assert alone.agreement.groups is None
    with pytest.raises(InvalidSampleError, match="belongs to no group"):
        Evaluation.of(tcva, results, group="user").panel()
