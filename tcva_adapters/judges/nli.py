"""The NLI judge: whether the passages entail a claim, by a cross-encoder from a folder."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Mapping,
    Sequence,
)
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from tcva_adapters.core.verdicts import (
    LEVELS,
    level_shares,
    likeliest,
)
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.judges.base import Judge, assess_locally
from tcva_adapters.judges.cross_encoder import (
    Chance,
    CrossEncoder,
    load,
)
from tcva_adapters.judges.lexical import without_marks
from tcva_adapters.judges.non_claims import listed_non_claims
from tcva_adapters.judges.sentence_index import (
    Sentence,
    SentenceIndex,
    index_of,
    verdict_with_quote,
)
from tcva_adapters.models.judge_model import Identity
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.words import tokenise

NLI_VERSION = "nli/2"
"""Changes with every change of the windows or the levels that could change a verdict."""

_MAX_NEAR = 64  # sentences; more fit into no window
_SPARE = 4  # tokens that two texts may have more together than apart


class NLIJudge:
    """A judge of claims by P(entailment) from windows of the passages; the best window counts.

    Args:
        folder: The folder with ``model.onnx`` (or ``onnx/model.onnx``), ``tokenizer.json`` and
            ``config.json``, whose ``id2label`` names what the classes mean.

    Attributes:
        name: The model's name by its config.json, with the beginning of the digest of its files, so
            that a copy of the folder is the same judge.
        address: The name of this judge with the full path, for any working directory.

    Raises:
        InvalidValueError: The folder lacks a file, or a file cannot be used.
    """

    prompt_version = NLI_VERSION
    is_local = True

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser().resolve()
        model = load(self.folder)
        self._digest = model.digest
        self.name = f"nli:{model.title}@{self._digest[:8]}"
        self.address = f"nli:{self.folder}"
        self.parameters: Mapping[str, object] = {"files": self._digest}
        # Judging takes time, so judgements are shared; judges of equal files are one.
        self.identity = Identity(model, self._digest)

    def __reduce__(self) -> tuple[type[NLIJudge], tuple[str]]:
        """Pickle the folder's path alone; unpickling loads the model anew."""
        return NLIJudge, (str(self.folder),)

    def check(self, criterion: Criterion) -> None:
        """Refuse criteria that are not about support: statements, and relevance to the question.

        Raises:
            InvalidValueError: The criterion is one of these.
        """
        if criterion.statements or criterion.against == "input":
            what = "statements" if criterion.statements else "relevance to the question"
            raise InvalidValueError(
                f"{self.name} judges support only, and criterion {criterion.name!r} is about {what}; use a model judge"
            )

    def probe(self) -> dict[str, object]:
        """Load the model, and return the lines that ``tcva doctor`` shows of this judge."""
        return {"answers": True, "classes": ", ".join(self._model().labels)}

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample; if the model fails, the sample is unscored.

        Raises:
            InvalidValueError: See `check`.
        """
        return assess_locally(
            self,
            sample,
            criterion,
            self._judge_claims,
            form="yes_no",
        )

    aassess = Judge.aassess

    def _judge_claims(
        self,
        claims: Sequence[str],
        passages: tuple[str, ...],
    ) -> list[ClaimVerdict]:
        """Judge claims, one verdict each, in order; the pairs of all claims go to the model together."""
        model = self._model()
        index = index_of(passages)
        verdicts = listed_non_claims(claims)
        comparisons = {
            claim: _comparison(model, text, index)
            for claim, text in zip(claims, without_marks(claims), strict=True)
            if claim not in verdicts
        }
        chances = iter(
            model.chances(
                [pair for each in comparisons.values() for pair in each.pairs]
            )
        )
        for claim, comparison in comparisons.items():
            verdicts[claim] = _verdict(
                claim, comparison, islice(chances, len(comparison.pairs))
            )
        return [verdicts[claim] for claim in claims]

    def _model(self) -> CrossEncoder:
        model = load(self.folder)
        if model.digest != self._digest:
            raise JudgeError(
                f"the files of {self.folder} have changed; make the judge anew",
                fatal=True,
            )
        return model


class _Comparison(NamedTuple):
    """A claim with the windows that it is judged against.

    Attributes:
        note: An addition to the reason about texts that were cut; else empty.
        pairs: Premise and hypothesis for the model, one pair for each window.
        quotes: The sentence of each window that is nearest to the claim; None where it shares no
            word with any.
    """

    note: str
    pairs: list[tuple[str, str]]
    quotes: list[Sentence | None]


def _comparison(
    model: CrossEncoder,
    claim: str,
    index: SentenceIndex,
) -> _Comparison:
    """Choose at most four windows for a claim, by the sentences that share most words with it.

    These are the nearest sentence alone; the nearest sentences from anywhere; and each of the nearest
    two with the sentences around it. Where no sentence shares a word, the beginning and the middle of
    the text are taken.
    """
    text, size = model.cut(claim, model.room // 2)
    room = model.room - size - _SPARE
    sentences = index.sentences
    near = index.ranked(tokenise(text), _MAX_NEAR)

    def window_of(places: Iterable[int]) -> tuple[int, ...]:
        """Take the first sentences for which there is room, in the order of the text."""
        window: list[int] = []
        left = room
        for place in places:
            left -= model.cut(sentences[place].text, room)[1]
            if window and left < 0:
                break
            window.append(place)
        return tuple(sorted(window))

    def around(centre: int) -> list[int]:
        """The indices of the sentences of the same passage, the nearest first."""
        places = range(max(0, centre - room), min(centre + room, len(sentences)))
        passage = sentences[centre].passage
        same = [place for place in places if sentences[place].passage == passage]
        return sorted(same, key=lambda place: abs(place - centre))

    rest = (place for place in range(len(sentences)) if place not in near)
    windows = [tuple(near[:1]), window_of(chain(near, rest))]
    if sentences:
        centres = near[:2] or [0, len(sentences) // 2]
        windows += [window_of(around(centre)) for centre in centres]
    windows = [*filter(None, dict.fromkeys(windows))]
    premises = [" ".join(sentences[at].text for at in window) for window in windows]
    pairs = [(model.cut(premise, room)[0], text) for premise in premises]
    note = "; only its beginning was read" if text != claim else ""
    if [premise for premise, _ in pairs] != premises:
        note += "; a long sentence of the contexts was cut"
    quotes = [
        next((sentences[at] for at in near if at in window), None) for window in windows
    ]
    return _Comparison(note, pairs, quotes)


def _verdict(
    claim: str,
    comparison: _Comparison,
    chances: Iterable[Chance],
) -> ClaimVerdict:
    """Make the verdict of the window with the highest P(entailment); it quotes the nearest sentence."""
    if not comparison.pairs:
        return ClaimVerdict(
            claim=claim,
            verdict=LEVELS[-1],
            reason="the contexts are empty",
        )
    chance, quote = max(
        zip(chances, comparison.quotes, strict=True), key=lambda pair: pair[0].entailed
    )
    shares = level_shares(chance.entailed)
    reason = f"P(entailment) {chance.entailed:.2f}"
    if chance.is_contradicted:
        shares = (0.0, 0.0, 0.0, sum(shares[:4]), shares[4])  # minor at most
        reason += ", contradicted"
    return verdict_with_quote(
        quote,
        claim,
        likeliest(shares),
        shares,
        reason + comparison.note,
    )
