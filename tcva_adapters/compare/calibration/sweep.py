"""Score judgements at many temperatures and settings: means, pass rates, agreement with ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from tcva_adapters.compare.agreement.method_tables import with_interval
from tcva_adapters.compare.scores.ratings import NEEDS_HUMAN, Scale, check_unused
from tcva_adapters.compare.scores.score_reader import Human, Source, read_scores
from tcva_adapters.compare.scores.table import ScoreTable, groups_note
from tcva_adapters.core.aggregation import Plan, SchemeLike, make_plan, scores_of
from tcva_adapters.core.checks import as_list
from tcva_adapters.core.collapse import ablation_plans, binary_counts
from tcva_adapters.core.temperature import Temperatures, check_temperature
from tcva_adapters.core.verdicts import SCHEMES, FloatArray, WeightScheme
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import Summary
from tcva_adapters.stats.describe import TIES, seen
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.tables import (
    Column,
    Record,
    Records,
    Report,
    Table,
    counted,
    named_columns,
)

TEMPERATURES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PARTS = {
    "full": "A full",
    "without_penalty": "B no penalty",
    "arithmetic": "C arithmetic",
    "binary": "D binary",
}
"""The variants of `core.collapse.ablation_plans`, with their names in tables."""

_BLOCK = 8_192
_PASS_RATE = Column("pass_rate", "share")
_COLUMNS = (
    *named_columns(
        "setting",
        "T",
        scored="int",
        mean="score",
    ),
    _PASS_RATE,
    Column("flips", "int", "decisions that differ from the row above"),
)
_CORRECTED = "the interval between the worst and the best is corrected for all pairs of temperatures (Bonferroni)"
_RHO = named_columns(rated="int", spearman="interval")


Change = partial[Estimate]
"""`difference`, from two settings' scores to the difference of their Spearman correlations."""


Variant = partial[FloatArray]
"""One way to score at several temperatures, from counts (n, J, 5) to scores (n, temperatures)."""


def _scores(counts: FloatArray, *, plan: Plan, is_binary: bool = False) -> FloatArray:
    """Score counts of shape (n, J, 5), fused where J > 1; shape (n, temperatures)."""
    by_judge = counts.swapaxes(0, 1)
    if is_binary:
        by_judge = np.array([binary_counts(judge) for judge in by_judge])
    return ScoringConfig().fuse_scores([scores_of(judge, plan) for judge in by_judge])


