"""Read samples and conversations from test cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepeval.test_case import ConversationalTestCase, LLMTestCase, SingleTurnParams
from pydantic_core import to_jsonable_python

from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.sample import Sample

PARAMS = {
    "input": SingleTurnParams.INPUT,
    "response": SingleTurnParams.ACTUAL_OUTPUT,
    "contexts": SingleTurnParams.RETRIEVAL_CONTEXT,
    "reference": SingleTurnParams.EXPECTED_OUTPUT,
}
"""A sample's fields under DeepEval's names."""


def as_sample(test_case: LLMTestCase) -> Sample:
    """Read a sample from a test case."""
    contexts: Any = _texts(test_case.retrieval_context)
    return Sample(
        input=test_case.input,
        response=test_case.actual_output,
        contexts=contexts,
        reference=test_case.expected_output,
        id=test_case.name,
        metadata=_metadata(test_case),
    )


def as_conversation(test_case: ConversationalTestCase) -> Conversation:
    """Read a conversation from a test case.

    Raises:
        InvalidSampleError: No question in it has an answer.
    """
    messages = [
        {
            "role": turn.role,
            "content": turn.content,
            "retrieval_context": _texts(turn.retrieval_context),
            "tools_called": [
                {"args": call.input_parameters, "output": call.output}
                for call in turn.tools_called or ()
            ],
        }
        for turn in test_case.turns
    ]
    return Conversation.from_messages(
        messages,
        contexts=_texts(test_case.context),
        reference=test_case.expected_outcome,
        id=test_case.name,
        metadata=_metadata(test_case),
    )


def _texts(contexts: Sequence[Any] | None) -> list[str] | None:
    """Return the texts of contexts, also of those with a source."""
    if contexts is None:
        return None
    return [getattr(context, "context", context) for context in contexts]


def _metadata(test_case: LLMTestCase | ConversationalTestCase) -> Any:
    """Return a test case's metadata as JSON values."""
    return to_jsonable_python(test_case.metadata or {}, fallback=str)
