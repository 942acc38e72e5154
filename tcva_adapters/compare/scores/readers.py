"""Everything that becomes a `ScoreTable`: judgements, CCRS results, imported scores, with ratings."""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.scores.imported import (
    Imported,
    Importing,
    Row,
    matched,
    parse_spec,
    read_imported,
)
from tcva_adapters.compare.scores.judged_by import JudgedBy
from tcva_adapters.compare.scores.ratings import Fields, Ratings, Scale
from tcva_adapters.compare.scores.table import Numbered, ScoreTable, no_group
from tcva_adapters.core.aggregation import check_counts
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.counted import LevelCounts
from tcva_adapters.results.evidence import EvidenceCounts, under
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import MOSTLY_MARKED, Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import Scores, Summary
from tcva_adapters.samples.conversation import CONVERSATION, add_group, conversation_of
from tcva_adapters.samples.file_formats import (
    Format,
    format_of,
    read_records,
    record_of,
)
from tcva_adapters.samples.reader import SampleStream, numbered
from tcva_adapters.samples.row_stream import RowStream, skipped_rows
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import listed
from tcva_adapters.samples.strict_json import json_object
from tcva_adapters.tables import Record, counted

Judged = Assessment | Result | CCRSResult
Human = str | Path | Mapping[str, Any] | npt.ArrayLike
"""Where human ratings are, see `read_scores`."""
Held = Literal["all", "scores", "counts"]

DEFAULT: Final = ScoringConfig()

_TABLES: Final = ("scores.csv", "scores.parquet", "scores.jsonl")
_JUDGED: Final = "assessments.jsonl"
"""The judgements in the folder of a comparison."""
_NO_ROW: Final = "no row"
"""Why a sample has no imported score that no row is about."""


@dataclass(slots=True)
class Reading:
    """How sources are read, see `read_scores`, and what is to be said of it.

    Attributes:
        split: The metadata field of systems: samples of another one are another block.
        of_systems: Names are those of systems; the column ``system`` of tables is such a field.
        notes: What was left out, in sentences.
        skipped: How many unreadable lines were left out.
    """

    ratings: Ratings | None = None
    group: str | None = None
    scoring: ScoringConfig | None = None
    samples: Mapping[str, Sample] | None = None
    importing: Importing = field(default_factory=Importing)
    human_scale: Scale | None = None
    skip_bad: bool | None = False
    hold: Held = "all"
    split: str | None = None
    of_systems: bool = False
    notes: list[str] = field(default_factory=list)
    skipped: int = 0


