"""Memory and time of whole commands from a thousand samples to a million.

Run: python -m benchmarks.growth [--sizes 1000,10000] [--commands evaluate,compare,report]
     python -m benchmarks.growth --sizes 10000,1000000 --commands sweep       (two minutes)
     python -m benchmarks.growth --sizes 10000,1000000 --commands evaluate    (an hour)
     python -m benchmarks.growth --sizes 10000,100000 --commands compare,report,folder
Each command is a process of its own; its peak memory is the kernel's. Samples are short, seeded and
all different; files are deleted afterwards. ``store`` judges by a model, which is a server in
another process that answers at once, with a verdict store; ``again`` is served by that store. The
first result is seen when the first whole line is in the file that becomes the result, or is it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

_PLACES: Final = ("harbour", "library", "museum", "station", "garden", "theatre", "market", "tower")
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_POLL: Final = 0.02
_JUDGED_FOR_SWEEP: Final = 5_000
_SAMPLES: Final = "samples.jsonl"
_JUDGED: Final = "judged.jsonl"
_ASKED: Final = "asked.jsonl"
_ADDRESS: Final = "address"
_SIDE: Final = "side"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a process took.

    Attributes:
        megabytes: Its peak memory.
        seconds: From its start to its end.
        cpu: Seconds of the processor, user and system.
        first: Seconds until the first result was written; None where nothing is.
        written: Bytes of what it wrote.
    """

    megabytes: float
    seconds: float
    cpu: float
    first: float | None
    written: int


def write_samples(path: Path, number: int) -> None:
    """Short samples with one to three claims, of which some are wrong, and a human rating."""
    rng = random.Random(0)  # seeded, and no secret
    with path.open("w", encoding="utf-8") as file:
        for n in range(number):
            place, day, hour = rng.choice(_PLACES), rng.choice(_DAYS), rng.randrange(6, 13)
            told = [f"The {place} of district {n} opens at {hour}.", f"It is closed on {day}."]
            told += [f"A ticket costs {rng.randrange(2, 40)} coins."] * (n % 2)
            said = [told[0] if rng.random() < 0.7 else f"The {place} opens at {hour + 1}."]
            said += rng.sample(told[1:], rng.randrange(0, len(told)))
            record = {
                "id": f"s{n}",
                "question": f"When does the {place} of district {n} open?",
                "answer": " ".join(said),
                "contexts": [" ".join(told)],
                "human": round(rng.random(), 2),
            }
            file.write(json.dumps(record) + "\n")


