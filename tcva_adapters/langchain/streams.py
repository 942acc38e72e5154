"""Tell the answer's text apart from all else in the chunks of a chain's stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessageChunk
from langchain_core.runnables import AddableDict

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.answers import (
    MARKS,
    Path,
    answer_paths,
    claim_scorer,
    probed,
    sample_in,
    with_answer,
    with_text,
)
from tcva_adapters.langchain.evaluator import ScorerEvaluator
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.serving import OnFail
from tcva_adapters.streaming import AnswerStream


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
        text: The text of the answer that came with the last chunk.
    """

    def __init__(
        self, evaluator: ScorerEvaluator | None, on_fail: OnFail, refusal: str
    ) -> None:
        self._evaluator = evaluator
        self._on_fail = on_fail
        self._refusal = refusal
        self._path: Path = ()
        self._fields: list[Any] = []
        self._blank: Any = ""
        self._held: list[Any] = []
        self._passing: list[Any] = []
        self.value: Any = None
        self.stream: AnswerStream | None = None
        self.text = ""

    def add(self, chunk: Any) -> None:
        """Add a chunk.

        Raises:
            InvalidSampleError: What the judge sees has changed after the answer has begun.
        """
        entries = {**chunk} if isinstance(chunk, Mapping) else {}
        chunk = AddableDict(entries) if entries else chunk
        try:
            self.value = chunk if self.value is None else self.value + chunk
        except (
            TypeError
        ):  # as in LangChain, the last one stays where they cannot be added
            self.value = AddableDict({**self.value, **entries}) if entries else chunk
        if self.stream is None or entries.keys() != {*self._path}:
            self._look()
        self._held.append(chunk)
        self.text = ""
        while self.stream and self._held:
            self._divide(self._held.pop(0))

    def texts(self, chunks: Iterator[Any]) -> Iterator[str]:
        """Yield the answer's text of the chunks so far, and of those that follow."""
        yield self.text
        for chunk in chunks:
            self.add(chunk)
            yield self.text

    async def atexts(self, chunks: AsyncIterator[Any]) -> AsyncIterator[str]:
        """The same, awaited."""
        yield self.text
        async for chunk in chunks:
            self.add(chunk)
            yield self.text

    def served(self, text: str, marks: Json) -> list[Any]:
        """Return what passes, and the chunk of a part of the answer, if any, with its marks."""
        passing, self._passing = self._passing, []
        if self._on_fail == "raise" or not any(marks.values()):
            marks = {}
        is_empty = self._path and self.value[self._path[0]] == ""
        if text or (marks and (self._blank or is_empty)):
            blank = self._chunk(self._blank)
            passing.append(with_answer(blank, [self._path], text, AddableDict(marks)))
        elif marks and self._path:
            passing.append(AddableDict({MARKS: AddableDict(marks)}))
        return passing

    def _divide(self, chunk: Any) -> None:
        """Divide a chunk into text of the answer and all else."""
        entries = {**chunk} if isinstance(chunk, Mapping) else {}
        holder = (entries.pop(self._path[0], None) or "") if self._path else chunk
        if self._on_fail != "raise":
            entries.pop(MARKS, None)  # the marks of what is served replace it
        self.text += holder if isinstance(holder, str) else str(holder.text)
        if not isinstance(holder, str):
            rest = with_text(holder, "")
            if rest != self._blank:
                self._passing.append(self._chunk(rest))
        if entries:
            self._passing.append(AddableDict(entries))

    def _chunk(self, held: Any) -> Any:
        """Make a chunk of what stands in the answer's place."""
        return AddableDict({self._path[0]: held}) if self._path else held

    def _look(self) -> None:
        """Begin to judge the answer if it has begun, and the sample has all that the judge needs.

        Raises:
            InvalidSampleError: One of the two has changed after the answer has begun.
        """
        tcva = claim_scorer(self._evaluator)
        is_mapped = self._evaluator and self._evaluator.mapper
        if tcva is None or is_mapped or tcva.not_in_parts():
            return
        try:
            (path,) = answer_paths(self.value, self._read)
            sample = self._read(probed(self.value, path))
        except Exception:  # noqa: BLE001  # entries are still to come
            return
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
            if not isinstance(holder, str):
                self._blank = AIMessageChunk(content="", id=holder.id)
            self.stream = self.stream or AnswerStream(
                tcva, sample, on_fail=self._on_fail, refusal=self._refusal
            )

    def _read(self, value: Any) -> Sample:
        return sample_in(self._evaluator, value)
