"""Gates: what a mean, a pass rate, a coverage or a change has to reach, and the samples that failed it.

A gate counts every sample of the file. Unless there is a gate on coverage, a failed judge or metric
and an unreadable line fail, too, as do answers that are too long to judge, claim something without
contexts, or are mostly no claim by the judge's word alone. Answers that claim nothing fail no gate.
An answer that is too long counts 0 in means and does not pass. In a change, a sample counts 0 that has
a score in the baseline and none now, unless the judge failed on it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, zip_longest
from typing import Final

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.checks import nearest
from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict
from tcva_adapters.errors import InvalidValueError, of_percent
from tcva_adapters.report.baseline import groups_at, places_in
from tcva_adapters.results.claims import ClaimVerdict
from tcva_adapters.results.reasons import FAILURES, SILENT, Reason
from tcva_adapters.stats.checks import IntArray
from tcva_adapters.stats.lower_bound import lower_bound
from tcva_adapters.tables import Record, Records, Report, counted, shortened

FIGURES: Final = ("mean", "pass_rate", "coverage", "change")
MOST: Final = 10
"""Samples that are named with failed gates."""

CLAIMS: Final = 3
"""Claims that are named with each."""

SHOWN: Final = 160
_FAILURES: Final = "failures"
_BENIGN: Final = {
    "no_score",
    *(reason.value for reason in Reason if not reason.is_failure),
} - {
    Reason.TOO_LONG,
    Reason.EMPTY_CONTEXT,
    Reason.EMPTY_RESPONSE,
}
"""Why samples without a score fail no gate."""

_FORM: Final = re.compile(
    r"(?:(?P<method>.+):)?\s*(?P<figure>[\w -]+?)\s*>=\s*(?P<least>[-+.\deE]+\s*%?)"
    r"\s*(?:@\s*(?P<percent>[\d.]+)\s*%)?"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate.

    Attributes:
        figure: ``mean`` of the samples that have a score or are too long, ``pass_rate`` of these,
            ``coverage``: the share of all samples that have a score or claim nothing, or ``change``
            of the mean since a baseline.
        least: What it has to reach.
        method: Whose; empty for every method that no gate on this figure names.
        confidence: The probability with which other samples of the same kind (other groups, where
            samples have some) reach it as well: the figure's lower bound counts then, see
            `lower_bound`. None takes the figure itself.
    """

    figure: str
    least: float
    method: str = ""
    confidence: float | None = None

    @classmethod
    def of(cls, text: str) -> Gate:
        """From ``[METHOD:]FIGURE>=NUMBER[@95%]``.

        Raises:
            InvalidValueError: Another form, figure or number.

        >>> Gate.of("ragas faithfulness: mean>=0.8@95%")
        Gate(figure='mean', least=0.8, method='ragas faithfulness', confidence=0.95)
        """
        found = _FORM.fullmatch(text.strip())
        try:
            number = math.nan if found is None else float(found["least"])
            percent = (
                None
                if found is None or not found["percent"]
                else float(found["percent"])
            )
        except ValueError:
            number, percent = math.nan, None
        if found is None or math.isnan(number):
            hint = of_percent(found["least"]) if found else ""
            msg = f"gate {text!r}: write [METHOD:]FIGURE>=NUMBER[@95%], e.g. pass_rate>=0.9{hint}"
            raise InvalidValueError(msg)
        figure, method = found["figure"], (found["method"] or "").strip()
        if figure not in FIGURES:
            msg = f"gate {text!r}: no figure {figure!r}; use mean, pass_rate, coverage or change"
            raise InvalidValueError(msg)
        low, high = (-1.0, 1.0) if figure == "change" else (0.0, 1.0)
        own_scale = figure == "mean" and method and math.isfinite(number)
        if not (low <= number <= high or own_scale):
            msg = f"gate {text!r}: the number must be between {low:g} and {high:g}, got {number:g}"
            msg += of_percent(number)
            raise InvalidValueError(msg)
        if percent is not None and (figure == "coverage" or not 50.0 < percent < 100.0):
            msg = f"gate {text!r}: the confidence must be above 50 % and below 100 %"
            msg = (
                f"gate {text!r}: a coverage takes no confidence"
                if figure == "coverage"
                else msg
            )
            raise InvalidValueError(msg)
        return cls(figure, number, method, None if percent is None else percent / 100.0)


