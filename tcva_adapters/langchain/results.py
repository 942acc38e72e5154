"""Write results for chains, checkpoints, traces and LangSmith, and read them back."""

from __future__ import annotations

from typing import Any

from typing_extensions import (
    TypedDict,
)  # pydantic reads the other one from Python 3.12 on

from tcva_adapters._adapter.results import find_result, views_of
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.samples.json_values import Json

_VALUES = {
    None: "unscored",
    True: "pass",
    False: "fail",
}

_PLACES = ("outputs", "output", "metadata", "evaluator_info", "feedback_source")
"""Where runs and feedback hold the output of an evaluator."""


class _OfEveryResult(TypedDict):
    """The keys that the outputs for all kinds of results have."""

    score: float | None
    value: str
    reasoning: str
    passed: bool | None
    reason: str
    kind: str
    schema_version: int
    judge: str
    sample_id: str | None
    metadata: Json


class TCVAOutput(_OfEveryResult, total=False):
    """A result as plain data for JSON, checkpoints and traces; see `result_of`.

    In the output of a gate or an agent, ``passed`` is False for every answer that is stopped, also if
    ``value`` is ``unscored``; None says that there is nothing to check.

    ``score``, ``value`` (``pass``, ``fail`` or ``unscored``) and ``reasoning`` are the keys of
    LangChain's own string evaluators. The other keys are those of the result's ``to_dict()``;
    the optional ones belong to a `Result`, a `CCRSResult` has other ones instead. The output for a
    conversation has the claims in its ``turns``, which have the keys of a result's ``to_dict()``.
    """

    interval: list[float] | None
    breakdown: dict[str, float]
    scoring: Json
    guarantee: Json | None
    certified: Json | None
    judged_by: Json
    criterion: str
    prompt_version: str
    form: str
    claims: list[Json]
    unscored: Json | None
    usage: Json
    from_store: bool
    shared: bool
    earlier_contexts: bool
    members: list[Json]
    panel: list[Json]
    turns: list[Json]
    citations: Json
    passages: list[Json]


def as_output(result: Scored) -> TCVAOutput:
    """Return a result as plain data."""
    plain = result.to_dict() | views_of(result)
    return {
        "value": _VALUES[plain["passed"]],
        "reasoning": plain["reason"],
        **plain,  # type: ignore[typeddict-item]  # its fields by name
    }


def at_gate(output: TCVAOutput) -> TCVAOutput:
    """Return an output as gates decide: ``passed`` is None only if there is nothing to check."""
    if output["passed"] is False:
        return output
    result = result_of(output)
    decision = as_output(result.at_gate() if isinstance(result, Result) else result)
    return {
        **output,
        **decision,
        "passed": None if result.nothing_to_check else bool(decision["passed"]),
    }


def as_feedback(key: str, output: TCVAOutput) -> Json:
    """Return an output as LangSmith's feedback, marked as an error if there is no score.

    LangSmith keeps ``metadata`` with the rows of an experiment, and sends ``evaluator_info``.
    """
    return {
        "key": key,
        "score": output["score"],
        "value": output["value"],
        "comment": output["reasoning"],
        "metadata": dict(output),
        "evaluator_info": dict(output),
        **({"extra": {"error": True}} if output["score"] is None else {}),
    }


def result_of(stored: object) -> Any:
    """Return the result behind data that LangChain or LangSmith stored.

    Another temperature costs no call: ``result_of(output).at(0.1)``.

    Args:
        stored: The output of an evaluator or a string evaluator, an agent's ``state["tcva"]``,
            feedback of LangSmith, or an evaluator's run; as an object, a mapping or JSON.

    Returns:
        The `Result`, or `CCRSResult`, that was stored.

    Raises:
        UnreadableInputError: There is no result in it.
    """
    return find_result(stored, _PLACES)
