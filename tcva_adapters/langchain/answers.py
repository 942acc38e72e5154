"""Find the text of the answer in the output of a chain or an agent, and replace it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage

from tcva_adapters._adapter.evaluator import require
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.conversation import TCVAConversationEvaluator
from tcva_adapters.langchain.evaluator import ScorerEvaluator, evaluator_in
from tcva_adapters.langchain.results import TCVAOutput, result_of
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.results.supported import AnswerPart
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.sample import Sample
from tcva_adapters.serving import OnFail, ServedAnswer, serve
from tcva_adapters.tcva import TCVA

Path: TypeAlias = tuple[Any, ...]
"""The keys and positions that lead to a text; empty where the value is the text, or its message."""

MARKS = "tcva"
"""The key of the marks, in dicts and in the metadata of messages."""

PROBE = "This text stands in for the answer."
"""Put in place of a text to see whether it is read as the answer."""


def claim_scorer(evaluator: ScorerEvaluator | None) -> TCVA | None:
    """Return the `TCVA` by which an evaluator judges the claims of single answers; None without one."""
    is_whole = isinstance(evaluator, TCVAConversationEvaluator)
    scorer = None if is_whole or evaluator is None else evaluator.scorer
    return scorer if isinstance(scorer, TCVA) else None


def require_claims(evaluator: object, on_fail: str) -> None:
    """Refuse to flag or remove claims where an evaluator judges none, or a wrapper hides it.

    Raises:
        InvalidValueError: It judges none.
    """
    require(
        claim_scorer(evaluator_in(evaluator)) is not None
        or on_fail not in {"flag", "remove"},
        f"the evaluator for on_fail={on_fail!r}",
        evaluator,
        "a TCVAEvaluator, also with with_config or configurable_fields",
    )


def sample_in(evaluator: ScorerEvaluator | None, value: Any) -> Sample:
    """Return the sample, or the last turn, that an evaluator reads from the output of a chain.

    Args:
        evaluator: The evaluator, whose mapper is used; None where a wrapper hides it.
        value: The output.

    Raises:
        InvalidSampleError: It cannot be read.
    """
    mapper = evaluator and evaluator.mapper
    read = mapper(value) if mapper else value
    return read.turns[-1] if isinstance(read, Conversation) else as_sample(read)


def texts_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the texts in a value, each with its path; a message counts as one text.

    >>> [*texts_in({"answer": "Ada.", "docs": ["Ada Lovelace"]})]
    [(('answer',), 'Ada.'), (('docs', 0), 'Ada Lovelace')]
    """
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, BaseMessage):
        yield path, str(value.text)
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield from texts_in(entry, (*path, name))
    elif isinstance(value, list | tuple):
        for place, entry in enumerate(value):
            yield from texts_in(entry, (*path, place))


