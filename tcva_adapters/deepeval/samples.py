"""DeepEval's test cases as samples."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

from deepeval.errors import MissingTestCaseParamsError
from deepeval.test_case import LLMTestCase, SingleTurnParams
from pydantic_core import to_jsonable_python

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.sample import Sample

PARAMS: Final = MappingProxyType(
    {
        "input": SingleTurnParams.INPUT,
        "response": SingleTurnParams.ACTUAL_OUTPUT,
        "contexts": SingleTurnParams.RETRIEVAL_CONTEXT,
        "reference": SingleTurnParams.EXPECTED_OUTPUT,
    }
)
"""A sample's fields under DeepEval's names."""


def sample_of(test_case: object, metric: str) -> Sample:
    """A test case as a sample.

    Args:
        test_case: The test case; a retrieved context with a source is taken by its text.
        metric: The metric's name, for messages.

    Raises:
        InvalidSampleError: It is a conversation, or multimodal.
    """
    if not isinstance(test_case, LLMTestCase):
        msg = (
            f"'{metric}' judges an LLMTestCase, not a {type(test_case).__name__}; judge each "
            "answer of a conversation as an LLMTestCase with the context it was given"
        )
        raise InvalidSampleError(msg)
    if test_case.multimodal:
        msg = f"'{metric}' judges text; the test case is multimodal"
        raise InvalidSampleError(msg)
    retrieved = test_case.retrieval_context
    return Sample(
        input=test_case.input,
        response=test_case.actual_output,
        contexts=None if retrieved is None else tuple(map(_text, retrieved)),
        reference=test_case.expected_output,
        id=test_case.name,
        metadata=to_jsonable_python(test_case.metadata or {}, fallback=str),
    )


def check_params(missing: Sequence[str], metric: str) -> None:
    """Say in DeepEval's words that a test case lacks fields.

    Raises:
        MissingTestCaseParamsError: It does.
    """
    if missing:
        fields = " and ".join(f"'{PARAMS[name].value}'" for name in missing)
        msg = f"{fields} cannot be None for the '{metric}' metric"
        raise MissingTestCaseParamsError(msg)


def _text(passage: Any) -> str:
    return passage if isinstance(passage, str) else str(passage.context)
