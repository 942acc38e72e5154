"""Comparisons on a console of 100 columns, the most important first, and everything as JSON has it.

For the runner: ``print_comparison(console, comparison)``, ``print_decisions(console, view)``, and
``report_dict(comparison, view, brought)`` for ``--json`` and for a file.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from tcva_adapters.compare.existing.bring import Brought
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.views.decisions import DecisionView, SampleDecision
from tcva_adapters.compare.views.describe import MethodSummary
from tcva_adapters.compare.views.people import People
from tcva_adapters.compare.views.spans import Best, Span, Spans
from tcva_adapters.compare.views.summary import Comparison
from tcva_adapters.stats.bootstrap import Interval
from tcva_adapters.stats.correlation import MEASURES, Measure, higher_is_better

_BARS: Final = " ▁▂▃▄▅▆▇█"
_REASONS: Final = 3
_ABREAST: Final = 4
"""Methods whose decisions fit side by side."""
_LISTED: Final = 5
"""Samples shown where there are more methods than that."""
_SAMPLE_WIDTH: Final = 15
_DECISION_WIDTH: Final = 17


def report_dict(
    comparison: Comparison,
    decisions: DecisionView | None = None,
    brought: Sequence[Brought] = (),
) -> dict[str, Any]:
    """Everything for ``json.dumps``: figures that are undefined are None, never nan.

    The keys of ``comparison`` stand at the top; ``decisions`` is None without a decision view, and
    ``brought`` has one entry per file, without its rows.
    """
    files = []
    for file in brought:
        entry = jsonable(file)
        del entry["rows"]
        entry["matched"] = len({row.sample for row in file.rows})
        files.append(entry)
    view = None if decisions is None else decisions.to_dict()
    return {**comparison.to_dict(), "decisions": view, "brought": files}


def print_comparison(
    console: Console, comparison: Comparison, *, pairs: int = 15, lead: str | None = None
) -> None:
    """Methods, people, pairs, and the samples that methods place most differently.

    Args:
        console: Where to, with ``markup=False``, since names may hold square brackets; 100 columns
            are enough for names of up to 24 characters.
        comparison: What to print.
        pairs: At most so many pairs of methods; the rest is counted and is in the JSON.
        lead: A method whose pairs come first.
    """
    console.print(
        f"{len(comparison.methods)} methods on {comparison.samples} samples; "
        f"{comparison.common} scored by all",
        markup=False,
    )
    console.print(_method_table(comparison.methods))
    for line in _reason_lines(comparison.methods):
        console.print(line, markup=False)
    if comparison.people is not None:
        _print_people(console, comparison, comparison.people)
    _print_pairs(console, comparison, pairs, lead)
    _print_differences(console, comparison)
    if comparison.notes:
        console.print()
    for note in comparison.notes:
        console.print(f"note: {note}", markup=False)


def _plain_table(*columns: str, left: int = 1) -> Table:
    """The first columns to the left, the others, which hold figures, to the right."""
    table = Table(box=None, pad_edge=False)
    for number, column in enumerate(columns):
        if number < left:
            table.add_column(column, overflow="fold", max_width=30)
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table


def _number(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"


def _method_table(methods: Sequence[MethodSummary]) -> Table:
    table = _plain_table(
        "method",
        "scored",
        "mean",
        "common",
        "sd",
        "median",
        "at 0",
        "at 1",
        "tied",
        "passes",
        "0 to 1",
    )
    for m in methods:
        table.add_row(
            m.method,
            f"{m.scored}/{m.samples}",
            _number(m.mean),
            _number(m.mean_common),
            _number(m.sd),
            _number(m.median),
            _share(m.at_zero),
            _share(m.at_one),
            _share(m.tied),
            _share(m.pass_rate),
            bars(m.histogram),
        )
    return table


def bars(histogram: Sequence[int]) -> str:
    """Counts as a row of bars, the tallest for the largest; blank for none.

    >>> bars([0, 1, 4, 8])
    ' ▁▄█'
    """
    top = max(histogram, default=0) or 1
    last = len(_BARS) - 1
    return "".join(_BARS[math.ceil(count * last / top)] for count in histogram)


def _reason_lines(methods: Sequence[MethodSummary]) -> list[str]:
    lines = []
    for m in methods:
        if m.reasons:
            shown = [f"{count} {reason}" for reason, count in list(m.reasons.items())[:_REASONS]]
            rest = len(m.reasons) - _REASONS
            more = f", {rest} other reasons" if rest > 0 else ""
            lines.append(f"unscored by {m.method}: {', '.join(shown)}{more}")
    return lines


def _print_people(console: Console, comparison: Comparison, people: People) -> None:
    measures = [m for m in MEASURES if any(a.measure == m for a in people.agreements)]
    found = {(a.method, a.measure): a for a in people.agreements}
    names = [m.method for m in comparison.methods]
    console.print(
        f"\nagreement with people, {comparison.level:.0%} bootstrap intervals "
        f"(B={comparison.n_boot}); n: samples that both have scored",
        markup=False,
    )
    table = _plain_table("method", "n", *measures)
    for name in names:
        own = [found[name, measure].own for measure in measures]
        table.add_row(name, str(own[0].n) if own else "-", *map(_interval, own))
    console.print(table)
    if any(a.own.n != people.common for a in people.agreements):
        console.print(f"\nthe same on the {people.common} samples that every method has scored")
        table = _plain_table("method", *measures)
        for name in names:
            table.add_row(name, *(_interval(found[name, measure].common) for measure in measures))
        console.print(table)
    if people.tests:
        _print_tests(console, people)


def _interval(found: Interval) -> str:
    if math.isnan(found.value):
        return "-"
    if math.isnan(found.low):
        return _short(found.value, 3)
    return f"{_short(found.value, 3)} [{_short(found.low, 2)},{_short(found.high, 2)}]"


def _short(value: float, digits: int) -> str:
    """Without the 0 before the point: four measures with their intervals fit a line."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and "0." in text[:3] else text


