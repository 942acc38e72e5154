"""The figures in a page make the scores that the library makes, and its texts are those judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment, Result, Sample
from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.panel import fuse
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.report import write
from tcva_adapters.report.content import Content, Run
from tcva_adapters.report.details import Draw
from tcva_adapters.report.figures import ABSENT, UNSCORED, figures_of
from tcva_adapters.results.assessment import ClaimVerdict, Reason, Unscored
from tcva_adapters.results.settings import ScoringConfig
from tests.report.blocks import blocks_of

GRID = [0.1, 0.35, 0.5, 0.77, 1.0]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"scheme": "linear", "penalty": "ramped", "threshold": 0.7},
    {"scheme": (1.0, 0.8, 0.5, 0.5, 0.1), "penalty": "off", "eps": 0.05, "floor": "always"},
    {"fuse_weights": (2.0, 1.0), "on_unscored": 0.25, "penalty": "absolute"},
    {"bounds": Bounds(-4.0, 4.0)},
]


def assessments(seed: int = 0, members: bool = True) -> list[Assessment]:
    """Of one judge or two, with levels and with probabilities, some unscored."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(60):
        words = rng.choice(LEVELS, rng.integers(1, 6)).tolist()
        one = Assessment.from_verdicts(words, sample_id=f"q{i}")
        if i % 7 == 1:
            soft = tuple(rng.dirichlet(np.ones(5)).tolist())
            claim = ClaimVerdict(claim="soft", verdict=words[0], probabilities=soft)
            one = one.model_copy(update={"claims": (*one.claims, claim)})
        if i % 11 == 3:
            reason = Reason.REFUSAL if i % 2 else Reason.TIMEOUT
            one = Assessment(
                criterion="faithfulness",
                judge="given",
                prompt_version="given",
                sample_id=f"q{i}",
                unscored=Unscored(reason=reason, detail="why"),
            )
        elif members:
            other = Assessment.from_verdicts(words[:1] if i % 5 else [], judge="second")
            one = one.model_copy(update={"members": (other,)})
        found.append(one)
    return found


def score_in(figures: dict[str, Any], place: int, temperature: float) -> float | None:
    """A sample's score from what stands in the page, by the formulas of the library."""
    (run,) = figures["runs"]
    setting, row = run["settings"], run["row"][place]
    if row < 0:
        failures = {sample: failed for sample, _, failed in run["unscored"]}
        return None if row == ABSENT or failures[place] else setting["on_unscored"]
    options = {name: setting[name] for name in ("penalty", "eps", "floor")}
    counts = [[0.0] * 5 if each is None else each for each in run["rows"][row]]
    scores = sweep(
        counts,
        [temperature],
        scheme=setting["weights"],
        bounds=Bounds(**setting["bounds"]),
        **options,
    )[:, 0]
    if len(scores) == 1:
        return float(scores[0])
    return float(fuse(scores[None], weights=setting["fuse_weights"]).scores[0])


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("members", [True, False])
def test_scores_can_be_made_of_the_page_to_the_last_bit(
    settings: dict[str, Any], members: bool, tmp_path: Path
) -> None:
    if not members and "fuse_weights" in settings:
        settings = {**settings, "fuse_weights": None}
    results = [Result(each, ScoringConfig(**settings)) for each in assessments(members=members)]
    write(results, tmp_path / "page.html")
    figures, details = blocks_of(tmp_path / "page.html")
    assert figures["samples"]["ids"] == [f"q{i}" for i in range(60)]
    for place, result in enumerate(results):
        for temperature in GRID:
            assert score_in(figures, place, temperature) == result.at(temperature).score
    (run,) = figures["runs"]
    scored = [result for result in results if result.unscored is None]
    assert len(run["rows"]) < len(scored) or members
    assert run["row"].count(UNSCORED) == len(run["unscored"]) == len(results) - len(scored)
    assert run["settings"]["temperature"] == results[0].scoring.temperature
    assert run["settings"]["threshold"] == results[0].scoring.threshold
    assert run["members"] == (["faithfulness by second"] if members else [])
    for line, result in zip(details, results, strict=True):
        judged = line["runs"][run["name"]]
        assert [claim["claim"] for claim in judged["claims"]] == [c.claim for c in result.claims]
        assert ("sure" in judged) is (result.interval is not None)


def test_a_named_scheme_is_named_and_another_is_not() -> None:
    for scheme, name in (("linear", "linear"), ((1, 0.75, 0.5, 0.25, 0.1), None)):
        scoring = ScoringConfig(scheme=scheme)
        judged = {"a": Assessment.from_verdicts(["fully"], sample_id="a")}
        content = Content("t", samples=[Sample(id="a")], runs=(Run("r", judged, scoring),))
        (run,) = figures_of(content, Draw.of(content, 1))["runs"]
        assert run["settings"]["scheme"] == name


def test_a_sample_that_a_run_lacks_is_absent_there(tmp_path: Path) -> None:
    first, second = assessments(), assessments(seed=1)[5:]
    write({"before": first, "after": second}, tmp_path / "page.html")
    figures, details = blocks_of(tmp_path / "page.html")
    assert [run["name"] for run in figures["runs"]] == ["before", "after"]
    assert figures["runs"][1]["row"][:5] == [ABSENT] * 5
    assert ABSENT not in figures["runs"][0]["row"]
    assert list(details[0]["runs"]) == ["before"]
    assert list(details[5]["runs"]) == ["before", "after"]


def test_groups_are_fields_with_a_few_values(tmp_path: Path) -> None:
    def metadata(i: int) -> dict[str, Any]:
        return {"part": i % 3, "even": i % 2 == 0, "same": "x", "own": i, "human": (i % 5) / 4}

    judged = [
        each.model_copy(update={"metadata": metadata(i)}) for i, each in enumerate(assessments())
    ]
    write(judged, tmp_path / "page.html")
    samples = blocks_of(tmp_path / "page.html")[0]["samples"]
    assert list(samples["groups"]) == ["part", "even"]
    assert samples["groups"]["part"][:4] == ["0", "1", "2", "0"]
    assert samples["human_name"] == "human"
    assert samples["human"][:3] == [0.0, 0.25, 0.5]
    assert samples["human_scale"] == [0.0, 1.0]
