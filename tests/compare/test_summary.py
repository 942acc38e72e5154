"""The summary of a comparison, by hand and against scipy."""

from __future__ import annotations

import json
import math
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters.compare.comparison import report_dict
from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.views import describe, human_ratings
from tcva_adapters.compare.views.crosstab import Crosstab
from tcva_adapters.compare.views.describe import differences, places
from tcva_adapters.compare.views.human_ratings import compare_with_ratings
from tcva_adapters.compare.views.summary import TableSummary, summarise_table
from tcva_adapters.compare.views.summary_text import bars, summary_parts
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.printing import text_of
from tcva_adapters.stats.bootstrap import interval, paired_difference
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.stats.holm import holm

NAN = math.nan


def table_of(columns: dict[str, list[float]], human: list[float] | None = None) -> ScoreTable:
    scores = np.array(list(columns.values()), dtype=float).T
    names = tuple(f"s{i}" for i in range(len(scores)))
    return ScoreTable(names, tuple(columns), scores, None if human is None else np.array(human))


def random_table(*, n: int = 40, seed: int = 0) -> ScoreTable:
    """Three methods of falling quality, with ties and gaps, and human ratings."""
    rng = np.random.default_rng(seed)
    ratings = rng.uniform(size=n)
    columns = {}
    for name, noise in (("good", 0.1), ("fair", 0.4), ("poor", 2.0)):
        scores = np.clip(np.round(ratings + noise * rng.normal(size=n), 1), 0, 1)
        columns[name] = scores.tolist()
    columns["fair"][3] = columns["poor"][7] = columns["poor"][8] = NAN
    human = ratings.tolist()
    human[0] = NAN
    return table_of(columns, human)


def printed(comparison: TableSummary, lead: str | None = None) -> str:
    return text_of(summary_parts(comparison, lead=lead), 80)


def test_one_method_by_hand() -> None:
    table = table_of({"m": [0.0, 0.25, 0.25, 1.0, NAN]})
    (m,) = summarise_table(table, thresholds={"m": 0.25}).methods
    assert (m.scored, m.samples) == (4, 5)
    assert m.mean == 0.375
    # deviations -3/8 -1/8 -1/8 5/8: squares (9+1+1+25)/64 = 36/64, over n - 1 = 3: 12/64
    assert m.sd == pytest.approx(math.sqrt(12 / 64), abs=1e-15)
    # linear between the sorted scores at positions 0.75, 1.5 and 2.25
    assert (m.lower_quartile, m.median, m.upper_quartile) == (0.1875, 0.25, 0.4375)
    assert (m.minimum, m.maximum) == (0.0, 1.0)
    assert m.histogram == (1, 0, 2, 0, 0, 0, 0, 0, 0, 1)  # 1.0 belongs to the last bin
    assert (m.edges[0], m.edges[-1]) == (0.0, 1.0)
    assert m.tied == pytest.approx(1 / 6)  # of the 6 pairs one is tied
    assert (m.distinct, m.at_zero, m.at_one) == (3, 0.25, 0.25)
    assert m.pass_rate == 0.75  # equal to the threshold passes


def test_means_come_with_their_coverage_and_on_common_samples() -> None:
    comparison = summarise_table(table_of({"a": [0.0, 0.5, 1.0], "b": [NAN, 0.5, 1.0]}))
    assert [(m.mean, m.scored) for m in comparison.methods] == [(0.5, 3), (0.75, 2)]
    assert [(m.mean_common, m.common) for m in comparison.methods] == [(0.75, 2), (0.75, 2)]
    assert comparison.common == 2
    assert any("coverage differs" in note and "2 that every" in note for note in comparison.notes)
    text = printed(comparison)
    assert [line.split()[:2] for line in text.splitlines()[2:4]] == [["a", "3"], ["b", "2"]]


def test_reasons_are_counted_without_their_details() -> None:
    rows = [
        Row("a", "x", 1.0),
        *(Row(s, "x", None, f"judge_error: call {s}") for s in "bc"),
        Row("d", "x", None),
        Row("e", "y", None, "unscored: no_claims: none"),
    ]
    x, y = summarise_table(ScoreTable.of(rows), rows=iter(rows)).methods
    assert x.reasons == {"judge_error": 2, "no reason given": 1, "no result": 1}
    assert y.reasons == {"no result": 4, "no_claims": 1}
    assert summarise_table(ScoreTable.of(rows)).methods[0].reasons == {}


