"""A summary in the order of a reader: methods, human ratings, pairs, the samples that differ most."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from tcva_adapters.compare.views.as_good import as_good, shown_and_not
from tcva_adapters.compare.views.describe import Difference, MethodSummary, PairSummary
from tcva_adapters.compare.views.human_ratings import HumanRatings
from tcva_adapters.compare.views.interval_text import interval_cell, missing_intervals, too_few
from tcva_adapters.compare.views.summary import TableSummary
from tcva_adapters.printing import (
    Part,
    Table,
    Wrapped,
    counted,
    figure,
    share,
    short,
    shortened,
)
from tcva_adapters.stats.correlation import MEASURES, Measure, higher_is_better

NAMES: Final[dict[Measure, str]] = {
    "spearman": "Spearman",
    "kendall": "Kendall",
    "pearson": "Pearson",
    "mae": "mean absolute error",
}
_BARS: Final = " ▁▂▃▄▅▆▇█"
_REASONS: Final = 3
_NAMED: Final = 2
_DETAIL: Final = 72
_SPARE: Final = ("sd", "median", "common", "0 to 1", "at 1", "at 0", "tied", "rho", "same")
"""Columns that a narrow console does without, the first to go first."""


def brief_parts(summary: TableSummary, lead: str) -> Iterator[Part]:
    """The methods in one table that fits the console, and why scores are missing.

    Args:
        summary: What to print.
        lead: The method that the others are set beside.
    """
    yield _methods(summary, lead, is_brief=True)
    yield _legend(summary, lead)
    yield from _unscored(summary.methods)
    if summary.human_ratings is not None:
        yield from as_good(summary.human_ratings)


def notes_parts(summary: TableSummary) -> Iterator[Part]:
    """What a reader must know beside the figures."""
    yield from (Wrapped(f"note: {note}", indent=2) for note in summary.notes)


def summary_parts(summary: TableSummary, *, lead: str | None = None) -> Iterator[Part]:
    """Everything that is printed of a summary.

    Args:
        summary: What to print.
        lead: A method that the others are set beside, and whose pairs come first.
    """
    methods = counted(len(summary.methods), "method")
    samples = counted(summary.samples, "sample")
    yield f"{methods} on {samples}; {summary.common} scored by all"
    yield _methods(summary, lead)
    if lead is not None or summary.human_ratings is not None:
        yield _legend(summary, lead)
    yield from _unscored(summary.methods)
    if summary.human_ratings is not None:
        yield from _human_ratings(summary, summary.human_ratings)
    if summary.pairs:
        yield from _pairs(summary, lead)
    if summary.differences:
        yield from _differences(summary.differences)
    if summary.notes:
        yield ""
    yield from notes_parts(summary)


def _table(header: str, rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Columns with words between two blanks; the first ones hold names, the others figures."""
    return Table(header.split("  "), rows, "l" * left + "r")


def _methods(summary: TableSummary, lead: str | None, *, is_brief: bool = False) -> Table:
    """One row per method: alone, beside the lead, and against human ratings."""
    columns: dict[str, list[str]] = {
        "method": [m.method for m in summary.methods],
        "n": [str(m.scored) for m in summary.methods],
        "mean": [figure(m.mean) for m in summary.methods],
        "common": [figure(m.mean_common) for m in summary.methods],
        "sd": [figure(m.sd) for m in summary.methods],
        "median": [figure(m.median) for m in summary.methods],
        "at 0": [share(m.at_zero) for m in summary.methods],
        "at 1": [share(m.at_one) for m in summary.methods],
        "tied": [share(m.tied) for m in summary.methods],
        "pass": [share(m.pass_rate) for m in summary.methods],
    }
    if lead is not None and summary.human_ratings is None:
        beside = _beside(summary.pairs, lead)
        pairs = [beside.get(m.method) for m in summary.methods]
        columns["same"] = [share(p.decisions.agreement) if p else "-" for p in pairs]
        columns["rho"] = [figure(p.spearman, 2) if p else "-" for p in pairs]
    if summary.human_ratings is not None:
        columns |= _human_columns(summary, summary.human_ratings)
    columns["0 to 1"] = [bars(m.histogram) for m in summary.methods]
    names = list(columns)
    spare = [names.index(name) for name in _SPARE if name in columns] if is_brief else ()
    return Table(names, list(zip(*columns.values(), strict=True)), "lr", spare=spare)


