"""Samples that belong together: the group of each by a metadata field, and how many there are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.printing import counted
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import BoolArray

NO_P_BY_GROUPS: Final = "a single correlation has no p by groups: its test moves single samples"


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
    found: Hashable = metadata.get(field)
    if is_group(found):
        return found
    raise _lacking(
        sample, field, found, f" (fields are {', '.join(map(repr, metadata)) or 'none'})"
    )


def _lacking(sample: str, field: str, found: object, fields: str = "") -> InvalidSampleError:
    return InvalidSampleError(
        f"sample {sample!r} belongs to no group: {field!r} is {found!r} in its metadata{fields}; with "
        "--group every sample that takes part needs a name or a number there"
    )


def is_group(value: object) -> bool:
    """Whether this can be the name of a group.

    >>> [is_group(value) for value in ("a", 0, "", None, float("nan"), ["a"])]
    [True, True, False, False, False, False]
    """
    is_nan = isinstance(value, float) and math.isnan(value)
    return isinstance(value, str | int | float) and value != "" and not is_nan


def required(
    field: str | None, check: Callable[[Sample], object] = lambda _: None
) -> Callable[[Sample], object]:
    """A check of samples before anything is paid for: a group if a field is named, and more.

    Args:
        field: That names the group; None for none.
        check: What else is asked of a sample.
    """

    def require(sample: Sample) -> object:
        if field is not None:
            group_of(sample.metadata, field, sample.id or "without an id")
        return check(sample)

    return require


def groups_by_sample(samples: Iterable[Sample], field: str) -> dict[str, Hashable]:
    """The group of each sample by its id.

    Raises:
        InvalidSampleError: One has none.
    """
    return {
        sample.id or "": group_of(sample.metadata, field, sample.id or "") for sample in samples
    }


def groups_in(
    values: Sequence[Any], names: Callable[[], Sequence[str]], field: str, needed: BoolArray
) -> list[Hashable]:
    """The groups of what was judged; None for samples that do not take part and have none.

    Args:
        values: What the samples' metadata have under the field.
        names: Tells what samples are called.
        field: That names the group.
        needed: Which samples take part, shape (N,).

    Raises:
        InvalidSampleError: One that takes part has none.
    """
    known = [value if is_group(value) else None for value in values]
    lacking = [place for place, group in enumerate(known) if group is None and needed[place]]
    if lacking:
        place = lacking[0]
        raise _lacking(names()[place], field, values[place])
    return known


def group_note(groups: Iterable[object]) -> str:
    """How many groups there are, and how large the largest one is.

    >>> group_note(["a", "b", "a"])
    '2 groups of samples, the largest with 2 of 3'
    """
    sizes = Counter(groups)
    largest = max(sizes.values(), default=0)
    return (
        f"{counted(len(sizes), 'group')} of samples, the largest with {largest} of {sizes.total()}"
    )
