"""Looking a quote up: as a whole, in fragments in their order, or spread over passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.judging.evidence.negation import denied_before, denied_behind
from tcva_adapters.judging.evidence.places import GRAM, Passages, Places
from tcva_adapters.judging.evidence.quote import LONGEST, Quote

_MOST_LOOKED_AT: Final = 200

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands.

    Attributes:
        passages: The numbers of the passages that hold it, counted from 1, rising; where one has
            it without a negation at its edge, those alone.
        at: The index of the first word of its first place there.
        denied_before: Whether a negation stands just before it wherever it occurs.
        denied_behind: Whether one stands just behind it.
    """

    passages: tuple[int, ...]
    at: int
    denied_before: bool = False
    denied_behind: bool = False


def find_quote(text: str, passages: Passages) -> Found | None:
    """Where a quote stands; None where no passage holds it.

    Case, white space, punctuation, quotation marks, dashes, invisible characters and the spacing
    of tokenised text do not matter. Fragments joined by "..." must stand in one passage in their
    order, or, from three words on, each in some passage, and no negation may hide in the gap. A
    quote of six words or more may differ a little: one stretch of a passage must have at least 70
    % of its three-word sequences, and exactly its numbers, negations and names. Passages with the
    exact quote come before those with a similar one.

    The work is bounded: a quote of more than 10 000 characters is not found, nor are more than ten
    fragments; see `Passages` for the rest.

    >>> passages = Passages(["Other.", "the drug, it's not safe for children"])
    >>> find_quote("It's NOT safe", passages).passages
    (2,)
    >>> find_quote("it's ... safe", passages) is None
    True
    >>> find_quote("safe for children", passages).denied_before
    True
    """
    whole = Quote(text)
    if len(text) > LONGEST or not len(whole):
        return None
    exact = passages.exact(whole)
    if len(exact.begins):
        return _found_whole(passages, exact)
    fragments = Quote.fragments(text)
    places = [_either(passages, fragment) for fragment in fragments]
    if not places or not all(len(each.begins) for each in places):
        return None
    if len(places) == 1:
        return _found_whole(passages, places[0])
    sizes = [len(fragment) for fragment in fragments]
    return _found(passages, places, sizes) or _spread(passages, places, sizes)


def _either(passages: Passages, quote: Quote) -> Places:
    """Where it stands exactly, and in other passages nearly so."""
    exact, near = passages.exact(quote), passages.near(quote)
    if len(near.begins):
        near = near.where(~np.isin(passages.own(near), passages.own(exact)))
    if not len(near.begins):
        return exact
    order = np.argsort(np.concatenate((exact.begins, near.begins)), kind="stable")
    return Places(*(np.concatenate(pair)[order] for pair in zip(exact, near, strict=True)))


def _found_whole(passages: Passages, places: Places) -> Found:
    """The same as `_found` for one fragment, without arrays of the few places that it has."""
    words, begins, ends = passages.words, places.begins.tolist(), places.ends.tolist()
    before = [denied_before(words, begin) for begin in begins[:_MOST_LOOKED_AT]]
    asserted = [
        begin
        for begin, end, is_denied in zip(begins, ends, before, strict=False)
        if not is_denied and not denied_behind(words, end)
    ]
    if asserted:
        return Found(_numbers(passages, asserted), asserted[0])
    is_more = len(begins) > _MOST_LOOKED_AT
    return Found(
        _numbers(passages, begins),
        begins[0],
        denied_before=is_more or any(before),
        denied_behind=is_more or any(denied_behind(words, end) for end in ends),
    )


def _numbers(passages: Passages, begins: Sequence[int]) -> tuple[int, ...]:
    """The numbers of the passages in which words stand, counted from 1, rising."""
    return tuple(sorted({number + 1 for number in passages.passage(np.array(begins)).tolist()}))


