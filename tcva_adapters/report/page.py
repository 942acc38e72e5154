"""Write a page: the built asset with the figures and texts of one report in it."""

from __future__ import annotations

import html
import re
from collections.abc import (
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, replace
from functools import reduce
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tcva_adapters.compare.diagnosis.joined import DIAGNOSED, has_other_texts
from tcva_adapters.compare.diagnosis.report import diagnose
from tcva_adapters.compare.method_comparison import comparison
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.evaluator import checked_samples
from tcva_adapters.report.baseline import changes
from tcva_adapters.report.page_data import (
    Content,
    inert_json,
    page_figures,
    texts_of,
)
from tcva_adapters.samples.file_writing import replacing, usable_path
from tcva_adapters.samples.reader import SampleStream, distinct_names
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import whole
from tcva_adapters.tables import (
    Report,
    counted,
    shortened,
)

PAGE_BEGINNING = re.compile(rb"<!doctype html><!-- tcva-adapters report\b[^>]*-->")
"""The pattern that a page begins with."""

_TEXTS = re.compile(rb"with the texts of (\d+)")
_FIGURES = '<script type="application/json" id="figures">'
_DETAILS = '<script type="application/jsonl" id="details">'


@dataclass(frozen=True, slots=True)
class Written:
    """A page that was written.

    Attributes:
        path: The file.
        size: Its size in bytes.
        samples: Samples whose figures are in it.
        details: Samples whose texts are in it.
        notes: Notes for the reader, in sentences; the page shows them, too.
    """

    path: Path
    size: int
    samples: int
    details: int
    notes: tuple[str, ...]

    @property
    def contents(self) -> str:
        """The contents of the page in a few words."""
        if not self.samples:
            return "report"
        some = (
            f", {self.details} of them with texts"
            if self.details < self.samples
            else ""
        )
        return f"report on {counted(self.samples, 'sample')}{some}"


def write(
    source: Any,
    path: str | Path,
    *,
    samples: str | Path | Iterable[Sample] | None = None,
    title: str = "",
    max_details: int | None = None,
    overwrite: bool = False,
    **reading: Any,
) -> Written:
    """Write one HTML file whose scores follow the temperature. It opens from disk and uses no network.

    The page contains the texts of the samples.

    Args:
        source: A `ScoreTable`, a `Report`, several of them; the folder of a comparison; or what
            `read_scores` takes: files, results, several of either by name.
        path: The file.
        samples: A file of samples, or samples. Their texts are joined by id; if no result has an
            id, as those of the frameworks' evaluators, by their order.
        title: The title of the page; by default the name of the file.
        max_details: Samples whose texts are in the page; by default 10 000, and as many as have
            16 MB of text. Of more it has all figures, and the texts of a draw: in turn the worst
            sample of the first run and one at random, with seed 0.
        overwrite: Also replace a file that is no page, and a page with texts by one without.
        **reading: See `read_scores`: ``human``, ``human_scale``, ``group``, ``skip_bad`` and more.

    Returns:
        The path, the size and the contents of the page.

    Raises:
        InvalidValueError: The file cannot be written, holds something else, or holds texts that
            this page would lack; or none of the given texts belongs to a sample.
        InvalidSampleError: See `read_scores`.
        UnreadableInputError: A file cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> from tcva_adapters.results.assessment import Assessment
    >>> judged = [Assessment.from_verdicts(["fully", "none"], sample_id="a")]
    >>> with TemporaryDirectory() as folder:
    ...     written = write(judged, f"{folder}/report.html", title="Two claims")
    >>> written.samples, written.notes
    (1, ('without questions, answers and contexts; add --samples to tcva report',))
    """
    if max_details is not None:
        whole("max_details or --max-details", max_details, least=0)
    content = content_of(source, title, reading)
    content = replace(content, title=content.title or Path(path).stem)
    notes: list[str] = []
    if samples is not None:
        if isinstance(samples, str | Path):
            samples = SampleStream(samples, skip_bad=reading.get("skip_bad", False))
        content, notes = _with_texts(content, [*checked_samples(samples)])
    content = diagnosed(content, max_details)
    texts = texts_of(content, max_details)
    notes += texts.notes
    with_texts = [s for s in content.samples if s.response or s.contexts]
    shown = min(len(texts.lines), len(with_texts))
    if samples is None and content.samples and not shown:
        notes.append(
            "without questions, answers and contexts; add --samples to tcva report"
        )
    if not (shown or overwrite):
        _check_texts(path)
    figures = page_figures(content, texts.line_of, notes)
    with replacing(path, beginning=PAGE_BEGINNING, overwrite=overwrite) as stream:
        size = sum(
            stream.write(piece.encode())
            for piece in pieces(figures, texts.lines, shown)
        )
    return Written(
        path=Path(path),
        size=size,
        samples=len(content.table),
        details=len(texts.lines),
        notes=(*content.table.notes, *notes),
    )


def content_of(
    source: Any,
    title: str,
    reading: dict[str, Any],
) -> Content:
    """Join the tables of a source into one, and take its reports, or else the default report."""
    sources = list(source) if isinstance(source, list | tuple) else [source]
    tables = [part for part in sources if isinstance(part, ScoreTable)]
    reports = [part for part in sources if isinstance(part, Report)]
    if not (tables or reports):
        paths = [part for part in sources if isinstance(part, str | Path)]
        if len(paths) == len(sources):
            title = title or ", ".join(Path(path).name for path in paths)
            source = paths[0] if len(paths) == 1 else source
        tables = [read_scores(source, **reading)]
    tables = tables or [ScoreTable((), (), np.empty((0, 0)))]
    table = reduce(ScoreTable.join, tables)
    texts = {sample.id: sample for sample in table.judged_samples}
    rows = zip(table.samples, table.metadata or [{}] * len(table), strict=True)
    samples = [
        texts.get(name) or Sample(id=name, metadata=dict(metadata))
        for name, metadata in rows
    ]
    content = Content(title, table, samples)
    views = [("overview", report) for report in reports or [comparison(table)]]
    criteria = [run.criterion for run in content.runs]
    if len(criteria) == 2 and criteria[0] == criteria[1]:
        views.append(("changes", changes(*map(content.only, content.runs))))
    return replace(content, reports=views)


def diagnosed(content: Content, max_details: int | None = None) -> Content:
    """Add why answers are wrong, where several criteria of the same samples were judged.

    Args:
        content: What the page shows.
        max_details: See `write`. Where it is given, a note on why there is no diagnosis quotes no claim.
    """
    criteria = {run.criterion for run in content.runs}
    if len(criteria.intersection(DIAGNOSED)) < 2:
        return content
    table = content.table
    try:
        report = diagnose(replace(table, judged_samples=content.samples))
    except (InvalidSampleError, InvalidValueError) as error:
        why = error if max_details is None else "tcva diagnose says why"
        notes = (*table.notes, f"no diagnosis: {why}")
        return replace(content, table=replace(table, notes=notes))
    return replace(content, reports=[*content.reports, ("diagnosis", report)])


def _with_texts(content: Content, texts: Sequence[Sample]) -> tuple[Content, list[str]]:
    """Add the texts of samples by id or in their order; notes name missing and wrong texts.

    Raises:
        InvalidValueError: The texts are of other samples.
    """
    samples = content.samples
    size = counted(len(samples), "sample")
    ids, _ = distinct_names(
        text.id or f"row-{n}" for n, text in enumerate(texts, start=1)
    )
    numbers = [f"row-{n}" for n in range(1, len(texts) + 1)]
    if [sample.id for sample in samples] == numbers:
        ids = numbers  # the frameworks give their evaluators no ids
    by_id = dict(zip(ids, texts, strict=True))
    lacking = sum(sample.id not in by_id for sample in samples)
    if samples and lacking == len(samples):
        raise InvalidValueError(
            f"no text has the id of one of the {len(samples)} samples; texts have ids such as "
            f"{', '.join(map(repr, ids[:3]))}, samples such as {samples[0].id!r}"
        )
    filled = []
    for sample in samples:
        text = by_id.get(sample.id or "", sample)
        # The metadata of a judgement may be newer.
        metadata = {**text.metadata, **sample.metadata}
        filled.append(text.model_copy(update={"id": sample.id, "metadata": metadata}))
    content = replace(content, samples=filled)
    notes = [f"{lacking} of {size} came without texts"] if lacking else []
    others = [
        sample.id or ""
        for sample, *results in zip(
            filled, *(run.results for run in content.runs), strict=True
        )
        if any(result and has_other_texts(result, sample) for result in results)
    ]
    if others:
        notes.append(
            f"in {len(others)} of {size} the claims are not those of the text "
            f"shown ({shortened(', '.join(others), 60)}): give the samples that were judged, in their order"
        )
    return content, notes


def _check_texts(path: str | Path) -> None:
    """Refuse to replace a page with texts by one without.

    Raises:
        InvalidValueError: There is a page with texts.
    """
    file = usable_path(path)
    before = _TEXTS.search(file.read_bytes()[:200]) if file.is_file() else None
    if before and int(before[1]):
        raise InvalidValueError(
            f"{path} holds the texts of {counted(int(before[1]), 'sample')} and this page would hold "
            "none; give samples= (--samples), another file, or overwrite=True (--overwrite)"
        )


def pieces(
    figures: Mapping[str, Any],
    lines: Sequence[str],
    shown: int,
) -> Iterator[str]:
    """Yield the page, piece by piece.

    The data stand in blocks that a browser does not run, so the policy of the page, which holds
    the digest of its code, stays as it is.

    Args:
        figures: See `page_figures`.
        lines: A line for each sample whose texts are in it.
        shown: How many of these samples have texts.
    """
    asset = (files(__package__) / "page.html").read_text(encoding="utf-8")
    title = html.escape(figures["title"].encode(errors="replace").decode())
    blocks = {
        "<!-- tcva-adapters report -->": f"<!-- tcva-adapters report with the texts of {shown} -->",
        "<title>TCVA report</title>": f"<title>{title}</title>",
        _FIGURES: _FIGURES + inert_json(figures),
        _DETAILS: _DETAILS + "\n".join(lines),
    }
    for place, text in blocks.items():
        before, asset = asset.split(place)
        yield before
        yield text
    yield asset