def read_scores(
    source: Any,
    *,
    human: Human | None = None,
    human_scale: Scale | None = None,
    group: str | None = None,
    scoring: ScoringConfig | None = None,
    samples: Sequence[Sample] | None = None,
    scale: Scale = (0.0, 1.0),
    missing: float | None = None,
    skip_bad: bool = False,
    hold: Held = "all",
) -> ScoreTable:
    """Read or take scores of any kind into one table.

    A source is a file, or results in memory:

    * judgements that ``tcva evaluate --out`` wrote: a method for each criterion and judge, with
      ``--ccrs`` one for each metric (jsonl; ``"-"`` is standard input),
    * imported scores of RAGAS, DeepEval and LangSmith, or tables with a column per method or a row
      per sample and method, see `read_imported`,
    * the folder of a comparison: its judgements, and the scores of its other methods (among several
      sources its table of scores alone),
    * results, assessments, CCRS results, and conversations' results, whose turns are samples; or level counts, shape (N, 5) or (N, J, 5), whose
      method is ``scores``.

    ``NAME=PATH`` names what is in a file, ``PATH::COLUMN,COLUMN`` says which columns are methods.

    Args:
        source: One source, several of them, or sources by name. Their methods stand side by side,
            joined by the samples' ids. A table is returned as it is.
        human: Ratings: fields of the samples' metadata (``"anna,ben"`` for two raters) or columns
            of imported scores; a file of labels (see `Ratings.find`); ratings by sample id, or one
            for each sample. By default the column ``human`` or ``human_score`` of imported scores.
        human_scale: The lowest and the highest rating that could be given: these become 0 and 1.
        group: The metadata field, or column, of what samples belong to; by default conversations.
        scoring: The settings for judgements; by default those that they were written with.
        samples: What imported scores are about: rows are matched to them by id or by their texts,
            and the table has a row for each of these samples.
        scale: The lowest and highest possible score of imported scores.
        missing: A number that stands for no score in them.
        skip_bad: Leave out unreadable lines; ``skipped`` counts them, a note says which.
        hold: ``all``; or for millions of samples, whose ids are row numbers then, and why they have
            no score stands in the summary alone: ``scores`` (8 bytes a sample), or of one file of
            judgements ``counts`` (40 bytes, no methods), each with ratings and groups.

    Returns:
        Results in ``results``; the samples of imported scores in ``texts``; what was judged and by whom
        in ``judged_methods``, of judgements by one judge in ``judged``.

    Raises:
        UnreadableInputError: A file cannot be read, or holds nothing of this kind, or ratings alone.
        InvalidSampleError: Scores of one method are fused with different judges, or a scored sample
            (with a rating, where there are ratings) belongs to no group.
        InvalidValueError: No sample has a rating, or a value is none.

    >>> table = read_scores([Assessment.from_verdicts(["fully", "none"], sample_id="a")])
    >>> table.samples, table.methods, table.counts.tolist()
    (('a',), ('faithfulness',), [[[1.0, 0.0, 0.0, 0.0, 1.0]]])
    """
    if isinstance(source, ScoreTable):
        return source
    if folder := _compared(source):
        source = folder / _JUDGED
    ratings, importing = None, Importing(scale=scale, missing=missing)
    if isinstance(human, str | Path | Mapping):
        ratings = Ratings.find(human, human_scale, (scoring or DEFAULT).temperature)
        if ratings.labels is None:
            importing = replace(importing, human=ratings.raters)
    how = Reading(
        ratings, group, scoring, _by_id(samples), importing, human_scale, skip_bad, hold
    )
    table = _of_counts(source, how) or _merged(read_blocks(source, how), how)
    if not table.methods and table.counts is None:
        named = " ".join(str(file) for _, file in _sources(source))
        msg = f"no scores in {named}; judge it first: tcva evaluate {named} --out judged.jsonl"
        raise UnreadableInputError(msg)
    if human is not None and ratings is None:
        table = _rated(table, np.asarray(human, dtype=np.float64), human_scale)
    if group is not None:
        check_groups(table, group)
    return _with_others(table, folder) if folder and hold != "counts" else table


def _by_id(samples: Sequence[Sample] | None) -> dict[str, Sample] | None:
    if samples is None:
        return None
    return {
        each.id or f"row-{place}": each for place, each in enumerate(samples, start=1)
    }


def _rated(table: ScoreTable, human: FloatArray, scale: Scale | None) -> ScoreTable:
    """With ratings in the order of the samples."""
    if len(human) != len(table):
        msg = f"{len(human)} human ratings for {len(table)} samples; give one for each sample or turn"
        raise InvalidValueError(msg)
    scaled = np.vectorize(
        Ratings("human ratings", (), scale).scaled, otypes=[np.float64]
    )
    return replace(table, human=scaled(human))


def _compared(source: Any) -> Path | None:
    """The folder of a comparison; None where the source is something else."""
    folder = Path(source).expanduser() if isinstance(source, str | Path) else None
    return folder if folder and (folder / _JUDGED).is_file() else None


def _with_others(judged: ScoreTable, folder: Path) -> ScoreTable:
    """The judgements that a comparison saved, with the scores of its other methods."""
    scores = read_scores(folder / "scores.csv")
    others = [name for name in scores.methods if not name.startswith("tcva ")]
    texts = tuple(SampleStream(folder / "samples.jsonl"))
    table = judged.joined(scores.select(methods=others))
    return replace(table, texts=texts)


