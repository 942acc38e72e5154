"""What a report says of judgements that were made of several: repeats, and panels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcva_adapters.compare.repeats import repeat_report
from tcva_adapters.compare.worth import panel_worth
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig


def once(assessment: Assessment) -> Assessment:
    """A judgement that was made once: the first of repeats, or the whole."""
    return assessment.repeats[0] if assessment.repeats else assessment


def several_notes(assessments: Sequence[Assessment], scoring: ScoringConfig) -> Iterator[str]:
    """A sentence on their repeats, and one on their panel; nothing for a single judge.

    Args:
        assessments: One or more, of one judge.
        scoring: The setting of the dial.
    """
    first = assessments[0]
    if first.repeats:
        yield repeat_report(Result(each, scoring) for each in assessments).sentence
    if once(first).panel:
        yield panel_worth([*map(once, assessments)], scoring=scoring).sentence
