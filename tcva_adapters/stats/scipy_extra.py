"""The one place where scipy is loaded: on first use, since it is an extra."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Literal

from tcva_adapters.errors import MissingDependencyError, install_hint


def scipy_module(name: Literal["stats", "special", "optimize"]) -> ModuleType:
    """Import one of scipy's modules.

    Args:
        name: Its name.

    Raises:
        MissingDependencyError: scipy is not installed.
    """
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError:
        raise MissingDependencyError(
            f"statistics need scipy: {install_hint('stats')}"
        ) from None
