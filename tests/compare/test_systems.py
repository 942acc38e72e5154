"""`systems`: figures are those of the statistics, and hypotheses are joined as written."""

import json
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters import TCVA, Assessment, Sample
from tcva_adapters.compare import ScoreTable, read_systems, systems
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    TCVAError,
    UnreadableInputError,
)
from tcva_adapters.results.writer import write_results
from tcva_adapters.stats.checks import FloatArray, IntArray
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.system_pairs import studentised, tukey
from tcva_adapters.tables import Column

pytest.importorskip("scipy", reason="the extra stats")

SYSTEMS = ("a", "b", "c")
METRICS = ("f T=0.1", "f T=0.9", "qr")


def tables(n: int = 40, seed: int = 0) -> dict[str, ScoreTable]:
    """Clear differences under the first metric, one under the second, none under the third."""
    rng = np.random.default_rng(seed)
    shifts = np.array([[0.0, 0.2, 0.4], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]])
    raw = (
        rng.normal(0.4, 0.1, (3, n, 1))
        + rng.normal(0, 0.1, (3, n, 3))
        + shifts[:, None, :]
    )
    scores = np.round(np.clip(raw, 0, 1), 2)
    scores[1, 3, 2] = math.nan
    queries = tuple(f"q{i}" for i in range(n))
    return {
        m: ScoreTable(queries, SYSTEMS, of)
        for m, of in zip(METRICS, scores, strict=True)
    }


def test_figures_are_those_of_the_statistics() -> None:
    data = tables()
    report = systems(data, resamples=500, seed=3)
    for metric, table in data.items():
        expected = studentised(table.scores, permutations=500, seed=3)
        pairs = [pair for pair in report.records("pairs") if pair["metric"] == metric]
        assert len(pairs) == 3
        for pair in pairs:
            i, j = SYSTEMS.index(pair["higher"]), SYSTEMS.index(pair["lower"])
            assert pair["p"] == expected.p[i, j]
            assert pair["difference"] == expected.differences[i, j]
            assert pair["detectable"] == expected.smallest[i, j]
        (row,) = [row for row in report.records("metrics") if row["metric"] == metric]
        assert row["asl"] == sorted(
            expected.p[i, j] for i, j in combinations(range(3), 2)
        )
    assert [row["significant"] for row in report.records("metrics")] == [3, 2, 0]
    powers = [row["discriminative_power"] for row in report.records("metrics")]
    assert powers == [1.0, 2 / 3, 0.0]
    assert list(report.notes) == ["f T=0.9: some of 40 queries have no score (c 1)."]
    means = {row["system"]: row["f T=0.9"] for row in report.records("means")}
    assert means["c"] == pytest.approx(np.nanmean(data["f T=0.9"].scores[:, 2]))
    (row,) = [
        r for r in report.records("scores") if (r["metric"], r["system"]) == ("qr", "a")
    ]
    values = np.round(data["qr"].column("a"), 3).tolist()
    ties = sum(one == other for one, other in combinations(values, 2)) / math.comb(
        40, 2
    )
    assert row["ties"] == pytest.approx(ties, abs=1e-12)
    assert systems(data, resamples=500, seed=3).to_dict() == report.to_dict()
    by_tukey = systems(data, resamples=500, seed=3, test="tukey").records("pairs")
    for pair in by_tukey:
        i, j = SYSTEMS.index(pair["higher"]), SYSTEMS.index(pair["lower"])
        other = tukey(data[pair["metric"]].scores, permutations=500, seed=3)
        assert pair["p"] == other.p[i, j]


def test_correlations_of_metrics_are_averaged_over_systems() -> None:
    data = tables()
    correlations = systems(data, resamples=20).records("correlations")
    found = {(row["metric"], row["other_metric"]): row for row in correlations}
    row = found["f T=0.1", "qr"]
    columns = [(data["f T=0.1"].column(s), data["qr"].column(s)) for s in SYSTEMS]
    z = [math.atanh(np.corrcoef(one, other)[0, 1]) for one, other in columns]
    assert row["pearson"] == pytest.approx(math.tanh(np.mean(z)), abs=1e-12)
    assert (row["systems"], len(found)) == (3, 3)
    (alone,) = systems(data, metrics=["qr"], resamples=20).records("metrics")
    assert alone["metric"] == "qr"
    assert len(systems(data, metrics=["f"], resamples=20).records("metrics")) == 2


