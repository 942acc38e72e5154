"""What a comparison says of a table, by hand and against scipy."""

import asyncio
import json
import math
import re
from collections.abc import Sequence
from inspect import iscoroutinefunction, signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tcva_adapters import Assessment, ClaimVerdict, Result, WeightScheme
from tcva_adapters.compare import (
    Run,
    ScoreTable,
    acompare,
    calibrate,
    compare,
    comparison,
    disputed,
    panel_report,
    repeat_report,
    sweep,
    systems,
    validate,
)
from tcva_adapters.compare.agreement.method_tables import share_below
from tcva_adapters.compare.agreement.raters import raters_report
from tcva_adapters.compare.combined_methods import gains, with_fused
from tcva_adapters.compare.scores.judged_by import RunInfo
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.alpha import krippendorff_alpha
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.stats.kappa import weighted_kappa
from tcva_adapters.stats.raters import reliability
from tcva_adapters.tables import Report, plain

NAN = math.nan
FEW: dict[str, Any] = {"resamples": 200, "seed": 4}


def table_of(columns: dict[str, Any], human: Any = None, **more: Any) -> ScoreTable:
    scores = np.array(list(columns.values()), dtype=float).T
    names = tuple(f"s{i}" for i in range(len(scores)))
    ratings = np.empty(0) if human is None else np.array(human)
    return ScoreTable(names, tuple(columns), scores, ratings, **more)


def random_table(*, n: int = 40, seed: int = 0, **more: Any) -> ScoreTable:
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
    return table_of(columns, human, **more)


def row(report: Report, title: str, method: str, **more: str) -> dict[str, Any]:
    wanted = {"method": method, **more}
    return next(
        r for r in report.records(title) if all(r[k] == v for k, v in wanted.items())
    )


@pytest.mark.parametrize("function", [compare, acompare])
def test_arguments_are_shown_and_a_typo_gets_the_nearest_name(function: Any) -> None:
    parameters = signature(function).parameters
    assert {"frameworks", "temperatures", "reference", "margin"} <= set(parameters)
    assert all(shown.kind is not shown.VAR_KEYWORD for shown in parameters.values())
    meant = f"of {function.__name__}; did you mean 'temperatures'"
    with pytest.raises(InvalidValueError, match=meant):
        asyncio.run(function([], tempratures=[0.1]))
    assert iscoroutinefunction(function) is (function is acompare)


@pytest.mark.parametrize("function", [calibrate, sweep, systems, validate])
def test_analyses_name_the_argument_that_was_meant(function: Any) -> None:
    last = [*signature(function).parameters][-1]
    meant = f"'{last}s' of {function.__name__}; did you mean '{last}'"
    with pytest.raises(InvalidValueError, match=meant):
        function([], **{f"{last}s": 1})


@pytest.mark.parametrize("function", [compare, Run])
@pytest.mark.parametrize(("name", "meant"), [
    ("fuse", "did you mean 'mean_of'?"),
    ("resamples", "did you mean 'comparison(Run(...).table(), resamples=...)'?"),
])  # fmt: skip
def test_an_argument_of_another_function_gets_the_way_out(
    function: Any, name: str, meant: str
) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(meant)):
        function([], **{name: 100})


def test_one_method_by_hand() -> None:
    table = table_of({"m": [0.0, 0.25, 0.25, 1.0, NAN]}, thresholds={"m": 0.25})
    report = comparison(table)
    m = row(report, "methods", "m")
    # deviations -3/8 -1/8 -1/8 5/8: squares (9+1+1+25)/64 = 36/64, over n - 1 = 3: 12/64
    assert m["sd"] == pytest.approx(math.sqrt(12 / 64), abs=1e-15)
    # linear between the sorted scores at 0.75, 1.5 and 2.25
    quantiles = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
    assert [m[name] for name in quantiles] == [0.0, 0.1875, 0.25, 0.4375, 1.0]
    assert m["tied"] == pytest.approx(1 / 6)  # of the 6 pairs one is tied
    # equal to the threshold passes
    shown = ("scored", "mean", "at_0", "at_1", "pass_rate")
    assert [m[k] for k in shown] == [4, 0.375, 0.25, 0.25, 0.75]


