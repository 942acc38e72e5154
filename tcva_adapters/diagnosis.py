"""What is installed, what cannot be imported, and the exact way to fix it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from tcva_adapters.frameworks import NO_TELEMETRY, Requirement

IMPORT_SECONDS: Final = 120


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


def inspect(requirement: Requirement) -> Finding:
    """Import one package in a process of its own, so that nothing of it stays here."""
    name, fix = requirement.distribution, requirement.hint()
    try:
        installed = version(name)
    except PackageNotFoundError:
        return Finding(name, None, fix=fix)
    try:
        subprocess.run(  # noqa: S603  # our own interpreter, module names from above
            [sys.executable, "-c", f"import {requirement.module}"],
            capture_output=True,
            text=True,
            timeout=IMPORT_SECONDS,
            check=True,
            env={**os.environ, **NO_TELEMETRY, "DEEPEVAL_FILE_SYSTEM": "READ_ONLY"},
        )
    except subprocess.TimeoutExpired:
        fault = f"import took over {IMPORT_SECONDS} s"
    except subprocess.CalledProcessError as error:
        fault = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
    else:
        return Finding(name, installed)
    return Finding(name, installed, fault, fix)
