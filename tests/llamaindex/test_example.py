"""The example runs offline as it is, and adds TCVA to its suite in three lines."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "llamaindex_rag.py"
LLAMAINDEX, STRICT, BALANCED, LENIENT = range(4)


@pytest.mark.slow
def test_it_runs_offline_and_tells_the_answers_apart() -> None:
    # The good answer is a sentence of a document; of the half right one, a second sentence is
    # invented; the wrong one says the opposite of a document.
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True)
    table = [line for line in done.stdout.splitlines() if re.match(r" {,8}\d\.\d{3} ", line)]
    good, half, wrong = ([float(cell) for cell in line.split()[:4]] for line in table)
    assert good[LLAMAINDEX] == 1.0
    assert good[STRICT] > 0.9
    assert half[LLAMAINDEX] == 0.0
    assert half[STRICT] < half[BALANCED] < half[LENIENT]
    assert wrong[BALANCED] < 0.5
    assert "judge: lexical" in done.stdout


def test_three_lines_are_added() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert sum("# TCVA: line" in line for line in lines) == 3
