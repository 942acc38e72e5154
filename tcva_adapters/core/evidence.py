"""What an unsupported verdict counts as: three views of one judgement, and the votes of a panel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, get_args

from tcva_adapters.core.verdicts import LEVELS, Verdict

Evidence = Literal["strict", "lower", "off"]

EVIDENCE: Final[tuple[Evidence, ...]] = get_args(Evidence)

DEFAULT_EVIDENCE: Final[Evidence] = "lower"

Shares = tuple[float, float, float, float, float]
"""How likely each level is, fully first, summing to 1."""

Vote = tuple[str | None, Shares | None]
"""A level by its name, None for what claims nothing; and its shares, where there are some."""

HIGH: Final = (Verdict.FULLY, Verdict.MOSTLY)
"""The levels that stand only with a quote."""

_NONE: Final[Shares] = (0.0, 0.0, 0.0, 0.0, 1.0)


def unsupported(level: str, shares: Shares | None, evidence: Evidence) -> tuple[str, Shares | None]:
    """What a verdict counts as whose quote does not support it.

    Args:
        level: The judge's own.
        shares: Likewise.
        evidence: ``strict`` counts it as ``none``; ``lower`` counts ``fully`` and ``mostly`` as
            ``partial``, with their shares, and leaves what is lower; ``off`` leaves all.

    >>> unsupported(Verdict.FULLY, (0.5, 0.25, 0.25, 0.0, 0.0), "lower")
    (<Verdict.PARTIAL: 'partial'>, (0.0, 0.0, 1.0, 0.0, 0.0))
    >>> unsupported(Verdict.MINOR, None, "strict")
    (<Verdict.NONE: 'none'>, None)
    """
    if evidence == "off" or level == Verdict.NONE:
        return level, shares
    if evidence == "strict":
        return Verdict.NONE, None if shares is None else _NONE
    if level not in HIGH:
        return level, shares
    if shares is None:
        return Verdict.PARTIAL, None
    fully, mostly, partial, minor, none = shares
    return Verdict.PARTIAL, (0.0, 0.0, fully + mostly + partial, minor, none)


def own_shares(
    level: str, original: str | None, shares: Shares | None, kept: Shares | None
) -> Shares | None:
    """The judge's own shares of a stored verdict.

    Args:
        level: The judge's own.
        original: The same, where the verdict was lowered.
        shares: Those that are stored.
        kept: Those from before it was lowered. Judgements from before they were kept have none:
            then all that was moved to ``partial`` is the level's.

    >>> own_shares(Verdict.MOSTLY, Verdict.MOSTLY, (0.0, 0.0, 0.75, 0.25, 0.0), None)
    (0.0, 0.75, 0.0, 0.25, 0.0)
    """
    if original not in HIGH or shares is None:
        return shares
    if kept is not None:
        return kept
    fully, mostly, partial, minor, none = shares
    moved = fully + mostly + partial
    first, second = (moved, 0.0) if level == Verdict.FULLY else (0.0, moved)
    return first, second, 0.0, minor, none


def combined(votes: Sequence[Vote], *, fused: bool) -> Vote:
    """The votes of a panel's judges on one claim as one.

    Args:
        votes: One per judge.
        fused: Give the mean of the shares, and the most likely level, the strictest of several. Else
            the median level, of an even number the stricter of the two in the middle.

    Returns:
        Level and shares; None for both where at least half of the judges see no claim.

    >>> combined([("fully", None), ("none", None)], fused=False)
    (<Verdict.NONE: 'none'>, None)
    >>> combined([("fully", None), ("none", None)], fused=True)
    (<Verdict.NONE: 'none'>, (0.5, 0.0, 0.0, 0.0, 0.5))
    >>> combined([("fully", None), (None, None)], fused=True)
    (None, None)
    """
    cast = [(level, shares) for level, shares in votes if level is not None]
    if 2 * len(cast) <= len(votes):
        return None, None
    if not fused:
        levels = sorted(LEVELS.index(Verdict(level)) for level, _ in cast)
        return LEVELS[levels[len(levels) // 2]], None
    rows = [shares or tuple(float(each == level) for each in LEVELS) for level, shares in cast]
    fully, mostly, partial, minor, none = (
        # Rounded once: the order of the judges must not move a bit, nor part levels that tie.
        math.fsum(column) / len(rows)
        for column in zip(*rows, strict=True)
    )
    mean = fully, mostly, partial, minor, none
    return LEVELS[max(range(len(LEVELS)), key=lambda i: (mean[i], i))], mean