@dataclass(frozen=True, slots=True)
class Gates:
    """What is asked for; see `Gates.of`."""

    gates: tuple[Gate, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str] | str = ()) -> Gates:
        """From texts like ``mean>=0.8``, ``ragas faithfulness:pass_rate>=0.9@95%``; all must hold.

        Raises:
            InvalidValueError: See `Gate.of`.

        >>> [gate.least for gate in Gates.of(["mean>=0.8", "change>=-0.02"]).gates]
        [0.8, -0.02]
        """
        return cls(tuple(map(Gate.of, [texts] if isinstance(texts, str) else texts)))

    def __bool__(self) -> bool:
        return bool(self.gates)

    def check(self, methods: Sequence[str], *, has_baseline: bool = False) -> None:
        """Refuse, before anything is paid for, gates on what there will not be.

        Raises:
            InvalidValueError: An unknown method, or a change without a baseline.
        """
        for gate in self.gates:
            if gate.method and gate.method not in methods:
                known = nearest(
                    gate.method, methods, f"the methods are {', '.join(methods)}"
                )
                msg = f"gate on {gate.method!r}: no such method; {known}"
                raise InvalidValueError(msg)
            if gate.figure == "change" and not has_baseline:
                msg = "a gate on change needs a baseline: --baseline FILE, an earlier --out of evaluate"
                raise InvalidValueError(msg)

    def judge(
        self, table: ScoreTable, before: ScoreTable | None = None
    ) -> list[Record]:
        """What came of the gates: a record for each gate and method.

        Args:
            table: All samples; unreadable lines in ``about["skipped"]``.
            before: The baseline.

        Returns:
            With ``method``, ``figure``, ``least``, ``confidence``, ``value`` (the figure),
            ``reached`` (it, or its lower bound; None where there is none), ``passed`` and ``text``.
        """
        records: list[Record] = []
        for method in table.methods:
            named = {gate.figure for gate in self.gates if gate.method == method}
            asked = [
                gate
                for gate in self.gates
                if gate.method == method
                or (not gate.method and gate.figure not in named)
            ]
            records += [_outcome(gate, method, table, before) for gate in asked]
            if asked and not any(gate.figure == "coverage" for gate in asked):
                records += _failures(method, table)
        return records


def exit_code(table: ScoreTable, records: Records = ()) -> int:
    """What a command ends with: 0 done, 1 a gate failed, 2 nothing could be judged."""
    if not np.isfinite(table.scores).any():
        return 2
    return 0 if all(record["passed"] for record in records) else 1


def unscored_rows(table: ScoreTable, method: str) -> tuple[list[int], list[int]]:
    """The samples that fail gates whatever their score, and those that claim nothing, as places."""
    judged = table.judged_methods.get(method)
    scoring = judged.scoring if judged else None
    skips = (
        {Reason.EMPTY_CONTEXT} if scoring and scoring.uncontexted == "skip" else set()
    )
    benign = table.has_reason(method, _BENIGN | skips | SILENT)
    failed = table.closed(method) | (np.isnan(table.column(method)) & ~benign)
    return np.flatnonzero(failed).tolist(), np.flatnonzero(
        table.silent(method)
    ).tolist()


def _record(
    gate: Gate,
    method: str,
    value: float | None,
    reached: float | None,
    text: str,
) -> Record:
    passed = reached is not None and reached >= gate.least
    outcome = {
        "value": value,
        "reached": reached,
        "passed": passed,
        "text": text,
    }
    return {
        **asdict(gate),
        "method": method,
        **outcome,
    }


