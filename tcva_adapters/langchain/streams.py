"""Tell the answer's text apart from all else in the chunks of a chain's stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage, BaseMessageChunk
from langchain_core.runnables import AddableDict

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.answers import (
    MARKS,
    PROBE,
    Path,
    changed_at,
    sample_in,
    text_of_block,
    with_text,
)
from tcva_adapters.langchain.evaluator import ScorerEvaluator
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.serving import AnswerStream, OnFail, ServedAnswer

_BESIDE_TEXT = (
    "tool_call_chunks",
    "usage_metadata",
    "response_metadata",
    "additional_kwargs",
    "chunk_position",
)
"""What a chunk of a message may hold besides its content."""


class AnswerChunks:
    """The chunks of a stream: dicts whose entries arrive in any order, messages, or texts.

    The answer's text is held until everything that the judge needs is there. Entries that are not the
    answer pass at once; those that cannot be told apart yet are held.

    Args:
        evaluator: The evaluator of a `TCVA`, as it is configured.
        on_fail: What is done with claims below the threshold.
        refusal: The text in place of an answer that is refused.

    Attributes:
        value: The sum of all chunks so far; None before the first.
        stream: Judges the answer; None until everything that the judge needs is there.
    """

    def __init__(
        self, evaluator: ScorerEvaluator, on_fail: OnFail, refusal: str
    ) -> None:
        self._evaluator = evaluator
        self._on_fail = on_fail
        self._refusal = refusal
        self._is_marked = on_fail != "raise"
        self.value: Any = None
        self.stream: AnswerStream | None = None
        self._path: Path | None = None
        self._sample: Sample | None = None
        self._held: list[tuple[Path, Any]] = []
        self._texts: list[str] = []
        self._passing: list[Any] = []
        self._passed: set[Path] = set()

    def take(self, chunk: Any) -> list[Any]:
        """Add a chunk; return what passes at once.

        Raises:
            InvalidSampleError: What the judge sees has changed after the answer has begun.
        """
        self._add(chunk)
        passing, self._passing = self._passing, []
        return passing

    def texts(self, chunks: Iterator[Any]) -> Iterator[str]:
        """Yield the answer's text as its chunks come; what passes waits for `served`."""
        yield self._text()
        for chunk in chunks:
            self._add(chunk)
            yield self._text()

    async def atexts(self, chunks: AsyncIterator[Any]) -> AsyncIterator[str]:
        """The same, awaited."""
        yield self._text()
        async for chunk in chunks:
            self._add(chunk)
            yield self._text()

    def served(self, text: str, marks: Sequence[Json]) -> list[Any]:
        """Return what passes, and the chunk of a part of the answer as it is served."""
        return self._marked(text, {"marks": [*marks]} if marks else {})

    def ending(self, served: ServedAnswer) -> list[Any]:
        """Return what passes, and the chunk with the marks of the whole answer."""
        marks = {
            name: mark for name, mark in served.to_dict().items() if name != "marks"
        }
        return self._marked("", marks)

    def left(self, served: Any) -> Any:
        """Return what has not passed of a value that is served whole."""
        if not isinstance(served, Mapping):
            return served
        return AddableDict(
            {name: held for name, held in served.items() if (name,) not in self._passed}
        )

    def check(self) -> None:
        """Refuse a stream whose answer is another text, in the end, than the one that was judged.

        Raises:
            InvalidSampleError: It is another one.
        """
        answer = self.value if not self._path else self.value[self._path[0]]
        if self._read(self.value).response != _text(answer):
            raise InvalidSampleError(
                "the chunks of the stream add up to another answer than the one that was judged as it "
                "came; mapper= must return the answer's text unchanged, and one entry must hold it"
            )

    def _add(self, chunk: Any) -> None:
        self.value = _sum(self.value, chunk)
        entries = _entries(chunk)
        is_open = False
        if any(path != self._path for path, _ in entries):
            is_open = self._look()
        waiting = [*self._held, *entries]
        self._held = []
        for path, entry in waiting:
            if path == self._path and self.stream:
                self._texts.append(_text(entry))
                self._passing += [self._chunk(rest) for rest in _beside_text(entry)]
            elif path == (MARKS,) and self._is_marked:
                continue  # the marks of what is served replace it
            elif path not in {(), self._path} and (
                self._path is not None or (is_open and not _may_answer(entry))
            ):
                self._passed.add(path)
                self._passing.append(AddableDict({path[0]: entry}))
            else:
                self._held.append((path, entry))

    def _text(self) -> str:
        """Return the text of the answer that has come and was not returned yet."""
        text = "".join(self._texts)
        self._texts = []
        return text

    def _marked(self, text: str, marks: Json) -> list[Any]:
        chunks, self._passing = self._passing, []
        marks = marks if self._is_marked else {}
        if text or marks:
            answer = self.value[self._path[0]] if self._path else self.value
            held: Any = text
            if isinstance(answer, BaseMessage):
                metadata = {MARKS: marks} if marks else {}
                held = AIMessageChunk(
                    content=text, id=answer.id, response_metadata=metadata
                )
            chunk = self._chunk(held)
            if marks and isinstance(chunk, AddableDict):
                chunk[MARKS] = AddableDict(marks)
            chunks.append(chunk)
        return chunks

    def _look(self) -> bool:
        """Find the answer's entry and the sample; return whether nothing is read as an answer yet."""
        places: list[tuple[Path, Sample]] = []
        try:
            is_open = self._read(self.value).response is None
            for path, entry in _entries(self.value):
                if isinstance(entry, str | BaseMessageChunk):
                    sample = self._read(changed_at(self.value, path, _probe))
                    if sample.response == PROBE:
                        places.append((path, sample))
        except Exception:  # noqa: BLE001  # a mapper misses entries that are still to come
            return False
        for path, sample in places:
            self._begin(path, sample)
        return is_open

    def _begin(self, path: Path, sample: Sample) -> None:
        """Begin to judge the answer at a path if the sample has all that the judge needs.

        Raises:
            InvalidSampleError: One of the two has changed after the answer has begun.
        """
        tcva: Any = self._evaluator.scorer
        if self._sample is None:
            self._path = path
            if all(getattr(sample, name) is not None for name in tcva.required):
                self._sample = sample.model_copy(update={"response": None})
                self.stream = AnswerStream(
                    tcva, self._sample, on_fail=self._on_fail, refusal=self._refusal
                )
            return
        changed = [
            name
            for name in tcva.required
            if name != tcva.criterion.claims
            and getattr(sample, name) != getattr(self._sample, name)
        ]
        if path != self._path or changed:
            names = (
                ", ".join(changed) or f"the answer's place ({path}, not {self._path})"
            )
            raise InvalidSampleError(
                f"{names} changed after the stream's answer had begun; let the step that answers come "
                "after the steps that give the judge its fields"
            )

    def _read(self, value: Any) -> Sample:
        return sample_in(self._evaluator, value)

    def _chunk(self, held: Any) -> Any:
        """Make a chunk of the stream that holds something of the answer."""
        return AddableDict({self._path[0]: held}) if self._path else held