def _print_tests(console: Console, people: People) -> None:
    picked = " (the best here)" if people.chosen else ""
    console.print(
        f"\npaired bootstrap against {people.reference}{picked}; p(Holm) allows for all "
        f"{people.n_tests} tests",
        markup=False,
    )
    table = _plain_table("method", "measure", "n", "difference", "interval", "p", "p(Holm)", left=2)
    for test in people.tests:
        result = test.result
        ends = "-"
        if not math.isnan(result.low):
            ends = f"[{result.low:+.3f},{result.high:+.3f}]"
        table.add_row(
            test.method,
            _measure_name(result.measure),
            str(result.n),
            _number(result.delta, signed=True),
            ends,
            _number(result.p_two_sided, 4),
            _number(test.p_holm, 4),
        )
    console.print(table)


def _measure_name(measure: Measure) -> str:
    return measure if higher_is_better(measure) else f"{measure} (low is good)"


def _print_pairs(console: Console, comparison: Comparison, most: int, lead: str | None) -> None:
    if not comparison.pairs:
        return
    console.print(
        "\npairs of methods, on the samples that both have scored; rho, tau, r: Spearman, Kendall, "
        "Pearson;\ndiff: of the means; same: equal decisions, kappa: beyond chance"
    )
    table = _plain_table(
        "first",
        "second",
        "n",
        "rho",
        "tau",
        "r",
        "diff",
        "same",
        "kappa",
        left=2,
    )
    # Those that agree least are what a comparison is made for.
    ranked = sorted(
        comparison.pairs,
        key=lambda p: (
            lead is not None and lead not in (p.first, p.second),
            math.isnan(p.spearman),
            p.spearman,
            p.decisions.agreement,
        ),
    )
    for pair in ranked[:most]:
        table.add_row(
            pair.first,
            pair.second,
            str(pair.n),
            _number(pair.spearman),
            _number(pair.kendall),
            _number(pair.pearson),
            _number(pair.mean_difference, signed=True),
            _share(pair.decisions.agreement),
            _number(pair.decisions.kappa, 2),
        )
    console.print(table)
    if len(ranked) > most:
        console.print(f"... and {len(ranked) - most} more pairs; all are in the JSON")


def _print_differences(console: Console, comparison: Comparison) -> None:
    if not comparison.differences:
        return
    console.print(
        "\nsamples that two methods place most differently; place: share of samples below, ties half"
    )
    table = _plain_table("sample", "higher", "lower", "scores", "places", "difference", left=3)
    for d in comparison.differences:
        table.add_row(
            d.sample,
            d.higher,
            d.lower,
            f"{d.score_higher:.3g} {d.score_lower:.3g}",
            f"{d.place_higher:.2f} {d.place_lower:.2f}",
            _number(d.difference, 2),
        )
    console.print(table)


def print_decisions(console: Console, view: DecisionView, *, samples: int = 20) -> None:
    """Who passes where, the temperatures that agree most, and the samples that differ.

    Args:
        console: Where to.
        view: What to print.
        samples: At most so many samples; the rest is counted and is in the JSON.
    """
    if not view.methods:
        return
    console.print(
        f"\ndecisions of TCVA (threshold {view.threshold:g}) against each method's own",
        markup=False,
    )
    table = _plain_table(
        "method", "threshold", "T", "n", "both", "only TCVA", "only it", "neither", "same", "kappa"
    )
    for method in view.methods:
        for at in method.at:
            counts = at.counts
            table.add_row(
                method.method,
                f"{method.threshold:g}",
                f"{at.temperature:g}",
                str(counts.n),
                *map(str, (counts.both, counts.only_first, counts.only_second, counts.neither)),
                _share(counts.agreement),
                _number(counts.kappa, 2),
            )
    console.print(table)
    _print_best(console, view)
    _print_samples(console, view, samples)