def _outcome(
    gate: Gate,
    method: str,
    table: ScoreTable,
    before: ScoreTable | None,
) -> Record:
    values, rows = _values(gate.figure, method, table, before)
    title = f"{method}: {gate.figure.replace('_', ' ')}"
    if not len(values):
        text = f"{title} has no value, {gate.least:.12g} is required"
        return _record(gate, method, None, None, text)
    value = reached = math.fsum(values) / len(values)
    bound = ""
    if gate.confidence is not None:
        low = -1.0 if gate.figure == "change" else 0.0
        if values.min() < low or values.max() > 1.0:
            text = f"{title} has no lower bound, as scores lie outside [0, 1]"
            return _record(gate, method, value, None, text)
        groups = groups_at(table, rows)
        reached = lower_bound(values, gate.confidence, low=low, groups=groups)
        of = f" ({len(set(groups))} groups)" if groups else ""
        bound = f", with {100 * gate.confidence:g} % confidence at least {apart(reached, gate.least)}{of}"
    relation = ">=" if reached >= gate.least else "<"
    shown = f"{value:.3f}{bound}" if bound else apart(value, gate.least)
    text = f"{title} {shown} {relation} {gate.least:.12g}"
    return _record(gate, method, value, reached, text)


def _values(
    figure: str,
    method: str,
    table: ScoreTable,
    before: ScoreTable | None,
) -> tuple[FloatArray, IntArray]:
    """What a figure is the mean of, and the samples' places; -1 for those of the baseline alone."""
    scores, is_long = table.column(method), table.has_reason(method, {Reason.TOO_LONG})
    rows = np.flatnonzero(np.isfinite(scores) | is_long)
    if figure == "mean":
        return np.nan_to_num(scores[rows]), rows
    if figure == "pass_rate":
        return table.passes(method)[rows].astype(np.float64), rows
    if figure == "coverage":
        covered = np.zeros(table.handed_in)
        covered[rows] = covered[: len(table)][table.silent(method)] = 1.0
        covered[: len(table)][table.closed(method) | is_long] = 0.0
        return covered, rows
    if before is None or method not in before.methods:
        return np.empty(0), rows[:0]
    places, old = places_in(table, before.samples), before.column(method)
    failed = np.append(table.has_reason(method, FAILURES), False)[places]
    differences = np.nan_to_num(np.append(scores, np.nan)[places]) - old
    used = np.isfinite(old) & ~failed
    return differences[used], places[used]


def _failures(method: str, table: ScoreTable) -> list[Record]:
    """A failed gate where anything failed; nothing where not."""
    lost = len(unscored_rows(table, method)[0]) + table.skipped
    if not lost:
        return []
    text = (
        f"{method}: {lost} of {counted(table.handed_in, 'sample')} cannot pass: the judge, the metric or "
        "the reading failed, or the answer is empty, is too long, claims something without contexts, or "
        "is mostly no claim by the judge alone; a gate on coverage allows some, e.g. coverage>=0.95"
    )
    share = 1.0 - lost / table.handed_in
    return [_record(Gate(_FAILURES, 1.0), method, share, share, text)]


def apart(reached: float, least: float) -> str:
    """A figure with as many digits as show that it is another one than the least.

    >>> apart(0.79996, 0.8), apart(0.8, 0.8), apart(0.25, 0.8)
    ('0.79996', '0.800', '0.250')
    """
    texts = (f"{reached:.{digits}f}" for digits in range(3, 17))
    return next(
        (t for t in texts if (float(t) < least) == (reached < least)), repr(reached)
    )


