"""Citations: the marks of an answer, held against the checked quotes of its claims."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from unicodedata import normalize

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.passages import check_passages, passages_with_quotes
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.supported import supported_answer
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.citations import Mark, read_marks


class CitationOutcome(StrEnum):
    """What a claim's quote says of its marks.

    ``missing``: a supported claim has none, in an answer that cites. ``broken``: a mark names no passage.
    ``unconfirmed``: there is no sound quote, so that nothing is known. ``confirmed``: the quote stands in a
    cited passage, be it in others as well. ``elsewhere``: it stands only in others.
    """

    CONFIRMED = "confirmed"
    ELSEWHERE = "elsewhere"
    UNCONFIRMED = "unconfirmed"
    BROKEN = "broken"
    MISSING = "missing"


_WRONG = {CitationOutcome.BROKEN, CitationOutcome.ELSEWHERE}


@dataclass(frozen=True)
class Citation:
    """The marks of one claim.

    Attributes:
        claim: The claim with its verdict.
        place: Its index among the claims of the result.
        marks: The marks in it, as they stand there; empty where one is missing.
        cited: The passages that they name, from 1; 0 for one that does not exist.
        found: The passages that hold its sound quote.
    """

    claim: ClaimVerdict
    place: int
    marks: tuple[str, ...]
    cited: tuple[int, ...]
    found: tuple[int, ...]

    @property
    def confirmed(self) -> set[int]:
        """The cited passages that hold the quote."""
        return {*self.cited} & {*self.found}

    @property
    def outcome(self) -> CitationOutcome:
        """What the quote says of the marks."""
        if not self.marks:
            return CitationOutcome.MISSING
        if 0 in self.cited:
            return CitationOutcome.BROKEN
        if not self.found:
            return CitationOutcome.UNCONFIRMED
        is_right = bool(self.confirmed)
        return CitationOutcome.CONFIRMED if is_right else CitationOutcome.ELSEWHERE

    def to_dict(self) -> Json:
        """Convert to JSON values."""
        return vars(self) | {"claim": self.claim.claim, "outcome": self.outcome.value}


@dataclass(frozen=True)
class Citations:
    """The citations of an answer: the claims with marks, and those that lack one.

    After ALCE (Gao et al. 2023, https://arxiv.org/abs/2305.14627), with the checked quote of each claim in
    place of its entailment model. A claim with marks and no sound quote is unconfirmed, and counts in
    neither share, but for marks that name no passage: these are always wrong.
    """

    parts: tuple[Citation, ...]

    @property
    def precision(self) -> float | None:
        """The share of marks that name a passage with the quote, of those known to do so or not; None without.

        One quote a claim is kept. A second passage that is cited and supports the claim in other words
        counts as wrong, so that this is a lower bound where claims have several marks.
        """
        return _share(
            passage in part.found
            for part in self.parts
            for passage in part.cited
            if part.found or passage == 0
        )

    @property
    def recall(self) -> float | None:
        """The share of claims that cite a passage with their quote, of those with a sound one; None without."""
        return _share(bool(part.confirmed) for part in self.parts if part.found)

    def to_dict(self) -> Json:
        """Convert to JSON values."""
        parts = [part.to_dict() for part in self.parts]
        return {"precision": self.precision, "recall": self.recall, "parts": parts}


def _share(are_right: Iterable[bool]) -> float | None:
    judged = [*are_right]
    return sum(judged) / len(judged) if judged else None


def citations_of(
    sample: Sample, judged: Assessment, scoring: ScoringConfig
) -> Citations:
    """Hold the marks of an answer against the quotes of its claims.

    Args:
        sample: The sample that was judged.
        judged: Its assessment, under the setting's view of the evidence.
        scoring: The setting; ``claim_threshold`` says which claims are supported.

    Raises:
        InvalidValueError: The claims are not the sentences of the response, or were compared with another
            text than the contexts.
    """
    check_passages(judged)
    answer = sample.response or ""
    marks, plain = read_marks(answer, sample.context_ids, scoring.citations)
    if not (marks and judged.claims):
        return Citations(())
    contexts = sample.contexts or ()
    quoted = passages_with_quotes(judged, contexts)
    ids = _ids(sample.context_ids, marks, len(contexts))
    answer_parts = supported_answer(answer, judged, scoring).parts
    ends = [part.end for part in answer_parts]
    marks_of = defaultdict[int, list[Mark]](list)
    for mark in marks:
        # One behind a stop and a space begins with this space, where its claim ends; one in a heading
        # belongs to the claim behind it.
        marks_of[bisect_left(ends, mark.start)].append(mark)
    parts = []
    for place, (part, found) in enumerate(zip(answer_parts, quoted, strict=True)):
        own = marks_of[place]
        cited = {}
        for name in chain.from_iterable(mark.names for mark in own):
            number = _passage(name, ids, len(contexts), found)
            cited[number or name] = number
        is_supported = (part.weight or 0.0) >= scoring.least_weight
        is_prose = plain[part.start : part.end].strip()
        if own or (found and is_supported and is_prose):
            texts = tuple(mark.text for mark in own)
            claim = judged.claims[place]
            parts.append(Citation(claim, place, texts, (*cited.values(),), found))
    return Citations((*parts,))


def without_wrong(judged: Assessment, citations: Citations) -> Assessment:
    """Lower the claims with marks that are broken or elsewhere to ``none``, and say so in their reasons.

    The same claims of fused judges are lowered, too.
    """
    claims = [*judged.claims]
    for part in citations.parts:
        # A fused judge of another criterion may have other claims.
        for claim in claims[part.place : part.place + 1]:
            is_same = claim.claim == part.claim.claim
            if is_same and claim.verdict and part.outcome in _WRONG:
                update = {
                    "verdict": Verdict.NONE,
                    "probabilities": None,
                    "reason": f"wrong citation {', '.join(part.marks)} ({part.outcome})",
                }
                claims[part.place] = claim.model_copy(update=update)
    members = tuple(without_wrong(part, citations) for part in judged.members)
    return judged.model_copy(update={"claims": (*claims,), "members": members})


def _plain(name: str) -> str:
    """An id or mark in lower case, without what parts a word from its number: Doc 2 and doc-2 are one."""
    plain = normalize("NFKC", name).casefold()
    return re.sub(r"(?<=[^\W\d_])[ _:#.-]{1,2}(?=\d)", "", plain)


def _ids(ids: Sequence[str], marks: Iterable[Mark], n_passages: int) -> list[str]:
    """The ids that marks can name: without those that are positions, where no mark has an id that is none.

    >>> _ids(["0", "1"], [Mark("[1]", 0, ("1",))], 2), _ids(["0", "1"], [Mark("[0]", 0, ("0",))], 2)
    (['0', ''], ['0', '1'])
    """
    plain = [*map(_plain, ids)]
    positions = {*map(str, range(1, n_passages + 1))}
    names = {_plain(name) for mark in marks for name in mark.names} - positions
    if names & {*plain}:
        positions = set()
    return ["" if name in positions else name for name in plain]


def _passage(
    name: str, ids: Sequence[str], n_passages: int, found: Sequence[int]
) -> int:
    """The passage, from 1, that a number or id in a mark names; 0 for none.

    Ids come first, see `_ids`; of passages that share one, the first that holds the quote. Numbers count passages
    from 1, also behind a word, unless the ids look alike.

    >>> ids = ("doc4", "doc7", "doc7")
    >>> [_passage(name, ids, 3, (3,)) for name in ("Doc 7", "2", "Source 1", "doc-1", "0")]
    [3, 2, 1, 0, 0]
    """
    plain = _plain(name)
    named = [number for number, same in enumerate(ids, start=1) if same == plain]
    if named:
        return min(named, key=lambda number: (number not in found, number))
    if not (counted := re.fullmatch(r"(\D*)(\d+)", plain)):
        return 0
    word, digits = counted.groups()
    is_alike = word and any(re.match(rf"{re.escape(word)}\d", same) for same in ids)
    number = int(digits[:10])
    return 0 if is_alike or number > n_passages else number
