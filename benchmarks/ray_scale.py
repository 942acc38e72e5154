"""Ray beside a plain loop: ``python -m benchmarks.ray_scale [ROWS]``, with the extra ``ray``.

Prints rows per second after start-up for a plain loop, `judge_batch` in a loop, and Ray with one and two
workers; and whether a killed worker, a killed driver and two commands on one folder end in the same rows.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tcva_adapters import TCVA, Sample
from tcva_adapters.scale import judge_batch, judge_files

SETTINGS: Final = {"criterion": "faithfulness", "judge": "lexical"}
WORDS: Final = ("room", "office", "opens", "nine", "blue", "car", "city", "water", "school", "ten")
AT_ONCE: Final = 256


def rows(number: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(0)

    def sentence() -> str:
        return f"{' '.join(draw.choices(WORDS, k=10)).capitalize()} {draw.randint(1, 999)}."

    for n in range(number):
        contexts = [" ".join(sentence() for _ in range(4)) for _ in range(3)]
        answer = f"{contexts[0].split('.')[0]}. {sentence()} {sentence()}"
        yield {"id": str(n), "question": "When?", "answer": answer, "contexts": contexts}


def on_ray(source: Path, out: Path, workers: int) -> None:
    judge_files(
        str(source),
        str(out),
        SETTINGS,
        address="local",
        workers=workers,
        rows_at_once=AT_ONCE,
    )


def written(out: Path) -> Counter[str]:
    """The rows that are there, each without what its judgement cost."""
    found: Counter[str] = Counter()
    for part in out.glob("*.jsonl"):
        for line in part.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[
                json.dumps([row["id"], row["tcva_score"], row["tcva_key"], row["tcva_reason"]])
            ] += 1
    return found


def span(out: Path) -> float:
    """Seconds from the first part to the last: without start-up, for all parts but the first."""
    times = sorted(part.stat().st_mtime for part in out.glob("*.jsonl"))
    return (times[-1] - times[0]) / (1 - 1 / len(times))


def killed(source: Path, out: Path, whom: str) -> None:
    """Kill a worker or the driver once some parts are written, and end the run."""
    command = [sys.executable, "-m", "benchmarks.ray_scale", "run", str(source), str(out)]
    quiet = subprocess.DEVNULL  # Ray tells at length of what was killed
    driver = subprocess.Popen(command, stdout=quiet)
    wait_for_parts(out, driver)
    if whom == "driver":
        driver.kill()
        driver.wait()
        time.sleep(5)
        print(f"  the driver was killed with {sum(written(out).values())} rows written")
        subprocess.run(command, check=True, stdout=quiet)
    else:
        os.kill(judge_of(driver.pid), signal.SIGKILL)
        if driver.wait():
            sys.exit(f"the run did not survive its worker: {driver.returncode}")


def wait_for_parts(out: Path, driver: subprocess.Popen[bytes]) -> None:
    while len(list(out.glob("*.jsonl"))) < 3:
        time.sleep(0.05)
        if driver.poll() is not None:
            sys.exit(f"the run ended before it could be killed: {driver.returncode}")


def two_commands(source: Path, out: Path) -> int:
    """Start a second command on the folder of the first; returns what the second exits with."""
    command = [sys.executable, "-m", "benchmarks.ray_scale", "run", str(source), str(out)]
    quiet = subprocess.DEVNULL
    first = subprocess.Popen(command, stdout=quiet)
    wait_for_parts(out, first)
    second = subprocess.run(command, check=False, stdout=quiet, stderr=quiet)
    if first.wait():
        sys.exit(f"the first command failed: {first.returncode}")
    return second.returncode


def judge_of(driver: int) -> int:
    """A process that judges, of the Ray that this driver has started."""
    for process in descendants(driver):
        name = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
        if "MapBatches(_Writer)" in name:
            return process
    sys.exit("no process that judges was found")


def descendants(root: int) -> Iterator[int]:
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
            )
        except OSError:
            continue  # it has ended
    for process in parents:
        up = process
        while up in parents and up != root:
            up = parents[up]
        if up == root and process != root:
            yield process


def main(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rows.jsonl")
        with source.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in rows(number))
        scorer = TCVA("faithfulness", judge="lexical")
        few = list(rows(min(number, 5000)))
        samples = [Sample.from_record(row) for row in few]
        scorer.evaluate_many(samples[:100], progress=False)

        def told(what: str, seconds: float, of: int) -> float:
            print(f"{what:34} {of / seconds:8.0f} rows/s", flush=True)
            return of / seconds

        started = time.perf_counter()
        for result in scorer.evaluate_many(samples, progress=False):
            result.to_json()
        told("evaluate_many and to_json", time.perf_counter() - started, len(few))
        started = time.perf_counter()
        for first in range(0, len(few), AT_ONCE):
            some = few[first : first + AT_ONCE]
            judge_batch({name: [r[name] for r in some] for name in some[0]}, settings=SETTINGS)
        told("judge_batch in a loop", time.perf_counter() - started, len(few))
        rate: dict[int, float] = {}
        for workers in (1, 2):
            out = Path(folder, f"ray{workers}")
            subprocess.run(
                [sys.executable, "-m", "benchmarks.ray_scale", "run", source, out, str(workers)],
                check=True,
            )
            rate[workers] = told(f"Ray, {workers} workers, after start-up", span(out), number)
        print(f"Ray, 2 workers against 1: {rate[2] / rate[1]:.2f}")
        whole = written(Path(folder, "ray1"))
        assert sum(whole.values()) == number == len(whole)
        assert written(Path(folder, "ray2")) == whole
        for whom in ("worker", "driver"):
            out = Path(folder, f"killed-{whom}")
            killed(source, out, whom)
            print(f"killed {whom}: same rows: {written(out) == whole}")
        out = Path(folder, "twice")
        code = two_commands(source, out)
        print(f"two commands: the second exits with {code}; same rows: {written(out) == whole}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        on_ray(Path(sys.argv[2]), Path(sys.argv[3]), int([*sys.argv, "2"][4]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 20_000)
