"""Writing a page: the built asset with the figures and texts of one report in it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.comparing import comparison
from tcva_adapters.compare.readers import Human, read_scores
from tcva_adapters.compare.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.changed import changes
from tcva_adapters.report.content import Content, drawn, figures_of, inert_json
from tcva_adapters.samples.files import SampleStream
from tcva_adapters.samples.output import replacing, usable_path
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import whole
from tcva_adapters.tables import Report, counted

OURS: Final = re.compile(rb"<!doctype html><!-- tcva-adapters report\b[^>]*-->")
"""How a page begins."""

_TEXTS: Final = re.compile(rb"with the texts of (\d+)")
_BEGIN: Final = "<!-- tcva-adapters report -->"
_TITLE: Final = "<title>TCVA report</title>"
_BLOCKS: Final = (
    '<script type="application/json" id="figures">',
    '<script type="application/jsonl" id="details">',
)


@dataclass(frozen=True, slots=True)
class Written:
    """A page that was written.

    Attributes:
        path: The file.
        size: Its bytes.
        samples: Samples whose figures are in it.
        details: Samples whose texts are in it.
        notes: What a reader must know, in sentences; they stand in the page, too.
    """

    path: Path
    size: int
    samples: int
    details: int
    notes: tuple[str, ...]

    @property
    def contents(self) -> str:
        """What is in it, in a few words."""
        if not self.samples:
            return "report"
        some = f", the texts of {self.details} of them" if self.details < self.samples else ""
        return f"report on {counted(self.samples, 'sample')}{some}"


def write(
    source: Any,
    path: str | Path,
    *,
    samples: str | Path | SampleStream | Sequence[Sample] | None = None,
    title: str = "",
    human: Human | None = None,
    human_scale: tuple[float, float] | None = None,
    group: str | None = None,
    scale: tuple[float, float] = (0.0, 1.0),
    missing: float | None = None,
    skip_bad: bool = False,
    max_details: int | None = None,
    overwrite: bool = False,
) -> Written:
    """Write one HTML file whose scores follow the temperature; it opens from disk and asks nothing of a network.

    The texts of the samples stand in it.

    Args:
        source: A `ScoreTable`, a `Report`, several of them, or what `read_scores` takes: files,
            results, several of either by name.
        path: The file.
        samples: A file of samples, or samples, whose texts are joined by id; where no result has
            an id, as those of the frameworks' evaluators, and there are as many, in their order.
        title: Of the page; by default the name of the file.
        human: See `read_scores`, as for ``human_scale``, ``group``, ``scale``, ``missing`` and
            ``skip_bad``.
        human_scale: See there.
        group: See there.
        scale: See there.
        missing: See there.
        skip_bad: See there.
        max_details: Samples whose texts are in the page; by default 10 000, and as many as have
            16 MB of text. Of more it has all figures, and the texts of a draw: in turn the worst
            sample of the first run and one at random, with seed 0.
        overwrite: Replace a file that is no page, and a page with texts by one without.

    Returns:
        Where it is, and how large.

    Raises:
        InvalidValueError: The file cannot be written, or holds something else, or texts that this
            page would not have; no sample has one of the given texts.
        InvalidSampleError: See `read_scores`.
        UnreadableInputError: A file cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> from tcva_adapters.results.assessment import Assessment
    >>> judged = [Assessment.from_verdicts(["fully", "none"], sample_id="a")]
    >>> with TemporaryDirectory() as folder:
    ...     written = write(judged, f"{folder}/report.html", title="Two claims")
    >>> written.samples, written.details, written.notes
    (1, 1, ())
    """
    if max_details is not None:
        whole("max_details or --max-details", max_details, least=0)
    content = _content(
        source,
        title=title,
        human=human,
        human_scale=human_scale,
        group=group,
        scale=scale,
        missing=missing,
        skip_bad=skip_bad,
    )
    content, notes = _with_texts(content, samples, skip_bad=skip_bad)
    lines, texts, of_texts = drawn(content, max_details)
    notes += of_texts
    some = sum(bool(each.response or each.contexts) for each in content.samples)
    told = min(some, len(texts))
    if not overwrite:
        _check_texts(path, told)
    figures = figures_of(content, lines, notes)
    with replacing(path, ours=OURS, overwrite=overwrite) as stream:
        size = sum(stream.write(piece.encode()) for piece in pieces(figures, texts, told))
    return Written(Path(path), size, len(content.table), len(texts), (*content.table.notes, *notes))


def _content(source: Any, *, title: str, **reading: Any) -> Content:
    """The table of a source, and its reports: those that were given, or what is usually asked."""
    parts = [source] if isinstance(source, ScoreTable | Report) else source
    given: list[Any] = []
    if isinstance(parts, list | tuple):
        given = [each for each in parts if isinstance(each, ScoreTable | Report)]
    if given:
        tables = [each for each in given if isinstance(each, ScoreTable)]
        reports = [("overview", each) for each in given if isinstance(each, Report)]
    else:
        folder = source[0] if isinstance(source, list) and len(source) == 1 else source
        if isinstance(folder, str | Path) and (usable_path(folder) / "summary.json").is_file():
            tables = [_of_folder(usable_path(folder), reading)]
        else:
            tables = [read_scores(source, with_results=True, **reading)]
        reports = []
    table = tables[0] if tables else ScoreTable((), (), np.empty((0, 0)))
    for other in tables[1:]:
        table = table.joined(other)
    if tables and not reports:
        reports = [("overview", comparison(table))]
    samples = table.about.get("samples") or [
        Sample(id=name, metadata=dict(table.metadata[place]) if len(table.metadata) else {})
        for place, name in enumerate(table.samples)
    ]
    content = Content(title or _title(source), table, samples, reports)
    return replace(content, reports=[*reports, *_changes(content)])


def _of_folder(folder: Path, reading: dict[str, Any]) -> ScoreTable:
    """What a comparison saved: its judgements, and the scores of the other methods."""
    judged = read_scores(folder / "assessments.jsonl", with_results=True, **reading)
    scores = read_scores(folder / "scores.csv")
    others = [name for name in scores.methods if not name.startswith("tcva ")]
    table = judged.joined(scores.select(methods=others))
    texts = {sample.id: sample for sample in SampleStream(folder / "samples.jsonl")}
    samples = tuple(texts.get(name) or Sample(id=name) for name in table.samples)
    return replace(table, about={**judged.about, "samples": samples})


def _changes(content: Content) -> list[tuple[str, Report]]:
    """What changed from the first run to the second, where there are two."""
    if len(content.runs) != 2:
        return []
    before, now = (
        replace(
            content.table.select([each is not None for each in run.results], [run.method]),
            methods=("score",),
            thresholds={"score": run.scoring.threshold},
        )
        for run in content.runs
    )
    return [("changes", changes(before, now))]


def _title(source: Any) -> str:
    """By the names of files, or of what they were given."""
    if isinstance(source, str | Path):
        return "standard input" if str(source) == "-" else Path(source).name
    named = list(source) if isinstance(source, Mapping | list | tuple) else []
    if named and all(isinstance(each, str | Path) for each in named):
        return ", ".join(map(_title, named))
    return "Report"


def _with_texts(
    content: Content,
    given: str | Path | SampleStream | Sequence[Sample] | None,
    *,
    skip_bad: bool,
) -> tuple[Content, list[str]]:
    """With the texts of given samples, by id or in their order; what was not given is noted.

    Raises:
        InvalidValueError: They are of other samples.
    """
    if given is None:
        return content, []
    if isinstance(given, str | Path):
        given = SampleStream(given, skip_bad=skip_bad)
    texts = [*given]
    own = content.samples
    names = [each.id or f"row-{row}" for row, each in enumerate(texts, start=1)]
    if len(texts) == len(own) and all(s.id == f"row-{n}" for n, s in enumerate(own, start=1)):
        names = [sample.id or "" for sample in own]  # the frameworks give their evaluators no ids
    by_id = dict(zip(names, texts, strict=True))
    lacking = sum(sample.id not in by_id for sample in own)
    if own and lacking == len(own):
        msg = (
            f"none of the {len(own)} samples is among those that were given for their texts; ids "
            f"there are {', '.join(map(repr, names[:3]))}, here "
            f"{', '.join(repr(each.id) for each in own[:3])}"
        )
        raise InvalidValueError(msg)
    filled = []
    for sample in own:
        found = by_id.get(sample.id or "", sample)
        metadata = {**found.metadata, **sample.metadata}  # that of a judgement may be newer
        filled.append(found.model_copy(update={"id": sample.id, "metadata": metadata}))
    notes = [f"the texts of {counted(lacking, 'sample')} of {len(own)} were not given"]
    return replace(content, samples=filled), notes if lacking else []


def _check_texts(path: str | Path, told: int) -> None:
    """Refuse to replace a page with texts by one without.

    Raises:
        InvalidValueError: That is what would happen.
    """
    file = usable_path(path)
    if told or not file.is_file():
        return
    with file.open("rb") as stream:
        before = _TEXTS.search(stream.readline(200))
    if before and int(before[1]):
        msg = (
            f"{path} holds the texts of {counted(int(before[1]), 'sample')} and this page would hold "
            "none; give samples= (--samples), another file, or overwrite=True (--overwrite)"
        )
        raise InvalidValueError(msg)


def pieces(figures: dict[str, Any], lines: Sequence[str], told: int) -> Iterator[str]:
    """The page, piece by piece.

    The data stand in blocks that a browser does not run, so the policy of the page, which holds
    the digest of its code, stays as it is.
    """
    asset = (files(__package__) / "page.html").read_text(encoding="utf-8")
    title = html.escape(figures["title"].encode(errors="replace").decode())
    blocks = {
        _BEGIN: f"<!-- tcva-adapters report with the texts of {told} -->",
        _TITLE: f"<title>{title}</title>",
        _BLOCKS[0]: _BLOCKS[0] + inert_json(figures),
        _BLOCKS[1]: _BLOCKS[1] + "\n".join(lines),
    }
    for place, text in blocks.items():
        before, asset = asset.split(place)
        yield before
        yield text
    yield asset