def test_scores_beyond_0_and_1_get_bins_of_their_own() -> None:
    (m,) = summarise_table(table_of({"stars": [1.0, 3.0, 5.0]})).methods
    assert (m.edges[0], m.edges[-1], sum(m.histogram)) == (1.0, 5.0, 3)
    (m,) = summarise_table(table_of({"stars": [3.0, 3.0]})).methods
    assert sum(m.histogram) == 2


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_those_of_scipy_on_the_samples_that_both_have(seed: int) -> None:
    table = random_table(seed=seed)
    limits = {"good": 0.5, "fair": 0.3, "poor": 0.7}
    found = summarise_table(table, thresholds=limits, n_boot=10).pairs
    assert [(p.first, p.second) for p in found] == list(combinations(table.methods, 2))
    for pair in found:
        a, b = table.column(pair.first), table.column(pair.second)
        both = np.isfinite(a) & np.isfinite(b)
        a, b = a[both], b[both]
        assert pair.n == len(a)
        assert pair.spearman == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)
        assert pair.kendall == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)
        assert pair.pearson == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)
        assert pair.mean_difference == pytest.approx(a.mean() - b.mean(), abs=1e-12)
        same = (a >= limits[pair.first]) == (b >= limits[pair.second])
        assert pair.decisions.agreement == pytest.approx(same.mean(), abs=1e-12)


def test_kappa_by_hand() -> None:
    # Passes 25/50 and 30/50. By chance .5*.6 + .5*.4 = .5; seen 35/50 = .7; (.7-.5)/(1-.5) = .4
    assert Crosstab(20, 5, 10, 15).kappa == 0.4
    assert Crosstab(3, 0, 0, 4).kappa == 1.0
    assert Crosstab(0, 1, 1, 0).kappa == -1.0
    assert Crosstab(1, 1, 1, 1).kappa == 0.0
    for same in (Crosstab(5, 0, 0, 0), Crosstab(0, 0, 0, 5), Crosstab(0, 0, 0, 0)):
        assert math.isnan(same.kappa)


@given(*[st.integers(0, 50)] * 4)
def test_kappa_is_the_same_from_both_sides(a: int, b: int, c: int, d: int) -> None:
    kappa = Crosstab(a, b, c, d).kappa
    assert kappa == pytest.approx(Crosstab(a, c, b, d).kappa, nan_ok=True)
    assert kappa == pytest.approx(Crosstab(d, b, c, a).kappa, nan_ok=True)
    assert math.isnan(kappa) or -1.0 <= kappa <= 1.0


scores = st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), min_size=1, max_size=30)


@given(scores)
def test_places_are_middle_ranks_and_know_no_scale(values: list[float]) -> None:
    array = np.array(values)
    expected = (stats.rankdata(array) - 0.5) / len(array)
    assert places(array) == pytest.approx(expected, abs=1e-12)
    assert places(np.exp(7 * array) - 3).tolist() == places(array).tolist()


def test_the_samples_that_differ_most_by_hand() -> None:
    # Places of a: 1/8 3/8 5/8 7/8 (in order). Of b: s3 and s1 are tied lowest: (0 + 2/2)/4 = 1/4
    # each; s2 5/8; s0 7/8. Gaps: s0 6/8, s1 1/8, s2 0, s3 5/8.
    table = table_of({"a": [0.1, 0.2, 0.3, 0.4], "b": [90.0, 1.0, 5.0, 1.0]})
    found = differences(table, most=10)
    assert [(d.sample, d.difference) for d in found] == [("s0", 0.75), ("s3", 0.625), ("s1", 0.125)]
    first = found[0]
    assert (first.higher, first.lower) == ("b", "a")
    assert (first.score_higher, first.score_lower) == (90.0, 0.1)
    assert (first.place_higher, first.place_lower) == (0.875, 0.125)
    assert [d.sample for d in differences(table, most=1)] == ["s0"]
    assert differences(table, most=10, views=("a", "b")) == ()


def test_a_sample_appears_once_with_the_pair_that_differs_most() -> None:
    table = table_of({"a": [0.0, 0.5, 1.0], "b": [0.5, 0.0, 1.0], "c": [1.0, 0.5, 0.0]})
    found = differences(table, most=10)
    assert sorted(d.sample for d in found) == ["s0", "s1", "s2"]
    by_sample = {d.sample: d for d in found}
    # s0 stands at 1/6 under a, 3/6 under b, 5/6 under c.
    assert (by_sample["s0"].higher, by_sample["s0"].lower) == ("c", "a")
    assert by_sample["s0"].difference == pytest.approx(4 / 6)


