"""Tables of single samples: their claims, and the reason for each level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.served import as_served, level_or_removed
from tcva_adapters.results.result import Result
from tcva_adapters.tables import (
    Table,
    cell,
    named_columns,
)

WORST = "worst"
ALL = "all"
MAX_WORST = 10
"""The number of samples under ``worst``."""

_COLUMNS = named_columns(
    verdict="text",
    claim="prose",
    reason="prose",
)


def claim_tables(table: ScoreTable, wanted: Sequence[str]) -> list[Table]:
    """Return a table per sample: its claims with verdicts and reasons, and the score by temperature.

    Args:
        table: A table with results; those of its first method with results are shown.
        wanted: ``worst`` (ten samples), ``all``, or samples' ids.

    Raises:
        InvalidValueError: There is no such sample, or there are no claims.
    """
    method = next(filter(table.results.get, table.methods), None)
    if method is None:
        raise InvalidValueError(
            "there are no claims to show: imported scores have no verdicts"
        )
    places: list[int] = []
    for name in wanted:
        if name == ALL:
            places += range(len(table))
        elif name == WORST:
            scores = table.column(method)
            order = np.argsort(scores, kind="stable")
            places += order[np.isfinite(scores[order])][:MAX_WORST].tolist()
        elif name in table.samples:
            places.append(table.samples.index(name))
        else:
            some = ", ".join(table.samples[:MAX_WORST])
            raise InvalidValueError(
                f"--show: no sample {name!r}; give {WORST}, {ALL}, or an id such as {some}"
            )
    tables = []
    for place in dict.fromkeys(places):
        result = table.result(method, place)
        if isinstance(result, Result):
            tables.append(_claims(table.samples[place], result))
    return tables


def preset_scores(result: Any) -> str:
    """Describe the score of a result at each named temperature."""
    return ", ".join(
        f"{cell(result.at(t).score, 'score')} {name}" for name, t in PRESETS.items()
    )


def _claims(sample: str, result: Result) -> Table:
    served = as_served(result)
    records = [
        {
            "verdict": level_or_removed(served, claim),
            "claim": claim.claim,
            "reason": claim.reason,
        }
        for claim in served.claims
    ]
    if result.unscored is not None:
        note = result.unscored.text
    else:
        flip = result.flip_temperature
        passes = (
            "fails at every T" if flip is None else f"passes if T is {flip:.2f} or more"
        )
        threshold = f"threshold {result.scoring.threshold:g}"
        note = f"score: {preset_scores(result)}; {passes} ({threshold})"
    return Table(f"claims of {sample}", _COLUMNS, records, notes=[note])