def changed_at(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """Return a copy in which what stands at a path is changed; everything else is shared.

    >>> changed_at({"answer": "Ada.", "id": 1}, ("answer",), str.upper)
    {'answer': 'ADA.', 'id': 1}
    """
    if not path:
        return change(value)
    copied: Any = [*value] if isinstance(value, tuple) else copy(value)
    copied[path[0]] = changed_at(value[path[0]], path[1:], change)
    return tuple(copied) if isinstance(value, tuple) else copied


def with_text(holder: Any, text: str) -> Any:
    """Return another text in place of one, or a copy of a message with another content."""
    if isinstance(holder, str):
        return text
    return holder.model_copy(update={"content": text})


def answer_paths(
    value: Any, text: str, read: Callable[[Any], str | None]
) -> list[Path]:
    """Return where the answer stands: one path, or those of several messages in a row.

    Args:
        value: The output of a chain or an agent.
        text: The answer that is read from it.
        read: Reads the answer from such a value; it tells equal texts apart.

    Raises:
        InvalidSampleError: The answer stands nowhere in it.
    """
    texts = [*texts_in(value)]
    equal = [path for path, candidate in texts if candidate == text]
    for path in reversed(equal) if len(equal) > 1 else ():
        if read(changed_at(value, path, lambda held: with_text(held, PROBE))) == PROBE:
            return [path]
    if len(equal) == 1:
        return equal
    paths: list[Path] = []
    joined = ""
    for path, candidate in reversed(texts):
        if candidate.strip():
            joined = f"{candidate}\n\n{joined}" if paths else candidate
            paths.insert(0, path)
        if joined == text:
            return paths
        if not text.endswith(joined):
            paths = []
    raise InvalidSampleError(
        f"the answer {text!r:.80} stands nowhere in the gate's input, so it cannot be replaced; "
        "mapper= must return the answer's text unchanged"
    )


def served_value(
    evaluator: ScorerEvaluator | None,
    value: Any,
    output: TCVAOutput,
    on_fail: OnFail,
    *,
    refusal: str,
    allow_unscored: bool = False,
) -> Any:
    """Return a copy of a value with the answer that is served, and the marks beside it.

    The marks stand in a message's ``response_metadata``, and under ``tcva`` in a mapping. An answer in
    several messages is served in the last one.

    Args:
        evaluator: The evaluator, as it is configured; None where a wrapper hides it.
        value: The output of a chain or an agent.
        output: The evaluator's output for it.
        on_fail: What is done with an answer that fails.
        refusal: The text in place of an answer that is refused.
        allow_unscored: Whether answers without a score pass.

    Raises:
        InvalidSampleError: The answer stands nowhere in the value.
    """
    sample = sample_in(evaluator, value)
    served = serve(
        result_of(output),
        on_fail,
        refusal=refusal,
        allow_unscored=allow_unscored,
        sample=sample,
    )
    *others, last = answer_paths(
        value,
        sample.response or "",
        lambda changed: sample_in(evaluator, changed).response,
    )
    for path in others:
        value = changed_at(value, path, lambda held: with_text(held, ""))
    parts = served.supported.kept if served.supported and not others else ()

    def serve_in(held: Any) -> Any:
        if isinstance(held, BaseMessage):
            return served_message(held, served, parts)
        return served.text

    value = changed_at(value, last, serve_in)
    if isinstance(value, Mapping):
        return {**value, MARKS: served.to_dict()}
    return value


def served_message(
    message: Any, served: ServedAnswer, kept: Sequence[AnswerPart]
) -> Any:
    """Return a copy of a message, with the same id, that holds the answer that is served.

    Of a message in blocks only the text blocks change; see `_blocks`.
    """
    text = str(message.text)
    content = message.content
    if served.text != text:
        parts = () if served.is_refused else kept
        is_plain = isinstance(content, str)
        content = served.text if is_plain else _blocks(content, served.text, parts)
    metadata = {**message.response_metadata, MARKS: served.to_dict()}
    return message.model_copy(
        update={"content": content, "response_metadata": metadata}
    )


def _blocks(blocks: Sequence[Any], text: str, kept: Sequence[AnswerPart]) -> list[Any]:
    """Divide a text among the text blocks of a message; empty ones go, other blocks stay.

    A claim stays in the block in which it stood. Without claims the first block gets the text.
    """
    texts = [text_of_block(block) for block in blocks]
    before = "".join(own or "" for own in texts)
    places: list[int] = []
    end = 0
    for part in kept:
        places.append(text.index(before[part.start : part.end], end))
        end = places[-1] + part.end - part.start

    def moved(offset: int) -> int:
        """Return where a place in the blocks stands in the text."""
        for part, place in zip(kept, places, strict=True):
            if offset < part.end:
                return place + max(offset - part.start, 0)
        return len(text)

    divided: list[Any] = []
    offset = begin = 0
    for block, own in zip(blocks, texts, strict=True):
        if own is None:
            divided.append(block)
            continue
        offset += len(own)
        end = moved(offset)
        if piece := text[begin:end]:
            divided.append(
                piece if isinstance(block, str) else {**block, "text": piece}
            )
        begin = end
    return divided


def text_of_block(block: Any) -> str | None:
    """Return the text of a block; None where it is a picture, a thought or a call."""
    if isinstance(block, str):
        return block
    return str(block["text"]) if block.get("type") == "text" else None
