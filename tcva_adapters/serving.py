"""Serve answers: whole and marked, without their unsupported claims, or refused."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Generator,
    Iterable,
    Iterator,
)
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Literal

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.parts import joined, part_of
from tcva_adapters.results.judgement import Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings_base import check
from tcva_adapters.results.supported import AnswerPart, SupportedAnswer, assembled
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA
from tcva_adapters.text.stretches import (
    Stretch,
    begins_with_pronoun,
    stretches,
    without,
)

OnFail = Literal["flag", "remove", "refuse", "raise"]
"""What is done with an answer. ``flag`` serves it whole, with a mark on each claim; ``remove`` without the
claims below ``claim_threshold``. ``refuse`` and ``raise`` act on answers that do not pass."""

_HELD_BACK = 2
"""The last sentences of what has arrived, whose split may still move."""

REFUSAL = "I have no answer that the documents support."


@dataclass(frozen=True)
class ServedAnswer:
    """An answer as it is served.

    Attributes:
        text: The text that is served.
        result: The result of the answer.
        supported: What of the answer is supported, and where it stands; None where claims cannot be
            found in it, as for whole answers that are rated.
        is_refused: Whether the text is the refusal, or ends with it.
        failed: Whether the answer does not pass, as gates see it. An answer that claims nothing
            passes; one that could not be judged does not.
        split_moved: Whether a stream was judged in other sentences than the whole answer has, since
            what came later changed where one ends.
    """

    text: str
    result: Scored
    supported: SupportedAnswer | None
    is_refused: bool
    failed: bool
    split_moved: bool = False

    @property
    def why(self) -> str:
        """The score in a sentence, or why there is none."""
        note = "; the split of the stream differs from that of the whole answer"
        return self.result.reason + note * self.split_moved

    @property
    def marks(self) -> list[Json]:
        """The sentences of the answer with their verdicts, in order, as JSON values.

        ``start`` and ``end`` are offsets in the answer before anything was removed.
        """
        return _marks(_in_order(self.supported)) if self.supported else []

    def to_dict(self) -> Json:
        """Convert to JSON values, for the metadata of frameworks."""
        return {
            "is_refused": self.is_refused,
            "failed": self.failed,
            "why": self.why,
            "marks": self.marks,
        }


def _in_order(answer: SupportedAnswer) -> list[tuple[AnswerPart, bool]]:
    """The sentences of an answer in order, and whether each is supported."""
    parts = [(part, True) for part in answer.kept]
    parts += [(part, False) for part in answer.removed]
    return sorted(parts, key=lambda part: part[0].start)


def _marks(parts: Iterable[tuple[AnswerPart, bool]]) -> list[Json]:
    return [{**part.to_dict(), "supported": stays} for part, stays in parts]


def serve(
    result: Scored,
    on_fail: OnFail,
    *,
    refusal: str = REFUSAL,
    allow_unscored: bool = False,
    sample: Sample | None = None,
) -> ServedAnswer:
    """Decide what is served of an answer that was judged; no call is made.

    ``raise`` is left to the caller, who asks `ServedAnswer.failed`.

    Args:
        result: The result of the answer.
        on_fail: What is done with claims that are not supported, or with an answer that fails.
        refusal: The text in place of a refused answer, and of one of which nothing is left.
        allow_unscored: Let answers without a score pass. Sentences that could not be judged are
            flagged or removed all the same.
        sample: The sample that was judged, for a result that was read back or does not refer to it.

    Raises:
        InvalidValueError: The sample is not known, or claims cannot be flagged or removed in it.

    >>> from tcva_adapters import TCVA, Sample
    >>> sample = Sample(response="We open at 9. Entry is 90 EUR.", contexts=["We open at 9."])
    >>> result = TCVA(judge="lexical").evaluate(sample)
    >>> serve(result, "remove").text, serve(result, "refuse").text
    ('We open at 9.', 'I have no answer that the documents support.')
    """
    check(OnFail, "on_fail", on_fail)
    check(str, "refusal", refusal)
    failed = fails(result, allow_unscored=allow_unscored)
    if sample is None and isinstance(result, Result):
        sample = result.sample
    if sample is None:
        raise InvalidValueError(
            "this result does not refer to its sample; pass the one that was judged, "
            "serve(..., sample=...)"
        )
    supported = _supported(result, on_fail, sample)
    text = sample.response or ""
    is_refused = failed and on_fail == "refuse"
    if on_fail == "remove" and supported is not None:
        is_refused = supported.is_empty
        text = supported.text
    return ServedAnswer(
        refusal if is_refused else text, result, supported, is_refused, failed
    )


def fails(result: Scored, *, allow_unscored: bool = False) -> bool:
    """Whether an answer does not pass, as gates see it; see `ServedAnswer.failed`."""
    if allow_unscored:
        return result.passed is False
    closed = result.at_gate() if isinstance(result, Result) else result
    return not (closed.passed or closed.nothing_to_check)


def _supported(
    result: Scored, on_fail: OnFail, sample: Sample
) -> SupportedAnswer | None:
    """What of the answer is supported; None where claims cannot be found and need not be.

    Raises:
        InvalidValueError: They cannot be found, and have to be flagged or removed.
    """
    is_needed = on_fail in {"flag", "remove"}
    if isinstance(result, Result):
        try:
            return result.supported(sample=sample)
        except InvalidValueError:
            if is_needed:
                raise
            return None
    if is_needed:
        raise InvalidValueError(
            f"on_fail={on_fail!r} needs claims with verdicts, and this is a result of kind "
            f"{result.kind!r}; use 'refuse' or 'raise'"
        )
    return None


@dataclass(frozen=True)
class ServedPart:
    """A part of a streamed answer.

    Attributes:
        text: The text that is served next; may be empty.
        marks: The verdicts on the sentences that were decided with it; see `ServedAnswer.marks`.
    """

    text: str
    marks: tuple[Json, ...] = ()


@dataclass(slots=True)
class _Segment:
    """A stretch of a streamed answer whose split has not moved so far.

    Attributes:
        start: Where it begins in the answer.
        text: What has arrived of it.
        split: The stretches of that, when it was last split.
        claims: The claims among them.
        next_split: The length from which on it is split again.
        n_asked: How many of the claims were sent to the judge.
        decided: The claims that were judged, and whether each stays.
    """

    start: int = 0
    text: str = ""
    split: list[Stretch] = field(default_factory=list)
    claims: list[Stretch] = field(default_factory=list)
    next_split: int = 0
    n_asked: int = 0
    decided: list[tuple[AnswerPart, bool]] = field(default_factory=list)

    def served(self, *, is_whole: bool, is_complete: bool) -> str:
        """What is served of the claims that were decided: those that stay, or the whole."""
        n_decided = len(self.decided)
        text = self.text
        if n_decided < len(self.claims) or not is_complete:
            text = text[: self.claims[n_decided - 1].end] if n_decided else ""
        behind = sum(part.start < len(text) for part in self.split)
        split = [
            replace(part, until=min(part.until, behind)) for part in self.split[:behind]
        ]
        return without(text, split, [stays or is_whole for _, stays in self.decided])


@dataclass(frozen=True, slots=True)
class _Request:
    """Sentences that are judged together.

    Attributes:
        segment: Where they stand.
        first: The number of the first of them there, from 0.
        sample: The sample that is judged.
        own: Where they stand among its claims.
    """

    segment: _Segment
    first: int
    sample: Sample
    own: slice


class AnswerStream:
    """Serves one answer while it arrives: each sentence once it is complete and judged.

    The last two sentences of what has arrived are held back, as the rest may still change their
    split, and so are headings and lead-ins until one of their claims stays. ``flag`` serves all
    sentences with their marks, ``remove`` those that are supported. ``refuse`` and ``raise`` serve what
    stands before the first claim below ``claim_threshold``, and hold all that follows until the answer
    has been judged to its end. If it passes, as the whole answer does, the rest is served; if not,
    what was served stays, ``refuse`` replaces the rest, and with ``raise`` ``served.failed`` tells the
    caller to raise. What could not be judged counts as unsupported.

    A judge that computes in this process gives the verdicts of the whole answer. A model is asked about
    what has arrived since its last call, so that its requests are others than those about a whole answer;
    with ``streamed=True`` it is asked about each sentence, as it is outside of a stream. Where
    ``max_removed`` is below 1 (the share is known at the end only), ``remove`` serves nothing before
    the end.

    Args:
        tcva: What judges the answer; its criterion judges sentences of the response.
        sample: Question and contexts; its response is not used.
        on_fail: What is done with claims that are not supported.
        refusal: The text in place of what is refused, and of an answer of which nothing is left.

    Attributes:
        served: What was served in all; None before the end.

    Raises:
        InvalidValueError: The claims that the criterion judges are not the sentences of the response.

    >>> from tcva_adapters import TCVA, Sample
    >>> sample = Sample(contexts=["We open at 9."])
    >>> stream = AnswerStream(TCVA(judge="lexical"), sample, on_fail="remove")
    >>> [part.text for part in stream.chunks(["We open ", "at 9. Entry is", " 90 EUR."]) if part.text]
    ['We open at 9.']
    >>> stream.served.result.score
    0.35425
    """

    def __init__(
        self,
        tcva: TCVA,
        sample: Sample,
        *,
        on_fail: OnFail = "remove",
        refusal: str = REFUSAL,
    ) -> None:
        check(OnFail, "on_fail", on_fail)
        check(str, "refusal", refusal)
        if (why := tcva.not_in_parts()) is not None:
            raise InvalidValueError(f"a stream is judged in sentences, and {why}")
        self.served: ServedAnswer | None = None
        self._tcva = tcva
        # The result of the whole alone is emitted, and has the guarantee.
        self._judge = tcva.changed(
            streamed=False, events=False, guarantee=None, max_removed=1.0
        )
        self._sample = sample
        self._on_fail = on_fail
        self._refusal = refusal
        self._most = tcva.max_concurrency if tcva.streamed else 1
        self._is_held = on_fail == "remove" and tcva.scoring.max_removed < 1.0
        self._segments = [_Segment()]
        self._results: list[tuple[Result, slice]] = []
        self._fatal: Unscored | None = None
        self._is_complete = False
        self._sent = ""
        self._n_marked = 0

    def chunks(self, texts: Iterable[str]) -> Generator[ServedPart]:
        """Serve the parts of an answer that arrives in chunks.

        A model is called in other threads while chunks are read. An empty chunk gives an empty part at
        once, so that a caller can pass on what else has come.
        """
        pool = ThreadPoolExecutor(self._most, thread_name_prefix="tcva-stream")
        calls: deque[tuple[_Request, Future[Result]]] = deque()
        source = iter(texts)
        try:
            while self.served is None:
                text = next(source, None)
                self._add(text)
                waits = text is None or self._judge.is_local
                while True:
                    for request in self._requests(len(calls)):
                        # The context has what a framework sets for callbacks and traces.
                        call = pool.submit(copy_context().run, self._judged, request)
                        calls.append((request, call))
                    if not (calls and (waits or calls[0][1].done())):
                        break
                    request, call = calls.popleft()
                    yield from self._decide(request, call.result())
                yield from self._after(text)
        finally:
            # After an early end no call is waited for.
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(source, Generator):
                source.close()

    async def achunks(self, texts: AsyncIterable[str]) -> AsyncGenerator[ServedPart]:
        """The same, awaited; a model is called while chunks are awaited."""
        calls: deque[tuple[_Request, asyncio.Task[Result]]] = deque()
        source = aiter(texts)
        try:
            while self.served is None:
                text = await anext(source, None)
                self._add(text)
                waits = text is None or self._judge.is_local
                while True:
                    for request in self._requests(len(calls)):
                        call = asyncio.create_task(self._ajudged(request))
                        calls.append((request, call))
                    if not (calls and (waits or calls[0][1].done())):
                        break
                    request, call = calls.popleft()
                    for part in self._decide(request, await call):
                        yield part
                for part in self._after(text):
                    yield part
        finally:
            under_way = [call for _, call in calls]
            for call in under_way:
                call.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
            if isinstance(source, AsyncGenerator):
                await source.aclose()

    def _add(self, text: str | None) -> None:
        """Take a chunk of the answer, or its end, and find the sentences anew."""
        self._is_complete = self._is_complete or text is None
        segment = self._segments[-1]
        segment.text += text or ""
        # A text without capitals is split otherwise than one with them. The cost of all splits grows
        # with the length of the answer, not with its square.
        is_early = segment.text.islower() or len(segment.text) < segment.next_split
        if is_early and not self._is_complete:
            return
        segment.next_split = len(segment.text) * 65 // 64
        split = stretches(segment.text)
        claims = [part for part in split if part.kind == "claim"]
        asked = segment.claims[: segment.n_asked]
        if [c.claim for c in asked] == [c.claim for c in claims[: len(asked)]]:
            segment.split, segment.claims = split, claims
            return
        # The split moved within what was asked about: what comes later is split by itself.
        end = asked[-1].end
        self._segments.append(_Segment(segment.start + end))
        rest, segment.text = segment.text[end:], segment.text[:end]
        segment.split = [part for part in segment.split if part.start < end]
        segment.claims = asked
        self._add(rest)

    def _after(self, text: str | None) -> Iterator[ServedPart]:
        """Serve an empty part after an empty chunk, and the rest at the end."""
        if text == "":
            yield ServedPart("")
        elif text is None:
            yield from self._finish()

    def _requests(self, n_calls: int) -> Iterator[_Request]:
        """Yield what the judge can be asked next, beside the calls that are under way."""
        segment = self._segments[-1]
        n_claims = len(segment.claims)
        n_ready = n_claims if self._is_complete else n_claims - _HELD_BACK
        is_blank = self._is_complete and not (n_claims or self._results or n_calls)
        while n_calls < self._most and (segment.n_asked < n_ready or is_blank):
            n_calls += 1
            first = segment.n_asked
            last = min(n_ready, first + 1) if self._tcva.streamed else n_ready
            begin, end = first, last
            # Sentences around decide whether "1." is an item's number; for a judge by words, whether
            # "Yes." claims something.
            is_item = any(c.claim.lstrip("(")[:1].isdigit() for c in segment.claims)
            if self._judge.is_instant or (self._judge.is_local and is_item):
                begin = 0 if is_item and self._judge.is_instant else max(first - 1, 0)
                end = n_claims
            text = segment.text
            if not is_blank:
                text = part_of(text, segment.split, begin, end)
            segment.n_asked = last
            is_blank = False
            sample = self._sample.model_copy(update={"response": text})
            yield _Request(
                segment, first, sample, slice(first - end, last - end or None)
            )

    def _judged(self, request: _Request) -> Result:
        """Judge sentences; after a failure that every call would meet none is made."""
        return self._unasked(request) or self._judge.evaluate(request.sample)

    async def _ajudged(self, request: _Request) -> Result:
        """The same, awaited."""
        return self._unasked(request) or await self._judge.aevaluate(request.sample)

    def _unasked(self, request: _Request) -> Result | None:
        why = self._fatal
        if why is None:
            return None
        return self._judge.unscored(why.reason, why.detail, request.sample)

    def _decide(self, request: _Request, result: Result) -> Iterator[ServedPart]:
        """Decide which of some sentences stay, and serve what can be served."""
        self._results.append((result, request.own))
        if result.unscored is not None and result.unscored.fatal:
            self._fatal = result.unscored
        segment = request.segment
        judged = _in_order(result.supported())[request.own]
        for (part, stays), place in zip(
            judged, segment.claims[request.first :], strict=False
        ):
            before = [stayed for _, stayed in self._decided()[-1:]]
            own = replace(
                part,
                start=segment.start + place.body,
                end=segment.start + place.end,
                orphan=stays
                and before == [False]
                and begins_with_pronoun(segment.text, place.body),
            )
            stops = self._on_fail in {"refuse", "raise"} and not stays
            if stops and not self._is_held:
                yield self._decided_part()
                self._is_held = True
            segment.decided.append((own, stays))
        is_last = self._is_complete and len(segment.decided) == len(segment.claims)
        if not (is_last or self._is_held):
            yield self._decided_part()

    def _decided_part(self) -> ServedPart:
        """Serve what is decided, before the end; other than flags, nothing before a claim stays."""
        has_begun = self._on_fail == "flag" or any(
            stays and part.weight is not None for part, stays in self._decided()
        )
        return self._part(self._text() if has_begun else "")

    def _part(self, text: str) -> ServedPart:
        """Serve a text, which goes on behind what was served, and the marks that were not."""
        new, self._sent = text[len(self._sent) :], text
        marks = _marks(self._decided()[self._n_marked :])
        self._n_marked += len(marks)
        return ServedPart(new, (*marks,))

    def _text(self) -> str:
        """What is served of what is decided."""
        return self._left(is_whole=self._on_fail != "remove")

    def _left(self, *, is_whole: bool) -> str:
        return "".join(
            segment.served(is_whole=is_whole, is_complete=self._is_complete)
            for segment in self._segments
        )

    def _finish(self) -> Iterator[ServedPart]:
        """Serve the rest, or what replaces it, and note what was served in all."""
        result = self._result()
        most = self._tcva.scoring.max_removed
        supported = assembled(self._left(is_whole=False), self._decided(), most)
        failed = fails(result)
        is_refused = {"refuse": failed, "remove": supported.is_empty}.get(
            self._on_fail, False
        )
        is_cut_off = is_refused or (failed and self._on_fail == "raise")
        text = self._sent if is_cut_off else self._text()
        if is_refused:
            text += ("\n\n" if text else "") + self._refusal
        yield self._part(text)
        self.served = ServedAnswer(
            self._sent,
            result,
            supported,
            is_refused,
            failed,
            len(self._segments) > 1,
        )

    def _result(self) -> Result:
        """Make the result of the whole answer."""
        text = "".join(segment.text for segment in self._segments)
        judged_by = self._tcva.judged_by()
        is_as_whole = self._judge.is_local or self._tcva.streamed
        if not is_as_whole or len(self._segments) > 1:
            judged_by["streamed"] = "in parts"
        results, own = zip(*self._results, strict=True)
        assessment = joined([result.assessment for result in results], own)
        result = self._tcva.result(
            assessment.model_copy(update={"judged_by": judged_by}),
            self._sample.model_copy(update={"response": text}),
        )
        return self._tcva.emit_result(result)

    def _decided(self) -> list[tuple[AnswerPart, bool]]:
        return [pair for segment in self._segments for pair in segment.decided]