@dataclass(slots=True, eq=False)
class Block:
    """The methods of one source by one judge: they rate the same samples, row by row.

    Attributes:
        name: What the source was named; empty where it was not.
        source: The file's name without its suffix.
        how: How it is read.
        kind: ``tcva``, ``ccrs`` or a kind of `Imported`.
        criterion: What was judged; empty for imported scores.
        judge: Who judged it; empty for imported scores.
        system: What the samples are answers of, where that is asked for.
        names: Ids in their order, each once, and how often it came.
        scores: By method, nan where there is none.
        thresholds: By method.
        reasons: By sample and method.
        metadata: Of each sample.
        human: Ratings, one per sample and rater, one after the other.
        groups: What each sample belongs to.
        counts: Level counts, where they are held.
        results: By method.
        texts: The samples of imported scores.
        prompt_versions: Of the judge, each once.
        scoring: The settings of the first judgement.
        additional_judges: Whose verdicts are fused with the judge's; None before the first scored judgement.
        summaries: By method.
        number: How many samples there are.
    """

    name: str
    source: str
    how: Reading
    kind: str
    criterion: str = ""
    judge: str = ""
    system: str = ""
    names: dict[str, int] = field(default_factory=dict)
    scores: dict[str, array[float]] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    metadata: list[Fields] = field(default_factory=list)
    human: array[float] = field(default_factory=lambda: array("d"))
    groups: list[Hashable] = field(default_factory=list)
    counts: LevelCounts = field(default_factory=LevelCounts)
    results: dict[str, list[Scored]] = field(default_factory=dict)
    texts: list[Sample] = field(default_factory=list)
    prompt_versions: dict[str, None] = field(default_factory=dict)
    scoring: ScoringConfig | None = None
    additional_judges: tuple[str, ...] | None = None
    summaries: dict[str, Scores] = field(default_factory=dict)
    number: int = 0

    def add(
        self,
        name: str | None,
        metadata: Fields,
        scores: Mapping[str, float | None],
        reasons: Mapping[str, str],
        result: Scored | None = None,
        talk: str | None = None,
    ) -> None:
        """One more sample: under its own id, numbered where that comes again, or ``row-N``.

        A turn of a conversation comes with what that is called.
        """
        self.number += 1
        own = name or f"row-{self.number}"
        if self.how.hold == "all":
            own = numbered(own, self.names)
            self.metadata.append(metadata)
            self.reasons |= {
                (own, method): why for method, why in reasons.items() if why
            }
            if result is not None:
                for method in scores:
                    self.results.setdefault(method, []).append(result)
        if self.how.ratings is not None:
            self.human.extend(self.how.ratings.of(own, metadata))
        if self.how.group is not None:
            value = metadata.get(self.how.group)
            is_nan = value != value  # noqa: PLR0124  # of any type
            is_group = (
                isinstance(value, str | int | float) and value != "" and not is_nan
            )
            self.groups.append(value if is_group else None)
        else:
            add_group(self.groups, self.number, conversation_of(name, metadata) or talk)
        for method, score in scores.items():
            column = self.scores.setdefault(method, array("d"))
            column.append(math.nan if score is None else score)

    def add_rated(self, item: CCRSResult) -> None:
        """One more sample by its CCRS result."""
        reasons = {method: why.text for method, why in item.unscored_by.items()}
        self.add(item.sample_id, item.metadata, item.scores, reasons, item)
        self.thresholds |= dict.fromkeys(item.scores, item.threshold)
        self.prompt_versions[item.prompt_version] = None
        for metric, score in item.scores.items():
            summary = self.summaries.setdefault(metric, Scores())
            summary.add_score(score, item.unscored_by.get(metric))

    def add_judged(self, item: Assessment | Result, talk: str | None = None) -> None:
        """One more sample by its judgement; see `add`."""
        judged = item.assessment if isinstance(item, Result) else item
        scoring = self.how.scoring or (
            item.scoring if isinstance(item, Result) else DEFAULT
        )
        self.scoring = self.scoring or scoring
        self.prompt_versions[judged.prompt_version] = None
        if self.how.ratings is not None:
            self.how.ratings.temperature = scoring.temperature
        if judged.unscored is None:  # else additional judges were not asked
            self._check_fused(
                tuple(f"{each.criterion} by {each.judge}" for each in judged.members)
            )
        summary = self.summaries.setdefault(judged.criterion, Summary())
        assert isinstance(summary, Summary)  # noqa: S101  # a block holds results of one kind
        if self.how.hold == "counts":
            self.add(judged.sample_id, judged.metadata, {}, {}, talk=talk)
            summary.evidence.found.update(EvidenceCounts.of([judged]).found)
            self.counts.add(under(judged, scoring.evidence))
            return
        result = item if isinstance(item, Result) else Result(judged, scoring)
        if result.scoring != scoring:
            result = Result(judged, scoring, result.certified)
        method, why = judged.criterion, result.unscored
        reasons = {} if why is None or result.score is not None else {method: why.text}
        self.add(
            judged.sample_id,
            judged.metadata,
            {method: result.score},
            reasons,
            result,
            talk,
        )
        if result.mostly_marked:
            last = next(reversed(self.names), f"row-{self.number}")
            self.reasons[last, method] = MOSTLY_MARKED
        self.thresholds.setdefault(method, scoring.threshold)
        summary.add(result)
        if self.how.hold == "all":
            self.counts.add(result.seen)

    def judged(self, method: str) -> JudgedBy:
        """What was judged and by whom, with what a method's scores amount to."""
        return JudgedBy(
            criterion=self.criterion,
            judge=self.judge,
            prompt_versions=tuple(self.prompt_versions),
            scoring=self.scoring,
            additional_judges=self.additional_judges or (),
            summary=self.summaries.get(method),
            kind=self.kind,
        )

    def _check_fused(self, names: tuple[str, ...]) -> None:
        if self.additional_judges is None:
            self.additional_judges = names
        first = self.additional_judges
        if first != names:
            mixed = "; ".join(
                sorted(", ".join(each) or "nothing" for each in (first, names))
            )
            msg = f"{self.called} mixes scores that are fused with different judges: {mixed}"
            raise InvalidSampleError(msg)

    @property
    def called(self) -> str:
        """What its samples are answers of, or the file is called."""
        return self.system or self.name or self.source


