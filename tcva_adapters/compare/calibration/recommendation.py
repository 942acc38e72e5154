"""Present a calibration's recommendation in words, in tables, and as a configuration file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcva_adapters.compare.agreement.method_tables import figure_row, with_interval
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config, setting_text
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.checks import SAME, FloatArray
from tcva_adapters.stats.describe import TIES
from tcva_adapters.stats.estimates import DETECTABLE, Estimate
from tcva_adapters.tables import (
    ROWS,
    Column,
    Record,
    Report,
    Table,
    counted,
    named_columns,
)

FEW = 30
"""With fewer ratings, a choice means little, and part of the samples keeps the common setting."""


# The training parts of two of 5 folds share 3/4 of their samples, so a setting that is lucky
# in one is lucky in the other. The variance of a gain is therefore multiplied by 1 + 3/4. On
# simulated data where all settings are equally good, a gain then appears in at most 5 % of the cases.
WIDER = 1.75**0.5
"""By how much the interval of a gain is widened for the choice."""

CONSTANT = {"reject all": 0.0, "pass all": 1.0}
"""Decisions without a score, which a choice by cost has to beat."""

_EFFECTS = {
    "spearman": ("raise", "Spearman"),
    "mae": ("lower", "the mean absolute error"),
    "kappa": ("raise", "kappa"),
    "cost": ("lower", "the cost per answer"),
}
CHANGES = {
    "T": "another setting",
    "threshold": "another threshold",
    "both": "another setting and threshold",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to choose, and what comes of it.

    Attributes:
        name: What is chosen: ``in use`` (nothing), ``threshold``, ``T`` or ``both``; or how all answers
            are decided alike (`CONSTANT`).
        setting: The best setting on all samples.
        tried: The number of settings to choose from.
        on_same: The agreement of the best setting on the samples that it was chosen on (too good).
        on_unseen: The agreement of the choices on samples that they did not see.
        agreement: The same on all samples and on each resample, with such a sign that higher is better.
        gain: Its gain over the setting in use, on unseen samples; above 0 is better.
        share: The share of the folds in which this setting was chosen, too.
        errors: Where a threshold may be chosen, too, shares on unseen samples: ``false_pass`` of
            rejected answers, and ``missed`` of good ones; else empty.
    """

    name: str
    setting: ScoringConfig
    tried: int
    on_same: float
    on_unseen: float
    agreement: FloatArray
    gain: Estimate
    share: float
    errors: Record

    @property
    def is_better(self) -> bool:
        """Whether it is significantly better than the setting in use."""
        return self.gain.low > SAME

    @property
    def outcome(self) -> str:
        """Whether the gain is significant, or why it has no interval."""
        if self.gain.reason:
            return f"no interval: {self.gain.reason}"
        if self.is_better:
            return "significant"
        is_worse = self.gain.high < -SAME
        return "significantly worse" if is_worse else "not significant"

    @property
    def detectable(self) -> float:
        """The true gain that is found in 80 % of such cases; nan without an interval.

        A gain has to exceed the widened interval, but varies without the widening.
        """
        half = (self.gain.high - self.gain.low) / 2.0
        return half + (self.gain.smallest - half) / WIDER

    @property
    def text(self) -> str:
        """The setting in words; with its threshold where the objective depends on it."""
        text = setting_text(self.setting)
        if self.errors:
            text += f", threshold {self.setting.threshold:g}"
        return text

    def record(self) -> Record:
        """The row of the choice in a table."""
        return {
            "choice": self.name,
            "setting": None if self.name in CONSTANT else self.text,
            "tried": self.tried,
            "share": self.share,
            "cross_validated": self.on_unseen,
            **figure_row(gain=self.gain),
            "detectable": self.detectable,
            "significant": self.is_better,
            **self.errors,
        }


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The simplest choice that is not significantly worse than the best one.

    Attributes:
        table: The rated samples.
        objective: The measure of agreement with human ratings.
        settings: The settings to choose from, the one in use first.
        choices: The choices, the one in use first, then from simple to complex, then constant ones.
        leading: The choice other than that in use that agrees best on unseen samples.
        chosen: The recommended one: that in use, or one that is significantly better.
        advantage: By how much the leading one is better than the recommended one.
        unbeaten: Those of the one in use and the constant ones that the leading one is not
            significantly better than.
    """

    table: ScoreTable
    objective: str
    settings: Sequence[ScoringConfig]
    choices: Sequence[Choice]
    leading: Choice
    chosen: Choice
    advantage: Estimate
    unbeaten: Sequence[Choice]

    @property
    def is_change(self) -> bool:
        """Whether another setting than that in use is recommended."""
        return self.chosen.setting != self.settings[0]

    @property
    def best(self) -> Choice:
        """The recommended choice; without a change, the leading one of the others."""
        return self.chosen if self.is_change else self.leading

    @property
    def flips(self) -> list[Record]:
        """The answers that pass under the setting in use and fail under the recommended one, or vice versa."""
        old, new = (self.settings[0], self.chosen.setting)
        table = self.table
        rows = zip(
            table.samples, table.at(old), table.at(new), table.rating, strict=True
        )
        return [
            {
                "sample": sample,
                "before": before,
                "after": after,
                "decision": "fail to pass"
                if after >= new.threshold
                else "pass to fail",
                "rating": rating,
            }
            for sample, before, after, rating in rows
            if (before >= old.threshold) != (after >= new.threshold)
        ]

    @property
    def advice(self) -> str:
        """The recommendation in words."""
        verb = "use" if self.is_change else "keep"
        return f"{verb} {self.chosen.text}"

    def sentence(self) -> str:
        """State the recommendation, and the gain behind it."""
        best = self.best
        subject = "it" if self.is_change else f"choosing {CHANGES[best.name]}"
        verb, measure = _EFFECTS[self.objective]
        amount = with_interval(best.gain)
        effect = f"{verb}s {measure} by {amount}"
        if best.gain.value <= SAME:
            effect = f"does not {verb} {measure} (gain {amount})"
        advice = self.advice[0].upper() + self.advice[1:]
        sentence = (
            f"{advice}: {subject} {effect} on unseen samples (n = {best.gain.n}; "
            f"{best.outcome})."
        )
        if self.chosen.name == "threshold" and self.leading is not self.chosen:
            sentence += (
                " A threshold alone does as well: no other choice is shown to be better "
                f"({self.leading.name}: {with_interval(self.advantage, 'signed')})."
            )
        for rival in self.unbeaten:
            if rival.name in CONSTANT:
                sentence += f" It is not shown to cost less than to {rival.name} answers ({rival.on_unseen:.3f})."
        if self.is_change:
            sentence += f" It changes {len(self.flips)} of {counted(len(self.table), 'decision')}."
        return sentence

    def tables(self) -> Iterator[Table]:
        """Tabulate the choices with their agreement and gain, and those of the folds."""
        columns = [
            *named_columns("choice", "setting", share="share"),
            Column(self.objective, "score"),
            *named_columns(cross_validated="score", gain="signed", detectable="score"),
        ]
        notes = [
            f"{self.objective}: of the best of up to {max(choice.tried for choice in self.choices)}, on the same samples (optimistic)",
            "share: of the folds that chose the same setting",
            "cross validated and gain: on unseen samples",
            f"detectable: {DETECTABLE}",
        ]
        if self.chosen.errors:
            columns += named_columns(false_pass="share", missed="share")
            notes.append(
                "false pass: of rejected answers; missed: of good ones (unseen samples)"
            )
        if self.objective == "spearman":
            notes.append(TIES)
        yield Table(
            "settings",
            columns,
            [
                {**choice.record(), self.objective: choice.on_same}
                for choice in self.choices
            ],
            notes=notes,
        )
        yield Table(
            "flips",
            named_columns(
                "sample",
                before="score",
                after="score",
                decision="text",
                rating="score",
            ),
            self.flips,
            detail=True,
            most=ROWS,
        )

    def notes(self) -> Iterator[str]:
        """Note few ratings, groups, and a choice at the edge of the grid."""
        best = self.best
        if best.gain.n < FEW:
            yield f"{best.gain.n} ratings are too few to choose by; rate at least {FEW} samples."
        if best.gain.groups is not None:
            yield f"Folds and intervals keep {counted(best.gain.groups, 'group')} together."

        temperature = best.setting.temperature
        tried = {setting.temperature for setting in self.settings}
        if len(tried) > 1 and temperature in {min(tried), max(tried)}:
            yield (
                f"The best temperature, {temperature:g}, is an end of those that were tried. Try others "
                "beyond it or, at an end of the scale, other weights (schemes)."
            )


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
