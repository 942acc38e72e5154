"""A comparison's run: what is checked first, then judged, then one table of scores.

Every sample is judged once by TCVA and once by every framework metric; what fails is a cell without
a score, with its reason. With a folder, a run that was interrupted goes on where it ended.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.arguments import with_checked_names
from tcva_adapters.compare.calibration.fused import fused_name, members_of, with_fused
from tcva_adapters.compare.runs.methods import ALL, Asked, MetricJudgement, choose
from tcva_adapters.compare.scores.judged_by import JudgedBy, RunInfo
from tcva_adapters.compare.scores.ratings import Ratings, Scale, names_in
from tcva_adapters.compare.scores.readers import read_scores
from tcva_adapters.compare.scores.table import ScoreTable, no_group
from tcva_adapters.core.temperature import (
    Temperatures,
    as_temperature,
    check_temperature,
)
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.cost_estimate import estimate_cost
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import checked_samples
from tcva_adapters.loops import wait_for
from tcva_adapters.progress import progress_of
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.framework_score import FrameworkScore
from tcva_adapters.results.json_values import written_out
from tcva_adapters.results.judgement import Judgement
from tcva_adapters.results.reasons import Reason, Unscored
from tcva_adapters.results.result import MOSTLY_MARKED, Result
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.usage import Usage
from tcva_adapters.results.writer import OURS as RESULTS
from tcva_adapters.results.writer import write_results
from tcva_adapters.runner.questions import Evaluation
from tcva_adapters.runner.running import Runner
from tcva_adapters.samples import whole_files
from tcva_adapters.samples.conversation import add_group, conversation_of
from tcva_adapters.samples.csv_cells import csv_text
from tcva_adapters.samples.reader import SampleFile, SampleStream, distinct, renamed
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.tables import Report
from tcva_adapters.tcva import TCVA

Samples = str | Path | SampleStream | Sequence[Sample]
"""What is judged: a file, a stream of one, or samples."""

TCVALike = TCVA | Mapping[str, Any]
"""Who judges, or the settings of one."""

PATIENCE: Final = 900.0
"""Seconds, above what a metric's calls may take with all their retries."""

STORE: Final = "verdicts.sqlite"
FILES: Final = {
    "scores.csv": "a row per sample and method, with reasons",
    "assessments.jsonl": "TCVA's verdicts, for sweep and calibrate",
    "samples.jsonl": "what was judged",
    "summary.json": "all figures",
}
"""What a comparison's folder holds besides the store."""

_OURS: Final = re.compile(rb'sample,method,score|{"input": |{\n "sentence": ')
_RUN: Final = "fingerprint"


