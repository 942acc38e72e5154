"""The arithmetic of `make bench`, its table, and one method from end to end."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks import bench
from benchmarks.bench import (
    Cell,
    between,
    cells,
    cpu_above_bare,
    ideal_seconds,
    measure_all,
    table,
)
from benchmarks.peers import METHODS

OWN, OURS = "RAGAS Faithfulness", "RAGAS TCVAMetric, openai:MODEL"
CELL = Cell(delay=100, limit=10, samples=100)


def test_ideal_is_whole_rounds_of_the_pause() -> None:
    assert ideal_seconds(500, 0.2, 32) == pytest.approx(3.2)  # 15.6 rounds are 16
    assert ideal_seconds(513, 0.2, 32) == pytest.approx(3.4)
    assert ideal_seconds(500, 0.0, 8) == 0


def test_cpu_above_bare_takes_off_every_request_of_the_method() -> None:
    # 250 bodies cost the bare client 0.5 s, so the method's 1000 requests cost 2 s of its 3 s.
    run = {"cpu": 3.0, "bare_cpu": 0.5, "posted": 250}
    assert cpu_above_bare(run, requests=1000, number=500) == pytest.approx(2.0)


def test_cells_have_as_many_rounds_at_each_concurrency() -> None:
    found = {cell[:2]: cell.samples for cell in cells(500, [0, 200], [8, 32])}
    assert found == {(0, 8): 125, (0, 32): 500, (200, 8): 125, (200, 32): 500}


def figures(*cpus: float) -> list[list[dict[str, Any]]]:
    """Rounds with two requests a sample, at 100 ms and 10 at once: ideal are 2 s."""
    run = {
        "wall": 3.0,
        "bare_cpu": 1.0,
        "bare_wall": 1.1,
        "posted": 100,
        "requests": 200,
    }
    return [[{**run, "cpu": cpu}] for cpu in cpus]


def test_the_table_holds_tcva_against_the_frameworks_own() -> None:
    # 20, 40 and 70 ms above the bare client; 10 ms, which are 0.5, 0.25 and 0.14 of them.
    lines = table(
        {OWN: figures(4.0, 6.0, 9.0), OURS: figures(3.0, 3.0, 3.0)}, [CELL]
    ).splitlines()
    assert lines[1].split()[2:] == ["40.00-40.00", "-", "1.50", "(1.10)", "2.00"]
    assert lines[2].split()[3:5] == ["10.00-10.00", "0.25-0.25"]


def test_the_page_has_a_place_for_the_table() -> None:
    page = bench.PAGE.read_text(encoding="utf-8")
    assert between(page, "speed", "here") != page
    with pytest.raises(ValueError, match="nowhere"):
        between(page, "nowhere", "")


@pytest.mark.slow
def test_one_method_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setitem(
        METHODS, "of nobody", METHODS[OURS]
    )  # its process does not know it
    columns = cells(8, [0, 20], [4])
    name = "TCVA evaluate_many"
    found = measure_all([name, "of nobody"], columns, rounds=2)
    assert capsys.readouterr().out.count("left out") == 1
    assert list(found) == [name]
    for rounds in found[name]:
        for run in rounds:
            assert (run["scored"], run["requests"], run["posted"]) == (8, 8, 8)
            assert run["bare_cpu"] > 0
            assert 0 < run["connections"] <= 4
    assert len(table(found, columns).splitlines()) == 2
