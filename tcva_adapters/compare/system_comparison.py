"""Compare several systems on the same queries: means, tests of all pairs, discriminative power."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np

from tcva_adapters.compare.agreement.method_tables import LEXICAL, reason_notes
from tcva_adapters.compare.hypotheses import Hypotheses, hypotheses_table
from tcva_adapters.compare.scores.ratings import Scale, check_unused
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.compare.system_scores import (
    HUMAN,
    TEMPERATURES,
    SystemTables,
    comparable,
    read_systems,
    select_metrics,
)
from tcva_adapters.core.temperature import Temperatures
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.stats.checks import (
    SAME,
    FloatArray,
    check_level,
    group_codes,
    one_of,
)
from tcva_adapters.stats.correlation import Measure, agreement, fisher_average
from tcva_adapters.stats.describe import TIES, as_shown, describe, mean
from tcva_adapters.stats.estimates import DETECTABLE
from tcva_adapters.stats.powered_mean import powered_mean
from tcva_adapters.stats.system_pairs import (
    Pairs,
    PairsTest,
    asl_curve,
    studentised,
    tukey,
)
from tcva_adapters.tables import (
    Column,
    Record,
    Records,
    Report,
    Table,
    cell,
    counted,
    named_columns,
    p_text,
)

_CORRELATIONS: tuple[Measure, ...] = ("pearson", "spearman", "kendall")
_METRICS = named_columns(
    "metric",
    queries="int",
    significant="int",
    pairs="int",
    discriminative_power="share",
)
_SCORES = (
    *named_columns(
        "metric",
        "system",
        n="int",
        mean="score",
        median="score",
        variance="score",
        minimum="score",
        maximum="score",
    ),
    Column("ties", "share", "share of pairs of answers with equal scores"),
)
_PAIRS = (
    *named_columns(
        "metric",
        "higher",
        "lower",
        difference="score",
    ),
    Column("p", "p", "corrected for all pairs of the metric"),
    Column("detectable", "score", DETECTABLE),
)
_PEOPLE = Column("people", "signed", "the difference, corrected by human ratings")
_RATED = (*_PAIRS[:4], _PEOPLE, Column("rated", "int", "queries with ratings of both"))

_TESTS = {"studentised": studentised, "tukey": tukey}


@with_checked_names
def systems(
    source: Any,
    *,
    metrics: Sequence[str] = (),
    temperatures: Temperatures = TEMPERATURES,
    system: str | None = None,
    group: str | None = None,
    human: str | Path | None = None,
    human_scale: Scale | None = None,
    hypotheses: Hypotheses = (),
    test: PairsTest = "studentised",
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Describe every metric, test all pairs of systems, and test hypotheses, without a call.

    All pairs are tested at once, and their p is corrected for the number of pairs: by ``studentised``,
    which allows for different variances (`stats.system_pairs`), or ``tukey``, as in the CCRS paper.
    With groups, systems are exchanged in all queries of a group at once, and a query without a score
    of every system is left out.

    Human ratings of some queries correct the judge's differences on all (`stats.powered_mean`), if
    these queries are a random draw. The report says which pairs people order the other way round.

    Args:
        source: By metric, a table of queries with a method per system, and as ``human`` one of
            ratings in [0, 1]; or what `read_systems` takes.
        metrics: The metrics to use, by default all; ``faithfulness`` takes it at every temperature.
        temperatures: Temperatures at which judgements are scored.
        system: The metadata field, or column, that names the system.
        group: The metadata field, or column, of the queries' groups (documents).
        human: Where the ratings are, see `read_systems`.
        human_scale: The lowest and the highest rating that could be given.
        hypotheses: A JSON file of a list, or the list: ``name``, ``pairs`` (two systems each), and
            optionally ``metrics`` (all), ``direction`` (``greater``, ``less`` or ``different``, the
            default), ``join`` (``all`` or ``any``; needed for several comparisons) and ``chances``
            (for ``any``: by what the smallest p is multiplied, the number of ``comparisons``, the
            default, or of ``metrics``).
        test: The test of all pairs.
        alpha: Level of the test, and of the intervals together, for each metric over all its pairs.
        resamples: Draws of each test per metric.
        seed: Seed of the draws.

    Returns:
        The tables ``means`` (a system in each row), ``metrics`` (``discriminative_power``: the
        share of pairs that differ significantly; ``asl``: the p of all pairs, ascending),
        ``hypotheses`` (corrected by Holm), ``scores`` (of each system and metric, with ``ties``),
        ``pairs`` (with ratings also ``people``: by how much they would rate the higher system
        higher, ``scores_used``: whether the judge's scores count in it, and ``reason``: why it has
        no interval), and ``correlations`` of metrics, averaged over systems by Fisher's z.

    Raises:
        InvalidSampleError: Fewer than two systems, or no metric under which a query has scores of
            two of them (with groups, of all). Such a metric is left out where there are others.
        InvalidValueError: A setting is out of range, or a metric is unknown.
        MissingDependencyError: scipy is not installed.
        UnreadableInputError: A hypothesis cannot be read or names an unknown system or metric; see
            `read_systems` for further errors.

    >>> scores = np.array([[0.9, 0.1]] * 8)
    >>> table = ScoreTable(tuple("abcdefgh"), ("new", "old"), scores)
    >>> round(systems({"qr": table}, test="tukey").records("pairs")[0]["p"], 3)
    0.008
    """
    one_of("test", test, get_args(PairsTest))
    check_level(alpha)
    if isinstance(source, Mapping) and all(
        isinstance(table, ScoreTable) for table in source.values()
    ):
        why = f"cannot be read for tables; give the ratings as their table {HUMAN!r}"
        check_unused(why, human=human, human_scale=human_scale)
        found = dict(source)
    else:
        found = read_systems(
            source,
            temperatures=temperatures,
            system=system,
            group=group,
            human=human,
            human_scale=human_scale,
        )
    if metrics:
        found = select_metrics(found, metrics)
    ratings = found.pop(HUMAN, None)
    tables, notes = comparable(found)
    tests_of_metrics = {}
    means: dict[str, Record] = {}
    rows = []
    scores = []
    pairs = []
    for metric, table in tables.items():
        compared = table.common() if table.groups else table
        tested = tests_of_metrics[metric] = _TESTS[test](
            _by_group(compared),
            alpha=alpha,
            permutations=resamples,
            seed=seed,
        )
        asl = asl_curve(tested)
        is_significant = asl < alpha
        rows.append(
            {
                "metric": metric,
                "queries": len(table),
                "significant": is_significant.sum(),
                "pairs": len(asl),
                "discriminative_power": mean(is_significant),
                "asl": asl,
            }
        )
        for name, column in table.columns:
            figures = {"metric": metric, "system": name, **describe(column)}
            scores.append(figures)
            means.setdefault(name, {"system": name})[metric] = figures["mean"]
        pairs += _pairs(metric, compared, tested, ratings, alpha)
        if tested.reason:
            notes.append(f"{metric}: some pairs have no p: {tested.reason}.")

    main = _main_metric([*tables])
    rated = [pair for pair in pairs if "people" in pair]
    if ratings is not None and not rated:
        notes.append("No query has human ratings of two systems.")
    columns = [Column("system"), *(Column(metric, "score") for metric in tables)]
    report_tables = [
        Table("means", columns, [*means.values()]),
        Table("metrics", _METRICS, rows),
        hypotheses_table(hypotheses, tests_of_metrics, tables, alpha),
        Table(
            "scores",
            _SCORES,
            scores,
            detail=True,
            notes=[TIES],
        ),
        Table(
            "human ratings",
            _RATED,
            sorted(rated, key=lambda pair: pair["metric"] != main),
            notes=[
                "people: by how much they would rate the higher one higher, if a random draw is rated",
                "the intervals of all pairs of a metric hold together",
                *reason_notes(rated, "higher", "lower"),
            ],
        ),
        Table("pairs", _PAIRS, pairs, detail=True),
        _correlations(tables),
    ]
    sentence = _sentence(_of(main, scores), _of(main, pairs), alpha)
    sentence += _reversed(_of(main, rated))
    if tables[main].judged.is_lexical:
        sentence += f" {LEXICAL}"
    return Report(
        sentence,
        report_tables,
        notes,
        settings={
            "test": test,
            "alpha": alpha,
            "permutations": resamples,
            "seed": seed,
        },
    )