def _print_best(console: Console, view: DecisionView) -> None:
    console.print(
        "\nwhere most decisions are the same (found on these samples: others may say otherwise)"
    )
    table = _plain_table("method", "same", "T", "e.g.", "at no T")
    for method in view.methods:
        if method.best is None:
            table.add_row(method.method, "0/0", "-", "-", "-")
            continue
        never = sum(not sample.agrees for sample in method.samples)
        table.add_row(method.method, *_best_cells(method.best, view.lowest), str(never))
    if view.best is not None and len(view.methods) > 1:
        table.add_row("all together", *_best_cells(view.best, view.lowest))
    console.print(table)


def _best_cells(best: Best, lowest: float) -> tuple[str, str, str]:
    return f"{best.most}/{best.of}", spans_text(best.spans, lowest), f"{best.temperature:.2f}"


def spans_text(spans: Spans, lowest: float) -> str:
    """Ranges of T as a reader takes them in; they are exact in the JSON.

    >>> spans_text((Span(0.1, 0.25), Span(0.3, 0.4), Span(0.62)), lowest=0.1)
    'T<.250, .300 to .400, T>=.620'
    """
    parts = []
    for span in spans[:_REASONS]:
        if span.end is None:
            parts.append("any T" if span.start == lowest else f"T>={_short(span.start, 3)}")
        elif span.start == lowest:
            parts.append(f"T<{_short(span.end, 3)}")
        else:
            parts.append(f"{_short(span.start, 3)} to {_short(span.end, 3)}")
    return ", ".join(parts) + (", ..." if len(spans) > _REASONS else "") or "no T"


def _print_samples(console: Console, view: DecisionView, most: int) -> None:
    """The samples that any method decides otherwise than ours at any of the temperatures."""
    otherwise = Counter(
        sample for m in view.methods for at in m.at for sample in (*at.only_ours, *at.only_theirs)
    )
    if not otherwise:
        return
    shown = ", ".join(f"{t:g}" for t in view.temperatures)
    console.print(
        f"\n{len(otherwise)} samples that a method and TCVA at T={shown} decide differently, most "
        "differences first:",
        markup=False,
    )
    most = most if len(view.methods) <= _ABREAST else min(most, _LISTED)
    samples = [sample for sample, _ in otherwise.most_common(most)]
    found = {(m.method, d.sample): d for m in view.methods for d in m.samples}
    if len(view.methods) <= _ABREAST:
        _print_side_by_side(console, view, samples, found)
    else:
        _print_lists(console, view, samples, found)
    if len(otherwise) > most:
        console.print(f"... and {len(otherwise) - most} more; all are in the JSON")


_Found = Mapping[tuple[str, str], SampleDecision]


def _print_side_by_side(
    console: Console, view: DecisionView, samples: Sequence[str], found: _Found
) -> None:
    console.print("what the method says, and the T at which TCVA says the same")
    table = Table(box=None, pad_edge=False)
    table.add_column("sample", overflow="fold", max_width=_SAMPLE_WIDTH)
    table.add_column("passes")
    for m in view.methods:
        table.add_column(m.method, overflow="fold", max_width=_DECISION_WIDTH)
    for sample in samples:
        decisions = [found.get((m.method, sample)) for m in view.methods]
        cells = [_decision(d, view.lowest) for d in decisions]
        table.add_row(sample, _passes(decisions, view.lowest), *cells)
    console.print(table)


def _print_lists(
    console: Console, view: DecisionView, samples: Sequence[str], found: _Found
) -> None:
    """The methods that pass a sample and those that do not, by name: too many for columns."""
    for sample in samples:
        said = {m.method: found.get((m.method, sample)) for m in view.methods}
        console.print(
            f"{sample}: TCVA passes it at {_passes(list(said.values()), view.lowest)}", markup=False
        )
        for word, passes in (("pass", True), ("fail", False)):
            names = [name for name, d in said.items() if d is not None and d.passes is passes]
            line = f"  {word}: {', '.join(names) or 'nobody'}"
            console.print(
                textwrap.fill(line, console.width, subsequent_indent=" " * 8), markup=False
            )


def _passes(decisions: Sequence[SampleDecision | None], lowest: float) -> str:
    flip = next((d.flip for d in decisions if d is not None), None)
    return "no T" if flip is None else spans_text((Span(flip),), lowest)


def _decision(said: SampleDecision | None, lowest: float) -> str:
    if said is None:
        return "-"
    word = "pass" if said.passes else "fail"
    return f"{word} {_short(said.score, 2)} {spans_text(said.agrees, lowest)}"
