"""The figures of the paper's tables, from its stored verdicts, are those that were."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.paper.reproduction import reproduce
from tests.support.paper import FOLDER, needs_paper_data

STORED = Path(__file__).with_name("paper.json")


def figures() -> dict[str, Any]:
    """The figures of each set's tables, without fused scores."""
    report = reproduce(FOLDER, lexical=False)
    sets: dict[str, Any] = {
        record["set"]: {
            key: {} for key in ("table5", "table7", "table8", "table9", "unrounded")
        }
        for record in report.records("sets")
    }
    for five, six in zip(
        report.records("Table 5"), report.records("Table 6"), strict=True
    ):
        of, name = sets[five["set"]], five["method"]
        of["table5"][name] = {
            key: (five | six)[key] for key in ("n", "rho", "tau", "mae")
        }
        if "unrounded" in five:
            of["unrounded"][name] = five["unrounded"]
    for row in report.records("Table 7"):
        sets[row["set"]]["table7"][row["method"]] = row["rho"]
    for row in report.records("Table 9"):
        sets[row["set"]]["table9"][row["method"][0]] = row["rho"]
    for row in report.records("Table 8"):
        ends = {"rho": row["rho"], "low": row["rho_low"], "high": row["rho_high"]}
        sets[row["set"]]["table8"][row["method"]] = ends
    for row in report.records("Table 8, difference"):
        sets[row["set"]]["table8"]["paired"] = {
            "delta": row["difference"],
            "p_paper": row["p_one_sided"],
            "p_two_sided": row["p"],
            "low": row["difference_low"],
            "high": row["difference_high"],
        }
    return sets


def check_equal(found: Any, stored: Any) -> None:
    if isinstance(stored, dict):
        assert stored.keys() <= found.keys()
        for key, value in stored.items():
            check_equal(found[key], value)
    elif isinstance(stored, float):
        assert found == pytest.approx(stored, rel=1e-11, abs=1e-25, nan_ok=True)
    else:
        assert found == stored


@pytest.mark.slow
@needs_paper_data
def test_the_papers_figures() -> None:
    pytest.importorskip("scipy.stats", reason="the extra stats")
    check_equal(figures(), json.loads(STORED.read_text(encoding="utf-8")))
