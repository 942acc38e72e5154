"""Answers that are judged in parts, as a stream is, and the judgement of the whole."""

from __future__ import annotations

from collections.abc import Sequence

from tcva_adapters.judges.base import nothing_to_score
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.judgement import SILENT, Usage
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import split_claims
from tcva_adapters.text.stretches import Stretch, stretches


def part_of(
    text: str, split: Sequence[Stretch], first: int, last: int
) -> tuple[str, int]:
    r"""Find a short part of a text whose split has some claims of the text.

    It is their stretch, with the header of the table in front of rows. Where that splits into other
    claims, it is the claims as paragraphs, or else the whole text.

    Args:
        text: The text.
        split: Its stretches.
        first: The number of the first of these claims, from 0.
        last: The number behind that of the last one.

    Returns:
        The part, and the number of other claims in it before the first of these.

    >>> text = "Hello!\n\n| Plan | Price |\n|---|---|\n| Basic | 5 |\n| Plus | 9 |"
    >>> print(part_of(text, stretches(text), 2, 3)[0])
    | Plan | Price |
    |---|---|
    | Plus | 9 |
    """
    places = [place for place, part in enumerate(split) if part.kind == "claim"]
    begin = places[first - 1] + 1 if first else 0
    own = text[split[begin].body : split[places[last - 1]].end]
    headers = [
        text[part.body : part.end] for part in split[:begin] if part.kind == "header"
    ]
    claims = [split[place].claim for place in places[first:last]]
    for part in (own, "\n".join([*headers[-1:], own]), "\n\n".join(claims)):
        if split_claims(part) == claims:
            return part, 0
    return text, first


def parts_of(sample: Sample, max_claims: int) -> list[tuple[Sample, slice]]:
    """Make a sample of each claim of an answer; one without claims, or with too many, stays whole.

    Args:
        sample: The sample.
        max_claims: The most claims that are judged.

    Returns:
        The samples, each with the place of the claims that it is made of among its own.

    >>> [part.response for part, _ in parts_of(Sample(response="It is red. It is old."), 240)]
    ['It is red.', 'It is old.']
    """
    text = sample.response or ""
    split = stretches(text)
    n_claims = sum(part.kind == "claim" for part in split)
    if not 1 < n_claims <= max_claims:
        return [(sample, slice(None))]
    parts = [part_of(text, split, n, n + 1) for n in range(n_claims)]
    return [
        (sample.model_copy(update={"response": part}), slice(at, at + 1))
        for part, at in parts
    ]


def joined(parts: Sequence[Assessment], own: Sequence[slice]) -> Assessment:
    """Join the assessments of an answer's parts into one of the whole answer.

    Where a part failed, or could not be judged, the whole is unscored for the same reason.

    Args:
        parts: The assessments, in the order of the answer.
        own: Which claims of each part count; the others are judged in other parts.
    """
    paid = [part.usage for part in parts if part.is_new]
    from_store = all(part.from_store for part in parts)
    faults = [
        part.unscored
        for part in parts
        if part.unscored and part.unscored.reason not in SILENT
    ]
    claims = [
        claim
        for part, place in zip(parts, own, strict=True)
        for claim in part.claims[place]
    ]
    composed = {
        name: tuple(
            joined(same, own)
            for same in zip(*(getattr(part, name) for part in parts), strict=False)
        )
        for name in ("members", "panel")
    }
    return parts[0].model_copy(
        update={
            "claims": () if faults else tuple(claims),
            "unscored": faults[0] if faults else nothing_to_score(claims),
            "usage": sum(paid, Usage()),
            "from_store": from_store,
            "shared": not paid and not from_store,
            "earlier_contexts": any(part.earlier_contexts for part in parts),
            **composed,
        }
    )
