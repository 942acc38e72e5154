"""How long an event loop stands still while samples are judged on it: `make long`.

Run: python -m benchmarks.stalls [--sizes 20,100,1000] [--requests 1,50] [--methods openai:m]

Each sample has 20 claims and so many kilobytes of contexts, all different; the samples are judged at the
same time on one loop. A task that sleeps for a millisecond, again and again, notes the longest time
between two of its turns: by the clock, and in brackets by the CPU time of this process, which other
processes on the machine hardly lengthen. Figures are medians over three runs, in milliseconds. The judge is
the scripted server of the tests in a process of its own. Of its quotes, some are copied, some have
another word or are put together, and some are made up.

Python's collector of garbage stops all threads while it looks through everything that was ever imported
(130 ms with LangChain): what is there before judging begins is kept from it, as servers do.
"""

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, Final, NamedTuple

import tests.support.quiet  # noqa: F401  # tracking is switched off in every process that follows
from benchmarks.answering_server import samples
from tcva_adapters import TCVA, Sample, clear_shared
from tests.support.server import CLAIM, Body, ScriptedServer, auto_judge

LIMIT: Final = 50.0
"""Milliseconds of CPU: longer stalls end the command with 1, up to 5 MB of contexts under way. They do
not where a framework's client makes the calls on the loop itself."""

SIZES: Final = "20,50,100,200,1000"
REQUESTS: Final = "1,10,50"
_PROMISED: Final = 5000  # kilobytes
_RUNS: Final = 3
_CLAIMS: Final = 5  # sentences of a sample of `answering_server`, times this
_PASSAGE: Final = 2000  # characters

Ask = Callable[[Sample], Awaitable[Any]]


class Stall(NamedTuple):
    """The longest stall of a run in milliseconds, by the clock and by CPU time, and the seconds it took."""

    clock: float
    cpu: float
    seconds: float


def big_samples(number: int, kilobytes: int, seed: int) -> list[Sample]:
    """Samples with so many kilobytes of contexts and 20 claims that stand in them."""
    length = kilobytes * 1000
    words = " ".join(text for sample in samples(800) for text in sample.contexts or ())
    words *= length // len(words) + 2
    made = []
    for n in range(number):
        own = f"This is a copy for reader {seed}-{n}. "
        at = 7 * n
        text = own + words[at : at + length - len(own)]
        passages = [text[i : i + _PASSAGE] for i in range(0, len(text), _PASSAGE)]
        facts = [sample.response or "" for sample in samples(_CLAIMS)]
        response = " ".join(facts)
        made.append(
            Sample(input="What is there to know?", response=response, contexts=passages)
        )
    return made


def judge(body: Body, _n: int) -> str:
    """Verdicts whose quotes are copied, changed in a word, put together, or made up."""
    verdicts = json.loads(auto_judge(body, 0))
    claims = dict(CLAIM.findall(body["messages"][-1]["content"]))
    for at, (key, verdict) in enumerate(verdicts.items()):
        words = claims[key.removeprefix("claim_")].split()
        quotes = (
            " ".join(words),
            " ".join(
                [
                    "The old street was laid out when the town grew beyond its walls, and",
                    *words,
                ]
            ),
            " ... ".join([" ".join(words[:3]), " ".join(words[-3:])]),
            " ".join(["It was never said that the lighthouse of the island", *words]),
        )
        verdict |= {"quote_from_passage": quotes[at % len(quotes)], "verdict": "fully"}
    return json.dumps(verdicts)


@contextmanager
def served() -> Iterator[str]:
    """The address of the server, which another process runs."""
    command = [sys.executable, "-m", "benchmarks.stalls", "--serve"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None  # it is a pipe
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def ask_by(method: str) -> Ask:
    """How a method judges one sample."""
    if method != "langchain":
        return TCVA(judge=method, max_concurrency=50).aevaluate

    from langchain_openai import ChatOpenAI  # noqa: PLC0415  # the other methods need no framework

    from tcva_adapters.langchain import TCVAEvaluator  # noqa: PLC0415  # as above

    address, options = os.environ["OPENAI_BASE_URL"], {"api_key": "none"}
    llm: Any = ChatOpenAI(model="m", base_url=address, **options)  # type: ignore[arg-type]  # a text
    evaluator = TCVAEvaluator(llm)
    return evaluator.ainvoke


async def stall_of(ask: Ask, judged: Sequence[Sample]) -> Stall:
    """Judge these samples at the same time, and watch the loop."""
    longest = [0.0, 0.0]

    async def watch() -> None:
        while True:
            before = time.perf_counter(), time.process_time()
            await asyncio.sleep(0.001)
            gaps = time.perf_counter() - before[0], time.process_time() - before[1]
            longest[:] = map(max, longest, gaps)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    started = time.perf_counter()
    await asyncio.gather(*map(ask, judged))
    seconds = time.perf_counter() - started
    await asyncio.sleep(0.01)
    watching.cancel()
    return Stall(1000 * longest[0], 1000 * longest[1], seconds)


def stalls(
    methods: Sequence[str], sizes: Sequence[int], requests: Sequence[int]
) -> float:
    """Print the table; the longest stall by CPU time of those that are limited."""
    worst = 0.0
    heads = "".join(f"{f'{number} at once':>20}" for number in requests)
    print(f"{'longest stall, ms (CPU)':26}{heads}")
    with asyncio.Runner() as loop:
        for method in methods:
            ask = ask_by(method)
            loop.run(stall_of(ask, big_samples(2, 1, -1)))  # imports, connections
            for size in sizes:
                shown = ""
                for number in requests:
                    runs = []
                    for run in range(_RUNS):
                        judged = big_samples(number, size, run)
                        clear_shared()
                        gc.collect()
                        gc.freeze()
                        runs.append(loop.run(stall_of(ask, judged)))
                    clock, cpu, seconds = map(median, zip(*runs, strict=True))
                    shown += f"{f'{clock:.0f} ({cpu:.0f}), {seconds:.2f} s':>20}"
                    if size * number <= _PROMISED and method != "langchain":
                        worst = max(worst, cpu)
                print(f"{method:16}{size:7} kB{shown}", flush=True)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description="How long an event loop stands still")
    parser.add_argument("--serve", action="store_true", help="be the server")
    parser.add_argument("--sizes", default=SIZES, help="kilobytes of contexts")
    parser.add_argument("--requests", default=REQUESTS, help="samples at once")
    parser.add_argument("--methods", default="openai:m,lexical,langchain")
    given = parser.parse_args()
    if given.serve:
        with ScriptedServer(judge) as server:
            print(server.base_url, flush=True)
            sys.stdin.read()
        return
    sizes, requests = (
        [*map(int, text.split(","))] for text in (given.sizes, given.requests)
    )
    with served() as address:
        os.environ.update(OPENAI_BASE_URL=address, OPENAI_API_KEY="none")
        worst = stalls(given.methods.split(","), sizes, requests)
    print(f"longest stall {worst:.0f} ms of CPU, limit {LIMIT:.0f}")
    sys.exit(worst > LIMIT)


if __name__ == "__main__":
    main()
