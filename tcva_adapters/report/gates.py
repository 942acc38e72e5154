"""Gates: the least mean, pass rate, coverage or change that a run has to reach.

A gate counts every sample of the file. Unless there is a gate on coverage, a run also fails if a
judge or metric failed, a line was unreadable, or an answer is empty, is too long to judge, claims
something without contexts, or is mostly no claim by the judge's word alone. An answer that claims
nothing fails no gate. An answer that is too long counts 0 in means and does not pass. In a change, a
sample with a score in the baseline and none now counts 0, unless the judge failed on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.checks import nearest
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError, percent_hint
from tcva_adapters.results.judgement import FAILURES, Reason
from tcva_adapters.stats.checks import BoolArray
from tcva_adapters.stats.lower_bound import lower_bound
from tcva_adapters.tables import (
    Record,
    Records,
    Report,
    counted,
)

FIGURES = ("mean", "pass_rate", "coverage", "change")
FAILED_SAMPLES = "failures"
"""The figure of the additional gate that fails if any sample failed."""

_BENIGN = {
    "no_score",
    *(reason.value for reason in Reason if not reason.is_failure),
} - {
    Reason.TOO_LONG,
    Reason.EMPTY_CONTEXT,
    Reason.EMPTY_RESPONSE,
}
"""Reasons for which samples without a score fail no gate."""

_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_FORM = re.compile(
    rf"""
    (?:(?P<method>.+):)?
    \s*(?P<figure>[\w -]+?)
    \s*>=
    \s*(?P<least>[-+]?{_NUMBER}(?:[eE][-+]?\d+)?\s*%?)
    \s*(?:@\s*(?P<percent>{_NUMBER})\s*%)?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Gate:
    """A lower limit on one figure of a run.

    Attributes:
        figure: ``mean`` of the samples that have a score or are too long, ``pass_rate`` of these,
            ``coverage``: the share of all samples that have a score or claim nothing, or ``change``
            of the mean since a baseline.
        least: The lowest value that passes.
        method: The method; empty for every method that no gate on this figure names.
        confidence: The probability with which other samples of the same kind (other groups, where
            samples have some) reach it as well: the figure's lower bound counts then, see
            `lower_bound`. None compares the figure itself.
    """

    figure: str
    least: float
    method: str = ""
    confidence: float | None = None

    @classmethod
    def of(cls, text: str) -> Gate:
        """Read a gate from ``[METHOD:]FIGURE>=NUMBER[@95%]``.

        Raises:
            InvalidValueError: The form, figure, number or confidence is not allowed.

        >>> Gate.of("ragas faithfulness: mean>=0.8@95%")
        Gate(figure='mean', least=0.8, method='ragas faithfulness', confidence=0.95)
        """
        match = _FORM.fullmatch(text.strip())
        if match is None or "%" in match["least"]:
            hint = percent_hint(match["least"]) if match else ""
            raise InvalidValueError(
                f"gate {text!r}: write [METHOD:]FIGURE>=NUMBER[@95%], e.g. pass_rate>=0.9{hint}"
            )
        figure = match["figure"]
        least = float(match["least"])
        method = (match["method"] or "").strip()
        if figure not in FIGURES:
            raise InvalidValueError(
                f"gate {text!r}: no figure {figure!r}; use mean, pass_rate, coverage or change"
            )
        low = -1.0 if figure == "change" else 0.0
        has_own_scale = figure == "mean" and method and math.isfinite(least)
        if not (low <= least <= 1.0 or has_own_scale):
            raise InvalidValueError(
                f"gate {text!r}: the number must be between {low:g} and 1, "
                f"got {least:g}{percent_hint(least)}"
            )
        if match["percent"] is None:
            return cls(figure, least, method)
        percent = float(match["percent"])
        if figure == "coverage":
            raise InvalidValueError(f"gate {text!r}: a coverage takes no confidence")
        if not 50.0 < percent < 100.0:
            raise InvalidValueError(
                f"gate {text!r}: the confidence must be above 50 % and below 100 %"
            )
        return cls(figure, least, method, percent / 100.0)


@dataclass(frozen=True, slots=True)
class Gates:
    """Gates that must all hold; see `Gates.of`."""

    gates: tuple[Gate, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str] | str = ()) -> Gates:
        """Read gates from texts like ``mean>=0.8``, ``ragas faithfulness:pass_rate>=0.9@95%``.

        Raises:
            InvalidValueError: See `Gate.of`.

        >>> [gate.least for gate in Gates.of(["mean>=0.8", "change>=-0.02"]).gates]
        [0.8, -0.02]
        """
        if isinstance(texts, str):
            texts = [texts]
        return cls(tuple(map(Gate.of, texts)))

    def __bool__(self) -> bool:
        return bool(self.gates)

    def check(self, methods: Sequence[str], *, has_baseline: bool = False) -> None:
        """Refuse gates on figures that the run will not have, before any paid call.

        Raises:
            InvalidValueError: A method is unknown, or there is a gate on change and no baseline.
        """
        for gate in self.gates:
            if gate.method and gate.method not in methods:
                known = nearest(
                    gate.method, methods, f"the methods are {', '.join(methods)}"
                )
                raise InvalidValueError(
                    f"gate on {gate.method!r}: no such method; {known}"
                )
            if gate.figure == "change" and not has_baseline:
                raise InvalidValueError(
                    "a gate on change needs a baseline: --baseline FILE, an earlier --out of evaluate"
                )

    def judge(
        self, table: ScoreTable, before: ScoreTable | None = None
    ) -> list[Record]:
        """Check the gates, and return a record for each gate and method.

        Args:
            table: All samples, and in ``skipped`` the number of unreadable lines.
            before: The baseline.

        Returns:
            Records with ``method``, ``figure``, ``least``, ``confidence``, ``value`` (the figure),
            ``reached`` (the figure or its lower bound; None if there is none), ``passed`` and
            ``text``; for the table also ``minimum`` and ``outcome``.
        """
        records = []
        for method in table.methods:
            figures = {gate.figure for gate in self.gates if gate.method == method}
            gates = [
                gate
                for gate in self.gates
                if gate.method == method
                or (not gate.method and gate.figure not in figures)
            ]
            records += [_outcome(gate, method, table, before) for gate in gates]
            if gates and not any(gate.figure == "coverage" for gate in gates):
                records += _failures(method, table)
        return records