def read_blocks(source: Any, how: Reading) -> list[Block]:
    """Each source as one or several blocks; see `read_scores` for sources and errors."""
    blocks = []
    for name, each in _sources(source):
        is_file = isinstance(each, str | Path)
        blocks += (
            _of_file(name, str(each), how) if is_file else _of_items(each, how, name)
        )
    for block in blocks:
        if again := [name for name, times in block.names.items() if times > 1]:
            said = (
                f"{block.called} repeats {counted(len(again), 'id')}, e.g. {again[0]!r}"
            )
            how.notes.append(
                f"{said}; the samples after the first are named {again[0]}#2 and so on."
            )
    return blocks


def _sources(source: Any) -> Iterable[tuple[str, Any]]:
    """Files and results by name."""
    if isinstance(source, str | Path | Judged):
        return [("", [source] if isinstance(source, Judged) else source)]
    if isinstance(source, Mapping):
        return source.items()
    items = iter(source)
    first = [*islice(items, 1)]
    is_file = bool(first) and isinstance(first[0], str | Path)
    return (
        (("", each) for each in (*first, *items))
        if is_file
        else [("", chain(first, items))]
    )


def _of_file(name: str, spec: str, how: Reading) -> list[Block]:
    given, file, columns = parse_spec(spec)
    path = Path(file).expanduser()
    if path.is_dir():
        path = next(
            (path / table for table in _TABLES if (path / table).is_file()), path
        )
    stem = path.resolve().parent.name if path.name in _TABLES else path.stem
    first, target = Record(), file
    name, kind = name or given, format_of(file if file == "-" else path)
    if file != "-":
        first, target = _first_record(path, kind), str(path)
        if not (
            {"criterion", "judge"} <= first.keys()
            or {"answers", "lambda_"} <= first.keys()
        ):
            return _of_imported(
                read_imported(path, replace(how.importing, columns=columns)),
                how,
                name,
                stem,
            )
    parse = _counted if how.hold == "counts" else record_of
    if how.hold == "counts":
        if "answers" in first:
            msg = f"{file} holds CCRS results, which have no verdicts: no temperature changes them"
            raise InvalidSampleError(msg)
        with suppress(UnreadableInputError):  # which is said where the line is read
            how.scoring = how.scoring or getattr(_item(first), "scoring", None)
    rows: RowStream[Any] = RowStream(
        target,
        kind,
        skip_bad=how.skip_bad,
        read=_item,
        parse=parse,
    )
    blocks = _of_items(rows, how, name, stem)
    how.notes += skipped_rows(rows.bad, rows.skipped, f" of {path.name}")
    how.skipped += rows.skipped
    return blocks


