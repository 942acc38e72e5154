"""Ratings from metadata, a choice for each part of a suite, and the file that is written."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import TCVA, Config, sweep
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.candidates import Grid
from tcva_adapters.compare.calibration.nested import Resampling
from tcva_adapters.compare.calibration.search import Search
from tcva_adapters.compare.calibration.suite import calibrate_profiles
from tcva_adapters.compare.judged import Judged
from tcva_adapters.compare.ratings import human_ratings, metadata_values, parse_rating
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.checks import FloatArray

QUICK: dict[str, Any] = {"repeats": 3, "n_boot": 200}
SEARCH = Search(
    "spearman", Grid(), Resampling(5, 3, 200, 0.95, 0), (0.0, 1.0), None, ScoringConfig()
)


def suite() -> tuple[FloatArray, FloatArray, list[str | None]]:
    """Medical answers with ratings that follow T=0.5, creative ones that follow T=1, five others."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(4, [0.4, 0.2, 0.2, 0.2, 0.0], size=165).astype(float)
    both = sweep(counts, [0.5, 1.0])
    human = np.where(np.arange(165) < 80, both[:, 0], both[:, 1])
    parts: list[str | None] = ["medical"] * 80 + ["creative"] * 80 + ["chat"] * 4 + [None]
    return counts, human, parts


def test_each_part_has_its_own_answer() -> None:
    counts, human, parts = suite()
    found = calibrate_profiles(SEARCH, counts[:, None], human, parts)
    assert list(found) == ["medical", "creative", "chat"]
    assert found["medical"].recommendation == "no detectable difference: keep 0.5"
    creative = found["creative"].calibration
    assert creative is not None
    assert creative.detectable
    assert creative.chosen.temperature > 0.8
    # Two parts are large enough, and they share the 5 % that may go wrong.
    assert creative.gain.level == pytest.approx(0.975)
    assert found["chat"].calibration is None
    assert found["chat"].recommendation == "4 ratings, fewer than 30: keep T=0.5"
    assert found["chat"].to_dict()["n"] == 4


def test_a_part_whose_labels_are_all_the_same_keeps_the_baseline() -> None:
    counts, human, parts = suite()
    human[:80] = 1.0
    kept = replace(SEARCH, baseline=ScoringConfig(temperature=0.7))
    found = calibrate_profiles(kept, counts[:, None], human, parts)
    assert found["medical"].recommendation.startswith("all 80 human ratings are 1")
    assert found["medical"].recommendation.endswith("keep T=0.7")


def test_groups_follow_their_parts() -> None:
    counts, human, parts = suite()
    groups = [i // 2 for i in range(165)]
    found = calibrate_profiles(SEARCH, counts[:, None], human, parts, groups)
    plain = calibrate_profiles(SEARCH, counts[:, None], human, parts)
    one, other = found["creative"].calibration, plain["creative"].calibration
    assert one is not None
    assert other is not None
    assert one.gain != other.gain


def test_no_part_at_all_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="no sample belongs to a part"):
        calibrate_profiles(SEARCH, np.ones((3, 1, 5)), np.ones(3), [None] * 3)


def test_the_file_holds_what_is_detectable_and_says_where_it_comes_from(tmp_path: Path) -> None:
    counts, human, parts = suite()
    found = calibrate(counts[:80], human[:80], **QUICK)
    search = replace(SEARCH, baseline=found.recommended)
    profiles = calibrate_profiles(search, counts[:, None], human, parts)
    judged = replace(Judged.of(counts), criterion="faithfulness", judge="given")
    found = replace(found, judged=judged, human="h", by="domain", profiles=profiles)
    config = found.config()
    path = tmp_path / "tcva.json"
    found.save(path)
    assert Config.load(path) == config
    assert config.settings["temperature"] == 0.5
    assert "threshold" not in config.settings  # rank correlations say nothing about it
    assert config.profiles is not None
    assert list(config.profiles["domain"]) == ["creative"]
    assert config.provenance is not None
    assert config.provenance["human"] == "h"
    assert config.provenance["profiles"]["chat"]["detectable"] is False
    assert config.provenance["gain"]["level"] == 0.95

    tcva = TCVA.from_config(path)
    assert tcva.scoring.temperature == 0.5
    assert tcva.criterion.name == "faithfulness"


def test_decisions_bring_their_threshold() -> None:
    counts, human, _ = suite()
    decided = calibrate(counts, human, objective="kappa", human_threshold=0.9, **QUICK)
    assert decided.config().settings["threshold"] == 0.5


def test_labels_are_numbers_or_words() -> None:
    values = [1, 0.25, "4.5", True, False, "pass", " FAIL ", "yes", "no", "true", "false"]
    assert [parse_rating(v) for v in values] == [1, 0.25, 4.5, 1, 0, 1, 0, 1, 0, 1, 0]
    assert all(math.isnan(parse_rating(v)) for v in (None, "", " ", "n/a", math.nan, "NaN"))
    for wrong in ("good", math.inf, [1], "1,5"):
        with pytest.raises(InvalidValueError, match="is no rating"):
            parse_rating(wrong)


def test_labels_of_metadata() -> None:
    some: list[dict[str, Any]] = [{"score": "pass"}, {}, {"score": 0}]
    np.testing.assert_array_equal(human_ratings(some, "score"), [1.0, np.nan, 0.0])
    assert list(metadata_values(some, "score")) == ["pass", None, 0]
    with pytest.raises(InvalidValueError, match="no assessment has 'h' in its metadata; the keys"):
        human_ratings(some, "h")
    with pytest.raises(InvalidValueError, match="there is no metadata"):
        human_ratings([{}], "h")
    with pytest.raises(InvalidValueError, match="assessment 2, metadata 'a': 'good' is no rating"):
        human_ratings([{"a": 1}, {"a": "good"}], "a")