def test_hypotheses_are_joined_and_corrected(tmp_path: Path) -> None:
    data = tables()
    hypotheses = [
        {
            "name": "c beats all",
            "pairs": [["c", "a"], ["c", "b"]],
            "direction": "greater",
        }
        | {"metrics": ["f T=0.1", "f T=0.9"], "join": "all"},
        {"name": "a and b differ somewhere", "pairs": [["a", "b"]], "join": "any"},
        {
            "name": "b loses",
            "pairs": [["b", "a"]],
            "metrics": ["f T=0.1"],
            "direction": "less",
        },
        {"name": "m", "pairs": [["a", "b"], ["b", "c"]], "join": "any"}
        | {"chances": "metrics"},
    ]
    path = tmp_path / "h.json"
    path.write_text(json.dumps(hypotheses))
    report = systems(data, hypotheses=path, resamples=999, alpha=0.01)
    tests = {m: studentised(t.scores, permutations=999) for m, t in data.items()}
    strict, lenient, direct = (test.p for test in tests.values())
    first, second, third, fourth = report.records("hypotheses")
    assert (
        first["p"] == max(strict[2, 0], strict[2, 1], lenient[2, 0], lenient[2, 1]) / 2
    )
    assert second["p"] == 3 * min(strict[0, 1], lenient[0, 1], direct[0, 1])
    # b's mean is higher, so "b is less" has the other side's p.
    assert third["p"] == 1 - strict[0, 1] / 2
    pairs = ((0, 1), (1, 2))
    # The p of a pair is corrected for all pairs of its metric already.
    assert fourth["p"] == 3 * min(
        p[pair] for p in (strict, lenient, direct) for pair in pairs
    )
    # Holm: the smallest p times 4, and so on.
    assert first["p_corrected"] == 4 * first["p"]
    assert third["p_corrected"] == third["p"]
    assert [one["supported"] for one in (first, second, third)] == ["yes", "yes", "no"]
    assert (
        systems(data, hypotheses=hypotheses, resamples=999).records("hypotheses")[0]
        == first
    )


@pytest.mark.parametrize(("changes", "said"), [
    ({"pairs": [["a", "x"]]}, "unknown system 'x'|'x'"),
    ({"metrics": ["f"]}, "'f'"), ({"pairs": [["a"]]}, "a hypothesis is"),
    ({"pairs": None}, "a hypothesis is"), ({"name": None}, "name must be a string"), ({"direction": "up"}, "'up'"), ({"join": None}, "join"),
    ({"chances": "pairs"}, "'pairs'"), ({"pair": 1}, "pair is not a known field; a hypothesis is"),
])  # fmt: skip
def test_mistakes_in_hypotheses(changes: dict[str, Any], said: str) -> None:
    entry = {"name": "h", "pairs": [["a", "b"]], "join": "all"} | changes
    with pytest.raises(UnreadableInputError, match=said):
        systems(tables(), hypotheses=[entry], resamples=20)


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    path.write_text("{")
    number = tmp_path / "number.json"
    number.write_text("5")
    apart = ScoreTable(
        ("q1", "q2"), ("a", "b"), np.array([[0.5, math.nan], [math.nan, 0.5]])
    )
    cases: list[tuple[dict[str, ScoreTable], dict[str, Any], str]] = [
        (tables(), {"metrics": ["x"]}, "no metric 'x'"),
        (rated_systems(), {"metrics": ["x"]}, "no metric 'x'; the metrics are f$"),
        (rated_systems(), {"metrics": ["human"]}, "'human'; the metrics are f$"),
        (
            {"human": rated_systems()["human"]},
            {},
            r"fewer than two systems \(none\); give two or more",
        ),
        (tables(), {"hypotheses": {"name": "h"}}, "item 1"),
        (
            tables(),
            {"hypotheses": [["x"]]},
            r"item 1: hypothesis must be .*, got \['x'\]; a h",
        ),
        (tables(), {"hypotheses": [{"pairs": [["a", "b"]]}]}, "name is missing; a hyp"),
        (tables(), {"hypotheses": path}, "no JSON list"),
        (tables(), {"hypotheses": number}, "no JSON list"),
        ({"f": apart}, {}, "no query has scores of two systems"),
    ]
    for source, options, said in cases:
        with pytest.raises(TCVAError, match=said):
            systems(source, resamples=20, **options)


