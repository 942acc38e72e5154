"""All measurements of speed, beside the peers, and the tables of docs/speed.md.

Run: make bench, or in its environment
    python -m benchmarks.bench [--quick | --profile] [--only STEP ...] [--methods GROUP ...]
Steps can be repeated one by one: figures of the others stay in build/bench/figures.json, from which
the page is written each time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import tests.support.quiet  # noqa: F401  # tracking is switched off in every process that follows

# isort: split
from benchmarks import bench_methods
from benchmarks.bench_child import PROFILE
from benchmarks.bench_methods import MORE_ROWS, REFERENCE, ROWS, Row
from benchmarks.bench_table import between, time_table, token_table

FOLDER: Final = Path("build/bench")
PAGE: Final = Path("docs/speed.md")
METHODS: Final = "methods"
STEPS: Final[dict[str, tuple[str, ...]]] = {
    "scores": ("benchmarks.scores",),
    "start": ("benchmarks.start",),
    "statistics": ("benchmarks.bootstrap",),
    "sweep": ("benchmarks.sweep",),
    "growth": ("benchmarks.growth",),
}
"""The other measurements: each a module that prints what it found."""
LONG: Final[dict[str, tuple[str, ...]]] = {"ray": ("benchmarks.ray_scale",)}
"""Those that need more than this environment: they run where they are named."""
QUICK_SAMPLES: Final = 64
PACKAGES: Final = (
    "openai", "ragas", "deepeval", "llama-index-core", "langchain-core", "langchain-classic",
    "langchain-openai", "openevals", "numpy", "pydantic",
)  # fmt: skip


def versions() -> str:
    """What was measured, as a sentence."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    script = "from importlib.metadata import version as v; print(v('eval-ai-library'), 'with openai', v('openai'))"
    if REFERENCE.exists():
        done = subprocess.run([REFERENCE, "-c", script], capture_output=True, text=True, check=True)
        found.append(f"eval-ai-library {done.stdout.strip()}")
    return f"{os.cpu_count()} cores, Python {platform.python_version()}; {', '.join(found)}."


def rows(groups: list[str]) -> list[Row]:
    """The methods of these frameworks, or the usual ones without any."""
    if not groups:
        return list(ROWS)
    known = {row.group for row in (*ROWS, *MORE_ROWS)}
    if unknown := set(groups) - known - {"all"}:
        sys.exit(
            f"no methods of {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}, all"
        )
    return [row for row in (*ROWS, *MORE_ROWS) if "all" in groups or row.group in groups]


def step(name: str, module: tuple[str, ...]) -> dict[str, Any]:
    """Run a measurement of its own and keep what it prints."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", *module], stdout=-1, text=True, check=False)
    if done.returncode:
        print(f"{name} failed; its earlier figures stay", flush=True)
        return {}
    seconds = time.perf_counter() - started
    return {
        "command": f"python -m {' '.join(module)}",
        "seconds": seconds,
        "text": done.stdout.strip(),
    }


def write_page(figures: dict[str, Any]) -> None:
    """The tables into the page; what was not measured yet says so."""
    page = PAGE.read_text(encoding="utf-8")
    if METHODS in figures:
        page = between(page, "machine", figures["machine"])
        page = between(page, "time", time_table(figures[METHODS]))
        page = between(page, "tokens", token_table(figures[METHODS]))
    for name in (*STEPS, *LONG):
        if name in figures:
            page = between(page, name, f"```text\n{figures[name]['text']}\n```")
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="All measurements of speed, beside the peers")
    parser.add_argument(
        "--only", nargs="+", choices=[METHODS, *STEPS, *LONG], default=[METHODS, *STEPS]
    )
    parser.add_argument(
        "--methods", nargs="+", default=[], metavar="GROUP", help="frameworks, or all"
    )
    parser.add_argument("--samples", type=int, default=500, help="at the highest concurrency")
    parser.add_argument("--delay", type=int, nargs="+", default=[0, 200], help="milliseconds")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--runs", type=int, default=3, help="figures are medians of them")
    parser.add_argument("--quick", action="store_true", help="one short run; the page stays")
    parser.add_argument(
        "--profile", action="store_true", help="--quick, with profiles in the methods' logs"
    )
    asked = parser.parse_args()
    if asked.profile:
        os.environ[PROFILE] = "1"
        asked.quick = True
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / "figures.json"
    figures = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if METHODS in asked.only:
        cells = bench_methods.cells(
            QUICK_SAMPLES if asked.quick else asked.samples,
            asked.delay,
            asked.concurrency[-1:] if asked.quick else asked.concurrency,
        )
        found = bench_methods.run(
            rows(asked.methods), cells, repeats=1 if asked.quick else asked.runs, folder=FOLDER
        )
        print(f"\n{token_table(found)}\n\n{time_table(found)}\n")
        if asked.quick:
            return
        figures |= {"machine": versions(), METHODS: {**figures.get(METHODS, {}), **found}}
        file.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    for name, module in {**STEPS, **LONG}.items():
        if name in asked.only and not asked.quick:
            print(f"{name} ...", flush=True)
            figures |= {name: got} if (got := step(name, module)) else {}
            file.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    write_page(figures)


if __name__ == "__main__":
    main()