def exit_code(table: ScoreTable, records: Records = ()) -> int:
    """Return the exit code of a command: 0 done, 1 a gate failed, 2 nothing could be judged."""
    if not np.isfinite(table.scores).any():
        return 2
    return 0 if all(record["passed"] for record in records) else 1


def failed_samples(table: ScoreTable, method: str) -> BoolArray:
    """Find the samples that fail gates whatever their score, shape (N,)."""
    benign = _BENIGN
    judged = table.judged_methods.get(method)
    if judged and judged.scoring and judged.scoring.uncontexted == "skip":
        benign = _BENIGN | {Reason.EMPTY_CONTEXT}
    fails = np.isnan(table.column(method)) & ~table.has_reason(method, benign)
    return table.closed(method) | fails


def _record(
    gate: Gate,
    method: str,
    value: float | None,
    reached: float | None,
    text: str,
) -> Record:
    passed = reached is not None and reached >= gate.least
    return {
        **asdict(gate),
        "method": method,
        "value": value,
        "reached": reached,
        "passed": passed,
        "text": text,
        "minimum": gate.least,
        "outcome": "passed" if passed else "FAILED",
    }


def _outcome(
    gate: Gate,
    method: str,
    table: ScoreTable,
    before: ScoreTable | None,
) -> Record:
    """Check a gate for a method."""
    if gate.figure == "change" and before is not None:
        table = table.for_samples(before.samples)
    values = _values(gate.figure, method, table, before)
    counts = np.isfinite(values)
    values = values[counts]
    title = f"{method}: {gate.figure.replace('_', ' ')}"
    if not len(values):
        text = f"{title} has no value, {gate.least:.12g} is required"
        return _record(gate, method, None, None, text)
    value = reached = math.fsum(values) / len(values)
    shown = apart(value, gate.least)
    if gate.confidence is not None:
        low = -1.0 if gate.figure == "change" else 0.0
        if values.min() < low or values.max() > 1.0:
            text = f"{title} has no lower bound, as scores lie outside [0, 1]"
            return _record(gate, method, value, None, text)
        # Samples of the baseline that are not in this run are a group of their own.
        groups = [
            "" if group is None else group
            for group, does_count in zip(table.groups, counts, strict=False)
            if does_count
        ]
        reached = lower_bound(values, gate.confidence, low=low, groups=groups or None)
        among = f" ({len(set(groups))} groups)" if groups else ""
        shown = (
            f"{value:.3f}, with {100 * gate.confidence:g} % confidence at least "
            f"{apart(reached, gate.least)}{among}"
        )
    relation = ">=" if reached >= gate.least else "<"
    text = f"{title} {shown} {relation} {gate.least:.12g}"
    return _record(gate, method, value, reached, text)


def _values(
    figure: str, method: str, table: ScoreTable, before: ScoreTable | None
) -> FloatArray:
    """Return the values whose mean is the figure, one per sample; nan if a sample does not count.

    Args:
        figure: The figure.
        method: The method.
        table: All samples; for a change those of the baseline.
        before: The baseline.
    """
    scores = table.column(method)
    if figure == "change":
        if before is None or method not in before.methods:
            return np.empty(0)
        failed = table.has_reason(method, FAILURES)
        change = np.nan_to_num(scores) - before.column(method)
        return np.where(failed, np.nan, change)
    is_long = table.has_reason(method, {Reason.TOO_LONG})
    if figure == "coverage":
        covered = np.isfinite(scores) | table.silent(method)
        covered &= ~(table.closed(method) | is_long)
        return np.append(covered, np.zeros(table.skipped))
    values = table.passes(method) if figure == "pass_rate" else np.nan_to_num(scores)
    return np.where(np.isfinite(scores) | is_long, values, np.nan)


def _failures(method: str, table: ScoreTable) -> list[Record]:
    """Return a failed gate if any sample or line failed, else nothing."""
    lost = int(failed_samples(table, method).sum()) + table.skipped
    if not lost:
        return []
    text = (
        f"{method}: {lost} of {counted(table.total, 'sample')} cannot pass: the judge, the metric or "
        "the reading failed, or the answer is empty, is too long, claims something without contexts, or "
        "is mostly no claim by the judge alone; a gate on coverage allows some, e.g. coverage>=0.95"
    )
    share = 1.0 - lost / table.total
    return [_record(Gate(FAILED_SAMPLES, 1.0), method, share, share, text)]


def apart(reached: float, least: float) -> str:
    """Write a figure with enough digits to show on which side of the least value it lies.

    >>> apart(0.79996, 0.8), apart(0.8, 0.8), apart(0.25, 0.8)
    ('0.79996', '0.800', '0.250')
    """
    is_below = reached < least
    for digits in range(3, 17):
        text = f"{reached:.{digits}f}"
        if (float(text) < least) == is_below:
            return text
    return repr(reached)


def records_of(report: Report, title: str) -> Records:
    """Return the records of a table; none if there is no such table."""
    return next((table.records for table in report.tables if table.title == title), ())


def gate_records(report: Report) -> Records:
    """Return the outcomes of the gates; see `Gates.judge`."""
    return records_of(report, "gates")
