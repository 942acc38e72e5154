"""Connections to anything but the judge while suites of LangSmith, RAGAS and DeepEval run.

Each run is a process of its own under a guard: an audit hook that sees every name that Python looks
up and every connection that it opens, notes those that do not go to the judge, and refuses them.
The judge is a scripted HTTP server on 127.0.0.1. The suites have tracking switched off as the tests
have it; the examples run without any of these variables, as a user starts them, once with the
lexical judge and once with a model on the server. The controls are the same suites without what
keeps them silent: they show that the guard sees what it is there for.

Run: python -m benchmarks.silence
"""

# ruff: noqa: PLC0415  # a run imports its own framework alone, in its own process

from __future__ import annotations

import asyncio
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from tcva_adapters import Sample
from tcva_adapters.data import sample_lines

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
JUDGED = 5
HOST = "127.0.0.1"
SAID = "It opens at nine, and season tickets cost ninety coins."
"""What a model on the server answers to the questions of the examples' users."""

_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_SENDS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


class Run(NamedTuple):
    """One process; a control is expected to be heard by the guard, every other run is not.

    Attributes:
        name: What it is called.
        arguments: Of the process.
        unset: Variables of the environment that it does not get.
        is_control: Whether the guard is to see something.
        is_redirected: Whether the server sends every question elsewhere.
    """

    name: str
    arguments: tuple[str, ...]
    unset: frozenset[str] = frozenset()
    is_control: bool = False
    is_redirected: bool = False


@dataclass
class Seen:
    """What the server and the guard noted of one run."""

    to_judge: int
    elsewhere: Counter[str] = field(default_factory=Counter)
    failure: str = ""


# --- in the process of a run -----------------------------------------------------------------------


def guard(port: int, log: Path) -> None:
    """From here on, everything that does not go to the judge is noted and refused."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _LOOKUPS and event not in _SENDS:
            return
        if event in _LOOKUPS:
            address = (*arguments, None)[:2]
        else:
            sock, address = arguments[0], arguments[-1]
            if sock.family not in (socket.AF_INET, socket.AF_INET6) or address is None:
                return  # pipes of the event loop, and sockets that are connected already
        host, to = (x.decode() if isinstance(x, bytes) else x for x in address[:2])
        if host == HOST and str(to) == str(port):
            return
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{event.removeprefix('socket.')} {host}:{to}\n")
        msg = f"the guard refuses {host}:{to}"
        raise ConnectionRefusedError(msg)

    sys.addaudithook(hook)


def samples() -> list[Sample]:
    """The first complete samples of the package."""
    found = (Sample.from_record(json.loads(line)) for line in sample_lines())
    return [s for s in found if s.input and s.response and s.contexts][:JUDGED]


def langsmith(url: str, *, is_local: bool = True) -> list[float | None]:
    """LangSmith's `evaluate` of a Runnable, ``upload_results=False``."""
    from langchain_core.runnables import RunnableLambda
    from langchain_openai import ChatOpenAI
    from langsmith.evaluation import evaluate
    from langsmith.schemas import Example

    from tcva_adapters.langchain import TCVAEvaluator, TCVARunEvaluator, local_client

    llm = ChatOpenAI(model="m", base_url=url, api_key="none")  # type: ignore[arg-type]  # it takes a plain text too
    by_question = {s.input: s for s in samples()}

    def application(inputs: dict[str, Any]) -> dict[str, Any]:
        found = by_question[inputs["question"]]
        return {"answer": found.response, "context": found.contexts}

    dataset, now = uuid4(), datetime.now(UTC)
    rows = evaluate(
        RunnableLambda(application).invoke,
        data=[
            Example(id=uuid4(), dataset_id=dataset, created_at=now, inputs={"question": question})
            for question in by_question
        ],
        evaluators=[TCVARunEvaluator(TCVAEvaluator(llm))],
        upload_results=False,
        client=local_client() if is_local else None,
    )
    return [row["evaluation_results"]["results"][0].score for row in rows]


def langsmith_without_local_client(url: str) -> list[float | None]:
    """The same with LangSmith's own client."""
    return langsmith(url, is_local=False)


def ragas(url: str) -> list[float | None]:
    """RAGAS' `evaluate` with its factory's LLM."""
    import openai
    from ragas import evaluate
    from ragas.llms import llm_factory

    from tcva_adapters.ragas import TCVAMetric
    from tests.ragas.entry import dataset_of

    llm = llm_factory("m", client=openai.AsyncOpenAI(base_url=url, api_key="none"))
    metric = TCVAMetric(llm=llm)
    found: Any = evaluate(dataset_of(samples()), metrics=[metric], show_progress=False)
    return [scores[metric.name] for scores in found.scores]


def deepeval(url: str) -> list[float | None]:
    """DeepEval's `evaluate` with its class for OpenAI-compatible servers."""
    from deepeval.models import LocalModel

    from tcva_adapters.deepeval import TCVAMetric, results_of
    from tests.deepeval.entry import case_of, evaluated

    metric = TCVAMetric(model=LocalModel(model="m", base_url=url, api_key="none"))
    found = evaluated([case_of(sample) for sample in samples()], [metric])
    return [result.score for result in results_of(found, metric.name)]