def test_human_ratings_are_those_of_the_statistics_on_own_and_common_samples() -> None:
    table = random_table()
    assert table.human is not None
    found = compare_with_ratings(table, n_boot=200, seed=4)
    assert (found.rated, found.common) == (39, 36)  # 40 less 1; less 1 and 2 gaps more
    assert len(found.agreements) == 3 * 4
    common = table.common()
    for entry in found.agreements:
        own = interval(entry.measure, table.column(entry.method), table.human, n_boot=200, seed=4)
        assert entry.own == own
        assert common.human is not None
        expected = interval(
            entry.measure, common.column(entry.method), common.human, n_boot=200, seed=4
        )
        assert entry.common == expected
    assert {a.own.n for a in found.agreements} == {39, 38, 37}


def test_the_best_is_the_reference_unless_one_is_named() -> None:
    table = random_table()
    assert table.human is not None
    found = compare_with_ratings(table, n_boot=200, seed=4)
    # Three methods: who picks the best one has looked at three pairs.
    assert (found.reference, found.chosen, found.n_tests) == ("good", True, 3)
    by_spearman = [t for t in found.tests if t.result.measure == "spearman"]
    raw = [t.result.p_two_sided for t in by_spearman]
    assert [t.p_holm for t in by_spearman] == holm([*raw, math.nan])[:2].tolist()
    named = compare_with_ratings(table, reference="poor", n_boot=200, seed=4)
    assert (named.reference, named.chosen) == ("poor", False)
    test = next(t for t in named.tests if t.method == "fair" and t.result.measure == "kendall")
    assert test.result == paired_difference(
        "kendall", table.column("fair"), table.column("poor"), table.human, n_boot=200, seed=4
    )
    assert test.result.n == 36
    assert named.n_tests == 2
    raw = [t.result.p_two_sided for t in named.tests if t.result.measure == "spearman"]
    adjusted = [t.p_holm for t in named.tests if t.result.measure == "spearman"]
    assert adjusted == holm(raw).tolist()
    assert all(math.isnan(t.p_holm) for t in named.tests if t.result.measure != "spearman")


@pytest.mark.parametrize(
    ("objective", "tested_by"), [("mae", "sign flips, drawn"), ("pearson", "jackknife t")]
)
def test_another_primary_measure_picks_and_tests(objective: Measure, tested_by: str) -> None:
    table = random_table()
    assert table.human is not None
    found = compare_with_ratings(table, objective=objective, n_boot=200)
    values = {a.method: a.common.value for a in found.agreements if a.measure == objective}
    best = min if objective == "mae" else max
    assert found.reference == best(values, key=lambda method: values[method])
    tested = [t for t in found.tests if not math.isnan(t.p_holm)]
    assert {t.result.measure for t in tested} == {objective}
    assert {t.result.test for t in tested} == {tested_by}
    text = " ".join(printed(summarise_table(table, objective=objective, n_boot=200)).split())
    assert f"by {objective} alone: {tested_by}" in text


def test_what_cannot_be_tested_is_no_hypothesis() -> None:
    table = random_table()
    constant = ScoreTable(
        table.samples,
        (*table.methods, "constant"),
        np.column_stack([table.scores, np.full(len(table.samples), 0.5)]),
        table.human,
    )
    found = compare_with_ratings(constant, measures=("spearman",), n_boot=200)
    by_method = {test.method: test for test in found.tests}
    assert math.isnan(by_method["constant"].p_holm)
    assert found.n_tests == 3  # pairs of the three that vary
    smallest = min(t.result.p_two_sided for t in found.tests if t.method != "constant")
    # The smallest p is multiplied by the number of tests that have one.
    assert min(t.p_holm for t in found.tests if t.method != "constant") == pytest.approx(
        min(1.0, smallest * found.n_tests), abs=1e-15
    )


def test_an_absolute_error_needs_one_scale() -> None:
    table = random_table()
    assert table.human is not None
    stars = ScoreTable(table.samples, table.methods, table.scores, 1 + 4 * table.human)
    comparison = summarise_table(stars, n_boot=50)
    assert comparison.human_ratings is not None
    assert {a.measure for a in comparison.human_ratings.agreements} == {
        "spearman",
        "kendall",
        "pearson",
    }
    assert any("no mae" in n and "outside [0, 1]" in n for n in comparison.notes)


def test_few_human_ratings_and_a_reference_picked_here_are_said() -> None:
    table = random_table(n=12)
    notes = summarise_table(table, n_boot=50).notes
    assert any("11 human ratings in all, which is few" in note for note in notes)
    assert any("picked as the reference" in note for note in notes)
    named = summarise_table(table, n_boot=50, reference="fair").notes
    assert not any("picked" in note for note in named)