def _entries(value: Any) -> list[tuple[Path, Any]]:
    """Return the entries of a mapping with their paths; anything else is its own entry."""
    if isinstance(value, Mapping):
        return [((name,), entry) for name, entry in value.items()]
    return [((), value)]


def _sum(value: Any, chunk: Any) -> Any:
    """Add a chunk to those before it; as in LangChain, the last one stays where they cannot be added."""
    added = AddableDict(chunk) if isinstance(chunk, Mapping) else chunk
    if value is None:
        return added
    try:
        return value + added
    except TypeError:
        return added


def _may_answer(entry: Any) -> bool:
    """Whether an entry may hold the answer among other things: messages, or a nested mapping."""
    items = entry if isinstance(entry, list | tuple) else [entry]
    return any(isinstance(item, BaseMessage | Mapping) for item in items)


def _probe(held: Any) -> Any:
    return with_text(held, PROBE)


def _text(entry: Any) -> str:
    return entry if isinstance(entry, str) else str(getattr(entry, "text", ""))


def _beside_text(entry: Any) -> Iterator[Any]:
    """Yield a chunk of a message without its text, if it holds anything else."""
    if not isinstance(entry, BaseMessage):
        return
    content = entry.content
    others: Any = ""
    if not isinstance(content, str):
        others = [block for block in content if text_of_block(block) is None]
    if others or any(getattr(entry, name, None) for name in _BESIDE_TEXT):
        yield entry.model_copy(update={"content": others})
