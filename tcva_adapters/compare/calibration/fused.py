"""Fused scores as methods of a comparison, and what they gain over the best of their members."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.scores.table import THRESHOLD, ScoreTable
from tcva_adapters.core.panel import fuse
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.correlation import agreement
from tcva_adapters.stats.describe import seen
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.tables import Table, counted, named_columns

_MARK: Final = "+"


def members_of(text: str) -> tuple[str, ...]:
    """The members of ``A + B``.

    Raises:
        InvalidValueError: Fewer than two, or one twice.

    >>> members_of("tcva T=0.5 + ragas faithfulness")
    ('tcva T=0.5', 'ragas faithfulness')
    """
    members = tuple(part.strip() for part in text.split(_MARK))
    if len(members) < 2 or not all(members) or len(set(members)) < len(members):
        msg = f"a fused method needs at least two different members, 'A + B', got {text!r}"
        raise InvalidValueError(msg)
    return members


def fused_name(text: str) -> str:
    """As tables show it.

    >>> fused_name("a +b")
    'fused(a + b)'
    """
    return f"fused({f' {_MARK} '.join(members_of(text))})"


def with_fused(table: ScoreTable, text: str) -> ScoreTable:
    """The same with the geometric mean of ``A + B`` as one more method.

    Members without a score are left out of a sample's mean, as are those that no gate passes. What cannot be fused (a member on a
    scale of its own) is left out, and a note says so: by then all judgements are paid for.
    """
    members, name = members_of(text), fused_name(text)
    scores = [
        np.where(table.closed(member), np.nan, table.column(member))
        for member in members
    ]
    columns = np.stack(scores, axis=1)
    try:
        found = fuse(columns)
    except InvalidValueError as error:
        return replace(table, notes=(*table.notes, f"{name} is left out: {error}"))
    sizes = sorted(Counter(found.members.tolist()).items(), reverse=True)
    said = ", ".join(
        f"{counted(number, 'sample')} with {size}" for size, number in sizes
    )
    more = table.with_method(name, found.scores)
    reasons = {
        (sample, name): "no member has a score"
        for sample, number in zip(table.samples, found.members.tolist(), strict=True)
        if not number
    }
    return replace(
        more,
        reasons={**table.reasons, **reasons},
        notes=(*table.notes, f"{name}: {said} members."),
        members={**table.members, name: members},
    )


COMPOSITE: Final = "composite"


def with_composite(
    table: ScoreTable,
    weights: Mapping[str, float] | None = None,
    threshold: float | None = None,
) -> ScoreTable:
    """The table with the weighted mean of its methods, which every weighted one has to score.

    Args:
        table: E.g. of CCRS metrics.
        weights: By method, summing to 1; by default all alike.
        threshold: The composite passes from here on; by default 0.5.

    Raises:
        InvalidValueError: A weight is for something else.
    """
    shares = weights or dict.fromkeys(table.methods, 1.0 / len(table.methods))
    rated = [name for name, share in shares.items() if share > 0.0]
    scores = np.sum([shares[name] * table.column(name) for name in rated], axis=0)
    found = table.with_method(
        COMPOSITE, scores, THRESHOLD if threshold is None else threshold
    )
    lacking = {}
    for row in np.flatnonzero(np.isnan(scores)).tolist():
        sample = table.samples[row]
        without = [name for name in rated if np.isnan(table.column(name)[row])]
        why = table.reasons.get(
            (sample, without[0]), "no_score"
        )  # reasons are not always held
        word = why.partition(":")[0]
        lacking[sample, COMPOSITE] = f"{word}: no score for {', '.join(without)}"
    return replace(found, reasons={**found.reasons, **lacking})


def gains(table: ScoreTable, **drawn: Any) -> Table:
    """What each fused method gains over the member that agrees best with people, by Spearman's rho.

    Who tries several combinations finds one that gains by luck, so p allows for all of them (Holm).

    Args:
        table: With human ratings, and the the fused methods among its ``members``.
        **drawn: ``resamples`` and ``seed``, see `tcva_adapters.stats.inference.estimate`.

    Raises:
        MissingDependencyError: scipy is missing.
    """
    records = []
    rated = table.rated
    for name, members in table.members.items():
        common = rated.common([name, *members])
        common = replace(common, scores=seen(common.scores))
        human, groups = common.rating, common.groups or None
        rhos = {
            m: agreement("spearman", common.column(m), human).value for m in members
        }
        best = max(
            members, key=lambda member: np.nan_to_num(rhos[member], nan=-math.inf)
        )
        own = estimate("spearman", [common.column(name), human], groups, **drawn)
        gain = difference(
            "spearman", common.column(name), common.column(best), human, groups, **drawn
        )
        records.append(
            {
                "method": name,
                "n": own.n,
                **own.record("rho"),
                "best_member": best,
                "member_rho": rhos[best],
                **gain.record("gain"),
                "p": gain.p,
            }
        )
    correct_p(records)
    columns = named_columns(
        method="text",
        n="int",
        rho="interval",
        best_member="text",
        gain="signed",
        p_corrected="p",
    )
    notes = [
        "gain: over the member that agrees best with the human ratings, on the same samples",
        "p corrected: Holm, for all fused methods",
    ]
    return Table("fused", columns, records, notes=notes)
