"""LlamaIndex's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    BaseEvaluator,
    CorrectnessEvaluator,
    EvaluationResult,
    FaithfulnessEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.llms import LLM

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_NO_ANSWER: Final = "Empty Response"
"""What a query engine answers without asking anybody, e.g. because there are no contexts."""

_BEST: Final = 5


def _binary(score: float) -> Verdict | None:
    return {1.0: Verdict.FULLY, 0.0: Verdict.NONE}.get(score)


def _ternary(score: float) -> Verdict | None:
    # 0, 1 or 2 points of 2
    return {1.0: Verdict.FULLY, 0.5: Verdict.PARTIAL, 0.0: Verdict.NONE}.get(score)


def _one_to_five(score: float) -> Verdict | None:
    # Five steps for five levels; 4.5 has not reached the fifth.
    return LEVELS[_BEST - int(score)] if 1 <= score <= _BEST else None


@dataclass(frozen=True, slots=True)
class _Native:
    evaluator: Callable[..., BaseEvaluator]
    level: Callable[[float], Verdict | None]


_NATIVES: Final[Mapping[str, _Native]] = MappingProxyType(
    {
        "faithfulness": _Native(FaithfulnessEvaluator, _binary),
        "relevancy": _Native(RelevancyEvaluator, _binary),
        "answer_relevancy": _Native(AnswerRelevancyEvaluator, _ternary),
        "correctness": _Native(CorrectnessEvaluator, _one_to_five),
    }
)


def framework_metrics() -> dict[str, Callable[..., BaseEvaluator]]:
    """LlamaIndex's evaluators that can be scored beside TCVA, by name.

    >>> sorted(framework_metrics())
    ['answer_relevancy', 'correctness', 'faithfulness', 'relevancy']
    """
    return {name: native.evaluator for name, native in _NATIVES.items()}


def score_framework_metric(name: str, sample: Sample, llm: LLM) -> FrameworkScore:
    """Run one of LlamaIndex's evaluators on a sample.

    Args:
        name: One of `framework_metrics`.
        sample: The sample.
        llm: A LlamaIndex LLM; `LexicalLLM` needs no network.

    Returns:
        The score as the evaluator gives it (``correctness``: 1 to 5, the others 0 to 1) with its
        one verdict; an error of the evaluator or its LLM is in ``error``.

    Raises:
        InvalidValueError: The name is unknown, or ``llm`` is no LlamaIndex LLM.
    """
    native = _native(name, llm)
    try:
        result = native.evaluator(llm=llm).evaluate(**_arguments(sample))
    except Exception as error:  # noqa: BLE001  # whatever it raises, it has no score
        return _failed(name, error)
    return _score(name, native, sample, result)


async def ascore_framework_metric(name: str, sample: Sample, llm: LLM) -> FrameworkScore:
    """The same, awaited.

    Raises:
        InvalidValueError: The name is unknown, or ``llm`` is no LlamaIndex LLM.
    """
    native = _native(name, llm)
    try:
        result = await native.evaluator(llm=llm).aevaluate(**_arguments(sample))
    except Exception as error:  # noqa: BLE001  # whatever it raises, it has no score
        return _failed(name, error)
    return _score(name, native, sample, result)


def _native(name: str, llm: object) -> _Native:
    if name not in _NATIVES:
        msg = f"unknown LlamaIndex evaluator {name!r}; known are {', '.join(_NATIVES)}"
        raise InvalidValueError(msg)
    if not isinstance(llm, LLM):
        msg = f"llm={llm!r} is no LlamaIndex LLM; LexicalLLM() is one that needs no network"
        raise InvalidValueError(msg)
    return _NATIVES[name]


def _arguments(sample: Sample) -> dict[str, Any]:
    return {
        "query": sample.input,
        "response": sample.response,
        "contexts": None if sample.contexts is None else list(sample.contexts),
        "reference": sample.reference,
    }


def _failed(name: str, error: Exception) -> FrameworkScore:
    return FrameworkScore(name, None, error=f"{type(error).__name__}: {error}")


def _score(name: str, native: _Native, sample: Sample, result: EvaluationResult) -> FrameworkScore:
    if result.score is None or not math.isfinite(result.score):
        reason = result.invalid_reason or f"no score in the reply {result.feedback!r}"
        return FrameworkScore(name, None, error=reason)
    said = (result.feedback or "").strip()
    is_judged = said != _NO_ANSWER
    verdict = native.level(result.score) if is_judged else None
    word = said if native.level is _binary else f"{result.score:g}"
    reason = "" if native.level is _binary else said
    verdicts = (FrameworkVerdict(sample.response or "", word, verdict, reason),)
    return FrameworkScore(name, result.score, verdicts)