def _first_record(path: Path, kind: Format) -> Record:
    """The first one that can be read of a file that may hold judgements."""
    if kind in ("jsonl", "json"):
        with suppress(UnreadableInputError):  # a test run of DeepEval may hold NaN
            return next(
                filter(None, (row.record for row in read_records(path, kind))), {}
            )
    return {}


def _item(record: Record) -> Judged:
    """A line: a result with its settings, a CCRS or conversation's result, or a bare assessment."""
    if "answers" in record:
        return CCRSResult.from_dict(record)
    if "turns" in record:
        return ConversationResult.from_dict(record)
    return (
        Result.from_dict(record)
        if "scoring" in record
        else Assessment.from_dict(record)
    )


def _counted(line: str) -> Any:
    """The same of a line of jsonl; that of an answer is read faster, for its verdicts alone."""
    return json_object(line) if '"turns":' in line else Assessment.from_json(line)


def _turns(items: Iterable[Any]) -> Iterator[tuple[Any, str | None]]:
    """Results in their order, of a conversation those of its turns with what it is called."""
    for place, each in enumerate(items, start=1):
        if not isinstance(each, ConversationResult):
            yield each, None
            continue
        own = each.sample_id or f"row-{place}"
        for number, turn in enumerate(each.turns, start=1):
            about = {
                **turn.assessment.metadata,
                CONVERSATION: own,
                "turn": number,
            }
            named = {"sample_id": f"{own}/{number}", "metadata": about}
            judged = turn.assessment.model_copy(update={} if turn.sample_id else named)
            yield replace(turn, assessment=judged), own


def _of_items(
    items: Iterable[Any],
    how: Reading,
    name: str = "",
    source: str = "results",
) -> list[Block]:
    """Judgements in their order; those of another judge, or another system, are another block."""
    blocks: dict[tuple[str, str, str], Block] = {}
    for item, talk in _turns(items):
        if not isinstance(item, Judged):
            msg = (
                f"{str(item)[:80]!r} is not a result; take only results: result_of or "
                "results_of of the framework's adapter finds them"
            )
            raise InvalidValueError(msg)
        judged = item.assessment if isinstance(item, Result) else item
        system = _system(judged.sample_id, judged.metadata, how.split)
        key = (judged.criterion, judged.judge, system)
        if key not in blocks:
            kind = "ccrs" if isinstance(judged, CCRSResult) else "tcva"
            blocks[key] = Block(
                name=name,
                source=source,
                how=how,
                kind=kind,
                criterion=judged.criterion,
                judge=judged.judge,
                system=system,
            )
        if isinstance(item, CCRSResult):
            blocks[key].add_rated(item)
        else:
            blocks[key].add_judged(item, talk)
    if not blocks:
        msg = f"{name or source}: there are no results; give what 'tcva evaluate --out' wrote"
        raise InvalidSampleError(msg)
    if how.hold == "counts" and len(blocks) > 1:
        mixed = "; ".join(
            f"{criterion} by {judge}" for criterion, judge, _ in sorted(blocks)
        )
        msg = f"{name or source} mixes judgements that cannot be averaged: {mixed}"
        raise InvalidSampleError(msg)
    return [*blocks.values()]


