"""The NLI judge: whether the passages entail a claim, by a cross-encoder from a folder."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from tcva_adapters.core.verdicts import LEVELS, level_shares, likeliest
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges.base import blank_field, nothing_to_score, passages, why_unscored
from tcva_adapters.judges.cross_encoder import Chance, CrossEncoder, load
from tcva_adapters.judges.lexical import without_marks
from tcva_adapters.judges.passages import Passages, prepare
from tcva_adapters.models.protocol import Identity
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Unscored, Usage
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims
from tcva_adapters.text.words import tokenise

NLI_VERSION: Final = "nli/1"
"""Changes with every change of the windows or the levels that could change a verdict."""

_MINOR: Final = 3  # the place of the highest level of a contradiction
_MOST_RANKED: Final = 64  # sentences; more fit into no window
_MOST_WINDOWS: Final = 4
_ANCHORS: Final = 2  # sentences that are shown with what stands around them
_SPARE: Final = 4  # tokens that two texts may have more together than alone


class NLIJudge:
    """Judges claims by P(entailment) of windows of the passages; the best window counts.

    Args:
        folder: Holds ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and
            ``config.json``, whose ``id2label`` names what the classes mean.

    Attributes:
        name: The folder's own name, with the beginning of the digest of its files.
        address: What names this judge from any working directory.

    Raises:
        InvalidValueError: The folder lacks something, or it cannot be used.
    """

    prompt_version = NLI_VERSION
    is_local = True

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser().resolve()
        self._digest = load(self.folder).digest
        self.name = f"nli:{self.folder.name}@{self._digest[:8]}"
        self.address = f"nli:{self.folder}"
        self.parameters: Mapping[str, Any] = {"files": self._digest}

    def __reduce__(self) -> tuple[Any, ...]:
        """Its folder: whoever unpickles it loads the model anew."""
        return NLIJudge, (str(self.folder),)

    @property
    def identity(self) -> Identity:
        """Judges of equal files are one: unlike comparing words, this is worth sharing."""
        return Identity(self._model(), self._digest)

    def check(self, criterion: Criterion) -> None:
        """Refuse what is no question of support: statements, and relevance to the question.

        Raises:
            InvalidValueError: The criterion is one of these.
        """
        if criterion.statements or criterion.against == "input":
            what = "statements" if criterion.statements else "relevance to the question"
            msg = f"{self.name} judges support only, and criterion {criterion.name!r} is about {what}; use a model judge"
            raise InvalidValueError(msg)

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample; a model that fails becomes the reason of an unscored one.

        Raises:
            InvalidValueError: See `check`.
        """
        self.check(criterion)
        started = time.perf_counter()
        claims: list[ClaimVerdict] = []
        unscored: Unscored | None
        try:
            unscored = blank_field(sample, criterion)
            if unscored is None:
                texts = split_claims(sample.field(criterion.claims) or "")
                claims = _verdicts(self._model(), texts, prepare(passages(sample, criterion)))
                unscored = nothing_to_score(claims)
        except JudgeError as error:
            unscored = why_unscored(error)
        return Assessment(
            criterion=criterion.name,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=tuple(claims),
            unscored=unscored,
            form="yes_no",
            usage=Usage(seconds=time.perf_counter() - started),
            sample_id=sample.id,
            metadata=sample.metadata,
        )

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same in another thread: the event loop goes on."""
        return await asyncio.to_thread(self.assess, sample, criterion)

    def _model(self) -> CrossEncoder:
        try:
            model = load(self.folder)
        except InvalidValueError as error:
            raise JudgeError(str(error), fatal=True) from error
        if model.digest != self._digest:
            msg = f"the files of {self.folder} have changed; make the judge anew"
            raise JudgeError(msg, fatal=True)
        return model


def _verdicts(model: CrossEncoder, claims: Sequence[str], held: Passages) -> list[ClaimVerdict]:
    """One verdict per claim, in order; the pairs of all claims go to the model together."""
    kinds = [non_claim_kind(claim) for claim in claims]
    asked = [
        _asked(model, text, held) if kind is None else None
        for text, kind in zip(without_marks(claims), kinds, strict=True)
    ]
    pairs = [
        (model.cut(" ".join(held.sentences[at].text for at in window), each.room)[0], each.text)
        for each in asked
        if each is not None
        for window in each.windows
    ]
    found = iter(model.chances(pairs))
    return [
        ClaimVerdict(claim=claim, verdict=None, reason=kind or "")
        if each is None
        else _verdict(claim, each, [next(found) for _ in each.windows], held)
        for claim, kind, each in zip(claims, kinds, asked, strict=True)
    ]


class _Asked(NamedTuple):
    """A claim with the windows that it is held against.

    Attributes:
        text: As the model reads it.
        is_cut: Whether the model cannot read all of it.
        ranked: The places of the sentences that share a word with it, the nearest first.
        windows: Places of sentences each, in the order of the passages.
        room: Tokens of a window.
    """

    text: str
    is_cut: bool
    ranked: list[int]
    windows: list[tuple[int, ...]]
    room: int


def _asked(model: CrossEncoder, text: str, held: Passages) -> _Asked:
    """A claim with its windows: at most four, of the sentences that share most words with it.

    The nearest sentence alone; the nearest ones from anywhere; and the nearest two with what
    stands around them. Where no sentence shares a word, the first windows of the text.
    """
    whole = text
    text, size = model.cut(whole, model.room // 2)
    room = model.room - size - _SPARE
    ranked = held.ranked(tokenise(text), _MOST_RANKED)
    sentences = held.sentences

    def around(at: int) -> Iterator[int]:
        yield at
        for near in (at + side * step for step in range(1, _MOST_RANKED) for side in (1, -1)):
            if 0 <= near < len(sentences) and sentences[near].passage == sentences[at].passage:
                yield near

    def filled(places: Iterable[int]) -> tuple[int, ...]:
        window: list[int] = []
        left = room
        for at in places:
            left -= model.size(sentences[at].text)
            if window and left < 0:
                break
            window.append(at)
        return tuple(sorted(window))

    if ranked:
        rest = (at for at in range(len(sentences)) if at not in ranked)
        orders = [ranked[:1], chain(ranked, rest), *map(around, ranked[:_ANCHORS])]
        windows = [filled(order) for order in orders]
    else:
        windows, begin = [], 0
        while begin < len(sentences) and len(windows) < _MOST_WINDOWS:
            windows.append(filled(range(begin, len(sentences))))
            begin = windows[-1][-1] + 1
    return _Asked(text, text != whole, ranked, list(dict.fromkeys(windows)), room)


def _verdict(claim: str, asked: _Asked, chances: Sequence[Chance], held: Passages) -> ClaimVerdict:
    """What the window with the highest P(entailment) says; its nearest sentence is the quote."""
    if not chances:
        return ClaimVerdict(claim=claim, verdict=LEVELS[-1], reason="the contexts are empty")
    best = max(range(len(chances)), key=lambda at: chances[at].entailed)
    chance, window = chances[best], asked.windows[best]
    shares = level_shares(chance.entailed)
    if chance.is_contradicted:
        shares = (0.0, 0.0, 0.0, sum(shares[: _MINOR + 1]), shares[-1])
    near = [at for at in asked.ranked if at in window] or [*window[:1]] * (len(window) == 1)
    notes = ", contradicted" * chance.is_contradicted + ", by its beginning" * asked.is_cut
    return ClaimVerdict(
        claim=claim,
        verdict=likeliest(shares),
        evidence=held.sentences[near[0]].source if near else "",
        context=held.sentences[near[0]].passage + 1 if near else None,
        reason=f"P(entailment) {chance.entailed:.2f}{notes}",
        probabilities=shares,
    )