def _found(passages: Passages, places: Sequence[Places], sizes: Sequence[int]) -> Found | None:
    """The passages that have all fragments in order, first those where no edge is denied."""
    holders = _holders(passages, places, sizes)
    if not len(holders):
        return None
    inside = [each.where(np.isin(passages.own(each), holders)) for each in places]
    before = _denied(passages, inside[0], before=True)
    asserted = [*inside]
    asserted[0] = inside[0].where(~before)
    asserted[-1] = asserted[-1].where(~_denied(passages, asserted[-1], before=False))
    chosen = _holders(passages, asserted, sizes)
    if len(chosen):
        return Found(tuple((chosen + 1).tolist()), int(asserted[0].begins[0]))
    return Found(
        tuple((holders + 1).tolist()),
        int(inside[0].begins[0]),
        denied_before=bool(before.any()),
        denied_behind=bool(_denied(passages, inside[-1], before=False).any()),
    )


def _denied(passages: Passages, places: Places, *, before: bool) -> Flags:
    """Which places have a negation at that edge; from the 201st on all of them are taken to."""
    flags = np.ones(len(places.begins), np.bool_)
    for i in range(min(len(flags), _MOST_LOOKED_AT)):
        if before:
            flags[i] = denied_before(passages.words, int(places.begins[i]))
        else:
            flags[i] = denied_behind(passages.words, int(places.ends[i]))
    return flags


def _holders(
    passages: Passages, places: Sequence[Places], sizes: Sequence[int]
) -> npt.NDArray[np.int64]:
    """The passages, counted from 0, that have a place of each fragment, one behind the other."""
    reached = places[0]
    for i, following in enumerate(places[1:], start=1):
        is_single = 1 in (sizes[i - 1], sizes[i])
        flags = _joined(passages, reached, following.begins, is_single=is_single)
        reached = following.where(flags)
    return np.unique(passages.own(reached))


def _joined(
    passages: Passages, reached: Places, begins: npt.NDArray[np.int64], *, is_single: bool
) -> Flags:
    """At which words an ellipsis may end that begins where a place before it ends.

    It may not hide a negation in a sentence that it breaks off or takes up again, and a single
    word must belong to the sentence that it is quoted with.
    """
    ends = np.sort(reached.ends)
    if not len(ends) or not len(begins):
        return np.zeros(len(begins), np.bool_)
    stops, negations = passages.words.stops, passages.negations
    firsts = passages.firsts[passages.passage(begins)]
    # In one sentence the nearest end decides: what stands between is less than with any other.
    nearest = np.searchsorted(ends, begins, "right") - 1
    end = ends[np.maximum(nearest, 0)]
    same: Flags = (nearest >= 0) & (end > firsts)
    same &= np.searchsorted(stops, begins, "right") == np.searchsorted(stops, end)
    same &= np.searchsorted(negations, begins) == np.searchsorted(negations, end)
    if is_single or not len(stops):
        return same
    # Over sentences: the rest of the one and the beginning of the other have no negation.
    place = np.searchsorted(stops, ends)
    until = np.append(stops, len(passages.words))[place]
    broken_off = np.searchsorted(negations, until) == np.searchsorted(negations, ends)
    ends, until = ends[broken_off], until[broken_off]
    latest = np.searchsorted(stops, begins, "right") - 1
    since = stops[np.maximum(latest, 0)]
    taken_up = np.searchsorted(negations, begins) == np.searchsorted(negations, since)
    first, behind = np.searchsorted(ends, firsts, "right"), np.searchsorted(until, begins, "right")
    same |= (latest >= 0) & taken_up & (first < behind)
    return same


def _spread(passages: Passages, places: Sequence[Places], sizes: Sequence[int]) -> Found | None:
    """The passages of the longest fragment, where several together hold all of them."""
    held = [set(passages.own(each).tolist()) for each in places]
    if min(sizes) < GRAM or set.intersection(*held):
        return None
    edges = [
        (_denied(passages, each, before=True), _denied(passages, each, before=False))
        for each in places
    ]
    denied = [(before, behind) for before, behind in edges if (before | behind).all()]
    longest = max(range(len(sizes)), key=sizes.__getitem__)
    return Found(
        tuple(number + 1 for number in sorted(held[longest])),
        int(places[longest].begins[0]),
        denied_before=any(bool(before.any()) for before, _ in denied),
        denied_behind=any(bool(behind.any()) for _, behind in denied),
    )