def worst(
    report: Report, table: ScoreTable, most: int = MOST
) -> tuple[list[tuple[str, int]], int]:
    """The samples behind what failed: (method, place), and how many samples there are.

    First those that newly fail since the baseline. Then, where gates failed, below a mean or a
    pass rate those that do not pass (if all pass, those below the mean asked for), below a coverage
    those without a score, those of each gate in turn. A sample is named once.
    """
    lists = [
        (record["method"], _behind(record, table))
        for record in gate_records(report)
        if not record["passed"] and record["method"] in table.methods
    ]
    lost = records_of(report, "newly fail")
    # A million ids take a hundred megabytes, so that they are looked up where some are asked for.
    places = (
        {sample: place for place, sample in enumerate(table.samples)} if lost else {}
    )
    regressions = [
        (r["method"], places[r["sample"]]) for r in lost if r["sample"] in places
    ]
    turns = zip_longest(
        *([(method, place) for place in rows] for method, rows in lists)
    )
    named: dict[int, str] = {}
    for method, place in (*regressions, *filter(None, chain.from_iterable(turns))):
        named.setdefault(place, method)
    return [(method, place) for place, method in islice(named.items(), most)], len(
        named
    )


def records_of(report: Report, title: str) -> Records:
    """The records of a table; none where there is no such table."""
    return next((table.records for table in report.tables if table.title == title), ())


def gate_records(report: Report) -> Records:
    """What came of the gates, see `Gates.judge`."""
    return records_of(report, "gates")


def _behind(record: Record, table: ScoreTable) -> list[int]:
    """The samples that a failed gate looks at, the worst first."""
    method, figure = record["method"], record["figure"]
    scores = table.column(method)
    if figure in {"mean", "pass_rate"} and record["value"] is not None:
        fails = np.isfinite(scores) & ~table.passes(method)
        if figure == "mean" and not fails.any():
            fails = scores < record["least"]
        order = np.argsort(scores, kind="stable")
        failing: list[int] = order[fails[order]].tolist()
        return failing
    failed, silent = unscored_rows(table, method)
    rest = (
        []
        if figure in {"change", _FAILURES}
        else np.flatnonzero(np.isnan(scores)).tolist()
    )
    return [*dict.fromkeys([*failed, *sorted({*rest} - {*silent})])]


def lowest_claims(table: ScoreTable, method: str, place: int) -> list[ClaimVerdict]:
    """A sample's claims, the lowest level first; what claims nothing stands last."""
    result = table.result(method, place)
    claims = () if result is None else result.claims
    order = [*reversed(LEVELS), None]
    return sorted(claims, key=lambda each: order.index(each.verdict))


def verdict(table: ScoreTable, method: str, place: int) -> str:
    """A sample's score against the threshold, or why there is none."""
    score, threshold = table.column(method)[place], table.threshold(method)
    if math.isnan(score) or table.closed(method)[place]:
        return (
            f"no score: {shortened(table.reason(table.samples[place], method), SHOWN)}"
        )
    relation = ">=" if score >= threshold else "<"
    return f"{apart(float(score), threshold)} {relation} {threshold:g}"


def claim_lines(
    table: ScoreTable,
    method: str,
    place: int,
    most: int = CLAIMS,
) -> Iterator[str]:
    """The claims of a sample below ``fully`` with their reasons, a line each, the lowest first."""
    below = [
        claim
        for claim in lowest_claims(table, method, place)
        if claim.verdict not in {None, Verdict.FULLY}
    ]
    for claim in below[:most]:
        why = f" ({shortened(claim.reason, SHOWN)})" if claim.reason else ""
        yield f"{claim.verdict}: {shortened(claim.claim, SHOWN)}{why}"
    if len(below) > most:
        yield f"and {counted(len(below) - most, 'more claim')} below fully"


def gate_lines(report: Report, table: ScoreTable) -> Iterator[str]:
    """What came of the gates, those that failed first, and their worst samples with claims."""
    for record in sorted(
        gate_records(report), key=lambda record: bool(record["passed"])
    ):
        yield f"gate {'passed' if record['passed'] else 'failed'}: {record['text']}"
    named, behind = worst(report, table)
    if named:
        yield f"samples ({len(named)} of {behind} shown):"
    several = len(table.methods) > 1
    for method, place in named:
        of = f" ({method})" if several else ""
        yield f"  {shortened(table.samples[place], SHOWN)}{of}: {verdict(table, method, place)}"
        yield from (f"    {line}" for line in claim_lines(table, method, place))
