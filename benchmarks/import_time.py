"""Time of ``import tcva_adapters`` beside ``import numpy``, in fresh processes, in turn.

Run: python -m benchmarks.import_time
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15


def seconds(statement: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - started


def main() -> None:
    statements = (
        "pass",
        "import numpy",
        "import tcva_adapters",
        "import tcva_adapters.core.aggregation",
    )
    taken: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(RUNS):
        for statement in statements:
            taken[statement].append(seconds(statement))
    medians = {statement: statistics.median(times) for statement, times in taken.items()}
    for statement, median in medians.items():
        print(f"{median * 1000:7.1f} ms  {statement}")
    ratios = [
        a / b for a, b in zip(taken["import tcva_adapters"], taken["import numpy"], strict=True)
    ]
    print(f"import tcva_adapters / import numpy: {statistics.median(ratios):.2f} (target <= 1.5)")
    script = "import sys, tcva_adapters; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    heavy = {"numpy", "pydantic", "openai", "langchain_core", "llama_index", "ragas", "deepeval"}
    print(f"loaded of {', '.join(sorted(heavy))}: {', '.join(sorted(loaded & heavy)) or 'none'}")


if __name__ == "__main__":
    main()
