"""What scores are made of, read from files of assessments without building the assessments.

Looking at a million judgements needs a few fields of each, which are checked as `Assessment` checks
them, in a third of the time. A line that does not fit is read once more as an `Assessment`, which
says what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, NotRequired

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.results.assessment import (
    PROBABILITY_TOLERANCE,
    Assessment,
    EvidenceCheck,
    Reason,
    Shares,
    level_sums,
)
from tcva_adapters.results.evidence import Evidence, under
from tcva_adapters.results.files import assessment_rows
from tcva_adapters.samples.records import Source
from tcva_adapters.samples.rows import RowStream

_BLOCK: Final = 8192

Counts = npt.NDArray[np.float32] | npt.NDArray[np.float64]
"""Level counts, shape (N, J, 5), the main judge first: in four bytes each where they are whole."""


class CountedClaim(TypedDict):
    """Of a claim: see `ClaimVerdict`."""

    claim: str
    verdict: Verdict | None
    original_verdict: NotRequired[Verdict | None]
    evidence_check: NotRequired[EvidenceCheck | None]
    probabilities: NotRequired[Shares | None]
    original_probabilities: NotRequired[Shares | None]


class _Unscored(TypedDict):
    reason: Reason


class CountedRow(TypedDict):
    """Of an assessment: see there."""

    schema_version: NotRequired[Literal[3]]
    criterion: str
    judge: str
    prompt_version: str
    claims: NotRequired[list[CountedClaim]]
    unscored: NotRequired[_Unscored | None]
    sample_id: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    members: NotRequired[list[CountedRow]]
    panel: NotRequired[list[CountedRow]]
    form: NotRequired[str]


def stream_rows(source: Source, *, skip_bad: bool = False) -> RowStream[CountedRow]:
    """The rows of a file of assessments, one after the other; arguments as `stream_assessments`.

    Raises:
        InvalidValueError: The suffix is that of another format. Errors of the rows come when they
            are read, as for `read_assessments`.
    """
    return assessment_rows(source, skip_bad=skip_bad, read=_read)


def checked_claims(row: CountedRow) -> Iterator[CountedClaim]:
    """The claims whose quotes were checked: those of single judgements, and additional judges', too."""
    if not row.get("panel"):
        yield from row.get("claims", ())
    for each in (*row.get("panel", ()), *row.get("members", ())):
        yield from checked_claims(each)


class LevelCounts:
    """The level counts of rows that come one after the other, as ``lower`` and ``off`` show them."""

    def __init__(self) -> None:
        """Begin without a row."""
        self._lower, self._own = _Rows(), _Rows()
        self._places: list[int] = []

    def add(self, row: CountedRow, *, is_lowered: bool) -> None:
        """One sample more.

        Args:
            row: The sample.
            is_lowered: Whether one of its verdicts was lowered for its quote.
        """
        if is_lowered and row.get("unscored") is None:
            seen = under(Assessment.model_validate(row), "off")
            self._places.append(self._lower.number)
            self._own.add([n for each in (seen, *seen.members) for n in each.level_counts])
        self._lower.add([n for each in (row, *row.get("members", ())) for n in _level_sums(each)])

    def finish(self) -> dict[Evidence, Counts]:
        """The counts of each view; one array where they are alike."""
        lower = off = self._lower.whole()
        if self._places:
            own = self._own.whole()
            off = lower.astype(np.result_type(lower, own))
            off[self._places] = own
        return {"lower": lower, "off": off}


class _Rows:
    """Rows of numbers, packed into arrays as they come."""

    def __init__(self) -> None:
        self.number = 0
        self._rows: list[list[float]] = []
        self._blocks: list[Counts] = []

    def add(self, row: list[float]) -> None:
        self.number += 1
        self._rows.append(row)
        if len(self._rows) == _BLOCK:
            self._pack()

    def whole(self) -> Counts:
        self._pack()
        width = max(block.shape[1] for block in self._blocks)
        wide = [np.pad(b, ((0, 0), (0, width - b.shape[1]))) for b in self._blocks]
        return np.concatenate(wide).reshape(self.number, -1, len(LEVELS))

    def _pack(self) -> None:
        # Samples without a score have no additional judges: zeros stand for these.
        width = max(map(len, self._rows), default=len(LEVELS))
        rows = [row + [0.0] * (width - len(row)) for row in self._rows]
        self._blocks.append(packed(np.array(rows).reshape(-1, width)))
        self._rows = []


def packed(counts: npt.NDArray[np.float64]) -> Counts:
    """The same numbers in four bytes each, where these hold them."""
    small = counts.astype(np.float32)
    return small if np.array_equal(small, counts) else counts


def _level_sums(row: CountedRow) -> Sequence[float]:
    claims = row.get("claims", ()) if row.get("unscored") is None else ()
    return level_sums((claim["verdict"], claim.get("probabilities")) for claim in claims)


@cache
def _adapter() -> TypeAdapter[CountedRow]:
    return TypeAdapter(CountedRow)  # takes some milliseconds


def _read(record: dict[str, Any]) -> CountedRow:
    try:
        row = _adapter().validate_python(record)
        if _is_judged(row):
            return row
    except ValidationError:
        pass
    # Which says in words what is wrong.
    return _adapter().validate_json(Assessment.from_json(json.dumps(record)).to_json())


def _is_judged(row: CountedRow) -> bool:
    """What fields alone do not show: it has a score or a reason for none, and shares sum to 1."""
    claims = row.get("claims", ())
    shares = [claim["probabilities"] for claim in claims if claim.get("probabilities")]
    return (
        (row.get("unscored") is not None or any(claim["verdict"] for claim in claims))
        and all(abs(sum(p) - 1.0) <= PROBABILITY_TOLERANCE and min(p) >= 0.0 for p in shares if p)
        and all(map(_is_judged, (*row.get("members", ()), *row.get("panel", ()))))
    )
