"""The table that every comparison is made of."""

from __future__ import annotations

import numpy as np
import pytest

from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.core.aggregation import aggregate
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig

NAN = float("nan")
RESULTS = [Result(Assessment.from_verdicts(v)) for v in (["fully"], ["none"], ["minor"])]


def table() -> ScoreTable:
    return ScoreTable(
        ("a", "b", "c"),
        ("tcva", "native"),
        np.array([[0.9, NAN], [0.1, 0.5], [0.3, 1.0]]),
        np.array([[1.0, NAN], [0.0, 0.5], [NAN, NAN]]),
        groups=("x", "x", "y"),
        counts=np.array([[[2, 0, 0, 0, 1]], [[0, 0, 0, 0, 0]], [[1, 1, 1, 1, 0]]], dtype=float),
        thresholds={"native": 0.8},
        reasons={("a", "native"): "timeout"},
        metadata=({"n": 1}, {"n": 2}, {"n": 3}),
        results={"tcva": RESULTS},
        notes=("one line is left out",),
    )


def test_a_rating_is_the_mean_of_those_who_rated() -> None:
    np.testing.assert_array_equal(table().rating, [1.0, 0.25, NAN])
    assert table().rated.samples == ("a", "b")
    assert ScoreTable(("a",), (), np.empty((1, 0))).human.shape == (1, 0)


def test_rows_and_methods_are_selected_with_all_that_belongs_to_them() -> None:
    found = table().select([2, 0], ["native"])
    assert (found.samples, found.methods, found.groups) == (("c", "a"), ("native",), ("y", "x"))
    np.testing.assert_array_equal(found.scores, [[1.0], [NAN]])
    assert [m["n"] for m in found.metadata] == [3, 1]
    assert found.results["tcva"] == (RESULTS[2], RESULTS[0])
    assert found.reason("a", "native") == "timeout"
    assert found.reason("c", "native") == "no result"
    assert (found.threshold("native"), found.threshold("tcva")) == (0.8, 0.5)
    assert table().common().samples == ("b", "c")
    assert table().common(["tcva"]).samples == ("a", "b", "c")


def test_scores_at_another_temperature_come_from_the_counts() -> None:
    # Two fully and one none, by the function for one sample; no verdicts, no score.
    verdicts = ["fully", "fully", "none"]
    for temperature in (0.1, 0.7):
        scores = table().at(temperature)
        assert scores[0] == pytest.approx(aggregate(verdicts, temperature), abs=1e-12)
        assert np.isnan(scores[1])
    linear = table().at(ScoringConfig(temperature=0.7, scheme="linear"))
    assert linear[0] == pytest.approx(aggregate(verdicts, 0.7, scheme="linear"), abs=1e-12)
    more = table().with_method("tcva T=0.7", table().at(0.7), 0.6)
    assert more.methods[-1] == "tcva T=0.7"
    assert more.threshold("tcva T=0.7") == 0.6


def test_tables_are_joined_by_the_ids_of_samples() -> None:
    other = ScoreTable(
        ("c", "a", "z"), ("ragas",), np.array([[0.7], [0.2], [0.1]]), reasons={("z", "ragas"): "x"}
    )
    found = table().joined(other)
    np.testing.assert_array_equal(found.column("ragas"), [0.2, NAN, 0.7])
    assert found.groups == table().groups
    assert ("z", "ragas") not in found.reasons
    assert found.notes[1:] == (
        "1 sample has no row of ragas",
        "1 sample of ragas is not among these, and left out",
    )
    rated = ScoreTable(("a", "c"), (), np.empty((2, 0)), np.array([0.5, 0.25]))
    bare = ScoreTable(("c", "a"), ("m",), np.zeros((2, 1))).joined(rated)
    np.testing.assert_array_equal(bare.rating, [0.25, 0.5])
    with pytest.raises(InvalidValueError, match="'a'"):
        table().joined(ScoreTable(("q",), ("m",), np.zeros((1, 1))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": ("a", "a", "b")}, "the sample 'a' occurs twice"),
        ({"scores": np.zeros((3, 1))}, r"scores have the shape \(3, 1\)"),
        ({"groups": ("x",)}, "1 groups for 3 samples"),
        ({"results": {"tcva": RESULTS[:2]}}, "2 tcva for 3 samples"),
        ({"counts": np.zeros((2, 1, 5))}, "level counts have the shape"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        ScoreTable(**{**vars(table()), **change})
    with pytest.raises(InvalidValueError, match=r"'other'.*tcva, native"):
        table().column("other")
    with pytest.raises(InvalidValueError):
        ScoreTable(("a",), ("m",), np.zeros((1, 1))).at(0.5)
