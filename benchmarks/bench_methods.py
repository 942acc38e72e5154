"""What TCVA and its peers take a sample above a bare client: each in a process of its own, in turn.

A process makes its method for an address, is warmed up, and is then asked for each cell of the table
(pause of the server, samples under way) with samples that it has not seen. The bodies that the server
received are then posted by the openai package alone, in another process, at the same concurrency.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.adapter_methods import samples
from benchmarks.answering_server import Remote, answer, house, started
from benchmarks.bench_child import BARE, OUR_CLIENT, PEER, Asked
from benchmarks.bench_tokens import count

REFERENCE: Final = Path(".venv-bench-reference/bin/python")
"""eval-ai-library's environment: litellm, which it pins, asks for an older openai."""
POSTED: Final = 250
"""Bodies that the bare client posts at most: what it takes for one is what counts."""


@dataclass(frozen=True, slots=True)
class Row:
    """A method of the table.

    Attributes:
        group: The framework it runs in.
        name: What it is called there.
        ours: Whether it is TCVA.
    """

    group: str
    name: str
    ours: bool = False

    @property
    def label(self) -> str:
        """With its framework, as tables call it."""
        return f"{TITLES.get(self.group, '')}{self.name}"


TITLES: Final = {
    "core": "TCVA ",
    "ragas": "RAGAS ",
    "deepeval": "DeepEval ",
    "llamaindex": "LlamaIndex ",
    "langchain": "LangChain ",
}


def _with_ours(group: str, name: str) -> tuple[Row, Row]:
    return Row(group, name, ours=True), Row(group, name + OUR_CLIENT, ours=True)


ROWS: Final = (
    Row("core", "evaluate_many" + OUR_CLIENT, ours=True),
    Row("core", "aevaluate_many" + OUR_CLIENT, ours=True),
    Row("ragas", "Faithfulness"),
    *_with_ours("ragas", "TCVAMetric"),
    Row("deepeval", "FaithfulnessMetric"),
    *_with_ours("deepeval", "TCVAMetric"),
    Row("llamaindex", "FaithfulnessEvaluator"),
    *_with_ours("llamaindex", "TCVAEvaluator"),
    Row("langchain", "labeled_criteria"),
    Row("langchain", "openevals LLM-as-judge"),
    *_with_ours("langchain", "TCVAEvaluator.abatch"),
    Row(PEER, "eval-ai-library"),
)
MORE_ROWS: Final = (
    Row("ragas", "collections.Faithfulness"),
    *_with_ours("ragas", "TCVACollectionMetric"),
    Row("deepeval", "FaithfulnessMetric.a_measure"),
    *_with_ours("deepeval", "TCVAMetric.a_measure"),
    Row("langchain", "LangSmith labeled_criteria"),
    *_with_ours("langchain", "LangSmith TCVARunEvaluator"),
)
"""The frameworks' other ways, with `--methods all` or a framework's name."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a figure stands: the server's pause in milliseconds, samples under way, how many in all."""

    delay: int
    concurrency: int
    samples: int

    @property
    def key(self) -> str:
        """Its name in the file of figures."""
        return f"{self.delay}/{self.concurrency}"


