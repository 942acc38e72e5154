"""Memory and time of whole commands as the number of samples grows; time of readers as a text does.

Run: python -m benchmarks.growth [--sizes 1000,10000] [--commands evaluate,compare,report]
     python -m benchmarks.growth --sizes 10000,1000000 --commands sweep       (two minutes)
     python -m benchmarks.growth --sizes 10000,1000000 --commands evaluate    (an hour)
     python -m benchmarks.growth --readers all [--sizes 16000,32000,64000,128000,256000]
Each command is a process of its own; its peak memory and its CPU time are the kernel's. Samples are
short, seeded and all different. ``store`` judges by a model, which is a server in another process that
answers at once, with a verdict store.

Readers are all that read what others wrote (`benchmarks.readers`). Each reads hard texts of growing length; shown is
the CPU time of the text that takes it longest, and the exponent of its growth from the first size with 20 ms on: 1
is linear. An exponent above 1.4 ends the command with 1.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.answering_server import started
from benchmarks.readers import READERS, texts
from tcva_adapters.errors import TCVAError

_PLACES: Final = (
    "harbour",
    "library",
    "museum",
    "station",
    "garden",
    "theatre",
    "market",
    "tower",
)
_DAYS: Final = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
_JUDGED_FOR_SWEEP: Final = 5_000
SAMPLES: Final = "samples.jsonl"
COMMANDS: Final = {
    "evaluate": ("evaluate", SAMPLES, "--judge", "lexical", "--out", "judged.jsonl"),
    "store": ("evaluate", SAMPLES, "--judge", "openai:m", "--store", "store.sqlite", "--out", "asked.jsonl"),
    "sweep": ("sweep", "judged.jsonl"),
    "compare": ("compare", SAMPLES, "--judge", "lexical", "--with", "ragas", "--metrics", "faithfulness", "--out", "side"),
    "report": ("report", "judged.jsonl", "--samples", SAMPLES, "--out", "report.html"),
}  # fmt: skip
JUDGED: Final = "judged.jsonl"

LIMIT: Final = 1.4
"""The exponent from which on growth is not linear."""

_CLEAR: Final = 0.02  # seconds that are no noise


class Measured(NamedTuple):
    """What a process took: peak memory in megabytes, seconds of CPU."""

    megabytes: float
    cpu: float


def write_samples(path: Path, number: int) -> None:
    """Short samples with one to three claims, of which some are wrong."""
    rng = random.Random(0)  # seeded, and no secret
    with path.open("w", encoding="utf-8") as file:
        for n in range(number):
            place, day, hour = (
                rng.choice(_PLACES),
                rng.choice(_DAYS),
                rng.randrange(6, 13),
            )
            facts = [
                f"The {place} of district {n} opens at {hour}.",
                f"It is closed on {day}.",
            ]
            facts += [f"A ticket costs {rng.randrange(2, 40)} coins."] * (n % 2)
            said = [
                facts[0] if rng.random() < 0.7 else f"The {place} opens at {hour + 1}."
            ]
            said += rng.sample(facts[1:], rng.randrange(0, len(facts)))
            question = f"When does the {place} of district {n} open?"
            record = {"id": f"s{n}", "question": question, "answer": " ".join(said)}
            file.write(json.dumps(record | {"contexts": [" ".join(facts)]}) + "\n")


def run(folder: Path, command: str, address: str) -> Measured:
    """A command as a process of its own, in a folder; it has to succeed."""
    server = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
    with (folder / "said").open("wb") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "tcva_adapters", *COMMANDS[command]],
            cwd=folder, env={**os.environ, **server}, stdout=said, stderr=subprocess.STDOUT,
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # it was waited for here
    if child.returncode:
        sys.exit((folder / "said").read_text(encoding="utf-8"))
    return Measured(usage.ru_maxrss / 1000, usage.ru_utime + usage.ru_stime)


def judged_again_and_again(folder: Path, size: int, address: str) -> None:
    """As many results as `evaluate` would write, by repeating those of some samples."""
    with tempfile.TemporaryDirectory() as name:
        write_samples(Path(name) / SAMPLES, min(size, _JUDGED_FOR_SWEEP))
        run(Path(name), "evaluate", address)
        lines = (Path(name) / "judged.jsonl").read_bytes().splitlines(keepends=True)
    with (folder / "judged.jsonl").open("wb") as file:
        file.writelines(islice(cycle(lines), size))


def seconds(reader: str, text: str) -> float:
    """The CPU time that a reader takes for a text, the least of two."""
    times = []
    for _ in range(2):
        began = time.process_time()
        with suppress(TCVAError):
            READERS[reader](text)
        times.append(time.process_time() - began)
    return min(times)


def measure_readers(readers: Sequence[str], sizes: Sequence[int]) -> float:
    """Print a line for each reader; the largest exponent of all."""
    print(
        f"{'ms of CPU for kilobytes':27}"
        + "".join(f"{size // 1000:8}" for size in sizes)
    )
    largest = 0.0
    for reader in readers:
        times: dict[str, list[float]] = {}
        for size in sizes:
            for made_of, text in texts(reader, size):
                times.setdefault(made_of, []).append(seconds(reader, text))
        made_of, slowest = max(times.items(), key=lambda one: one[1][-1])
        at = next(
            (at for at, took in enumerate(slowest) if took >= _CLEAR), len(sizes) - 1
        )
        growth = 1.0
        if at < len(sizes) - 1:
            growth = math.log(slowest[-1] / slowest[at]) / math.log(
                sizes[-1] / sizes[at]
            )
            largest = max(largest, growth)
        shown = "".join(f"{1000 * took:8.0f}" for took in slowest)
        print(f"{reader:27}{shown}{growth:7.2f}  {made_of!r}", flush=True)
    return largest


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Memory and time as what is read grows"
    )
    parser.add_argument("--sizes", help="samples; characters for readers")
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--readers", help="names with commas between, or all")
    given = parser.parse_args()
    given.sizes = given.sizes or (
        "16000,32000,64000,128000,256000" if given.readers else "1000,10000"
    )
    if given.readers:
        readers = [*READERS] if given.readers == "all" else given.readers.split(",")
        largest = measure_readers(readers, [*map(int, given.sizes.split(","))])
        sys.exit(largest > LIMIT)
    commands, sizes = (
        given.commands.split(","),
        [int(size) for size in given.sizes.split(",")],
    )
    print(f"{'':10}{'samples':>9}{'MB':>8}{'CPU s':>9}{'us/sample':>11}")
    peaks: dict[str, list[float]] = {}
    with started() as server:
        for size in sizes:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                write_samples(folder / SAMPLES, size)
                for command in commands:
                    if command == "sweep" and not (folder / JUDGED).exists():
                        judged_again_and_again(folder, size, server.base_url)
                    elif command == "report" and not (folder / JUDGED).exists():
                        run(folder, "evaluate", server.base_url)
                    found = run(folder, command, server.base_url)
                    peaks.setdefault(command, []).append(found.megabytes)
                    took = f"{found.cpu:9.2f}{found.cpu / size * 1e6:11.0f}"
                    print(
                        f"{command:10}{size:9}{found.megabytes:8.0f}{took}", flush=True
                    )
    for command, memory in peaks.items():
        print(f"{command}: {max(memory) - min(memory):.0f} MB between the sizes")


if __name__ == "__main__":
    main()
