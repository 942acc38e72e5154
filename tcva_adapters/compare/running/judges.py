"""The model behind each framework's LLM: the judge of a comparison, asked for others' prompts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.judge import Judge, ModelJudge
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import JudgeModel


def framework_models(
    spec: Any, judge: Judge, *, max_concurrency: int
) -> Callable[[str], JudgeModel] | None:
    """From a framework to the model behind its LLM; None for the lexical judge.

    Each framework has a model object of its own: what the server refuses of one's requests says
    nothing about the others'. They live as long as what is returned: keep it until the
    run's event loop is closed, so that their connections are closed with the loop.

    Args:
        spec: What TCVA was given as judge: ``lexical``, ``openai:MODEL``, or a `JudgeModel`, which
            all frameworks then share.
        judge: The judge that TCVA made of it.
        max_concurrency: Calls under way at once.

    Raises:
        InvalidValueError: A judge that cannot answer the prompts of others.
    """
    if judge.is_local:
        return None
    if isinstance(spec, str):
        name = spec.partition(":")[2]
        return cache(
            lambda _framework: OpenAICompatibleModel(name, max_concurrency=max_concurrency)
        )
    if isinstance(judge, ModelJudge):
        model = judge.model
        return lambda _framework: model
    msg = f"{judge.name} answers no prompts of others; compare takes a judge model, or its name"
    raise InvalidValueError(msg)
