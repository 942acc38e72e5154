"""Kill -9 in the middle of 500 samples, then run again: what is lost, what is judged twice.

A child process judges through a scripted server on 127.0.0.1 and is killed by its process id
once half the requests have come in. Calls under way at that moment were never answered to
anybody who could keep them; they are counted apart.

Run: python -m benchmarks.kill
"""

from __future__ import annotations

import collections
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.support.server import Body, ScriptedServer, auto_judge

SAMPLES = 500
CONCURRENCY = 8


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(interrupted_run(Path(folder)), indent=2))


def interrupted_run(folder: Path, samples: int = SAMPLES) -> dict[str, int]:
    """Figures of a run that was killed half way and started again."""
    source, store = folder / "samples.jsonl", folder / "verdicts.sqlite"
    with source.open("w", encoding="utf-8") as file:
        for number in range(samples):
            text = f"Note {number} says that door {number} opens at nine."
            file.write(json.dumps({"id": str(number), "answer": text, "contexts": [text]}) + "\n")
    half = threading.Event()
    seen: collections.Counter[str] = collections.Counter()
    lock = threading.Lock()

    def script(body: Body, n: int) -> str:
        with lock:
            seen[json.dumps(body["messages"])] += 1
        if n >= samples // 2:
            half.set()
        return auto_judge(body, n)

    with ScriptedServer(script) as server:
        command = [
            *(sys.executable, "-m", "tcva_adapters", "evaluate", str(source)),
            *("--judge", "openai:m", "--store", str(store), "--out", str(folder / "out.jsonl")),
            *("--max-concurrency", str(CONCURRENCY)),
        ]
        environment = {**os.environ, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "x"}
        child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        half.wait(timeout=120)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        with lock:
            first_run = sum(seen.values())
        connection = sqlite3.connect(store)
        kept = connection.execute(
            "SELECT count(*) FROM verdicts WHERE status = 'scored'"
        ).fetchone()[0]
        connection.close()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        total = sum(seen.values())
    written = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        "samples": samples,
        "requests before the kill": first_run,
        "kept by the store at the kill": kept,
        "under way at the kill": first_run - kept,
        "requests of the second run": total - first_run,
        "kept verdicts that were asked again": (total - first_run) - (samples - kept),
        "results after the second run": len(written),
        "of them with a score": sum(json.loads(line)["unscored"] is None for line in written),
    }


if __name__ == "__main__":
    main()
