"""Written verdicts: a quote, a reason and a level for each claim, up to 24 claims in a call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges import prompts
from tcva_adapters.judges.base import complete_verdicts, texts_against
from tcva_adapters.judges.evidence_check import check_evidence
from tcva_adapters.judges.non_claims import confirm_non_claims, marked_by_judge
from tcva_adapters.judges.reply import parse_verdicts
from tcva_adapters.judges.rounds import Calls, Rounds
from tcva_adapters.models.judge_model import ModelReply
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.evidence import HIGH
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.text.quotes import Passages, find_quote, passages_of
from tcva_adapters.text.words import words_of

CLAIMS_A_CALL = 24

_MAX_ROUNDS = 3

_COPY = 0.7
"""The share of a quote's runs of four words from which on it counts as a copy of a text."""


@dataclass(slots=True)
class _Chunk:
    """The claims that one call asks about, and what its replies hold.

    Attributes:
        before: The number of claims of the sample before those of this chunk.
        texts: The claims, which are numbered from 1 in the call.
        sound: The verdicts that can be used, by number.
        doubtful: Verdicts whose quote copies a claim, used where no better one comes.
        disbelieved: The numbers of sentences whose mark as no claim was not confirmed.
        faults: What was wrong with the last reply, in words for the judge.
        problems: What was wrong with the last reply, in words for a reader.
    """

    before: int
    texts: Sequence[str]
    sound: dict[int, ClaimVerdict] = field(default_factory=dict)
    doubtful: dict[int, ClaimVerdict] = field(default_factory=dict)
    disbelieved: set[int] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def open(self) -> list[int]:
        """The numbers of the claims that lack a sound verdict."""
        return sorted({*range(1, len(self.texts) + 1)} - self.sound.keys())


def written_verdicts(
    calls: Calls,
    sample: Sample,
    criterion: Criterion,
    texts: Sequence[str],
) -> Rounds[tuple[ClaimVerdict, ...]]:
    """Ask for all verdicts in one round, and again for those that are missing or copy the prompt.

    A call asks about up to 24 claims; all calls for a long text are in the same round. A sentence
    that the judge marks as claiming nothing is shown to the judge alone. Where the judge does not
    confirm the mark, it is asked for a level, twice if need be.

    Raises:
        JudgeError: A claim has no verdict after the last round, or a call of the first round or
            about a single sentence failed.
    """
    chunks = _chunks(texts)
    blocks = prompts.blocks_for(sample, criterion)
    passages = None
    for round_number in range(_MAX_ROUNDS):
        is_last = round_number == _MAX_ROUNDS - 1
        asked = [
            chunk
            for chunk in chunks
            if chunk.open and (chunk.disbelieved or not is_last)
        ]
        if not asked:
            break
        requests = [
            prompts.verdict_request(
                blocks,
                criterion,
                chunk.texts,
                only=chunk.open if round_number else None,
                # Unless a mark was disbelieved, the prompt keeps its beginning, which is cached.
                allow_non_claims=not chunk.disbelieved,
                problems=chunk.faults,
            )
            for chunk in asked
        ]
        try:
            replies = yield from calls.ask(requests)
        except JudgeError as error:
            if round_number == 0:
                raise
            for chunk in asked:
                chunk.problems = [f"a further call failed: {error}"]
            break

        passages = passages or passages_of(texts_against(sample, criterion))
        for chunk, reply in zip(asked, replies, strict=True):
            marked = _read(chunk, reply, sample, criterion, passages)
            if marked:
                yield from _confirm_marks(calls, criterion, chunk, marked)

    verdicts = _complete(chunks, len(texts))
    if passages and criterion.checks_evidence:
        return check_evidence(verdicts, passages)
    return verdicts


