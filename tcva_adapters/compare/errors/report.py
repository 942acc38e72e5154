"""What an analysis of errors found, and its printed form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tcva_adapters.compare.errors.factors import Dependence, Draws, Factor
from tcva_adapters.compare.errors.scale import Gate, LevelWorth, ScoreBin
from tcva_adapters.compare.gates import clipped
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.views.interval_text import missing_intervals
from tcva_adapters.printing import Part, Table, Tabular, Wrapped, counted, figure, share, short
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.stats.enough import LEAST_SAMPLES
from tcva_adapters.stats.interval import Interval

_ALPHA: Final = 0.05
_FIRST: Final = 3
_NAME: Final = 40


@dataclass(frozen=True, slots=True)
class LargeError:
    """A sample whose score is far from its rating.

    Attributes:
        sample: Its id.
        score: Its score.
        human: Its rating on the scale of the scores.
        claims: Its claims with verdicts and reasons; empty for bare counts.
    """

    sample: str
    score: float
    human: float
    claims: tuple[ClaimVerdict, ...]

    @property
    def error(self) -> float:
        """Score less rating."""
        return self.score - self.human

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        claims = [
            {"claim": c.claim, "verdict": c.verdict and c.verdict.value, "reason": c.reason}
            for c in self.claims
        ]
        about = {"sample": self.sample, "score": self.score, "human": self.human}
        return {**about, "error": self.error, "claims": claims}


@dataclass(frozen=True, slots=True, repr=False)
class ErrorReport(Tabular):
    """Where scores differ from human ratings. An error is score less rating, both in [0, 1].

    Attributes:
        what: What was scored, and at which setting.
        human: Where the ratings are from.
        human_scale: Lowest and highest rating that could be given.
        n: Samples with a score and a rating; all figures are about these.
        unscored: Samples left out because they have no score.
        unrated: Samples left out because nobody rated them.
        clusters: Groups of samples that belong together; None where each stands alone.
        error: Mean error: above 0 where scores are too high.
        size: Mean size of the errors.
        factors: What errors may depend on.
        n_tests: Tests over which Holm's correction runs.
        curve: Ratings by score.
        levels: Ratings by verdict level.
        gate: Decisions.
        largest: The largest errors, the largest first.
        how: Draws of the tests, level and seed.
        notes: What to keep in mind, in sentences.
    """

    what: str
    human: str
    human_scale: tuple[float, float]
    n: int
    unscored: int
    unrated: int
    clusters: int | None
    error: Interval
    size: Interval
    factors: tuple[Factor, ...]
    n_tests: int
    curve: tuple[ScoreBin, ...]
    levels: tuple[LevelWorth, ...]
    gate: Gate
    largest: tuple[LargeError, ...]
    how: Draws
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[str, ...]:
        """The factors that errors depend on, after the correction."""
        return tuple(
            factor.name
            for factor in self.factors
            if min(_or_one(factor.error.p_holm), _or_one(factor.size.p_holm)) <= _ALPHA
        )

    @property
    def sentence(self) -> str:
        """How far scores are off, and what that depends on."""
        off = figure(self.error.value, signed=True)
        said = (
            f"Scores are {off}{_ends(self.error, signed=True)} from {self.human!r} on average, "
            f"{figure(self.size.value)} in size, on {counted(self.n, 'sample')}"
        )
        if not self.n_tests:
            return f"{said}; nothing could be tested"
        of = f"of {counted(len(self.factors), 'thing')} looked at"
        if not self.found:
            return f"{said}; no dependence shows on any {of}"
        return f"{said}; errors depend on {', '.join(self.found)}, {of}"

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values; what is undefined is None."""
        plain: dict[str, Any] = {"sentence": self.sentence}
        for name in self.__dataclass_fields__:
            if name not in {"gate", "largest", "levels"}:
                plain[name] = jsonable(getattr(self, name))
        plain["gate"] = self.gate.to_dict()
        plain["levels"] = [{**jsonable(each), "differs": each.differs} for each in self.levels]
        plain["largest"] = [each.to_dict() for each in self.largest]
        return plain

    def records(self) -> list[dict[str, Any]]:
        """One for each factor and each of its parts."""
        rows = []
        for factor in self.factors:
            base = {"factor": factor.name, "part": None, "n": factor.n, "reason": factor.reason}
            rows.append({**base, "error": jsonable(factor.error), "size": jsonable(factor.size)})
            for part in factor.parts:
                own = {"part": part.part, "n": part.error.n, "reason": part.error.reason}
                kinds = {"error": jsonable(part.error), "size": jsonable(part.size)}
                rows.append({**base, **own, **kinds})
        return rows

    def brief(self) -> Iterator[Part]:
        """What errors depend on, parts that differ, the gate, and the largest ones by name."""
        yield from self._about()
        yield from self._factors()
        for factor in self.factors:
            if factor.parts and factor.name in self.found:
                yield from _parts_of(factor)
        yield from self._gate()
        first = ", ".join(
            f"{clipped(each.sample, _NAME)} {figure(each.error, 2, signed=True)}"
            for each in self.largest[:_FIRST]
        )
        if first:
            yield Wrapped(
                f"largest errors: {first}; with their claims, parts of the samples, ratings by score "
                "and by verdict level: --all, or show(full=True)",
                indent=2,
            )
        yield from self._notes()

    def short(self) -> Iterator[Part]:
        """The sentence and what errors depend on, for a report of more than errors."""
        yield ""
        yield Wrapped(self.sentence)
        yield from self._about()
        yield from self._factors()

    def parts(self) -> Iterator[Part]:
        """All of it."""
        yield from self.figures()
        yield from self._claims()

    def figures(self) -> Iterator[Part]:
        """All of it but the claims of the largest errors."""
        yield from self._about()
        yield from self._factors()
        for factor in self.factors:
            if factor.parts:
                yield from _parts_of(factor)
        # Of fewer there is nothing to say but numbers without intervals.
        if self.n >= LEAST_SAMPLES:
            yield from self._curve()
            yield from self._levels()
        yield from self._gate()
        yield from self._largest()
        yield from self._notes()

    def _notes(self) -> Iterator[Part]:
        yield from (Wrapped(f"note: {note}", indent=2) for note in self.notes)

    def _about(self) -> Iterator[Part]:
        left_out = [
            f"{number} {why}"
            for number, why in ((self.unscored, "unscored"), (self.unrated, "without a rating"))
            if number
        ]
        said = f"; left out: {', '.join(left_out)}" if left_out else ""
        low, high = self.human_scale
        scale = "" if self.human_scale == (0.0, 1.0) else f", {low:g} to {high:g} as 0 to 1"
        groups = "" if self.clusters is None else f"; in {counted(self.clusters, 'group')}"
        yield Wrapped(f"error: {self.what}, less {self.human!r}{scale}{said}{groups}", 2)

    def _factors(self) -> Iterator[Part]:
        rows = [
            (
                factor.name,
                str(factor.n),
                *(cell for kind in (factor.error, factor.size) for cell in _dependence(kind)),
            )
            for factor in self.factors
            if not factor.reason
        ]
        if rows:
            yield ""
            yield Wrapped(
                f"does the error, or its size, depend on it? rho: Spearman, {self.how.level:.0%} "
                f"interval; p: corrected by Holm for {counted(self.n_tests, 'test')}"
            )
            header = ("", "n", "rho with\nthe error", "p", "rho with\nits size", "p")
            yield Table(header, rows, "lr")
            yield from missing_intervals(
                (factor.name, kind.rho)
                for factor in self.factors
                for kind in (factor.error, factor.size)
                if not factor.reason and kind.rho is not None
            )
        for reason in dict.fromkeys(each.reason for each in self.factors if each.reason):
            names = ", ".join(each.name for each in self.factors if each.reason == reason)
            yield Wrapped(f"no test of {names}: {reason}", indent=2)

    def _curve(self) -> Iterator[Part]:
        yield f"\nhuman ratings by score, {self.how.level:.0%} intervals"
        rows = [
            (
                _span(each),
                str(each.human.n),
                figure(each.score),
                _shown(each.human),
                figure(each.score - each.human.value, signed=True),
            )
            for each in self.curve
        ]
        yield Table(("scores", "n", "mean\nscore", "mean\nrating", "error"), rows, "lr")

    def _levels(self) -> Iterator[Part]:
        yield ""
        yield Wrapped(
            "what a verdict level is worth in human ratings. worth: regressed on the shares of the "
            f"levels, intervals that hold together at {self.how.level:.0%}; falling: the same with "
            "weights that fall within 0 to 1; alone: mean rating of samples with three quarters of "
            "their claims at the level"
        )
        rows = [
            (
                each.name,
                str(each.n),
                f"{each.weight:g}",
                f"{_shown(each.worth)}{' *' if each.differs else ''}"
                if not each.worth.reason
                else "-",
                figure(each.falling, 2),
                str(each.dominated.n),
                _shown(each.dominated) if each.dominated.n else "-",
            )
            for each in self.levels
        ]
        header = ("level", "n", "weight", "worth", "falling", "n", "alone")
        yield Table(header, rows, "lr")
        if any(each.differs for each in self.levels):
            yield "  * the weight in use lies outside the interval"
        for reason in dict.fromkeys(each.worth.reason for each in self.levels):
            if reason:
                names = ", ".join(each.name for each in self.levels if each.worth.reason == reason)
                yield Wrapped(f"no worth of {names}: {reason}", indent=2)

    def _gate(self) -> Iterator[Part]:
        gate, counts = self.gate, self.gate.counts
        yield ""
        yield Wrapped(
            f"decisions: a score passes from {gate.threshold:g} on, a rating from "
            f"{gate.human_threshold:g} on; {self.how.level:.0%} "
            f"{'exact intervals' if self.clusters is None else 'intervals by group'}"
        )
        rows = [
            (
                word,
                str(n),
                _percent(precision),
                str(precision.n),
                _percent(recall),
                str(recall.n),
            )
            for word, n, precision, recall in (
                ("pass", counts.both, gate.pass_precision, gate.pass_recall),
                ("fail", counts.neither, gate.fail_precision, gate.fail_recall),
            )
        ]
        if counts.n >= LEAST_SAMPLES:  # of fewer, percentages in a table say more than is known
            yield Table(("", "both", "precision", "of", "recall", "of"), rows, "lr")
        yield Wrapped(
            f"same decision {_percent(gate.agreement)} of {counts.n}; base rate of passes "
            f"{_percent(gate.base_rate)}; kappa {figure(counts.kappa, 2)}",
            indent=2,
        )

    def _largest(self) -> Iterator[Part]:
        if not self.largest:
            return
        yield f"\nthe {counted(len(self.largest), 'largest error')}"
        rows = [
            (
                clipped(each.sample, _NAME),
                figure(each.score),
                figure(each.human),
                figure(each.error, signed=True),
            )
            for each in self.largest
        ]
        yield Table(("sample", "score", "rating", "error"), rows, "lr")

    def _claims(self) -> Iterator[Part]:
        for each in self.largest:
            if each.claims:
                yield f"\n{clipped(each.sample, _NAME)}: error {figure(each.error, signed=True)}"
                cells = [
                    (c.verdict.value if c.verdict else "-", c.claim, c.reason) for c in each.claims
                ]
                yield Table(("verdict", "claim", "why"), cells, "lp")


