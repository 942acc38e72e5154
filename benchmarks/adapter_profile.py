"""Where the CPU time of a method goes: TCVA in an adapter, or a framework's own metric.

A timer of the processor's time interrupts the process every millisecond, which costs next to
nothing, unlike a tracing profiler. Shown is what each function took a sample, with what it called.

Run: python -m benchmarks.adapter_profile GROUP METHOD [REGEX]
     e.g. python -m benchmarks.adapter_profile ragas TCVAMetric tcva_adapters
METHOD ends in "+client" for our own client as the judge's.
"""

from __future__ import annotations

import re
import signal
import sys
import time
import warnings
from collections import Counter
from types import FrameType
from typing import Final

from benchmarks.adapter_methods import GROUPS, Run, samples, use_server
from benchmarks.answering_server import started
from tcva_adapters.runner import clear_shared

SAMPLES: Final = 500
CONCURRENCY: Final = 32
ROUNDS: Final = 3
EVERY: Final = 0.001
LINES: Final = 60
_PLACE: Final = re.compile(r".*/(?:site-packages|python3\.\d+)/|.*/(?=tcva_adapters/|benchmarks/)")


class Sampler:
    """Counts the functions that are on the stack when the timer rings.

    Attributes:
        rung: How often it rang.
        within: How often each function was on the stack.
        inside: How often it was at the top of it.
    """

    def __init__(self) -> None:
        self.rung = 0
        self.within: Counter[str] = Counter()
        self.inside: Counter[str] = Counter()

    def __call__(self, _: int, frame: FrameType | None) -> None:
        """The timer rings."""
        self.rung += 1
        names = []
        while frame is not None:
            code = frame.f_code
            names.append(f"{_PLACE.sub('', code.co_filename)}:{code.co_qualname}")
            frame = frame.f_back
        self.inside[names[0]] += 1
        self.within.update(set(names))


def sampled(run: Run) -> tuple[Sampler, float]:
    """What rang while samples were judged, and the milliseconds of CPU a sample."""
    rows, sampler, taken = samples(SAMPLES), Sampler(), 0.0
    signal.signal(signal.SIGPROF, sampler)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    for _ in range(ROUNDS):
        clear_shared()
        before = time.process_time()
        run(rows, CONCURRENCY)
        taken += time.process_time() - before
    signal.setitimer(signal.ITIMER_PROF, 0)
    return sampler, taken / ROUNDS / SAMPLES * 1000


def main() -> None:
    warnings.simplefilter("ignore")  # frameworks announce the end of what they are measured by
    group, name, *shown = sys.argv[1:]
    wanted = name.removesuffix("+client"), name.endswith("+client")
    methods = {(each.name, each.with_our_client): each for each in GROUPS[group]()}
    with started() as server:
        use_server(server.base_url)
        run = methods[wanted].make(server.base_url, CONCURRENCY)
        run(samples(CONCURRENCY), CONCURRENCY)  # warmed up
        sampler, each = sampled(run)
    print(f"{each:.2f} ms a sample, {sampler.rung} times looked at")
    print(f"{'within':>8} {'itself':>8}")
    pattern = re.compile(shown[0] if shown else "")
    found = [name for name, _ in sampler.within.most_common() if pattern.search(name)]
    for function in found[:LINES]:
        within, inside = (
            each * count[function] / sampler.rung for count in (sampler.within, sampler.inside)
        )
        print(f"{within:8.3f} {inside:8.3f}  {function}")


if __name__ == "__main__":
    main()
