"""What errors depend on: numbers by rank correlation, parts of the samples by their means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.calibration.objectives import mid_ranks
from tcva_adapters.compare.errors.rated import RatedScores
from tcva_adapters.stats.bootstrap import interval
from tcva_adapters.stats.checks import BoolArray, FloatArray
from tcva_adapters.stats.dependence import dependence
from tcva_adapters.stats.enough import LEAST_SAMPLES, why_no_interval
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.interval import Interval
from tcva_adapters.stats.means import mean_interval

MOST_PARTS: Final = 30
"""Values of a field beyond which it does not part the samples."""

_FEWEST_NUMBERS: Final = 6
"""Different numbers from which on a field is a number; fewer are names of parts."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """How one kind of error depends on a factor.

    Attributes:
        rho: Spearman's correlation with it, with its interval; None for parts.
        p: For "it does not depend on it"; nan where there is no test.
        p_holm: The same, corrected by Holm for everything that was looked at.
    """

    rho: Interval | None
    p: float
    p_holm: float = math.nan


@dataclass(frozen=True, slots=True)
class PartError:
    """The errors of one part of the samples.

    Attributes:
        part: The value of the field.
        error: Mean of score less rating.
        size: Mean of its absolute value.
    """

    part: str
    error: Interval
    size: Interval


@dataclass(frozen=True, slots=True)
class Factor:
    """Something that errors may depend on.

    Attributes:
        name: What it is; the field's name in the metadata.
        n: Samples for which it is known.
        error: The dependence of score less rating.
        size: The dependence of its absolute value.
        parts: Of a field with names, one for each, the largest first; empty for a number.
        reason: Why there is no test; empty where there is one.
    """

    name: str
    n: int
    error: Dependence
    size: Dependence
    parts: tuple[PartError, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Draws:
    """How intervals and tests are made.

    Attributes:
        draws: Permutations or flips for a test.
        level: Of the intervals.
        seed: Of the draws.
    """

    draws: int
    level: float
    seed: int


_NONE: Final = Dependence(None, math.nan)


def number_factor(name: str, values: FloatArray, rated: RatedScores, how: Draws) -> Factor:
    """The dependence on a number, by ranks: of those samples where it is finite."""
    known = np.isfinite(values)
    codes = rated.codes_of(known)
    x, errors = values[known], rated.errors[known]
    n = len(x)
    why = why_no_interval(n, codes=codes)
    if not why and x.min() == x.max():
        why = "it is the same for all samples"
    if why:
        return Factor(name, n, _NONE, _NONE, reason=why)
    kinds = np.column_stack([errors, np.abs(errors)])
    p = dependence(
        mid_ranks(x[:, None]),
        mid_ranks(kinds),
        codes=codes,
        draws=how.draws,
        seed=how.seed,
    )
    groups = None if codes is None else codes.tolist()
    error, size = (
        Dependence(
            interval("spearman", x, kind, level=how.level, groups=groups),
            value,
        )
        for kind, value in zip(kinds.T, p.tolist(), strict=True)
    )
    return Factor(name, n, error, size)


def part_factor(name: str, values: Sequence[Any], rated: RatedScores, how: Draws) -> Factor:
    """The dependence on a field of names: parts with enough samples are tested together.

    The test is for the part whose mean differs most from the others'.
    """
    parts = np.array(["" if value is None else str(value) for value in values], dtype=object)
    known = parts != ""
    names, sizes = np.unique(parts[known].astype(str), return_counts=True)
    ordered = names[np.argsort(-sizes, kind="stable")].tolist()
    n = int(known.sum())
    if len(ordered) > MOST_PARTS:
        why = f"{len(ordered)} different values: up to {MOST_PARTS} part the samples"
        return Factor(name, n, _NONE, _NONE, reason=why)
    members = {part: parts == part for part in ordered}
    found = tuple(_part(part, of, rated, how) for part, of in members.items())
    enough = [
        part
        for part, of in members.items()
        if not why_no_interval(int(of.sum()), codes=rated.codes_of(of))
    ]
    if len(enough) < 2:
        why = f"fewer than two parts with {LEAST_SAMPLES} samples"
        why += "" if rated.codes is None else f" and {LEAST_SAMPLES} groups"
        return Factor(name, n, _NONE, _NONE, found, why)
    tested = np.isin(parts.astype(str), enough)
    columns = np.column_stack([parts[tested] == part for part in enough]).astype(np.float64)
    errors = rated.errors[tested]
    p = dependence(
        columns,
        np.column_stack([errors, np.abs(errors)]),
        codes=rated.codes_of(tested),
        draws=how.draws,
        seed=how.seed,
    )
    error, size = (Dependence(None, value) for value in p.tolist())
    return Factor(name, n, error, size, found)


def _part(part: str, members: BoolArray, rated: RatedScores, how: Draws) -> PartError:
    codes = rated.codes_of(members)
    errors = rated.errors[members]
    return PartError(
        part,
        mean_interval(errors, codes=codes, level=how.level, ends=(-1.0, 1.0)),
        mean_interval(np.abs(errors), codes=codes, level=how.level),
    )


def field_factor(name: str, values: Sequence[Any], rated: RatedScores, how: Draws) -> Factor:
    """The dependence on a metadata field: a number where it has several different ones, else parts."""
    given = [value for value in values if value is not None]
    are_numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in given)
    if are_numbers and len(set(given)) >= _FEWEST_NUMBERS:
        numbers = np.array([math.nan if value is None else value for value in values], np.float64)
        return number_factor(name, numbers, rated, how)
    return part_factor(name, values, rated, how)


def corrected(factors: Sequence[Factor]) -> tuple[tuple[Factor, ...], int]:
    """The factors with Holm's p over all tests of both kinds of error, and how many these are."""
    raw = [p for factor in factors for p in (factor.error.p, factor.size.p) if not math.isnan(p)]
    adjusted: Iterator[float] = iter(holm(raw).tolist())

    def with_p(found: Dependence) -> Dependence:
        return found if math.isnan(found.p) else replace(found, p_holm=next(adjusted))

    return tuple(
        replace(factor, error=with_p(factor.error), size=with_p(factor.size)) for factor in factors
    ), len(raw)
