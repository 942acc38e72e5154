"""``tcva compare`` offline: all four frameworks' own metrics, unmodified, and TCVA, in one command.

A process of its own judges the package's samples with the lexical judge, under a guard that notes
and refuses every connection. Nothing is downloaded, nothing is asked. Then the same command again:
everything is served from the cache.

Run: python -m benchmarks.compare_offline
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.silence import guard

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "tcva_adapters/data/samples.jsonl"
TARGET_SECONDS = 60
WITH = "ragas,deepeval,llamaindex,langchain"


def child(log: str, *arguments: str) -> None:
    """The command, under the guard."""
    guard(0, Path(log))
    from tcva_adapters.cli.app import run  # noqa: PLC0415  # not before the guard stands

    sys.exit(run(list(arguments)))


def timed(folder: Path) -> dict[str, Any]:
    """Figures of one run of the command in an empty folder that is also its home."""
    log = folder / "guard.log"
    out = folder / "side_by_side"
    command = [
        *(sys.executable, "-m", "benchmarks.compare_offline", str(log)),
        *("compare", str(SAMPLES), "--with", WITH, "--judge", "lexical"),
        *("--temperatures", "0.1,0.5,0.9", "--out", str(out), "--json"),
    ]
    environment = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
    environment |= {
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
    }
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    figures = json.loads(done.stdout)["run"]
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        "seconds": round(seconds, 1),
        "CPU seconds": round(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1
        ),
        "judgements made": sum(figures["judged"].values()),
        "judgements cached": sum(figures["cached"].values()),
        "methods": len({row["method"] for row in rows}),
        "rows": len(rows),
        "rows with a score": sum(bool(row["score"]) for row in rows),
        "rows without, by reason": dict(
            Counter(row["unscored"].partition(":")[0] for row in rows if not row["score"])
        ),
        "connections": len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0,
        "left in the folder": sorted(
            path.name for path in folder.iterdir() if path not in (log, out)
        ),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = timed(Path(folder)), timed(Path(folder))
    print(f"{'':<26}{'first run':>12}{'second run':>12}")
    for name, value in first.items():
        if isinstance(value, int | float):
            print(f"{name:<26}{value:>12}{second[name]:>12}")
        else:
            print(f"{name}: {value or 'nothing'}")
    if first["seconds"] > TARGET_SECONDS or first["connections"]:
        sys.exit(f"target: under {TARGET_SECONDS} s and no connection")


if __name__ == "__main__":
    child(*sys.argv[1:]) if sys.argv[1:] else main()
