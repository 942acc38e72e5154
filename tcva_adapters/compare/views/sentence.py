"""What a comparison found, in one sentence: agreement with human ratings, or else decisions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tcva_adapters.compare.views.decisions import AtTemperature, DecisionView
from tcva_adapters.compare.views.describe import MethodSummary
from tcva_adapters.compare.views.human_ratings import LEADING, HumanRatings
from tcva_adapters.compare.views.summary import TableSummary
from tcva_adapters.printing import counted, figure, share, short

_ALPHA: Final = 0.05


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
    ratings = summary.human_ratings
    said = None if ratings is None else _best(ratings)
    if said is None:
        said = _decided(own, decisions, lead)
    lacking = own.samples - own.scored
    reservations = [
        *([f"{lacking} of {own.samples} have no TCVA score"] if lacking and own.scored else []),
        *(["the lexical judge only compares words"] if lexical else []),
    ]
    return said + (f" ({'; '.join(reservations)})" if reservations else "")


def _best(found: HumanRatings) -> str | None:
    """The method that agrees best with human ratings, and whether its lead can be told."""
    agreed = [a for a in found.agreements if a.measure == LEADING and not math.isnan(a.own.value)]
    if not agreed:
        return None
    # The one that the tests are about where it was picked as the best, for its common samples.
    picked = found.reference if found.chosen else ""
    ranked = sorted(agreed, key=lambda a: (a.method != picked, -a.own.value))
    best = ranked[0]
    own = best.own
    said = (
        f"{best.method} agrees best with human ratings: rho {figure(own.value, 2)} "
        f"({short(own.low, 2)} to {short(own.high, 2)}) on {counted(own.n, 'sample')}"
    )
    if len(ranked) == 1:
        return said.replace(" agrees best", " agrees")
    is_reference = best.method == found.reference
    other = ranked[1].method if is_reference else found.reference
    named = {best.method, other}
    p = next(
        (
            test.p_holm
            for test in found.tests
            if {test.method, test.reference} == named and test.result.measure == LEADING
        ),
        math.nan,
    )
    if math.isnan(p):
        return said
    can = "can" if p < _ALPHA else "cannot"
    value = next(a.own.value for a in ranked if a.method == other)
    return f"{said}; its lead over {other} ({figure(value, 2)}) {can} be told from chance"


def _decided(own: MethodSummary, decisions: DecisionView, lead: str) -> str:
    """How TCVA decides, against the methods that decide most and least like it."""
    temperature = float(lead.partition("=")[2])
    against = [
        (method.method, at)
        for method in decisions.methods
        for at in method.at
        if at.temperature == temperature and at.counts.n
    ]
    if not own.scored:
        return f"TCVA has no score on any of {counted(own.samples, 'sample')}"
    title = f"TCVA at T={temperature:g}"
    if not against:
        return f"{title} passes {share(own.pass_rate)} of {counted(own.scored, 'scored sample')}"
    against.sort(key=lambda pair: -pair[1].counts.agreement)
    if len(against) == 1:
        return _with_one(title, *against[0])
    return _with_many(title, own, against)


def _with_one(title: str, method: str, at: AtTemperature) -> str:
    counts = at.counts
    said = f"{title} and {method} decide {_alike(at)} samples alike"
    if counts.only_first or counts.only_second:
        stricter = counts.only_second
        said += f"; TCVA is the stricter one on {stricter}, the milder one on {counts.only_first}"
    return said


def _with_many(title: str, own: MethodSummary, against: Sequence[tuple[str, AtTemperature]]) -> str:
    (closest, most), (farthest, least) = against[0], against[-1]
    return (
        f"{title} passes {share(own.pass_rate)} of {counted(own.scored, 'scored sample')}; of "
        f"{len(against)} methods, {closest} decides most like it ({_alike(most)} alike) and "
        f"{farthest} least ({_alike(least)})"
    )


def _alike(at: AtTemperature) -> str:
    return f"{at.counts.both + at.counts.neither} of {at.counts.n}"
