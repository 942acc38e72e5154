"""Servers that fail and runs that are killed: what is lost.

Run: python -m benchmarks.attacks [faults | kills]

faults: 2 000 samples through each adapter, where every fifth answer of a server on 127.0.0.1 is one of 18
faults. Every sample has one supported claim of two, so that each right score is the same number. Paid is
a sample for which at least one usable answer left the server.
kills: `kill -9` in the middle of `tcva evaluate`, again and again; the last run is left to end.
"""

import io
import json
import logging
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

from tcva_adapters import Sample, Verdict, aggregate, clear_shared
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.faults import MODES, FaultServer, for_share, prompt_of
from tests.support.server import Body, ScriptedServer, auto_judge

EXPECTED: Final = aggregate([Verdict.FULLY, Verdict.NONE])
KINDS: Final = (
    "status 400", "status 403", "status 404", "status 429", "status 500", "echo 500", "500 not found", "html",
    "content null", "prose", "cut off", "deep nesting", "reset", "reset half way", "bad gzip", "drip",
    "logprobs null token", "usage 10**400",
)  # fmt: skip
CONCURRENCY: Final = 8


def print_faults(number: int = 2_000, share: float = 0.2) -> None:
    """A line for each adapter."""
    import tests.support.quiet  # noqa: F401, PLC0415  # tracking is off before a framework is imported
    from tests.adapters.table import ADAPTERS  # noqa: PLC0415  # as above

    facts = [f"Note {i} says that door {i} opens at nine." for i in range(number)]
    samples = [
        Sample(
            id=str(i),
            response=f"{fact} A {i} foot dragon sleeps.",
            contexts=[f"{fact} Green."],
        )
        for i, fact in enumerate(facts)
    ]
    warnings.simplefilter("ignore")
    for adapter in ADAPTERS:
        clear_shared()
        paid: set[int] = set()
        draw = for_share(share, KINDS)

        def fault(
            body: Body, attempt: int, paid: set[int] = paid, draw: Any = draw
        ) -> str | None:
            name: str | None = draw(body, attempt)
            found = re.search(r"Note (\d+) says", prompt_of(body))
            if found and (name is None or MODES[name].expected == "scored"):
                paid.add(int(found[1]))
            return name

        logging.disable()  # frameworks print and log every failure
        said = io.StringIO()
        with (
            FaultServer(auto_judge, fault) as server,
            redirect_stdout(said),
            redirect_stderr(said),
        ):
            model = OpenAICompatibleModel(
                "m", base_url=server.base_url, timeout=5.0, max_retries=1
            )
            (results,) = adapter.suite([adapter.built(model)], samples, True)
        logging.disable(logging.NOTSET)
        scores = [result.score for result in results]
        known = [score for score in scores if score is not None]
        wrong = sum(not math.isclose(score, EXPECTED) for score in known)
        why = sum(result.unscored is not None for result in results)
        lost = sum(scores[i] is None for i in paid)
        shown = (
            f"{wrong} of them wrong; {why} unscored with a reason; {lost} paid and lost"
        )
        print(f"{adapter.name:20} {len(known)} scored, {shown}", flush=True)
        if wrong or lost or len(known) + why != number:
            sys.exit("a sample was lost")


def interrupted_run(folder: Path, samples: int = 500, times: int = 1) -> dict[str, int]:
    """Figures of a run that was killed and started again so many times."""
    source, store, out = (
        folder / "in.jsonl",
        folder / "verdicts.sqlite",
        folder / "out.jsonl",
    )
    texts = [f"Note {n} says that door {n} opens at nine." for n in range(samples)]
    rows = [{"id": str(n), "answer": t, "contexts": [t]} for n, t in enumerate(texts)]
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    enough, stop_at, requests = threading.Event(), 0, 0

    def script(body: Body, n: int) -> str:
        nonlocal requests
        requests = n
        if n >= stop_at:
            enough.set()
        return auto_judge(body, n)

    def stored() -> int:
        with sqlite3.connect(store) as connection:
            return int(
                connection.execute("SELECT count(*) FROM judgements").fetchone()[0]
            )

    with ScriptedServer(script) as server:
        command = [sys.executable, "-m", "tcva_adapters", "evaluate", str(source), "--judge", "openai:m",
                   "--store", str(store), "--out", str(out), "--set", f"max-concurrency={CONCURRENCY}"]  # fmt: skip
        keys = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "x"}
        given: dict[str, Any] = {
            "env": {**os.environ, **keys},
            "stdout": subprocess.DEVNULL,
        }
        for _ in range(times):
            enough.clear()
            stop_at = requests + max(samples // (times + 1), 1)
            child = subprocess.Popen(command, stderr=subprocess.DEVNULL, **given)
            enough.wait(timeout=120)
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        before, known = requests, stored()
        subprocess.run(command, check=True, **given)
        asked = requests - before
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {
        "samples": samples,
        "kills": times,
        "stored at the last kill": known,
        "under way at one of the kills": before - known,
        "most that can be under way": times * CONCURRENCY,
        "stored verdicts that were asked again": asked - (samples - known),
        "results lost": samples - len({row["sample_id"] for row in found}),
        "results without a score": sum(row["unscored"] is not None for row in found),
    }


def print_kills(times: int = 50) -> None:
    """The figures of a run that was killed so often."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(interrupted_run(Path(folder), times=times), indent=1))


def main() -> None:
    parts: dict[str, Any] = {"faults": print_faults, "kills": print_kills}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
