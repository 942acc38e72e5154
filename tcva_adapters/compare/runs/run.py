"""Run a comparison: check everything, judge every sample, and make one table of scores.

Every sample is judged once by TCVA and once by every framework metric; a failure gives a cell
without a score, with its reason. With a folder, an interrupted run continues where it ended.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tcva_adapters.compare.calibration.certify_setting import limits_of
from tcva_adapters.compare.combined_methods import fused_name, members_of, with_fused
from tcva_adapters.compare.method_comparison import check_tests, comparison
from tcva_adapters.compare.runs.folder import STORE, check_folder
from tcva_adapters.compare.runs.framework_metrics import ALL, choose_metrics
from tcva_adapters.compare.runs.metric_judgement import (
    MetricEvaluation,
    MetricJudgement,
)
from tcva_adapters.compare.scores.judged_by import JudgedBy, RunInfo
from tcva_adapters.compare.scores.ratings import (
    NEEDS_HUMAN,
    Ratings,
    Scale,
    check_unused,
    names_in,
    passes_from,
)
from tcva_adapters.compare.scores.reading_options import ReadingOptions
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.compare.scores.table import ScoreTable, check_groups, repeated_name
from tcva_adapters.compare.scores.table_part import TablePart
from tcva_adapters.core.checks import as_list
from tcva_adapters.core.temperature import (
    Temperatures,
    as_temperature,
    check_temperature,
)
from tcva_adapters.cost_estimate import estimate_cost
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import checked_samples
from tcva_adapters.loops import wait_for
from tcva_adapters.progress import progress_of
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.results.evidence import evidence_lines, evidence_outcomes
from tcva_adapters.results.framework_score import FrameworkScore
from tcva_adapters.results.judgement import Judgement, Reason, Unscored, Usage
from tcva_adapters.results.result import MOSTLY_MARKED, Result
from tcva_adapters.results.settings_base import Number, Positive, check
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.summary import judged_counts
from tcva_adapters.runner.questions import Evaluation
from tcva_adapters.runner.running import Runner
from tcva_adapters.samples import file_writing
from tcva_adapters.samples.fields import FieldNames, Fields
from tcva_adapters.samples.reader import SampleStream, with_ids
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.stats.checks import one_of
from tcva_adapters.stats.correlation import Measure
from tcva_adapters.tables import Report
from tcva_adapters.tcva import TCVA

T = TypeVar("T")

Samples = str | Path | SampleStream | Sequence[Sample]
"""The samples to judge: a file, a stream of one, or samples."""

TCVALike = TCVA | Fields
"""A `TCVA`, or the settings of one."""

PATIENCE = 900.0
"""Default timeout in seconds, longer than a metric's calls may take with all their retries."""


