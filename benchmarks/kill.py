"""Kill -9 in the middle of a run, again and again: what is lost, what is judged twice.

A child process judges 500 samples through a scripted server on 127.0.0.1 and is killed by its
process id each time a share of the requests has come in; the last one is left to end. Calls under
way at a kill were never answered to anybody who could keep them; they are counted apart.

Run: python -m benchmarks.kill [times]
"""

from __future__ import annotations

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
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as folder:
        found = interrupted_run(Path(folder), times=times)
    print(json.dumps(found, indent=2))
    sys.exit(bool(found["stored verdicts that were asked again"] or found["results lost"]))


def interrupted_run(folder: Path, samples: int = SAMPLES, times: int = 1) -> dict[str, int]:
    """Figures of a run that was killed and started again so many times."""
    source, store, out = folder / "in.jsonl", folder / "verdicts.sqlite", folder / "out.jsonl"
    with source.open("w", encoding="utf-8") as file:
        for number in range(samples):
            text = f"Note {number} says that door {number} opens at nine."
            file.write(json.dumps({"id": str(number), "answer": text, "contexts": [text]}) + "\n")
    enough, stop_at, requests = threading.Event(), 0, 0

    def script(body: Body, n: int) -> str:
        nonlocal requests
        requests = n
        if n >= stop_at:
            enough.set()
        return auto_judge(body, n)

    under_way = 0
    with ScriptedServer(script) as server:
        command = [
            *(
                sys.executable,
                "-m",
                "tcva_adapters",
                "evaluate",
                str(source),
                "--judge",
                "openai:m",
            ),
            *("--store", str(store), "--out", str(out), "--set", f"max-concurrency={CONCURRENCY}"),
        ]
        environment = {**os.environ, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "x"}
        for _ in range(times):
            enough.clear()
            stop_at = requests + max(samples // (times + 1), 1)
            child = subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            enough.wait(timeout=120)
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            under_way = requests - _stored(store)
        before = requests
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    # Whatever was asked beyond one request a sample was under way at one of the kills.
    stored = before - under_way
    return {
        "samples": samples,
        "kills": times,
        "requests before the last kill": before,
        "stored at the last kill": stored,
        "under way at one of the kills": under_way,
        "most that can be under way": times * CONCURRENCY,
        "requests of the last run": requests - before,
        "stored verdicts that were asked again": (requests - before) - (samples - stored),
        "results lost": samples - len({row["sample_id"] for row in rows}),
        "results without a score": sum(row["unscored"] is not None for row in rows),
    }


def _stored(store: Path) -> int:
    if not store.exists():
        return 0
    connection = sqlite3.connect(store)
    try:
        query = "SELECT count(*) FROM judgements"
        return int(connection.execute(query).fetchone()[0])
    finally:
        connection.close()


if __name__ == "__main__":
    main()
