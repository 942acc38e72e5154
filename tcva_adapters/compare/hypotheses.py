"""Hypotheses on systems that were written down before the test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.sources import unreadable
from tcva_adapters.stats.checks import one_of
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.system_pairs import Pairs
from tcva_adapters.tables import Record, Table, named_columns

Hypotheses = str | Path | Sequence[Mapping[str, Any]]
"""A JSON file of a list, or the list; see `systems`."""

_EXAMPLE = "a hypothesis is {'name': 'a beats b', 'pairs': [['a', 'b']], ...}"


class Hypothesis(BaseModel):
    """One or several comparisons of two systems, and how their p are joined; see `systems`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    pairs: list[tuple[str, str]] = Field(min_length=1)
    metrics: list[str] | None = Field(default=None, min_length=1)
    direction: Literal["different", "greater", "less"] = "different"
    join: Literal["all", "any"] | None = None
    chances: Literal["comparisons", "metrics"] = "comparisons"

    def record(
        self, tests: Mapping[str, Pairs], tables: Mapping[str, ScoreTable]
    ) -> Record:
        """The hypothesis with the p of its comparisons joined.

        Raises:
            InvalidValueError: It is about what is not there, or does not say how to join.
        """
        metrics = list(tables) if self.metrics is None else self.metrics
        ps = []
        for metric, (first, second) in product(metrics, self.pairs):
            one_of("metric", metric, list(tables))
            names = tables[metric].methods
            for name in (first, second):
                one_of("system", name, names)
            better, worse = names.index(first), names.index(second)
            test = tests[metric]
            if self.direction == "different":
                ps.append(float(test.p[better, worse]))
            elif self.direction == "greater":
                ps.append(test.one_sided(better, worse))
            else:
                ps.append(test.one_sided(worse, better))

        joins = "1 comparison"
        if len(ps) > 1:
            one_of("join", self.join or "None", ("all", "any"))
            joins = f"{self.join} of {len(ps)} comparisons"
        if self.join == "any":
            chances = metrics if self.chances == "metrics" else ps
            p = min(1.0, len(chances) * float(np.fmin.reduce(ps)))
        else:
            p = float(np.max(ps))  # every one of them has to be significant on its own
        return {"hypothesis": self.name, "joins": joins, "p": p}


def hypotheses_table(
    hypotheses: Hypotheses,
    tests: Mapping[str, Pairs],
    tables: Mapping[str, ScoreTable],
    alpha: float,
) -> Table:
    """Each hypothesis with its p, corrected by Holm for all of them.

    Args:
        hypotheses: A JSON file of a list, or the list.
        tests: Of all pairs of systems, by metric.
        tables: By metric, with a method per system.
        alpha: The level at which a hypothesis is supported.

    Raises:
        UnreadableInputError: An entry is no hypothesis, or about what is not there.
    """
    where, entries = "hypotheses", cast("Any", hypotheses)
    if isinstance(hypotheses, str | Path):
        where = str(hypotheses)
        try:
            entries = json.loads(Path(where).expanduser().read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            why = f"it is no JSON list of hypotheses: {error}"
            raise unreadable(where, why) from None
    records = []
    for number, entry in enumerate(entries, start=1):
        try:
            records.append(Hypothesis.model_validate(entry).record(tests, tables))
        except (ValidationError, InvalidValueError) as error:
            why = f"{_reason(error)}; {_EXAMPLE}"
            raise unreadable(where, why, line=number, word="item") from None
    correct_p(records)
    for record in records:
        record["supported"] = "yes" if record["p_corrected"] <= alpha else "no"
    columns = named_columns(
        hypothesis="text", joins="text", p="p", p_corrected="p", supported="text"
    )
    return Table("hypotheses", columns, records)


def _reason(error: ValidationError | InvalidValueError) -> str:
    if isinstance(error, InvalidValueError):
        return str(error)
    problem = error.errors()[0]
    field = ".".join(str(part) for part in problem["loc"])
    return f"{field}: {problem['msg']}, got {problem['input']!r}"