class Run:
    """Framework metrics and TCVA on the same samples, with the same judge.

    Everything is read and checked here, before the first call. The frameworks are imported, which
    takes seconds.

    Args:
        samples: A file, a `SampleStream` of one, or samples. One without an id is called by its
            row (``row-7``), ids that come again are numbered.
        mapping: Of a file, your field names to the fields they hold, e.g. ``{"my_answer": "response"}``.
        tcva: A `TCVA`, or the settings of one: ``{"judge": "openai:MODEL", "threshold": 0.7}``.
            Its judge answers the frameworks' prompts, too, and its store holds for their metrics.
        frameworks: Names, or a text with commas: ``ragas,deepeval``. ``all`` takes those that are
            installed, ``none`` runs TCVA alone.
        metrics: ``faithfulness`` (of every framework that has it), ``ragas.faithfulness`` or
            ``all``; by default those that stand for TCVA's criterion. What cannot be asked of any
            sample is left out, and a note says so.
        temperatures: TCVA's; all of one judgement.
        imported: Scores that were made elsewhere: ``NAME=FILE``, or what `read_scores` made of a file
            with a scale of its own.
        mean_of: More methods, each the geometric mean of others: ``"tcva T=0.5 + ragas faithfulness"``.
        human: The samples' field with human ratings, several with commas between (one per rater),
            or a file of them; by default those of imported tables.
        human_scale: The lowest and the highest rating that could be given: ratings are laid on
            [0, 1], the scale of scores. By default they are as they are.
        group: The samples' field that names what they belong to (a document). By default turns
            belong to their conversation, and other samples to nothing.
        pass_from: Where other methods' scores pass from, by name.
        folder: Where judgements are stored as they are made, unless the TCVA has a store: the same
            run on it goes on where it ended. One run at a time.
        overwrite: Take the place of another comparison, or of other files, in the folder.
        timeout: Seconds after which a framework metric is given up on a sample.
        progress: Whether to show bars on a terminal, and a line every ten seconds in a log; by
            default the bars alone.

    Attributes:
        samples: Each with an id of its own.
        tcva: Who judges.
        methods: The framework metrics.
        human: Ratings, shape (samples, raters); None where no field or file is named.
        names: Those of all methods, imported and fused ones, too.
        notes: What was left out, in sentences.
        folder: As given.
        overwrite: As given.
        progress: As given.

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
        mapping: Mapping[str, str] | None = None,
        frameworks: str | Sequence[str] = ALL,
        metrics: str | Sequence[str] | None = None,
        temperatures: str | Temperatures = (0.1, 0.5, 0.9),
        imported: Sequence[str | ScoreTable] = (),
        mean_of: Sequence[str] = (),
        human: str | Path | None = None,
        human_scale: Scale | None = None,
        group: str | None = None,
        pass_from: Mapping[str, float] | None = None,
        folder: str | Path | None = None,
        overwrite: bool = False,
        timeout: float = PATIENCE,
        progress: bool | None = None,
    ) -> None:
        grid = list(dict.fromkeys(map(as_temperature, _listed(temperatures)))) or [0.5]
        if not isinstance(tcva, TCVA):
            tcva = TCVA(**{"temperature": grid[0], **(tcva or {})})
        for temperature in grid:
            check_temperature(temperature, tcva.scoring.bounds)
        if tcva.scoring.temperature not in grid:
            grid.append(tcva.scoring.temperature)
        if not timeout > 0.0:
            msg = f"timeout must be above 0 seconds, got {timeout:g}"
            raise InvalidValueError(msg)
        self.tcva, self.temperatures = tcva, tuple(grid)
        self.samples, self.notes = _named(samples, mapping)
        self.methods, left_out = choose(
            _listed(frameworks),
            None if metrics is None else _listed(metrics),
            criterion=tcva.criterion.name,
            samples=self.samples,
            is_lexical=tcva.judge.name.startswith("lexical/"),
        )
        self.notes += left_out
        self._mean_of = mean_of
        self._imported = [
            read_scores(source, samples=self.samples, human_scale=human_scale)
            for source in imported
        ]
        self._raters, self.human = self._rated(human, human_scale)
        self._groups = self._grouped(group)
        self.folder = None if folder is None else whole_files.usable_path(folder)
        self._timeout, self.progress, self.overwrite = timeout, progress, overwrite
        self._thresholds = dict(pass_from or {})
        self.names = self._checked_names()
        for method in self.methods:
            Asked(
                method, tcva, timeout
            )  # refuses a judge that answers no prompts of others

    @property
    def fingerprint(self) -> str:
        """Equal where the samples, the judge and all settings of scores are."""
        samples = [sample.model_dump(mode="json") for sample in self.samples]
        human = None if self.human is None else self.human.tolist()
        imported = [(table.methods, table.scores.tolist()) for table in self._imported]
        thresholds = sorted(self._thresholds.items())
        given = (samples, human, self._groups, imported, self.names, thresholds)
        return hashlib.sha256(f"{self.tcva.fingerprint} {given!r}".encode()).hexdigest()

    @property
    def is_rated(self) -> bool:
        """Whether people have rated samples, here or in imported scores."""
        return self.human is not None or any(
            table.human.size for table in self._imported
        )

    @property
    def views(self) -> list[str]:
        """TCVA's methods: one at each temperature, and one that follows profiles."""
        profiles = self.tcva.profiles
        follows = [] if profiles is None else [f"tcva by {next(iter(profiles))}"]
        return [*map(tcva_name, self.temperatures), *follows]

    def _checked_names(self) -> list[str]:
        """All methods of the table.

        Raises:
            InvalidValueError: Two of one name, or one that is named and is none.
        """
        names = [*self.views, *(method.name for method in self.methods)]
        names += [name for table in self._imported for name in table.methods]
        named = [member for text in self._mean_of for member in members_of(text)]
        unknown = [name for name in (*named, *self._thresholds) if name not in names]
        twice = [name for name, number in Counter(names).items() if number > 1]
        if unknown or twice:
            msg = (
                f"no method {unknown[0]!r}; the methods are {', '.join(names)}"
                if unknown
                else (
                    f"two methods are named {twice[0]!r}; give imported scores another name: NAME=FILE"
                )
            )
            raise InvalidValueError(msg)
        return [*names, *map(fused_name, self._mean_of)]

    def _rated(
        self, human: str | Path | None, scale: Scale | None
    ) -> tuple[tuple[str, ...], FloatArray | None]:
        """The raters, and the ratings of every sample by each of them."""
        if human is None:
            return (), None
        ratings = Ratings.find(human, scale, self.temperatures[0])
        found = [
            ratings.of(sample.id or "", sample.metadata) for sample in self.samples
        ]
        self.notes += ratings.ended(len(found))
        return ratings.raters, np.array(found)

    def _grouped(self, group: str | None) -> tuple[Any, ...]:
        if group is None:
            groups: list[Hashable] = []
            for number, sample in enumerate(self.samples, start=1):
                add_group(groups, number, conversation_of(sample.id, sample.metadata))
            return tuple(groups)
        found = [sample.metadata.get(group) for sample in self.samples]
        if None in found:
            lacking = self.samples[found.index(None)].id
            raise InvalidSampleError(no_group(lacking, group))
        return tuple(found)

    def cost(self, prices: tuple[float, float] | None = None) -> Report:
        """The calls that the run will take; nothing is asked.

        Args:
            prices: Per million prompt tokens and per million reply tokens.
        """
        with self._storing() as tcva:
            askings = {m.name: Asked(m, tcva, self._timeout) for m in self.methods}
            each = {
                m.name: 0 if tcva.judge.is_local else m.known.calls
                for m in self.methods
            }
            found = estimate_cost(
                {"tcva": tcva, **askings}, self.samples, calls=each, prices=prices
            )
        return replace(found, notes=[*self.notes, *found.notes])

    def table(self) -> ScoreTable:
        """Judge everything; also where an event loop is running."""
        return wait_for(self.atable())

    async def atable(self) -> ScoreTable:
        """The same, awaited.

        Raises:
            InvalidValueError: Another run is at work in the folder, or it holds a comparison with
                other samples or settings.
        """
        if self.folder is not None and not self.overwrite:
            _check_folder(self.folder, self.fingerprint)
        judged: dict[str, list[MetricJudgement]] = {}
        with self._storing() as tcva:
            results = await self._judged(tcva, "judging")
            fatal = _fatal(result.assessment.unscored for result in results)
            for method in self.methods:
                asked = Asked(method, tcva, self._timeout)
                if fatal is None:
                    judged[method.name] = await self._judged(asked, method.name)
                    # A metric that always fails by itself says nothing about the others.
                    if asked.is_refused:
                        fatal = _fatal(each.unscored for each in judged[method.name])
                else:
                    judged[method.name] = [MetricJudgement(unscored=fatal)] * len(
                        self.samples
                    )
        return self._made(results, judged, fatal)

    async def _judged(self, asking: Evaluation[Any], name: str) -> list[Any]:
        """What comes of every sample."""
        with progress_of(name, len(self.samples), self.progress) as shown:
            stream = Runner(asking, in_batch=True).astream(iter(self.samples), shown)
            async with aclosing(stream):
                return [each async for each in stream]

    @contextmanager
    def _storing(self) -> Iterator[TCVA]:
        """TCVA with the store of the run, which no other run has meanwhile.

        Without events: what it gives is a table at several temperatures.
        """
        with ExitStack() as stack:
            tcva = self.tcva.quiet
            if self.folder is not None:
                if self.folder.is_file():
                    msg = f"{self.folder} is a file, and a comparison writes a folder; give another name"
                    raise InvalidValueError(msg)
                whole_files.make_folder(self.folder)
                stack.enter_context(
                    whole_files.alone(self.folder / ".lock", self.folder)
                )
                if tcva.store is None:
                    store = stack.enter_context(VerdictStore(self.folder / STORE))
                    tcva = tcva.changed(store=store)
            yield tcva

    def _made(
        self,
        results: Sequence[Result],
        judged: Mapping[str, Sequence[MetricJudgement]],
        fatal: Unscored | None,
    ) -> ScoreTable:
        tcva, names = self.tcva, tuple(sample.id or "" for sample in self.samples)
        assessments = [result.assessment for result in results]
        views_of = [Result(assessment, tcva.scoring) for assessment in assessments]
        views: dict[str, Sequence[Result]] = {
            tcva_name(t): [result.at(t) for result in views_of]
            for t in self.temperatures
        }
        if tcva.profiles is not None:
            views[self.views[-1]] = results
        cells: dict[str, Sequence[Result | MetricJudgement]] = {**views, **judged}
        scores = [[each.score for each in column] for column in cells.values()]
        lowered = EvidenceCounts.of(assessments, tcva.scoring.evidence)
        notes = [*self.notes, *lowered.lines()]
        if fatal is not None:
            notes.append(f"The run ended early, as no call can succeed: {fatal.detail}")
        table = ScoreTable(
            samples=names,
            methods=tuple(cells),
            scores=np.array(scores, dtype=np.float64).T.reshape(len(names), len(cells)),
            human=self.human if self.human is not None else np.empty(0),
            raters=self._raters,
            groups=self._groups,
            counts=judged_counts(result.seen for result in views_of),
            thresholds=dict.fromkeys(views, tcva.scoring.threshold)
            | {method.name: method.known.threshold for method in self.methods},
            reasons={
                (sample, method): why
                for method, column in cells.items()
                for sample, each in zip(names, column, strict=True)
                if (why := _why(each)) is not None
            },
            metadata=tuple(sample.metadata for sample in self.samples),
            usage={self.views[0]: _usage(assessments)}
            | {name: _usage(found) for name, found in judged.items()},
            results={
                **views,
                **{name: _as_results(found) for name, found in judged.items()},
            },
            notes=tuple(notes),
            judged=JudgedBy(
                criterion=tcva.criterion.name,
                judge=tcva.judge.name,
                prompt_versions=tuple(
                    dict.fromkeys(judged.prompt_version for judged in assessments)
                ),
                scoring=tcva.scoring,
                additional_judges=tuple(
                    f"{member.subject} by {member.judge_name}"
                    for member in tcva.members
                ),
            ),
            run=RunInfo(
                temperatures=self.temperatures,
                views=tuple(views),
                metrics={method.name: method.version for method in self.methods},
                fatal="" if fatal is None else fatal.detail,
                fingerprint=self.fingerprint,
            ),
            texts=tuple(self.samples),
        )
        for one in self._imported:
            table = table.joined(one)
        for text in self._mean_of:
            table = with_fused(table, text)
        return replace(table, thresholds={**table.thresholds, **self._thresholds})


