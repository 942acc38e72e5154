"""CPU and wall time a sample: TCVA through each adapter beside the framework's own metric.

Above a bare client is what a method takes more than `openai.AsyncOpenAI` does for the very same
bodies, at the same server, in the same run. Wall over ideal is against the server's pause times
the rounds that the calls must take at this concurrency. Each method is warmed up first. Figures
are medians of so many runs, which go through all methods in turn.

Run: python -m benchmarks.adapters [GROUP ...] [--samples 500] [--delay 0 200] [--concurrency 8 32]
     [--runs 3] [--profile METHOD]
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import os
import pstats
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.adapter_methods import GROUPS, Method, Run, bare, samples, use_server
from benchmarks.answering_server import Remote, started
from tcva_adapters import Sample
from tcva_adapters.sharing import clear_shared

MILLI = 1000.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What one run took.

    Attributes:
        cpu: Milliseconds of this process a sample.
        bare: What a bare client took for the same bodies, likewise.
        wall: Seconds in all.
        bare_wall: Those of the bare client.
        calls: Requests a sample.
        connections: How many were opened.
    """

    cpu: float
    bare: float
    wall: float
    bare_wall: float
    calls: float
    connections: int

    @property
    def above(self) -> float:
        """Milliseconds of CPU a sample above a bare client."""
        return self.cpu - self.bare


def timed(run: Run, rows: Sequence[Sample], limit: int) -> tuple[float, float]:
    """Seconds of CPU and of wall time; every sample must get a score.

    Raises:
        RuntimeError: One of them got none.
    """
    clear_shared()
    wall, cpu = time.perf_counter(), time.process_time()
    scores = run(rows, limit)
    spent = time.process_time() - cpu, time.perf_counter() - wall
    if len(scores) != len(rows) or any(s is None or s != s for s in scores):  # noqa: PLR0124  # NaN
        msg = f"scores for {len(scores)} of {len(rows)} samples, or some are missing"
        raise RuntimeError(msg)
    return spent


def take(method: Method, server: Remote, rows: Sequence[Sample], limit: int, delay: float) -> Taken:
    """Measure a method, and a bare client with its bodies."""
    run = method.make(server.base_url, limit)
    timed(run, rows[:limit], limit)
    run = method.make(server.base_url, limit)
    server.reset(delay)
    cpu, wall = timed(run, rows, limit)
    connections, raw = server.reset(delay)
    bodies = [json.loads(body) for body in raw]
    alone = bare(bodies)(server.base_url, limit)
    bare_cpu, bare_wall = timed(lambda _, __: alone(rows, limit)[: len(rows)], rows, limit)
    number = len(rows)
    return Taken(
        cpu * MILLI / number,
        bare_cpu * MILLI / number,
        wall,
        bare_wall,
        len(bodies) / number,
        connections,
    )


def label(method: Method) -> str:
    """The method's name, with whose client asks."""
    return f"{method.name} (our client)" if method.with_our_client else method.name


def show(methods: Sequence[Method], found: dict[Method, list[Taken]], rounds: float) -> None:
    """A line per method; each is held against the last one that is not ours."""
    own = 0.0
    for method in methods:
        runs = found[method]
        middle = {name: statistics.median(getattr(r, name) for r in runs) for name in _COLUMNS}
        if not method.is_ours:
            own = middle["above"]
        against = f"{middle['above'] / own:5.2f}" if method.is_ours and own else "    -"
        ideal = rounds * middle["calls"]
        wall, alone = (
            f"{middle[n] / ideal:5.2f}" if ideal else "    -" for n in ("wall", "bare_wall")
        )
        print(
            f"  {label(method):44} {middle['calls']:5.2f} {middle['cpu']:7.2f} {middle['bare']:7.2f} "
            f"{middle['above']:7.2f} {against} {middle['wall']:7.2f} {wall} {alone} "
            f"{middle['connections']:5.0f}",
            flush=True,
        )


_COLUMNS = ("calls", "cpu", "bare", "above", "wall", "bare_wall", "connections")


def profiled(method: Method, server: Remote, rows: Sequence[Sample], limit: int) -> None:
    """Where a method's time goes, at no delay."""
    timed(method.make(server.base_url, limit), rows[:limit], limit)
    run = method.make(server.base_url, limit)
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    timed(run, rows, limit)
    profile.disable()
    print(label(method))
    stats = pstats.Stats(profile)
    stats.sort_stats("cumulative").print_stats(70)
    stats.sort_stats("tottime").print_stats(40)


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU and wall time a sample, by adapter")
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], default=[*GROUPS])
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--delay", type=int, nargs="+", default=[0, 200], help="milliseconds")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", help="profile the methods whose label holds this text")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # frameworks announce the end of what they are measured by
    rows = samples(asked.samples)
    with started() as server:
        use_server(server.base_url)
        for group in asked.groups:
            methods = GROUPS[group]()
            if asked.profile is not None:
                for method in methods:
                    if asked.profile in label(method):
                        profiled(method, server, rows, asked.concurrency[-1])
                continue
            for delay in asked.delay:
                for limit in asked.concurrency:
                    found: dict[Method, list[Taken]] = defaultdict(list)
                    for _ in range(asked.runs):
                        for method in methods:
                            found[method].append(take(method, server, rows, limit, delay / MILLI))
                    print(
                        f"\n{group}: {len(rows)} samples, {delay} ms, {limit} at once, "
                        f"{os.cpu_count()} cores, median of {asked.runs}\n  {'':44} calls  cpu ms"
                        "    bare   above /own  wall s  /ideal bare  conn"
                    )
                    show(methods, found, math.ceil(len(rows) / limit) * delay / MILLI)


if __name__ == "__main__":
    main()
