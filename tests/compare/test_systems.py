"""`systems`: figures are those of the statistics, and hypotheses are joined as written."""

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.compare import ScoreTable, systems
from tcva_adapters.errors import InvalidSampleError, TCVAError, UnreadableInputError
from tcva_adapters.results.writer import write_results
from tcva_adapters.stats.system_pairs import studentised, tukey

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
        other = tukey(table.scores, permutations=500, seed=3)
        pairs = [pair for pair in report.records("pairs") if pair["metric"] == metric]
        assert len(pairs) == 3
        for pair in pairs:
            i, j = SYSTEMS.index(pair["higher"]), SYSTEMS.index(pair["lower"])
            assert pair["p"] == pair["p_studentised"] == expected.p[i, j]
            assert pair["p_tukey"] == other.p[i, j]
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
    read = systems(data, resamples=500, seed=3, test="tukey").records("pairs")
    assert all(pair["p"] == pair["p_tukey"] for pair in read)


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
    once, again = (
        systems({"f": t}, resamples=500).records("pairs") for t in (alone, grouped)
    )
    for one, other in zip(once, again, strict=True):
        for name in ("p_studentised", "p_tukey", "difference", "detectable"):
            assert other[name] == pytest.approx(one[name], abs=1e-9)


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