def test_whole_groups_are_resampled() -> None:
    table = random_table()
    groups = [i // 4 for i in range(40)]
    found = summarise_table(table, n_boot=50, groups=groups).human_ratings
    assert found is not None
    assert {a.own.clusters for a in found.agreements} == {10}
    assert {t.result.clusters for t in found.tests} == {10}


def test_without_scipy_the_rest_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        msg = "needs scipy: pip install 'tcva-adapters[stats]'"
        raise MissingDependencyError(msg)

    monkeypatch.setattr(describe, "agreement", missing)
    monkeypatch.setattr(human_ratings, "intervals", missing)
    comparison = summarise_table(random_table(), n_boot=50)
    assert comparison.human_ratings is None
    assert any("[stats]" in note for note in comparison.notes)
    assert math.isnan(comparison.pairs[0].spearman)
    assert comparison.pairs[0].decisions.n == 39


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (ScoreTable.of([]), 0),
        (table_of({"a": [NAN, NAN], "b": [0.5, 0.5]}, [0.1, 0.2]), 2),
        (table_of({"a": [0.5]}, [0.5]), 1),
        (table_of({"a": [0.5, 0.6], "b": [0.1, 0.2]}, [NAN, NAN]), 2),
    ],
    ids=["nothing", "unscored", "single", "nobody"],
)
def test_poor_tables_are_summarised_as_far_as_they_go(table: ScoreTable, expected: int) -> None:
    comparison = summarise_table(table, n_boot=20)
    assert comparison.samples == expected
    json.dumps(report_dict(comparison), allow_nan=False)
    assert printed(comparison)


def test_a_method_without_any_score_is_named() -> None:
    comparison = summarise_table(table_of({"a": [NAN, NAN], "b": [0.5, 0.5]}))
    assert "a has no score at all" in comparison.notes
    assert printed(comparison).splitlines()[2].split()[:3] == ["a", "0", "-"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"thresholds": {"bad": 0.5}}, "'bad'"),
        ({"thresholds": {"good": NAN}}, "nan"),
        ({"reference": "best"}, "'best'"),
        ({"views": ("ours",)}, "'ours'"),
        ({"most": -1}, "-1"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        summarise_table(random_table(), n_boot=20, **arguments)  # type: ignore[arg-type]  # on purpose


def test_comparing_without_human_ratings_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="no human ratings"):
        compare_with_ratings(table_of({"a": [0.5]}))


def test_the_console_fits_80_columns_and_the_json_has_everything() -> None:
    table = random_table()
    long = {
        f"framework{i} faithfulness": table.column(m).tolist()
        for i, m in enumerate(("good", "fair", "poor"))
    }
    assert table.human is not None
    comparison = summarise_table(table_of(long, table.human.tolist()), n_boot=100)
    text = printed(comparison)
    assert max(map(len, text.splitlines())) <= 80
    assert set(re.findall("framework.*? ", text)) <= {f"framework{i} " for i in range(3)}
    whole = json.loads(json.dumps(report_dict(comparison), allow_nan=False))
    assert whole["methods"][0]["method"] == "framework0 faithfulness"
    assert whole["pairs"][0]["decisions"]["kappa"] == comparison.pairs[0].decisions.kappa
    assert comparison.human_ratings is not None
    assert whole["human_ratings"]["tests"][0]["p_holm"] == comparison.human_ratings.tests[0].p_holm
    assert whole["human_ratings"]["agreements"][0]["own"]["n"] == 39


def test_the_p_of_each_correlation_is_shown_on_80_columns() -> None:
    found = summarise_table(random_table(), n_boot=200)
    assert found.human_ratings is not None
    text = printed(found)
    for each in found.human_ratings.agreements:
        if each.measure == "spearman":
            assert f"{each.p_two_sided:.4f}" in text.partition("differences from")[0]


def test_the_pairs_of_the_lead_come_first() -> None:
    comparison = summarise_table(table_of({f"m{i}": [0.1 * i, 0.5, i % 2] for i in range(8)}))
    lines = printed(comparison, lead="m6").splitlines()
    heads = [line.split()[0] for line in lines if " and " in line and line.startswith("m")]
    assert heads == ["m6", "m0", "m1", "m2", "m3", "m4", "m5"]
    first = lines.index(next(line for line in lines if line.startswith("m6 and")))
    assert sorted(line.split()[0] for line in lines[first + 1 : first + 8]) == [
        f"m{i}" for i in range(8) if i != 6
    ]
    # The difference of the means is that of the first less the other, whichever way it is stored.
    m0 = next(line.split() for line in lines[first + 1 :] if line.startswith("m0 "))
    pair = next(p for p in comparison.pairs if (p.first, p.second) == ("m0", "m6"))
    assert float(m0[5]) == pytest.approx(-pair.mean_difference, abs=5e-4)
    assert len(comparison.to_dict()["pairs"]) == 28


def test_bars() -> None:
    assert bars([0, 1, 8]) == " ▁█"
    assert bars([0, 0]) == "  "
