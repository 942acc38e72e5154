"""The arithmetic of `make bench`, its tables, and one method from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import bench_table
from benchmarks.bench import LONG, PAGE, STEPS, rows
from benchmarks.bench_figures import cpu_above_bare, ideal_seconds, middle, prefix_share, ratio
from benchmarks.bench_methods import ROWS, Row, cells, run
from benchmarks.bench_tokens import prompt_text


def test_ideal_is_whole_rounds_of_the_pause() -> None:
    assert ideal_seconds(500, 0.2, 32) == pytest.approx(3.2)  # 15.6 rounds are 16
    assert ideal_seconds(512, 0.2, 32) == pytest.approx(3.2)
    assert ideal_seconds(513, 0.2, 32) == pytest.approx(3.4)
    assert ideal_seconds(500, 0.0, 8) == 0


def test_cpu_above_bare_takes_off_every_request_of_the_method() -> None:
    # 250 bodies cost the bare client 0.5 s, so the method's 1000 requests cost 2 s of its 3 s.
    above = cpu_above_bare(3.0, 0.5, posted=250, requests=1000, samples=500)
    assert above == pytest.approx(0.002)


def test_prefix_cache_serves_whole_blocks_from_the_beginning() -> None:
    first, second = [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 9, 6, 7]
    assert prefix_share([first, second], block=2) == (4, 14)
    assert prefix_share([first, second], block=3) == (3, 14)
    assert prefix_share([first, first], block=2) == (6, 14)  # the seventh fills no block
    assert prefix_share([first, second], block=2, least=5) == (0, 14)
    # What is alike behind a difference is of no use.
    assert prefix_share([[1, 2, 3, 4], [9, 9, 3, 4]], block=2) == (0, 8)
    assert prefix_share([], block=2) == (0, 0)


def test_prefix_cache_remembers_all_earlier_prompts() -> None:
    assert prefix_share([[1, 1], [2, 2], [1, 1], [2, 2]], block=2) == (4, 8)


def test_ratio_and_median_of_nothing() -> None:
    assert middle([]) is None
    assert middle([3.0, 1.0, 2.0]) == 2.0
    assert ratio(1.0, 2.0) == 0.5
    # A peer that is as cheap as the bare client gives no ratio.
    assert ratio(1.0, 0.0) is None
    assert ratio(1.0, -0.1) is None
    assert ratio(None, 1.0) is None


def test_cells_have_as_many_rounds_at_each_concurrency() -> None:
    found = {cell.key: cell.samples for cell in cells(500, [0, 200], [8, 32])}
    assert found == {"0/8": 125, "0/32": 500, "200/8": 125, "200/32": 500}


def test_prompt_text_holds_tools_and_all_parts() -> None:
    body = {
        "tools": [{"type": "function"}],
        "messages": [
            {"role": "system", "content": "a"},
            {"role": "user", "content": [{"type": "text", "text": "b"}]},
            {"role": "assistant", "content": None},
        ],
    }
    assert prompt_text(body) == '{"type": "function"}\nsystem\na\nuser\nb\nassistant\n'


def _figures(*cpus: float, ours: bool, group: str = "ragas") -> dict[str, Any]:
    """Methods with two requests a sample, at 100 ms and 10 at once: ideal are 2 s."""
    runs = [{"cpu": c, "wall": 3.0, "bare_cpu": 1.0, "bare_wall": 1.1, "posted": 100} for c in cpus]
    return {
        "group": group,
        "ours": ours,
        "connections": 20,
        "requests": 200,
        "cells": {"100/10": {"runs": runs, "samples": 100, "requests": 200}},
        "tokens": dict.fromkeys(("prompt", "schema", "completion"), 12.4)
        | {"blocks": 0.5, "own": 0.25, "steps": 0.0},
    }


def test_time_table_holds_ours_against_the_frameworks_own() -> None:
    methods = {
        "theirs": _figures(4.0, 6.0, 9.0, ours=False),  # 20, 40 and 70 ms above the bare client
        "ours": _figures(3.0, 3.0, 3.0, ours=True),  # 10 ms: 0.5, 0.25, 0.14
        "other": _figures(3.0, ours=True, group="core"),
    }
    lines = bench_table.time_table(methods).splitlines()
    assert lines[2] == "| theirs | 40.00 | - | 1.50 (1.10) | 0.10 |"
    assert lines[3] == "| ours | 10.00 | 0.25 | 1.50 (1.10) | 0.10 |"
    assert lines[4] == "| other | 10.00 | - | 1.50 (1.10) | 0.10 |"


def test_token_table() -> None:
    lines = bench_table.token_table({"a": _figures(1.0, ours=True)}).splitlines()
    assert lines[2] == "| a | 2.00 | 12 | 12 | 12 | 50% | 25% | 0% |"


def test_page_without_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match="no markers <!-- bench: time -->"):
        bench_table.between("", "time", "")


def test_page_has_a_place_for_every_step() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in ("machine", "time", "tokens", *STEPS, *LONG):
        bench_table.between(page, name, "")


def test_rows_by_framework() -> None:
    assert rows([]) == list(ROWS)
    assert {row.group for row in rows(["ragas"])} == {"ragas"}
    assert len(rows(["all"])) > len(ROWS)
    with pytest.raises(SystemExit, match="no methods of nobody"):
        rows(["nobody"])


@pytest.mark.slow
def test_one_method_from_end_to_end(tmp_path: Path) -> None:
    row = Row("core", "evaluate_many, our client", ours=True)
    columns = cells(8, [0, 20], [4])
    found = run([row], columns, repeats=2, folder=tmp_path)[row.label]
    assert set(found["cells"]) == {"0/4", "20/4"}
    for key, cell in found["cells"].items():
        assert (cell["samples"], cell["requests"], len(cell["runs"])) == (8, 8, 2)
        assert all(each["bare_cpu"] > 0 and each["posted"] == 8 for each in cell["runs"])
        ours, alone = bench_table.over_ideal(key, cell)
        assert key == "0/4" or (ours is not None and ours >= 1 and alone is not None and alone >= 1)
    assert found["tokens"]["prompt"] > 500
    # 4 + 8 + 8 samples of one claim list each, twice.
    assert found["requests"] == 40
    assert 0 < found["connections"] <= 24


def test_a_method_that_fails_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([Row("core", "nobody")], cells(4, [0], [4]), repeats=2, folder=tmp_path) == {}
    assert capsys.readouterr().out.count("left out") == 1