@with_checked_names
def sweep(
    source: ScoreTable | Source,
    temperatures: Temperatures = TEMPERATURES,
    *,
    scoring: ScoringConfig | None = None,
    schemes: Sequence[SchemeLike] | Mapping[str, SchemeLike] = (),
    ablation: bool = False,
    human: Human | None = None,
    human_scale: Scale | None = None,
    group: str | None = None,
    skip_bad: bool = False,
    resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Compute mean scores and pass rates at many temperatures, without a call of a model.

    Args:
        source: Judgements, see `read_scores`: a file, results, level counts.
        temperatures: Numbers or presets.
        scoring: Weights, penalty, threshold and so on; by default those of the judgements.
        schemes: Weight schemes, optionally by their names in tables; by default that of ``scoring``
            (with ``ablation`` the four of the paper).
        ablation: Score without parts of the method, too (A to D, with the paper's penalty); with
            ratings, also test what each part and each scheme adds to the agreement with them.
        human: Human ratings, or where they are, see `read_scores`; they add Spearman's rho.
        human_scale: The lowest and the highest rating that could be given.
        group: The metadata field of groups; intervals count groups instead of samples.
        skip_bad: Leave out unreadable lines of a file.
        resamples: Resamples for each difference.
        seed: Seed of the resamples.

    Returns:
        The table ``temperatures`` (means, pass rates, flips, with ratings Spearman) and, with an
        ablation and ratings, ``ablation``: at one T the difference of each setting from the first,
        on the same samples.

    Raises:
        InvalidValueError: A wrong setting, or scores without verdicts behind them.
        UnreadableInputError: See `read_scores`, also for further errors.

    >>> report = sweep([[4, 0, 0, 0, 1], [2, 1, 0, 1, 0]], [0.2, 0.5])
    >>> [(row["T"], round(row["mean"], 3)) for row in report.records("temperatures")]
    [(0.2, 0.191), (0.5, 0.72)]
    """
    if human is None:
        check_unused(NEEDS_HUMAN, group=group, human_scale=human_scale)
    table = read_scores(
        source,
        human=human,
        human_scale=human_scale,
        group=group,
        scoring=scoring,
        skip_bad=skip_bad,
        hold="counts",
    )
    base = scoring or table.judged.scoring or ScoringConfig()
    grid = [
        check_temperature(temperature, base.bounds)
        for temperature in as_list("temperatures", temperatures)
    ]
    at = grid.index(base.temperature) if base.temperature in grid else len(grid) // 2
    counts = table.level_counts
    rated = table.rated
    change_of = partial(
        difference,
        "spearman",
        human=rated.rating,
        groups=rated.known_groups,
        resamples=resamples,
        seed=seed,
    )
    rows = []
    rated_at: dict[str, tuple[Record, FloatArray]] = {}
    # One variant at a time: the scores of all of them would take too much memory.
    variants = _variants(grid, base, schemes, ablation=ablation)
    for number, (name, variant) in enumerate(variants.items()):
        is_first_scheme = number == (len(PARTS) if ablation else 0)
        variant_rows = list(_rows(name, variant, grid, counts, base.threshold))
        rows += variant_rows
        if is_first_scheme:
            sentence = _sentence(variant_rows, len(table), base.threshold)
        if table.human.size:
            scores = seen(variant(rated.level_counts))
            for row, column in zip(variant_rows, scores.T, strict=True):
                rho = estimate("spearman", [column, rated.rating], rated.known_groups)
                row.update(
                    rated=rho.n,
                    **rho.record("spearman"),
                    reason=rho.reason,
                )
            rated_at[name] = variant_rows[at], scores[:, at]
            if is_first_scheme:
                sentence += _rho_range(variant_rows, scores, change_of)

    tables = [Table("temperatures", _COLUMNS, rows)]
    if table.human.size:
        reasons = dict.fromkeys(row["reason"] for row in rows if row["reason"])
        notes = [*(f"no interval: {reason}" for reason in reasons), _CORRECTED, TIES]
        tables = [Table("temperatures", [*_COLUMNS, *_RHO], rows, notes=notes)]
        if ablation:
            tables.append(_ablation_table(rated_at, change_of))
    return Report(
        sentence,
        tables,
        [*_notes(table, rated)],
        {
            "scoring": base.model_dump(mode="json"),
            "resamples": resamples,
            "seed": seed,
        },
    )


def _notes(table: ScoreTable, rated: ScoreTable) -> Iterator[str]:
    """Note who judged, what the check of quotes lowered, and that groups count."""
    yield from table.notes
    if table.judged.criterion:
        yield str(table.judged)
    if isinstance(table.judged.summary, Summary):
        yield from table.judged.summary.lines()
    if rated.groups:
        yield groups_note(len(set(rated.groups)))


def _variants(
    grid: Sequence[float],
    base: ScoringConfig,
    schemes: Sequence[SchemeLike] | Mapping[str, SchemeLike],
    *,
    ablation: bool,
) -> dict[str, Variant]:
    """Make the variants by name: those of the ablation first, the schemes last."""
    if not isinstance(schemes, Mapping):
        resolved = [WeightScheme.resolve(scheme) for scheme in schemes]
        schemes = {scheme.name or str(scheme.weights): scheme for scheme in resolved}
    variants = {}
    if ablation:
        base = base.changed(penalty="paper")
        schemes = schemes or SCHEMES
        for part, plan in ablation_plans(grid, **base.options).items():
            variants[PARTS[part]] = partial(
                _scores, plan=plan, is_binary=part == "binary"
            )
    for name, scheme in (schemes or {base.scheme.name: base.scheme}).items():
        plan = make_plan(grid, **base.changed(scheme=scheme).options)
        variants[name] = partial(_scores, plan=plan)
    return variants


def _rows(
    name: str,
    variant: Variant,
    grid: Sequence[float],
    counts: FloatArray,
    threshold: float,
) -> Iterator[Record]:
    """Compute means and pass rates block by block, so that a million samples fit in memory."""
    scored = 0
    sums = np.zeros(len(grid))
    passing = np.zeros(len(grid), dtype=np.int64)
    flips = np.zeros(len(grid), dtype=np.int64)
    for start in range(0, len(counts), _BLOCK):
        scores = variant(counts[start : start + _BLOCK])
        scores = scores[np.isfinite(scores).all(axis=1)]
        scored += len(scores)
        sums += scores.sum(axis=0)
        passes = scores >= threshold
        passing += passes.sum(axis=0)
        flips[1:] += (passes[:, 1:] != passes[:, :-1]).sum(axis=0)
    for place, temperature in enumerate(grid):
        row = {"setting": name, "T": temperature, "scored": scored}
        if scored:
            row["mean"] = sums[place] / scored
            row["pass_rate"] = passing[place] / scored
        yield {**row, "flips": flips[place] if place else None}


def _ablation_table(
    rated_at: Mapping[str, tuple[Record, FloatArray]], change_of: Change
) -> Table:
    """Tabulate what each part of the method, and each scheme, adds to the agreement with people."""
    (first, first_scores), *_ = rated_at.values()
    records = []
    for row, scores in rated_at.values():
        record = {key: value for key, value in row.items() if key not in {"T", "flips"}}
        if not np.array_equal(scores, first_scores, equal_nan=True):
            change = change_of(scores, first_scores)
            record |= {**change.record("difference"), "p": change.p}
        records.append(record)
    correct_p([record for record in records if "p" in record])
    return Table(
        "ablation",
        [
            *named_columns("setting", mean="score", pass_rate="share"),
            *_RHO,
            *named_columns(difference="signed", p_corrected="p"),
        ],
        records,
        notes=[
            f"at T={first['T']:g}; difference: Spearman minus that of {first['setting']}"
        ],
    )


def _sentence(rows: Records, samples: int, threshold: float) -> str:
    """State how far the temperature moves decisions at one threshold."""
    ends = [f"{_PASS_RATE.cell(row)} at T={row['T']:g}" for row in (rows[0], rows[-1])]
    return (
        f"At threshold {threshold:g} with {rows[0]['setting']} weights, the pass rate is "
        f"{' and '.join(dict.fromkeys(ends))} ({rows[0]['scored']} of {counted(samples, 'sample')} have "
        "a score)."
    )


def _rho_range(rows: Records, scores: FloatArray, change_of: Change) -> str:
    """State how far the temperature moves the correlation with human ratings.

    The best and the worst are known only after looking, so the interval holds for all pairs of
    temperatures together (Bonferroni).
    """
    by_rho = sorted(
        (row["spearman"], place, f"{row['spearman']:.3f} at T={row['T']:g}")
        for place, row in enumerate(rows)
        if not math.isnan(row["spearman"])
    )
    if len(by_rho) < 2:
        return ""
    (_, worst, lowest), *_, (_, best, highest) = by_rho
    pairs = math.comb(len(by_rho), 2)
    gap = change_of(scores[:, best], scores[:, worst], level=1.0 - 0.05 / pairs)
    change = with_interval(gap, "signed")
    reason = f"; no interval: {gap.reason}" if gap.reason else ""
    return (
        f" Spearman with the human ratings is {lowest} and {highest}: {change} between the worst and the "
        f"best of {len(rows)} temperatures (n = {gap.n}{reason})."
    )
