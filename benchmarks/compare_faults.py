"""``tcva compare`` through an HTTP judge with faults: who is accounted for, what is repeated.

A server on 127.0.0.1 answers every prompt, ours and the framework metrics', with the lexical judge's
replies. Of its answers 5 % are errors (500) and 5 % garbage: half of that a page of HTML, half a
chat completion whose text has nothing to do with the question. The same command runs three times
in one folder with the faults, and once in another without, which tells what the scores should be.

Run: python -m benchmarks.compare_faults
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported
from tcva_adapters.cli.app import run
from tcva_adapters.compare.running.cached import CachedJudgement
from tests.support.cached import records
from tests.support.lexical_server import PROSE, LexicalServer

SAMPLES = Path(__file__).resolve().parents[1] / "tcva_adapters/data/samples.jsonl"
ERRORS = GARBAGE = 0.05
REPEATED = ("judge_error", "metric_error", "unreadable_reply", "incomplete_verdicts")
"""Reasons that another run tries again."""

Cells = dict[tuple[str, str], tuple[str, str]]
"""Score and reason by sample and method."""


def compared(server: LexicalServer, out: Path) -> dict[str, Any]:
    """One run of the command: its figures, its rows, and what reached the server."""
    os.environ |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
    requests, faults, started = server.count, len(server.faults), time.perf_counter()
    arguments = ["compare", str(SAMPLES), "--with", "all", "--judge", "openai:m"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as said:
        code = run([*arguments, "--out", str(out), "--json"])
    if code or server.unknown:
        sys.exit(f"exit code {code}: {said.getvalue()[-500:]} {server.unknown[:1]}")
    with (out / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        "figures": json.loads(printed.getvalue())["run"],
        "rows": len(rows),
        "cells": {(r["sample"], r["method"]): (r["score"], r["unscored"]) for r in rows},
        "on_prose": on_prose(out / "verdicts.sqlite"),
        "requests": server.count - requests,
        "faults": Counter(fault.kind for fault in server.faults[faults:]),
        "seconds": time.perf_counter() - started,
    }


def on_prose(store: Path) -> Counter[str]:
    """By method, the cached scores whose verdict is the garbage itself."""
    cached = map(CachedJudgement.from_json, records(store))
    return Counter(
        said.method
        for said in cached
        if said.score.score is not None
        and any(PROSE in verdict.word + verdict.reason for verdict in said.score.verdicts)
    )


def failed(cells: Cells) -> set[tuple[str, str]]:
    """Judgements that have no score because something failed; TCVA's temperatures are one."""
    return {
        (sample, "tcva" if method.startswith("tcva ") else method)
        for (sample, method), (_, why) in cells.items()
        if why.partition(":")[0] in REPEATED
    }


def line(name: str, one: dict[str, Any], repeated: str) -> str:
    cells: Cells = one["cells"]
    faults, figures = one["faults"], one["figures"]
    words = Counter(why.partition(":")[0] for score, why in cells.values() if not score)
    return (
        f"{name:<12}{one['seconds']:>6.1f} s {one['requests']:>8} {faults['500']:>5} "
        f"{faults['page']:>5} {faults['prose']:>5} {sum(figures['judged'].values()):>10} "
        f"{sum(figures['cached'].values()):>6} {len(cells) - words.total():>7} "
        f"{len(failed(cells)):>7}  {repeated}"
    )


def main() -> None:
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        with LexicalServer() as server:
            clean = compared(server, Path(folder) / "clean")
        with LexicalServer(errors=ERRORS, garbage=GARBAGE) as server:
            runs = [compared(server, Path(folder) / "faults") for _ in range(3)]
    print(
        f"{'run':<12}{'':>8} {'requests':>8} {'500s':>5} {'pages':>5} {'prose':>5} "
        f"{'judgements':>10} {'cached':>6} {'scored':>7} {'failed':>7}  repeated"
    )
    print(line("no faults", clean, "-"))
    before = None
    for number, one in enumerate(runs, start=1):
        repeated = "-"
        if before is not None:
            made = sum(one["figures"]["judged"].values())
            repeated = f"{made} of the {len(before)} that had failed"
            if made != len(before):
                wrong.append(f"run {number}: {made} judgements instead of {len(before)}")
        before = failed(one["cells"])
        print(line(f"run {number}", one, repeated))
        cells: Cells = one["cells"]
        if cells.keys() != clean["cells"].keys() or one["rows"] != len(cells):
            wrong.append(f"run {number}: not every sample is accounted for")
        if any(bool(score) is bool(why) for score, why in cells.values()):
            wrong.append(f"run {number}: a row with neither or both of score and reason")
    last, true = runs[-1]["cells"], clean["cells"]
    lost = [cell for cell, (score, _) in last.items() if not score and true[cell][0]]
    other = [cell for cell, (score, _) in last.items() if score and score != true[cell][0]]
    print(
        f"\n{len(last)} rows: {len(last) - len(lost) - len(other)} as without faults, {len(lost)} "
        f"still without the score that they have without faults, {len(other)} with another score"
    )
    print(f"framework scores that rest on prose, taken for an answer: {dict(runs[-1]['on_prose'])}")
    if any(method.startswith("tcva ") for _, method in other):
        wrong.append("garbage changed a score of TCVA")
    if wrong:
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