def test_coverage_reasons_and_means_on_common_samples() -> None:
    table = table_of(
        {"a": [0.0, 0.5, 1.0], "b": [NAN, 0.5, 1.0], "c": [NAN, NAN, NAN]},
        reasons={("s0", "b"): "judge_error: call 1", ("s1", "c"): "no_claims"},
    )
    report = comparison(table.select(methods=["a", "b"]))
    names = ("scored", "mean", "mean_common")
    shown = [[r[name] for name in names] for r in report.records("methods")]
    assert shown == [[3, 0.5, 0.75], [2, 0.75, 0.75]]
    late = {"method": "b", "reason": "judge_error", "samples": 1, "example": "call 1"}
    assert report.records("unscored") == [late]
    whole = comparison(table)
    assert [r["reason"] for r in whole.records("unscored")[1:]] == [
        "no result",
        "no_claims",
    ]


def test_pairs_are_those_of_scipy_on_the_samples_that_both_have() -> None:
    limits = {"good": 0.5, "fair": 0.3, "poor": 0.7}
    table = random_table(thresholds=limits)
    for pair in comparison(table, **FEW).records("pairs"):
        a, b = table.column(pair["first"]), table.column(pair["second"])
        both = np.isfinite(a) & np.isfinite(b)
        a, b = a[both], b[both]
        assert pair["n"] == len(a)
        assert pair["rho"] == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)
        assert pair["tau"] == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)
        assert pair["r"] == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)
        assert pair["difference"] == pytest.approx(a.mean() - b.mean(), abs=1e-12)
        same = (a >= limits[pair["first"]]) == (b >= limits[pair["second"]])
        assert pair["same"] == pytest.approx(same.mean(), abs=1e-12)


def test_decisions_of_all_views_against_the_other_methods() -> None:
    passing, failing = (
        [0.9] * 25 + [0.1] * 25,
        [0.9] * 20 + [0.1] * 5 + [0.9] * 10 + [0.1] * 15,
    )
    run = RunInfo(temperatures=(0.1, 0.5), views=("tcva T=0.1", "tcva T=0.5"))
    table = table_of(
        {"tcva T=0.1": [0] * 50, "tcva T=0.5": passing, "other": failing}, run=run
    )
    report = comparison(table)
    found = row(report, "decisions", "other", tcva="tcva T=0.5")
    counts = [
        found[k] for k in ("both_pass", "only_tcva", "only_method", "both_fail", "n")
    ]
    assert counts == [20, 5, 10, 15, 50]
    # Passes 25/50 and 30/50. By chance .5*.6 + .5*.4 = .5; seen 35/50 = .7; (.7-.5)/(1-.5) = .4
    assert (found["same"], found["kappa"]) == (0.7, pytest.approx(0.4, abs=1e-12))
    assert len(report.records("decisions")) == 2
    less = comparison(table_of({"tcva T=0.5": passing, "a": failing, "b": passing}))
    assert less.sentence.endswith(
        " b makes the same decision on 100 %; the least similar is a, on 70 %."
    )
    tied = comparison(table_of({"tcva T=0.5": passing, "a": failing, "b": failing}))
    assert tied.sentence.endswith(" a makes the same decision on 70 %.")


@given(*[st.lists(st.booleans(), min_size=30, max_size=30)] * 2)
def test_kappa_is_the_same_from_both_sides(
    first: list[bool], second: list[bool]
) -> None:
    a, b = np.array(first), np.array(second)
    expected = weighted_kappa(a, b, levels=2)
    for one, other in ((b, a), (~a, ~b)):
        beyond = weighted_kappa(one, other, levels=2)
        assert beyond == pytest.approx(expected, nan_ok=True, abs=1e-12)


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), min_size=1, max_size=30)
)
def test_shares_below_are_middle_ranks_and_know_no_scale(values: list[float]) -> None:
    array = np.array(values)
    middle = (stats.rankdata(array) - 0.5) / len(array)
    assert share_below(array) == pytest.approx(middle, abs=1e-12)
    assert share_below(np.exp(7 * array) - 3).tolist() == share_below(array).tolist()


