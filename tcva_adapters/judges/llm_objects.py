"""LLM objects of frameworks as judge models.

Adapters import the judges, so no adapter is imported here: `tcva_adapters.llm_adapters` registers a
reader for each framework.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tcva_adapters.models.judge_model import JudgeModel

LLMReader: TypeAlias = "Callable[[object], JudgeModel | None]"
"""A function that makes a judge model from a framework's LLM object; None for any other object."""

LLM_READERS: dict[str, LLMReader] = {}
"""The readers by the top-level package of the LLM objects' classes."""


def model_of_llm(llm: object) -> JudgeModel | None:
    """Make a judge model from a framework's LLM object; None for any other object."""
    for kind in type(llm).__mro__:
        reader = LLM_READERS.get(kind.__module__.partition(".")[0])
        model = reader(llm) if reader else None
        if model is not None:
            return model
    return None