def _check_folder(folder: Path, fingerprint: str) -> None:
    """Refuse a folder with another comparison, or with files of something else."""
    for name in FILES:
        whole_files.check_ours(
            folder / name, RESULTS if name == "assessments.jsonl" else _OURS
        )
    path = folder / "summary.json"
    if not path.is_file():
        return  # nothing, or what an interrupted run has stored
    try:
        held = json.loads(path.read_bytes()).get(_RUN)
    except ValueError:
        held = None
    if held != fingerprint:
        msg = (
            f"{folder} holds a comparison with other samples or settings; choose another folder, or "
            "--overwrite (overwrite=True)"
        )
        raise InvalidValueError(msg)


def tcva_name(temperature: float) -> str:
    """The method's name at a temperature.

    >>> tcva_name(0.5)
    'tcva T=0.5'
    """
    return f"tcva T={temperature:g}"


def _named(
    samples: Samples, mapping: Mapping[str, str] | None
) -> tuple[list[Sample], list[str]]:
    """The samples, each with an id of its own, and what is to be known of their reading."""
    if isinstance(samples, str | Path):
        samples = SampleStream(samples, mapping=mapping, kept=None)
    elif mapping:
        msg = "mapping is for a file; give its path, or samples with the fields of a Sample"
        raise InvalidValueError(msg)
    found = [*checked_samples(samples)]
    names, repeated = distinct(s.id or f"row-{n}" for n, s in enumerate(found, start=1))
    notes = samples.notes if isinstance(samples, SampleStream) else []
    return renamed(found, names), notes + SampleFile((), (), [], repeated).notes


