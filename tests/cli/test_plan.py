"""``tcva plan``: pilots and assumptions in, numbers of labels out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.cli.app import run
from tcva_adapters.compare import plan
from tcva_adapters.core.aggregation import sweep
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.files import write_assessments
from tcva_adapters.stats.planning import labels_for_difference, pilot_spread, width

N = 60


@pytest.fixture(autouse=True, name="data")
def _two_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(8)
    quality = rng.random(N)
    human = np.round(np.clip(quality + rng.normal(0, 0.2, N), 0, 1) * 4) / 4
    data = {"human": human}
    levels = ("fully", "mostly", "partial", "minor", "none")
    for name, noise in (("judged", 0.2), ("other", 0.4)):
        assessments, counts = [], np.zeros((N, 5))
        for i in range(N):
            drawn = np.clip(np.round(4 * (1 - quality[i] + rng.normal(0, noise, 4))), 0, 4)
            counts[i] = np.bincount(drawn.astype(int), minlength=5)
            metadata = {"grade": float(human[i]), "page": i // 3, "stars": 1 + 4 * float(human[i])}
            words = [levels[int(level)] for level in drawn]
            given = {"sample_id": f"s{i}", "judge": name, "metadata": metadata}
            assessments.append(Assessment.from_verdicts(words).model_copy(update=given))
        data[name] = sweep(counts, [0.5])[:, 0]
        # The other method's samples stand in another order, and one is missing.
        write_assessments(f"{name}.jsonl", assessments if name == "judged" else assessments[:0:-1])
    data["other"][0] = np.nan
    return data


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["plan", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_one_method_is_planned_from_its_pilot(
    capsys: pytest.CaptureFixture[str], data: dict[str, np.ndarray]
) -> None:
    found = said(capsys, "judged.jsonl", "--human", "grade", "--width", "0.1", "-n", "77")
    spread = pilot_spread("spearman", [data["judged"]], data["human"])
    assert found["spread"]["per_label"] == pytest.approx(spread.per_label, rel=1e-9)
    assert (found["spread"]["n"], found["is_paired"], found["difference"]) == (N, False, None)
    rows = {row["labels"]: row for row in found["rows"]}
    assert rows[N]["why"] == "the pilot"
    assert rows[77]["why"] == "asked for"
    assert rows[77]["width"] == pytest.approx(width(spread, 77), rel=1e-9)
    assert rows[found["needed_for_width"]]["width"] <= 0.1
    low, high = found["needed_for_width_between"]
    assert low < found["needed_for_width"] < high
    assert list(rows) == sorted(rows)


def test_two_methods_are_matched_by_their_ids(
    capsys: pytest.CaptureFixture[str], data: dict[str, np.ndarray]
) -> None:
    arguments = ["judged.jsonl", "--against", "other.jsonl", "--difference", "0.06"]
    for objective in ("spearman", "mae", "mean"):
        found = said(capsys, *arguments, "--objective", objective, "--human", "grade")
        human = None if objective == "mean" else data["human"]
        spread = pilot_spread(objective, [data["judged"], data["other"]], human)
        assert found["needed"] == labels_for_difference(spread, 0.06)
        assert (found["spread"]["n"], found["is_paired"]) == (N - 1, True)
    grouped = said(capsys, *arguments, "--human", "grade", "--group", "page")
    assert grouped["spread"]["clusters"] == N // 3
    assert "20 groups" in grouped["source"]


def test_what_is_printed_fits_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "judged.jsonl", "--human", "grade", "--difference", "0.05"]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "known from: a pilot of 60 samples at T=0.5" in printed
    assert "finds 0.05" in printed
    assert run(["plan", "--objective", "mean", "--spread", "0.3", "-n", "50"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The mean score: 50 labels give an interval 0.171 wide and find")


def test_assumptions(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, *["--correlation", "0.6", "--between", "0.8", "--difference", "0.05"])
    assert found["is_paired"]
    assert found["needed_between"] is None
    assert "the other's 0.55" in found["source"]
    assert abs(found["needed"] - 913) < 60
    tiny = said(capsys, *["--objective", "mae", "--spread", "0.3", "--difference", "1e-6"])
    assert tiny["needed"] is None
    assert "more than ten million labels" in tiny["sentence"]
    assert {len(row) for row in plan(objective="mean", spread=0.3, width=0.1).records()} == {5}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "from a pilot, or from a correlation"),
        ("--objective f1", "no objective 'f1'"),
        ("--objective mean", "from a pilot, or from its spread"),
        ("--objective mean --correlation 0.5 --spread 0.1", "alone"),
        ("--correlation 0.5 --between 0.5", "give the difference"),
        ("--correlation 0.9 --between -0.5 --difference 0.1", "go together"),
        ("judged.jsonl", "measured against human ratings"),
        ("judged.jsonl --human grade --spread 0.2", "known from the pilot"),
        ("judged.jsonl --human stars --objective mae", "outside [0, 1]"),
        ("judged.jsonl --human grade --power 0.05 --difference 0.1", "the power is 0.05"),
        ("judged.jsonl --human grade --level 1", "level"),
        ("judged.jsonl --human grade -n 1", "labels is 1"),
        ("judged.jsonl --human grade -T 7", "7"),
    ],
)
def test_what_is_refused(capsys: pytest.CaptureFixture[str], arguments: str, says: str) -> None:
    assert run(["plan", *arguments.split()]) == 2
    assert says in " ".join(capsys.readouterr().err.split())


def test_other_samples_are_no_pilot_of_a_difference() -> None:
    with pytest.raises(InvalidValueError, match="has an id of the other's"):
        plan("judged.jsonl", human="grade", against=[Assessment.from_verdicts(["fully"])])


def test_no_row_has_fewer_labels_than_ten_groups() -> None:
    counts = np.random.default_rng(3).multinomial(5, [0.5, 0.2, 0.1, 0.1, 0.1], 120)
    found = plan(counts, objective="mean", group=[i // 6 for i in range(120)])
    assert [row.labels for row in found.rows][:3] == [100, 120, 200]
