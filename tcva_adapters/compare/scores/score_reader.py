"""Read scores of any kind into one table: judgements, CCRS results, imported scores, ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.scores.imported.reader import read_imported
from tcva_adapters.compare.scores.imported.rows import ImportSettings
from tcva_adapters.compare.scores.imported.table_parts import imported_parts
from tcva_adapters.compare.scores.judged_by import JudgedBy
from tcva_adapters.compare.scores.judgements import (
    Judged,
    first_judgement,
    judged_parts,
    read_judgements,
)
from tcva_adapters.compare.scores.ratings import Ratings, Scale, check_unused, names_in
from tcva_adapters.compare.scores.reading_options import Held, Reading, ReadingOptions
from tcva_adapters.compare.scores.table import (
    RowIds,
    ScoreTable,
    check_groups,
    repeated_name,
)
from tcva_adapters.compare.scores.table_part import TablePart
from tcva_adapters.core.aggregation import check_counts
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.reader import SampleStream, with_ids
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import counted

Human = str | Path | Fields | npt.ArrayLike
"""Human ratings, or where they are, see `read_scores`."""

SingleSource = str | Path | Iterable[object]
"""A file, or results in memory."""

Source = Judged | SingleSource | Mapping[str, SingleSource]
"""A source of scores, see `read_scores`."""

_TABLES = ("scores.csv", "scores.parquet", "scores.jsonl")
"""The table of scores in a folder, the first of these that it has."""

_JUDGED = "assessments.jsonl"
"""The judgements in the folder of a comparison."""


def read_scores(
    source: ScoreTable | Source,
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
    largest_first: bool = False,
) -> ScoreTable:
    """Read or take scores of any kind into one table.

    A source is a file, or results in memory:

    * judgements that ``tcva evaluate --out`` wrote: a method for each criterion and judge, with
      ``--ccrs`` one for each metric (jsonl; ``"-"`` is standard input),
    * imported scores of RAGAS, DeepEval and LangSmith, or tables with a column per method or a row
      per sample and method, see `read_imported`,
    * the folder of a comparison: its judgements, and the scores of its other methods (among several
      sources its table of scores alone),
    * results, assessments, CCRS results, and conversations' results, whose turns are samples; or
      level counts, shape (N, 5) or (N, J, 5), whose method is ``scores``.

    ``NAME=PATH`` names what is in a file, ``PATH::COLUMN,COLUMN`` says which columns are methods.

    Args:
        source: One source, several of them, or sources by name. Their methods become columns of one
            table, joined by the samples' ids. A table is returned as it is, with the ratings and
            groups that it was made with.
        human: Ratings: fields of the samples' metadata (``"anna,ben"`` for two raters) or columns
            of imported scores; a file of labels (see `Ratings.find`); ratings by sample id, or one
            for each sample. By default the column ``human`` or ``human_score`` of imported scores.
        human_scale: The lowest and the highest rating that could be given: these become 0 and 1.
        group: The metadata field, or column, of groups; by default turns are grouped by
            conversation.
        scoring: The settings for judgements; by default those that they were written with.
        samples: The samples that were judged; they become ``judged_samples``. Rows of imported scores
            are matched to them by id or by their texts, and the table then has a row for each of them.
        scale: The lowest and highest possible score of imported scores.
        missing: A number that stands for no score in them.
        skip_bad: Leave out unreadable lines; ``skipped`` counts them, a note says which.
        hold: ``all``; for millions of samples ``scores`` (8 bytes a sample) or, of one file of
            judgements, ``counts`` (40 bytes, no methods), each with ratings and groups. Ids are
            then row numbers, and the summary alone says why there are no scores.
        largest_first: Start from the source with most samples; the table has the samples of the first.

    Returns:
        The table, with results in ``results``, the samples of imported scores in
        ``judged_samples``, and what was judged and by whom in ``judged_methods``, of judgements by
        one judge in ``judged``.

    Raises:
        UnreadableInputError: A file cannot be read, or holds no scores.
        InvalidSampleError: Scores of one method are fused with different judges, or a scored sample
            (with a rating, where there are ratings) belongs to no group.
        InvalidValueError: No sample has a rating, a value is not a rating, or ``human`` or
            ``group`` is given with a table.

    >>> from tcva_adapters import Assessment
    >>> table = read_scores([Assessment.from_verdicts(["fully", "none"], sample_id="a")])
    >>> table.samples, table.methods, table.counts.tolist()
    (('a',), ('faithfulness',), [[[1.0, 0.0, 0.0, 0.0, 1.0]]])
    """
    if isinstance(source, ScoreTable):
        check_unused(
            "cannot be read for a table; give it to read_scores() or Run(), which make the table",
            human=human,
            group=group,
        )
        return source
    folder = _comparison_folder(source)
    if folder is not None:
        source = folder / _JUDGED
    ratings = None
    importing = ImportSettings(scale=scale, missing=missing)
    if isinstance(human, str | Path | Mapping):
        ratings = Ratings.find(
            human, human_scale, (scoring or ScoringConfig()).temperature
        )
        if ratings.labels is None:
            importing = replace(importing, human=ratings.raters)
    different, notes = with_ids(samples or ())
    by_id = {str(sample.id): sample for sample in different}
    options = ReadingOptions(
        group=group,
        scoring=scoring,
        samples=None if samples is None else by_id,
        importing=importing,
        human_scale=human_scale,
        skip_bad=skip_bad,
        hold=hold,
    )
    table = _counts_table(source, options)
    if table is None:
        table = _read_table(
            source, Reading(options, ratings, notes), largest_first=largest_first
        )
    if human is not None and ratings is None:
        table = _with_ratings(table, np.asarray(human, dtype=np.float64), human_scale)
    check_groups(table, group)
    if folder is not None and hold != "counts":
        return _with_other_methods(table, folder)
    return table


def _with_ratings(
    table: ScoreTable,
    human: FloatArray,
    scale: Scale | None,
) -> ScoreTable:
    """Add ratings that are given in the order of the samples."""
    if len(human) != len(table):
        raise InvalidValueError(
            f"{len(human)} human ratings for {len(table)} samples; give one for each sample or turn"
        )
    scaled = np.vectorize(
        Ratings("human ratings", (), scale).scaled, otypes=[np.float64]
    )
    return replace(table, human=scaled(human))


def _comparison_folder(source: Source) -> Path | None:
    """Find the folder of a comparison; None where the source is something else."""
    folder = Path(source).expanduser() if isinstance(source, str | Path) else None
    return folder if folder and (folder / _JUDGED).is_file() else None


def _with_other_methods(judged: ScoreTable, folder: Path) -> ScoreTable:
    """Join the judgements that a comparison saved with the scores of its other methods."""
    scores = read_scores(folder / "scores.csv")
    others = [name for name in scores.methods if not name.startswith("tcva ")]
    judged_samples = tuple(SampleStream(folder / "samples.jsonl"))
    table = judged.join(scores.select(methods=others))
    return replace(table, judged_samples=judged_samples)


def read_parts(source: Source, reading: Reading) -> list[TablePart]:
    """Read each source as one or several parts; see `read_scores` for sources and errors."""
    parts = []
    for name, single in _sources(source):
        if isinstance(single, str | Path):
            parts += _file_parts(name, str(single), reading)
        else:
            parts += judged_parts(single, reading, name=name)
    for part in parts:
        if again := [name for name, times in part.names.items() if times > 1]:
            reading.notes.append(
                f"{part.label} repeats {counted(len(again), 'id')}, e.g. {again[0]!r}; "
                f"the samples after the first are named {again[0]}#2 and so on."
            )
    return parts


def _sources(source: Source) -> Iterable[tuple[str, SingleSource]]:
    """Split a source into files and results, each with its name."""
    if isinstance(source, Judged):
        return [("", [source])]
    if isinstance(source, str | Path):
        return [("", source)]
    if isinstance(source, Mapping):
        return source.items()
    items = iter(source)
    first = [*islice(items, 1)]
    items = chain(first, items)
    if first and isinstance(first[0], str | Path):
        return (("", str(file)) for file in items)
    return [("", items)]


def parse_spec(spec: str) -> tuple[str, str, tuple[str, ...] | None]:
    """Parse ``[NAME=]PATH[::COLUMN,...]``; an existing path with an = in it is a path.

    Raises:
        InvalidValueError: There is no path, or the name is empty.

    >>> parse_spec("ours=scores.csv::a,b"), parse_spec("scores.csv")
    (('ours', 'scores.csv', ('a', 'b')), ('', 'scores.csv', None))
    """
    rest, _, columns = spec.partition("::")
    name, equals, path = rest.partition("=")
    if not equals or Path(rest).expanduser().exists():
        name = ""
        path = rest
    elif not name.strip():
        path = ""
    if not path.strip():
        raise InvalidValueError(
            f"{spec!r} names no file; write PATH, NAME=PATH or PATH::COLUMN,COLUMN"
        )
    return name.strip(), path, tuple(names_in(columns)) or None


def _file_parts(
    name: str,
    spec: str,
    reading: Reading,
) -> list[TablePart]:
    name_in_spec, file, columns = parse_spec(spec)
    name = name or name_in_spec
    path = Path(file).expanduser()
    tables = (path / table for table in _TABLES)
    path = next((table for table in tables if table.is_file()), path)
    source = path.resolve().parent.name if path.name in _TABLES else path.stem
    first = {} if file == "-" else first_judgement(path)
    if file == "-" or first:
        return read_judgements(
            str(path),
            first,
            reading,
            name=name,
            source=source,
        )
    imported = read_imported(path, replace(reading.options.importing, columns=columns))
    return imported_parts(
        imported,
        reading,
        name=name,
        source=source,
    )


def _counts_table(source: Source, options: ReadingOptions) -> ScoreTable | None:
    """Make a table of level counts of one or several judges; None for any other source."""
    is_list = (
        isinstance(source, list | tuple)
        and source
        and isinstance(source[0], list | tuple)
    )
    if not (is_list or isinstance(source, np.ndarray)):
        return None
    counts = np.asarray(source, dtype=np.float64)
    checked = check_counts(
        counts.reshape(-1, counts.shape[-1]) if counts.ndim == 3 else counts
    )
    table = ScoreTable(
        samples=RowIds(len(counts)),
        methods=(),
        scores=np.empty((len(counts), 0)),
        counts=checked.reshape(len(counts), -1, len(LEVELS)),
    )
    if options.hold == "counts":
        return table
    scoring = options.scoring or ScoringConfig()
    return table.with_method("scores", table.at(scoring), scoring.threshold)


def _titles(parts: Sequence[TablePart]) -> list[dict[str, str]]:
    """Name each part's methods, with the judge or the file where that tells them apart."""
    for tell_apart in ("name", "judge", "source"):
        titles = [
            {method: _title(part, method, tell_apart) for method in part.scores}
            for part in parts
        ]
        repeated = repeated_name(chain.from_iterable(map(dict.values, titles)))
        if repeated is None:
            return titles
    raise InvalidValueError(
        f"two methods are named {repeated!r}; give the files names: NAME=PATH"
    )


