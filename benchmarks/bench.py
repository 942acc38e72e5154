"""Speed beside the peers in one run, and the marked block of docs/measurements.md: `make bench`.

Run: python -m benchmarks.bench [--quick]

Every method of `benchmarks.peers` has a process of its own, is warmed up, and goes through all cells
(pause of the server, samples under way at once). Methods take turns; figures are medians over the rounds.
The bodies that the server received are then posted by the openai package alone, in another process, at
the same concurrency: *CPU* is what the method takes above that, in milliseconds a sample. *Wall* is the
clock over the pauses alone, in brackets that of the bare client. The scripted replies are as short as
the prompts allow.
"""

import argparse
import json
import math
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import tests.support.quiet  # noqa: F401  # tracking is switched off in every process that follows
from benchmarks.answering_server import Remote, samples, started
from benchmarks.peers import BARE, METHODS

FOLDER: Final = Path("build/bench")
PAGE: Final = Path("docs/measurements.md")
POSTED: Final = 250
"""Bodies that the bare client posts at most: what it takes for one is what counts."""
PACKAGES: Final = ("openai", "ragas", "deepeval", "llama-index-core", "langchain-core")


Figures = dict[str, list[list[dict[str, Any]]]]
"""By method, its rounds, each with a run for every cell."""


class Cell(NamedTuple):
    """One condition: the server's pause in milliseconds, samples at once, how many in all."""

    delay: int
    limit: int
    samples: int