def _beside(pairs: Sequence[PairSummary], lead: str) -> dict[str, PairSummary]:
    """The pairs of one method by the name of the other."""
    return {
        pair.second if pair.first == lead else pair.first: pair
        for pair in pairs
        if lead in (pair.first, pair.second)
    }


def _human_columns(summary: TableSummary, found: HumanRatings) -> dict[str, list[str]]:
    agreed = {
        a.method: interval_cell(a.own.value, a.own)
        for a in found.agreements
        if a.measure == found.objective
    }
    ps = {t.method: figure(t.p_holm, 4) for t in found.tests if t.result.measure == found.objective}
    names = [m.method for m in summary.methods]
    columns = {"human": [agreed.get(name, "-") for name in names]}
    if not found.is_few:
        columns["p"] = [ps.get(name, "-") for name in names]
    return columns


def _legend(summary: TableSummary, lead: str | None) -> Part:
    found = summary.human_ratings
    if found is None:
        return f"same, rho: equal decisions and rank correlation with {lead}"
    if found.is_few:
        measure = NAMES[found.objective]
        return Wrapped(f"human: {measure} with human ratings. {too_few(found.rated)}", 2)
    tests = f"; p: against {found.reference}, corrected by Holm" if found.tests else ""
    named = f"human: {NAMES[found.objective]} with human ratings"
    return Wrapped(f"{named}, {summary.level:.0%} interval{tests}", 2)


def bars(histogram: Sequence[int]) -> str:
    """Counts as a row of bars, the tallest for the largest; blank for none.

    >>> bars([0, 1, 4, 8])
    ' ▁▄█'
    """
    top = max(histogram, default=0) or 1
    last = len(_BARS) - 1
    return "".join(_BARS[math.ceil(count * last / top)] for count in histogram)


def _unscored(methods: Sequence[MethodSummary]) -> Iterator[Part]:
    """Each reason with the methods that share it, and what the first sample says of it."""
    by_reason: dict[str, list[MethodSummary]] = defaultdict(list)
    for m in methods:
        for reason in m.reasons:
            by_reason[reason].append(m)
    reasons = sorted(by_reason, key=lambda r: -sum(m.reasons[r] for m in by_reason[r]))
    said = []
    for reason in reasons[:_REASONS]:
        of = by_reason[reason]
        numbers = sorted({m.reasons[reason] for m in of})
        number = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
        by = ", ".join(m.method for m in of) if len(of) <= _NAMED else f"{len(of)} methods"
        detail = next((m.details[reason] for m in of if reason in m.details), "")
        why = f" ({shortened(detail, _DETAIL)})" if detail else ""
        said.append(f"{number} {reason}{why} by {by}")
    if len(reasons) > _REASONS:
        said.append(counted(len(reasons) - _REASONS, "other reason"))
    if said:
        yield Wrapped(f"unscored, all in scores.csv: {'; '.join(said)}", indent=2)


def _human_ratings(summary: TableSummary, found: HumanRatings) -> Iterator[Part]:
    measures = [m for m in MEASURES if any(a.measure == m for a in found.agreements)]
    by_cell = {(a.method, a.measure): a for a in found.agreements}
    rows = [
        [by_cell[m.method, measure] for measure in measures] if measures else []
        for m in summary.methods
    ]
    names = [m.method for m in summary.methods]
    yield ""
    if found.is_few:
        yield Wrapped(f"agreement with human ratings. {too_few(found.rated)}")
        yield from _few(found)
        return
    # Groups leave a single correlation without a p; the notes say why.
    grouped = any(a.own.clusters is not None for a in found.agreements)
    p = "" if grouped else f"; p: of {NAMES[found.objective]} alone, against no agreement"
    yield Wrapped(
        f"agreement with human ratings, {summary.level:.0%} intervals; n: samples that both have "
        f"scored{p}"
    )
    ps = {
        a.method: figure(a.p_two_sided, 4) for a in found.agreements if a.measure == found.objective
    }
    own = [
        (
            *(name, str(row[0].own.n) if row else "-"),
            *(interval_cell(a.own.value, a.own) for a in row),
            *(() if grouped else (ps.get(name, "-"),)),
        )
        for name, row in zip(names, rows, strict=True)
    ]
    header = ["method", "n", *measures, *([] if grouped else ["p"])]
    yield Table(header, own, "lr")
    yield from missing_intervals((f"{a.method} ({a.measure})", a.own) for a in found.agreements)
    if any(a.own.n != found.common for a in found.agreements):
        yield f"\nthe same on the {found.common} samples that every method has scored"
        common = [
            (name, *(interval_cell(a.common.value, a.common) for a in row))
            for name, row in zip(names, rows, strict=True)
        ]
        yield _table("  ".join(["method", *measures]), common)
    if found.tests:
        yield from _tests(found)


