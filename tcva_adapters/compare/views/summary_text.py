"""A summary in the order of a reader: methods, human ratings, pairs, the samples that differ most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from tcva_adapters.compare.views.describe import Difference, MethodSummary, PairSummary
from tcva_adapters.compare.views.human_ratings import HumanRatings
from tcva_adapters.compare.views.summary import TableSummary
from tcva_adapters.printing import Part, Table, Wrapped, figure, share, short
from tcva_adapters.stats.bootstrap import Interval
from tcva_adapters.stats.correlation import MEASURES, Measure, higher_is_better

NAME_WIDTH: Final = 30
_BARS: Final = " ▁▂▃▄▅▆▇█"
_REASONS: Final = 3


def summary_parts(
    summary: TableSummary, *, pairs: int = 15, lead: str | None = None
) -> Iterator[Part]:
    """The printed form; 100 columns are enough for names of up to 24 characters.

    Args:
        summary: What to print.
        pairs: At most so many pairs of methods; the rest is counted and is in the JSON.
        lead: A method whose pairs come first.
    """
    yield Wrapped(
        f"{len(summary.methods)} methods on {summary.samples} samples; "
        f"{summary.common} scored by all"
    )
    yield _methods(summary.methods)
    yield from map(Wrapped, _reasons(summary.methods))
    if summary.human_ratings is not None:
        yield from _human_ratings(summary, summary.human_ratings)
    if summary.pairs:
        yield from _pairs(summary.pairs, pairs, lead)
    if summary.differences:
        yield from _differences(summary.differences)
    if summary.notes:
        yield ""
    yield from (Wrapped(f"note: {note}") for note in summary.notes)


def _table(header: str, rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Columns with words between two blanks; the first ones hold names, the others figures."""
    return Table(header.split("  "), rows, "l" * left + "r", (NAME_WIDTH,))


def _methods(methods: Sequence[MethodSummary]) -> Table:
    rows = [
        (
            m.method,
            f"{m.scored}/{m.samples}",
            *map(figure, (m.mean, m.mean_common, m.sd, m.median)),
            *map(share, (m.at_zero, m.at_one, m.tied, m.pass_rate)),
            bars(m.histogram),
        )
        for m in methods
    ]
    header = "method  scored  mean  common  sd  median  at 0  at 1  tied  passes  0 to 1"
    return _table(header, rows)


def bars(histogram: Sequence[int]) -> str:
    """Counts as a row of bars, the tallest for the largest; blank for none.

    >>> bars([0, 1, 4, 8])
    ' ▁▄█'
    """
    top = max(histogram, default=0) or 1
    last = len(_BARS) - 1
    return "".join(_BARS[math.ceil(count * last / top)] for count in histogram)


def _reasons(methods: Sequence[MethodSummary]) -> Iterator[str]:
    for m in methods:
        if m.reasons:
            shown = [f"{count} {reason}" for reason, count in list(m.reasons.items())[:_REASONS]]
            rest = len(m.reasons) - _REASONS
            more = f", {rest} other reasons" if rest > 0 else ""
            yield f"unscored by {m.method}: {', '.join(shown)}{more}"


def _human_ratings(summary: TableSummary, found: HumanRatings) -> Iterator[Part]:
    measures = [m for m in MEASURES if any(a.measure == m for a in found.agreements)]
    by_cell = {(a.method, a.measure): a for a in found.agreements}
    rows = [
        [by_cell[m.method, measure] for measure in measures] if measures else []
        for m in summary.methods
    ]
    names = [m.method for m in summary.methods]
    yield ""
    yield Wrapped(
        f"agreement with human ratings, {summary.level:.0%} bootstrap intervals "
        f"(B={summary.n_boot}); n: samples that both have scored"
    )
    own = [
        (name, str(row[0].own.n) if row else "-", *(_interval(a.own) for a in row))
        for name, row in zip(names, rows, strict=True)
    ]
    yield _table("  ".join(["method", "n", *measures]), own)
    if any(a.own.n != found.common for a in found.agreements):
        yield f"\nthe same on the {found.common} samples that every method has scored"
        common = [
            (name, *(_interval(a.common) for a in row))
            for name, row in zip(names, rows, strict=True)
        ]
        yield _table("  ".join(["method", *measures]), common)
    if found.tests:
        yield from _tests(found)


def _interval(found: Interval) -> str:
    if math.isnan(found.value):
        return "-"
    if math.isnan(found.low):
        return short(found.value, 3)
    return f"{short(found.value, 3)} [{short(found.low, 2)},{short(found.high, 2)}]"


def _tests(found: HumanRatings) -> Iterator[Part]:
    picked = " (the best here)" if found.chosen else ""
    yield ""
    yield Wrapped(
        f"paired bootstrap against {found.reference}{picked}; p(Holm) allows for all "
        f"{found.n_tests} tests"
    )
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
                figure(result.p_two_sided, 4),
                figure(test.p_holm, 4),
            )
        )
    yield _table("method  measure  n  difference  interval  p  p(Holm)", rows, left=2)


def _measure_name(measure: Measure) -> str:
    return measure if higher_is_better(measure) else f"{measure} (low is good)"


def _pairs(found: Sequence[PairSummary], most: int, lead: str | None) -> Iterator[Part]:
    yield (
        "\npairs of methods, on the samples that both have scored; rho, tau, r: Spearman, Kendall, "
        "Pearson;\ndiff: of the means; same: equal decisions, kappa: beyond chance"
    )
    # Those that agree least are what a comparison is made for.
    ranked = sorted(
        found,
        key=lambda p: (
            lead is not None and lead not in (p.first, p.second),
            math.isnan(p.spearman),
            p.spearman,
            p.decisions.agreement,
        ),
    )
    rows = [
        (
            pair.first,
            pair.second,
            str(pair.n),
            *map(figure, (pair.spearman, pair.kendall, pair.pearson)),
            figure(pair.mean_difference, signed=True),
            share(pair.decisions.agreement),
            figure(pair.decisions.kappa, 2),
        )
        for pair in ranked[:most]
    ]
    yield _table("first  second  n  rho  tau  r  diff  same  kappa", rows, left=2)
    if len(ranked) > most:
        yield f"... and {len(ranked) - most} more pairs; all are in the JSON"


def _differences(found: Sequence[Difference]) -> Iterator[Part]:
    yield (
        "\nsamples that two methods place most differently; place: share of samples below, ties half"
    )
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