def _parts_of(factor: Factor) -> Iterator[Part]:
    yield f"\nby {factor.name}"
    rows = [
        (each.part, str(each.error.n), _shown(each.error, signed=True), _shown(each.size))
        for each in factor.parts
    ]
    yield Table((factor.name, "n", "mean error", "mean size"), rows, "lr")


def _dependence(found: Dependence) -> tuple[str, str]:
    return "-" if found.rho is None else _shown(found.rho, signed=True), figure(found.p_holm, 4)


def _shown(found: Interval, *, signed: bool = False) -> str:
    """A value with its ends; the value alone where there are none."""
    if math.isnan(found.value):
        return "-"
    value = short(found.value, 3)
    return f"{'+' if signed and found.value > 0 else ''}{value}{_ends(found)}"


def _ends(found: Interval, *, signed: bool = False) -> str:
    if math.isnan(found.low):
        return ""
    low, high = (short(end, 2) for end in (found.low, found.high))
    return f" [{'+' if signed and found.low > 0 else ''}{low},{'+' if signed and found.high > 0 else ''}{high}]"


def _percent(found: Interval) -> str:
    ends = (
        ""
        if math.isnan(found.low)
        else f" [{share(found.low)},{share(found.high)}]".replace("%", "")
    )
    return f"{share(found.value)}{ends}"


def _span(found: ScoreBin) -> str:
    low, high = figure(found.low), figure(found.high)
    return low if low == high else f"{low} to {high}"


def _or_one(p: float) -> float:
    return 1.0 if math.isnan(p) else p