def test_samples_are_no_scores(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text(
        '{"id": "1", "response": "At nine.", "human": 1}'
    )
    with pytest.raises(InvalidSampleError, match="no scores in "):
        systems(tmp_path / "answers.jsonl")


def test_systems_change_places_in_whole_groups() -> None:
    rng = np.random.default_rng(0)
    scores, copies = rng.random((30, 3)), np.repeat(np.arange(30), 3)
    alone = ScoreTable(tuple(f"q{i}" for i in range(30)), SYSTEMS, scores)
    # Copies of a query in its group add nothing.
    names = tuple(f"q{i}" for i in range(90))
    grouped = ScoreTable(names, SYSTEMS, scores[copies], groups=tuple(copies.tolist()))
    for test in ("studentised", "tukey"):
        once, again = (
            systems({"f": t}, resamples=500, test=test).records("pairs")
            for t in (alone, grouped)
        )
        for one, other in zip(once, again, strict=True):
            for name in ("p", "difference", "detectable"):
                assert other[name] == pytest.approx(one[name], abs=1e-9)


def test_the_sentence_is_of_the_first_metric_at_its_middle_temperature() -> None:
    rng = np.random.default_rng(0)
    queries = tuple(f"q{i}" for i in range(30))
    table = ScoreTable(queries, ("a", "b"), rng.random((30, 2)))
    metrics = ("f T=0.1", "f T=0.5", "f T=0.9", "r T=0.1", "qr")
    for chosen, main in (
        (metrics, "f T=0.5"),
        (metrics[3:], "r T=0.1"),
        (("qr", "f T=0.1"), "qr"),
    ):
        report = systems(dict.fromkeys(chosen, table), resamples=20)
        assert report.sentence.startswith(f"By {main} ")


def test_the_difference_is_of_the_queries_that_both_systems_have() -> None:
    rng = np.random.default_rng(0)
    scores = np.column_stack([rng.normal(0.5, 0.05, 40), rng.normal(0.3, 0.05, 40)])
    scores[:12, 0] = math.nan
    scores[:12, 1] = 0.9  # easy ones
    queries = tuple(f"q{i}" for i in range(40))
    report = systems({"f": ScoreTable(queries, ("a", "b"), scores)}, resamples=999)
    (pair,) = report.records("pairs")
    apart = (scores[12:, 0] - scores[12:, 1]).mean()
    assert (pair["queries"], pair["higher"]) == (28, "a")
    assert pair["difference"] == pytest.approx(apart, abs=1e-12)
    assert report.sentence == (
        f"By f a has the highest mean, {scores[12:, 0].mean():.3f}, "
        f"then b, {scores[:, 1].mean():.3f}. "
        f"On their 28 common queries a is {apart:.3f} higher, which is significant (p = 0.001)."
    )


def regression_interval(
    rated: FloatArray, scores: FloatArray, level: float, codes: IntArray
) -> tuple[float, float, float]:
    """The intercept of rated on scores around their mean over all, by least squares with HC3 errors."""
    there = np.isfinite(scores)
    both = there & np.isfinite(rated)
    n, y = int(both.sum()), rated[both]
    design = np.column_stack([np.ones(n), scores[both] - scores[there].mean()])
    inverse = np.linalg.inv(design.T @ design)
    intercept, slope = inverse @ design.T @ y
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    own = np.zeros(len(scores))
    own[both] = (
        (inverse @ design.T)[0] * (y - design @ [intercept, slope]) / (1 - leverage)
    )
    own[there] += slope * (scores[there] - scores[there].mean()) / there.sum()
    units = n**2 / float(np.sum(np.bincount(codes[both]) ** 2))
    variance = np.sum(np.bincount(codes, weights=own) ** 2) * units / (units - 1)
    half = stats.t.ppf((1 + level) / 2, units - 2) * math.sqrt(variance)
    return intercept, intercept - half, intercept + half


def rated_systems(*, rated: int = 60, seed: int = 0) -> dict[str, ScoreTable]:
    """A judge that takes a for the best of three systems, which people take for the worst."""
    rng = np.random.default_rng(seed)
    truth = np.clip(rng.normal([0.3, 0.5, 0.8], 0.15, (200, 3)), 0, 1)
    judge = 0.4 * truth + [0.4, 0.2, 0.0] + rng.normal(0, 0.03, (200, 3))
    truth[rng.permutation(200)[rated:]] = math.nan
    queries = tuple(f"q{i}" for i in range(200))
    judge[5, 2] = math.nan
    return {
        "f": ScoreTable(queries, SYSTEMS, judge),
        "human": ScoreTable(queries[::-1], SYSTEMS, truth[::-1]),
    }


@pytest.mark.parametrize("size", [1, 4], ids=["alone", "groups"])
def test_people_correct_the_differences_of_a_judge(size: int) -> None:
    data = rated_systems()
    codes = np.arange(200) // size
    if size > 1:
        data["f"] = replace(data["f"], groups=tuple(codes.tolist()))
    report = systems(data, resamples=99, alpha=0.1)
    scores, ratings = data["f"].scores.copy(), data["human"].scores[::-1]
    if size > 1:  # as the test, on the queries that all systems have scored
        scores[np.isnan(scores).any(axis=1)] = math.nan
    records = report.records("human ratings")
    assert len(records) == len(report.records("pairs")) == 3
    for record in records:
        i, j = SYSTEMS.index(record["higher"]), SYSTEMS.index(record["lower"])
        expected = regression_interval(
            ratings[:, i] - ratings[:, j],
            scores[:, i] - scores[:, j],
            1 - 0.1 / 3,
            codes,
        )
        given = [record[f"people{end}"] for end in ("", "_low", "_high")]
        assert given == pytest.approx(expected, abs=1e-9)
        assert (
            record["rated"]
            == np.isfinite(
                ratings[:, i] + ratings[:, j] + scores[:, i] + scores[:, j]
            ).sum()
        )
        assert record["reversed"] == (expected[2] < 0)
    # The judge has a before b before c, and people the other way round.
    assert sum(record["reversed"] for record in records) == 3
    farthest = min(records, key=lambda record: record["people"])
    assert (farthest["higher"], farthest["lower"]) == ("a", "c")
    assert (
        "People order 3 of 3 pairs the other way round: a minus c is +"
        in report.sentence
    )
    assert "correlations" not in {t.title for t in report.tables if t.records}


def test_ratings_that_agree_are_in_the_sentence_and_few_of_them_stand_alone() -> None:
    data = rated_systems(rated=20)
    data["f"] = replace(data["f"], scores=1 - np.nan_to_num(data["f"].scores))
    report = systems(data, resamples=99)
    (best,) = [
        r
        for r in report.records("human ratings")
        if {r["higher"], r["lower"]} == {"b", "c"}
    ]
    alone = estimate("mean", difference_of(data["human"], "c", "b"), level=1 - 0.05 / 3)
    assert (best["people"], best["people_low"]) == pytest.approx(
        (alone.value, alone.low)
    )
    assert (best["higher"], best["rated"]) == ("c", 20)
    shown = Column("people", "signed").cell(best)
    told = (
        " By the human ratings of 20 queries alone the difference is "
        f"{shown}. 3 of 3 pairs"
    )
    assert told in report.sentence
    assert "other way" not in report.sentence
    assert (best["scores_used"], best["reason"]) == (False, "")

    data["human"] = rated_systems()["human"]
    report = systems(data, resamples=99)
    assert " With the human ratings of 60 queries the difference is " in report.sentence
    assert {row["scores_used"] for row in report.records("human ratings")} == {True}


def test_ratings_without_an_interval_say_why() -> None:
    data = rated_systems(rated=1)
    data["f"] = replace(data["f"], scores=1 - np.nan_to_num(data["f"].scores))
    report = systems(data, resamples=99)
    records = report.records("human ratings")
    [reason] = {row["reason"] for row in records}
    assert reason
    assert {row["people_low"] for row in records} == {None}
    assert (
        " By the human ratings of 1 query alone the difference is " in report.sentence
    )
    assert f" (no interval: {reason})." in report.sentence
    [table] = [table for table in report.tables if table.title == "human ratings"]
    assert table.notes[-1] == f"no interval (c - a, b - a, c - b): {reason}"


def test_the_highest_mean_need_not_be_the_best() -> None:
    """People order these systems the other way round, and nobody says "best"."""
    sentence = systems(rated_systems(), resamples=99).sentence
    assert sentence.startswith("By f a has the highest mean, 0.")
    assert "the other way round" in sentence
    assert " best" not in sentence


def difference_of(table: ScoreTable, one: str, other: str) -> FloatArray:
    return table.column(one) - table.column(other)


def test_ratings_that_no_pair_shares() -> None:
    data = rated_systems()
    apart = data["human"].scores.copy()
    apart[::3, 1:], apart[1::3, ::2], apart[2::3, :2] = math.nan, math.nan, math.nan
    data["human"] = replace(data["human"], scores=apart)
    report = systems(data, resamples=20)
    assert "No query has human ratings of two systems." in report.notes
    assert not report.records("human ratings")
    data["human"] = rated_systems()["human"].select(methods=["a", "b"])
    (only,) = systems(data, resamples=20).records("human ratings")
    assert {only["higher"], only["lower"]} == {"a", "b"}
    sentence = systems(data, resamples=20).sentence
    assert "People order 1 of 1 pair the other way round: a minus b is +" in sentence
    assert systems(data, metrics=["f"], resamples=20).records("human ratings") == [only]
    with pytest.raises(
        InvalidValueError, match="give the ratings as their table 'human'"
    ):
        systems(data, human="human")


def test_judgements_are_compared_at_every_temperature(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name, chance in (("careful", 0.9), ("bold", 0.5)):
        shares = [chance, 1 - chance]
        verdicts = [
            rng.choice(["fully", "none"], 4, p=shares).tolist() for _ in range(30)
        ]
        judged = [
            Assessment.from_verdicts(v, sample_id=f"q{i}")
            for i, v in enumerate(verdicts)
        ]
        write_results(tmp_path / f"{name}.jsonl", judged)
    files = [f"{tmp_path / name}.jsonl" for name in ("careful", "bold")]
    report = systems(files, temperatures=[0.1, 0.9], resamples=200)
    names = ["faithfulness T=0.1", "faithfulness T=0.9"]
    assert [row["metric"] for row in report.records("metrics")] == names
    assert [row["system"] for row in report.records("means")] == ["careful", "bold"]


def judged_files(folder: Path) -> list[str]:
    """The answers of two systems by two criteria; people rated 12 of 30 of each, on a scale to 5."""
    for name, level in (("careful", "fully"), ("bold", "none")):
        judged = [
            Assessment.from_verdicts(
                [level, "partial"],
                criterion=criterion,
                sample_id=f"q{i}",
            ).model_copy(update={"metadata": {"stars": 1 + i % 5 if i < 12 else None}})
            for criterion in ("faithfulness", "answer_relevancy")
            for i in range(30)
        ]
        write_results(folder / f"{name}.jsonl", judged)
    return [f"{folder / name}.jsonl" for name in ("careful", "bold")]


def test_ratings_are_read_with_the_answers_of_each_system(tmp_path: Path) -> None:
    files = judged_files(tmp_path)
    tables = read_systems(files, human="stars", human_scale=(1, 5))
    assert [*tables][:4] == [*(f"faithfulness T={t}" for t in (0.1, 0.5, 0.9)), "human"]
    ratings = tables["human"]
    assert (ratings.methods, len(ratings)) == (("careful", "bold"), 30)
    assert ratings.column("bold")[:6].tolist() == [0, 0.25, 0.5, 0.75, 1, 0]
    assert np.isfinite(ratings.scores).sum() == 24
    with pytest.raises(InvalidValueError, match=r"--human-scale 1,5"):
        read_systems(files, human="stars")
    with pytest.raises(
        InvalidValueError, match=r"^human_scale=\(1, 5\) needs human ratings"
    ):
        systems(files, human_scale=(1, 5))
    labels = tmp_path / "labels.csv"
    labels.write_text("id,human\ncareful/q3,1\nbold/q3,0\nbold/q4,1\nq5,1\n")
    tables = read_systems(files, human=labels)
    given = {name: column[3:6].tolist() for name, column in tables["human"].columns}
    assert str(given) == "{'careful': [1.0, nan, nan], 'bold': [0.0, 1.0, nan]}"
    assert "1 of 4 labels match no sample." in tables["human"].notes[0]


def test_a_column_of_ratings_in_a_table_of_scores_is_taken(tmp_path: Path) -> None:
    rows = [
        f"q{i},{system},f,{score + i / 100},{rating}"
        for i in range(30)
        for system, score, rating in (("a", 0.6, i % 2), ("b", 0.2, 1))
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["query,system,metric,score,human", *rows]))
    report = systems(path, resamples=99)
    (record,) = report.records("human ratings")
    assert (record["higher"], record["people"], record["rated"]) == ("a", -0.5, 30)
    assert record["reversed"]
    # Their scale needs no name of a column that is found.
    (scaled,) = systems(path, human_scale=(-1, 1), resamples=99).records(
        "human ratings"
    )
    assert scaled["people"] == -0.25
    assert "lexical" not in report.sentence


def test_a_lexical_judge_is_named() -> None:
    sample = Sample(
        response="The office opens at nine.", contexts=["It opens at nine."]
    )
    result = TCVA(judge="lexical").evaluate_many([sample] * 3)
    report = systems({"a": result, "b": result}, resamples=20)
    assert report.sentence.endswith(" The lexical judge only compares words.")
