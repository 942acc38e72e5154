"""The model behind each framework's LLM: the judge of a comparison, asked for others' prompts."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.panel import single_judges
from tcva_adapters.models.protocol import JudgeModel


def framework_models(judge: Judge) -> Callable[[str], JudgeModel] | None:
    """From a framework to the model behind its LLM; None for the lexical judge.

    Each framework has a copy of an OpenAI-compatible model: what the server refuses of one's
    requests says nothing about the others'. Connections and limits are the same.

    Args:
        judge: TCVA's. Its model answers the prompts of the frameworks; of a panel that of the first
            judge that has one.

    Raises:
        InvalidValueError: A judge that cannot answer the prompts of others.
    """
    if judge.is_local:
        return None
    models = [voice.model for voice in single_judges(judge) if isinstance(voice, LLMJudge)]
    if not models:
        msg = f"{judge.name} answers no prompts of others; compare takes a judge model, or its name"
        raise InvalidValueError(msg)
    model = models[0]
    if hasattr(model, "refused"):
        return cache(lambda _framework: copy(model))
    return lambda _framework: model