def _chunks(texts: Sequence[str]) -> list[_Chunk]:
    """Divide the claims into chunks of about equal size, one for each call."""
    n_calls = math.ceil(len(texts) / CLAIMS_A_CALL)
    size = math.ceil(len(texts) / n_calls) if n_calls else 1
    return [
        _Chunk(start, texts[start : start + size])
        for start in range(0, len(texts), size)
    ]


def _complete(chunks: Sequence[_Chunk], n_claims: int) -> tuple[ClaimVerdict, ...]:
    """Collect the verdicts on all claims, in their order.

    Raises:
        JudgeError: A claim has no verdict.
    """
    verdicts = {}
    problems = []
    for chunk in chunks:
        for number, verdict in (chunk.doubtful | chunk.sound).items():
            verdicts[chunk.before + number] = verdict
        if chunk.open:
            problems += chunk.problems
    return complete_verdicts(
        verdicts,
        n_claims,
        "; ".join(problems),
        has_any=any(chunk.disbelieved for chunk in chunks),
    )


def _read(
    chunk: _Chunk,
    reply: ModelReply,
    sample: Sample,
    criterion: Criterion,
    passages: Passages,
) -> dict[int, ClaimVerdict]:
    """Add the verdicts of a reply to its chunk, and note there what cannot be used.

    Returns:
        The open claims that the judge marks as claiming nothing, by number.
    """
    # A verdict that was shown to the judge is not its own, even where the reply repeats it.
    shown = [*map(sample.field, FIELDS), *chunk.texts, criterion.instruction]
    parsed = parse_verdicts(reply.text, len(chunk.texts), filter(None, shown))
    repeated = []
    marked = {}
    for number, answer in parsed.verdicts.items():
        if number in chunk.sound:
            continue
        text = chunk.texts[number - 1]
        if not isinstance(answer.label, Verdict):
            marked[number] = marked_by_judge(text, str(answer.label))
            continue
        verdict = ClaimVerdict(
            claim=text,
            verdict=answer.label,
            evidence=whole_characters(answer.evidence),
            reason=whole_characters(answer.reason),
        )
        source = _copied_from(verdict, criterion, chunk.texts, passages)
        if source == "instructions":
            repeated.append(number)
        elif source == "claim":
            chunk.doubtful.setdefault(number, verdict)
        else:
            chunk.sound[number] = verdict

    chunk.faults = []
    chunk.problems = []
    if reply.truncated:
        chunk.problems.append("the reply was cut off; raise max_tokens")
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
) -> Rounds[None]:
    """Ask about marked sentences alone, and accept the marks that the judge confirms."""
    unknown = [
        mark.claim
        for number, mark in marked.items()
        if number not in chunk.disbelieved
        and not criterion.statements  # which are all judged
    ]
    believed = yield from confirm_non_claims(calls, unknown)
    for number, mark in marked.items():
        if mark.claim in believed:
            chunk.sound[number] = mark
        else:
            chunk.disbelieved.add(number)
            chunk.problems.append(
                f"claim {chunk.before + number} is marked as no claim, and not confirmed as such"
            )


def _copied_from(
    verdict: ClaimVerdict,
    criterion: Criterion,
    texts: Sequence[str],
    passages: Passages,
) -> str:
    """Name the part of the prompt that a quote copies; empty where it copies none, or a passage.

    Small models may fill in whatever text is near in the prompt.
    """
    if find_quote(verdict.evidence, passages):
        return ""
    runs = _runs(verdict.evidence)
    sources = {prompts.verdict_system(criterion, allow_non_claims=True): "instructions"}
    if criterion.checks_evidence and verdict.verdict in HIGH:
        sources |= dict.fromkeys(texts, "claim")
    for text, source in sources.items():
        if runs and len(runs & _runs(text)) >= _COPY * len(runs):
            return source
    return ""


# Cached, as the claims of a call and the instructions are compared with each quote.
@lru_cache(maxsize=32)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of four words of a text; a shorter run may be a name that prompt and passage share."""
    words = words_of(text)
    return frozenset(zip(words, words[1:], words[2:], words[3:], strict=False))