def cells(wanted: int, delays: Sequence[int], concurrencies: Sequence[int]) -> list[Cell]:
    """All of them; fewer samples where fewer are under way, so that the rounds are as many.

    >>> [cell.samples for cell in cells(500, [0], [8, 32])]
    [125, 500]
    """
    most = max(concurrencies)
    return [
        Cell(delay, at_once, max(1, wanted * at_once // most))
        for delay in delays
        for at_once in concurrencies
    ]


@contextmanager
def child(row: Row, file: Path, log: IO[str]) -> Iterator[subprocess.Popen[str]]:
    """A method's process, for as long as it is asked."""
    python = str(REFERENCE) if row.name == "eval-ai-library" else sys.executable
    command = [python, "-m", "benchmarks.bench_child", row.group, row.name, str(file)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=log, text=True) as process:
        try:
            yield process
        finally:
            if process.stdin:
                process.stdin.close()
            process.terminate()


def asked(process: subprocess.Popen[str], cell: Asked, *, expected: int) -> dict[str, float]:
    """What a process measured for a cell.

    Raises:
        RuntimeError: It ended, or some samples have no score.
    """
    assert process.stdin is not None  # both are pipes
    assert process.stdout is not None
    process.stdin.write(json.dumps(cell) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    found: dict[str, float] = json.loads(line) if line else {}
    if found.get("scored") != expected:
        msg = f"{found.get('scored', 'no')} of {expected} scores; see the log"
        raise RuntimeError(msg)
    return found


class Bench:
    """One run over all methods.

    Attributes:
        folder: For samples, bodies and logs.
        cells: The columns.
        figures: What was measured so far, by method: what `benchmarks.bench_table` reads.
    """

    def __init__(self, folder: Path, columns: Sequence[Cell]) -> None:
        self.folder = folder
        self.cells = columns
        self.figures: dict[str, Any] = {}
        self._warm = max(cell.concurrency for cell in columns)
        self._file = folder / "samples.jsonl"
        needed = self._warm + sum(cell.samples for cell in columns)
        lines = (sample.model_dump_json(exclude_none=True) for sample in samples(needed))
        self._file.write_text("\n".join(lines), encoding="utf-8")

    def measure(self, row: Row, server: Remote) -> None:
        """A method once through all cells, then the bare client with its bodies."""
        figures = self.figures.setdefault(
            row.label, {**asdict(row), "cells": {}, "connections": 0, "requests": 0}
        )
        log_name = f"{row.label}.log".replace("/", "-").replace(" ", "-")
        received: list[list[bytes]] = []
        with (
            (self.folder / log_name).open("a", encoding="utf-8") as log,
            child(row, self._file, log) as process,
        ):
            first = self._warm
            warm = Asked(server.base_url, 0, self._warm, self._warm)
            server.reset(0)
            asked(process, warm, expected=self._warm)
            for cell in self.cells:
                self._note(figures, server, cell.delay)
                job = Asked(server.base_url, first, first + cell.samples, cell.concurrency)
                found = asked(process, job, expected=cell.samples)
                bodies = self._note(figures, server, 0)
                received.append(bodies)
                first += cell.samples
                kept = figures["cells"].setdefault(cell.key, {"runs": []})
                kept |= {"samples": cell.samples, "requests": len(bodies)}
                kept["runs"].append(found)
        self._bare(row, server, received)
        if "tokens" not in figures:
            most = max(received, key=len)
            figures["tokens"] = asdict(
                count(
                    most,
                    samples=self.cells[received.index(most)].samples,
                    answer=answer,
                    about=house,
                )
            )

    @staticmethod
    def _note(figures: dict[str, Any], server: Remote, delay: int) -> list[bytes]:
        """Set the server's pause; count what it has seen, and give the bodies."""
        connections, bodies = server.reset(delay / 1000)
        figures["connections"] += connections
        figures["requests"] += len(bodies)
        return bodies

    def _bare(self, row: Row, server: Remote, received: Sequence[Sequence[bytes]]) -> None:
        posted = [bodies[:: -(-len(bodies) // POSTED)] for bodies in received]
        file = self.folder / "bodies.jsonl"
        warm = posted[0][: self._warm]
        file.write_bytes(b"\n".join(chain(warm, *posted)))
        with (
            (self.folder / "bare.log").open("a", encoding="utf-8") as log,
            child(Row(BARE, BARE), file, log) as process,
        ):
            asked(process, Asked(server.base_url, 0, len(warm), 8), expected=len(warm))
            first = len(warm)
            for cell, bodies in zip(self.cells, posted, strict=True):
                server.reset(cell.delay / 1000)
                job = Asked(server.base_url, first, first + len(bodies), cell.concurrency)
                found = asked(process, job, expected=len(bodies))
                first += len(bodies)
                run = self.figures[row.label]["cells"][cell.key]["runs"][-1]
                run |= {
                    "bare_cpu": found["cpu"],
                    "bare_wall": found["wall"],
                    "posted": len(bodies),
                }
        server.reset(0)


def run(
    rows: Sequence[Row], columns: Sequence[Cell], *, repeats: int, folder: Path
) -> dict[str, Any]:
    """Measure methods, in turn, so many times; a method that fails is named and left out.

    Args:
        rows: The methods.
        columns: The cells of each.
        repeats: How often; figures are medians of them.
        folder: For logs and samples; it is made.

    Returns:
        The figures of each method under its label.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(folder, columns)
    failed: set[str] = set()
    with started() as server:
        for number, row in chain(
            *(zip(repeat(n), rows) for n in range(repeats))
        ):  # repeat has no end
            if row.label in failed:
                continue
            print(f"{number + 1}/{repeats}  {row.label}", flush=True)
            try:
                bench.measure(row, server)
            except (RuntimeError, OSError) as error:
                failed.add(row.label)
                bench.figures.pop(row.label, None)
                print(f"  left out: {error}", flush=True)
    return bench.figures
