"""What a table of scores says of its methods: each alone, in pairs, and against human ratings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.agreement import views
from tcva_adapters.compare.agreement.panel import (
    panel_report,
    raters_report,
    repeat_report,
    results_of_main,
)
from tcva_adapters.compare.calibration.fused import gains
from tcva_adapters.compare.calibration.guarantee import guarantee_table, limits_of
from tcva_adapters.compare.runs.run import Run, Samples, TCVALike, save
from tcva_adapters.compare.scores.ratings import is_on_scale, off_scale
from tcva_adapters.compare.scores.table import ScoreTable, groups_note
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError, of_percent
from tcva_adapters.progress import progress_of
from tcva_adapters.results.guarantee import Limits
from tcva_adapters.stats.agreement import kappa_of_table
from tcva_adapters.stats.correlation import (
    MEASURES,
    Measure,
    agreement,
    check_measure,
    higher_is_better,
)
from tcva_adapters.stats.describe import TIES, as_shown, seen
from tcva_adapters.stats.holm import holm
from tcva_adapters.stats.inference import DETECTABLE, Estimate, difference, estimate
from tcva_adapters.tables import (
    Column,
    Record,
    Report,
    Table,
    cell,
    counted,
    named_columns,
    p_text,
)

LEAST: Final = 10
"""Human ratings from which on methods are compared by them."""

FEW: Final = 30
_ALPHA: Final = 0.05
_PASS: Final = 0.5
_CALLED: Final[dict[Measure, str]] = {
    "spearman": "Spearman",
    "kendall": "Kendall",
    "pearson": "Pearson",
    "mae": "mean absolute error",
}
_TIED: Final = f"pairs of samples with equal scores; {TIES}"


def compare(
    samples: Samples,
    tcva: TCVALike | None = None,
    *,
    dry_run: bool = False,
    **options: Any,
) -> Report:
    """Run framework metrics and TCVA on the same samples, each judged once, and compare them.

    The same in steps, where the scores are needed, too::

        run = Run("samples.jsonl", {"judge": "openai:MODEL"})
        table = run.table()
        report = comparison(table)

    Args:
        samples: See `Run`.
        tcva: A `TCVA`, or the settings of one.
        dry_run: Ask nobody; report the calls that it would take.
        **options: What `Run` takes: ``mapping``, ``frameworks``, ``metrics``, ``temperatures``, ``human``,
            ``folder`` (where the results are saved as well, see `save`) and more. And of
            `comparison` ``objective``, ``reference``, ``margin``, ``max_false_pass``, ``confidence``
            and ``human_threshold``.

    Raises:
        InvalidValueError: A setting is out of range or unknown; before the first call.
        UnreadableInputError: A file cannot be read.
        MissingDependencyError: Something that was asked for is not installed.

    >>> from tcva_adapters import Sample
    >>> samples = [Sample(response="It opens at nine.", contexts=["It opens at nine."])]
    >>> compare(samples, {"judge": "lexical"}, frameworks="none").records("methods")[0]["mean"]
    1.0
    """
    run, tests = _checked(samples, tcva, options)
    return run.cost() if dry_run else _reported(run, run.table(), tests)


async def acompare(
    samples: Samples,
    tcva: TCVALike | None = None,
    *,
    dry_run: bool = False,
    **options: Any,
) -> Report:
    """The same, awaited."""
    run, tests = _checked(samples, tcva, options)
    return run.cost() if dry_run else _reported(run, await run.atable(), tests)


def _checked(
    samples: Any, tcva: Any, options: dict[str, Any]
) -> tuple[Run, dict[str, Any]]:
    names = ("objective", "reference", "margin")
    tests = {name: options.pop(name) for name in names if name in options}
    limits = ("max_false_pass", "confidence", "human_threshold")
    tests["limits"] = limits_of(
        human_scale=options.get("human_scale"),
        **{name: options.pop(name, None) for name in limits},
    )
    run = Run(samples, tcva, **options)
    check_tests(
        run.names,
        **tests,
        human=run.human,
        is_rated=run.is_rated,
    )
    return run, tests


def _reported(run: Run, table: ScoreTable, tests: Mapping[str, Any]) -> Report:
    with progress_of("statistics", None, run.progress):
        report = comparison(table, **tests)
    if run.folder is not None:
        save(run.folder, table, report, overwrite=run.overwrite)
    return report


def check_tests(
    methods: Sequence[str],
    objective: Measure = "spearman",
    reference: str | None = None,
    margin: float | None = None,
    limits: Limits | None = None,
    *,
    human: FloatArray | None = None,
    is_rated: bool = True,
) -> None:
    """Nothing, if these can be asked for.

    Raises:
        InvalidValueError: An unknown measure or method, a margin outside (0, 1), errors (``mae``)
            against ratings that do not lie in [0, 1], or limits without ratings.
    """
    if limits is not None and not is_rated:
        msg = "max_false_pass (--max-false-pass) needs human ratings; name them with human (--human)"
        raise InvalidValueError(msg)
    check_measure(objective)
    if objective == "mae" and human is not None and not is_on_scale(human):
        msg = f"mae: {off_scale(human)}"
        raise InvalidValueError(msg)
    if reference is not None and reference not in methods:
        msg = (
            f"reference: no method {reference!r}; the methods are {', '.join(methods)}"
        )
        raise InvalidValueError(msg)
    if margin is not None and not 0.0 < margin < 1.0:
        msg = f"margin must be above 0 and below 1, got {margin:g}{of_percent(margin)}"
        raise InvalidValueError(msg)


def comparison(
    table: ScoreTable,
    *,
    objective: Measure = "spearman",
    reference: str | None = None,
    margin: float | None = None,
    limits: Limits | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    most: int = 10,
) -> Report:
    """Describe the methods of a table, compare them in pairs, and by human ratings where there are any.

    Args:
        table: The scores.
        objective: The measure by which methods are tested, chosen before looking: ``spearman``,
            ``kendall``, ``pearson`` or ``mae``.
        reference: The method that others are tested against; by default the one that agrees best
            on these samples, and then p allows for every two methods.
        margin: A difference that would matter: methods that differ less are as good.
        limits: On false passes, for each method's own threshold.
        resamples: Per interval and test.
        seed: Of these.
        most: Samples listed that two methods rank most differently.

    Returns:
        Tables ``methods``, ``unscored``, ``guarantee``, ``human ratings``, ``differences``,
        ``decisions by rating``, ``fused``, ``decisions``, ``pairs``, ``ranked differently``,
        ``distribution``, ``usage``, and of several raters; as far as there is something to show.

    Raises:
        InvalidValueError: As for `check_tests`, or ``mae`` with ratings outside [0, 1].
        MissingDependencyError: Human ratings without scipy.

    >>> scores = np.array([[0.2, 1.0], [0.8, np.nan]])
    >>> report = comparison(ScoreTable(("a", "b"), ("x", "y"), scores))
    >>> [(row["method"], row["mean"], row["scored"]) for row in report.records("methods")]
    [('x', 0.5, 2), ('y', 1.0, 1)]
    """
    rated = len(table.rated)
    human = table.rating if rated else None
    check_tests(
        table.methods,
        objective,
        reference,
        margin,
        limits,
        human=human,
        is_rated=rated > 0,
    )
    main = views.main_of(table)
    methods = views.method_records(table)
    drawn: dict[str, Any] = {"resamples": resamples, "seed": seed}
    notes = [*views.used(table), *_coverage(table)]
    people, sentence = list[Table](), ""
    if rated:
        agreements = _agreements(table, objective, drawn)
        shown = replace(table, scores=as_shown(objective, table.scores))
        tests = _tests(shown, objective, reference, drawn)
        people = [guarantee_table(table, limits)] if limits else []
        people += [agreements, _differences(tests, margin), _decided(table)]
        people += [gains(table, **drawn)]
        sentence = _best(shown, agreements, tests)
        notes += _rated_notes(table, rated, tests, chosen=reference is None)
        by_method = {
            r["method"]: r for r in agreements.records if r["measure"] == objective
        }
        for row in methods:
            own = by_method.get(row["method"], {})
            row.update(
                {
                    f"human{end}": own.get(f"agreement{end}")
                    for end in ("", "_low", "_high")
                }
            )
    others, more = _judges(table, objective)
    found = [
        _methods(table, methods, main, objective if rated else None),
        views.unscored(table),
        *people,
        *others,
        views.decisions(table),
        views.pairs(table),
        views.ranked_differently(table, most),
        views.distribution(methods),
        views.usage(table),
    ]
    settings: Record = {
        "objective": objective,
        "reference": reference,
        "margin": margin,
    }
    settings |= limits.model_dump(mode="json") if limits else {}
    settings |= table.settings
    sentence = (sentence or _alike(table, main)) + _doubt(table, main)
    filled = [each for each in found if each.records]
    return Report(sentence, filled, [*notes, *more, *table.notes], settings)


def _methods(
    table: ScoreTable,
    rows: list[Record],
    main: str,
    objective: Measure | None,
) -> Table:
    """Each method in a row, against human ratings, or without any against the main method."""
    columns = named_columns(
        method="text",
        scored="int",
        mean="score",
        tied="share",
        pass_rate="share",
    )
    if objective is not None:
        note = f"human: {_CALLED[objective]} of scores and human ratings; tied: {_TIED}"
        return Table(
            "methods", [*columns, *named_columns(human="interval")], rows, notes=[note]
        )
    for row in rows:
        if row["method"] != main:
            row["same"] = views.crosstab(table, main, row["method"])["same"]
            both = table.common([main, row["method"]]).scores
            row["rho"] = agreement("spearman", *seen(both.T)).value
    notes = [
        f"same: equal decisions, rho: Spearman correlation, both with {main}; tied: {_TIED}"
    ]
    columns += named_columns(same="share", rho="score")
    return Table("methods", columns, rows, notes=notes if len(rows) > 1 else ())


def _coverage(table: ScoreTable) -> list[str]:
    """How far methods have scored the same samples."""
    scored = np.isfinite(table.scores)
    numbers = scored.sum(axis=0).tolist()
    notes = [
        f"{method} has no score on any sample."
        for method, number in zip(table.methods, numbers, strict=True)
        if len(table) and not number
    ]
    if len(set(numbers)) > 1:
        common = int(scored.all(axis=1).sum())
        notes.append(
            "The means are over different samples; 'mean common' in 'distribution' is over the "
            f"{counted(common, 'sample')} that every method has scored."
            if common
            else "The means are over different samples: no sample has a score from every method."
        )
    return notes


def _measured(table: ScoreTable, method: str, measure: Measure) -> bool:
    """Whether a measure means something: an absolute error needs both on the scale of [0, 1]."""
    return measure != "mae" or (
        is_on_scale(table.column(method)) and is_on_scale(table.rating)
    )


def _agreements(
    table: ScoreTable, objective: Measure, drawn: Mapping[str, Any]
) -> Table:
    """Every method against human ratings, on the samples that it has scored."""
    records: list[Record] = []
    reasons: dict[str, str] = {}
    for method, measure in product(table.methods, MEASURES):
        if not _measured(table, method, measure):
            continue
        both = [as_shown(measure, table.column(method)), table.rating]
        is_tested = measure == objective
        found = estimate(measure, both, table.groups or None, test=is_tested, **drawn)
        reasons[method] = found.reason or reasons.get(method, "")
        record = {
            "method": method,
            "measure": measure,
            "n": found.n,
            "p": found.p,
        }
        records.append(record | found.record("agreement"))
    columns = named_columns(
        method="text",
        measure="text",
        n="int",
        agreement="interval",
        p="p",
    )
    notes = [
        f"n: samples with a score and a rating; p: of no agreement, for {objective} only"
    ]
    notes += _without(reasons)
    if len(records) < len(table.methods) * len(MEASURES):
        notes.append("mae is left out where scores or ratings are not between 0 and 1")
    return Table("human ratings", columns, records, detail=True, notes=notes)


def _on_common(table: ScoreTable, objective: Measure) -> dict[str, float]:
    """Agreement on the samples that all have scored, where these are enough; else on each one's own.

    From the best method to the worst, without those whose agreement is not defined.
    """
    rated = table.rated
    common = rated.common()
    used = common if len(common) >= LEAST else rated
    values = {
        method: agreement(objective, used.column(method), used.rating).value
        for method in table.methods
        if _measured(table, method, objective)
    }
    defined = [
        (method, value) for method, value in values.items() if not math.isnan(value)
    ]
    return dict(
        sorted(defined, key=lambda pair: pair[1], reverse=higher_is_better(objective))
    )


@dataclass(frozen=True, slots=True)
class _Tests:
    """Every other method less the reference.

    Attributes:
        objective: The measure by which methods are tested.
        ranked: The agreement of every method, the best first; see `_on_common`.
        reference: The method that others are tested against.
        differences: By method.
        p_corrected: By method, as far as there is a test.
        number: Of comparisons that p allows for.
    """

    objective: Measure
    ranked: dict[str, float]
    reference: str
    differences: dict[str, Estimate]
    p_corrected: dict[str, float]
    number: int


def _tests(
    table: ScoreTable,
    objective: Measure,
    reference: str | None,
    drawn: Mapping[str, Any],
) -> _Tests:
    """Every other method less the reference, with p corrected by Holm.

    Who picks the best method as the reference has looked at every two, which p then allows for.
    """
    ranked = _on_common(table, objective)
    against = reference or next(iter(ranked), "")
    found = {
        method: difference(
            objective,
            table.column(method),
            table.column(against),
            table.rating,
            table.groups or None,
            **drawn,
        )
        for method in table.methods
        if against and method != against and _measured(table, method, objective)
    }
    tested = {
        method: each.p for method, each in found.items() if not math.isnan(each.p)
    }
    others = 0 if reference else len(tested) * (len(tested) - 1) // 2
    corrected = holm([*tested.values(), *[math.nan] * others]).tolist()
    p_corrected = dict(zip(tested, corrected, strict=False))
    return _Tests(objective, ranked, against, found, p_corrected, len(tested) + others)


def _differences(tests: _Tests, margin: float | None) -> Table:
    records: list[Record] = []
    for method, found in tests.differences.items():
        record = {
            "method": method,
            "reference": tests.reference,
            "n": found.n,
            "p": found.p,
            **found.record("difference"),
            "p_corrected": tests.p_corrected.get(method, math.nan),
            "detectable": found.smallest,
        }
        if margin is not None:
            record["equivalent"] = "yes" if found.equivalent(margin) else "not shown"
        records.append(record)
    columns = named_columns(
        method="text",
        n="int",
        difference="signed",
        p="p",
        p_corrected="p",
        detectable="score",
    )
    measure = _CALLED[tests.objective]
    notes = [f"difference: {measure} of the method minus that of {tests.reference}"]
    if tests.number:
        notes += [
            f"p corrected: Holm, for {counted(tests.number, 'comparison')}",
            f"detectable: {DETECTABLE}",
        ]
    if margin is not None:
        columns += named_columns(equivalent="text")
        notes.append(
            f"equivalent: within {margin:g} of each other (two one-sided tests at 5 %, uncorrected)"
        )
    reasons = {method: found.reason for method, found in tests.differences.items()}
    return Table("differences", columns, records, notes=[*notes, *_without(reasons)])


def _without(reasons: Mapping[str, str]) -> list[str]:
    """Why there is no interval, with the methods that share it."""
    shared: dict[str, list[str]] = {}
    for method, why in reasons.items():
        if why:
            shared.setdefault(why, []).append(method)
    return [f"no interval ({', '.join(names)}): {why}" for why, names in shared.items()]


def _decided(table: ScoreTable) -> Table:
    """Every method's decisions against those of the ratings; for ratings in [0, 1]."""
    records = []
    good = table.rating >= _PASS
    for method, scores in table.columns if is_on_scale(table.rating) else ():
        both = np.isfinite(scores) & np.isfinite(table.rating)
        passes = table.passes(method)
        record = {
            "method": method,
            "n": int(both.sum()),
            "rating_passes": views.mean(good[both]),
            "kappa": kappa_of_table(views.counted_decisions(passes[both], good[both])),
        }
        for measure, among, hits in (
            ("precision", passes, good),
            ("recall", good, passes),
        ):
            chosen = np.where(both & among, hits, np.nan)
            record |= estimate("share", chosen, table.groups or None).record(measure)
        records.append(record)
    columns = named_columns(
        method="text",
        n="int",
        rating_passes="share",
        kappa="score",
        precision="interval",
        recall="interval",
    )
    said = "precision: of the samples that the method passes, recall: of those whose rating passes"
    notes = [f"a rating passes from {_PASS:g}; {said}"]
    return Table("decisions by rating", columns, records, detail=True, notes=notes)