def redirected(url: str) -> list[float | None]:
    """Our client, both faces, where the server sends every question elsewhere: 1 if refused."""
    from tcva_adapters import TCVA
    from tcva_adapters.models.openai_model import OpenAICompatibleModel

    judge = OpenAICompatibleModel("m", base_url=url, max_retries=0)
    tcva = TCVA(judge=judge, share=False)
    found = [*tcva.evaluate_many(samples()), *asyncio.run(tcva.aevaluate_many(samples()))]
    return [float(result.score is None) for result in found]


def redirected_client(url: str) -> list[float | None]:
    """The openai package's own client there, which follows."""
    import openai

    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    with suppress(openai.OpenAIError):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    return [0.0]


SUITES: Mapping[str, Callable[[str], list[float | None]]] = {
    suite.__name__: suite
    for suite in (
        *(langsmith, langsmith_without_local_client, ragas, deepeval),
        *(redirected, redirected_client),
    )
}


def child(port: str, log: str, what: str, *arguments: str) -> None:
    """A run: the name of a suite, or an example's file and its arguments."""
    guard(int(port), Path(log))
    warnings.simplefilter("ignore")
    if what in SUITES:
        scores = SUITES[what](f"http://{HOST}:{port}/v1")
        # Both faces of our client, and one question of the other's.
        wanted = {"redirected": 2 * JUDGED, "redirected_client": 1}.get(what, JUDGED)
        if len(scores) != wanted or any(score is None for score in scores):
            sys.exit(f"without a score: {scores}")
    else:
        sys.argv = [what, *arguments]
        runpy.run_path(what, run_name="__main__")


# --- in the process that starts them --------------------------------------------------------------


def runs(quiet: frozenset[str]) -> list[Run]:
    """The suites, the examples with either judge, and the controls."""
    found = [
        Run("langsmith evaluate(upload_results=False)", ("langsmith",)),
        Run("ragas evaluate", ("ragas",)),
        Run("deepeval evaluate", ("deepeval",)),
        Run("a server that redirects", ("redirected",), is_redirected=True),
    ]
    for judge in ("lexical", "openai:gpt-4.1-mini"):
        found += [
            Run(f"{path.name} --judge {judge}", (str(path), "--judge", judge), quiet)
            for path in EXAMPLES
        ]
    return [
        *found,
        Run(
            "control: langsmith's own client",
            ("langsmith_without_local_client",),
            is_control=True,
        ),
        Run("control: ragas, tracking on", ("ragas",), quiet, is_control=True),
        Run("control: deepeval, telemetry on", ("deepeval",), quiet, is_control=True),
        Run(
            "control: openai's own client, redirected",
            ("redirected_client",),
            is_control=True,
            is_redirected=True,
        ),
    ]


def watched(run: Run, script: Any, environment: Mapping[str, str]) -> Seen:
    """Run it, in an empty folder that is also its home."""
    from tests.support.server import ScriptedServer

    with tempfile.TemporaryDirectory() as folder, ScriptedServer(script) as server:
        port = server.base_url.rsplit(":", 1)[1].removesuffix("/v1")
        log = Path(folder) / "guard.log"
        paths = (str(ROOT), environment.get("PYTHONPATH", ""))
        given = {
            **{name: value for name, value in environment.items() if name not in run.unset},
            "HOME": folder,
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": server.base_url,
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        }
        command = [sys.executable, "-m", "benchmarks.silence", port, str(log), *run.arguments]
        done = subprocess.run(
            command, cwd=folder, env=given, capture_output=True, text=True, check=False
        )
        noted = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        lines = done.stderr.strip().splitlines() or ["no output"]
        return Seen(server.count, Counter(noted), lines[-1] if done.returncode else "")


def verdict(run: Run, seen: Seen) -> str:
    """What is wrong with a run; nothing for most."""
    if seen.failure:
        return f"failed: {seen.failure}"
    is_silent = not seen.elsewhere
    if is_silent is run.is_control:
        return "the guard saw nothing" if is_silent else "not silent"
    return ""


def main() -> None:
    from tests.support.quiet import QUIET

    environment = dict(os.environ)  # with the variables that the tests set
    quiet = frozenset(QUIET)
    from benchmarks.framework_answers import answer
    from tests.support.faults import for_prompts, with_faults
    from tests.support.server import auto_judge

    script = partial(answer, otherwise=SAID)
    elsewhere = with_faults(auto_judge, for_prompts({"": "redirect elsewhere"}))
    wrong = []
    print(f"{'run':<48} {'to the judge':>12}  elsewhere")
    for run in runs(quiet):
        seen = watched(run, elsewhere if run.is_redirected else script, environment)
        which = ", ".join(f"{number} x {what}" for what, number in seen.elsewhere.items())
        total = sum(seen.elsewhere.values())
        fault = verdict(run, seen)
        shown = "  ".join(text for text in (str(total), which, fault) if text)
        print(f"{run.name:<48} {seen.to_judge:>12}  {shown}", flush=True)
        if fault:
            wrong.append(run.name)
    if wrong:
        sys.exit(f"not as it should be: {', '.join(wrong)}")


if __name__ == "__main__":
    child(*sys.argv[1:]) if sys.argv[1:] else main()
