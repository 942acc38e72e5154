"""Decisions in the order of a reader: who passes where, the T that agrees most, the samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tcva_adapters.compare.views.decisions import DecisionView, SampleDecision
from tcva_adapters.compare.views.spans import Best, Span, Spans
from tcva_adapters.printing import Part, Table, Wrapped, counted, figure, share, short

_SPANS: Final = 3
_ABREAST: Final = 4
"""Methods whose decisions fit side by side."""
_LISTED: Final = 5
"""Samples shown where there are more methods than that."""
_NAMED: Final = 3
_SAMPLE_WIDTH: Final = 15
_DECISION_WIDTH: Final = 17

_Found = Mapping[tuple[str, str], SampleDecision]


def decision_parts(view: DecisionView, *, samples: int = 20) -> Iterator[Part]:
    """The printed form; nothing where there is no other method.

    Args:
        view: What to print.
        samples: At most so many samples; the rest is counted and is in the JSON.
    """
    if not view.methods:
        return
    yield f"\ndecisions of TCVA (threshold {view.threshold:g}) against each method's own"
    rows = [
        (
            method.method,
            f"{at.temperature:g}",
            f"{method.threshold:g}",
            *map(str, (at.counts.both, at.counts.only_first, at.counts.only_second)),
            str(at.counts.neither),
            share(at.counts.agreement),
            at.counts.rates,
            figure(at.counts.kappa, 2),
        )
        for method in view.methods
        for at in method.at
    ]
    header = ("method", "T", "pass\nfrom", "both\npass", "only\nTCVA", "only\nit", "both\nfail")
    yield Table((*header, "same", "TCVA, it\npass", "kappa"), rows, "lr", keys=2)
    yield "\nwhere most decisions are the same (found on these samples: others may say otherwise)"
    yield _best(view)
    yield from _samples(view, samples)


def _best(view: DecisionView) -> Table:
    def cells(best: Best) -> tuple[str, str, str]:
        spans = spans_text(best.spans, view.lowest)
        return f"{best.most}/{best.of}", spans, f"{best.temperature:.2f}"

    rows: list[tuple[str, ...]] = []
    for method in view.methods:
        if method.best is None:
            rows.append((method.method, "0/0", "-", "-", "-"))
            continue
        never = sum(not sample.agrees for sample in method.samples)
        rows.append((method.method, *cells(method.best), str(never)))
    if view.best is not None and len(view.methods) > 1:
        rows.append(("all together", *cells(view.best), ""))
    return Table(("method", "same", "T", "e.g.", "at no T"), rows, "lrprr")


def spans_text(spans: Spans, lowest: float) -> str:
    """Ranges of T as a reader takes them in; they are exact in the JSON.

    >>> spans_text((Span(0.1, 0.25), Span(0.3, 0.4), Span(0.62)), lowest=0.1)
    'T<.250, .300 to .400, T>=.620'
    """
    parts = []
    for span in spans[:_SPANS]:
        if span.end is None:
            parts.append("any T" if span.start == lowest else f"T>={short(span.start, 3)}")
        elif span.start == lowest:
            parts.append(f"T<{short(span.end, 3)}")
        else:
            parts.append(f"{short(span.start, 3)} to {short(span.end, 3)}")
    return ", ".join(parts) + (", ..." if len(spans) > _SPANS else "") or "no T"


def brief_decisions(view: DecisionView) -> Iterator[Part]:
    """How many samples any method decides otherwise than TCVA, and those with most such methods."""
    otherwise = _otherwise(view)
    if not otherwise:
        return
    most = ", ".join(sample for sample, _ in otherwise.most_common(_NAMED))
    named = f" ({most}, ...)" if len(otherwise) > _NAMED else f" ({most})"
    shown = ", ".join(f"{t:g}" for t in view.temperatures)
    number = counted(len(otherwise), "sample")
    yield Wrapped(f"{number} decided otherwise than by TCVA at T={shown}{named}", indent=2)


def _otherwise(view: DecisionView) -> Counter[str]:
    """By sample, how often a method decides otherwise than ours at one of the temperatures."""
    return Counter(
        sample for m in view.methods for at in m.at for sample in (*at.only_ours, *at.only_theirs)
    )


def _samples(view: DecisionView, most: int) -> Iterator[Part]:
    """The samples that any method decides otherwise than ours at any of the temperatures."""
    otherwise = _otherwise(view)
    if not otherwise:
        return
    shown = ", ".join(f"{t:g}" for t in view.temperatures)
    yield ""
    yield Wrapped(
        f"{len(otherwise)} samples that a method and TCVA at T={shown} decide differently, most "
        "differences first:"
    )
    abreast = len(view.methods) <= _ABREAST
    most = most if abreast else min(most, _LISTED)
    samples = [sample for sample, _ in otherwise.most_common(most)]
    found = {(m.method, d.sample): d for m in view.methods for d in m.samples}
    yield from (_side_by_side if abreast else _lists)(view, samples, found)
    if len(otherwise) > most:
        yield f"... and {len(otherwise) - most} more; all are in the JSON"


def _side_by_side(view: DecisionView, samples: Sequence[str], found: _Found) -> Iterator[Part]:
    yield "what the method says, and the T at which TCVA says the same"
    rows = []
    for sample in samples:
        decisions = [found.get((m.method, sample)) for m in view.methods]
        cells = [_decision(d, view.lowest) for d in decisions]
        rows.append((sample, _passes(decisions, view.lowest), *cells))
    header = ("sample", "passes", *(m.method for m in view.methods))
    yield Table(header, rows, "l", (_SAMPLE_WIDTH, 0, _DECISION_WIDTH))


def _lists(view: DecisionView, samples: Sequence[str], found: _Found) -> Iterator[Part]:
    """The methods that pass a sample and those that do not, by name: too many for columns."""
    for sample in samples:
        said = {m.method: found.get((m.method, sample)) for m in view.methods}
        yield Wrapped(f"{sample}: TCVA passes it at {_passes([*said.values()], view.lowest)}")
        for word, passes in (("pass", True), ("fail", False)):
            names = [name for name, d in said.items() if d is not None and d.passes is passes]
            yield Wrapped(f"  {word}: {', '.join(names) or 'nobody'}", indent=8)


def _passes(decisions: Sequence[SampleDecision | None], lowest: float) -> str:
    flip = next((d.flip for d in decisions if d is not None), None)
    return "no T" if flip is None else spans_text((Span(flip),), lowest)


def _decision(said: SampleDecision | None, lowest: float) -> str:
    if said is None:
        return "-"
    word = "pass" if said.passes else "fail"
    return f"{word} {short(said.score, 2)} {spans_text(said.agrees, lowest)}"
