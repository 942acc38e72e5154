"""The example runs offline as it is, and adds TCVA to its suite in three lines."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "ragas_suite.py"
THEIRS, STRICT, BALANCED, LENIENT = range(4)


@pytest.mark.slow
def test_it_runs_offline_and_tells_the_answers_apart() -> None:
    # The good answer is a sentence of a document; of the half right one, the second of two
    # sentences is invented; the wrong one shares nothing with its documents.
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True)
    table = [line for line in done.stdout.splitlines() if re.match(r" ?\d\.\d{3} ", line)]
    good, half, wrong = ([float(cell) for cell in line.split()[:4]] for line in table)
    assert good[THEIRS] == 1.0
    assert good[STRICT] > 0.9
    assert half[THEIRS] == 0.5
    assert half[STRICT] < half[BALANCED] < half[LENIENT]
    assert wrong[THEIRS] == 0.0
    assert wrong[LENIENT] < 0.1
    assert "judge: lexical" in done.stdout
    assert "Warning" not in done.stderr


def test_three_lines_are_added() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert sum("# TCVA: line" in line for line in lines) == 3
