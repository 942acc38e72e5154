"""Tell the answer's text apart from all else in the chunks of a chain's stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessageChunk
from langchain_core.runnables import AddableDict

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.answers import (
    MARKS,
    Path,
    answer_paths,
    changed_at,
    claim_scorer,
    with_answer,
    with_text,
)
from tcva_adapters.langchain.evaluator import ScorerEvaluator
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.samples.json_values import Json
from tcva_adapters.serving import OnFail
from tcva_adapters.streaming import AnswerStream


@dataclass
class AnswerChunks:
    """The chunks of a stream: dicts whose entries arrive in any order, messages, or texts.

    All is held until the answer has begun and everything that the judge needs is there. From then on,
    what is no text of the answer passes at once.

    Args:
        evaluator: The evaluator, as it is configured; None where a wrapper hides it.
        on_fail: What is done with claims below the threshold.
        refusal: The text in place of an answer that is refused.

    Attributes:
        value: The sum of all chunks so far; None before the first.
        stream: Serves the answer; None until it can be judged, and where it has to be judged whole.
    """

    evaluator: ScorerEvaluator | None
    on_fail: OnFail
    refusal: str
    value: Any = None
    stream: AnswerStream | None = None
    _path: Path = ()
    _fields: Any = None
    _blank: Any = ""
    _held: tuple[Any, ...] = ()
    _passing: tuple[Any, ...] = ()

    def texts(self, chunks: Iterator[Any]) -> Iterator[str]:
        """Yield the answer's text of each chunk, once it can be judged; an empty text before each.

        At an empty text a stream serves what is no text of the answer.

        Raises:
            InvalidSampleError: What the judge sees has changed after the answer has begun.
        """
        for chunk in chunks:
            yield from self._texts_of(chunk)

    async def atexts(self, chunks: AsyncIterator[Any]) -> AsyncIterator[str]:
        """The same, awaited."""
        async for chunk in chunks:
            for text in self._texts_of(chunk):
                yield text

    def served(self, text: str, marks: Json) -> list[Any]:
        """Return what passes, and the chunk of a part of the answer, if any, with its marks."""
        passing, self._passing = [*self._passing], ()
        if self.on_fail == "raise" or not any(marks.values()):
            marks = {}
        answer = self.value[self._path[0]] if self._path else self.value
        # Marks behind a text come without it, so that who picks the text gets no empty chunk.
        if text or (marks and not (isinstance(answer, str) and answer)):
            part = with_answer(self._blank, [self._path], text, AddableDict(marks))
            passing.append(part)
        elif marks and self._path:
            passing.append(AddableDict({MARKS: AddableDict(marks)}))
        return passing

    def _texts_of(self, chunk: Any) -> list[str]:
        """Add a chunk; return the answer's text in it and those that were held, behind an empty one."""
        entries = {**chunk} if isinstance(chunk, Mapping) else {}
        chunk = AddableDict(entries) if entries else chunk
        # LangChain 1.7.0 adds to the blocks of the first message in place.
        own = AddableDict({name: _own(entry) for name, entry in entries.items()})
        added = own if entries else _own(chunk)
        try:
            self.value = added if self.value is None else self.value + added
        except (
            TypeError
        ):  # as in LangChain, the last one stays where they cannot be added
            self.value = AddableDict({**self.value, **entries}) if entries else chunk
        if self.stream is None or entries.keys() != {*self._path}:
            self._look()
        self._held += (chunk,)
        if self.stream is None:
            return []
        held, self._held = self._held, ()
        return ["", "".join(map(self._text_of, held))]

    def _text_of(self, chunk: Any) -> str:
        """Return the text of the answer in a chunk, and let all else pass."""
        entries = {**chunk} if isinstance(chunk, Mapping) else {}
        holder = (entries.pop(self._path[0], None) or "") if self._path else chunk
        if self.on_fail != "raise":
            entries.pop(MARKS, None)  # the marks of what is served replace it
        if entries:
            self._passing += (AddableDict(entries),)
        if isinstance(holder, str):
            return holder
        rest = changed_at(self._blank, self._path, lambda _: with_text(holder, ""))
        if rest != self._blank:
            self._passing += (rest,)
        return str(holder.text)

    def _look(self) -> None:
        """Begin to judge the answer if it has begun, and the sample has all that the judge needs.

        Raises:
            InvalidSampleError: One of the two has changed after the answer has begun.
        """
        tcva = claim_scorer(self.evaluator)
        is_mapped = self.evaluator and self.evaluator.mapper
        if tcva is None or is_mapped or tcva.not_in_parts():
            return
        try:
            (path,) = answer_paths(self.value, as_sample)
            sample = as_sample(self.value)
        except ValueError:
            if self.stream:
                raise
            return  # entries are still to come
        needed = {*tcva.required} - {"response"}
        fields = [getattr(sample, name) for name in sorted(needed)]
        if self.stream and (path, fields) != (self._path, self._fields):
            raise InvalidSampleError(
                f"the answer, or its {' and '.join(needed)}, changed after the stream's answer had "
                "begun; let the step that answers come after those that it needs"
            )
        holder = self.value[path[0]] if path else self.value
        if None not in fields and isinstance(holder, str | BaseMessageChunk):
            self._path, self._fields = path, fields
            blank = (
                ""
                if isinstance(holder, str)
                else AIMessageChunk(content="", id=holder.id)
            )
            self._blank = AddableDict({path[0]: blank}) if path else blank
            self.stream = self.stream or AnswerStream(
                tcva, sample, on_fail=self.on_fail, refusal=self.refusal
            )


def _own(entry: Any) -> Any:
    """Return a copy of a message; anything else as it is."""
    return deepcopy(entry) if isinstance(entry, BaseMessageChunk) else entry
