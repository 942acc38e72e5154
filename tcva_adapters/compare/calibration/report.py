"""What a calibration found: figures, their printed form, and the file that carries the settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.calibration.candidates import DEFAULT, as_settings, describe
from tcva_adapters.compare.calibration.nested import Gain, Resampling
from tcva_adapters.compare.calibration.objectives import Objective, ObjectiveName
from tcva_adapters.compare.fused import FusedRow
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.judged import Judged
from tcva_adapters.compare.views.crosstab import Crosstab
from tcva_adapters.printing import Part, Table, Tabular, Wrapped, counted, figure, share
from tcva_adapters.results.config import Config
from tcva_adapters.results.settings import ScoringConfig

FEW_RATINGS: Final = 30

_SHOWN_PICKS: Final = 6
_GAINS: Final = (0.01, 0.02, 0.05)
"""True gains whose chance of being found is shown."""
_FIGURES: Final = (
    *("objective", "n", "unscored", "unrated", "recommendation", "detectable", "candidates"),
    *("in_sample", "out_of_fold", "before", "by_fold", "before_by_fold", "gain", "notes"),
)
_SETTINGS: Final = ("recommended", "baseline", "chosen")


@dataclass(frozen=True)
class Calibration(Tabular):
    """What a calibration found.

    Attributes:
        objective: Its name.
        n: Samples with a score and a rating; all figures are about these.
        unscored: Samples left out because they have no score.
        unrated: Samples left out because nobody rated them.
        baseline: The setting that a choice has to beat.
        candidates: Settings to choose from.
        chosen: The best of them on all samples.
        in_sample: Its agreement on the very samples it was chosen on: too good.
        out_of_fold: Agreement on samples that the choice did not see, averaged over repeats.
        before: Agreement of the baseline.
        by_fold: The same as ``out_of_fold``, but measured inside each fold and averaged; nan where
            folds are too small to measure in.
        before_by_fold: The baseline, measured like that.
        gain: ``out_of_fold`` against ``before``.
        picks: Each setting that was chosen in a training fold, with its share of the folds, most
            frequent first.
        resampling: Folds, repeats, resamples, level and seed.
        notes: What to keep in mind, in sentences.
        judged: The samples; None for one part of them.
        human: Where the ratings are from.
        by: The metadata field of the profiles, where there are any.
        profiles: What was found for each of its values.
        unused: What of a configuration does not apply here, in sentences.
        fusing: What fusing gains over the best one of several judges, at the baseline; None for a
            single judge.
        decisions: With ``f1`` and ``kappa``: those of the baseline and of the chosen setting on all
            samples against the human ones; empty otherwise.
    """

    objective: ObjectiveName
    n: int
    unscored: int
    unrated: int
    baseline: ScoringConfig
    candidates: int
    chosen: ScoringConfig
    in_sample: float
    out_of_fold: float
    before: float
    by_fold: float
    before_by_fold: float
    gain: Gain
    picks: tuple[tuple[ScoringConfig, float], ...]
    resampling: Resampling
    notes: tuple[str, ...]
    judged: Judged | None = field(default=None, compare=False, repr=False)
    human: str = "human ratings"
    by: str | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    fusing: FusedRow | None = None
    decisions: tuple[Crosstab, ...] = ()

    @property
    def detectable(self) -> bool:
        """Whether choosing is better than the baseline beyond what chance explains."""
        return self.gain.detectable and self.chosen != self.baseline

    @property
    def recommended(self) -> ScoringConfig:
        """The chosen setting where its gain is detectable, otherwise the baseline."""
        return self.chosen if self.detectable else self.baseline

    @property
    def recommendation(self) -> str:
        """What to do, in one sentence."""
        if self.detectable:
            return f"use {describe(self.chosen)}"
        keep = f"keep {'0.5' if self.baseline == DEFAULT else describe(self.baseline)}"
        if self.gain.high < -1e-12:  # more than a last bit
            return f"choosing does worse on samples that it has not seen: {keep}"
        return f"no detectable difference: {keep}"

    @property
    def sentence(self) -> str:
        """What to do, with the gain that it rests on."""
        gain, number = self.gain, counted(self.n, "sample")
        sure = f"{_ends(gain)}, on {number}{self._missed}"
        if gain.reason:
            sure = f"on {number}; {_ends(gain)}"
        said = (
            f"{self.recommendation[:1].upper()}{self.recommendation[1:]} (gain of choosing "
            f"{figure(gain.value)} {self.objective}, {sure})"
        )
        own = [p for p in self.profiles.values() if p.calibration and p.calibration.detectable]
        if not self.profiles:
            return said
        return f"{said}; {len(own)} of {len(self.profiles)} values of {self.by!r} get their own"

    @property
    def _missed(self) -> str:
        """What would have been found, where nothing was."""
        smallest = self.gain.smallest
        if self.detectable or self.gain.reason:
            return ""
        return f"; one of {figure(smallest)} would mostly be found"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values; a figure that is not defined is None."""
        judged = self.judged
        figures: dict[str, Any] = {"sentence": self.sentence}
        figures |= {name: getattr(self, name) for name in _FIGURES}
        figures |= {name: as_settings(getattr(self, name)) for name in _SETTINGS}
        figures["decisions"] = [each.to_dict() for each in self.decisions]
        figures |= {**self.resampling._asdict(), "picks": self.records()}
        figures["smallest_gain"] = self.gain.smallest
        figures["power"] = {f"{size:g}": self.gain.power(size) for size in _GAINS}
        if judged is not None:
            figures |= {**judged.to_dict(), "human": self.human, "by": self.by}
            figures["fusing"] = jsonable(self.fusing)
            found = {part: profile.to_dict() for part, profile in self.profiles.items()}
            figures["profiles"] = found or None
        plain: dict[str, Any] = jsonable(figures)
        return plain

    def records(self) -> list[dict[str, Any]]:
        """The settings that were chosen in the folds, with their shares."""
        return [{**as_settings(setting), "share": share} for setting, share in self.picks]

    def config(self) -> Config:
        """The recommended settings as a file's content.

        Only what is detectable gets in: of the parts, the temperatures that are. Every other part
        uses the settings for all.
        """
        own = {
            part: profile.calibration.recommended.temperature
            for part, profile in self.profiles.items()
            if profile.calibration is not None and profile.calibration.detectable
        }
        return Config(
            criterion=(self.judged and self.judged.criterion) or None,
            settings=_settings(self),
            profiles={self.by: own} if self.by is not None and own else None,
            provenance=self.to_dict(),
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the recommended settings to a file, for `Config.load` and ``--config``.

        Args:
            path: The file.
            overwrite: Take the place of a file that is no configuration, too.

        Raises:
            InvalidValueError: The file cannot be written, or was written by something else.
        """
        self.config().dump(path, overwrite=overwrite)

    def parts(self) -> Iterator[Part]:
        """What ``tcva calibrate`` prints."""
        title = "" if self.judged is None else f"{self.judged.title}: "
        left_out = [
            f"{number} {why}"
            for number, why in ((self.unscored, "unscored"), (self.unrated, "without a rating"))
            if number
        ]
        said = f" ({', '.join(left_out)} left out)" if left_out else ""
        yield f"{title}{self.objective} with {self.human!r}, {self.n} samples{said}"
        if self.judged is not None:
            yield from self.judged.evidence.lines()
        yield Table(("", "", ""), [*self._rows()], "lrp")
        yield from self._decisions()
        picks = [f"{describe(setting)} {part:.0%}" for setting, part in self.picks]
        often = [text for text in picks[:_SHOWN_PICKS] if not text.endswith(" 0%")]
        more = f"; {len(picks) - len(often)} more" if len(picks) > len(often) else ""
        yield f"chosen in the folds: {'; '.join(often)}{more}"
        yield from (f"note: {note}" for note in self.notes)
        if self.fusing is not None:
            yield Wrapped(f"fused, at {describe(self.baseline)}: {self.fusing.sentence}")
        if self.profiles:
            yield f"\nby {self.by!r}, each on its own samples:"
            yield from (f"  {part}: {found.text}" for part, found in self.profiles.items())

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        before = "the default" if self.baseline == DEFAULT else "in use now"
        how = self.resampling
        yield describe(self.baseline), f"{self.before:.3f}", before
        best = f"best of {self.candidates}, on the samples it was chosen on"
        yield describe(self.chosen), f"{self.in_sample:.3f}", best
        unseen = f"on samples it has not seen, {how.folds} folds, {how.repeats} times"
        yield "chosen out of fold", f"{self.out_of_fold:.3f}", unseen
        yield _gain_row("gain of choosing", self.gain)
        if not self.gain.reason:
            powers = (f"{size:g} in {self.gain.power(size):.0%}" for size in _GAINS)
            yield "found in 80 %", f"{self.gain.smallest:.3f}", f"a true gain; {', '.join(powers)}"

    def _decisions(self) -> Iterator[Part]:
        """What a kappa or an F1 says little without: raw agreement, and how many pass."""
        for setting, found in zip((self.baseline, self.chosen), self.decisions, strict=False):
            ours, theirs = found.pass_rates
            yield Wrapped(
                f"{describe(setting)}: the same decision as humans on {share(found.agreement)}; "
                f"{share(ours)} pass by score, {share(theirs)} by rating",
                indent=2,
            )


@dataclass(frozen=True, slots=True)
class Profile:
    """What was found for one part of the suite.

    Attributes:
        n: Samples with a score and a rating.
        calibration: None where there was nothing to calibrate with.
        recommendation: What to do, in one sentence.
    """

    n: int
    calibration: Calibration | None
    recommendation: str

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        found = self.calibration
        if found is None:
            return {"n": self.n, "detectable": False, "recommendation": self.recommendation}
        return found.to_dict()

    @property
    def text(self) -> str:
        """The same in one line."""
        found = self.calibration
        if found is None:
            return self.recommendation
        gain = found.gain
        smallest = "" if gain.reason else f"; found in 80 %: {figure(gain.smallest)}"
        return (
            f"{self.recommendation} ({found.n} samples; best {describe(found.chosen)}; "
            f"gain {gain.value:.3f}, {_ends(gain, 1)}{smallest})"
        )


def _gain_row(what: str, gain: Gain) -> tuple[str, str, str]:
    return what, f"{gain.value:.3f}", _ends(gain)


def _ends(gain: Gain, digits: int = 0) -> str:
    """The interval of a gain, or why there is none."""
    if gain.reason:
        return f"no interval: {gain.reason}"
    return f"{gain.level:.{digits}%} interval {figure(gain.low)} to {figure(gain.high)}"


def _settings(found: Calibration) -> dict[str, Any]:
    values = as_settings(found.recommended)
    if Objective(found.objective).kind != "pass_fail":
        del values["threshold"]  # nothing was learned about it
    return values