def _system(sample: str | None, metadata: Fields, field: str | None) -> str:
    value = "" if field is None else metadata.get(field)
    if field is not None and value in (None, ""):
        known = listed(metadata) or "none"
        msg = f"sample {sample!r} has no {field!r} in its metadata; its fields are {known}"
        raise InvalidSampleError(msg)
    return str(value)


def _of_imported(
    found: Imported,
    how: Reading,
    name: str,
    source: str,
) -> list[Block]:
    """Imported scores; those of another system are another block."""
    if how.samples is None:
        pairs = [
            (row.sample.id or f"row-{n}", row)
            for n, row in enumerate(found.rows, start=1)
        ]
    else:
        pairs, note = matched(found, how.samples)
        how.notes.append(note)
    columns = {column for _, row in pairs for column in row.sample.metadata}
    if how.ratings is None and (
        human := [c for c in how.importing.human if c in columns]
    ):
        how.ratings = Ratings(human[0], (human[0],), how.human_scale)
    split = (
        "system"
        if how.split is None and how.of_systems and "system" in columns
        else how.split
    )
    rows = {("", own): Row(0, sample) for own, sample in (how.samples or {}).items()}
    for own, row in pairs:
        key = _system(own, row.sample.metadata, split), own
        before = rows.get(key)
        rows[key] = row if before is None else _joined(before, row, own, found.source)
    blocks: dict[str, Block] = {}
    for (system, own), row in rows.items():
        if system not in blocks:
            blocks[system] = Block(
                name=name,
                source=source,
                how=how,
                kind=found.kind,
                system=system,
                thresholds=found.thresholds,
            )
        block = blocks[system]
        lacking = {
            method: _NO_ROW for method in found.methods if method not in row.scores
        }
        scores = dict.fromkeys(found.methods) | row.scores
        block.add(own, row.sample.metadata, scores, lacking | row.reasons)
        block.texts.append(row.sample.model_copy(update={"id": own}))
    return [*blocks.values()]


def _joined(
    before: Row,
    row: Row,
    own: str,
    source: str,
) -> Row:
    """What two rows say of one sample."""
    for method in row.scores.keys() & before.scores.keys():
        msg = (
            f"{source}, {before.line} and {row.line}: both score sample {own!r} by {method!r}; "
            "leave one out, or give the rows ids of their own"
        )
        raise UnreadableInputError(msg, line=row.line)
    first = before if before.line else row
    return Row(
        first.line,
        first.sample,
        before.scores | row.scores,
        before.reasons | row.reasons,
    )


def _of_counts(source: Any, how: Reading) -> ScoreTable | None:
    """Bare level counts of one or several judges; None where the source is something else."""
    is_list = (
        isinstance(source, list | tuple)
        and source
        and isinstance(source[0], list | tuple)
    )
    if not (is_list or isinstance(source, np.ndarray)):
        return None
    counts = np.asarray(source, dtype=np.float64)
    shape = counts.shape if counts.ndim == 3 else (len(counts), 1, len(LEVELS))
    rows = check_counts(counts.reshape(-1, shape[2]) if counts.ndim == 3 else counts)
    size, scoring = len(counts), how.scoring or DEFAULT
    table = ScoreTable(
        samples=Numbered(size),
        methods=(),
        scores=np.empty((size, 0)),
        counts=rows.reshape(shape),
    )
    if how.hold == "counts":
        return table
    return table.with_method("scores", table.at(scoring), scoring.threshold)


