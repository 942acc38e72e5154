"""Single samples as a reader looks at them: their claims, and why each has its level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.temperature import PRESETS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.result import Result
from tcva_adapters.tables import Table, cell, named_columns

WORST: Final = "worst"
ALL: Final = "all"
MOST: Final = 10
"""Samples under ``worst``."""

_COLUMNS: Final = named_columns(
    verdict="text",
    claim="prose",
    reason="prose",
)


def claim_tables(table: ScoreTable, wanted: Sequence[str] = (ALL,)) -> list[Table]:
    """The claims of samples with their verdicts and reasons, and each score by temperature.

    Args:
        table: With results; those of its first method with claims are shown.
        wanted: ``worst`` (ten samples), ``all``, or samples' ids.

    Raises:
        InvalidValueError: There is no such sample, or there are no claims.
    """
    method = next((name for name in table.methods if table.results.get(name)), None)
    if method is None:
        msg = "there are no claims to show: imported scores have no verdicts"
        raise InvalidValueError(msg)
    places: list[int] = []
    for each in wanted:
        if each == ALL:
            places += range(len(table))
        elif each == WORST:
            scores = table.column(method)
            order = np.argsort(scores, kind="stable")[
                : np.count_nonzero(np.isfinite(scores))
            ]
            places += order[:MOST].tolist()
        elif each in table.samples:
            places.append(table.samples.index(each))
        else:
            some = ", ".join(table.samples[:MOST])
            msg = f"--show: no sample {each!r}; give {WORST}, {ALL}, or an id such as {some}"
            raise InvalidValueError(msg)
    results = table.results[method]
    return [
        _claims(table.samples[place], results[place])
        for place in dict.fromkeys(places)
        if isinstance(results[place], Result)
    ]


def preset_scores(result: Any) -> str:
    """The score of a result at each temperature that has a name."""
    return ", ".join(
        f"{cell(result.at(t).score, 'score')} {name}" for name, t in PRESETS.items()
    )


def _claims(sample: str, result: Any) -> Table:
    scheme = result.scoring.scheme
    records = [
        {
            "verdict": each.level_text(scheme),
            "claim": each.claim,
            "reason": each.reason,
        }
        for each in result.claims
    ]
    if result.unscored is not None:
        return Table(
            f"claims of {sample}", _COLUMNS, records, notes=[result.unscored.text]
        )
    at = preset_scores(result)
    flip = result.flip_temperature
    passes = (
        "fails at every T" if flip is None else f"passes if T is {flip:.2f} or more"
    )
    note = f"score: {at}; {passes} (threshold {result.scoring.threshold:g})"
    return Table(f"claims of {sample}", _COLUMNS, records, notes=[note])