def _few(found: HumanRatings) -> Iterator[Part]:
    """Values alone, by the measure that was chosen before looking."""
    rows = [
        (a.method, str(a.own.n), short(a.own.value, 3), figure(a.p_two_sided, 4))
        for a in found.agreements
        if a.measure == found.objective
    ]
    yield _table(f"method  n  {found.objective}  p", rows)


def _tests(found: HumanRatings) -> Iterator[Part]:
    picked = " (the best here)" if found.chosen else ""
    yield ""
    by = next((t.result.test for t in found.tests if not math.isnan(t.p_holm)), "")
    tested = (
        f"p, by {found.objective} alone: {by}; p(Holm) allows for "
        f"{counted(found.n_tests, 'comparison')}"
        if by
        else f"none could be tested by {found.objective}"
    )
    yield Wrapped(f"differences from {found.reference}{picked}; {tested}")
    rows = []
    for test in found.tests:
        result = test.result
        ends = "-"
        if not math.isnan(result.low):
            ends = f"[{result.low:+.3f},{result.high:+.3f}]"
        rows.append(
            (
                test.method,
                _measure_name(result.measure),
                str(result.n),
                figure(result.delta, signed=True),
                ends,
                figure(result.p_two_sided, 4) if result.measure == found.objective else "",
                figure(test.p_holm, 4) if result.measure == found.objective else "",
            )
        )
    yield _table("method  measure  n  difference  interval  p  p(Holm)", rows, left=2)
    yield from shown_and_not(found)
    yield from missing_intervals(
        (f"{t.method} ({t.result.measure})", t.result) for t in found.tests
    )


def _measure_name(measure: Measure) -> str:
    return measure if higher_is_better(measure) else f"{measure} (low is good)"


def _pairs(summary: TableSummary, lead: str | None) -> Iterator[Part]:
    yield ""
    yield (
        "pairs of methods, on the samples that both have scored; rho, tau, r: Spearman, Kendall, "
        "Pearson; diff: of the means; same: equal decisions, pass: how many of "
        "either pass, kappa: beyond what that gives by chance"
    )
    firsts = [m.method for m in summary.methods]
    left = list(summary.pairs)
    for first in sorted(firsts, key=lambda name: name != lead):
        beside = _beside(left, first)
        if not beside:
            continue
        left = [pair for pair in left if first not in (pair.first, pair.second)]
        # Those that agree least are what a comparison is made for.
        ranked = sorted(
            beside.items(),
            key=lambda item: (
                math.isnan(item[1].spearman),
                item[1].spearman,
                item[1].decisions.agreement,
            ),
        )
        rows = [
            (
                other,
                str(pair.n),
                *map(figure, (pair.spearman, pair.kendall, pair.pearson)),
                figure(pair.mean_difference * (1 if pair.first == first else -1), signed=True),
                share(pair.decisions.agreement),
                _rates(pair, first),
                figure(pair.decisions.kappa, 2),
            )
            for other, pair in ranked
        ]
        yield _table(f"{first} and  n  rho  tau  r  diff  same  pass  kappa", rows)


def _rates(pair: PairSummary, first: str) -> str:
    """The pass rates of both, this one's first."""
    rates = pair.decisions.rates.split()
    return " ".join(rates if pair.first == first else rates[::-1])


def _differences(found: Sequence[Difference]) -> Iterator[Part]:
    yield ""
    yield "samples that two methods place most differently; place: share of samples below, ties half"
    rows = [
        (
            d.sample,
            d.higher,
            d.lower,
            f"{d.score_higher:.3g} {d.score_lower:.3g}",
            f"{d.place_higher:.2f} {d.place_lower:.2f}",
            figure(d.difference, 2),
        )
        for d in found
    ]
    yield _table("sample  higher  lower  scores  places  difference", rows, left=3)