def _title(
    part: TablePart,
    method: str,
    tell_apart: str,
) -> str:
    if tell_apart == "name" and part.name:
        return f"{part.name} {method}" if len(part.scores) > 1 else part.name
    if tell_apart == "judge" and part.judge:
        return f"{method} by {part.judge}"
    return f"{method} ({part.label})" if tell_apart == "source" else method


def _read_table(source: Source, reading: Reading, *, largest_first: bool) -> ScoreTable:
    """Read all parts, and join them by sample id into one table with the samples of the first.

    Raises:
        UnreadableInputError: There are no scores; see `read_scores` for further errors.
    """
    parts = read_parts(source, reading)
    if largest_first:
        parts.sort(key=lambda part: -part.number)
    titled = [*zip(parts, _titles(parts), strict=True)]
    table, *others = [part.table(titles) for part, titles in titled]
    for other in others:
        table = table.join(other)
    methods: dict[str, JudgedBy] = {}
    for part, titles in titled:
        methods |= {title: part.judged(method) for method, title in titles.items()}
    by_id = reading.options.samples or {
        str(sample.id): sample for part in parts for sample in part.judged_samples
    }
    texts = [by_id.get(name) or Sample(id=name) for name in table.samples if by_id]
    notes = [*reading.notes, *table.notes]
    if reading.ratings is not None:
        notes += reading.ratings.notes(len(table))
    if not table.methods and table.counts is None:
        files = " ".join(str(file) for _, file in _sources(source))
        raise UnreadableInputError(
            f"no scores in {files}; judge it first: tcva evaluate {files} --out judged.jsonl"
        )
    first = parts[0]
    return replace(
        table,
        notes=tuple(notes),
        judged=first.judged(first.criterion) if len(parts) == 1 else JudgedBy(),
        judged_methods=methods,
        judged_samples=tuple(texts),
        skipped=reading.skipped,
    )
