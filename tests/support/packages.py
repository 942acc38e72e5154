"""The doctor's findings without the imports behind them, which take as long as all else that it does."""

from __future__ import annotations

import pytest

from tcva_adapters import diagnosis
from tcva_adapters.frameworks import Requirement


def not_imported(patch: pytest.MonkeyPatch) -> None:
    """Let the doctor find packages that work, one that is not there, and one that is broken."""

    def found(requirement: Requirement) -> diagnosis.Finding:
        name, hint = requirement.distribution, requirement.hint()
        if name == "openai":
            return diagnosis.Finding(name, None, fix=hint)
        if name == "ragas":
            fault = (
                "ModuleNotFoundError: No module named 'langchain_community.chat_models.vertexai'"
            )
            return diagnosis.Finding(name, "0.4.3", fault, hint)
        return diagnosis.Finding(name, "1.7.2")

    patch.setattr(diagnosis, "inspect", found)
