"""Ray beside a plain loop: with the extra ``ray``.

Run: python -m benchmarks.ray_scale [ROWS]
Rows per second are after start-up: from the first part that is written to the last. What a killed worker
or driver leaves is in tests/scale.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tcva_adapters.scale import judge_batch, judge_files

SETTINGS: Final = {"criterion": "faithfulness", "judge": "lexical"}
WORDS: Final = (
    "room",
    "office",
    "opens",
    "nine",
    "blue",
    "car",
    "city",
    "water",
    "school",
    "ten",
)
AT_ONCE: Final = 256
COMMAND: Final = (sys.executable, "-m", "benchmarks.ray_scale", "run")


def rows(number: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(0)

    def sentence() -> str:
        return f"{' '.join(draw.choices(WORDS, k=10)).capitalize()} {draw.randint(1, 999)}."

    for n in range(number):
        contexts = [" ".join(sentence() for _ in range(4)) for _ in range(3)]
        answer = f"{contexts[0].split('.')[0]}. {sentence()} {sentence()}"
        yield {
            "id": str(n),
            "question": "When?",
            "answer": answer,
            "contexts": contexts,
        }


def span(out: Path) -> float:
    """Seconds from the first part to the last: without start-up, for all parts but the first."""
    times = sorted(part.stat().st_mtime for part in out.glob("*.jsonl"))
    return (times[-1] - times[0]) / (1 - 1 / len(times))


def judge_of(driver: int) -> int:
    """A process that judges, of the Ray that this driver has started."""
    parents, judges = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rsplit(")")[-1].split()[1]
            )
            if b"MapBatches(_Writer)" in (folder / "cmdline").read_bytes():
                judges.append(int(folder.name))
    for process in judges:
        up = process
        while up != driver and up in parents:
            up = parents[up]
        if up == driver:
            return process
    sys.exit("no process that judges was found")


def main(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rows.jsonl")
        given = list(rows(number))
        source.write_text(
            "".join(f"{json.dumps(row)}\n" for row in given), encoding="utf-8"
        )
        some, started = given[:5000], time.perf_counter()
        for first in range(0, len(some), AT_ONCE):
            batch = some[first : first + AT_ONCE]
            judge_batch(
                {name: [r[name] for r in batch] for name in batch[0]}, settings=SETTINGS
            )
        print(
            f"judge_batch in a loop: {len(some) / (time.perf_counter() - started):.0f} rows/s"
        )
        for workers in (1, 2):
            out = Path(folder, f"ray{workers}")
            subprocess.run([*COMMAND, source, out, str(workers)], check=True)
            print(
                f"Ray, workers {workers}: {number / span(out):.0f} rows/s", flush=True
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        source, out, *workers = sys.argv[2:]
        options: Any = {"address": "local", "rows_at_once": AT_ONCE}
        judge_files(source, out, SETTINGS, workers=int([*workers, "2"][0]), **options)
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 20_000)