def _main_metric(metrics: Sequence[str]) -> str:
    """The metric of the sentence: the first one; of several temperatures the middle one."""
    stems = [metric.partition(" T=")[0] for metric in metrics]
    return metrics[stems.count(stems[0]) // 2]


def _of(metric: str, records: Records) -> list[Record]:
    return [record for record in records if record["metric"] == metric]


def _by_group(table: ScoreTable) -> FloatArray:
    """Make the rows to test: one for each query, or the scaled sum of each group of queries.

    If systems do not differ, they can be exchanged in all queries of a group at once. The mean
    differences of these rows are those of the queries.
    """
    if not table.groups:
        return table.scores
    codes = group_codes(table.groups, np.ones(len(table), dtype=np.bool_))
    sums = np.zeros((codes.max() + 1, len(table.methods)))
    np.add.at(sums, codes, table.scores)
    return sums * (len(sums) / len(table))


def _pairs(
    metric: str,
    table: ScoreTable,
    tested: Pairs,
    ratings: ScoreTable | None,
    alpha: float,
) -> list[Record]:
    """Return every pair of systems, the largest difference first, with ratings that of people, too."""
    pairs = [*combinations(range(len(table.methods)), 2)]
    if ratings is not None:
        ratings = ratings.for_samples(table.samples)
    records = []
    for i, j in pairs:
        apart = tested.differences[i, j]
        higher, lower = (i, j) if apart >= 0.0 else (j, i)
        differences = table.scores[:, higher] - table.scores[:, lower]
        systems = [table.methods[place] for place in (higher, lower)]
        record = {
            "metric": metric,
            "higher": systems[0],
            "lower": systems[1],
            "queries": np.isfinite(differences).sum(),
            "difference": abs(apart),
            "p": tested.p[i, j],
            "detectable": tested.smallest[i, j],
        }
        records.append(record)
        if ratings is None or not {*systems} <= {*ratings.methods}:
            continue
        rated = np.subtract(*map(ratings.column, systems))
        if np.isfinite(differences + rated).any():
            powered = powered_mean(
                rated,
                differences,
                groups=table.known_groups,
                level=1.0 - alpha / len(pairs),
                signed=True,
            )
            people = powered.estimate
            record |= {
                **people.record("people"),
                "rated": people.n,
                "reason": people.reason,
                "scores_used": people is not powered.alone,
                "reversed": people.high < 0.0 and abs(apart) > SAME,
            }
    return sorted(records, key=lambda record: -record["difference"])


def _correlations(tables: SystemTables) -> Table:
    """Tabulate the correlations of every two metrics, averaged over systems."""
    records = []
    for first, second in combinations(tables, 2):
        one = tables[first]
        other = tables[second]
        _, places, other_places = np.intersect1d(
            one.samples,
            other.samples,
            return_indices=True,
        )
        sides = [
            (one.column(name)[places], other.column(name)[other_places])
            for name in one.methods
            if name in other.methods
        ]
        record: Record = {"metric": first, "other_metric": second}
        for measure in _CORRELATIONS if sides else ():
            values = [
                agreement(measure, *as_shown(measure, side)).value for side in sides
            ]
            record[measure] = fisher_average(values)
            record["systems"] = np.isfinite(values).sum()
        records.append(record)
    return Table(
        "correlations",
        named_columns(
            "metric",
            "other_metric",
            pearson="score",
            spearman="score",
            kendall="score",
            systems="int",
        ),
        records,
        detail=True,
        notes=[
            "averaged over systems by Fisher's z, without systems whose scores are all equal",
            TIES,
        ],
    )


def _reversed(rated: Records) -> str:
    """Say which of the rated pairs of a metric people order the other way round."""
    reversed_pairs = [pair for pair in rated if pair["reversed"]]
    if not reversed_pairs:
        return ""
    pair = min(reversed_pairs, key=lambda pair: pair["people"])
    return (
        f" People order {len(reversed_pairs)} of {counted(len(rated), 'pair')} the other way round: "
        f"{pair['higher']} minus {pair['lower']} is {cell(pair['difference'], 'signed')} by the judge, "
        f"{_PEOPLE.cell(pair)} by people."
    )


def _sentence(scores: Records, pairs: Records, alpha: float) -> str:
    """Say which system has the highest mean under a metric, and whether it differs from the next.

    Args:
        scores: What describes each system's scores.
        pairs: All pairs.
        alpha: Level of the test.
    """
    scored = [record for record in scores if record["n"]]
    best, next_best = sorted(scored, key=lambda record: -record["mean"])[:2]
    systems = {best["system"], next_best["system"]}
    means = [cell(record["mean"], "score") for record in (best, next_best)]
    sentence = (
        f"By {best['metric']} {best['system']} has the highest mean, {means[0]}, "
        f"then {next_best['system']}, {means[1]}."
    )
    pair = next(pair for pair in pairs if {pair["higher"], pair["lower"]} == systems)
    if math.isnan(pair["p"]):
        return f"{sentence} There are too few queries for a test."
    significant = "significant"
    detectable = ""
    if pair["p"] >= alpha:
        significant = "not significant"
        if pair["detectable"] > 0.0:
            detectable = f"; they detect one of {cell(pair['detectable'], 'score')}"
    queries = counted(pair["queries"], "common query", "common queries")
    sentence += (
        f" On their {queries} {pair['higher']} is {cell(pair['difference'], 'score')} higher, "
        f"which is {significant} ({p_text(pair['p'])}{detectable})."
    )
    if pair.get("rated") and not pair["reversed"]:
        rated = counted(pair["rated"], "query", "queries")
        ratings = f"With the human ratings of {rated}"
        if not pair["scores_used"]:
            ratings = f"By the human ratings of {rated} alone"
        why = f" (no interval: {pair['reason']})" if pair["reason"] else ""
        sentence += f" {ratings} the difference is {_PEOPLE.cell(pair)}{why}."
    if len(pairs) > 1:
        found = sum(pair["p"] < alpha for pair in pairs)
        sentence += f" {found} of {len(pairs)} pairs differ significantly."
    return sentence
