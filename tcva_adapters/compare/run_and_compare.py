"""Run framework metrics and TCVA on the same samples, and compare them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from tcva_adapters.compare.calibration.certify_setting import limits_of
from tcva_adapters.compare.method_comparison import check_tests, comparison
from tcva_adapters.compare.runs.folder import save
from tcva_adapters.compare.runs.framework_metrics import ALL
from tcva_adapters.compare.runs.run import PATIENCE, Run, Samples, TCVALike
from tcva_adapters.compare.scores.ratings import Scale, passes_from
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.temperature import Temperatures
from tcva_adapters.loops import blocking
from tcva_adapters.progress import progress_of
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.tables import Report


@with_checked_names
async def acompare(
    samples: Samples,
    tcva: TCVALike | None = None,
    *,
    mapping: Mapping[str, str] | None = None,
    frameworks: str | Sequence[str] = ALL,
    metrics: str | Sequence[str] | None = None,
    temperatures: str | Temperatures = (0.1, 0.5, 0.9),
    imported: Sequence[str | ScoreTable] = (),
    mean_of: Sequence[str] = (),
    human: str | Path | None = None,
    human_scale: Scale | None = None,
    human_threshold: float | None = None,
    group: str | None = None,
    pass_from: Mapping[str, float] | None = None,
    objective: Measure = "spearman",
    reference: str | None = None,
    margin: float | None = None,
    max_false_pass: float | None = None,
    confidence: float | None = None,
    folder: str | Path | None = None,
    overwrite: bool = False,
    timeout: float = PATIENCE,  # noqa: ASYNC109  # of each metric, not of this call
    progress: bool | None = None,
    dry_run: bool = False,
) -> Report:
    """Run framework metrics and TCVA on the same samples, each judged once, and compare them.

    Make the run in steps where the scores are needed, too::

        run = Run("samples.jsonl", {"judge": "openai:MODEL"})
        table = run.table()
        report = comparison(table)

    Args:
        samples: A file, a stream of one, or samples; see `Run`, also for arguments that are not
            explained here.
        tcva: A `TCVA`, or the settings of one.
        mapping: For a file, your field names to the fields that they hold.
        frameworks: Names of frameworks, ``all`` or ``none``.
        metrics: ``faithfulness``, ``ragas.faithfulness`` or ``all``; by default those for TCVA's
            criterion.
        temperatures: TCVA's temperatures; one judgement serves all of them.
        imported: Scores that were made elsewhere.
        mean_of: Further methods, each the geometric mean of others: ``"A + B"``.
        human: The samples' field with human ratings, or a file of them.
        human_scale: The lowest and the highest rating that could be given.
        human_threshold: The lowest rating that passes; by default the middle of the scale.
        group: The samples' field that names their group.
        pass_from: By method, the lowest score that passes.
        objective: The measure by which methods are tested; see `comparison`.
        reference: The method that others are tested against; see `comparison`.
        margin: A difference that would matter; see `comparison`.
        max_false_pass: At most this share of the answers that people reject may pass, for each
            method's own threshold.
        confidence: The confidence with which this limit holds; by default 0.95.
        folder: Where judgements are stored as they are made, and the results are saved; see `save`.
        overwrite: Replace another comparison, or other files, in the folder.
        timeout: Seconds after which a framework metric is given up on a sample.
        progress: Whether to show bars on a terminal, and a line every ten seconds in a log.
        dry_run: Make no call; report the calls that the comparison would take.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before the first call.
        UnreadableInputError: A file cannot be read.
        MissingDependencyError: Something that was asked for is not installed.

    >>> from tcva_adapters import Sample
    >>> samples = [Sample(response="It opens at nine.", contexts=["It opens at nine."])]
    >>> compare(samples, {"judge": "lexical"}, frameworks="none").records("methods")[0]["mean"]
    1.0
    """
    run = Run(
        samples,
        tcva,
        mapping=mapping,
        frameworks=frameworks,
        metrics=metrics,
        temperatures=temperatures,
        imported=imported,
        mean_of=mean_of,
        human=human,
        human_scale=human_scale,
        group=group,
        pass_from=pass_from,
        folder=folder,
        overwrite=overwrite,
        timeout=timeout,
        progress=progress,
    )
    compared = comparison_of(
        run,
        objective=objective,
        reference=reference,
        margin=margin,
        max_false_pass=max_false_pass,
        confidence=confidence,
        human_threshold=human_threshold,
        human_scale=human_scale,
    )
    if dry_run:
        return run.cost()
    return await asyncio.to_thread(_saved, run, await run.atable(), compared)


compare = with_checked_names(blocking(acompare))


def comparison_of(
    run: Run,
    *,
    objective: Measure,
    reference: str | None,
    margin: float | None,
    max_false_pass: float | None,
    confidence: float | None,
    human_threshold: float | None,
    human_scale: Scale | None,
) -> partial[Report]:
    """Check the tests of a run before its first call, and return what compares its table.

    The arguments are those of `compare`.

    Returns:
        `comparison` with these arguments.

    Raises:
        InvalidValueError: As for `check_tests`, or a limit is out of range.
    """
    limits = limits_of(
        max_false_pass=max_false_pass,
        confidence=confidence,
        human_threshold=human_threshold,
        human_scale=human_scale,
    )
    passes_at = passes_from(human_threshold, human_scale)
    check_tests(
        run.names,
        objective=objective,
        reference=reference,
        margin=margin,
        limits=limits,
        human_threshold=human_threshold,
        human=run.human,
        is_rated=run.is_rated,
    )
    return partial(
        comparison,
        objective=objective,
        reference=reference,
        margin=margin,
        limits=limits,
        human_threshold=passes_at,
    )


def _saved(run: Run, table: ScoreTable, compared: partial[Report]) -> Report:
    """Compare the table of a run, and save both where there is a folder."""
    with progress_of("statistics", None, run.progress):
        report = compared(table)
    if run.folder is not None:
        save(run.folder, table, report, overwrite=run.overwrite)
    return report