def test_the_samples_that_differ_most_by_hand() -> None:
    # Shares of a: 1/8 3/8 5/8 7/8 (in order). Of b: s3 and s1 are tied lowest: (0 + 2/2)/4 = 1/4
    # each; s2 5/8; s0 7/8. Gaps: s0 6/8, s1 1/8, s2 0, s3 5/8.
    columns = {"a": [0.1, 0.2, 0.3, 0.4], "b": [90.0, 1.0, 5.0, 1.0]}
    found = comparison(table_of(columns), most=2).records("ranked differently")
    assert [(d["sample"], d["difference"]) for d in found] == [
        ("s0", 0.75),
        ("s3", 0.625),
    ]
    assert [found[0][k] for k in ("higher", "higher_score", "lower_score")] == [
        "b",
        90.0,
        0.1,
    ]
    three = table_of({"a": [0.0, 0.5, 1.0], "b": [0.5, 0.0, 1.0], "c": [1.0, 0.5, 0.0]})
    found = comparison(three).records("ranked differently")
    assert [d["sample"] for d in found] == ["s0", "s2", "s1"]  # each once
    assert (found[0]["higher"], found[0]["lower"]) == ("c", "a")
    # The same score is no difference, whatever its rank: s0 has 1/8 and 1/2 of the samples below.
    alike = {"a": [0.10004, 0.2, 0.3, 0.4], "b": [0.1, 0.1, 0.1, 0.1]}
    found = comparison(table_of(alike)).records("ranked differently")
    assert {d["sample"] for d in found} == {"s1", "s2", "s3"}
    views = table_of(columns, run=RunInfo(views=("a", "b")))
    with pytest.raises(InvalidValueError, match="no table"):
        comparison(views).records("ranked differently")


def test_human_ratings_and_differences_are_those_of_the_statistics() -> None:
    table = random_table(n=80)
    report = comparison(table, **FEW)
    for each in report.records("human ratings"):
        column = table.column(each["method"])
        found = estimate(
            each["measure"], [column, table.rating], test=each["p"] is not None, **FEW
        )
        assert (each["n"], each["agreement"]) == (found.n, found.value)
        assert (each["agreement_low"], each["agreement_high"]) == (
            found.low,
            found.high,
        )
        assert each["p"] == (found.p if each["measure"] == "spearman" else None)
    assert len(report.records("human ratings")) == 12
    tests = report.records("differences")
    assert {each["reference"] for each in tests} == {"good"}
    raw = []
    for each in tests:
        columns = table.column(each["method"]), table.column("good"), table.rating
        found = difference("spearman", *columns, **FEW)
        raw.append(found.p)
        expected = plain(
            {**found.record("difference"), "detectable": found.smallest, "p": found.p}
        )
        assert {name: each[name] for name in expected} == expected
    # Three methods: who picks the best one has looked at three pairs.
    assert [each["p_corrected"] for each in tests] == holm([*raw, NAN])[:2].tolist()
    named = comparison(table, reference="poor", margin=0.9, **FEW)
    tests = named.records("differences")
    assert {each["reference"] for each in tests} == {"poor"}
    assert [each["p_corrected"] for each in tests] == holm(
        [each["p"] for each in tests]
    ).tolist()
    assert not any("picked" in note for note in named.notes)
    assert {each["equivalent"] for each in tests} <= {"yes", "not shown"}


