"""Where scores are wrong, against human ratings. No call of a model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.errors.claims import Claims, claims_of, opened, response_lengths
from tcva_adapters.compare.errors.factors import (
    Draws,
    Factor,
    corrected,
    field_factor,
    number_factor,
)
from tcva_adapters.compare.errors.rated import RatedScores
from tcva_adapters.compare.errors.report import ErrorReport, LargeError
from tcva_adapters.compare.errors.scale import calibration_curve, gate_errors, level_worths
from tcva_adapters.compare.judged import JudgedSource, in_use
from tcva_adapters.compare.labels import Labels, source_of
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.results.config import Config
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import FloatArray, check_level, whole
from tcva_adapters.stats.dependence import DRAWS
from tcva_adapters.stats.enough import LEAST_SAMPLES
from tcva_adapters.stats.means import mean_interval

SYSTEM: Final = "system"
"""The metadata field that is looked at wherever it is there."""

_FEWER: Final = 1_999
"""Permutations where errors are a part of something larger."""

BINS: Final = 10
MOST: Final = 10


def analyse_errors(
    judged: JudgedSource,
    human: str | Labels | npt.ArrayLike,
    *,
    scoring: ScoringConfig | None = None,
    config: Config | str | Path | None = None,
    by: Sequence[str] = (),
    group: str | Sequence[Any] | None = None,
    human_scale: tuple[float, float] = (0.0, 1.0),
    human_threshold: float | None = None,
    samples: str | Path | Iterable[Sample] | None = None,
    bins: int = BINS,
    most: int = MOST,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
    skip_bad: bool = False,
) -> ErrorReport:
    """Whether scores are too high or too low, on which samples, and what that depends on.

    An error is the score less the human rating, both in [0, 1]. Looked at are the length of the
    claims (of the response, with ``samples``), the place in the file, the number of claims, the
    place of the lowest claim, the metadata field ``system`` where there is one, and those of ``by``.

    Args:
        judged: What was judged, see `Judged.of`; scores of several judges are fused.
        human: A key of the metadata, `Labels`, or the ratings, shape (N,); nan where there is none.
        scoring: The setting of the dial; by default the one in use.
        config: The settings in use, for all samples; by default T=0.5. What does not apply is noted.
        by: Metadata fields that errors may depend on: numbers, or names of parts.
        group: A key of the metadata, or values, shape (N,): samples that belong together (of a
            document, a conversation, a user) are resampled and tested as one.
        human_scale: Lowest and highest rating that could be given.
        human_threshold: A rating passes from here on; by default the middle of the scale.
        samples: A file of samples, or samples, whose responses are measured; joined by id.
        bins: Of scores, at most.
        most: How many of the largest errors are listed.
        draws: Permutations of each test; with groups, flips of their signs.
        level: Of all intervals.
        seed: Of the draws.
        skip_bad: Leave out unreadable lines of a file.

    Raises:
        InvalidValueError: No sample has a score and a rating, a rating outside the scale, an
            unknown metadata field, groups that do not fit, a number out of range; or see `Judged.of`.
        MissingDependencyError: scipy is not installed.

    >>> counts = [[3, 0, 0, 0, 0], [0, 0, 3, 0, 0], [1, 1, 1, 0, 0]] * 10
    >>> found = analyse_errors(counts, [1.0, 0.5, 0.75] * 10)
    >>> round(found.error.value, 3), [round(each.worth.value, 2) for each in found.levels]
    (0.106, [1.0, 0.75, 0.5])
    """
    _check(level, bins, most)
    dial = scoring or in_use(config)
    read, again = opened(judged, skip_bad=skip_bad)
    rated = RatedScores.of(read, human, dial, human_scale, group)
    how = Draws(draws, level, seed)
    largest = np.argsort(-np.abs(rated.errors), kind="stable")[:most]
    claims = None if again is None else claims_of(again, rated, rated.places[largest].tolist())
    length = None if samples is None else _lengths(samples, rated, skip_bad=skip_bad)
    factors, n_tests = corrected([*_numbers(rated, claims, length, how), *_fields(rated, by, how)])
    return ErrorReport(
        what=f"{rated.judged.title} at {dial.place}",
        human=source_of(human),
        human_scale=human_scale,
        n=len(rated.scores),
        unscored=rated.unscored,
        unrated=rated.unrated,
        clusters=rated.clusters,
        error=mean_interval(rated.errors, codes=rated.codes, level=level, ends=(-1.0, 1.0)),
        size=mean_interval(np.abs(rated.errors), codes=rated.codes, level=level),
        factors=factors,
        n_tests=n_tests,
        curve=calibration_curve(rated, bins=bins, level=level),
        levels=level_worths(rated, dial, level=level),
        gate=gate_errors(rated, dial.threshold, human_scale, human_threshold, level=level),
        largest=tuple(_large(rated, claims, largest.tolist())),
        how=how,
        notes=(*_notes(rated, human), *read.unused(config)),
    )


def errors_of(
    results: Iterable[Result],
    samples: Iterable[Sample],
    human: Mapping[str, float],
    scoring: ScoringConfig,
    human_scale: tuple[float, float] = (0.0, 1.0),
    groups: Mapping[str, Hashable] | None = None,
) -> ErrorReport | None:
    """The same for a part of a larger report, which goes without where it cannot be had.

    Args:
        results: Of the samples, in their order.
        samples: Each with an id.
        human: Ratings by these ids.
        scoring: The setting of the dial.
        human_scale: As for `analyse_errors`.
        groups: What samples belong to, by these ids; None where they stand alone.

    Returns:
        None for fewer than ten samples with a score and a rating, for ratings outside the scale,
        and without scipy.
    """
    if (
        not human
        or not human_scale[0] <= min(human.values()) <= max(human.values()) <= human_scale[1]
    ):
        return None
    rated = [
        (result.assessment.model_copy(update={"sample_id": sample.id}), sample)
        for result, sample in zip(results, samples, strict=True)
        if sample.id in human and result.assessment.unscored is None
    ]
    if len(rated) < LEAST_SAMPLES:
        return None
    judged, of = zip(*rated, strict=True)
    ratings = [human[sample.id] for sample in of]
    texts = of if any(sample.response for sample in of) else None
    try:
        return analyse_errors(
            list(judged),
            ratings,
            scoring=scoring,
            group=None if groups is None else [groups[sample.id or ""] for sample in of],
            human_scale=human_scale,
            samples=texts,
            draws=_FEWER,
        )
    except MissingDependencyError:
        return None


def _check(level: float, bins: int, most: int) -> None:
    check_level(level)
    whole("bins", bins, least=1)
    whole("most", most, least=0)


def _lengths(
    samples: str | Path | Iterable[Sample], rated: RatedScores, *, skip_bad: bool
) -> FloatArray:
    lengths = response_lengths(samples, rated.judged.names, skip_bad=skip_bad)[rated.places]
    if not np.isfinite(lengths).any():
        msg = "no rated sample is among those that were given for their responses; their ids differ"
        raise InvalidValueError(msg)
    return lengths


def _notes(rated: RatedScores, human: str | Labels | npt.ArrayLike) -> Iterator[str]:
    yield from rated.judged.notes
    if isinstance(human, Labels):
        yield from human.notes(rated.judged.names)


def _numbers(
    rated: RatedScores, claims: Claims | None, length: FloatArray | None, how: Draws
) -> Iterator[Factor]:
    if length is not None:
        yield number_factor("length of the response", length, rated, how)
    elif claims is not None:
        yield number_factor("length of the claims", claims.length, rated, how)
    yield number_factor("number of claims", rated.counts.sum(axis=1), rated, how)
    if claims is not None:
        yield number_factor("lowest claim's place", claims.lowest, rated, how)
    yield number_factor("place in the file", rated.places.astype(np.float64), rated, how)


def _fields(rated: RatedScores, by: Sequence[str], how: Draws) -> Iterator[Factor]:
    fields = dict.fromkeys(by)
    if SYSTEM not in fields:
        try:
            values = rated.judged.values(SYSTEM, SYSTEM)
        except InvalidValueError:  # no sample has it
            pass
        else:
            yield field_factor(SYSTEM, [values[i] for i in rated.places.tolist()], rated, how)
    for field in fields:
        values = rated.judged.values(field, field)
        yield field_factor(field, [values[i] for i in rated.places.tolist()], rated, how)


def _large(
    rated: RatedScores, claims: Claims | None, numbers: Sequence[int]
) -> Iterator[LargeError]:
    names = rated.judged.names
    for number in numbers:
        place = int(rated.places[number])
        name = names[place] if names else f"row-{place + 1}"
        shown = () if claims is None else claims.shown.get(place, ())
        yield LargeError(name, rated.scores.item(number), rated.human.item(number), shown)
