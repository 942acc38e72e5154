"""LLM objects of frameworks as judge models.

Adapters stand above the judges, so none is imported here: `tcva_adapters.llm_adapters` registers what
each of them reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tcva_adapters.models.protocol import JudgeModel

LLMReader: TypeAlias = "Callable[[object], JudgeModel | None]"
"""Makes a judge model of a framework's LLM object, and None of any other object."""

LLM_READERS: dict[str, LLMReader] = {}
"""The readers by the package that the classes of LLM objects come from."""


def model_of_llm(llm: object) -> JudgeModel | None:
    """A judge model of a framework's LLM object; None for any other object."""
    for kind in type(llm).__mro__:
        reader = LLM_READERS.get(kind.__module__.partition(".")[0])
        model = reader(llm) if reader else None
        if model is not None:
            return model
    return None