def _rated_notes(
    table: ScoreTable,
    rated: int,
    tests: _Tests,
    *,
    chosen: bool,
) -> list[str]:
    notes = []
    if rated < FEW:
        notes.append(
            f"{counted(rated, 'human rating')} is little: about 30 show whether a method agrees with "
            "people at all, hundreds which of two agrees better."
        )
    if table.groups:
        notes.append(groups_note(len(set(table.groups))))
    if chosen and tests.number:
        notes.append(
            f"{tests.reference} is the reference because it has the best {tests.objective} on these "
            "samples. A reference named beforehand (--reference) takes a smaller correction of p."
        )
    return notes


def _best(table: ScoreTable, agreed: Table, tests: _Tests) -> str:
    """The method that agrees best with people, and whether it is significantly better than the next.

    Empty with too few ratings. TCVA at another temperature is no other method.
    """
    objective, values = tests.objective, tests.ranked
    if not values or len(table.rated) < LEAST:
        return ""
    best = next(iter(values))
    own = next(
        r for r in agreed.records if (r["method"], r["measure"]) == (best, objective)
    )
    rho = Column("agreement", "interval").cell(own)
    n, common = own["n"], len(table.rated.common())
    is_common = common >= LEAST and any(r["n"] != common for r in agreed.records)
    if is_common and n != common:
        rho, n = (
            cell(values[best], "score"),
            common,
        )  # its interval is of its own samples
    said = f"({_CALLED[objective]} {rho}, n = {n})"
    if higher_is_better(objective) and values[best] <= 0.0:
        return f"No method agrees with the human ratings; the highest is {best} {said}."
    adverb = " best" if len(values) > 1 else ""
    said = f"{best} agrees{adverb} with the human ratings {said}."
    said = f"On the samples that all methods scored, {said}" if is_common else said
    views_of = views.views_of(table)
    family = views_of if best in views_of else (best,)
    tested, other, sign = best, tests.reference, 1.0
    if best == tests.reference:
        other = next((method for method in values if method not in family), "")
        tested, sign = other, -1.0
    pair = tests.differences.get(tested)
    if pair is None or other in family or other not in values:
        return said
    p = tests.p_corrected.get(tested, math.nan)
    ahead = sign * pair.value
    said += f" The difference from {other} ({cell(ahead, 'signed')})"
    if math.isnan(p):
        return f"{said} has no test: {pair.reason}."
    is_significant = "is significant" if p < _ALPHA else "is not significant"
    return f"{said} {is_significant} ({p_text(p)})."