def cells(wanted: int, delays: Sequence[int], limits: Sequence[int]) -> list[Cell]:
    """All conditions; fewer samples where fewer are at once, so that the rounds are as many.

    >>> [cell.samples for cell in cells(500, [0], [8, 32])]
    [125, 500]
    """
    sizes = {limit: max(1, wanted * limit // max(limits)) for limit in limits}
    return [
        Cell(delay, limit, number)
        for delay in delays
        for limit, number in sizes.items()
    ]


def ideal_seconds(requests: int, delay: float, limit: int) -> float:
    """How long the server's pauses take where `limit` requests wait at once and all else is free.

    >>> ideal_seconds(500, 0.2, 32)   # 16 rounds
    3.2
    """
    return math.ceil(requests / limit) * delay


def cpu_above_bare(run: dict[str, float], requests: int, number: int) -> float:
    """Milliseconds of CPU a sample that a bare client does not need for the same requests.

    >>> run = {"cpu": 3.0, "bare_cpu": 0.5, "posted": 500}
    >>> cpu_above_bare(run, requests=1000, number=500)
    4.0
    """
    return 1000 * (run["cpu"] - run["bare_cpu"] * requests / run["posted"]) / number


@contextmanager
def child(
    method: str, file: Path, server: Remote
) -> Iterator[Callable[..., dict[str, float]]]:
    """A method's process; called with (first, last, limit), it scores these rows of the file."""
    command = [sys.executable, "-m", "benchmarks.peers", method, str(file)]
    log_name = f"{re.sub('[^a-z]+', '-', method.lower())}.log"
    with (
        (FOLDER / log_name).open("a", encoding="utf-8") as log,
        subprocess.Popen(
            command, stdin=-1, stdout=-1, stderr=log, text=True
        ) as process,
    ):
        stdin, stdout = process.stdin, process.stdout
        assert stdin and stdout  # noqa: PT018  # both are pipes

        def ask(first: int, last: int, limit: int) -> dict[str, float]:
            stdin.write(json.dumps([server.base_url, first, last, limit]) + "\n")
            stdin.flush()
            line = stdout.readline()
            found: dict[str, float] = json.loads(line) if line else {}
            if found.get("scored") != last - first:
                msg = f"{found.get('scored', 'no')} of {last - first} scores; see {log.name}"
                raise RuntimeError(msg)
            return found

        try:
            yield ask
        finally:
            stdin.close()
            process.terminate()


def measure(
    method: str, columns: Sequence[Cell], server: Remote
) -> list[dict[str, Any]]:
    """A method once through all cells, then the bare client with the bodies that it sent."""
    file, warm = FOLDER / "samples.jsonl", max(cell.limit for cell in columns)
    needed = samples(warm + sum(cell.samples for cell in columns))
    file.write_text(
        "\n".join(s.model_dump_json(exclude_none=True) for s in needed), "utf-8"
    )
    found: list[dict[str, Any]] = []
    received: list[list[bytes]] = []
    with child(method, file, server) as ask:
        server.reset(0)
        ask(0, warm, warm)
        first = warm
        for cell in columns:
            server.reset(cell.delay / 1000)
            run = ask(first, first + cell.samples, cell.limit)
            connections, bodies = server.reset(0)
            first += cell.samples
            received.append(bodies)
            found.append({**run, "requests": len(bodies), "connections": connections})
    posted = [bodies[:: -(-len(bodies) // POSTED)] for bodies in received]
    (FOLDER / "bodies.jsonl").write_bytes(
        b"\n".join(body for each in posted for body in each)
    )
    with child(BARE, FOLDER / "bodies.jsonl", server) as ask:
        first = 0
        ask(0, len(posted[0]), warm)
        for cell, bodies, run in zip(columns, posted, found, strict=True):
            server.reset(cell.delay / 1000)
            alone = ask(first, first + len(bodies), cell.limit)
            first += len(bodies)
            run |= {
                "bare_cpu": alone["cpu"],
                "bare_wall": alone["wall"],
                "posted": len(bodies),
            }
    server.reset(0)
    return found


def span(values: Iterable[float]) -> str:
    """The smallest and the largest of some figures.

    >>> span([0.5, 0.25, 0.3]), span([])
    ('0.25-0.50', '-')
    """
    shown = sorted(values)
    return f"{shown[0]:.2f}-{shown[-1]:.2f}" if shown else "-"


def table(figures: Figures, columns: Sequence[Cell]) -> str:
    """The methods: over all cells the smallest and the largest CPU, and the last cell's wall.

    Args:
        figures: By method, its rounds, each with a run for every cell.
        columns: The cells.
    """
    last, above = columns[-1], {}
    for method, rounds in figures.items():
        pairs = [zip(each, columns, strict=True) for each in rounds]
        above[method] = [
            [cpu_above_bare(r, r["requests"], c.samples) for r, c in p] for p in pairs
        ]
    lines = [f"{'':38}{'CPU, ms':>13}{'to own':>11}{'wall':>13}{'calls':>6}"]
    for method, rounds in figures.items():
        own = above.get(METHODS[method].own)
        shares = [
            median(
                a[i] / b[i]
                for a, b in zip(above[method], own, strict=False)
                if b[i] > 0
            )
            for i in range(len(columns))
            if own and any(b[i] > 0 for b in own)
        ]
        runs, wall = [r[-1] for r in rounds], "-"
        if last.delay:
            own_wall, alone = (
                median(
                    r[key] / ideal_seconds(r[n], last.delay / 1000, last.limit)
                    for r in runs
                )
                for key, n in (("wall", "requests"), ("bare_wall", "posted"))
            )
            wall = f"{own_wall:.2f} ({alone:.2f})"
        cpu = span(median(r[i] for r in above[method]) for i in range(len(columns)))
        calls = runs[0]["requests"] / last.samples
        lines.append(f"{method:38}{cpu:>13}{span(shares):>11}{wall:>13}{calls:6.2f}")
    return "\n".join(lines)


def between(page: str, name: str, text: str) -> str:
    r"""The page with this text between the markers of that name.

    Raises:
        ValueError: The page has no such markers.

    >>> between("<!-- bench: a -->x<!-- end: a -->", "a", "1")
    '<!-- bench: a -->\n\n1\n\n<!-- end: a -->'
    """
    start, end = f"<!-- bench: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(page):
        msg = f"no markers {start} and {end}"
        raise ValueError(msg)
    return pattern.sub(lambda _: f"{start}\n\n{text}\n\n{end}", page)


def circumstances() -> str:
    """When, at which commit, and with which packages, as a sentence."""
    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    commit = subprocess.getoutput("git rev-parse --short=8 HEAD")
    at = f"{datetime.now(UTC):%Y-%m-%d}, commit {commit}, {os.cpu_count()} cores"
    return f"{at}, Python {platform.python_version()}: {found}."


def measure_all(
    methods: Sequence[str], columns: Sequence[Cell], rounds: int
) -> Figures:
    """Methods in turn, so many times; one that fails is named and left out."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    figures: Figures = {method: [] for method in methods}
    with started() as server:
        for number in range(rounds):
            for method in list(figures):
                print(f"{number + 1}/{rounds} {method}", flush=True)
                try:
                    figures[method].append(measure(method, columns, server))
                except (RuntimeError, OSError) as error:
                    print(f"{method} is left out: {error}", flush=True)
                    del figures[method]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed beside the peers, in one run")
    parser.add_argument(
        "--quick", action="store_true", help="one short round; the page stays"
    )
    is_quick = parser.parse_args().quick
    columns = cells(64, [0, 200], [32]) if is_quick else cells(500, [0, 200], [8, 32])
    figures = measure_all([*METHODS], columns, 1 if is_quick else 3)
    shown = table(figures, columns)
    print(shown)
    if not is_quick and len(figures) == len(METHODS):
        text = f"{circumstances()}\n\n```text\n{shown}\n```"
        PAGE.write_text(
            between(PAGE.read_text("utf-8"), "speed", text), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