def _listed(given: str | Sequence[Any]) -> list[Any]:
    """What a text names with commas between, or the parts as they are."""
    return names_in(given) if isinstance(given, str) else list(given)


def _fatal(reasons: Iterable[Unscored | None]) -> Unscored | None:
    """The failure after which no call could succeed: after any other one, further samples were judged."""
    *_, last = reasons
    return last if last is not None and last.fatal else None


def _why(judged: Result | MetricJudgement) -> str | None:
    """Why there is no score, or why one passes no gate; None for any other one."""
    if isinstance(judged, Result) and judged.mostly_marked:
        return MOSTLY_MARKED
    if judged.score is not None:
        return None
    # An error's text may hold halves of characters, which no file takes.
    text = "" if judged.unscored is None else judged.unscored.text
    return " ".join(whole_characters(text).split())


def _usage(judged: Sequence[Judgement]) -> dict[str, float]:
    """How many judgements were made now, and what these cost; how many an earlier run had made."""
    lacking = Reason.MISSING_FIELD
    asked = [
        j for j in judged if j.unscored is None or j.unscored.reason is not lacking
    ]
    made = [judgement for judgement in asked if judgement.is_new]
    spent = sum((judgement.usage for judgement in made), Usage())
    counts = {"judged": len(made), "cached": len(asked) - len(made)}
    return counts | spent.model_dump(exclude={"retries"}, exclude_none=True)


