"""One method in a process of its own: what it takes for so many samples, as often as it is asked.

`benchmarks.bench_methods` starts it, sends a line of JSON for each cell of its table, and gets a
line back. What packages print themselves goes to standard error.

Run: python -m benchmarks.bench_child GROUP METHOD FILE, where FILE holds samples as jsonl, or, with
`bare` as the group, bodies of requests.
"""

from __future__ import annotations

import cProfile
import gc
import json
import math
import os
import pstats
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.bench_peers import PEERS, posting

BARE: Final = "bare"
PEER: Final = "peers"
PROFILE: Final = "TCVA_BENCH_PROFILE"
"""A variable of the environment: with it, profiles are written to the log."""
OUR_CLIENT: Final = ", our client"
"""What the name of a method ends with where the LLM is not the framework's."""


class Asked(NamedTuple):
    """One cell: the rows `first` to `last` with `concurrency` under way, at a server's address."""

    url: str
    first: int
    last: int
    concurrency: int


Timed = Callable[[], Sequence[Any]]
"""Judges the samples of a cell and returns their scores: what the clock runs for."""


def builder(group: str, name: str, lines: Sequence[bytes]) -> Callable[[Asked], Timed]:
    """What makes a method for a cell, outside of what is timed.

    Raises:
        KeyError: There is no such method.
    """
    if group == BARE:
        bodies = [json.loads(line) for line in lines]
        return lambda asked: posting(asked.url, bodies[asked.first : asked.last], asked.concurrency)
    records = [json.loads(line) for line in lines]
    if group == PEER:
        return lambda asked: PEERS[name](
            asked.url, asked.concurrency, records[asked.first : asked.last]
        )
    from benchmarks.adapter_methods import GROUPS, use_server  # noqa: PLC0415  # not in eval-ai-library's environment
    from tcva_adapters import Sample  # noqa: PLC0415  # as above

    methods = {(each.name, each.with_our_client): each for each in GROUPS[group]()}
    method = methods[name.removesuffix(OUR_CLIENT), name.endswith(OUR_CLIENT)]
    samples = [Sample.from_record(record) for record in records]

    def build(asked: Asked) -> Timed:
        use_server(asked.url)
        run = method.make(asked.url, asked.concurrency)
        return lambda: run(samples[asked.first : asked.last], asked.concurrency)

    return build


def measured(run: Timed) -> dict[str, float]:
    """Seconds of this process's CPU and of the clock, and how many samples got a score."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    scores = run()
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    numbers = [math.nan if score is None else float(score) for score in scores]
    return {**spent, "scored": sum(not math.isnan(number) for number in numbers)}


def profiled(run: Timed) -> dict[str, float]:
    """The same, with what took the time on standard error."""
    with cProfile.Profile(time.process_time) as profile:
        found = measured(run)
    pstats.Stats(profile, stream=sys.stderr).sort_stats("cumulative").print_stats(70)
    pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(40)
    return found


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")  # frameworks announce the end of what they are measured by
    group, name, file = sys.argv[1:]
    measure = profiled if PROFILE in os.environ else measured
    build = builder(group, name, Path(file).read_bytes().splitlines())
    for line in sys.stdin:
        answers.write(json.dumps(measure(build(Asked(*json.loads(line))))) + "\n")


if __name__ == "__main__":
    main()
