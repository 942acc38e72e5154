"""How the passages of samples were used: tables over all samples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.inference import estimate
from tcva_adapters.stats.ranking import passage_measures
from tcva_adapters.tables import Record, Table, named_columns

_COLUMNS = named_columns(method="text", measure="text", mean="interval", samples="int")
_ONE_QUOTE = (
    "A passage is used if the quote of a claim stands in it. One quote of each claim is known, so a "
    "passage that is not used may still have served."
)


def passage_tables(table: ScoreTable, samples: Iterable[Sample]) -> list[Table]:
    """Tabulate how the passages of the samples were used, by method.

    Args:
        table: A table with results; those without a score do not count.
        samples: The samples that were judged, in the order of the table.

    Returns:
        The table ``passages`` with the measures of `passage_measures`: means over the samples that have the
        measure. Intervals are over groups where the table has groups. It is
        empty if no claim was compared with contexts.

    >>> from tcva_adapters import TCVA
    >>> from tcva_adapters.compare import read_scores
    >>> sample = Sample(response="Entry is free.", contexts=["We open at 9.", "Entry is free."])
    >>> table = read_scores([TCVA(judge="lexical").evaluate(sample)])
    >>> [record["measure"] for record in passage_tables(table, [sample])[0].records]
    ['characters not used', 'passages used', 'precision at 1', 'reciprocal rank']
    """
    texts = [*samples]
    records: list[Record] = []
    for method, results in table.results.items():
        rows = [*map(_measures, results, texts)]
        for measure in sorted({*chain(*rows)}):
            values = [row.get(measure, math.nan) for row in rows]
            figure = estimate("mean", values, table.known_groups)
            about = {"method": method, "measure": measure, "samples": figure.n}
            records.append(about | figure.record("mean"))
    return [Table("passages", _COLUMNS, records, notes=[_ONE_QUOTE])]


def _measures(result: Scored | None, sample: Sample) -> dict[str, float]:
    """The measures of a sample; none where its claims were compared with another text than the contexts."""
    try:
        uses = result.passages(sample) if isinstance(result, Result) else ()
    except InvalidValueError:
        uses = ()
    used = np.array([use.is_used for use in uses], dtype=np.bool_)
    return passage_measures(used, np.array([use.characters for use in uses], np.intp))