class Run:
    """A run of framework metrics and TCVA on the same samples, with the same judge.

    Everything is read and checked here, before the first call. The frameworks are imported, which
    takes seconds.

    Args:
        samples: A file, a `SampleStream` of one, or samples. A sample without an id is named by its
            row (``row-7``), and repeated ids are numbered.
        mapping: For a file, your field names to the fields they hold, e.g.
            ``{"my_answer": "response"}``.
        tcva: A `TCVA`, or the settings of one: ``{"judge": "openai:MODEL", "threshold": 0.7}``.
            Its judge answers the frameworks' prompts, too, and its store is used for their metrics.
        frameworks: Names, or a text with commas: ``ragas,deepeval``. ``all`` takes those that are
            installed, ``none`` runs TCVA alone.
        metrics: ``faithfulness`` (of every framework that has it), ``ragas.faithfulness`` or
            ``all``; by default those that stand for TCVA's criterion. A metric that no sample has
            the fields for is left out, with a note.
        temperatures: TCVA's temperatures; one judgement serves all of them.
        imported: Scores that were made elsewhere: ``NAME=FILE``, or a table that `read_scores` made
            of a file with a scale of its own.
        mean_of: Further methods, each the geometric mean of others:
            ``"tcva T=0.5 + ragas faithfulness"``.
        human: The samples' field with human ratings, several fields separated by commas (one per
            rater), or a file of ratings; by default those of imported tables.
        human_scale: The lowest and the highest rating that could be given; ratings are mapped from
            there to [0, 1], the scale of scores. By default they stay as they are.
        group: The samples' field that names their group (a document). By default turns are grouped
            by conversation, and other samples have no group.
        human_threshold: The lowest rating that passes; by default the middle of the scale.
        pass_from: By method, the lowest score that passes.
        objective: The measure by which methods are tested; see `comparison`.
        reference: The method that others are tested against; see `comparison`.
        margin: A difference that would matter; see `comparison`.
        max_false_pass: At most this share of the answers that people reject may pass, for each
            method's own threshold.
        confidence: The confidence with which this limit holds; by default 0.95.
        folder: The folder in which judgements are stored as they are made, unless the TCVA has a
            store; the same run continues there where it ended. Only one run at a time may use it.
        overwrite: Replace another comparison, or other files, in the folder.
        timeout: Seconds after which a framework metric is given up on a sample.
        progress: Whether to show bars on a terminal, and a line every ten seconds in a log; by
            default the bars alone.

    Attributes:
        samples: The samples, each with an id of its own.
        tcva: The TCVA that judges.
        temperatures: TCVA's temperatures, each once, the one of `tcva` included.
        metrics: The framework metrics.
        human: Ratings, shape (samples, raters); None where no field or file is named.
        names: The names of all methods, imported and fused ones included.
        notes: What was left out, in sentences.
        folder: As given.
        overwrite: As given.
        progress: As given.
        comparison: The function `comparison` with the tests that are given.

    Raises:
        InvalidValueError: A setting is out of range or unknown.
        UnreadableInputError: A file cannot be read.
        MissingDependencyError: Something that was asked for is not installed.

    >>> samples = [Sample(response="It opens at nine.", contexts=["It opens at nine."])]
    >>> table = Run(samples, {"judge": "lexical"}, frameworks="none", temperatures=[0.5]).table()
    >>> table.samples, table.methods, table.scores.tolist()
    (('row-1',), ('tcva T=0.5',), [[1.0]])
    """

    @with_checked_names
    def __init__(
        self,
        samples: Samples,
        tcva: TCVALike | None = None,
        *,
        mapping: FieldNames | None = None,
        frameworks: str | Sequence[str] = ALL,
        metrics: str | Sequence[str] | None = None,
        temperatures: str | Temperatures = (0.1, 0.5, 0.9),
        imported: Sequence[str | ScoreTable] = (),
        mean_of: Sequence[str] = (),
        human: str | Path | None = None,
        human_scale: Scale | None = None,
        group: str | None = None,
        human_threshold: float | None = None,
        pass_from: Mapping[str, float] | None = None,
        objective: Measure = "spearman",
        reference: str | None = None,
        margin: float | None = None,
        max_false_pass: float | None = None,
        confidence: float | None = None,
        folder: str | Path | None = None,
        overwrite: bool = False,
        timeout: float = PATIENCE,
        progress: bool | None = None,
    ) -> None:
        grid = [*map(as_temperature, _split("temperatures", temperatures))] or [0.5]
        if not isinstance(tcva, TCVA):
            if not isinstance(tcva, Mapping | None):
                raise InvalidValueError(
                    f'tcva must be a TCVA or its settings, {{"judge": ...}}, got {tcva!r}'
                )
            tcva = TCVA(**{"temperature": grid[0], **(tcva or {})})
        for temperature in grid:
            check_temperature(temperature, tcva.scoring.bounds)
        self.tcva = tcva
        self.temperatures = tuple(dict.fromkeys([*grid, tcva.scoring.temperature]))
        self.samples, self.notes = _samples_with_ids(samples, mapping)
        self.metrics, left_out = choose_metrics(
            _split("frameworks", frameworks),
            None if metrics is None else _split("metrics", metrics),
            criterion=tcva.criterion.name,
            samples=self.samples,
            is_lexical=tcva.judge.name.startswith("lexical/"),
        )
        self.notes += left_out
        if human is None and not imported:
            check_unused(NEEDS_HUMAN, human_scale=human_scale)
        self._mean_of = as_list("mean_of", mean_of)
        self._imported = [
            read_scores(source, samples=self.samples, human_scale=human_scale)
            for source in as_list("imported", imported)
        ]
        self._empty_table = self._sample_table(human, human_scale, group)
        self.human = None if human is None else self._empty_table.human
        self.folder = None if folder is None else file_writing.usable_path(folder)
        if self.folder is not None and self.folder.is_file():
            raise InvalidValueError(
                f"{folder} is a file, and a comparison writes a folder; give another name"
            )
        self.overwrite = overwrite
        self.progress = progress
        self._timeout = check(Positive, "timeout", timeout)
        self._thresholds = check(Mapping[str, Number], "pass_from", pass_from or {})
        self.names = self._method_names()
        # This refuses a judge that cannot answer the prompts of the frameworks.
        for metric in self.metrics:
            MetricEvaluation(metric, tcva, timeout)
        limits = limits_of(
            max_false_pass=max_false_pass,
            confidence=confidence,
            human_threshold=human_threshold,
            human_scale=human_scale,
        )
        passes_at = passes_from(human_threshold, human_scale)
        check_tests(
            self.names,
            objective=objective,
            reference=reference,
            margin=margin,
            limits=limits,
            human_threshold=human_threshold,
            human=self.human,
            is_rated=any(
                table.human.size for table in (self._empty_table, *self._imported)
            ),
        )
        self.comparison = partial(
            comparison,
            objective=objective,
            reference=reference,
            margin=margin,
            limits=limits,
            human_threshold=passes_at,
        )

    @property
    def fingerprint(self) -> str:
        """A digest that is equal for equal samples, judges and settings of scores."""
        samples = [
            sample.model_dump(mode="json", exclude={"context_ids"})
            for sample in self.samples
        ]
        human = None if self.human is None else self.human.tolist()
        imported = [(table.methods, table.scores.tolist()) for table in self._imported]
        thresholds = sorted(self._thresholds.items())
        groups = self._empty_table.groups
        settings = (samples, human, groups, imported, self.names, thresholds)
        text = f"{self.tcva.fingerprint} {settings!r}"
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def views(self) -> list[str]:
        """TCVA's methods: one at each temperature, and one that follows profiles."""
        profiles = self.tcva.profiles
        follows = [] if profiles is None else [f"tcva by {next(iter(profiles))}"]
        return [*map(tcva_name, self.temperatures), *follows]

    def _method_names(self) -> list[str]:
        """List all methods of the table.

        Raises:
            InvalidValueError: Two methods have the same name, or a named method does not exist.
        """
        names = [*self.views, *(method.name for method in self.metrics)]
        names += [name for table in self._imported for name in table.methods]
        named = [member for text in self._mean_of for member in members_of(text)]
        for name in (*named, *self._thresholds):
            one_of("method", name, names)
        if repeated := repeated_name(names):
            raise InvalidValueError(
                f"two methods are named {repeated!r}; give imported scores another name: NAME=FILE"
            )
        return [*names, *map(fused_name, self._mean_of)]

    def _sample_table(
        self,
        human: str | Path | None,
        human_scale: Scale | None,
        group: str | None,
    ) -> ScoreTable:
        """Make a table of the samples with their ratings and groups, and add to the notes."""
        ratings = None
        if human is not None:
            ratings = Ratings.find(human, human_scale, self.temperatures[0])
        part = TablePart(ReadingOptions(group=group), ratings)
        for sample in self.samples:
            part.add_sample(sample.id, sample.metadata)
        if ratings is not None:
            self.notes += ratings.notes(part.number)
        table = part.table()
        check_groups(table, group)
        return table

    def cost(self, prices: tuple[float, float] | None = None) -> Report:
        """Estimate the calls that the run will take, without making one or writing a file.

        Args:
            prices: Prices per million prompt tokens and per million reply tokens.
        """
        has_store = self.folder is not None and (self.folder / STORE).exists()
        with self._tcva_with_store(self.folder if has_store else None) as tcva:
            evaluations: dict[str, Evaluation[Any]] = {"tcva": tcva}
            calls = {}
            for metric in self.metrics:
                name = metric.name
                evaluations[name] = MetricEvaluation(metric, tcva, self._timeout)
                calls[name] = 0 if tcva.judge.is_local else metric.entry.calls
            report = estimate_cost(
                evaluations,
                self.samples,
                calls=calls,
                prices=prices,
            )
        return replace(report, notes=[*self.notes, *report.notes])

    def table(self) -> ScoreTable:
        """Judge everything; this also works where an event loop is running."""
        return wait_for(self.atable())

    async def atable(self) -> ScoreTable:
        """The same, awaited.

        Raises:
            InvalidValueError: Another run is at work in the folder, or it holds a comparison with
                other samples or settings.
        """
        if self.folder is not None and not self.overwrite:
            check_folder(self.folder, self.fingerprint)
        judged: dict[str, Sequence[MetricJudgement]] = {}
        with self._tcva_with_store(self.folder) as tcva:
            results = await self._judge(tcva, "judging")
            fatal = _fatal_failure(results[-1].assessment)
            for metric in self.metrics:
                evaluation = MetricEvaluation(metric, tcva, self._timeout)
                judgements = [MetricJudgement(unscored=fatal)] * len(self.samples)
                if fatal is None:
                    judgements = await self._judge(evaluation, metric.name)
                judged[metric.name] = judgements
                # A metric that always fails by itself says nothing about the others.
                if evaluation.is_refused:
                    fatal = _fatal_failure(judgements[-1])
        return self._score_table(results, judged, fatal)

    async def _judge(
        self,
        evaluation: Evaluation[Any],
        name: str,
    ) -> list[Any]:
        """Judge every sample."""
        with progress_of(name, len(self.samples), self.progress) as batch:
            runner = Runner(evaluation, batch)
            async with aclosing(runner.astream(iter(self.samples))) as stream:
                return [result async for result in stream]

    @contextmanager
    def _tcva_with_store(self, folder: Path | None) -> Iterator[TCVA]:
        """Open TCVA with the store in the folder, and lock this against other runs.

        It sends no events, as its results are parts of a table at several temperatures.
        """
        with ExitStack() as stack:
            tcva = self.tcva.quiet
            if folder is not None:
                file_writing.make_folder(folder)
                stack.enter_context(file_writing.open_alone(folder / ".lock", folder))
                if tcva.store is None:
                    store = stack.enter_context(VerdictStore(folder / STORE))
                    tcva = tcva.changed(store=store)
            yield tcva

    def _score_table(
        self,
        results: Sequence[Result],
        judged: Mapping[str, Sequence[MetricJudgement]],
        fatal: Unscored | None,
    ) -> ScoreTable:
        """Make the table of all methods from what was judged."""
        tcva = self.tcva
        assessments = [result.assessment for result in results]
        followed = [Result(assessment, tcva.scoring) for assessment in assessments]
        views: dict[str, Sequence[Result]] = {
            tcva_name(temperature): [result.at(temperature) for result in followed]
            for temperature in self.temperatures
        }
        if tcva.profiles is not None:
            views[self.views[-1]] = results
        columns: dict[str, Sequence[Result | MetricJudgement]] = {**views, **judged}
        reasons = {}
        for method, column in columns.items():
            for sample, cell in zip(self._empty_table.samples, column, strict=True):
                if why := _why_no_score(cell):
                    reasons[sample, method] = why
        scores = [[cell.score for cell in column] for column in columns.values()]
        outcomes = evidence_outcomes(assessments)
        notes = [*self.notes, *evidence_lines(outcomes, tcva.scoring.evidence)]
        if fatal is not None:
            notes.append(f"The run ended early, as no call can succeed: {fatal.detail}")

        thresholds = dict.fromkeys(views, tcva.scoring.threshold)
        usage = {self.views[0]: _usage(assessments)}
        verdicts: dict[str, Sequence[Result | None]] = {**views}
        for metric in self.metrics:
            name = metric.name
            thresholds[name] = metric.entry.threshold
            usage[name] = _usage(judged[name])
            verdicts[name] = [
                Result(FrameworkScore("", None, cell.verdicts).assessment())
                if cell.verdicts
                else None
                for cell in judged[name]
            ]
        table = replace(
            self._empty_table,
            methods=tuple(columns),
            scores=np.array(scores, dtype=np.float64).T,
            counts=judged_counts(result.seen for result in followed),
            thresholds=thresholds,
            reasons=reasons,
            usage=usage,
            results=verdicts,
            notes=tuple(notes),
            judged=JudgedBy(
                criterion=tcva.criterion.name,
                judge=tcva.judge.name,
                scoring=tcva.scoring,
                additional_judges=tuple(
                    f"{member.subject} by {member.judge_name}"
                    for member in tcva.members
                ),
            ),
            run=RunInfo(
                temperatures=self.temperatures,
                views=tuple(views),
                metrics={metric.name: metric.version for metric in self.metrics},
                fatal="" if fatal is None else fatal.detail,
                fingerprint=self.fingerprint,
            ),
            judged_samples=tuple(self.samples),
        )
        for imported in self._imported:
            table = table.join(imported)
        for text in self._mean_of:
            table = with_fused(table, text)
        return replace(table, thresholds={**table.thresholds, **self._thresholds})


