"""Samples that belong together: the group of each by a metadata field, and how many there are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.printing import counted
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import BoolArray


def group_of(metadata: Mapping[str, Any], field: str, sample: str) -> Hashable:
    """The group of a sample.

    Args:
        metadata: The sample's.
        field: That names the group.
        sample: What the sample is called.

    Raises:
        InvalidSampleError: It has none.

    >>> group_of({"document": "a"}, "document", "row-1")
    'a'
    """
    found = metadata.get(field)
    if is_group(found):
        return found  # type: ignore[no-any-return]  # just looked at
    known = ", ".join(map(repr, metadata)) or "none"
    has = f"{field!r} is {found!r}" if field in metadata else f"there is no {field!r}"
    msg = (
        f"sample {sample!r} belongs to no group: {has} in its metadata (fields are {known}); with "
        "--group every sample needs a name or a number there"
    )
    raise InvalidSampleError(msg)


def is_group(value: object) -> bool:
    """Whether this can be the name of a group.

    >>> [is_group(value) for value in ("a", 0, "", None, float("nan"), ["a"])]
    [True, True, False, False, False, False]
    """
    is_nan = isinstance(value, float) and math.isnan(value)
    return isinstance(value, str | int | float) and value != "" and not is_nan


def check_groups(
    groups: Sequence[object], names: Callable[[], Sequence[str]], field: str, needed: BoolArray
) -> None:
    """Refuse samples that take part and belong to no group.

    Args:
        groups: One per sample.
        names: Tells what samples are called.
        field: Where the groups come from.
        needed: Which samples take part.

    Raises:
        InvalidSampleError: One has none.
    """
    for place, group in enumerate(groups):
        if needed[place] and not is_group(group):
            group_of({} if group is None else {field: group}, field, names()[place])


def require_group(field: str) -> Callable[[Sample], object]:
    """A check of samples, for what reads them."""
    return lambda sample: group_of(sample.metadata, field, sample.id or "without an id")


def group_note(groups: Iterable[object], field: str) -> str:
    """How many groups there are, and how large the largest one is.

    >>> group_note(["a", "b", "a"], "document")
    "2 groups of 3 samples by 'document', the largest with 2"
    """
    sizes = Counter(groups)
    samples = counted(sizes.total(), "sample")
    return (
        f"{counted(len(sizes), 'group')} of {samples} by {field!r}, the largest with "
        f"{max(sizes.values(), default=0)}"
    )
