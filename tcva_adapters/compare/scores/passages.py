"""How the passages of samples were used and cited: tables over all samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.passages import PassageUse
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.inference import estimate
from tcva_adapters.tables import Record, Table, named_columns

_ONE_QUOTE = (
    "A passage is used if the quote of a claim stands in it (of context_recall, a claim of the reference). "
    "One quote of each claim is known, so a passage that is not used may still have served. Samples whose "
    "supported claims have no sound quote in their contexts do not count."
)

_NOT_WRONG = ("confirmed", "unconfirmed")
_UNCONFIRMED = "Claims without a sound quote are unconfirmed, which says nothing about their marks."


def passage_measures(uses: Sequence[PassageUse]) -> dict[str, float]:
    """Measure how the passages of one sample, in the order of retrieval, were used.

    Returns:
        ``passages used``, a share, the precision of the whole list; ``characters not used``, a share;
        ``precision at k`` for k of 1, 3 and 5, the share of the first k passages that are used; and
        ``reciprocal rank``, one divided by the rank of the first used passage, or 0 if there is none
        (Voorhees, TREC-8, 1999). What is not defined is left out: all without passages, the precision at
        more passages than there are, a share of no characters.

    >>> uses = [PassageUse(1, None, (), 0.0, 30), PassageUse(2, None, (0,), 1.0, 10)]
    >>> [f"{name} {value}" for name, value in passage_measures(uses).items()]
    ['precision at 1 0.0', 'reciprocal rank 0.5', 'passages used 0.5', 'characters not used 0.75']
    """
    used = np.array([use.is_used for use in uses], np.bool_)
    characters = np.array([use.characters for use in uses])
    measures = {
        f"precision at {k}": used[:k].mean() for k in (1, 3, 5) if k <= len(uses)
    }
    if uses:
        measures["reciprocal rank"] = used.any() / (1 + used.argmax())
        measures["passages used"] = used.mean()
    if characters.any():
        measures["characters not used"] = characters[~used].sum() / characters.sum()
    return measures


def passage_tables(table: ScoreTable, samples: Sequence[Sample]) -> list[Table]:
    """Tabulate how the passages of the samples were used, by method.

    Args:
        table: A table with results; those without a score do not count.
        samples: The samples that were judged, in the order of the table.

    Returns:
        The table ``passages`` with the measures of `passage_measures`: means over the samples that have the
        measure, and of `Citations.precision` and `Citations.recall`. Intervals are over groups where the
        table has groups. It is empty if no claim was compared with contexts. The table ``passages by id`` says
        how often each passage with an id was retrieved and used, the least used first; ``citations to check``
        has the claims that are broken, elsewhere or missing in answers that cite.

    >>> from tcva_adapters import TCVA
    >>> from tcva_adapters.compare import read_scores
    >>> sample = Sample(response="Entry is free.", contexts=["We open at 9.", "Entry is free."])
    >>> table = read_scores([TCVA(judge="lexical").evaluate(sample)])
    >>> [record["measure"] for record in passage_tables(table, [sample])[0].records]
    ['characters not used', 'passages used', 'precision at 1', 'reciprocal rank']
    """
    records: list[Record] = []
    claims: list[Record] = []
    by_id: dict[str, Record] = {}
    for method, results in table.results.items():
        try:
            rows = [
                _measures(result, sample, claims, by_id)
                if isinstance(result, Result)
                else {}
                for result, sample in zip(results, samples, strict=True)
            ]
        except InvalidValueError:
            continue  # the claims were compared with another text than the contexts
        for measure in sorted({*chain(*rows)}):
            figure = estimate(
                # At 1 it is 0 or 1, and a share has an interval where few differ.
                "share" if measure == "precision at 1" else "mean",
                [row.get(measure, math.nan) for row in rows],
                table.known_groups,
            )
            records.append(
                {
                    "method": method,
                    "measure": measure,
                    "samples": figure.n,
                    **figure.record("mean"),
                }
            )
    columns = named_columns("method", "measure", mean="interval", samples="int")
    to_check = named_columns("sample", "outcome", "marks", "context", "claim")
    by_id_columns = named_columns("criterion", "id", retrieved="int", used="int")
    return [
        Table("passages", columns, records, detail=not claims, notes=[_ONE_QUOTE]),
        Table(
            "passages by id",
            by_id_columns,
            sorted(by_id.values(), key=lambda row: (row["used"], -row["retrieved"])),
            detail=True,
            most=20,
        ),
        Table("citations to check", to_check, claims, notes=[_UNCONFIRMED], most=20),
    ]


def _measures(
    result: Result,
    sample: Sample,
    claims: list[Record],
    by_id: dict[str, Record],
) -> dict[str, float]:
    """Measure passages and citations of a sample; append claims with citations to check, and count passages by id."""
    uses = result.passages(sample)
    for use in uses:
        if use.id:
            row = by_id.setdefault(
                f"{use.id} {result.criterion}",
                {
                    "criterion": result.criterion,
                    "id": use.id,
                    "retrieved": 0,
                    "used": 0,
                },
            )
            row["retrieved"] += 1
            row["used"] += use.is_used
    measures = passage_measures(uses)
    with suppress(InvalidValueError):  # the claims are no sentences of the response
        citations = result.citations(sample)
        for name in ("precision", "recall"):
            share = getattr(citations, name)
            measures |= {} if share is None else {f"citation {name}": share}
        claims += [
            {
                "sample": result.sample_id,
                **part.to_dict(),
                "marks": " ".join(part.marks),
                "context": part.claim.context,
            }
            for part in citations.parts
            if part.outcome not in _NOT_WRONG
        ]
    return measures
