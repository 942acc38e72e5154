"""Compare the methods of a table of scores: each alone, in pairs, and with human ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tcva_adapters.compare.agreement import human_agreement, method_tables
from tcva_adapters.compare.agreement.panels import panel_report, results_of_main
from tcva_adapters.compare.agreement.rated_decisions import decisions_by_rating
from tcva_adapters.compare.agreement.raters import (
    raters_report,
    stand_in_table,
)
from tcva_adapters.compare.agreement.repeats import repeat_report
from tcva_adapters.compare.agreement.within_between import (
    parts_text,
    within_and_between,
)
from tcva_adapters.compare.calibration.certify_setting import guarantee_table
from tcva_adapters.compare.combined_methods import gains
from tcva_adapters.compare.scores.ratings import (
    NEEDS_HUMAN,
    check_on_scale,
    check_unused,
)
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.results.guarantee import Limits
from tcva_adapters.stats.checks import check_level, one_of
from tcva_adapters.stats.correlation import Measure, agreement, check_measure
from tcva_adapters.stats.describe import TIES, mean, seen
from tcva_adapters.stats.estimates import Estimate
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    cell,
    counted,
    named_columns,
)

_TIED = f"pairs of samples with equal scores; {TIES}"
_METHOD_COLUMNS = named_columns(
    "method",
    scored="int",
    mean="score",
    tied="share",
    pass_rate="share",
)


def check_tests(
    methods: Sequence[str],
    *,
    objective: Measure = "spearman",
    reference: str | None = None,
    margin: float | None = None,
    limits: Limits | None = None,
    human_threshold: float | None = None,
    human: FloatArray | None = None,
    is_rated: bool = True,
) -> None:
    """Refuse tests that cannot be made with these methods.

    Raises:
        InvalidValueError: An unknown measure or method, a margin outside (0, 1), errors (``mae``)
            against ratings that do not lie in [0, 1], or limits or ``human_threshold`` without
            ratings.
    """
    if not is_rated:
        limit = limits and limits.max_false_pass
        check_unused(NEEDS_HUMAN, human_threshold=human_threshold, max_false_pass=limit)
    check_measure(objective)
    if objective == "mae" and human is not None:
        check_on_scale(human)
    if reference is not None:
        one_of("method", reference, methods)
    if margin is not None:
        check_level(margin, "margin", 0.05)


def comparison(
    table: ScoreTable,
    *,
    objective: Measure = "spearman",
    reference: str | None = None,
    margin: float | None = None,
    limits: Limits | None = None,
    human_threshold: float = 0.5,
    epsilon: float = 0.2,
    resamples: int = 10_000,
    seed: int = 0,
    most: int = 10,
) -> Report:
    """Describe the methods of a table, and compare them in pairs and with human ratings.

    Args:
        table: The scores.
        objective: The measure by which methods are tested, chosen before looking: ``spearman``,
            ``kendall``, ``pearson`` or ``mae``.
        reference: The method that others are tested against; by default the one that agrees best
            on these samples, and p is then corrected for all pairs of methods.
        margin: The smallest difference that would matter; methods that differ by less are
            equivalent.
        limits: Limits on false passes, for each method's own threshold.
        human_threshold: The lowest rating that passes, on the table's scale.
        epsilon: What a method may lack to stand in for one of three raters or more; see
            `stats.alternative_annotator`.
        resamples: Resamples for each interval and test.
        seed: Seed of the resamples.
        most: The number of listed samples that two methods rank most differently.

    Returns:
        Tables ``methods``, ``unscored``, ``guarantee``, ``human ratings``, ``differences``,
        ``decisions by rating``, ``within and between`` (groups, systems), ``alternative
        annotator``, ``fused``, ``decisions``, ``pairs``, ``ranked differently``,
        ``distribution``, ``usage``, and for several raters those of `raters_report`; empty tables
        are left out.

    Raises:
        InvalidValueError: As for `check_tests`, or ``mae`` with ratings outside [0, 1].
        MissingDependencyError: Human ratings without scipy.

    >>> scores = np.array([[0.2, 1.0], [0.8, np.nan]])
    >>> report = comparison(ScoreTable(("a", "b"), ("x", "y"), scores))
    >>> [(row["method"], row["mean"], row["scored"]) for row in report.records("methods")]
    [('x', 0.5, 2), ('y', 1.0, 1)]
    """
    is_rated = len(table.rated) > 0
    check_tests(
        table.methods,
        objective=objective,
        reference=reference,
        margin=margin,
        limits=limits,
        human=table.rating,
        is_rated=is_rated,
    )
    methods = method_tables.method_records(table)
    notes = [*method_tables.usage_notes(table), *_coverage_notes(table)]
    if is_rated:
        estimates = human_agreement.estimates_of(
            table, objective, resamples=resamples, seed=seed
        )
        tests = human_agreement.tests_against(
            table,
            estimates,
            objective,
            reference=reference,
            resamples=resamples,
            seed=seed,
        )
        parts = within_and_between(table)
        tables = [_methods_by_rating(methods, estimates, objective)]
        tables.append(method_tables.unscored(table))
        if limits is not None:
            tables.append(guarantee_table(table, limits))
        tables += [
            human_agreement.agreement_table(estimates, objective),
            human_agreement.differences_table(tests, margin),
            decisions_by_rating(table, human_threshold),
            parts,
            stand_in_table(table, epsilon),
            gains(table, resamples=resamples, seed=seed),
        ]
        sentence = human_agreement.agreement_sentence(table, tests)
        notes += human_agreement.rating_notes(table, tests, is_best=reference is None)
        if split := parts_text(parts, tests.reference):
            notes.append(f"{tests.reference}: Spearman {split}.")
    else:
        tables = [_methods_by_main(table, methods), method_tables.unscored(table)]
        sentence = ""

    for report in _several_judgements(table, objective):
        tables += report.tables
        notes += [report.sentence, *report.notes]
    tables += [
        method_tables.decisions(table),
        method_tables.pairs(table),
        method_tables.ranked_differently(table, most),
        method_tables.distribution_table(methods),
        method_tables.usage(table),
    ]
    settings = {
        "objective": objective,
        "reference": reference,
        "margin": margin,
        "human_threshold": human_threshold,
        "epsilon": epsilon,
        **(limits.model_dump(mode="json") if limits else {}),
        **table.settings,
    }
    return Report(
        (sentence or _decision_sentence(table)) + _reservations(table),
        [filled for filled in tables if filled.records],
        [*notes, *table.notes],
        settings,
    )


def _methods_by_rating(
    rows: list[Record], estimates: human_agreement.Estimates, objective: Measure
) -> Table:
    """Tabulate the methods with their agreement with human ratings."""
    for row in rows:
        estimated = estimates.get((row["method"], objective), Estimate(np.nan))
        row.update(estimated.record("human"))
    measure = human_agreement.MEASURE_NAMES[objective]
    return Table(
        "methods",
        [*_METHOD_COLUMNS, Column("human", "interval")],
        rows,
        notes=[f"human: {measure} of scores and human ratings; tied: {_TIED}"],
    )


def _methods_by_main(table: ScoreTable, rows: list[Record]) -> Table:
    """Tabulate the methods with their agreement with the main method."""
    main = table.main
    for row in rows:
        method = row["method"]
        if method != main:
            row["same"] = method_tables.crosstab(table, main, method)["same"]
            both = seen(table.common([main, method]).scores)
            row["rho"] = agreement("spearman", *both.T).value
    note = f"same: equal decisions, rho: Spearman correlation, both with {main}; tied: {_TIED}"
    return Table(
        "methods",
        [*_METHOD_COLUMNS, *named_columns(same="share", rho="score")],
        rows,
        notes=[note] if len(rows) > 1 else (),
    )


def _coverage_notes(table: ScoreTable) -> Iterator[str]:
    """Note methods without a score, and means over different samples."""
    scored = np.isfinite(table.scores)
    numbers = scored.sum(axis=0)
    for method, number in zip(table.methods, numbers, strict=True):
        if len(table) and not number:
            yield f"{method} has no score on any sample."
    if len(set(numbers)) > 1:
        common = counted(scored.all(axis=1).sum(), "sample")
        yield (
            "The means are over different samples; 'mean common' in 'distribution' is over "
            f"the {common} that every method has scored."
        )


def _several_judgements(table: ScoreTable, objective: Measure) -> Iterator[Report]:
    """Report on several raters, repeats and panels, where there are any."""
    if table.human.shape[1] > 1:
        yield raters_report(table, objective=objective)
    results = [result for result in results_of_main(table) if result is not None]
    if any(result.repeats for result in results):
        yield Report(repeat_report(table).sentence)
    if any(result.assessment.panel and not result.repeats for result in results):
        yield replace(panel_report(table), tables=())


def _decision_sentence(table: ScoreTable) -> str:
    """State the main method's pass rate, and the methods most and least similar to it."""
    main = table.main
    scored = np.isfinite(table.column(main))
    number = scored.sum()
    if not number:
        return f"{main} has no score on any of {counted(len(table), 'sample')}."
    passing = cell(mean(table.passes(main)[scored]), "share")
    sentence = f"{main} passes {passing} of {counted(number, 'sample')}."

    same = {
        method: row["same"]
        for method in table.methods
        if method not in {main, *table.views}
        if (row := method_tables.crosstab(table, main, method))["n"]
    }
    if same:
        closest = max(same, key=lambda method: same[method])
        farthest = min(same, key=lambda method: same[method])
        sentence += (
            f" {closest} makes the same decision on {cell(same[closest], 'share')}"
        )
        if farthest != closest:
            share = cell(same[farthest], "share")
            sentence += f"; the least similar is {farthest}, on {share}"
        sentence += "."
    return sentence


def _reservations(table: ScoreTable) -> str:
    """State how many scores the main method lacks, and that a judge is lexical."""
    reservations = ""
    missing = np.isnan(table.column(table.main)).sum()
    if 0 < missing < len(table):
        samples = counted(len(table), "sample")
        reservations += f" {table.main} has no score on {missing} of {samples}."
    if table.run and table.judged.is_lexical:
        reservations += f" {method_tables.LEXICAL}"
    return reservations
