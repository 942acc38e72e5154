"""A language model as judge: how it is asked, and what is made of its replies.

A judgement is a generator that makes no call itself: it yields a list of requests that do not wait
for each other, is sent their replies, and returns what came of them. So it is the same for a live
call, an awaited one, and for others who bring the replies.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from typing import Any, Final

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges import prompts
from tcva_adapters.judges.alone import FORGETFUL, SentenceMemory, without_assertion
from tcva_adapters.judges.base import (
    MAX_CLAIMS,
    Outcome,
    Replies,
    Turns,
    blank_field,
    incomplete,
    listed_non_claims,
    nothing_to_score,
    passages,
    why_unscored,
)
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.judges.quotes import Passages, find_quote
from tcva_adapters.judges.reply import parse_claims, parse_verdicts
from tcva_adapters.judges.yes_no import yes_no_verdicts
from tcva_adapters.loops import turn_with_time, work_aside
from tcva_adapters.models.protocol import (
    Identity,
    JudgeModel,
    JudgeRequest,
    ModelReply,
    Sampling,
    acomplete,
    complete,
    identity_of,
)
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Usage
from tcva_adapters.results.evidence import HIGH
from tcva_adapters.results.settings import ClaimsMode, Count, VerdictForm, check
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.text.sentences import split_claims
from tcva_adapters.text.words import listed

CLAIMS_A_CALL: Final = 24


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """A language model as judge: one call for all verdicts of a sample, or one for each.

    Attributes:
        model: What answers.
        claims: ``split`` takes sentences (deterministic, one call); ``llm`` asks the model for the
            claims first (the paper's protocol, two calls).
        max_claims: Samples with more claims are unscored (``too_long``), without a call.
        verdicts: ``written`` asks for all verdicts, with evidence and reasons, in one call for up
            to 24 claims; ``yes_no`` for yes or no, one call a claim, and reads how likely the model
            held yes by the probabilities of tokens.
        repeat: Which of several independent judgements it makes; added to the model's seed.
        repeat_temperature: The model's temperature for it; None leaves the model's own.

    Raises:
        InvalidValueError: An unknown ``claims`` mode or form of verdicts, or ``max_claims`` below 1.
    """

    model: JudgeModel
    claims: ClaimsMode = "split"
    max_claims: int = MAX_CLAIMS
    verdicts: VerdictForm = "written"
    repeat: int = 0
    repeat_temperature: float | None = None
    is_local = False

    def __post_init__(self) -> None:
        check(ClaimsMode, "claims", self.claims)
        check(Count, "max_claims", self.max_claims)
        check(VerdictForm, "verdicts", self.verdicts)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def prompt_version(self) -> str:
        """The version of the prompts, with the forms of verdicts and claims that are not the usual."""
        forms = {self.verdicts, self.claims} - {"written", "split"}
        return " ".join([prompts.PROMPT_VERSION, *sorted(forms)])

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The model's parameters as they are now, and how claims are made."""
        # Further ones only where they differ from their default: equal judgements, equal keys.
        further = {
            setting.name: value
            for setting in fields(LLMJudge)[3:]
            if (value := getattr(self, setting.name)) != setting.default
        }
        own = {
            "claims": self.claims,
            "max_claims": self.max_claims,
            **further,
        }
        return {**self.model.parameters, **own}

    @property
    def identity(self) -> Identity:
        """That of the model: how claims are made is part of the key. A subclass is itself."""
        return identity_of(self.model) if type(self) is LLMJudge else Identity(self)

    def check(self, criterion: Criterion) -> None:
        """Any criterion will do."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample; a failed call or a bad reply becomes the reason of an unscored one."""
        return drive(self.turns(sample, criterion), self.model)

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited."""
        return await adrive(self.turns(sample, criterion), self.model)

    def turns(
        self,
        sample: Sample,
        criterion: Criterion,
        memory: SentenceMemory = FORGETFUL,
    ) -> Turns[Assessment]:
        """Judge a sample as a generator of requests, for callers that make the calls themselves.

        It raises nothing.

        Args:
            sample: What is judged.
            criterion: By what.
            memory: What the judge said of sentences before; without one, each is asked about.
        """
        drawn = Sampling(seed_offset=self.repeat, temperature=self.repeat_temperature)
        calls = Calls(drawn, memory)
        claims: tuple[ClaimVerdict, ...] = ()
        try:
            text = sample.field(criterion.claims) or ""
            sentences = criterion.statements or split_claims(text)
            unscored = blank_field(sample, criterion, sentences)
            if unscored is None:
                claims = yield from self._claims(calls, sample, criterion, sentences)
                unscored = nothing_to_score(claims)
        except Exception as error:  # noqa: BLE001  # nothing that a reply holds ends a batch
            unscored = why_unscored(error, calls.replies)
        return Assessment(
            criterion=criterion.name,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=claims,
            unscored=unscored,
            usage=calls.usage,
            sample_id=sample.id,
            metadata=sample.metadata,
            form=self.verdicts,
        )

    def _claims(
        self,
        calls: Calls,
        sample: Sample,
        criterion: Criterion,
        sentences: Sequence[str],
    ) -> Turns[tuple[ClaimVerdict, ...]]:
        """The claims of a text with their verdicts, and its sentences that claim nothing.

        The judge is asked about those alone that the lists of phrases do not know.
        """
        texts = sentences
        non_claims = {} if criterion.statements else listed_non_claims(texts)
        if self.claims == "llm" and not (
            criterion.statements or non_claims.keys() >= {*texts}
        ):
            own_texts = yield from self._claims_by_model(calls, sample, criterion)
            if own_texts:
                texts, non_claims = own_texts, listed_non_claims(own_texts)
            else:  # the judge found no claim: it has marked every sentence
                unknown = [text for text in texts if text not in non_claims]
                for text in (yield from without_assertion(calls, unknown)):
                    non_claims[text] = marked_by_judge(text, prompts.NOT_A_CLAIM)
        if len(texts) > self.max_claims:
            detail = f"{len(texts)} claims, more than max_claims={self.max_claims}"
            raise JudgeError(detail, reason=Reason.TOO_LONG)
        ask = written_verdicts if self.verdicts == "written" else yes_no_verdicts
        asked = [text for text in texts if text not in non_claims]
        verdicts = iter((yield from ask(calls, sample, criterion, asked)))
        return tuple(non_claims.get(text) or next(verdicts) for text in texts)

    def _claims_by_model(
        self,
        calls: Calls,
        sample: Sample,
        criterion: Criterion,
    ) -> Turns[list[str]]:
        """The claims that the model finds in a text.

        Raises:
            JudgeError: The call failed, or its reply is no list of claims.
        """
        request = prompts.claims_request(sample, criterion, self.max_claims)
        (reply,) = yield from calls.ask([request])
        shown = [sample.field(name) or "" for name in FIELDS]
        claims = None if reply.truncated else parse_claims(reply.text, shown)
        if claims is None:
            detail = "the judge's list of claims is unreadable or cut off"
            raise JudgeError(detail, reason=Reason.UNREADABLE_REPLY)
        return [whole_characters(claim) for claim in claims]


def marked_by_judge(text: str, kind: str) -> ClaimVerdict:
    """A sentence that claims nothing because the judge says so, and no list of phrases."""
    return ClaimVerdict(
        claim=text,
        verdict=None,
        reason=kind,
        marked_by_judge=True,
    )


# --- calls -----------------------------------------------------------------------------------


def drive(turns: Turns[Outcome], model: JudgeModel) -> Outcome:
    """What comes of a judgement; after a failed call the rest of its turn is not asked."""
    steps = _steps(turns)
    step = steps.send(None)
    while isinstance(step, list):
        replies: list[ModelReply | JudgeError] = []
        for request in step:
            try:
                replies.append(complete(model, request))
            except JudgeError as error:
                replies.append(error)
                break
        step = steps.send(replies)
    return step


async def adrive(turns: Turns[Outcome], model: JudgeModel) -> Outcome:
    """The same, awaited; the requests of a turn are under way at the same time.

    Long work between the calls does not hold up the event loop, and a cancellation waits for it:
    replies were paid for. See `loops.work_aside`.
    """

    async def reply(request: JudgeRequest) -> ModelReply | JudgeError:
        await turn_with_time(_A_CALL)
        try:
            return await acomplete(model, request)
        except JudgeError as error:
            return error

    steps, shown = _steps(turns), 0
    await turn_with_time()
    step = steps.send(None)
    while isinstance(step, list):
        if len(step) == 1:  # needs no task of its own
            replies = [await reply(step[0])]
        else:
            replies = await asyncio.gather(*map(reply, step))
        # What was shown for verdicts is searched after questions about single sentences, too.
        shown = max(shown, sum(len(request.user) for request in step))
        step = await work_aside(partial(steps.send, replies), _A_CHARACTER * shown)
    return step


_A_CALL: Final = 5e-4
"""About how many seconds of CPU a call takes where a framework's client makes it on the loop."""

_A_CHARACTER: Final = 4e-7
"""The same of a character that was sent: quotes are looked up in it."""


def _steps(
    turns: Turns[Outcome],
) -> Generator[list[JudgeRequest] | Outcome, Replies | None, None]:
    """The lists of requests of a judgement, and at the end what comes of it."""
    yield (yield from turns)


@dataclass(slots=True)
class Calls:
    """The calls of one judgement.

    Attributes:
        drawn: What is added to the seed of every request, and the model's temperature for it.
        memory: What the judge said of sentences before.
        usage: What they cost.
        replies: Every reply, in order, since it was paid for.
        sentences: How many sentences were asked about alone.
    """

    drawn: Sampling = field(default_factory=Sampling)
    memory: SentenceMemory = FORGETFUL
    usage: Usage = field(default_factory=Usage)
    replies: list[str] = field(default_factory=list)
    sentences: int = 0

    def ask(self, requests: Sequence[JudgeRequest]) -> Turns[list[ModelReply]]:
        """Ask, as one turn of a judgement; nothing to ask is no turn.

        Raises:
            JudgeError: A call failed.
        """
        if not requests:
            return []
        started = time.perf_counter()
        drawn = self.drawn
        if drawn != Sampling():
            requests = [
                replace(
                    request,
                    sampling=replace(
                        request.sampling or Sampling(),
                        seed_offset=drawn.seed_offset,
                        temperature=drawn.temperature,
                    ),
                )
                for request in requests
            ]
        answers = yield list(requests)
        self.usage += Usage(seconds=time.perf_counter() - started)
        replies: list[ModelReply] = []
        failure: JudgeError | None = None
        for answer in answers:
            if isinstance(answer, JudgeError):
                failure = failure or answer
            else:
                replies.append(answer)
                self.replies.append(answer.text)
                self.usage += answer.usage(0.0)
        if failure is not None:
            raise failure
        return replies


# --- written verdicts ------------------------------------------------------------------------


@dataclass(slots=True)
class _Chunk:
    """The claims that one call asks about, and what its replies hold.

    Attributes:
        before: How many claims of the sample stand before them.
        texts: The claims, which are numbered from 1 in the call.
        open: The numbers of those that lack a sound verdict.
        sound: The verdicts by number.
        doubtful: Those whose quote is a claim, for want of better ones.
        disbelieved: Those that were marked, and assert something when shown alone.
        faults: What the judge can do better, in words for it.
        problems: What was wrong with the last reply, in words for a reader.
    """

    before: int
    texts: Sequence[str]
    open: list[int]
    sound: dict[int, ClaimVerdict] = field(default_factory=dict)
    doubtful: dict[int, ClaimVerdict] = field(default_factory=dict)
    disbelieved: set[int] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def written_verdicts(
    calls: Calls,
    sample: Sample,
    criterion: Criterion,
    texts: Sequence[str],
) -> Turns[tuple[ClaimVerdict, ...]]:
    """All verdicts in one turn, and one more for those that are missing or repeat the prompt.

    A call asks for up to 24 claims; further ones of a long text are asked side by side. Sentences
    that the judge marks as claiming nothing are shown to it alone before it is believed, and are
    asked for a level, twice if need be, where it is not.

    Raises:
        JudgeError: A claim has no verdict after that, or a call other than a further one for
            verdicts failed.
    """
    size = math.ceil(len(texts) / max(math.ceil(len(texts) / CLAIMS_A_CALL), 1)) or 1
    chunks: list[_Chunk] = []
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        chunks.append(_Chunk(start, part, list(range(1, len(part) + 1))))
    shown = prompts.sample_blocks(sample, (criterion.against, *criterion.shows))
    held: Passages | None = None
    for turn in range(3):
        asked = [
            chunk for chunk in chunks if chunk.open and (turn < 2 or chunk.disbelieved)
        ]
        if not asked:
            break
        requests = [
            prompts.verdict_request(
                sample,
                criterion,
                chunk.texts,
                shown=shown,
                only=chunk.open if turn else None,
                # Where nothing was disbelieved the prompt keeps its beginning, which is cached.
                allow_non_claims=not chunk.disbelieved,
                problems=chunk.faults,
            )
            for chunk in asked
        ]
        try:
            replies = yield from calls.ask(requests)
        except JudgeError as error:
            if turn == 0:
                raise
            for chunk in asked:
                chunk.problems = [f"a further call failed: {error}"]
            break
        held = held or Passages(passages(sample, criterion))
        for chunk, reply in zip(asked, replies, strict=True):
            marked = _read(chunk, reply, sample, criterion, held)
            yield from _confirm_marks(calls, criterion, chunk, marked)
    verdicts = _complete(chunks, len(texts))
    return (
        check_evidence(verdicts, held)
        if held and criterion.checks_evidence
        else verdicts
    )


def _complete(chunks: Sequence[_Chunk], n_claims: int) -> tuple[ClaimVerdict, ...]:
    """The verdicts on all claims, in their order.

    Raises:
        JudgeError: A claim has none.
    """
    verdicts = {
        chunk.before + number: verdict
        for chunk in chunks
        for number, verdict in (chunk.doubtful | chunk.sound).items()
    }
    numbers = range(1, n_claims + 1)
    missing = [str(number) for number in numbers if number not in verdicts]
    if missing:
        problems = [
            problem for chunk in chunks if chunk.open for problem in chunk.problems
        ]
        has_any = bool(verdicts) or any(chunk.disbelieved for chunk in chunks)
        raise incomplete(missing, n_claims, "; ".join(problems), has_any=has_any)
    return tuple(verdicts[number] for number in numbers)


def _read(
    chunk: _Chunk,
    reply: ModelReply,
    sample: Sample,
    criterion: Criterion,
    held: Passages,
) -> dict[int, ClaimVerdict]:
    """Take the verdicts of a reply, and note what cannot be used of it.

    Returns:
        The open claims that the judge marks as claiming nothing, by number.
    """
    # Nothing that the judge has been shown is its verdict.
    shown = [*map(sample.field, FIELDS), *chunk.texts, criterion.instruction]
    parsed = parse_verdicts(reply.text, len(chunk.texts), filter(None, shown))
    repeated: list[int] = []
    marked: dict[int, ClaimVerdict] = {}
    chunk.problems = (
        ["the reply was cut off; raise max_tokens"] if reply.truncated else []
    )
    for number in sorted({*chunk.open} & parsed.verdicts.keys()):
        answer, text = parsed.verdicts[number], chunk.texts[number - 1]
        if not isinstance(answer.label, Verdict):
            marked[number] = marked_by_judge(text, str(answer.label))
            continue
        verdict = ClaimVerdict(
            claim=text,
            verdict=answer.label,
            evidence=whole_characters(answer.evidence),
            reason=whole_characters(answer.reason),
        )
        source = _copied_from(verdict, criterion, chunk.texts, held)
        if source == "instructions":
            repeated.append(number)
        elif source == "claim":
            chunk.doubtful.setdefault(number, verdict)
        else:
            chunk.sound[number] = verdict
    chunk.open = sorted({*chunk.open} - chunk.sound.keys())
    chunk.faults = []
    if repeated:
        chunk.faults.append(
            f"Your reply repeated the instructions for {_ids(repeated)}."
        )
        numbers = ", ".join(map(str, repeated))
        chunk.problems.append(f"the reply repeats the instructions for claim {numbers}")
    if chunk.doubtful:
        quotes = f"Your quotes for {_ids(chunk.doubtful)} were the words of a CLAIM"
        chunk.faults.append(f"{quotes}: copy from {prompts.BLOCKS[criterion.against]}.")
    chunk.problems += parsed.problems
    return marked


def _ids(numbers: Iterable[int]) -> str:
    return ", ".join(f"claim_{number}" for number in numbers)


def _confirm_marks(
    calls: Calls,
    criterion: Criterion,
    chunk: _Chunk,
    marked: Mapping[int, ClaimVerdict],
) -> Turns[None]:
    """Believe the marks of sentences which the judge confirms when it sees the sentence alone."""
    unknown = [
        mark.claim
        for number, mark in marked.items()
        if number not in chunk.disbelieved
        and not criterion.statements  # which are all judged
    ]
    believed = yield from without_assertion(calls, unknown)
    for number, mark in marked.items():
        if mark.claim in believed:
            chunk.sound[number] = mark
            chunk.open.remove(number)
        else:
            chunk.disbelieved.add(number)
            which = f"claim {chunk.before + number}"
            chunk.problems.append(
                f"{which} is marked as no claim, and not confirmed as such"
            )


_MOST: Final = 0.7
"""Share of a quote's runs of words from which on it is a copy."""


def _copied_from(
    verdict: ClaimVerdict,
    criterion: Criterion,
    texts: Sequence[str],
    held: Passages,
) -> str:
    """Where in the prompt a quote stands that no passage holds; empty for any other quote.

    Small models fill the form of a reply with whatever stands near.
    """
    if find_quote(verdict.evidence, held):
        return ""
    runs = _runs(verdict.evidence)
    sources = {prompts.verdict_system(criterion, allow_non_claims=True): "instructions"}
    if criterion.checks_evidence and verdict.verdict in HIGH:
        sources |= dict.fromkeys(texts, "claim")
    for text, source in sources.items():
        if runs and len(runs & _runs(text)) >= _MOST * len(runs):
            return source
    return ""


@lru_cache(
    maxsize=32
)  # the claims of a call, and the instructions, are compared with each quote
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """All four words in a row, which are no name that prompt and passage may both have."""
    words = listed(text)
    return frozenset(zip(words, words[1:], words[2:], words[3:], strict=False))
