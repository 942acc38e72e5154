"""Present a calibration's recommendation in words, in tables, and as a configuration file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config, setting_text, settings_of
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
"""With fewer ratings, a choice means little, and part of the samples keeps the common setting."""

SAME = 1e-12
"""Tolerance for values that differ by rounding only."""

_NAMES = {"spearman": "Spearman", "mae": "mean absolute error"}


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice among settings, and whether it is better than the setting in use.

    Attributes:
        objective: The measure of agreement with human ratings: ``spearman``, ``mae`` or ``kappa``.
        settings: The settings to choose from, the one in use first.
        best: The index of the best setting on all samples.
        in_use: The agreement of the setting in use.
        on_same: The agreement of the best setting on the samples that it was chosen on (too good).
        on_unseen: The agreement of the choices on samples that they did not see.
        gain: The gain of choosing, on samples that the choice did not see; above 0 is better.
        detectable: The true gain that is found in 80 % of such cases; nan without an interval.
        shares: By setting, the share of the folds in which it was chosen.
        decisions: For kappa, which says little without them: for the setting in use and the best
            one, the shares of samples that they decide like people, and that they pass.
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
        """The recommendation in words."""
        verb = "use" if self.is_significant else "keep"
        return f"{verb} {setting_text(self.recommended)}"

    @property
    def outcome(self) -> str:
        """Whether the gain is significant, or why it has no interval."""
        if self.gain.reason:
            return f"no interval: {self.gain.reason}"
        if self.is_significant:
            return "significant"
        is_worse = self.gain.high < -SAME
        return "significantly worse" if is_worse else "not significant"

    def sentence(self) -> str:
        """State the recommendation, and the gain behind it."""
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
        """Tabulate the settings with their agreement, the gain, and the choices of the folds."""
        best = f"best of {len(self.settings)}, chosen on the same samples (optimistic)"
        measured = [
            (setting_text(self.settings[0]), self.in_use, "in use"),
            (setting_text(self.chosen), self.on_same, best),
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
                        "setting": setting_text(setting),
                        "share": share,
                        **settings_of(setting),
                    }
                    for setting, share in self.shares.items()
                ],
                detail=True,
            ),
        ]

    def notes(self) -> Iterator[str]:
        """Note few ratings, groups, and a choice at the edge of the grid."""
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
            advice = "Try temperatures beyond it."
            bounds = self.chosen.bounds
            if best in {bounds.t_min, bounds.t_max}:
                manner = "stricter" if best == lowest else "more lenient"
                advice = f"If people rate {manner} than that, other weights may fit better (schemes)."
            yield f"The best temperature, {best:g}, is the {side} that was tried. {advice}"


def recommended(report: Report) -> Config:
    """Make a configuration of a calibration's recommendation, for `Config.dump` and ``--config``.

    Of the values of a field, it holds only temperatures that are significantly better. Settings
    that were chosen for a limit come with their guarantee.

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