def _titles(blocks: Sequence[Block]) -> list[dict[str, str]]:
    """By block, what its methods are called: with the judge, or the file, where that tells them apart."""
    for way in ("name", "judge", "source"):
        titles = [
            {name: _title(block, name, way) for name in block.scores}
            for block in blocks
        ]
        names = [name for each in titles for name in each.values()]
        if len(set(names)) == len(names):
            return titles
    twice = next(name for name in names if names.count(name) > 1)
    msg = f"two methods are named {twice!r}; give the files names: NAME=PATH"
    raise InvalidValueError(msg)


def _title(block: Block, method: str, way: str) -> str:
    judge = block.judge
    if way == "name" and block.name:
        return f"{block.name} {method}" if len(block.scores) > 1 else block.name
    if way == "judge" and judge:
        return f"{method} by {judge}"
    return f"{method} ({block.called})" if way == "source" else method


def _merged(blocks: Sequence[Block], how: Reading) -> ScoreTable:
    """One table of all blocks: the samples of the first, joined by their ids."""
    titles = _titles(blocks)
    titled = [*zip(blocks, titles, strict=True)]
    table, *others = [block_table(block, names) for block, names in titled]
    for other in others:
        table = table.joined(other)
    methods: dict[str, JudgedBy] = {}
    for block, names in titled:
        methods |= {title: block.judged(method) for method, title in names.items()}
    texts: tuple[Sample, ...] = ()
    if by_id := {sample.id: sample for block in blocks for sample in block.texts}:
        texts = tuple(by_id.get(name) or Sample(id=name) for name in table.samples)
    notes = [*how.notes, *table.notes]
    if how.ratings is not None:
        notes += how.ratings.ended(len(table))
    first = blocks[0]
    return replace(
        table,
        notes=tuple(notes),
        judged=first.judged(first.criterion) if len(blocks) == 1 else JudgedBy(),
        judged_methods=methods,
        texts=texts,
        skipped=how.skipped,
    )


def block_table(block: Block, titles: Mapping[str, str]) -> ScoreTable:
    """A block as a table, under what its methods are called there."""
    ratings, size = block.how.ratings, block.number
    raters = ratings.raters if ratings is not None and block.human else ()
    columns = [np.frombuffer(scores) for scores in block.scores.values()]
    usage = {}
    for method, title in titles.items():
        if isinstance(summary := block.summaries.get(method), Summary):
            usage[title] = summary.usage.model_dump(exclude_none=True)
    return ScoreTable(
        samples=tuple(block.names) if block.names else Numbered(size),
        methods=tuple(titles.values()),
        scores=np.stack(columns, axis=1) if columns else np.empty((size, 0)),
        human=np.frombuffer(block.human),
        raters=raters,
        groups=tuple(block.groups),
        counts=block.counts.table() if block.counts.judges else None,
        thresholds={
            titles[method]: least for method, least in block.thresholds.items()
        },
        reasons={
            (name, titles[method]): why for (name, method), why in block.reasons.items()
        },
        metadata=block.metadata,
        usage=usage,
        results={titles[method]: results for method, results in block.results.items()},
    )


def check_groups(table: ScoreTable, field: str) -> None:
    """Refuse samples that need a group and have none.

    Raises:
        InvalidSampleError: A scored sample (with a rating, where there are ratings) has none.
    """
    needed = (
        np.isfinite(table.scores).any(axis=1)
        if table.methods
        else np.ones(len(table), bool)
    )
    if table.human.shape[1]:
        needed &= np.isfinite(table.rating)
    for place in np.flatnonzero(needed).tolist():
        if table.groups[place] is None:
            raise InvalidSampleError(no_group(table.samples[place], field))
