"""Results as LlamaIndex's evaluations, their events, and functions that read them back."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Self

from llama_index.core.evaluation.base import EvaluationResult
from llama_index.core.instrumentation.events import BaseEvent
from pydantic import PlainSerializer, PlainValidator

from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters._adapter.results import Carrier, find_result, views_of
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.protocol import Scored, is_result
from tcva_adapters.runner.questions import R
from tcva_adapters.samples.json_values import Json


class ScorerEvaluationResult(Carrier, EvaluationResult, Generic[R]):
    """LlamaIndex's `EvaluationResult`, and the result behind it.

    It fills LlamaIndex's fields as LlamaIndex's own evaluators do: ``score`` in [0, 1],
    ``passing``, ``feedback`` (never None), and ``invalid_result`` with ``invalid_reason`` if there
    is no score. An answer that claims nothing is ``passing``. `result_of` reads the result back from
    a dump of the model.

    Attributes:
        result: A `Result` of TCVA or a `CCRSResult` of CCRS.
        citations: ``result.citations()`` as JSON values; None where the answer cites nothing.
        passages: ``result.passages()`` as JSON values; None where contexts were not judged against.
    """

    result: Annotated[
        R,
        PlainValidator(lambda value: value if is_result(value) else read_result(value)),
        PlainSerializer(lambda result: result.to_dict()),
    ]
    citations: Json | None = None
    passages: list[Json] | None = None

    def _with_result(self, result: Scored) -> Self:
        return self.model_copy(update=fields_of(result))


class ScorerEvaluationStartEvent(BaseEvent):
    """The event that an evaluation begins.

    Attributes:
        subject: The criterion, e.g. ``faithfulness``.
        query: The question.
        response: The answer.
    """

    subject: str
    query: str | None
    response: str | None

    @classmethod
    def class_name(cls) -> str:
        """The event's name for handlers."""
        return "ScorerEvaluationStartEvent"


class ScorerEvaluationEndEvent(BaseEvent, Generic[R]):
    """The event that an evaluation has ended, with a valid or an invalid result.

    Attributes:
        result: The evaluation, with the result behind it.
    """

    result: ScorerEvaluationResult[R]

    @classmethod
    def class_name(cls) -> str:
        """The event's name for handlers."""
        return "ScorerEvaluationEndEvent"


def result_of(carried: object) -> Any:
    """Return the result behind an evaluation.

    Args:
        carried: An evaluation of a `TCVAEvaluator` or its end event, or the ``model_dump`` or
            ``model_dump_json`` of one.

    Raises:
        UnreadableInputError: There is no result in it.
    """
    return find_result(carried, ("result",))


def fields_of(result: Scored) -> Arguments:
    """Return a result as the fields of LlamaIndex's evaluations."""
    return {
        "passing": result.nothing_to_check or result.passed,
        "feedback": result.reason,
        "score": result.score,
        "invalid_result": result.score is None,
        "invalid_reason": result.reason if result.score is None else None,
        "result": result,
        **views_of(result),
    }
