"""Connections to anything but the judge while suites of all frameworks run.

Run: python -m benchmarks.silence
Each run is a process of its own under a guard: an audit hook that sees every name that Python looks
up and every connection that it opens, notes those that do not go to the judge, and refuses them. The
judge is a scripted HTTP server on 127.0.0.1. TCVA runs in each framework's own runner; the examples
run without any variable that switches tracking off, as a user starts them, once with the lexical judge
and once with a model on the server. The controls are runs without what keeps them silent: they show
that the guard sees what it is there for.
"""

# ruff: noqa: PLC0415  # a run imports its own framework alone, in its own process

import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.answering_server import answer, samples
from benchmarks.peers import METHODS
from tests.support.server import Body, Scripted, ScriptedServer, reply

ROOT: Final = Path(__file__).resolve().parents[1]
JUDGED: Final = 5
HOST: Final = "127.0.0.1"
EXAMPLES: Final = (
    "deepeval_suite.py",
    "langchain_rag.py",
    "llamaindex_rag.py",
    "ragas_suite.py",
)
SAID: Final = "It opens at nine, and season tickets cost ninety coins."
"""What a model on the server answers to the questions of the examples' users."""
_LOOKUPS: Final = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_SENDS: Final = ("socket.connect", "socket.sendto", "socket.sendmsg")


class Run(NamedTuple):
    """One process; the guard has to see something of a control, and nothing of every other run.

    Attributes:
        name: A method of `benchmarks.peers`, or an example.
        is_control: Whether the guard is to see something.
        is_tracked: Whether the variables that switch tracking off are left out.
        arguments: Of an example.
    """

    name: str
    is_control: bool = False
    is_tracked: bool = False
    arguments: tuple[str, ...] = ()


def guard(port: str, log: Path) -> None:
    """From here on, everything that does not go to the judge is noted and refused."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _LOOKUPS:
            address = (*arguments, None)[:2]
        elif event in _SENDS:
            sock, address = arguments[0], arguments[-1]
            if sock.family not in (socket.AF_INET, socket.AF_INET6) or address is None:
                return  # pipes of the event loop, and sockets that are connected already
        else:
            return
        host, to = (x.decode() if isinstance(x, bytes) else x for x in address[:2])
        if (host, str(to)) != (HOST, port):
            with log.open("a", encoding="utf-8") as file:
                file.write(f"{event.removeprefix('socket.')} {host}:{to}\n")
            msg = f"the guard refuses {host}:{to}"
            raise ConnectionRefusedError(msg)

    sys.addaudithook(hook)


def child(port: str, log: str, name: str, *arguments: str) -> None:
    """What runs under the guard."""
    guard(port, Path(log))
    warnings.simplefilter("ignore")
    if name.endswith(".py"):
        sys.argv = [name, *arguments]
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        return
    rows = [
        json.loads(each.model_dump_json(exclude_none=True)) for each in samples(JUDGED)
    ]
    method = METHODS[name]
    scores = method.make(f"http://{HOST}:{port}/v1", JUDGED, method.judge)(rows)
    if len(scores) != JUDGED or any(score is None for score in scores):
        sys.exit(f"without a score: {scores}")


def runs() -> list[Run]:
    """TCVA in every runner, the examples with either judge, and the controls."""
    judges = [("--judge", judge) for judge in ("lexical", "openai:gpt-4.1-mini")]
    return [
        *(Run(name) for name, method in METHODS.items() if method.own and method.judge),
        *(
            Run(name, is_tracked=True, arguments=judge)
            for judge in judges
            for name in EXAMPLES
        ),
        Run("RAGAS Faithfulness", is_control=True, is_tracked=True),
        Run("DeepEval FaithfulnessMetric", is_control=True, is_tracked=True),
    ]


def script(body: Body, _: int) -> Scripted:
    """The model's answer, on a connection that is not kept: RAGAS' loops do not live that long."""
    said = reply(answer(body, SAID))
    said.headers["Connection"] = "close"  # type: ignore[index]  # a dictionary
    return said


def watched(run: Run, quiet: Sequence[str]) -> tuple[int, list[str], str]:
    """Questions to the judge, what the guard noted, and a failure, in an empty folder as home."""
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(script) as server:
        port, log = (
            server.base_url.rsplit(":", 1)[1].removesuffix("/v1"),
            Path(folder, "guard.log"),
        )
        given = {
            n: v for n, v in os.environ.items() if not (run.is_tracked and n in quiet)
        }
        given |= {
            "HOME": folder,
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": server.base_url,
        }
        given["PYTHONPATH"] = os.pathsep.join(
            [str(ROOT), os.environ.get("PYTHONPATH", "")]
        )
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.silence", port, str(log), run.name, *run.arguments],
            cwd=folder, env=given, capture_output=True, text=True, check=False,
        )  # fmt: skip
        noted = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        lines = done.stderr.strip().splitlines() or ["no output"]
        return server.count, noted, lines[-1] if done.returncode else ""


def main() -> None:
    from tests.support.quiet import QUIET

    wrong = []
    print(f"{'run':<50} {'to the judge':>12}  elsewhere")
    for run in runs():
        asked, noted, failure = watched(run, list(QUIET))
        name = " ".join(
            [*("control:" for _ in range(run.is_control)), run.name, *run.arguments]
        )
        if failure or bool(noted) is not run.is_control:
            wrong.append(name)
        seen = ", ".join(sorted(set(noted)))
        print(f"{name:<50} {asked:>12}  {len(noted)} {seen} {failure}", flush=True)
    if wrong:
        sys.exit(f"not as it should be: {', '.join(wrong)}")


if __name__ == "__main__":
    child(*sys.argv[1:]) if sys.argv[1:] else main()
