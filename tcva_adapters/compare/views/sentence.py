"""What a comparison found, in one sentence: agreement with human ratings, or else decisions."""

from __future__ import annotations

import math
from typing import Final

from tcva_adapters.compare.views.decisions import AtTemperature, DecisionView
from tcva_adapters.compare.views.describe import MethodSummary
from tcva_adapters.compare.views.human_ratings import HumanRatings
from tcva_adapters.compare.views.summary import TableSummary
from tcva_adapters.printing import counted, figure, share
from tcva_adapters.stats.correlation import Measure, higher_is_better
from tcva_adapters.stats.enough import LEAST_SAMPLES

_ALPHA: Final = 0.05
_SYMBOLS: Final[dict[Measure, str]] = {
    "spearman": "rho",
    "kendall": "tau",
    "pearson": "r",
    "mae": "MAE",
}


def comparison_sentence(
    summary: TableSummary, decisions: DecisionView, lead: str, *, lexical: bool
) -> str:
    """One sentence without a full stop.

    Args:
        summary: Of all methods.
        decisions: Of TCVA at the lead's temperature against every other method's.
        lead: TCVA at the temperature that is told about, a method of the summary.
        lexical: Whether a lexical judge judged, which the sentence then says.
    """
    own = next(m for m in summary.methods if m.method == lead)
    doubts = []
    if own.samples > own.scored > 0:
        lacking = own.samples - own.scored
        have = "has" if lacking == 1 else "have"
        doubts.append(f"{lacking} of {own.samples} {have} no TCVA score")
    if lexical:
        doubts.append("the lexical judge only compares words")
    doubt = f" ({'; '.join(doubts)})" if doubts else ""
    ratings = summary.human_ratings
    said = None if ratings is None else _best(ratings)
    return f"{said}{doubt}" if said else _decided(own, decisions, lead, doubt)


def _best(found: HumanRatings) -> str | None:
    """The method that agrees best with human ratings, and whether its lead can be told.

    Below a correlation of 0 none agrees, and a lead among those is nothing to tell. None for too few
    ratings to tell anything.
    """
    agreed = [a for a in found.agreements if a.measure == found.objective]
    # Methods are comparable on common samples, where there are enough of these.
    values = {a.method: a.common for a in agreed if not math.isnan(a.common.value)} or {
        a.method: a.own for a in agreed if not math.isnan(a.own.value)
    }
    if not values or max(each.n for each in values.values()) < LEAST_SAMPLES:
        return None
    rising = higher_is_better(found.objective)
    ranked = sorted(values, key=lambda method: values[method].value, reverse=rising)
    best, first = ranked[0], values[ranked[0]]
    ends = f" ({figure(first.low, 2)} to {figure(first.high, 2)})" if not first.reason else ""
    rho = f"{_SYMBOLS[found.objective]} {figure(first.value, 2)}{ends} on {counted(first.n, 'sample')}"
    if first.reason:
        rho += f", without an interval ({first.reason})"
    if rising and first.value <= 0.0:
        if len(ranked) == 1:
            return f"{best} does not agree with human ratings: {rho}"
        return f"no method agrees with human ratings; the highest is {best}: {rho}"
    said = f"{best} agrees{' best' * (len(ranked) > 1)} with human ratings: {rho}"
    other = ranked[1] if best == found.reference and len(ranked) > 1 else found.reference
    test = next(
        (
            test
            for test in found.tests
            if {test.method, test.reference} == {best, other} and not math.isnan(test.p_holm)
        ),
        None,
    )
    if test is None or other not in values:
        return said
    lead = f"its lead over {other} ({figure(values[other].value, 2)})"
    if test.p_holm < _ALPHA:
        return f"{said}; {lead} can be told from chance"
    if math.isnan(test.smallest):
        least = f" ({test.result.reason})" if test.result.reason else ""
    else:
        digits = 2 if test.smallest >= 0.005 else 3  # never 0.00, which nothing is smaller than
        least = f" (one of {figure(test.smallest, digits)} mostly would)"
    return f"{said}; {lead} cannot be told from chance{least}"


def _decided(own: MethodSummary, decisions: DecisionView, lead: str, doubt: str) -> str:
    """How TCVA decides, against the methods that decide most and least like it."""
    if not own.scored:
        return f"TCVA has no score on any of {counted(own.samples, 'sample')}{doubt}"
    temperature = float(lead.partition("=")[2])
    against = [
        (method.method, at)
        for method in decisions.methods
        for at in method.at
        if at.temperature == temperature and at.counts.n
    ]
    title = f"TCVA at T={temperature:g}"
    if len(against) == 1:
        return f"{_with_one(title, *against[0])}{doubt}"
    passes = f"{title} passes {share(own.pass_rate)} of {counted(own.scored, 'sample')}{doubt}"
    if not against:
        return passes
    against.sort(key=lambda pair: -pair[1].counts.agreement)
    (closest, most), (farthest, least) = against[0], against[-1]
    if _alike(most) == _alike(least):
        return f"{passes}; each of {len(against)} methods decides {_alike(most)} like it"
    return (
        f"{passes}; of {len(against)} methods {closest} decides most like it ({_alike(most)}), "
        f"{farthest} least ({_alike(least)})"
    )


def _with_one(title: str, method: str, at: AtTemperature) -> str:
    counts = at.counts
    said = f"{title} and {method} decide {_alike(at)} samples alike"
    if counts.only_first or counts.only_second:
        said += (
            f"; TCVA is the stricter one on {counts.only_second}, the milder one on "
            f"{counts.only_first}"
        )
    return said


def _alike(at: AtTemperature) -> str:
    return f"{at.counts.both + at.counts.neither} of {at.counts.n}"
