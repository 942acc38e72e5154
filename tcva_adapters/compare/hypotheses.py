"""Test hypotheses on systems that were written down before the test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings_base import check
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.sample import Checked
from tcva_adapters.samples.sources import unreadable
from tcva_adapters.stats.checks import one_of
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.system_pairs import Pairs
from tcva_adapters.tables import Record, Table, named_columns

Hypotheses = str | Path | Sequence[Fields]
"""A JSON file with a list of hypotheses, or the list; see `systems`."""

_EXAMPLE = "a hypothesis is {'name': 'a beats b', 'pairs': [['a', 'b']], ...}"


class Hypothesis(Checked):
    """One or several comparisons of two systems, and how their p are joined; see `systems`."""

    name: str
    pairs: list[tuple[str, str]] = Field(min_length=1)
    metrics: list[str] | None = Field(default=None, min_length=1)
    direction: Literal["different", "greater", "less"] = "different"
    join: Literal["all", "any"] | None = None
    chances: Literal["comparisons", "metrics"] = "comparisons"

    def record(
        self, tests: Mapping[str, Pairs], tables: Mapping[str, ScoreTable]
    ) -> Record:
        """Return the hypothesis with the p of its comparisons joined.

        Raises:
            InvalidValueError: It names an unknown metric or system, or does not say how to join.
        """
        metrics = self.metrics or list(tables)
        ps = []
        for metric, pair in product(metrics, self.pairs):
            one_of("metric", metric, list(tables))
            names = tables[metric].methods
            for name in pair:
                one_of("system", name, names)
            order = -1 if self.direction == "less" else 1
            better, worse = (names.index(name) for name in pair[::order])
            test = tests[metric]
            if self.direction == "different":
                ps.append(test.p[better, worse])
            else:
                ps.append(test.one_sided(better, worse))

        joins = "1 comparison"
        if len(ps) > 1:
            if self.join is None:
                raise InvalidValueError(
                    f"{self.name!r} has {len(ps)} comparisons; set join to all or any"
                )
            joins = f"{self.join} of {len(ps)} comparisons"
        p = np.max(ps)  # all comparisons have to be significant
        if self.join == "any":
            chances = metrics if self.chances == "metrics" else ps
            p = min(1.0, len(chances) * np.fmin.reduce(ps))
        return {"hypothesis": self.name, "joins": joins, "p": p}


def hypotheses_table(
    hypotheses: Hypotheses,
    tests: Mapping[str, Pairs],
    tables: Mapping[str, ScoreTable],
    alpha: float,
) -> Table:
    """Tabulate each hypothesis with its p, corrected by Holm for all of them.

    Args:
        hypotheses: A JSON file with a list of hypotheses, or the list.
        tests: Tests of all pairs of systems, by metric.
        tables: Tables by metric, with a method per system.
        alpha: The level at which a hypothesis is supported.

    Raises:
        UnreadableInputError: The file cannot be read, or an entry is not a hypothesis or names an
            unknown metric or system.
    """
    where = "hypotheses"
    entries: Any = hypotheses
    if isinstance(hypotheses, str | Path):
        where = str(hypotheses)
        try:
            entries = list(json.loads(Path(where).expanduser().read_bytes()))
        except (OSError, TypeError, ValueError) as error:
            why = f"it is no JSON list of hypotheses: {error}"
            raise unreadable(where, why) from None
    records = []
    for number, entry in enumerate(entries, start=1):
        try:
            hypothesis = Hypothesis(**check(Fields, "hypothesis", entry))
            records.append(hypothesis.record(tests, tables))
        except InvalidValueError as error:
            why = f"{error}; {_EXAMPLE}"
            raise unreadable(where, why, line=number, word="item") from None
    correct_p(records)
    for record in records:
        record["supported"] = "yes" if record["p_corrected"] <= alpha else "no"
    return Table(
        "hypotheses",
        named_columns(
            "hypothesis",
            "joins",
            p="p",
            p_corrected="p",
            supported="text",
        ),
        records,
    )
