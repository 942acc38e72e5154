"""CPU time of starting, in fresh processes, in turn: the commands beside the imports that they need.

Run: python -m benchmarks.start
User and system time, medians of 15. Byte code is compiled beforehand, as an installation does. The
least of the 15 is printed, too: other work on the machine takes caches, and CPU time with them.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

RUNS: Final = 15
TARGETS: Final = {"tcva --help": 0.5, "tcva evaluate, 3 samples": 0.5}


def commands(folder: Path) -> dict[str, list[str]]:
    """What is started, by name."""
    samples = resources.files("tcva_adapters.data").joinpath("samples.jsonl")
    three = folder / "three.jsonl"
    lines = samples.read_text(encoding="utf-8").splitlines()[:3]
    three.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tcva = [sys.executable, "-m", "tcva_adapters"]
    judged = ["-o", str(folder / "judged.jsonl"), "--overwrite", "--judge", "lexical"]
    return {
        "python": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import pydantic, typer, numpy": [sys.executable, "-c", "import pydantic, typer, numpy"],
        "import tcva_adapters": [sys.executable, "-c", "import tcva_adapters"],
        "import tcva_adapters.tcva": [sys.executable, "-c", "import tcva_adapters.tcva"],
        "tcva --help": [*tcva, "--help"],
        "tcva evaluate, 3 samples": [*tcva, "evaluate", str(three), *judged],
    }


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """CPU time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    with TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        started = commands(Path(folder))
        taken: dict[str, list[float]] = {name: [] for name in started}
        for number in range(RUNS + 1):
            for name, command in started.items():
                spent = seconds(command, environment)
                if number:  # the first one compiles
                    taken[name].append(spent)
    for name, times in taken.items():
        said = f" (target <= {TARGETS[name]})" if name in TARGETS else ""
        print(f"{name:30} {statistics.median(times):.3f} s, least {min(times):.3f} s{said}")


if __name__ == "__main__":
    main()