def test_peoples_decisions_by_hand() -> None:
    # Of 4 that pass 3 are good; of 5 good ones 3 pass.
    column = [0.9, 0.8, 0.7, 0.6, 0.1, 0.2, 0.1, 0.1, 0.2, 0.3]
    human = [1.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    found = row(
        comparison(table_of({"m": column}, human), **FEW), "decisions by rating", "m"
    )
    assert (found["precision"], found["recall"], found["rating_passes"]) == (
        0.75,
        0.6,
        0.5,
    )
    assert found["kappa"] == pytest.approx(0.4, abs=1e-12)  # seen .7, by chance .5
    exact = stats.binomtest(3, 4).proportion_ci()
    ends = [found["precision_low"], found["precision_high"]]
    assert ends == pytest.approx([exact.low, exact.high], abs=1e-9)
    stars = table_of({"m": column}, [1 + 4 * rating for rating in human])
    report = comparison(stars, **FEW)
    assert "decisions by rating" not in [table.title for table in report.tables]
    measures = {r["measure"] for r in report.records("human ratings")}
    assert measures == {"spearman", "kendall", "pearson"}
    note = "mae is left out where scores or ratings are not between 0 and 1"
    assert note in report.table("human ratings").notes
    within = comparison(table_of({"m": column}, human), **FEW)
    assert "mae" not in " ".join(within.table("human ratings").notes)


def test_records_hold_the_columns_of_their_table() -> None:
    report = comparison(random_table(), **FEW)
    for title, further in (
        ("distribution", set()),
        ("differences", {"reference", "reason"}),
    ):
        table = report.table(title)
        shown = {column.name for column in table.columns}
        for record in table.records:
            keys = {key.removesuffix("_low").removesuffix("_high") for key in record}
            assert keys == shown | further


@pytest.mark.parametrize(("options", "said"), [
    ({"objective": "rho"}, "'rho'"),
    ({"reference": "best"}, "unknown method 'best'; use good"),
    ({"margin": 1.5}, r"margin must be between 0 and 1, e.g. 0.05, got 1\.5"),
])  # fmt: skip
def test_wrong_arguments_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        comparison(random_table(), **options)
    stars = table_of({"a": [0.1, 0.5]}, [1.0, 5.0])
    with pytest.raises(InvalidValueError, match="between 0 and 1, got 1 to 5"):
        comparison(stars, objective="mae")


def test_fused_methods_are_means_and_say_what_was_missing() -> None:
    table = with_fused(table_of({"a": [0.4, 0.4, NAN], "b": [0.9, NAN, NAN]}), "a + b")
    name = "fused(a + b)"
    assert table.column(name).tolist() == pytest.approx([0.6, 0.4, NAN], nan_ok=True)
    assert table.reason("s2", name) == "no member has a score"
    assert table.notes == (
        f"{name}: 1 sample with 2, 1 sample with 1, 1 sample with 0 members.",
    )
    stars = with_fused(table_of({"a": [0.4], "b": [5.0]}), "a + b")
    assert stars.methods == ("a", "b")
    assert stars.notes[0].startswith("fused(a + b) is left out: ")


def test_gains_are_over_the_best_member_and_allow_for_all_that_was_looked_at() -> None:
    table = random_table(n=60)
    for text in ("good + fair", "good + poor", "fair + poor"):
        table = with_fused(table, text)
    found = gains(table, **FEW).records
    assert [each["best_member"] for each in found] == ["good", "good", "fair"]
    assert [each["p_corrected"] for each in found] == holm(
        [each["p"] for each in found]
    ).tolist()
    kept = np.isfinite(np.column_stack([table.scores[:, :2], table.rating])).all(axis=1)
    own, human = table.column("fused(good + fair)")[kept].round(3), table.rating[kept]
    rho = stats.spearmanr(own, human).statistic
    best = stats.spearmanr(table.column("good")[kept], human).statistic
    assert found[0]["rho"] == pytest.approx(rho, abs=1e-12)
    assert found[0]["gain"] == pytest.approx(rho - best, abs=1e-12)
    assert found[0]["n"] == int(kept.sum())


HALF = ScoringConfig(scheme=WeightScheme.resolve("linear"), penalty="off")
WORDS = [level.value for level in LEVELS]


def panel_table(assessments: Sequence[Assessment], **more: Any) -> ScoreTable:
    results = [Result(each, HALF) for each in assessments]
    scores = np.array([[math.nan if r.score is None else r.score] for r in results])
    names = tuple(a.sample_id or f"s{i}" for i, a in enumerate(assessments))
    return ScoreTable(names, ("tcva",), scores, results={"tcva": results}, **more)


def judged(judge: str, *words: str | None) -> Assessment:
    claims = tuple(
        ClaimVerdict(claim=f"claim {number}", verdict=word)  # type: ignore[arg-type]  # words of the levels
        for number, word in enumerate(words)
    )
    return Assessment(
        criterion="faithfulness", judge=judge, prompt_version="1", claims=claims
    )


def failed(judge: str) -> Assessment:
    unscored = Unscored(reason=Reason.TIMEOUT)
    return Assessment(
        criterion="faithfulness", judge=judge, prompt_version="1", unscored=unscored
    )


def panel(name: str, *judged: Assessment) -> Assessment:
    first = next(each for each in judged if each.unscored is None)
    return first.model_copy(
        update={"judge": "panel", "panel": judged, "sample_id": name}
    )


def drawn(n: int, *, together: bool) -> ScoreTable:
    """Three judges, each a level off now and then: all at once, or each for itself; with ratings."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 5, n)
    errors = rng.integers(-2, 3, (n, 1 if together else 3)) + np.zeros(
        (n, 3), dtype=int
    )
    levels = np.clip(truth[:, None] + errors, 0, 4).tolist()
    panels = [
        panel(
            f"s{i}",
            *(judged(f"judge {k}", WORDS[level]) for k, level in enumerate(row)),
        )
        for i, row in enumerate(levels)
    ]
    return panel_table(panels, human=(4 - truth).astype(float))


def test_pairs_failures_and_counts_by_hand() -> None:
    whole = panel("a", judged("x", "fully", "none"), judged("y", "fully", "minor"))
    part = panel("b", judged("x", "partial", None), failed("y"))
    lost = failed("panel").model_copy(update={"panel": (failed("x"), failed("y"))})
    report = panel_report(panel_table([whole, part, lost]))
    (found,) = report.records("agreement")
    assert (found["judges"], found["claims"], found["samples"]) == (2, 3, 2)
    assert "y gave no verdicts on 1 sample that others judged." in report.notes
    (pair,) = report.records("judges")
    assert (pair["first"], pair["second"], pair["claims"], pair["same_level"]) == (
        "x",
        "y",
        2,
        0.5,
    )
    # Levels 0, 4 against 0, 3: observed 0 + 1 squared levels, expected (0 + 9 + 16 + 1) / 2 = 13.
    assert pair["kappa"] == pytest.approx(1 - 1 / 13, abs=1e-12)
    assert (pair["first_fully"], pair["second_fully"]) == (0.5, 0.5)


def test_alpha_is_one_where_judges_agree_and_undefined_where_nothing_varies() -> None:
    same = panel_table(
        [panel("a", judged("x", "fully", "none"), judged("y", "fully", "none"))]
    )
    assert panel_report(same).records("agreement")[0]["alpha"] == pytest.approx(
        1.0, abs=1e-12
    )
    flat = panel_report(
        panel_table([panel("a", judged("x", "fully"), judged("y", "fully"))])
    )
    assert flat.records("agreement")[0]["alpha"] is None
    assert flat.records("judges")[0]["kappa"] is None
    json.dumps(flat.to_dict(), allow_nan=False)
    first = panel("a", judged("x", "fully", "none"), failed("y"))
    apart = [first, panel("b", failed("x"), judged("y", "fully", "minor"))]
    assert panel_report(panel_table(apart)).records("judges")[0]["claims"] == 0
    with pytest.raises(InvalidValueError, match="panel"):
        panel_report(panel_table([Assessment.from_verdicts(["fully"])]))


def test_the_most_disputed_come_first_with_their_claims() -> None:
    panels = [
        panel("agreed", judged("x", "fully"), judged("y", "fully")),
        panel("close", judged("x", "fully", "fully"), judged("y", "mostly", "fully")),
        panel("far", judged("x", "fully", "fully"), judged("y", "fully", "none")),
        panel("alone", judged("x", "fully"), failed("y")),
    ]
    table = panel_table(panels)
    found = disputed(table).records("disputed")
    expected = {
        "sample": "far",
        "spread": 4.0,
        "claim": "claim 1",
        "x": "fully",
        "y": "none",
    }
    assert found[0] == expected
    assert [(each["sample"], each["spread"]) for each in found[1:]] == [("close", 1.0)]
    assert disputed(table, most=1).records("disputed") == found[:1]


def test_alpha_has_an_interval_over_samples_or_groups_or_says_why_not() -> None:
    rng = np.random.default_rng(2)

    def sample(number: int) -> Assessment:
        truth = rng.integers(0, 5, 3)
        said = [np.clip(truth + rng.integers(-1, 2, 3), 0, 4) for _ in range(2)]
        rated = [
            judged(n, *(WORDS[i] for i in r)) for n, r in zip("xy", said, strict=True)
        ]
        return panel(f"s{number}", *rated)

    panels = [sample(i) for i in range(40)]
    (found,) = panel_report(panel_table(panels)).records("agreement")
    assert found["alpha_low"] < found["alpha"] < found["alpha_high"] < 1.0
    groups = tuple(i // 2 for i in range(40))
    (grouped,) = panel_report(panel_table(panels, groups=groups)).records("agreement")
    assert grouped["alpha"] == found["alpha"]
    assert grouped["alpha_low"] != found["alpha_low"]
    few = panel_report(panel_table(panels[:5]))
    assert few.records("agreement")[0]["alpha_low"] is None


def repeated(*levels: str | None, name: str = "m") -> Assessment:
    """A sample of one claim with a repeat for each level; None for one that failed."""
    each = [
        Assessment.from_verdicts([level] if level else [], judge=name)
        for level in levels
    ]
    whole = Assessment.from_verdicts(
        [levels[0] or "none"], judge=f"repeats({name}, {len(levels)})"
    )
    return whole.model_copy(update={"panel": tuple(each)})


def test_flips_and_noise_by_hand() -> None:
    # Scores: (1, 1, 0), (.75, .75, .75), (0, .25): one of three has repeats on both sides of .5;
    # of its three pairs two disagree.
    first = [repeated("fully", "fully", "none"), repeated("mostly", "mostly", "mostly")]
    other = [repeated("none", "minor", None), repeated("fully", None, None)]
    report = repeat_report(panel_table([*first, *other]))
    (found,) = report.records("repeats")
    assert [found[k] for k in ("repeats", "samples", "flip", "same")] == [3, 3, 1, 1]
    assert found["flip_rate"] == pytest.approx(1 / 3)
    assert found["disagree"] == pytest.approx(2 / 9, abs=1e-12)
    # Squares within: 2/3 + 0 + 1/32, over 8 - 3.
    assert found["judge_sd"] ** 2 == pytest.approx((2 / 3 + 1 / 32) / 5, abs=1e-12)
    assert found["one_repeat_more"] < found["standard_error"]


def test_raters_are_those_of_the_statistics() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(50)
    ratings = np.clip(truth[:, None] + rng.normal(0, 0.25, (50, 3)), 0, 1)
    ratings[::5, 1] = math.nan
    scores = np.clip(truth + rng.normal(0, 0.2, 50), 0, 1)[:, None]
    names = tuple(f"s{i}" for i in range(50))
    table = ScoreTable(names, ("ours",), scores, ratings, ("anna", "ben", "carl"))
    report = raters_report(table, objective="pearson")
    found = reliability("pearson", ratings, scores)
    assert (
        report.settings["best"]
        == found.best.value
        == pytest.approx(math.sqrt(found.value))
    )
    assert report.settings["alpha"] == krippendorff_alpha(ratings.T, "interval").value
    pairs = [
        (r["rater"], r["other_rater"], r["n"], r["pearson"])
        for r in report.records("raters")
    ]
    assert pairs[0] == ("anna", "ben", 40, found.pairs[0].value)
    (ours,) = report.records("methods and raters")
    corrected = found.corrected[0].value, found.corrected[0].low
    assert (ours["without_error"], ours["without_error_low"]) == corrected
    assert "without error would correlate" in report.sentence
    passed = (ratings > 0.2).astype(np.float64)
    most = raters_report(ScoreTable(names, ("ours",), scores, passed[:, ::2]))
    assert "without error" not in most.sentence
    assert most.notes[-1].startswith("no best correlation: 78 % of the ratings are")
    (ours,) = most.records("methods and raters")
    assert ours["with_mean"] > 0.4
    assert ours["without_error"] is None
    two = ScoreTable(names, ("ours",), scores, ratings[:, :2], ("anna", "ben"))
    assert len(comparison(two, resamples=100).records("raters")) == 1
    with pytest.raises(InvalidValueError, match="raters, got 1"):
        raters_report(ScoreTable(names, ("ours",), scores, ratings[:, 0]))