def tcva_name(temperature: float) -> str:
    """Name TCVA's method at a temperature.

    >>> tcva_name(0.5)
    'tcva T=0.5'
    """
    return f"tcva T={temperature:g}"


def _samples_with_ids(
    samples: Samples, mapping: FieldNames | None
) -> tuple[list[Sample], list[str]]:
    """Read the samples, give each an id of its own, and collect notes on the reading."""
    if isinstance(samples, str | Path):
        samples = SampleStream(samples, mapping=mapping, kept=None)
    elif mapping:
        raise InvalidValueError(
            "mapping is for a file; give its path, or samples with the fields of a Sample"
        )
    different, repeated = with_ids([*checked_samples(samples)])
    if not different:
        raise InvalidValueError("samples is empty; give at least one sample")
    notes = samples.notes if isinstance(samples, SampleStream) else []
    return different, notes + repeated


def _split(what: str, values: str | Sequence[T]) -> Sequence[str | T]:
    """Split a text at commas, or return the parts as they are."""
    return names_in(values) if isinstance(values, str) else as_list(what, values)


def _fatal_failure(last: Judgement) -> Unscored | None:
    """Return the failure of the last judgement if no further call can succeed, else None."""
    why = last.unscored
    return why if why is not None and why.fatal else None


def _why_no_score(judged: Result | MetricJudgement) -> str:
    """Say why there is no score, or why one passes no gate; empty for any other judgement."""
    if isinstance(judged, Result) and judged.mostly_marked:
        return MOSTLY_MARKED
    if judged.score is not None or judged.unscored is None:
        return ""
    # An error's text may hold halves of characters, which cannot be written.
    return " ".join(whole_characters(judged.unscored.text).split())


def _usage(judged: Sequence[Judgement]) -> dict[str, float]:
    """Count the judgements made now, with their cost, and those from an earlier run."""
    asked = [
        judgement
        for judgement in judged
        if judgement.unscored is None
        or judgement.unscored.reason is not Reason.MISSING_FIELD
    ]
    made = [judgement for judgement in asked if judgement.is_new]
    spent = sum((judgement.usage for judgement in made), Usage())
    counts = {"judged": len(made), "cached": len(asked) - len(made)}
    return counts | spent.model_dump(exclude={"retries"}, exclude_none=True)
