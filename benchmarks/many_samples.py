"""Time and memory of many samples with the lexical judge, and of looking at them afterwards.

Run: python -m benchmarks.many_samples [SAMPLES]
The samples are the package's own, each with a sentence of its own added, so that none is judged
for another one.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from tcva_adapters import TCVA, Sample, compare
from tcva_adapters.data import sample_lines
from tcva_adapters.results.files import read_assessments, write_assessments

TEMPERATURES = [t / 100 for t in range(10, 101)]


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    own = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    samples = [
        sample.model_copy(update={"id": f"s{i}", "response": f"{sample.response} Note {i}."})
        for i, sample in enumerate(islice(cycle(own), wanted))
    ]
    before = megabytes()
    started = time.perf_counter()
    results = TCVA(judge="lexical").evaluate_many(samples, progress=False)
    print(f"{wanted} samples judged: {time.perf_counter() - started:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judged.jsonl"
        started = time.perf_counter()
        write_assessments(path, [result.assessment for result in results])
        print(f"written: {time.perf_counter() - started:.1f} s, {path.stat().st_size / 1e6:.0f} MB")
        started = time.perf_counter()
        read = read_assessments(path).assessments
        print(f"read: {time.perf_counter() - started:.1f} s")
        started = time.perf_counter()
        compare.sweep(read, TEMPERATURES)
        print(
            f"mean scores at {len(TEMPERATURES)} temperatures: {time.perf_counter() - started:.2f} s"
        )
    print(f"memory: {megabytes():.0f} MB at most, of which {before:.0f} MB before judging")


if __name__ == "__main__":
    main()
