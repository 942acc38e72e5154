"""The examples run offline as they are, and add TCVA to their suites in three lines."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THEIRS, STRICT, BALANCED, LENIENT = range(4)
# Of the half right answer the second sentence is invented.
HALF = {"deepeval_suite.py": 0.5, "llamaindex_rag.py": 0.0, "ragas_suite.py": 0.5}
each_example = pytest.mark.parametrize("name", HALF)


@pytest.mark.slow
@each_example
def test_it_runs_offline_and_ranks_its_answers(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    table = [
        line
        for line in done.stdout.splitlines()
        if re.match(r" {,8}\d\.\d{3} +\d", line)
    ]
    good, half, wrong = ([float(cell) for cell in line.split()[:4]] for line in table)
    assert good[THEIRS] == 1.0
    assert good[STRICT] > 0.9
    assert half[THEIRS] == HALF[name]
    assert half[STRICT] < half[BALANCED] < half[LENIENT]
    assert wrong[BALANCED] < 0.5
    assert "judge: lexical" in done.stdout
    assert list(tmp_path.iterdir()) == []


@each_example
def test_three_lines_are_added(name: str) -> None:
    assert (ROOT / "examples" / name).read_text(encoding="utf-8").count(
        "# TCVA: line"
    ) == 3