def run(folder: Path, out: str | None, *arguments: str, **environment: str) -> Measured:
    """A command as a process of its own, in a folder; it has to succeed."""
    before = set(folder.iterdir())
    command = [sys.executable, "-m", "tcva_adapters", *arguments]
    started = time.perf_counter()
    with (folder / "said").open("wb") as said:
        child = subprocess.Popen(  # this package
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        first: float | None = None
        while True:
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if first is None and out is not None and _has_line(folder, out, before):
                first = time.perf_counter() - started
            if ended:
                break
            time.sleep(_POLL)
    child.returncode = os.waitstatus_to_exitcode(status)  # it was waited for here
    if child.returncode != 0:
        raise SystemExit((folder / "said").read_text(encoding="utf-8"))
    written = 0 if out is None else (folder / out).stat().st_size
    return Measured(
        megabytes=usage.ru_maxrss / 1000,
        seconds=time.perf_counter() - started,
        cpu=usage.ru_utime + usage.ru_stime,
        first=first,
        written=written,
    )


def _has_line(folder: Path, out: str, before: set[Path]) -> bool:
    """Whether the result, or a draft beside it that carries its name, holds a whole line."""
    for path in set(folder.iterdir()) - before:
        if out in path.name and path.is_file():
            try:
                with path.open("rb") as file:
                    return file.readline().endswith(b"\n")
            except FileNotFoundError:
                continue  # it took the result's place just now
    return False


@contextmanager
def judge() -> Iterator[str]:
    """A server that answers our prompts at once; its address."""
    server = subprocess.Popen(  # this file
        [sys.executable, "-m", "benchmarks.growth", "--serve"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


async def _serve() -> None:
    # A process begins with the peak memory of the one that started it, which stays small without.
    from tests.support.server import auto_judge  # noqa: PLC0415  # see above

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            lengths = [
                v for n, _, v in (line.partition(":") for line in head) if n == "content-length"
            ]
            body = json.loads(await reader.readexactly(int(lengths[0])))
            message = {"role": "assistant", "content": auto_judge(body, 0)}
            usage = {"prompt_tokens": 500, "completion_tokens": 100, "total_tokens": 600}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            reply: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1}
            reply |= {"model": "m", "choices": [choice], "usage": usage}
            data = json.dumps(reply).encode()
            kind = b"Content-Type: application/json\r\n"
            length = b"Content-Length: %d\r\n\r\n" % len(data)
            writer.write(b"HTTP/1.1 200 OK\r\n" + kind + length + data)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


async def _head(reader: asyncio.StreamReader) -> list[str]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return []
    return head.decode("latin-1").lower().split("\r\n")


def evaluate(folder: Path, more: Sequence[str]) -> Measured:
    """By the lexical judge."""
    return run(folder, _JUDGED, "evaluate", _SAMPLES, "--out", _JUDGED, *more)


def ccrs(folder: Path, more: Sequence[str]) -> Measured:
    """Three direct metrics by the lexical judge."""
    wanted = ("--ccrs", "cc,qr,ir", "--out", "rated.jsonl")
    return run(folder, "rated.jsonl", "evaluate", _SAMPLES, *wanted, *more)


def compare(folder: Path, more: Sequence[str]) -> Measured:
    """TCVA beside RAGAS' faithfulness, both by the lexical judge; the first result is in the store."""
    wanted = ("--judge", "lexical", "--with", "ragas", "--metrics", "faithfulness")
    return run(folder, None, "compare", _SAMPLES, *wanted, "--out", _SIDE, *more)


def report(folder: Path, more: Sequence[str]) -> Measured:
    """One page of what ``evaluate`` wrote, with the samples' texts."""
    if not (folder / _JUDGED).exists():
        evaluate(folder, ())
    wanted = ("--samples", _SAMPLES, "--out", "report.html")
    return run(folder, None, "report", _JUDGED, *wanted, *more)


def folder_report(folder: Path, more: Sequence[str]) -> Measured:
    """One page of what ``compare`` wrote."""
    if not (folder / _SIDE).exists():
        compare(folder, ())
    return run(folder, None, "report", _SIDE, "--out", "side.html", *more)


def sweep(folder: Path, more: Sequence[str]) -> Measured:
    """At ten temperatures, over what ``evaluate`` wrote; alone, over its first results again and again."""
    if not (folder / _JUDGED).exists():
        with (folder / _SAMPLES).open("rb") as file:
            size = sum(1 for _ in file)
        with tempfile.TemporaryDirectory() as name:
            write_samples(Path(name) / _SAMPLES, min(size, _JUDGED_FOR_SWEEP))
            evaluate(Path(name), ())
            judged = (Path(name) / _JUDGED).read_bytes().splitlines(keepends=True)
        with (folder / _JUDGED).open("wb") as file:
            file.writelines(islice(cycle(judged), size))
        del judged
    return run(folder, None, "sweep", _JUDGED, *more)


def store(folder: Path, more: Sequence[str]) -> Measured:
    """By a model, with a store."""
    with judge() as address:
        (folder / _ADDRESS).write_text(address, encoding="utf-8")
        return _asked(folder, address, more)


def again(folder: Path, more: Sequence[str]) -> Measured:
    """The same, from the store: nobody is at the address any more, which is part of its keys."""
    if not (folder / _ADDRESS).exists():
        store(folder, more)
    (folder / _ASKED).unlink()
    return _asked(folder, (folder / _ADDRESS).read_text(encoding="utf-8"), more)


def _asked(folder: Path, address: str, more: Sequence[str]) -> Measured:
    wanted = ("--judge", "openai:m", "--store", "store.sqlite", "--out", _ASKED, *more)
    server = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
    return run(folder, _ASKED, "evaluate", _SAMPLES, *wanted, **server)


COMMANDS: Final[Mapping[str, Callable[[Path, Sequence[str]], Measured]]] = {
    "evaluate": evaluate,
    "store": store,
    "again": again,
    "sweep": sweep,
    "ccrs": ccrs,
    "compare": compare,
    "report": report,
    "folder": folder_report,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--serve", action="store_true", help="be the judge")
    parser.add_argument("more", nargs="*", help="options of the commands, after --")
    wanted = parser.parse_args()
    if wanted.serve:
        asyncio.run(_serve())
        return
    print(
        f"{'':10}{'samples':>9}{'MB':>8}{'s':>9}{'CPU s':>9}{'us/sample':>11}{'first s':>9}{'B/sample':>10}"
    )
    peaks: dict[str, list[float]] = {}
    for size in map(int, wanted.sizes.split(",")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_samples(folder / _SAMPLES, size)
            for command in wanted.commands.split(","):
                found = COMMANDS[command](folder, wanted.more)
                peaks.setdefault(command, []).append(found.megabytes)
                first = "" if found.first is None else f"{found.first:.2f}"
                print(
                    f"{command:10}{size:9}{found.megabytes:8.0f}{found.seconds:9.2f}{found.cpu:9.2f}"
                    f"{found.cpu / size * 1e6:11.0f}{first:>9}{found.written / size:10.0f}",
                    flush=True,
                )
    for command, memory in peaks.items():
        print(f"{command}: {max(memory) - min(memory):.0f} MB between the sizes (target < 50)")


if __name__ == "__main__":
    main()
