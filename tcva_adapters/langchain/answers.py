"""Find the text of the answer in the output of a chain or an agent, and replace it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.conversation import TCVAConversationEvaluator
from tcva_adapters.langchain.evaluator import ScorerEvaluator
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

Path: TypeAlias = tuple[Any, ...]
"""The keys and positions that lead to a text; empty where the value is the text, or its message."""

MARKS = "tcva"
"""The key of the marks, in dicts and in the metadata of messages."""

_STRUCTURED = "structured_response"
"""What an agent with a ``response_format`` makes of its last answer."""

_PROBE = "This text stands in for the answer."


def claim_scorer(evaluator: ScorerEvaluator | None) -> TCVA | None:
    """Return the `TCVA` by which an evaluator judges the claims of single answers; None without one."""
    if isinstance(evaluator, TCVAConversationEvaluator):
        return None
    scorer = evaluator and evaluator.scorer
    return scorer if isinstance(scorer, TCVA) else None


def sample_in(evaluator: ScorerEvaluator | None, value: Any) -> Sample:
    """Return the sample, or the last turn, that an evaluator reads from the output of a chain.

    Args:
        evaluator: The evaluator, whose mapper is used; None where a wrapper hides it.
        value: The output.

    Raises:
        InvalidSampleError: It cannot be read.
    """
    if evaluator and evaluator.mapper:
        value = evaluator.mapper(value)
    return value.turns[-1] if isinstance(value, Conversation) else as_sample(value)


def answer_paths(value: Any, read: Callable[[Any], Sample]) -> list[Path]:
    """Return where the answer stands: one path, or those of several messages in a row.

    Args:
        value: The output of a chain or an agent.
        read: Reads the sample from such a value; this tells equal texts apart.

    Raises:
        InvalidSampleError: The answer stands nowhere in it.

    >>> answer_paths({"question": "Ada.", "answer": "Ada."}, as_sample)
    [('answer',)]
    """
    answer = read(value).response or ""

    def is_read(path: Path) -> bool:
        """Whether another text at a path is read from there."""
        probed = changed_at(value, path, lambda holder: with_text(holder, _PROBE))
        return _PROBE in (read(probed).response or "")

    parts = {
        path: text
        for path, text in _texts_in(value)
        if text.strip() in answer and is_read(path)
    }
    if " ".join(parts.values()).split() != answer.split() or not parts:
        raise InvalidSampleError(
            f"the answer {answer!r:.80} stands in no text or message of the gate's input, so nothing "
            "can be served in its place; mapper= must return its text unchanged"
        )
    return [*parts]


def changed_at(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """Return a copy in which what stands at a path is changed; everything else is shared.

    >>> changed_at({"answer": "Ada.", "id": 1}, ("answer",), str.upper)
    {'answer': 'ADA.', 'id': 1}
    """
    if not path:
        return change(value)
    copied = [*value] if isinstance(value, tuple) else copy(value)
    copied[path[0]] = changed_at(value[path[0]], path[1:], change)
    return tuple(copied) if isinstance(value, tuple) else copied


def with_text(holder: Any, text: str) -> Any:
    """Return another text, or a copy of a message with another one.

    Of a message in blocks only the text blocks change: one at the end has all of the text, since the
    annotations of the others have offsets in what was there.
    """
    if isinstance(holder, str) or text == holder.text:
        return text if isinstance(holder, str) else holder
    content: Any = text
    if isinstance(holder.content, list):
        content = [
            block
            for block in holder.content
            if isinstance(block, dict) and block.get("type") != "text"
        ]
        content += [{"type": "text", "text": text}] * bool(text)
    return holder.model_copy(update={"content": content})


def with_answer(
    value: Any, paths: Sequence[Path], text: str | None, marks: Json
) -> Any:
    """Return a copy of a value with an answer at the last of some paths, and marks beside it.

    Marks, if any, stand in a message's ``response_metadata``, and under ``tcva`` in a mapping. Without
    a text the answer stays as it stands; with one an agent's ``structured_response`` becomes None.
    """

    def serve(held: Any) -> Any:
        if marks and isinstance(held, BaseMessage):
            metadata = {**held.response_metadata, MARKS: {**marks}}
            held = held.model_copy(update={"response_metadata": metadata})
        return held if text is None else with_text(held, text)

    served = changed_at(value, paths[-1], serve)
    if text is not None:
        for path in paths[:-1]:
            served = changed_at(served, path, lambda held: with_text(held, ""))
        if isinstance(value, Mapping) and _STRUCTURED in value:
            served[_STRUCTURED] = None
    if marks and isinstance(value, Mapping):
        served[MARKS] = marks
    return served


def _texts_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the texts in a value, each with its path; a message counts as one text."""
    entries: Any = ()
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, BaseMessage):
        yield path, str(value.text)
    elif isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list | tuple):
        entries = enumerate(value)
    for key, entry in entries:
        yield from _texts_in(entry, (*path, key))
