"""Replies that repeat what they were given: the prompt's own words, or the claim as its own proof.

Small models fill the form of a reply with whatever stands near. A verdict whose evidence or reason
is copied from the instructions was not judged at all. One whose quote is the claim itself names no
place that could bear it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.judging.evidence.places import prepared
from tcva_adapters.judging.evidence.search import find_quote
from tcva_adapters.judging.evidence.words import listed, spaced
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.samples.sample import Sample

Echo = Literal["prompt", "claim"]

_RUN: Final = 5
"""Words in a row that two texts share by chance only where they speak of the same matter."""

_MOST: Final = 0.8
"""Share of a text's words in such runs from which on it is a copy."""

_SHORT_REASON: Final = 8
"""In words. What is shorter, such as "the claim is supported by the passages", is how anybody puts
it."""

_SHORT_QUOTE: Final = 4
"""In words: a name that claim and passage write differently is no copy of the claim."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a judge was given, and may repeat.

    Attributes:
        sample: The sample.
        criterion: Whose definitions the instructions hold.
        claims: All claims that it saw.
        passages: What quotes are looked up in.
        instructions: The system part of the prompt.
    """

    sample: Sample
    criterion: Criterion
    claims: Sequence[str]
    passages: tuple[str, ...]
    instructions: str

    def echo(self, verdict: ClaimVerdict) -> Echo | None:
        """What a verdict repeats; None for one of its own words.

        A quote that a passage holds is none, whatever else holds it, too. Neither is a reason in
        the words of the criterion, or of the level that it explains.
        """
        is_long = len(listed(verdict.reason)) >= _SHORT_REASON
        if is_long and self._is_instruction(
            verdict.reason, verdict.verdict, self.criterion.wording
        ):
            return "prompt"
        words = listed(verdict.evidence)
        from_prompt = self._is_instruction(verdict.evidence, verdict.verdict)
        from_claim = (
            self.criterion.checks_evidence
            and verdict.verdict in (Verdict.FULLY, Verdict.MOSTLY)
            and len(words) >= _SHORT_QUOTE
            and any(spaced(verdict.evidence) in spaced(claim) for claim in self.claims)
        )
        if not from_prompt and not from_claim:
            return None
        if find_quote(verdict.evidence, prepared(self.passages)) is not None:
            return None
        return "prompt" if from_prompt else "claim"

    def _is_instruction(self, text: str, level: Verdict | None, *allowed: str) -> bool:
        """Whether most of a text is copied from the instructions, and from nothing else."""
        words = listed(text)
        runs = _runs(words)
        told = _told(self.instructions)
        if not any(run in told for run in runs):
            return False
        own = () if level is None else (self.criterion.levels[LEVELS.index(level)],)
        seen = [self.sample.field(name) or "" for name in FIELDS]
        other = {
            run for each in (*own, *allowed, *self.claims, *seen) for run in _runs(listed(each))
        }
        copied: set[int] = set()
        for i, run in enumerate(runs):
            if run in told and run not in other:
                copied.update(range(i, i + _RUN))
        return len(copied) >= _MOST * len(words)


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + _RUN]) for i in range(len(words) - _RUN + 1)]


@lru_cache(maxsize=16)  # one for each criterion, or so
def _told(instructions: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_runs(listed(instructions)))
