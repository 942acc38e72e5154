"""The scorers, and the sample that each takes from Inspect's state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from tcva_adapters.criteria import CRITERIA, Criterion, resolve_criterion
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA


def scorer_of(criterion: Criterion | str) -> Callable[..., Scorer]:
    """Make and register a scorer for a criterion, one of your own say.

    The scorer takes ``judge`` (the lexical judge by default) and the settings of `TCVA`. A score has
    the reason as its explanation, and as metadata all that the result has: ``passed``, ``claims``;
    `read_result` reads it back. Without a score it is unscored, with the reason: Inspect's metrics
    leave it out, and its log counts it.

    Raises:
        InvalidValueError: The criterion is unknown.
        RuntimeError: From the scorer: a setting is unknown or out of range.
    """

    def make_scorer(judge: str = "lexical", **settings: Any) -> Scorer:
        try:
            tcva = TCVA(criterion, judge=judge, **settings)
        except InvalidValueError as error:
            # Inspect takes any ValueError for a scorer that is not there.
            raise RuntimeError(str(error)) from error

        async def score(state: TaskState, target: Target) -> Score:
            try:
                sample = sample_of(state, target)
            except InvalidSampleError as error:
                return Score.unscored(reason="invalid_input", explanation=str(error))
            # Of many, one that lacks a field is unscored; of one, it is an error.
            [result] = await tcva.aevaluate_many([sample], progress=False)
            why = result.unscored
            return Score(
                value=math.nan if result.score is None else result.score,
                reason=why and why.reason.value,
                explanation=result.reason,
                metadata=result.to_dict(),
            )

        return score

    register = scorer([mean(), stderr()], resolve_criterion(criterion).name)
    registered: Callable[..., Scorer] = register(make_scorer)
    return registered


def sample_of(state: TaskState, target: Target) -> Sample:
    """Make a sample of Inspect's state.

    Contexts are those in the metadata, under any name that `Sample.from_record` knows, or else what
    tools returned before the answer. The reference is the target, or without one that in the metadata.
    Several targets are one reference, a line each.

    Raises:
        InvalidSampleError: A field of the metadata, or a message, cannot be read.
    """
    sample = Sample.from_record(
        {
            **state.metadata,
            "messages": state.messages,
            "id": state.sample_id,
            "input": state.input,
            "response": state.output.completion,
            "reference": "\n".join(target) or state.metadata.get("reference"),
        }
    )
    # Where the metadata has contexts, the messages are left over.
    sample.metadata.pop("messages", None)
    return sample


# `inspect score` finds these by their names.
for name in CRITERIA:
    scorer_of(name)
