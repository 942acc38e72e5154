"""A calibration of a suite: all samples together, and each part of it against what suits all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.candidates import Grid, describe
from tcva_adapters.compare.calibration.fusing import fusing_gain
from tcva_adapters.compare.calibration.nested import Resampling
from tcva_adapters.compare.calibration.objectives import ObjectiveName
from tcva_adapters.compare.calibration.report import FEW_RATINGS, Calibration, Profile
from tcva_adapters.compare.calibration.search import Search
from tcva_adapters.compare.judged import Judged, JudgedSource, has_score, in_use
from tcva_adapters.compare.labels import Labels, source_of
from tcva_adapters.core.aggregation import Floor, Penalty, SchemeLike
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config
from tcva_adapters.results.evidence import Evidence
from tcva_adapters.stats.checks import FloatArray


def calibrate(
    judged: JudgedSource,
    human: str | Labels | npt.ArrayLike,
    *,
    objective: ObjectiveName = "spearman",
    temperatures: Sequence[float | str] | None = None,
    schemes: Sequence[SchemeLike] | None = None,
    penalties: Sequence[Penalty] | None = None,
    floors: Sequence[Floor] | None = None,
    eps: Sequence[float] | None = None,
    thresholds: Sequence[float] | None = None,
    human_scale: tuple[float, float] = (0.0, 1.0),
    human_threshold: float | None = None,
    by: str | Sequence[Any] | None = None,
    group: str | Sequence[Any] | None = None,
    config: Config | str | Path | None = None,
    bounds: Bounds | Mapping[str, float] | None = None,
    evidence: Evidence | None = None,
    folds: int = 5,
    repeats: int = 50,
    n_boot: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    skip_bad: bool = False,
) -> Calibration:
    """Choose the setting that agrees best with human ratings, and say whether that can be told.

    How the choice is made and checked: see `Search`.

    Args:
        judged: What was judged, see `Judged.of`; scores of fused judges are fused.
        human: A key of the metadata, `Labels`, or the ratings, shape (N,); nan where there is none.
        objective: ``spearman``, ``kendall``, ``mae``; or ``f1``, ``kappa`` for pass and fail.
        temperatures: To choose from; by default 0.1, 0.15 and so on to 1.0.
        schemes: Weight schemes to choose from; by default the one in use.
        penalties: Penalty dialects, likewise.
        floors: Floors, likewise.
        eps: Least weights, likewise.
        thresholds: A score passes from here on; likewise, for ``f1`` and ``kappa`` only.
        human_scale: Lowest and highest rating that could be given, for ``mae``.
        human_threshold: A rating passes from here on; by default the middle of the scale.
        by: A key of the metadata, or values, shape (N,): a temperature for each value.
        group: Likewise: samples of one group (a document) share a fold and are drawn together.
        config: The settings in use, which a choice has to beat; by default T=0.5.
        bounds: The exponents at the ends of the scale; by default those in use. No choice either.
        evidence: The view of the evidence; by default the one in use. It is none of the choices.
        folds: Parts of a division, at least 2.
        repeats: Divisions, at least 1.
        n_boot: Resamples for each interval, at least 100.
        level: Of the intervals.
        seed: The same seed gives the same figures.
        skip_bad: Leave out unreadable lines of a file.

    Raises:
        InvalidValueError: A setting out of range, fewer samples or groups than folds, ratings or
            scores that are all the same, or ratings outside a scale that is needed.
        InvalidSampleError: A sample with a score and a rating belongs to no group. Further errors as for `Judged.of` and `Config.load`.

    >>> counts = [[4, 0, 0, 0, 0], [3, 0, 1, 0, 0], [2, 0, 0, 1, 1], [0, 0, 0, 1, 3]] * 5
    >>> calibrate(counts, [1.0, 0.8, 0.3, 0.0] * 5).recommendation
    'no detectable difference: keep 0.5'
    """
    given = {"bounds": bounds, "evidence": evidence}
    baseline = in_use(config).changed(**{n: v for n, v in given.items() if v is not None})
    grid = Grid(temperatures, schemes, penalties, floors, eps, thresholds)
    drawn = Resampling(folds, repeats, n_boot, level, seed)
    search = Search(objective, grid, drawn, human_scale, human_threshold, baseline)
    read = Judged.of(judged, skip_bad=skip_bad).under(baseline.evidence)
    return replace(_of_suite(search, read, human, by, group), unused=read.unused(config))


def _of_suite(
    search: Search,
    judged: Judged,
    human: str | Labels | npt.ArrayLike,
    by: str | Sequence[Any] | None,
    group: str | Sequence[Any] | None,
) -> Calibration:
    ratings = judged.ratings(human)
    groups = judged.groups(group, ratings)
    found = search.on(judged.counts, ratings, groups)
    found = replace(
        found,
        judged=judged,
        human=source_of(human),
        fusing=fusing_gain(judged, ratings, search.baseline, groups, search.resampling),
    )
    if by is None:
        return found
    # A part has a temperature of its own; what else was chosen holds for all.
    grid = Grid(search.grid.temperatures)
    own = replace(search, grid=grid, baseline=found.recommended)
    profiles = calibrate_profiles(own, judged.counts, ratings, judged.values(by, "parts"), groups)
    return replace(found, by=by if isinstance(by, str) else "part", profiles=profiles)


def calibrate_profiles(
    search: Search,
    counts: FloatArray,
    ratings: FloatArray,
    parts: Sequence[Any],
    groups: Sequence[Any] | None = None,
) -> dict[str, Profile]:
    """Calibrate each part on its own samples, against a setting chosen for all.

    With many parts one of them looks better by luck, so their intervals share what they may err:
    of G parts each has the level 1 - (1 - level)/G (Bonferroni).

    Args:
        search: Its baseline is what a part keeps unless its own choice is detectably better; its
            level is that of all intervals together.
        counts: Shape (N, J, 5).
        ratings: Shape (N,).
        parts: Shape (N,): the part that a sample belongs to; None where it belongs to none.
        groups: As for `Search.on`.

    Returns:
        By part, in the order in which they occur. A part with fewer than 30 ratings, or with ratings
        that cannot be calibrated on, keeps the baseline and says why.

    Raises:
        InvalidValueError: No sample belongs to a part.
    """
    members: dict[str, list[int]] = {}
    for i, part in enumerate(parts):
        if part is not None:
            members.setdefault(str(part), []).append(i)
    if not members:
        msg = "no sample belongs to a part; name a metadata field that samples have"
        raise InvalidValueError(msg)
    usable = has_score(counts) & np.isfinite(ratings)
    sizes = {part: int(usable[rows].sum()) for part, rows in members.items()}
    large = sum(size >= FEW_RATINGS for size in sizes.values())
    level = 1.0 - (1.0 - search.resampling.level) / max(large, 1)
    own = replace(search, resampling=search.resampling._replace(level=level))
    keep = f"keep {describe(search.baseline)}"
    profiles = {}
    for part, rows in members.items():
        size = sizes[part]
        if size < FEW_RATINGS:
            why = f"{size} ratings, fewer than {FEW_RATINGS}: {keep}"
            profiles[part] = Profile(size, None, why)
            continue
        try:
            chosen = None if groups is None else [groups[i] for i in rows]
            found = own.on(counts[rows], ratings[rows], chosen)
        except InvalidValueError as error:
            profiles[part] = Profile(size, None, f"{error}: {keep}")
        else:
            profiles[part] = Profile(size, found, found.recommendation)
    return profiles