def _as_results(judged: Sequence[MetricJudgement]) -> list[Result | None]:
    """A framework metric's own verdicts, for readers of single samples."""
    return [
        Result(FrameworkScore("", each.score, each.verdicts).assessment())
        if each.verdicts
        else None
        for each in judged
    ]


def save(
    folder: str | Path,
    table: ScoreTable,
    report: Report | None = None,
    *,
    overwrite: bool = False,
) -> list[Path]:
    """Write what a comparison made; returns the files.

    These are ``scores.csv`` (a row per sample and method), ``assessments.jsonl`` (TCVA's verdicts),
    ``samples.jsonl`` (what was judged) and ``summary.json`` (the report). Each
    appears under its name once it is complete, in place of that of an earlier comparison.

    Args:
        folder: It is made where it is not there.
        table: Of `Run.table`.
        report: What the table says; see `tcva_adapters.compare.agreement.comparison.comparison`.
        overwrite: Take the place of files of something else, too.

    Raises:
        InvalidValueError: A file cannot be written, or one under its name is of something else.
    """
    scores, judged, texts, summary = (
        whole_files.usable_path(folder) / name for name in FILES
    )
    with whole_files.replacing(scores, ours=_OURS, overwrite=overwrite) as stream:
        header = ("sample", "method", "score", "unscored")
        stream.write(csv_text(header, _long(table)).encode())
    own = table.results[table.views[0]]
    assessments = (each.assessment for each in own if isinstance(each, Result))
    write_results(judged, assessments, overwrite=overwrite)
    with whole_files.replacing(texts, ours=_OURS, overwrite=overwrite) as stream:
        for sample in table.texts:
            stream.write(
                f"{json.dumps(written_out(sample.model_dump(by_alias=True)))}\n".encode()
            )
    if report is not None:
        with whole_files.replacing(summary, ours=_OURS, overwrite=overwrite) as stream:
            content = report.to_dict() | {
                _RUN: table.run.fingerprint if table.run else None
            }
            stream.write(json.dumps(content, indent=1).encode() + b"\n")
    return [scores, judged, texts, *([summary] if report else [])]


def _long(table: ScoreTable) -> Iterator[tuple[str, str, float | None, str]]:
    """One row per sample and method."""
    for row, sample in enumerate(table.samples):
        for method, score in zip(
            table.methods, table.scores[row].tolist(), strict=True
        ):
            if math.isnan(score):
                yield sample, method, None, table.reason(sample, method)
            else:
                yield sample, method, score, ""