def _doubt(table: ScoreTable, main: str) -> str:
    """What a reader must know with the sentence."""
    doubts = ""
    missing = int(np.isnan(table.column(main)).sum())
    if 0 < missing < len(table):
        verb = "has" if missing == 1 else "have"
        doubts += f" {missing} of {len(table)} samples {verb} no score from {main}."
    return doubts + (
        f" {views.LEXICAL}" if table.run and table.judged.is_lexical else ""
    )


def _alike(table: ScoreTable, main: str) -> str:
    """The main method's decisions, against the methods that decide most and least like it."""
    own = table.column(main)
    scored = int(np.isfinite(own).sum())
    if not scored:
        return f"{main} has no score on any of {counted(len(table), 'sample')}."
    passing = views.mean(table.passes(main)[np.isfinite(own)])
    said = f"{main} passes {cell(passing, 'share')} of {counted(scored, 'sample')}."
    family = {main, *views.views_of(table)}
    others = [
        (found["both_pass"] + found["both_fail"], found["n"], method)
        for method in table.methods
        if method not in family and (found := views.crosstab(table, main, method))["n"]
    ]
    if not others:
        return said
    others.sort(key=lambda each: each[0] / each[1], reverse=True)
    (same, of, closest), (least, of_least, farthest) = others[0], others[-1]
    if same / of == least / of_least:
        name = closest if len(others) == 1 else "Each other method"
        return f"{said} {name} makes the same decision on {cell(same / of, 'share')}."
    return (
        f"{said} The most similar method is {closest} (same decision on {same} of {of}), the least "
        f"similar {farthest} ({least} of {of_least})."
    )


def _judges(table: ScoreTable, objective: Measure) -> tuple[list[Table], list[str]]:
    """What several raters, repeats and panels show."""
    tables, notes = [], []
    if table.human.shape[1] > 1:
        report = raters_report(table, objective=objective)
        tables += list(report.tables)
        notes += [report.sentence, *report.notes]
    main = [each for each in results_of_main(table) if each is not None]
    if any(each.repeats for each in main):
        notes.append(repeat_report(table).sentence)
    if any(each.assessment.panel and not each.repeats for each in main):
        report = panel_report(table)
        notes += [report.sentence, *report.notes]
    return tables, notes
