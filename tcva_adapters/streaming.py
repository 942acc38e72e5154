"""Serve answers while they arrive: each sentence once it is complete and judged."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.lexical import A_CHARACTER, judged_beside, n_told
from tcva_adapters.judges.parts import joined, part_of
from tcva_adapters.loops import work_aside
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings_base import check
from tcva_adapters.results.supported import AnswerPart, assembled
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.serving import REFUSAL, OnFail, ServedAnswer, fails, marks_of
from tcva_adapters.tcva import TCVA
from tcva_adapters.text.sentences import open_end
from tcva_adapters.text.stretches import (
    Stretch,
    begins_with_pronoun,
    stretches,
    without,
)

_HELD_BACK = 2
"""The last sentences of what has arrived, whose split may still move."""

_Call = TypeVar("_Call", "Future[Result]", "asyncio.Task[Result]")


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
class _Arrived:
    """What has arrived of an answer.

    Attributes:
        text: The text.
        is_complete: Whether it is the whole answer.
        split: Its stretches, when it was last split.
        claims: The claims among them.
        n_ready: How many of these will probably be claims of the whole answer.
        next_split: The length from which on it is split again.
        has_moved: Whether the split has moved within what the judge was asked about; before the end
            there is no other one then.
    """

    text: str = ""
    is_complete: bool = False
    split: list[Stretch] = field(default_factory=list)
    claims: list[Stretch] = field(default_factory=list)
    n_ready: int = 0
    next_split: int = 0
    has_moved: bool = False

    def add(self, text: str | None, n_asked: int) -> None:
        """Take a chunk of the answer, or its end, and find the sentences anew.

        Args:
            text: The chunk; None at the end.
            n_asked: How many of the claims were sent to the judge.
        """
        self.is_complete = text is None
        self.text += text or ""
        is_early = self.has_moved or len(self.text) < self.next_split
        if is_early and not self.is_complete:
            return
        # The cost of all splits grows with the length of the answer, not with its square.
        self.next_split = len(self.text) * 33 // 32
        # A text without capitals is split otherwise than one with them.
        if self.text.islower() and not self.is_complete:
            return
        split = stretches(self.text)
        claims = [part for part in split if part.kind == "claim"]
        before, now = self.claims[:n_asked], claims[:n_asked]
        self.has_moved |= [c.claim for c in before] != [c.claim for c in now]
        if self.has_moved and not self.is_complete:
            return
        self.split, self.claims, self.n_ready = split, claims, len(claims)
        if not self.is_complete:
            end = open_end(self.text)
            n_closed = sum(part.end <= end for part in claims)
            self.n_ready = min(n_closed, len(claims) - _HELD_BACK)

    def left(self, stays: list[bool]) -> str:
        """What is left of the first claims, of which some stay; at the end with all that is behind."""
        text = self.text
        if len(stays) < len(self.claims) or not self.is_complete:
            text = text[: self.claims[len(stays) - 1].end] if stays else ""
        split = [part for part in self.split if part.start < len(text)]
        return without(text, split, stays)


class AnswerStream:
    """Serves one answer while it arrives: each sentence once it is complete and judged.

    The last two sentences of what has arrived are held back, as the rest may still change their
    split, and so are headings and lead-ins until one of their claims stays. ``flag`` serves all
    sentences with their marks, ``remove`` those that are supported. ``refuse`` and ``raise`` serve what
    stands before the first claim below ``claim_threshold``, and hold all that follows until the answer
    has been judged to its end. If it passes, as the whole answer does, the rest is served. If it fails,
    be it by its score alone, what was served stays: ``refuse`` replaces the rest, and with ``raise``
    ``served.failed`` tells the caller to raise. What could not be judged counts as unsupported. From
    a sentence on that only the judge calls no claim, all is held until the whole answer is judged.

    A judge that computes in this process gives the verdicts of the whole answer. A model is asked about
    what has arrived since its last call, so that its requests are others than those about a whole answer;
    with ``streamed=True`` it is asked about each sentence, as it is outside of a stream. Where
    ``max_removed`` is below 1 (the share is known at the end only), ``remove`` serves nothing before
    the end; with ``require_citations``, which the whole answer's marks decide, no way does.

    Args:
        tcva: What judges the answer; its criterion judges sentences of the response.
        sample: Question and contexts; its response is not used.
        on_fail: What is done with claims that are not supported.
        refusal: The text in place of what is refused, and of an answer of which nothing is left.

    Attributes:
        served: What was served in all; None before the end.

    Raises:
        InvalidSampleError: The sample lacks contexts, or another required field.
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
        tcva.require(sample.model_copy(update={"response": ""}))
        self.served: ServedAnswer | None = None
        self._is_begun = False
        self._tcva = tcva
        # The result of the whole alone is emitted, and has the guarantee.
        self._judge = tcva.changed(
            streamed=False, events=False, guarantee=None, max_removed=1.0
        )
        self._sample = sample
        self._on_fail = on_fail
        self._refusal = refusal
        self._most = tcva.max_concurrency if tcva.streamed else 1
        is_capped = on_fail == "remove" and tcva.scoring.max_removed < 1.0
        self._is_held = tcva.scoring.require_citations or is_capped
        self._answer = _Arrived()
        self._n_asked = 0
        self._results: list[tuple[Result, slice]] = []
        self._given_up: Unscored | None = None
        self._decided: list[AnswerPart] = []
        self._n_marked = 0
        self._sent = ""

    def chunks(self, texts: Iterable[str]) -> Generator[ServedPart]:
        """Serve the parts of an answer that arrives in chunks.

        A model is called in other threads while chunks are read. An empty chunk gives an empty part at
        once, so that a caller can pass on what else has come.

        Raises:
            InvalidValueError: The stream has served an answer, or begun to.
        """
        self._begin()
        pool = ThreadPoolExecutor(self._most, thread_name_prefix="tcva-stream")
        calls: deque[tuple[slice, Future[Result]]] = deque()
        source = iter(texts)

        def call(sample: Sample) -> Future[Result]:
            # The context has what a framework sets for callbacks and traces.
            return pool.submit(copy_context().run, self._judge.evaluate, sample)

        try:
            while self.served is None:
                text = next(source, None)
                self._add(text, calls)
                while ended := self._ended(calls, call):
                    yield from self._decide(ended[0], ended[1].result())
                yield from self._after(text)
        finally:
            # After an early end no call is waited for.
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(source, Generator):
                source.close()

    async def achunks(self, texts: AsyncIterable[str]) -> AsyncGenerator[ServedPart]:
        """The same, awaited; a model is called while chunks are awaited."""
        self._begin()
        calls: deque[tuple[slice, asyncio.Task[Result]]] = deque()
        source = aiter(texts)
        seconds = 0.0
        if self._tcva.scoring.require_citations:
            seconds = A_CHARACTER * len(self._sample.field("contexts") or "")

        def call(sample: Sample) -> asyncio.Task[Result]:
            return asyncio.create_task(self._judge.aevaluate(sample))

        try:
            while self.served is None:
                text = await anext(source, None)
                self._add(text, calls)
                while ended := self._ended(calls, call):
                    parts = self._decide(ended[0], await ended[1])
                    for part in await work_aside(
                        partial(list[ServedPart], parts), seconds
                    ):
                        yield part
                for part in self._after(text):
                    yield part
        finally:
            for _, task in calls:
                task.cancel()
            await asyncio.gather(*(task for _, task in calls), return_exceptions=True)
            if isinstance(source, AsyncGenerator):
                await source.aclose()

    def _begin(self) -> None:
        """Refuse a second answer, whose text would be mixed with the first."""
        if self._is_begun:
            raise InvalidValueError(
                "this AnswerStream has served an answer; make a new one for each"
            )
        self._is_begun = True

    def _add(self, text: str | None, calls: deque[tuple[slice, _Call]]) -> None:
        """Take a chunk of the answer, or its end: if the split has moved, all is judged anew there."""
        self._answer.add(text, self._n_asked)
        if self._answer.has_moved and self._answer.is_complete:
            for _, call in calls:
                call.cancel()
            calls.clear()
            self._results.clear()
            self._decided.clear()
            self._n_asked = 0
            self._is_held = True

    def _ended(
        self,
        calls: deque[tuple[slice, _Call]],
        call: Callable[[Sample], _Call],
    ) -> tuple[slice, _Call] | None:
        """Make the calls that can be made; return the first one if it has ended, or is waited for."""
        for sample, own in self._requests(len(calls)):
            calls.append((own, call(sample)))
        waits = self._answer.is_complete or self._judge.is_local
        return calls.popleft() if calls and (waits or calls[0][1].done()) else None

    def _requests(self, n_calls: int) -> Iterator[tuple[Sample, slice]]:
        """Yield what the judge can be asked next, beside the calls that are under way.

        Each is a sample, with the place of the claims in it that the answer gets its verdicts from.
        After a failure that every call would meet, or more claims than ``max_claims``, there is none.
        """
        answer = self._answer
        most_claims = self._tcva.settings["max_claims"]
        if not self._judge.is_local and len(answer.claims) > most_claims:
            detail = f"more claims than max_claims={most_claims}"
            self._given_up = Unscored(reason=Reason.TOO_LONG, detail=detail)
        if answer.is_complete and not (answer.claims or self._results or n_calls):
            yield self._sample_of(answer.text), slice(None)
        n_ready = answer.n_ready
        if self._given_up or self._n_asked >= n_ready:
            return
        claims = [part.claim for part in answer.claims]
        if self._judge.is_local and not answer.is_complete:
            n_ready = min(n_ready, n_told(claims))
        while n_calls < self._most and self._n_asked < n_ready:
            n_calls += 1
            first = self._n_asked
            last = first + 1 if self._tcva.streamed else n_ready
            self._n_asked = last
            begin, end = first, last
            if self._judge.is_local:
                begin, end = judged_beside(claims, first, last)
            text, before = part_of(answer.text, answer.split, begin, end)
            before -= begin
            yield self._sample_of(text), slice(before + first, before + last)

    def _sample_of(self, text: str) -> Sample:
        return self._sample.model_copy(update={"response": text})

    def _decide(self, own: slice, result: Result) -> Iterator[ServedPart]:
        """Decide which of some sentences stay, and serve what can be served."""
        self._results.append((result, own))
        if result.unscored is not None and result.unscored.fatal:
            self._given_up = result.unscored
        answer, decided = self._answer, self._decided
        acts_on_claims = self._on_fail in {"flag", "remove"}
        for part in result.supported().parts[own]:
            place = answer.claims[len(decided)]
            # Whether the judge alone may say that it claims nothing depends on the whole answer.
            is_marked = part.claim.marked_by_judge
            stays = part.stays or is_marked
            is_orphan = (
                stays
                and not all(before.stays for before in decided[-1:])
                and begins_with_pronoun(place.claim)
            )
            placed = replace(
                part, start=place.body, end=place.end, stays=stays, orphan=is_orphan
            )
            is_doubtful = is_marked or not (stays or acts_on_claims)
            if is_doubtful and not self._is_held:
                yield self._decided_part()
                self._is_held = True
            decided.append(placed)
        is_last = answer.is_complete and len(decided) == len(answer.claims)
        if not (is_last or self._is_held):
            yield self._decided_part()

    def _decided_part(self) -> ServedPart:
        """Serve what is decided, before the end; other than flags, nothing before a claim stays."""
        has_begun = self._on_fail == "flag" or any(
            part.stays and part.weight is not None for part in self._decided
        )
        return self._part(self._text() if has_begun else "")

    def _part(self, text: str) -> ServedPart:
        """Serve a text, which goes on behind what was served, and the marks that were not."""
        new, self._sent = text[len(self._sent) :], text
        marks = marks_of(self._decided[self._n_marked :])
        self._n_marked += len(marks)
        return ServedPart(new, (*marks,))

    def _text(self) -> str:
        """What is served of what is decided."""
        is_whole = self._on_fail != "remove"
        return self._answer.left([part.stays or is_whole for part in self._decided])

    def _after(self, text: str | None) -> Iterator[ServedPart]:
        """Serve an empty part after an empty chunk; at the end the rest, or what replaces it."""
        if text == "":
            yield ServedPart("")
        if text is not None:
            return
        if why := self._given_up:
            whole = self._sample_of(self._answer.text)
            unasked = self._judge.unscored(why.reason, why.detail, whole)
            yield from self._decide(slice(len(self._decided), None), unasked)
        result = self._result().as_cited()
        if result.mostly_marked or result.scoring.require_citations:
            self._decided = [*result.supported().parts]
        left = self._answer.left([part.stays for part in self._decided])
        most = self._tcva.scoring.max_removed
        supported = assembled(left, self._decided, most)
        failed = fails(result)
        is_empty = supported.is_empty or not left.strip()
        ends_early = {"flag": False, "remove": is_empty}.get(self._on_fail, failed)
        is_refused = ends_early and self._on_fail != "raise"
        served = self._text()
        if ends_early or not served.startswith(self._sent):
            served = self._sent
        if is_refused:
            served += ("\n\n" if served else "") + self._refusal
        yield self._part(served)
        self.served = ServedAnswer(
            served, result, supported, is_refused, failed, self._answer.has_moved
        )

    def _result(self) -> Result:
        """Make the result of the whole answer."""
        judged_by = self._tcva.judged_by()
        is_as_whole = self._judge.is_local or self._tcva.streamed
        if not is_as_whole:
            judged_by["streamed"] = "in parts"
        results, own = zip(*self._results, strict=True)
        assessment = joined([result.assessment for result in results], own)
        result = self._tcva.result(
            assessment.model_copy(update={"judged_by": judged_by}),
            self._sample_of(self._answer.text),
        )
        return self._tcva.emit_result(result)
