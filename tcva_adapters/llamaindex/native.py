"""LlamaIndex's own evaluators on a `Sample`, unmodified, with their verdict captured.

They judge an answer as a whole, so there is one verdict per sample: the whole response is the
claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    BaseEvaluator,
    CorrectnessEvaluator,
    EvaluationResult,
    FaithfulnessEvaluator,
)
from llama_index.core.llms import LLM

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

_NO_ANSWER: Final = "Empty Response"
"""What a query engine answers without asking anybody, e.g. because there are no contexts."""

_BEST: Final = 5
_YES_OR_NO: Final = {1.0: Verdict.FULLY, 0.0: Verdict.NONE}
_POINTS_OF_TWO: Final = {1.0: Verdict.FULLY, 0.5: Verdict.PARTIAL, 0.0: Verdict.NONE}


def _one_to_five(score: float) -> Verdict | None:
    # Five steps for five levels; 4.5 has not reached the fifth.
    return LEVELS[_BEST - int(score)] if 1 <= score <= _BEST else None


_Level = Callable[[float], Verdict | None]

_METRICS: Final[Mapping[str, tuple[Callable[..., BaseEvaluator], _Level]]] = {
    "faithfulness": (FaithfulnessEvaluator, _YES_OR_NO.get),
    "answer_relevancy": (AnswerRelevancyEvaluator, _POINTS_OF_TWO.get),
    "correctness": (CorrectnessEvaluator, _one_to_five),
}
_IN_WORDS: Final = "faithfulness"
"""The metric whose reply is the verdict in a word; that of the others is a reason."""


def framework_metrics() -> dict[str, Callable[..., BaseEvaluator]]:
    """LlamaIndex's evaluators that can be scored beside TCVA, by name.

    >>> sorted(framework_metrics())
    ['answer_relevancy', 'correctness', 'faithfulness']
    """
    return {name: evaluator for name, (evaluator, _) in _METRICS.items()}


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
    build = _checked(name, llm)
    try:
        result = build(llm=llm).evaluate(**_arguments(sample))
    except Exception as error:  # noqa: BLE001  # whatever it raises, it has no score
        return _failed(name, error)
    return _score(name, sample, result)


async def ascore_framework_metric(name: str, sample: Sample, llm: LLM) -> FrameworkScore:
    """The same, awaited.

    Raises:
        InvalidValueError: The name is unknown, or ``llm`` is no LlamaIndex LLM.
    """
    build = _checked(name, llm)
    try:
        result = await build(llm=llm).aevaluate(**_arguments(sample))
    except Exception as error:  # noqa: BLE001  # whatever it raises, it has no score
        return _failed(name, error)
    return _score(name, sample, result)


def _checked(name: str, llm: object) -> Callable[..., BaseEvaluator]:
    if name not in _METRICS:
        msg = f"unknown LlamaIndex evaluator {name!r}; known are {', '.join(_METRICS)}"
        raise InvalidValueError(msg)
    if not isinstance(llm, LLM):
        msg = f"llm={llm!r} is no LlamaIndex LLM; LexicalLLM() is one that needs no network"
        raise InvalidValueError(msg)
    return _METRICS[name][0]


def _arguments(sample: Sample) -> dict[str, Any]:
    return {
        "query": sample.input,
        "response": sample.response,
        "contexts": None if sample.contexts is None else list(sample.contexts),
        "reference": sample.reference,
    }


def _failed(name: str, error: Exception) -> FrameworkScore:
    return FrameworkScore(name, None, error=f"{type(error).__name__}: {error}")


def _score(name: str, sample: Sample, result: EvaluationResult) -> FrameworkScore:
    if result.score is None or not math.isfinite(result.score):
        reason = result.invalid_reason or f"no score in the reply {result.feedback!r}"
        return FrameworkScore(name, None, error=reason)
    said = (result.feedback or "").strip()
    _, level = _METRICS[name]
    verdict = None if said == _NO_ANSWER else level(result.score)
    word, reason = (said, "") if name == _IN_WORDS else (f"{result.score:g}", said)
    verdicts = (FrameworkVerdict(sample.response or "", word, verdict, reason),)
    return FrameworkScore(name, result.score, verdicts)
