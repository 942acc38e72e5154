"""What is installed, what cannot be imported, and the exact way to mend it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

IMPORT_SECONDS: Final = 120

NO_TELEMETRY: Final = {
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
}
"""Environment that keeps the frameworks from phoning home and from reading .env files."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One optional package: its distribution, the module that must import, the extra it is in."""

    distribution: str
    module: str
    extra: str


REQUIREMENTS: Final = (
    Requirement("openai", "openai", "openai"),
    Requirement("langchain-core", "langchain_core.runnables", "langchain"),
    Requirement("langchain", "langchain.agents", "langchain-agents"),
    Requirement("langchain-classic", "langchain_classic.evaluation", "langchain-classic"),
    Requirement("llama-index-core", "llama_index.core", "llamaindex"),
    Requirement("ragas", "ragas", "ragas"),
    Requirement("deepeval", "deepeval", "deepeval"),
    Requirement("scipy", "scipy", "stats"),
    Requirement("krippendorff", "krippendorff", "stats"),
    Requirement("matplotlib", "matplotlib", "plots"),
    Requirement("pyarrow", "pyarrow", "parquet"),
)

KNOWN_FAULTS: Final = {
    # The last line of the traceback contains the key; the value is the way out.
    "langchain_community.chat_models.vertexai": (
        "pip install 'langchain-community>=0.4,<0.4.2': ragas 0.4.3 imports a module that "
        "langchain-community 0.4.2 removed"
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one optional package.

    Attributes:
        name: The distribution.
        version: The installed version, or None.
        fault: Why it cannot be imported; empty where it can, or is not installed.
        fix: What to do about it; empty where nothing is to be done.
    """

    name: str
    version: str | None
    fault: str = ""
    fix: str = ""

    @property
    def is_broken(self) -> bool:
        """Installed, but not importable."""
        return bool(self.fault)


def inspect(requirement: Requirement) -> Finding:
    """Import one package in a process of its own, so that nothing of it stays here."""
    name, extra = requirement.distribution, requirement.extra
    install = f"pip install 'tcva-adapters[{extra}]' -c constraints.txt"
    try:
        installed = version(name)
    except PackageNotFoundError:
        return Finding(name, None, fix=install)
    quiet = {**NO_TELEMETRY, "DEEPEVAL_FILE_SYSTEM": "READ_ONLY"}
    try:
        done = subprocess.run(  # noqa: S603  # our own interpreter, module names from above
            [sys.executable, "-c", f"import {requirement.module}"],
            capture_output=True,
            text=True,
            timeout=IMPORT_SECONDS,
            check=False,
            env={**os.environ, **quiet},
        )
    except subprocess.TimeoutExpired:
        return Finding(name, installed, f"import took over {IMPORT_SECONDS} s", install)
    if done.returncode == 0:
        return Finding(name, installed)
    fault = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    fix = next((way for mark, way in KNOWN_FAULTS.items() if mark in fault), install)
    return Finding(name, installed, fault, fix)
