"""A calibration for each part of a suite, and the file that carries what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.calibration.calibrate import FEW_LABELS, Calibration, calibrate
from tcva_adapters.compare.calibration.candidates import as_settings, describe
from tcva_adapters.compare.calibration.labelled import by_judge, has_score
from tcva_adapters.compare.calibration.objectives import Objective
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config, MappingKnots, ProfileTable, Settings
from tcva_adapters.results.scoring import Scoring
from tcva_adapters.stats.checks import numbers, same_length


@dataclass(frozen=True, slots=True)
class Profile:
    """What was found for one part of the suite.

    Attributes:
        n: Samples with a score and a label.
        calibration: None where there was nothing to calibrate with.
        recommendation: What to do, in one sentence.
    """

    n: int
    calibration: Calibration | None
    recommendation: str

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        found = self.calibration
        if found is None:
            return {"n": self.n, "detectable": False, "recommendation": self.recommendation}
        return found.as_dict()


def calibrate_profiles(
    counts: npt.ArrayLike,
    human: npt.ArrayLike,
    parts: Sequence[Any],
    *,
    baseline: Scoring,
    level: float = 0.95,
    groups: Sequence[Any] | None = None,
    **options: Any,
) -> dict[str, Profile]:
    """Calibrate each part on its own samples, against a setting chosen for all.

    With many parts one of them looks better by luck, so their intervals share what they may err:
    of G parts each has the level 1 - (1 - level)/G (Bonferroni).

    Args:
        counts: Shape (N, 5), or (N, J, 5) with J judges.
        human: Shape (N,).
        parts: Shape (N,): the part that a sample belongs to; None where it belongs to none.
        baseline: What a part keeps unless its own choice is detectably better.
        level: Of all intervals together.
        groups: As for `calibrate`.
        options: As for `calibrate`.

    Returns:
        By part, in the order in which they occur. A part with fewer than 30 labels, or with labels
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
    rows_of, labels = by_judge(counts), numbers("human labels", human)
    same_length(counts=rows_of, human=labels)
    usable = has_score(rows_of) & np.isfinite(labels)
    sizes = {part: int(usable[rows].sum()) for part, rows in members.items()}
    large = sum(size >= FEW_LABELS for size in sizes.values())
    keep = f"keep {describe(baseline)}"
    profiles = {}
    for part, rows in members.items():
        size = sizes[part]
        if size < FEW_LABELS:
            why = f"{size} labels, fewer than {FEW_LABELS}: {keep}"
            profiles[part] = Profile(size, None, why)
            continue
        try:
            found = calibrate(
                rows_of[rows],
                labels[rows],
                baseline=baseline,
                level=1.0 - (1.0 - level) / large,
                groups=None if groups is None else [groups[i] for i in rows],
                **options,
            )
        except InvalidValueError as error:
            profiles[part] = Profile(size, None, f"{error}: {keep}")
        else:
            profiles[part] = Profile(size, found, found.recommendation)
    return profiles


def to_config(
    found: Calibration,
    *,
    criterion: str | None = None,
    by: str | None = None,
    profiles: Mapping[str, Profile] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Config:
    """The recommended settings as a file's content.

    Only what is detectable gets in: a mapping that is better out of fold, and the profiles of those
    parts whose own setting is. Every other part uses the settings for all.

    Args:
        found: The calibration on all samples.
        criterion: What the samples were judged for.
        by: The metadata field of the profiles.
        profiles: By its values.
        provenance: What else should be known about where this comes from.
    """
    mapping = found.mapping
    own = {
        part: _settings(profile.calibration)
        for part, profile in (profiles or {}).items()
        if profile.calibration is not None and profile.calibration.detectable
    }
    told = {**(provenance or {}), **_without_knots(found.as_dict())}
    if profiles:
        told["profiles"] = {part: _without_knots(p.as_dict()) for part, p in profiles.items()}
    return Config(
        criterion=criterion,
        settings=_settings(found),
        mapping=MappingKnots(x=mapping.scale.x, y=mapping.scale.y)
        if mapping is not None and mapping.gain.detectable
        else None,
        profiles=ProfileTable(by=by, values=own) if by is not None and own else None,
        provenance=told,
    )


def _settings(found: Calibration) -> Settings:
    values = as_settings(found.recommended)
    if Objective(found.objective).kind != "pass_fail":
        del values["threshold"]  # nothing was learned about it
    return Settings(**values)


def _without_knots(found: dict[str, Any]) -> dict[str, Any]:
    """The figures alone: the mapping has its own place in the file."""
    mapping = found.get("mapping")
    if mapping:
        mapping = {key: value for key, value in mapping.items() if key != "scale"}
    return {**found, "mapping": mapping} if "mapping" in found else found
