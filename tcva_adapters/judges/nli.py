"""The NLI judge: whether the passages entail a claim, by a cross-encoder from a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from tcva_adapters.core.verdicts import LEVELS, level_shares, likeliest
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges.base import computed
from tcva_adapters.judges.cross_encoder import Chance, CrossEncoder, load
from tcva_adapters.judges.lexical import without_marks
from tcva_adapters.judges.non_claims import listed_non_claims
from tcva_adapters.judges.sentence_index import SentenceIndex, index_of
from tcva_adapters.models.protocol import Identity
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.claims import ClaimVerdict
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.words import tokenise

NLI_VERSION: Final = "nli/2"
"""Changes with every change of the windows or the levels that could change a verdict."""

_MOST_NEAR: Final = 64  # sentences; more fit into no window
_SPARE: Final = 4  # tokens that two texts may have more together than alone


class NLIJudge:
    """Judges claims by P(entailment) of windows of the passages; the best window counts.

    Args:
        folder: Holds ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and
            ``config.json``, whose ``id2label`` names what the classes mean.

    Attributes:
        name: What its config.json calls the model, with the beginning of the digest of its files: a
            copy of the folder is the same judge.
        address: What names this judge from any working directory.

    Raises:
        InvalidValueError: The folder lacks something, or it cannot be used.
    """

    prompt_version = NLI_VERSION
    is_local = True

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser().resolve()
        self._digest = (model := load(self.folder)).digest
        self.name = f"nli:{model.title}@{self._digest[:8]}"
        self.address = f"nli:{self.folder}"
        self.parameters: Mapping[str, Any] = {"files": self._digest}

    def __reduce__(self) -> tuple[Any, ...]:
        """Its folder: whoever unpickles it loads the model anew."""
        return NLIJudge, (str(self.folder),)

    @property
    def identity(self) -> Identity:
        """Judges of equal files are one. Judging takes time here, so it is shared."""
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

    def probe(self) -> dict[str, Any]:
        """What ``tcva doctor`` says of it."""
        return {"answers": True, "classes": ", ".join(self._model().labels)}

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample; a model that fails becomes the reason of an unscored one.

        Raises:
            InvalidValueError: See `check`.
        """

        def judged(texts: list[str], held: tuple[str, ...]) -> list[ClaimVerdict]:
            return _verdicts(self._model(), texts, index_of(held))

        return computed(self, sample, criterion, judged, form="yes_no")

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same in another thread: the event loop goes on."""
        return await asyncio.to_thread(self.assess, sample, criterion)

    def _model(self) -> CrossEncoder:
        model = load(self.folder)
        if model.digest != self._digest:
            msg = f"the files of {self.folder} have changed; make the judge anew"
            raise JudgeError(msg, fatal=True)
        return model


class _Asked(NamedTuple):
    """A claim with the windows that it is held against.

    Attributes:
        text: As the model reads it.
        note: What is to be said of that.
        near: The places of the sentences that share a word with it, the nearest first.
        windows: Places of sentences each, in the order of the passages.
        pairs: What the model is asked, one for each window.
    """

    text: str
    note: str
    near: list[int]
    windows: list[tuple[int, ...]]
    pairs: list[tuple[str, str]]


def _verdicts(
    model: CrossEncoder, claims: Sequence[str], held: SentenceIndex
) -> list[ClaimVerdict]:
    """One verdict per claim, in order; the pairs of all claims go to the model together."""
    non_claims = listed_non_claims(claims)
    asked = {
        at: _asked(model, text, held)
        for at, text in enumerate(without_marks(claims))
        if claims[at] not in non_claims
    }
    found = iter(
        model.chances([pair for each in asked.values() for pair in each.pairs])
    )
    return [
        _verdict(claim, asked[at], [next(found) for _ in asked[at].pairs], held)
        if at in asked
        else non_claims[claim]
        for at, claim in enumerate(claims)
    ]


def _asked(model: CrossEncoder, claim: str, held: SentenceIndex) -> _Asked:
    """A claim with its windows: at most four, of the sentences that share most words with it.

    The nearest sentence alone; the nearest ones from anywhere; and the nearest two with what
    stands around them. Where no sentence shares a word, the beginning and the middle of the text.
    """
    text, size = model.cut(claim, model.room // 2)
    room, sentences = model.room - size - _SPARE, held.sentences
    near = held.ranked(tokenise(text), _MOST_NEAR)

    def filled(places: Iterable[int]) -> tuple[int, ...]:
        window: list[int] = []
        left = room
        for at in places:
            left -= model.cut(sentences[at].text, room)[1]
            if window and left < 0:
                break
            window.append(at)
        return tuple(sorted(window))

    def around(at: int) -> list[int]:
        by_distance = sorted(
            range(max(0, at - room), at + room), key=lambda i: abs(i - at)
        )
        same = (i for i in by_distance if i < len(sentences))
        return [i for i in same if sentences[i].passage == sentences[at].passage]

    rest = (at for at in range(len(sentences)) if at not in near)
    centres = near[:2] or [0, len(sentences) // 2]
    several = [
        tuple(near[:1]),
        filled(chain(near, rest)),
        *(filled(around(at)) for at in centres),
    ]
    windows = [window for window in dict.fromkeys(several) if window]
    premises = [" ".join(sentences[at].text for at in window) for window in windows]
    pairs = [(model.cut(premise, room)[0], text) for premise in premises]
    note = "; only its beginning was read" * (text != claim)
    note += "; a long sentence of the contexts was cut" * (
        [p for p, _ in pairs] != premises
    )
    return _Asked(text, note, near, windows, pairs)


def _verdict(
    claim: str,
    asked: _Asked,
    chances: Sequence[Chance],
    held: SentenceIndex,
) -> ClaimVerdict:
    """What the window with the highest P(entailment) says; its nearest sentence is the quote."""
    if not chances:
        return ClaimVerdict(
            claim=claim,
            verdict=LEVELS[-1],
            reason="the contexts are empty",
        )
    chance, window = max(
        zip(chances, asked.windows, strict=True), key=lambda one: one[0].entailed
    )
    shares = level_shares(chance.entailed)
    if chance.is_contradicted:
        shares = (0.0, 0.0, 0.0, sum(shares[:4]), shares[4])  # minor at most
    quotes = [held.sentences[at] for at in asked.near if at in window]
    contradicted = ", contradicted" * chance.is_contradicted
    return ClaimVerdict(
        claim=claim,
        verdict=likeliest(shares),
        evidence=quotes[0].source if quotes else "",
        context=quotes[0].passage + 1 if quotes else None,
        reason=f"P(entailment) {chance.entailed:.2f}{contradicted}{asked.note}",
        probabilities=shares,
    )
