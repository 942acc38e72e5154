"""What a calibration recommends, in words, in tables, and as a configuration file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config, described, settings_of
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.describe import TIES
from tcva_adapters.stats.estimates import DETECTABLE, Estimate
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    counted,
    named_columns,
)

FEW = 30
"""Ratings below which a choice means little, and a part of the samples keeps what suits all."""

SAME = 1e-12
"""What is equal on paper may differ by so much."""

_NAMES = {"spearman": "Spearman", "mae": "mean absolute error"}


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen among settings, and whether that is better than the one in use.

    Attributes:
        objective: By which agreement with human ratings: ``spearman``, ``mae`` or ``kappa``.
        settings: To choose from, the one in use first.
        best: The place of the best one on all samples.
        in_use: The agreement of the one in use.
        on_same: That of the best one, on the samples that it was chosen on (too good).
        on_unseen: That of choices, on samples that they did not see.
        gain: Of choosing, on samples that the choice did not see; above 0 is better.
        detectable: The true gain that is found in 80 % of such cases; nan without an interval.
        shares: In which share of the folds each setting was chosen.
        decisions: With kappa, which says little without them, the shares of samples that the setting
            in use and the best one decide like people, and let pass.
    """

    objective: str
    settings: Sequence[ScoringConfig]
    best: int
    in_use: float
    on_same: float
    on_unseen: float
    gain: Estimate
    detectable: float
    shares: Mapping[ScoringConfig, float]
    decisions: Sequence[Record] = ()

    @property
    def chosen(self) -> ScoringConfig:
        """The best setting on all samples."""
        return self.settings[self.best]

    @property
    def is_significant(self) -> bool:
        """Whether choosing beats the setting in use significantly."""
        return self.gain.low > SAME and self.best != 0

    @property
    def recommended(self) -> ScoringConfig:
        """The chosen setting where its gain is significant, else the one in use."""
        return self.chosen if self.is_significant else self.settings[0]

    @property
    def advice(self) -> str:
        """What to do."""
        verb = "use" if self.is_significant else "keep"
        return f"{verb} {described(self.recommended)}"

    @property
    def outcome(self) -> str:
        """What the interval says of the gain."""
        if self.gain.reason:
            return f"no interval: {self.gain.reason}"
        if self.is_significant:
            return "significant"
        is_worse = self.gain.high < -SAME
        return "significantly worse" if is_worse else "not significant"

    def sentence(self) -> str:
        """What to do, with the gain that it rests on."""
        gain = self.gain.record("gain")
        subject = "it" if self.is_significant else "choosing another setting"
        measure = _NAMES.get(self.objective, self.objective)
        effect = f"gains {Column('gain', 'signed').cell(gain)} in {measure}"
        if self.objective == "mae":
            effect = f"lowers the {measure} by {Column('gain', 'interval').cell(gain)}"
        advice = self.advice[0].upper() + self.advice[1:]
        return (
            f"{advice}: {subject} {effect} on unseen samples (n = {self.gain.n}; "
            f"{self.outcome})."
        )

    def tables(self) -> list[Table]:
        """The settings with their agreement, the gain, and what was chosen in the folds."""
        best = f"best of {len(self.settings)}, chosen on the same samples (optimistic)"
        measured = [
            (described(self.settings[0]), self.in_use, "in use"),
            (described(self.chosen), self.on_same, best),
            ("cross-validated", self.on_unseen, "the choice, on unseen samples"),
        ]
        rows: list[Record] = [
            {"setting": setting, self.objective: value, "measured": samples}
            for setting, value, samples in measured
        ]
        columns = [
            Column("setting"),
            Column(self.objective, "score"),
            Column("measured", "prose"),
        ]
        if self.decisions:
            columns += named_columns(same_decision="share", pass_rate="share")
        for row, decision in zip(rows, self.decisions, strict=False):
            row.update(decision)
        return [
            Table(
                "settings",
                columns,
                rows,
                notes=[TIES] if self.objective == "spearman" else (),
            ),
            Table(
                "gain",
                named_columns(gain="signed", n="int", detectable="score"),
                [
                    {
                        **self.gain.record("gain"),
                        "n": self.gain.n,
                        "detectable": self.detectable,
                        "significant": self.is_significant,
                        "reason": self.gain.reason,
                    }
                ],
                notes=() if self.gain.reason else [f"detectable: {DETECTABLE}"],
            ),
            Table(
                "choices",
                named_columns(setting="text", share="share"),
                [
                    {
                        "setting": described(setting),
                        "share": share,
                        **settings_of(setting),
                    }
                    for setting, share in self.shares.items()
                ],
                detail=True,
            ),
        ]

    def notes(self) -> Iterator[str]:
        """What a reader must know: few ratings, groups, a choice at the edge of the grid."""
        if self.gain.n < FEW:
            yield f"{self.gain.n} ratings are too few to choose by; rate at least {FEW} samples."
        if self.gain.groups is not None:
            yield f"Folds and intervals keep {counted(self.gain.groups, 'group')} together."

        tried = [setting.temperature for setting in self.settings]
        best = self.chosen.temperature
        lowest = min(tried)
        highest = max(tried)
        if lowest < highest and best in {lowest, highest}:
            side = "lowest" if best == lowest else "highest"
            yield (
                f"The best temperature, {best:g}, is the {side} that was tried. Beyond it, or with "
                "other weights (schemes), the agreement may be better."
            )


def recommended(report: Report) -> Config:
    """The settings that a calibration recommends, for `Config.dump` and ``--config``.

    Only what is significant gets in: of the values of a field, the temperatures that are. What was
    chosen for a limit comes with its guarantee.

    Raises:
        InvalidValueError: No setting keeps the limit.
    """
    settings = report.settings
    if settings["recommended"] is None:
        raise InvalidValueError(
            f"there are no settings to recommend: {report.sentence}"
        )
    guarantee = settings.get("guarantee")
    return Config(
        criterion=settings["criterion"],
        settings=settings["recommended"],
        profiles=settings["profiles"],
        guarantee=guarantee,
        provenance=None if guarantee else report.to_dict(),
    )
