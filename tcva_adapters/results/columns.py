"""What scores are made of, read from files of assessments without building the assessments.

Looking at a million judgements needs a few fields of each: who judged, the verdicts, what became of
the evidence. These are checked as `Assessment` checks them, in a tenth of the time. What is not
looked at (quotes, reasons, cost, fields of other programs) has to be JSON and is not looked into. NaN passes where
JSON has none. A line that does not fit is read once more as an `Assessment`, which says what is wrong with it, or knows its older layout.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, NotRequired, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from tcva_adapters.core.evidence import Shares
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.assessment import (
    PROBABILITY_TOLERANCE,
    Assessment,
    EvidenceCheck,
    Reason,
)
from tcva_adapters.results.files import assessment_rows
from tcva_adapters.samples.records import Source
from tcva_adapters.samples.rows import RowStream

Level = Literal["fully", "mostly", "partial", "minor", "none"]
PLACES: Final[dict[str, int]] = {level.value: place for place, level in enumerate(LEVELS)}
"""Which column of the counts a level is."""

_LOOSE: Final = ConfigDict(extra="ignore")


@with_config(_LOOSE)
class ClaimColumns(TypedDict):
    """Of a claim: see `ClaimVerdict`."""

    claim: str
    verdict: Level | None
    original_verdict: NotRequired[Level | None]
    evidence_check: NotRequired[Literal["not_found", "unrelated", "negated", "unchecked"] | None]
    probabilities: NotRequired[Shares | None]
    original_probabilities: NotRequired[Shares | None]


@with_config(_LOOSE)
class UnscoredColumns(TypedDict):
    """Of what says why there is no score: see `Unscored`."""

    reason: Reason


@with_config(_LOOSE)
class JudgedColumns(TypedDict):
    """Of an assessment: see `Assessment`."""

    schema_version: NotRequired[Literal[2]]
    criterion: str
    judge: str
    prompt_version: str
    claims: NotRequired[list[ClaimColumns]]
    unscored: NotRequired[UnscoredColumns | None]
    sample_id: NotRequired[str | None]
    members: NotRequired[list[JudgedColumns]]
    panel: NotRequired[list[JudgedColumns]]
    form: NotRequired[str]


@with_config(_LOOSE)
class NamedColumns(JudgedColumns):
    """With what the sample brought along."""

    metadata: NotRequired[dict[str, Any]]


def stream_columns(
    source: Source, *, skip_bad: bool = False, metadata: bool = False
) -> RowStream[NamedColumns]:
    """The columns of a file of assessments, row by row; of its lines the same are refused.

    Args:
        source: As for `read_assessments`.
        skip_bad: Go on after a bad row and count it.
        metadata: With the samples' metadata.

    Raises:
        InvalidValueError: The suffix is that of another format. Errors of the rows come when they
            are read, as for `read_assessments`.
    """
    return assessment_rows(
        source, skip_bad=skip_bad, read=_slowly, read_text=_reader(metadata=metadata)
    )


def claims_of(row: JudgedColumns) -> Iterator[Sequence[ClaimColumns]]:
    """The claims whose quotes were checked: those of single judgements, and additional judges', too."""
    if not row.get("panel"):
        yield row.get("claims", ())
    for each in (*row.get("panel", ()), *row.get("members", ())):
        yield from claims_of(each)


def check_of(claim: ClaimColumns) -> str | None:
    """What the check of its quote found; what is older than this field was lowered for want of it."""
    found = claim.get("evidence_check")
    if found is None and claim.get("original_verdict") and "evidence_check" not in claim:
        return EvidenceCheck.NOT_FOUND
    return found


def has_fault(claim: ClaimColumns) -> bool:
    """Whether its quote does not support it."""
    return check_of(claim) not in {None, EvidenceCheck.UNCHECKED}


@cache
def _validate(*, metadata: bool) -> Callable[[str], NamedColumns]:
    """The check of a line; built on first use, which takes some milliseconds."""
    kind = NamedColumns if metadata else JudgedColumns
    return cast("Callable[[str], NamedColumns]", TypeAdapter(kind).validate_json)


def _reader(*, metadata: bool) -> Callable[[str], NamedColumns | None]:
    validate = _validate(metadata=metadata)

    def read(text: str) -> NamedColumns | None:
        try:
            row = validate(text)
        except ValidationError:
            return None
        return row if _is_judged(row) else None

    return read


def _slowly(record: dict[str, Any]) -> NamedColumns:
    text = Assessment.from_json(json.dumps(record)).to_json()
    return _validate(metadata=True)(text)


def _is_judged(row: JudgedColumns) -> bool:
    """What fields alone do not show: it has a score or a reason for none, and shares sum to 1."""
    has_verdict = row.get("unscored") is not None
    for claim in row.get("claims", ()):
        if claim["verdict"] is not None:
            has_verdict = True
        if shares := claim.get("probabilities"):
            # Written out: this runs for every claim of millions.
            first, second, third, fourth, fifth = shares
            total = first + second + third + fourth + fifth
            if not (abs(total - 1.0) <= PROBABILITY_TOLERANCE and min(shares) >= 0.0):
                return False
    others = (*row.get("members", ()), *row.get("panel", ()))
    return has_verdict and (not others or all(map(_is_judged, others)))
