"""What stands in the figures is what the library computes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch

from tcva_adapters import plots
from tcva_adapters.compare import compare_systems, sweep
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.views.human_ratings import compare_with_ratings
from tcva_adapters.core.aggregation import aggregate
from tcva_adapters.core.aggregation import sweep as sweep_counts
from tcva_adapters.core.flip import flip_temperature
from tcva_adapters.core.temperature import Bounds, exponent
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.plots.sources import Dial
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result, ScoringConfig
from tcva_adapters.stats.means import mean_intervals, share_interval
from tcva_adapters.stats.metric_correlation import correlation_matrix
from tests.compare.test_systems import table as systems_table
from tests.plots.examples import MANY, axes_of, counts, line, rated_comparison

ONE: dict[str, Any] = {"abs": 1e-12}
RNG = np.random.default_rng(1)
SCORES = {"tcva": RNG.random(80).round(1), "theirs": RNG.random(80).round(1)}
draw_any: Any = plots  # what callers without a type checker pass
HUMAN = np.clip(SCORES["tcva"] + RNG.normal(0, 0.2, 80), 0, 1).round(2)
for _column in (SCORES["tcva"], SCORES["theirs"], HUMAN):
    _column[RNG.integers(0, 80, 6)] = np.nan


def bars(figure: Figure) -> list[Rectangle]:
    return [patch for patch in axes_of(figure).patches if isinstance(patch, Rectangle)]


def band(figure: Figure, number: int) -> np.ndarray[Any, Any]:
    """Corners of a filled band, shape (K, 2)."""
    vertices = axes_of(figure).collections[number].get_paths()[0].vertices
    return np.asarray(vertices)


def test_the_sweep_curve_has_means_pass_rates_and_intervals() -> None:
    table = counts(60)
    scoring = ScoringConfig(threshold=0.6, scheme="linear", penalty="off")
    figure = plots.sweep_curve(table, scoring=scoring, level=0.9)
    for name, place in (("mean", 0), ("share ≥ 0.6", 1)):
        grid, heights = line(axes_of(figure), name).T
        assert {0.1, 0.5, 0.9, 1.0} <= set(grid.tolist())
        scores = sweep_counts(table, grid.tolist(), scheme="linear", penalty="off")
        known = scores[np.isfinite(scores[:, 0])]
        if place == 0:
            expected, low, high = mean_intervals(scores, level=0.9)
        else:
            passed = (known >= 0.6).sum(axis=0)
            expected = passed / len(known)
            low, high = np.array([share_interval(int(k), len(known), level=0.9) for k in passed]).T
        assert heights == pytest.approx(expected, **ONE)
        corners = {(x, y) for x, y in band(figure, place).round(12).tolist()}
        for x, *ends in zip(grid.round(12), low.round(12), high.round(12), strict=True):
            assert {(x, ends[0]), (x, ends[1])} <= corners


def test_the_cliff_is_marked_where_a_none_can_fall() -> None:
    with_none = axes_of(plots.sweep_curve([[2, 0, 0, 0, 1], [1, 0, 0, 0, 0]]))
    (place,) = {x for x, _ in line(with_none, "cliff, T = 0.456")}
    assert exponent(place) == pytest.approx(0.0, **ONE)
    without = axes_of(plots.sweep_curve([[2, 0, 0, 1, 0], [1, 0, 0, 0, 0]]))
    assert len(without.lines) == 2
    high = ScoringConfig(bounds=Bounds(p_min=1.0, p_max=2.0))
    assert len(axes_of(plots.sweep_curve([[1, 0, 0, 0, 1]] * 2, scoring=high)).lines) == 2


def test_a_sweep_has_a_curve_for_each_row() -> None:
    swept = sweep(counts(40), [0.1, 0.5, 0.9], schemes=["default", "linear"])
    axes = axes_of(plots.sweep_curve(swept))
    for row in swept.rows:
        assert line(axes, row.name).T[1] == pytest.approx(row.means, **ONE)
    both = axes_of(plots.sweep_curve(swept, show="both", scoring=ScoringConfig(threshold=0.7)))
    passed = np.nanmean(
        np.where(np.isnan(swept.rows[1].scores), np.nan, swept.rows[1].scores >= 0.7), axis=0
    )
    assert line(both, "linear: share ≥ 0.7").T[1] == pytest.approx(passed, **ONE)
    several = sweep(counts(40), [0.1, 0.9], penalties=["paper", "off"])
    assert line(axes_of(plots.sweep_curve(several)), "default, off").shape == (2, 2)
    ablation = sweep(counts(40), [0.1, 0.9], ablation=True)
    assert line(axes_of(plots.sweep_curve(ablation)), "D binary").shape == (2, 2)


def test_results_bring_their_settings() -> None:
    scoring = ScoringConfig(threshold=0.8, penalty="off")
    results = [
        Result(Assessment.from_verdicts(verdicts), scoring)
        for verdicts in (["fully", "none"], ["fully", "minor"], ["fully"])
    ]
    axes = axes_of(plots.sweep_curve(iter(results), temperatures=[0.5, "lenient"]))
    expected = [[r.at(t).score or 0.0 for t in (0.5, 0.9)] for r in results]
    assert line(axes, "mean").T[1] == pytest.approx(np.mean(expected, axis=0), **ONE)
    assert line(axes, "share ≥ 0.8").shape == (2, 2)
    mixed = [*results, results[0].at(0.5, threshold=0.2)]
    with pytest.raises(InvalidValueError, match="2 different settings"):
        plots.sweep_curve(mixed)
    assert plots.sweep_curve(mixed, scoring=scoring)


def test_flips_are_those_of_the_core() -> None:
    table = counts(150)
    expected = [
        math.nan
        if not row.any()
        else math.inf
        if (flip := flip_temperature(row, 0.5)) is None
        else flip
        for row in table
    ]
    assert np.array_equal(Dial.of(table).flips(), expected, equal_nan=True)
    figure = plots.flips(table, bins=9)
    heights = [bar.get_height() for bar in bars(figure)]
    found = np.array(expected)
    between = found[(found > 0.1) & (found <= 1.0)]
    assert heights[:9] == np.histogram(between, np.linspace(0.1, 1.0, 10))[0].tolist()
    assert heights[9:] == [(found == 0.1).sum(), np.isinf(found).sum(), np.isnan(found).sum()]
    assert sum(heights) == len(table)


def test_flips_of_results_are_their_own() -> None:
    found = rated_comparison()
    own = [result.flip_temperature for result in found.results]
    flips = Dial.of(found).flips()
    for result, mine, drawn in zip(found.results, own, flips.tolist(), strict=True):
        if result.unscored is not None:
            assert math.isnan(drawn)
        else:
            assert drawn == (math.inf if mine is None else mine)


def test_decisions_are_those_of_the_comparison() -> None:
    found = rated_comparison()
    for method in ("ragas faithfulness", "llamaindex faithfulness"):
        (view,) = [each for each in found.decisions.methods if each.method == method]
        steps = [
            p for p in axes_of(plots.decisions(found, method)).patches if isinstance(p, StepPatch)
        ]
        for at in view.at:
            heights = []
            for step in steps:
                values, edges, _ = step.get_data()
                place = int(np.searchsorted(np.asarray(edges), at.temperature, side="right")) - 1
                heights.append(np.asarray(values)[min(place, len(values) - 1)])
            assert heights == [len(at.only_ours), -len(at.only_theirs)]
    assert view.best is not None
    said = f"most agreement: {view.best.most} of {view.best.of}, T = {view.best.temperature:.2f}"
    axes = axes_of(plots.decisions(found.decisions, method))
    assert line(axes, said)[0, 0] == view.best.temperature
    assert plots.decisions(view)


def test_a_scatter_has_every_sample_once() -> None:
    figure = plots.scatter(SCORES, human=HUMAN)
    axes = axes_of(figure)
    drawn = [c for c in axes.collections if isinstance(c, PathCollection)]
    both = np.isfinite(SCORES["tcva"]) & np.isfinite(SCORES["theirs"])
    pairs = np.stack([SCORES["theirs"], SCORES["tcva"]], axis=1)[both]
    expected: dict[tuple[float, float], list[float]] = {}
    for (x, y), human in zip(pairs.tolist(), HUMAN[both].tolist(), strict=True):
        expected.setdefault((x, y), []).append(human)
    seen = {}
    for marks in drawn:
        colours = marks.get_array()
        for i, (x, y) in enumerate(np.asarray(marks.get_offsets()).tolist()):
            count = marks.get_sizes()[i % len(marks.get_sizes())] / 14
            seen[x, y] = (count, math.nan if colours is None else float(colours[i]))
    assert set(seen) == set(expected)
    for place, ratings in expected.items():
        known = [rating for rating in ratings if math.isfinite(rating)]
        mean = sum(known) / len(known) if known else math.nan
        assert seen[place] == pytest.approx((len(ratings), mean), nan_ok=True, **ONE)
    above, beside = (child for child in axes.child_axes[:2])
    assert sum(bar.get_height() for bar in above.patches) == both.sum()  # type: ignore[attr-defined]  # bars
    assert sum(bar.get_width() for bar in beside.patches) == both.sum()  # type: ignore[attr-defined]  # bars


def test_a_scatter_of_a_comparison_has_the_middle_temperature_upwards() -> None:
    axes = axes_of(plots.scatter(rated_comparison()))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ragas faithfulness", "tcva T=0.5")
    axes = axes_of(plots.scatter(rated_comparison(), "llamaindex faithfulness", "tcva T=0.9"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("llamaindex faithfulness", "tcva T=0.9")


def test_a_scatter_reaches_as_far_as_its_scores() -> None:
    stars = {"tcva": [0.1, 0.5, 0.9], "stars": [1.0, 2.0, 4.5]}
    assert axes_of(plots.scatter(stars)).get_xlim()[1] > 4.5


@pytest.mark.parametrize("measure", ["spearman", "kendall", "pearson"])
def test_agreement_is_that_of_the_summary_the_best_first(measure: Any) -> None:
    found = rated_comparison()
    ratings = found.summary.human_ratings
    assert ratings is not None
    for source in (found, found.summary, ratings):
        axes = axes_of(plots.agreement(source, measure=measure))
        points = [one.get_xydata()[0, 0] for one in axes.lines[1::2]]  # type: ignore[index]  # arrays
        ends = [np.asarray(one.get_xdata()) for one in axes.lines[0:-1:2]]
        expected = {a.method: a.own for a in ratings.agreements if a.measure == measure}
        names = [t.get_text().replace("\n", " ") for t in axes.get_yticklabels()]
        assert len(names) == len(expected) == 8
        values = [one.value for one in expected.values()]
        known = sorted((v for v in values if not math.isnan(v)), reverse=True)
        assert points[: len(known)] == pytest.approx(known, **ONE)
        first = next(one for one in expected.values() if one.value == known[0])
        assert ends[0].tolist() == pytest.approx([first.low, first.high], **ONE)
        assert f"(n={first.n})" in names[0]


def test_agreement_of_bare_scores() -> None:
    axes = axes_of(plots.agreement(SCORES, human=HUMAN, measure="mae", n_boot=100, seed=3))
    table = ScoreTable(
        tuple(map(str, range(80))),
        ("tcva", "theirs"),
        np.stack(list(SCORES.values()), axis=1),
        HUMAN,
    )
    expected = compare_with_ratings(table, measures=["mae"], n_boot=100, seed=3).agreements
    best = min(expected, key=lambda one: one.own.value)
    assert np.asarray(axes.lines[0].get_xdata()).tolist() == pytest.approx(
        [best.own.low, best.own.high], **ONE
    )


def test_reliability_has_a_mark_for_each_bin() -> None:
    figure = plots.reliability(SCORES, "theirs", human=HUMAN, pass_from=0.4, bins=4, level=0.8)
    both = np.isfinite(SCORES["theirs"]) & np.isfinite(HUMAN)
    scores, passed = SCORES["theirs"][both], HUMAN[both] >= 0.4
    points = np.asarray(axes_of(figure).lines[1].get_xydata())
    (stems,) = [c for c in axes_of(figure).collections if isinstance(c, LineCollection)]
    place = np.minimum((scores * 4 + 1e-12).astype(int), 3)
    assert len(points) == 4
    for i, (x, y) in enumerate(points.tolist()):
        here = place == i
        assert (x, y) == pytest.approx((scores[here].mean(), passed[here].mean()), **ONE)
        ends = stems.get_segments()[i][:, 1].tolist()
        assert ends == pytest.approx(
            share_interval(int(passed[here].sum()), int(here.sum()), level=0.8), **ONE
        )
    bars_above = axes_of(figure).child_axes[0].patches
    assert [b.get_height() for b in bars_above] == np.bincount(place).tolist()  # type: ignore[attr-defined]  # bars


@pytest.mark.slow
def test_histograms_are_those_of_the_summary() -> None:
    found = rated_comparison()
    figure = plots.histograms(found)
    *methods, human = figure.axes[: 1 + len(found.table.methods)]  # the others are empty
    for axes, one in zip(methods, found.summary.methods, strict=True):
        heights = [bar.get_height() for bar in axes.patches]  # type: ignore[attr-defined]  # bars
        assert heights == list(one.histogram)
        assert axes.lines[0].get_xdata()[0] == pytest.approx(one.mean, **ONE)  # type: ignore[index]  # an array
    assert human.get_title("left").startswith("human ratings")
    ratings = np.asarray(found.table.human)
    expected = np.histogram(ratings[np.isfinite(ratings)], np.linspace(0, 1, 11))[0]
    assert [bar.get_height() for bar in human.patches] == expected.tolist()  # type: ignore[attr-defined]  # bars
    alone = plots.histograms(found, ["deepeval faithfulness"])
    assert len(alone.axes) == 1


def test_histograms_of_systems_are_of_their_mean_by_query() -> None:
    table = systems_table(n=20)
    table.scores[0, 3, 1] = np.nan  # one system has no answer to this query
    report = compare_systems(table, permutations=20)
    figure = plots.histograms(report)
    assert len(figure.axes) == len(table.metrics)
    for axes, scores in zip(figure.axes, table.scores, strict=True):
        means = [sum(row) / len(row) for row in scores.tolist() if not any(map(math.isnan, row))]
        expected = np.histogram(means, np.linspace(0, 1, 11))[0]
        assert [bar.get_height() for bar in axes.patches] == expected.tolist()  # type: ignore[attr-defined]  # bars


def test_bare_scores_have_a_panel_and_a_row_of_ratings_too() -> None:
    assert len(plots.histograms(SCORES, human=HUMAN).axes) == 3
    labels = axes_of(plots.correlations(SCORES, human=HUMAN)).get_yticklabels()
    assert [each.get_text() for each in labels] == ["tcva", "theirs", "human ratings"]


def test_the_heat_map_has_the_correlations() -> None:
    found = rated_comparison()
    columns = np.column_stack([found.table.scores, np.asarray(found.table.human)])
    expected = correlation_matrix("spearman", columns).values
    axes = axes_of(plots.correlations(found))
    drawn: Any = np.ma.filled(np.ma.asarray(axes.collections[0].get_array()), np.nan)
    assert np.allclose(drawn.reshape(9, 9), expected, atol=1e-12, equal_nan=True)
    assert axes.get_yticklabels()[-1].get_text() == "human ratings"
    wanted = ["ragas faithfulness", "tcva T=0.1"]
    axes = axes_of(plots.correlations(found, methods=wanted, measure="pearson"))
    places = [found.table.methods.index(name) for name in wanted]
    value = correlation_matrix("pearson", found.table.scores).values[places[0], places[1]]
    assert f"{value:.2f}".lstrip("0") in [text.get_text() for text in axes.texts]
    # Hatched: negative ones, and those that are not defined.
    named: dict[str, Any] = {
        "up": [0.1, 0.2, 0.3],
        "down": [0.3, 0.2, 0.1],
        "flat": [0.5, 0.5, 0.5],
    }
    hatches = [patch.get_hatch() for patch in axes_of(plots.correlations(named)).patches]
    assert sorted(hatches) == ["///"] * 2 + ["xxxx"] * 5


def test_the_exponent_curve_is_the_papers() -> None:
    axes = axes_of(plots.exponent_curve([["fully", "mostly", "partial"]]))
    exponents, heights = line(axes, "fully, mostly, partial").T
    # Table 3 of the paper.
    for p, value in ((-5, 0.809), (-2, 0.838), (0, 0.857), (1, 0.867), (5, 0.899), (10, 0.925)):
        assert np.interp(p, exponents, heights) == pytest.approx(value, abs=6e-4)
    lists: dict[str, Any] = {"a": ["fully", "none"], "b": [3, 0, 1, 0, 1]}
    axes = axes_of(plots.exponent_curve(lists, scheme="linear", penalty="paper", floor="always"))
    where = (0.1, 0.5, 1.0)
    for name, verdicts in (("a", ["fully", "none"]), ("b", ["fully"] * 3 + ["partial", "none"])):
        exponents, heights = line(axes, name).T
        for t in where:
            place = int(np.argmin(np.abs(exponents - exponent(t))))
            expected = aggregate(verdicts, t, scheme="linear", floor="always")
            assert heights[place] == pytest.approx(expected, **ONE)
    assert line(axes, "cliff, p = 0")[0, 0] == 0.0


def test_systems_have_asl_curves_and_boxes_with_means() -> None:
    report = compare_systems(systems_table(n=20), permutations=50)
    axes = axes_of(plots.significance(report))
    for one, drawn in zip(report.figures, axes.lines, strict=False):
        assert np.asarray(drawn.get_ydata()) == pytest.approx(one.asl[::-1], **ONE)
        assert drawn.get_label() == f"{one.metric} ({one.discrimination.power:.2f})"
    figure = plots.boxes(report, "f T=0.9")
    means, low, high = mean_intervals(report.table.metric("f T=0.9"))
    (marks,) = [one for one in axes_of(figure).lines if one.get_marker() == "D"]
    assert np.asarray(marks.get_ydata()) == pytest.approx(means, **ONE)
    (stems,) = [c for c in axes_of(figure).collections if isinstance(c, LineCollection)]
    ends = np.array([segment[:, 1] for segment in stems.get_segments()])
    assert ends == pytest.approx(np.stack([low, high], axis=1), **ONE)
    cells = axes_of(plots.correlations(report, measure="kendall")).collections[0].get_array()
    assert np.asarray(cells).reshape(3, 3) == pytest.approx(
        report.averaged["kendall"].values, **ONE
    )


def test_axes_of_the_caller_are_drawn_into() -> None:
    figure = Figure(figsize=(9, 6))
    parts: Any = figure.subfigures(1, 2)
    axes = parts[0].subplots(2, 2).ravel()
    assert plots.sweep_curve([[1, 0, 0, 0, 1]] * 3, ax=axes[0]) is figure
    assert plots.scatter(SCORES, human=HUMAN, ax=axes[1]) is figure
    assert plots.histograms({"x": [0.1, 0.2]}, ax=axes[2]) is figure
    assert plots.correlations(SCORES, ax=axes[3]) is figure
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: draw_any.scatter({"a": [0.1]}), "only method"),
        (lambda: draw_any.scatter({}), "no scores in 'dict'"),
        (lambda: draw_any.scatter(7), "no scores in 'int'"),
        (lambda: draw_any.scatter({"a": [0.1], "b": [0.2, 0.3]}), "1 of 'a', 2 of 'b'"),
        (lambda: draw_any.scatter({"a": [0.1], "b": ["x"]}), "scores of 'b' must be numbers"),
        (lambda: draw_any.scatter({"a": [0.1], "b": [None]}), "no sample has a score"),
        (lambda: draw_any.scatter(SCORES, "c"), "no method 'c'"),
        (lambda: draw_any.scatter(SCORES, human=[1.0]), "human ratings have the shape"),
        (lambda: draw_any.scatter(SCORES, width=0.2), "width is 0.2"),
        (lambda: draw_any.scatter(SCORES, width="wide"), "width is 'wide'"),
        (lambda: draw_any.scatter(SCORES, ax="axes"), "ax is 'axes'"),
        (lambda: draw_any.scatter(SCORES, bins=0), "bins is 0"),
        (lambda: draw_any.agreement(SCORES), "no human ratings"),
        (lambda: draw_any.agreement(SCORES, measure="r"), "'r'"),
        (lambda: draw_any.agreement(SCORES, human=HUMAN, on="all"), "no set of samples 'all'"),
        (lambda: draw_any.agreement(SCORES, human=HUMAN * 9, measure="mae"), "outside \\[0, 1\\]"),
        (lambda: draw_any.agreement(rated_comparison().summary, human=HUMAN), "its own human"),
        (lambda: draw_any.reliability(SCORES), "no human ratings"),
        (lambda: draw_any.reliability(SCORES, human=HUMAN, pass_from=math.nan), "pass_from is nan"),
        (lambda: draw_any.reliability({"a": [None, 1.0]}, human=[1.0, None]), "and a human rating"),
        (lambda: draw_any.histograms(SCORES, []), "0 methods to draw"),
        (lambda: draw_any.histograms(SCORES, ax=Figure().subplots()), "2 methods to draw into one"),
        (lambda: draw_any.correlations({"a": [0.1]}), "at least two"),
        (lambda: draw_any.correlations(SCORES, methods=["a"]), "no method 'a'"),
        (lambda: draw_any.correlations(SCORES, measure="mae"), "no correlation"),
        (lambda: draw_any.correlations(MANY, human=[0.5] * 30, width="column"), "25 methods need 5.1 in"),
        (lambda: draw_any.flips([[1, 0, 0, 0, 0]], bins=1.5), "bins is 1.5"),
        (lambda: draw_any.sweep_curve([[1, 0, 0, 0, 0]], temperatures=[]), "an empty list"),
        (lambda: draw_any.sweep_curve([[1, 0, 0, 0, 0]], temperatures=[7]), "7.0 is outside"),
        (lambda: draw_any.sweep_curve([[1, 0, 0, 0, 0]], show="all"), "no curve 'all'"),
        (lambda: draw_any.sweep_curve([[1, 0]]), "shape"),
        (lambda: draw_any.sweep_curve(sweep([[1, 0, 0, 0, 0]]), temperatures=[0.5]), "of its own"),
        (lambda: draw_any.exponent_curve([]), "no verdict lists"),
        (lambda: draw_any.exponent_curve([["certainly"]]), "certainly"),
        (lambda: draw_any.exponent_curve({"a": [1, 2]}), "the five level counts"),
        (lambda: draw_any.decisions(rated_comparison(), "nothing"), "no method 'nothing'"),
        (lambda: draw_any.decisions(SCORES), "no decisions in 'dict'"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw: Any, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        draw()


def test_nothing_scored_is_refused() -> None:
    with pytest.raises(InvalidSampleError, match="none of the 6 assessments"):
        draw_any.sweep_curve([result for result in rated_comparison().results if result.unscored])
