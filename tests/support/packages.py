"""The doctor's findings without the imports behind them, which take as long as all else that it does."""

from __future__ import annotations

from typing import Any

import pytest

from tcva_adapters import diagnosis
from tcva_adapters.frameworks import Requirement


def not_imported(patch: pytest.MonkeyPatch) -> None:
    """Let the doctor find packages that work, one that is not there, and one that is broken."""

    states = {
        "openai": "not installed: pip install 'tcva-adapters[openai]'",
        "ragas": "broken: ModuleNotFoundError: No module named 'langchain_community.chat_models'",
    }

    def found(requirement: Requirement) -> dict[str, Any]:
        name = requirement.distribution
        return {"package": name, "version": "1.7.2", "state": states.get(name, "works")}

    patch.setattr(diagnosis, "inspect", found)
