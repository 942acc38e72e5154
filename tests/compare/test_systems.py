"""Systems compared: figures are those of the statistics, and hypotheses are joined as written."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters.compare import compare_systems
from tcva_adapters.compare.systems.hypotheses import read_hypotheses
from tcva_adapters.compare.systems.read import read_systems
from tcva_adapters.compare.systems.table import SystemRow, SystemTable
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.result import Result
from tcva_adapters.stats.describe import describe
from tcva_adapters.stats.power import power_view, variability
from tcva_adapters.stats.randomisation import tukey_hsd
from tcva_adapters.stats.studentised import studentised_pairs

SYSTEMS = ("a", "b", "c")
METRICS = ("f T=0.1", "f T=0.9", "qr")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(*, n: int = 40, seed: int = 0) -> SystemTable:
    """Clear differences under the first metric, one under the second, none under the third."""
    rng = np.random.default_rng(seed)
    shifts = np.array([[0.0, 0.2, 0.4], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]])
    raw = rng.normal(0.4, 0.1, (3, n, 1)) + rng.normal(0, 0.1, (3, n, 3)) + shifts[:, None, :]
    scores = np.round(np.clip(raw, 0, 1), 2)
    scores[1, 3, 2] = math.nan
    return SystemTable(SYSTEMS, tuple(f"q{i}" for i in range(n)), METRICS, scores)


def written(entries: Any, name: str = "h.json") -> Path:
    path = Path(name)
    path.write_text(entries if isinstance(entries, str) else json.dumps(entries))
    return path


def test_figures_are_those_of_the_statistics() -> None:
    data = table()
    report = compare_systems(data, permutations=500, seed=3, difference=0.1, estimate="count")
    for place, one in enumerate(report.figures):
        scores = data.scores[place]
        assert one.metric == METRICS[place]
        expected = studentised_pairs(scores, permutations=500, seed=3, estimate="count")
        assert np.array_equal(one.test.p, expected.p, equal_nan=True)
        tukey = tukey_hsd(scores, permutations=500, seed=3, estimate="count")
        assert np.array_equal(one.tukey.p, tukey.p, equal_nan=True)
        assert one.descriptions == tuple(describe(column) for column in scores.T)
        assert one.power == power_view(variability(scores), 0.1, seed=3)
        assert one.asl.tolist() == sorted(expected.pair_ps().tolist())
    assert [one.discrimination.significant for one in report.figures] == [3, 2, 0]
    powers = {t: found.power for t, found in report.by_temperature()["f"].items()}
    assert powers == {0.1: 1.0, 0.9: 2 / 3}
    assert list(report.by_temperature()) == ["f"]
    assert report.notes == ("f T=0.9: of 40 queries, some have no score: c 1",)


def test_correlations_are_within_systems() -> None:
    data = table()
    report = compare_systems(data, permutations=20)
    assert set(report.correlations) == {"pearson", "spearman", "kendall"}
    found = report.correlations["pearson"]["b"].values[0, 2]
    expected = np.corrcoef(data.scores[0, :, 1], data.scores[2, :, 1])[0, 1]
    assert found == pytest.approx(expected, abs=1e-12)
    z = [math.atanh(m.values[0, 2]) for m in report.correlations["pearson"].values()]
    assert report.averaged["pearson"].values[0, 2] == pytest.approx(math.tanh(np.mean(z)))
    assert compare_systems(data.only(["qr"]), permutations=20).correlations == {}


def test_everything_is_json() -> None:
    report = compare_systems(table(), permutations=50, difference=0.1)
    figures = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert figures["systems"] == ["a", "b", "c"]
    assert set(figures["metrics"]["qr"]["systems"]) == set(SYSTEMS)
    assert len(figures["metrics"]["qr"]["pairs"]) == 3
    assert set(figures["by_temperature"]["f"]) == {"0.1", "0.9"}
    assert figures["metrics"]["qr"]["power"]["difference"] == 0.1


def test_progress_counts_over_all_metrics() -> None:
    told: list[tuple[str, int, int]] = []
    compare_systems(table(), permutations=30, progress=lambda *now: told.append(now))
    assert told[0] == ("f T=0.1", 30, 90)
    assert told[-1] == ("qr", 90, 90)


def test_hypotheses_are_joined_and_corrected() -> None:
    data = table()
    path = written(
        [
            {
                "name": "c beats all",
                "pairs": [["c", "a"], ["c", "b"]],
                "metrics": ["f T=0.1", "f T=0.9"],
                "direction": "greater",
                "join": "all",
            },
            {"name": "a and b differ somewhere", "pairs": [["a", "b"]], "join": "any"},
            {"name": "b loses", "pairs": [["b", "a"]], "metrics": "f T=0.1", "direction": "less"},
        ]
    )
    report = compare_systems(data, hypotheses=path, permutations=999, alpha=0.01)
    strict, lenient, direct = (one.test for one in report.figures)
    first, second, third = report.hypotheses
    assert first.ps == (
        strict.p[2, 0] / 2,
        strict.p[2, 1] / 2,
        lenient.p[2, 0] / 2,
        lenient.p[2, 1] / 2,
    )
    assert first.p == max(first.ps)
    assert first.differences[0] == strict.means[2] - strict.means[0]
    assert second.ps == (strict.p[0, 1], lenient.p[0, 1], direct.p[0, 1])
    assert second.p == 3 * min(second.ps)
    # b's mean is higher, so "b is less" has the other side's p.
    assert third.p == 1 - strict.p[0, 1] / 2
    # Holm: 0.0005 x 3, 0.003 x 2, and the third alone.
    assert [one.adjusted for one in report.hypotheses] == [
        3 * first.p,
        pytest.approx(2 * second.p),
        third.p,
    ]
    assert [one.supported for one in report.hypotheses] == [True, True, False]


def test_one_chance_for_each_metric() -> None:
    data = table()
    entry = {"name": "h", "pairs": [["a", "b"], ["b", "c"]], "join": "any", "chances": "metrics"}
    report = compare_systems(
        data, hypotheses=read_hypotheses(written([entry]), data), permutations=99
    )
    (found,) = report.hypotheses
    assert len(found.ps) == 6
    assert found.p == 3 * min(found.ps)


def test_hypotheses_as_csv() -> None:
    data = table()
    rows = (
        "hypothesis,first,second,metric,direction,join\n"
        "h1,c,a,f T=0.1,greater,all\n"
        "h1,c,b,qr,,\n"
        "h2,a,b,,,any\n"
    )
    first, second = read_hypotheses(written(rows, "h.csv"), data)
    assert [(c.metric, c.direction) for c in first.comparisons] == [
        ("f T=0.1", "greater"),
        ("qr", "different"),
    ]
    assert (first.join, second.join) == ("all", "any")
    assert [c.metric for c in second.comparisons] == list(METRICS)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"pairs": [["a", "x"]]}, InvalidValueError, "no system 'x'.*there are a, b, c"),
        ({"metrics": ["f"]}, InvalidValueError, "no metric 'f'.*f T=0.1"),
        ({"pairs": [["a", "a"]]}, UnreadableInputError, "compared with itself"),
        ({"pairs": [["a"]]}, UnreadableInputError, "list of two systems"),
        ({"pairs": []}, UnreadableInputError, "pairs is"),
        ({"name": ""}, UnreadableInputError, "name is ''"),
        ({"direction": "up"}, UnreadableInputError, "direction is 'up'"),
        ({"join": None}, UnreadableInputError, "joins 3 comparisons; say join"),
        ({"join": "some"}, UnreadableInputError, "join is 'some'"),
        ({"join": ["all"]}, UnreadableInputError, "join is"),
        ({"chances": "pairs"}, UnreadableInputError, "chances is 'pairs'"),
        ({"pair": 1}, UnreadableInputError, "unknown field 'pair'"),
        ({"metrics": 3}, UnreadableInputError, "metrics is 3"),
        ({"pairs": [["a", "b"], ["a", "b"]]}, UnreadableInputError, "same comparison twice"),
    ],
)
def test_mistakes_in_hypotheses(changes: dict[str, Any], error: type[Exception], said: str) -> None:
    entry = {"name": "h", "pairs": [["a", "b"]], "join": "all"} | changes
    with pytest.raises(error, match=said):
        read_hypotheses(written([entry]), table())


def test_mistakes_in_files_of_hypotheses() -> None:
    data = table()
    entry = {"name": "h", "pairs": [["a", "b"]], "metrics": ["qr"]}
    with pytest.raises(UnreadableInputError, match="two hypotheses are named 'h'"):
        read_hypotheses(written([entry, entry]), data)
    for text, name, said in (
        ("[]", "h.json", "no hypothesis"),
        ("[", "h.json", "not JSON"),
        ("hypothesis,first\nh,a\n", "h.csv", "'second' is empty"),
        ("hypothesis,first,second,join\nh,a,b,all\nh,a,c,any\n", "h.csv", "several values of join"),
    ):
        with pytest.raises(UnreadableInputError, match=said):
            read_hypotheses(written(text, name), data)


def test_nothing_to_compare() -> None:
    one = SystemTable.of([SystemRow("a", "1", "m", 0.5)])
    with pytest.raises(InvalidSampleError, match="one system, 'a'"):
        compare_systems(one)
    apart = SystemTable.of([SystemRow("a", "1", "m", 0.5), SystemRow("b", "2", "m", 0.5)])
    with pytest.raises(InvalidSampleError, match="no query has scores of two systems"):
        compare_systems(apart)
    rows = [SystemRow(s, "1", "m", 0.5) for s in "ab"]
    mixed = SystemTable.of([*rows, SystemRow("a", "1", "only a", 0.5)])
    report = compare_systems(mixed, permutations=9)
    assert [one.metric for one in report.figures] == ["m"]
    assert report.notes == (
        "only a: left out, no query has scores of two systems",
        "m: no studentised p; two systems share 1 of the 20 queries that this test needs",
    )
    assert report.sentence.endswith(
        "not tested: two systems share 1 of the 20 queries that this test needs"
    )
    assert compare_systems(mixed, permutations=9, test="tukey").sentence.startswith("By m, a (0.5")
    entry = {"name": "h", "pairs": [["a", "b"]], "metrics": ["only a"]}
    with pytest.raises(InvalidSampleError, match="only a: no query"):
        compare_systems(mixed, hypotheses=read_hypotheses(written([entry]), mixed))
    with pytest.raises(InvalidValueError, match="level is 0"):
        compare_systems(table(), alpha=0)
    with pytest.raises(InvalidValueError, match="give the difference too"):
        compare_systems(table(), queries=50)


def test_notes_say_what_is_odd() -> None:
    rows = [SystemRow(s, str(q), "m", 10.0 * q) for s in "ab" for q in range(2)]
    report = compare_systems(SystemTable.of(rows), permutations=20, difference=0.1)
    assert any("lie outside the bounds 0 to 1" in note for note in report.notes)
    assert any("no power view" in note for note in report.notes)
    assert report.figures[0].power is None
    report = compare_systems(SystemTable.of(rows), permutations=20, bounds=(0, 10))
    assert report.notes == (
        "m: no studentised p; two systems share 2 of the 20 queries that this test needs",
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"difference": 0.0}, "difference is 0.0"),
        ({"difference": math.nan}, "difference is nan"),
        ({"difference": 0.1, "queries": 0}, "queries is 0"),
        ({"bounds": (0.0, math.inf)}, "bounds are"),
        ({"alpha": 1.0}, "level is 1.0"),
    ],
)
def test_settings_are_checked_before_the_shuffles(options: dict[str, Any], said: str) -> None:
    def progress(*_: object) -> None:
        pytest.fail("it has begun")

    with pytest.raises(InvalidValueError, match=said):
        compare_systems(table(n=10), progress=progress, **options)


def test_settings_are_checked_where_there_is_nothing_to_show() -> None:
    rows = [SystemRow(system, "q", "f", 0.5) for system in SYSTEMS]  # too few for a power view
    with pytest.raises(InvalidValueError, match="difference is nan"):
        compare_systems(SystemTable.of(rows), difference=math.nan)


def test_fused_judgements_are_compared_by_their_fused_scores() -> None:
    member = Assessment.from_verdicts(["none", "fully"], judge="other")
    for name in ("one", "two"):
        main = Assessment.from_verdicts(["fully", "minor"], judge="main", sample_id="q")
        fused = main.model_copy(update={"members": (member,)} if name == "two" else {})
        write_assessments(f"{name}.jsonl", [fused])
    read = read_systems(["one.jsonl", "two.jsonl"], temperatures=[0.5])
    (plain, both), expected = read.scores[0, 0], Result(fused)
    assert plain == Result(main).score
    # The geometric mean of the two judges' scores.
    assert both == pytest.approx(math.sqrt(plain * (Result(member).score or 0.0)), abs=1e-12)
    assert both == expected.score
    assert read.notes == (
        "systems have different judges, so differences may be theirs (one: main; two: main + other)",
    )
