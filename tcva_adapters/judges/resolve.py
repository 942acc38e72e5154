"""Make a judge from what a user passes as ``judge=``."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from tcva_adapters.core.checks import nearest
from tcva_adapters.core.temperature import misplaced
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import DefaultJudgeWarning, InvalidValueError
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.judges.base import MAX_CLAIMS, Judge
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.llm_objects import model_of_llm
from tcva_adapters.models.judge_model import JudgeModel
from tcva_adapters.results.settings import ClaimsMode, JudgeConfig, VerdictForm

MAX_CONCURRENCY: int = JudgeConfig.default("max_concurrency")

_LEXICAL_LLMS = frozenset(
    (f"{framework.package}.offline", "LexicalLLM") for framework in FRAMEWORKS.values()
)
"""Module and name of the classes that wrap the lexical judge as a framework's LLM."""

NLI = "nli:"
"""The prefix of an NLI judge's name; its folder follows."""

KINDS = (
    "'lexical', 'openai:MODEL', 'nli:FOLDER', an LLM object of LangChain, LlamaIndex, RAGAS or DeepEval, or an "
    "object with complete() and acomplete()"
)


FOR_MODELS = ("claims", "verdicts")
"""Settings that only a language model follows, and no judge that computes in this process."""

JUDGING = (*FOR_MODELS, "max_claims")
"""The settings of a judge itself, which all judges of an evaluator follow as far as they can."""

DEFAULT = "lexical"
"""The judge that is used where none is named."""


@cache
def warn_of_default_judge() -> None:
    """Warn, once in a process, that no judge was named and the lexical judge is used."""
    warnings.warn(
        "no judge was given, so the lexical judge is used. It compares words and is not a language "
        "model. Pass judge='openai:MODEL' or an LLM object (llm=... in LangChain's evaluator), or "
        "judge='lexical' to hide this warning",
        DefaultJudgeWarning,
        stacklevel=2,
    )


def resolve_judge(
    judge: object,
    *,
    claims: ClaimsMode = "split",
    max_claims: int = MAX_CLAIMS,
    verdicts: VerdictForm = "written",
    max_concurrency: int = MAX_CONCURRENCY,
) -> Judge:
    """Make a judge from its name or a model object; return a judge as it is.

    ``"lexical"`` needs no network, and an adapter's ``LexicalLLM`` means the same judge.
    ``"openai:MODEL"`` calls any OpenAI-compatible server, found through OPENAI_BASE_URL and
    OPENAI_API_KEY. ``"nli:FOLDER"`` loads a cross-encoder from that folder.

    Raises:
        InvalidValueError: The value is neither a known name nor an object that can judge, or the
            judge cannot follow a setting.
        MissingDependencyError: The openai package, or the extra for cross-encoders, is not installed.
        JudgeError: There is no API key.
    """
    settings: dict[str, object] = {
        "claims": claims,
        "max_claims": max_claims,
        "verdicts": verdicts,
    }
    changed = [
        name for name, value in settings.items() if value != JudgeConfig.default(name)
    ]
    # A mock has any attribute, so its name must be a string as well.
    if isinstance(judge, Judge) and isinstance(judge.name, str):
        if changed:
            names = ", ".join(changed)
            raise InvalidValueError(
                f"{names} cannot be set here, as {judge.name} is already built; build it with {names}"
            )
        return judge
    if is_fixed(judge):
        kind = "the lexical judge" if is_lexical(judge) else judge
        for name in FOR_MODELS:
            if name in changed:
                raise InvalidValueError(
                    f"{name}={settings[name]!r} needs a language model as judge; {kind} does not support it"
                )
        return LexicalJudge() if is_lexical(judge) else _nli(str(judge))
    model = _model(judge, max_concurrency)
    if model is None:
        raise InvalidValueError(f"unknown judge {judge!r}; {_advice(judge)}")
    # Imported here because the lexical judge needs no prompts, replies and evidence.
    from tcva_adapters.judges.llm import LLMJudge  # noqa: PLC0415  # see above

    return LLMJudge(
        model,
        claims=claims,
        max_claims=max_claims,
        verdicts=verdicts,
    )


def _advice(judge: object) -> str:
    """Advise how to name a judge, for a value that names none."""
    if not isinstance(judge, str):
        return misplaced(judge) or f"use {KINDS}"
    if judge in CRITERIA:
        return f"write criterion={judge!r}"
    model = judge if judge and ":" not in judge else "MODEL"
    return misplaced(judge) or nearest(
        judge, ["lexical"], f"use 'lexical', 'openai:{model}' or 'nli:FOLDER'"
    )


def is_fixed(judge: object) -> bool:
    """Whether a value means a judge that no setting changes: the lexical one, or ``nli:FOLDER``."""
    return is_lexical(judge) or (isinstance(judge, str) and judge.startswith(NLI))


def is_judge_name(text: str) -> bool:
    """Whether a text names a judge rather than a framework's model."""
    return is_fixed(text) or text.startswith("openai:")


def _nli(name: str) -> Judge:
    folder = name.removeprefix(NLI)
    if not folder:
        raise InvalidValueError(f"judge={name!r} names no folder; use 'nli:FOLDER'")
    # Imported here because only this judge needs the packages that run a cross-encoder.
    from tcva_adapters.judges.nli import NLIJudge  # noqa: PLC0415  # see above

    return NLIJudge(folder)


def is_lexical(judge: object) -> bool:
    """Whether a value means the lexical judge: its name, or an adapter's ``LexicalLLM``.

    A subclass of ``LexicalLLM`` does not, as it may answer other prompts as well.
    """
    kind = type(judge)
    is_lexical_llm = (kind.__module__, kind.__name__) in _LEXICAL_LLMS
    return is_lexical_llm or (isinstance(judge, str) and judge == "lexical")


def model_of_name(name: str, **settings: Any) -> JudgeModel | None:
    """Make the model that ``openai:MODEL`` names; None for any other name.

    Raises:
        InvalidValueError: A setting is out of range.
        MissingDependencyError: The openai package is not installed.
        JudgeError: There is no API key.
    """
    provider, _, model = name.partition(":")
    if provider != "openai" or not model:
        return None
    # Imported here because only this judge needs the openai package.
    from tcva_adapters.models.openai_model import OpenAICompatibleModel  # noqa: PLC0415  # see above

    return OpenAICompatibleModel(model, **settings)


def _model(judge: object, max_concurrency: int) -> JudgeModel | None:
    """Make a judge model from its name or a framework's LLM object, or return it as it is; else None."""
    if isinstance(judge, JudgeModel) and isinstance(judge.name, str):
        return judge
    if isinstance(judge, str):
        return model_of_name(judge, max_concurrency=max_concurrency)
    return model_of_llm(judge)
