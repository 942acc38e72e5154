"""Read samples and conversations from RAGAS' samples, rows and arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragas.dataset_schema import MultiTurnSample, SingleTurnSample

from tcva_adapters._adapter.conversation import ConversationScorer
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import AnyScorer, lacks
from tcva_adapters.samples.contexts import read_ids
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.sample import Sample

COLUMNS = {
    "input": "user_input",
    "response": "response",
    "contexts": "retrieved_contexts",
    "reference": "reference",
}
"""RAGAS' names of a sample's fields."""

_CONVERSATION_COLUMNS = {**COLUMNS, "contexts": "tool messages"}


def as_sample(scorer: AnyScorer, row: SingleTurnSample) -> Sample:
    """Read a sample, and check that it has all that the scorer needs.

    Raises:
        InvalidSampleError: A field is missing; the message has RAGAS' name of it.
    """
    columns = (getattr(row, column) for column in COLUMNS.values())
    sample = sample_of(scorer, *columns)
    ids = read_ids(row.retrieved_context_ids, sample.contexts or ())
    return sample.model_copy(update={"context_ids": ids})


def sample_of(scorer: AnyScorer, *columns: Any) -> Sample:
    """Make the sample from the values of the columns, in the order of `COLUMNS`.

    Raises:
        InvalidSampleError: A field is missing; the message has RAGAS' name of it.
    """
    sample = Sample(**dict(zip(COLUMNS, columns, strict=True)))
    if missing := [COLUMNS[name] for name in scorer.missing(sample)]:
        raise InvalidSampleError(lacks("the sample", missing, scorer.subject))
    return sample


def as_conversation(judging: ConversationScorer, row: MultiTurnSample) -> Conversation:
    """Read a conversation, and check that it has all that the criterion needs.

    Raises:
        InvalidSampleError: No question has an answer, or no turn has a field.
    """
    conversation = Conversation.from_messages(row.user_input, reference=row.reference)
    names = [_CONVERSATION_COLUMNS[name] for name in judging.missing(conversation)]
    if names:
        raise InvalidSampleError(lacks("the conversation", names, judging.subject))
    return conversation


def samples_of(inputs: Iterable[Any]) -> list[Sample]:
    """Read samples from dicts of their fields.

    Raises:
        InvalidSampleError: An input cannot be read; the message has its number.
    """
    samples = []
    for number, row in enumerate(inputs):
        try:
            samples.append(Sample.from_record(dict(row)))
        except (TypeError, ValueError) as error:
            raise InvalidSampleError(
                f"inputs[{number}] must be a dict of a sample's fields, got {row!r:.60}: {error}"
            ) from None
    return samples
