"""``kill -9`` in the middle of a comparison, and the same command again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.lexical_server import LexicalServer
from tests.support.server import Body, Scripted

pytestmark = pytest.mark.slow

SAMPLES = 24
METHODS = 2
CONCURRENCY = 4
CODE = f"""
import json, sys
from tcva_adapters.compare import Run, comparison
from tcva_adapters.compare.runs.folder import save
settings = {{"judge": "openai:m", "max_concurrency": {CONCURRENCY}}}
metrics = "context_qa,labeled_criteria"
table = Run(sys.argv[1], settings, frameworks="langchain", metrics=metrics, folder=sys.argv[2]).table()
save(sys.argv[2], table, comparison(table))
print(json.dumps(dict(table.usage)))
"""


class Halting(LexicalServer):
    """Says when so many requests have come, and answers no more of them before it is let go."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.reached, self.go = threading.Event(), threading.Event()
        self._after = after

    def _script(self, body: Body, number: int) -> Scripted:
        if number >= self._after:
            self.reached.set()
            self.go.wait(120)
        return super()._script(body, number)


def test_a_killed_run_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    source, out = tmp_path / "samples.jsonl", tmp_path / "out"
    with source.open("w", encoding="utf-8") as file:
        for number in range(SAMPLES):
            said = f"Door {number} opens at nine."
            record = {
                "id": f"s{number}",
                "question": "When?",
                "answer": said,
                "contexts": [said],
            }
            record["reference"] = said
            file.write(json.dumps(record) + "\n")
    # All of TCVA's judgements, the first framework metric's, and half of the second's.
    with Halting(after=2 * SAMPLES + SAMPLES // 2) as server:
        command = [sys.executable, "-c", CODE, str(source), str(out)]
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "x",
        }
        silent = subprocess.DEVNULL
        child = subprocess.Popen(command, env=environment, stdout=silent, stderr=silent)
        assert server.reached.wait(timeout=120)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        server.go.set()
        cached = len(records(out / "verdicts.sqlite"))
        assert cached >= SAMPLES
        done = subprocess.check_output(command, env=environment, text=True, timeout=120)
        assert max(server.prompts.values()) <= 2
    usage = json.loads(done)
    judged, stored = (
        sum(each[name] for each in usage.values()) for name in ("judged", "cached")
    )
    assert usage["tcva T=0.1"]["cached"] == SAMPLES
    assert stored == SAMPLES + cached
    assert judged == SAMPLES * METHODS - cached
    # What was under way is all that is lost. Counted at the end: a request that the killed process
    # had sent may reach the server's count only after it.
    assert 0 <= server.count - SAMPLES * (1 + METHODS) <= CONCURRENCY
    rows = (out / "scores.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == SAMPLES * (3 + METHODS)


def records(path: str | Path) -> list[str]:
    """The texts, in the order in which they came."""
    with closing(sqlite3.connect(path)) as plain:
        query = "SELECT json FROM judgements WHERE kind IN ('record', 'framework metric') ORDER BY rowid"
        return [text for (text,) in plain.execute(query)]
