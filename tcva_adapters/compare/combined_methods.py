"""Add fused scores as methods of a comparison, and test their gain over the best member."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tcva_adapters.compare.agreement.method_tables import figure_row
from tcva_adapters.compare.scores.table import THRESHOLD, ScoreTable
from tcva_adapters.core.panel import fuse
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.correlation import agreement
from tcva_adapters.stats.describe import seen
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.tables import Table, counted, named_columns

_MARK = "+"


def members_of(text: str) -> tuple[str, ...]:
    """Parse the members of ``A + B``.

    Raises:
        InvalidValueError: There are fewer than two members, or one twice.

    >>> members_of("tcva T=0.5 + ragas faithfulness")
    ('tcva T=0.5', 'ragas faithfulness')
    """
    members = tuple(part.strip() for part in text.split(_MARK))
    if len(members) < 2 or not all(members) or len(set(members)) < len(members):
        raise InvalidValueError(
            f"a fused method needs at least two different members, 'A + B', got {text!r}"
        )
    return members


def fused_name(text: str) -> str:
    """Name a fused method as tables show it.

    >>> fused_name("a +b")
    'fused(a + b)'
    """
    return f"fused({f' {_MARK} '.join(members_of(text))})"


def with_fused(table: ScoreTable, text: str) -> ScoreTable:
    """Add the geometric mean of ``A + B`` to a table as one more method.

    Members without a score, and members that no gate passes, are left out of a sample's mean. A
    method that cannot be fused, such as one with a member on another scale, is left out with a note
    instead of an error, as all judgements are paid for by then.
    """
    members = members_of(text)
    name = fused_name(text)
    scores = [
        np.where(
            table.closed(member),
            np.nan,
            table.column(member),
        )
        for member in members
    ]
    try:
        fused = fuse(np.stack(scores, axis=1))
    except InvalidValueError as error:
        return replace(table, notes=(*table.notes, f"{name} is left out: {error}"))
    numbers = Counter(fused.members)
    sizes = ", ".join(
        f"{counted(numbers[size], 'sample')} with {size}"
        for size in sorted(numbers, reverse=True)
    )
    lacking = np.flatnonzero(fused.members == 0).tolist()
    reasons = {(table.samples[row], name): "no member has a score" for row in lacking}
    return replace(
        table.with_method(name, fused.scores),
        reasons={**table.reasons, **reasons},
        notes=(*table.notes, f"{name}: {sizes} members."),
        members={**table.members, name: members},
    )


COMPOSITE = "composite"


def with_composite(
    table: ScoreTable,
    weights: Mapping[str, float],
    threshold: float | None = None,
) -> ScoreTable:
    """Add the weighted mean of a table's methods, for samples that each weighted method scored.

    Args:
        table: A table of scores, e.g. of CCRS metrics.
        weights: Weights by method, summing to 1.
        threshold: The lowest composite that passes; by default 0.5.

    Raises:
        InvalidValueError: A weight is for a method that the table does not have.
    """
    columns = {m: table.column(m) for m, weight in weights.items() if weight > 0.0}
    scores = np.sum([weights[m] * column for m, column in columns.items()], axis=0)
    reasons = dict(table.reasons)
    for row in np.flatnonzero(np.isnan(scores)).tolist():
        sample = table.samples[row]
        missing = [m for m, column in columns.items() if np.isnan(column[row])]
        # Reasons are not always stored.
        reason = table.reasons.get((sample, missing[0]), "no_score").partition(":")[0]
        reasons[sample, COMPOSITE] = f"{reason}: no score for {', '.join(missing)}"
    if threshold is None:
        threshold = THRESHOLD
    return replace(table.with_method(COMPOSITE, scores, threshold), reasons=reasons)


def gains(table: ScoreTable, *, resamples: int = 10_000, seed: int = 0) -> Table:
    """Test each fused method's gain over the member that agrees best with people (Spearman's rho).

    One of several combinations may gain by luck, so p is corrected for all of them (Holm).

    Args:
        table: A table with human ratings, and the fused methods among its ``members``.
        resamples: Resamples of each test.
        seed: Seed of the resamples.

    Raises:
        MissingDependencyError: scipy is not installed.
    """
    records = []
    for name, members in table.members.items():
        common = table.rated.common([name, *members])
        human = common.rating
        groups = common.known_groups
        scores = {method: seen(column) for method, column in common.columns}
        rhos = {m: agreement("spearman", scores[m], human).value for m in members}
        best = max(members, key=lambda m: np.nan_to_num(rhos[m], nan=-math.inf))
        rho = estimate("spearman", [scores[name], human], groups)
        gain = difference(
            "spearman",
            scores[name],
            scores[best],
            human,
            groups,
            resamples=resamples,
            seed=seed,
        )
        records.append(
            {
                "method": name,
                **figure_row(gain=gain, rho=rho),
                "best_member": best,
                "member_rho": rhos[best],
            }
        )
    correct_p(records)
    return Table(
        "fused",
        named_columns(
            "method",
            n="int",
            rho="interval",
            best_member="text",
            gain="signed",
            p_corrected="p",
        ),
        records,
        notes=[
            "gain: over the member that agrees best with the human ratings, on the same samples",
            "p corrected: Holm, for all fused methods",
        ],
    )
