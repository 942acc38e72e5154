"""Judgements at many temperatures and settings: means, pass rates, and agreement with ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.scores.ratings import Scale
from tcva_adapters.compare.scores.readers import Human, read_scores
from tcva_adapters.compare.scores.table import ScoreTable, groups_note
from tcva_adapters.core.aggregation import Plan, SchemeLike, make_plan, scores_of
from tcva_adapters.core.collapse import ablation_plans, binary_counts
from tcva_adapters.core.temperature import Temperatures, check_temperature
from tcva_adapters.core.verdicts import SCHEMES, FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import Summary
from tcva_adapters.stats.describe import TIES, seen
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.tables import (
    Column,
    Record,
    Records,
    Report,
    Table,
    cell,
    counted,
    named_columns,
)

TEMPERATURES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
PARTS: Final = {
    "full": "A full",
    "without_penalty": "B no penalty",
    "arithmetic": "C arithmetic",
    "binary": "D binary",
}
"""What `core.collapse.ablation_plans` takes out of the method, and what tables call it."""

_BLOCK: Final = 8_192
_COLUMNS: Final = (
    *named_columns(
        setting="text",
        T="text",
        scored="int",
        mean="score",
        pass_rate="share",
    ),
    Column("flips", "int", "decisions that differ from the row above"),
)
_RHO: Final = named_columns(rated="int", spearman="interval")


@dataclass(frozen=True, slots=True)
class _Setting:
    """One way to score, at several temperatures."""

    plan: Plan
    is_binary: bool = False

    def __call__(self, counts: FloatArray) -> FloatArray:
        """The scores of counts of shape (n, J, 5), fused where J > 1: (n, temperatures)."""
        judges = counts.swapaxes(0, 1)
        rows = [binary_counts(one) if self.is_binary else one for one in judges]
        return ScoringConfig().joined([scores_of(one, self.plan) for one in rows])


def sweep(
    source: Any,
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
    """Mean scores and pass rates over temperatures, without a call of a model.

    Args:
        source: What was judged, see `read_scores`: a file, results, level counts.
        temperatures: Numbers or presets.
        scoring: Weights, penalty, threshold and so on; by default those of the judgements.
        schemes: Weight schemes, perhaps by a name for tables; by default that of ``scoring`` (with
            ``ablation`` the four of the paper).
        ablation: Take parts of the method out, too (A to D, with the paper's penalty); with ratings
            also what each part, and each scheme, adds to the agreement with them.
        human: Where human ratings are, see `read_scores`: Spearman's rho with them.
        human_scale: The lowest and the highest rating that could be given.
        group: The field of dependent samples: intervals count its values.
        skip_bad: Leave out unreadable lines of a file.
        resamples: For the interval of each difference.
        seed: Of these.

    Returns:
        The table ``temperatures`` (means, pass rates, flips, with ratings Spearman) and, with an
        ablation and ratings, ``ablation``: at one T each setting less the first, on the same samples.

    Raises:
        InvalidValueError: A wrong setting, or scores without verdicts behind them.
        UnreadableInputError: As for `read_scores`, like further errors.

    >>> found = sweep([[4, 0, 0, 0, 1], [2, 1, 0, 1, 0]], [0.2, 0.5])
    >>> [(row["T"], round(row["mean"], 3)) for row in found.records("temperatures")]
    [(0.2, 0.191), (0.5, 0.72)]
    """
    if group is not None and human is None:
        msg = "group (--group) needs human ratings; name them with human (--human)"
        raise InvalidValueError(msg)
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
    grid = [check_temperature(temperature, base.bounds) for temperature in temperatures]
    settings = _settings(grid, base, schemes, ablation=ablation)
    rows = [
        row
        for name in settings
        for row in _rows(name, settings[name], grid, table, base)
    ]
    tables, notes = (
        [Table("temperatures", _COLUMNS, rows)],
        [*_about(table), *table.notes],
    )
    if human is not None:
        rated = table.rated
        counts = _counts(rated)
        # One setting at a time: scores of all of them would take too much memory.
        shown = chain.from_iterable(
            seen(setting(counts)).T for setting in settings.values()
        )
        for row, scores in zip(rows, shown, strict=True):
            rho = estimate("spearman", [scores, rated.rating], rated.groups or None)
            row |= {
                "rated": rho.n,
                **rho.record("spearman"),
                "reason": rho.reason,
            }
        tables = [
            Table(
                "temperatures", [*_COLUMNS, *_RHO], rows, notes=[*_reasons(rows), TIES]
            )
        ]
        if ablation:
            at = (
                grid.index(base.temperature)
                if base.temperature in grid
                else len(grid) // 2
            )
            by_name = {
                name: seen(setting(counts)[:, at]) for name, setting in settings.items()
            }
            own = [row for row in rows if row["T"] == grid[at]]
            tables.append(_parts(own, by_name, rated, resamples=resamples, seed=seed))
        if rated.groups:
            notes.append(groups_note(len(set(rated.groups))))
    asked = {
        "scoring": base.model_dump(mode="json"),
        "resamples": resamples,
        "seed": seed,
    }
    first = len(PARTS) * len(grid) if ablation else 0
    sentence = _sentence(rows[first : first + len(grid)], len(table))
    return Report(sentence, tables, notes, asked)


def _settings(
    grid: Sequence[float],
    base: ScoringConfig,
    schemes: Sequence[SchemeLike] | Mapping[str, SchemeLike],
    *,
    ablation: bool,
) -> dict[str, _Setting]:
    """Parts taken out first, the schemes last."""
    floors: dict[str, Any] = {
        "eps": base.eps,
        "floor": base.floor,
        "bounds": base.bounds,
    }
    if not isinstance(schemes, Mapping):
        given = [WeightScheme.resolve(scheme) for scheme in schemes]
        schemes = {scheme.name or str(scheme.weights): scheme for scheme in given}
    weights = schemes or (SCHEMES if ablation else {base.scheme.name: base.scheme})
    found: dict[str, _Setting] = {}
    if ablation:
        plans = ablation_plans(grid, scheme=base.scheme, **floors)
        found = {
            PARTS[part]: _Setting(plan, part == "binary")
            for part, plan in plans.items()
        }
    penalty = "paper" if ablation else base.penalty
    for name, scheme in weights.items():
        found[name] = _Setting(
            make_plan(
                grid,
                scheme=scheme,
                penalty=penalty,
                **floors,
            )
        )
    return found


def _rows(
    name: str,
    setting: _Setting,
    grid: Sequence[float],
    table: ScoreTable,
    base: ScoringConfig,
) -> Iterator[Record]:
    """Means and pass rates, block by block; of a million samples nothing else is held."""
    n = 0
    sums: list[list[float]] = [[] for _ in grid]
    passed = np.zeros(len(grid), dtype=np.int64)
    flips = np.zeros(len(grid), dtype=np.int64)
    for start in range(0, len(table), _BLOCK):
        scores = setting(_counts(table)[start : start + _BLOCK])
        scores = scores[np.isfinite(scores).all(axis=1)]
        n += len(scores)
        passes = scores >= base.threshold
        passed += passes.sum(axis=0)
        flips[1:] += (passes[:, 1:] != passes[:, :-1]).sum(axis=0)
        for place, column in enumerate(scores.T):
            sums[place].append(math.fsum(column))
    for place, temperature in enumerate(grid):
        row: Record = {
            "setting": name,
            "T": temperature,
            "scored": n,
        }
        if n:
            row["mean"] = math.fsum(sums[place]) / n
            row["pass_rate"] = int(passed[place]) / n
        yield {**row, "flips": int(flips[place]) if place else None}


def _counts(table: ScoreTable) -> FloatArray:
    if table.counts is None:
        msg = "these scores have no verdicts to compute other temperatures from; give judgements"
        raise InvalidValueError(msg)
    return table.counts


def _parts(
    rows: Records,
    scores: Mapping[str, FloatArray],
    rated: ScoreTable,
    *,
    resamples: int,
    seed: int,
) -> Table:
    """What each part of the method, and each scheme, adds to the agreement with people."""
    first = next(iter(scores.values()))
    names = ("setting", "scored", "mean", "pass_rate", "rated", "reason")
    records: list[Record] = []
    for row in rows:
        used = {k: v for k, v in row.items() if k.startswith("spearman") or k in names}
        change = difference(
            "spearman",
            scores[row["setting"]],
            first,
            rated.rating,
            rated.groups or None,
            resamples=resamples,
            seed=seed,
        )
        used |= {**change.record("difference"), "p": change.p} if records else {}
        records.append(used)
    columns = [
        *named_columns(
            setting="text",
            mean="score",
            pass_rate="share",
        ),
        *_RHO,
        *named_columns(difference="signed", p="p"),
    ]
    note = f"at T={rows[0]['T']:g}; difference: Spearman minus that of {rows[0]['setting']}"
    return Table("ablation", columns, records, notes=[note])


def _about(table: ScoreTable) -> Iterator[str]:
    """Who judged, and what the check of quotes has lowered."""
    if table.judged.criterion:
        yield str(table.judged)
    if isinstance(table.judged.summary, Summary):
        yield from table.judged.summary.lines()


def _reasons(rows: Records) -> list[str]:
    found = dict.fromkeys(row["reason"] for row in rows if row["reason"])
    return [f"no interval: {reason}" for reason in found]


def _sentence(rows: Records, samples: int) -> str:
    """How far the temperature moves the mean; with ratings, where it agrees best with them."""
    setting, of = (
        rows[0]["setting"],
        f"{rows[0]['scored']} of {counted(samples, 'sample')}",
    )
    known = [row for row in rows if not math.isnan(row.get("spearman", math.nan))]
    if known:
        best = max(known, key=lambda row: float(row["spearman"]))
        rho = Column("spearman", "interval").cell(best)
        said = f"T={best['T']:g} with {setting} weights agrees best with the human ratings (Spearman {rho}, "
        tried = f" It is the best of {len(rows)} temperatures tried with these weights and samples."
        return f"{said}n = {best['rated']}).{tried if len(rows) > 1 else ''}"
    ends = [
        f"{cell(row.get('mean'), 'score')} at T={row['T']:g}"
        for row in (rows[0], rows[-1])
    ]
    said = " and ".join(dict.fromkeys(ends))
    return f"The mean score with {setting} weights is {said} ({of} have a score)."
