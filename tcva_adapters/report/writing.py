"""Writing a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcva_adapters.compare.labels import Labels
from tcva_adapters.printing import counted
from tcva_adapters.report.content import SCALE
from tcva_adapters.report.details import Draw, detail_lines
from tcva_adapters.report.figures import figures_of
from tcva_adapters.report.page import OURS, page_of
from tcva_adapters.report.sources import Reading, content_of
from tcva_adapters.samples.files import SampleStream
from tcva_adapters.samples.output import replacing
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import whole


@dataclass(frozen=True, slots=True)
class Written:
    """A report that was written.

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
    title: str | None = None,
    samples: str | Path | SampleStream | Sequence[Sample] | None = None,
    human: str | Labels | None = None,
    human_scale: tuple[float, float] | None = None,
    missing: float | None = None,
    scale: tuple[float, float] = SCALE,
    max_details: int | None = None,
    skip_bad: bool = False,
    group: str | None = None,
    overwrite: bool = False,
) -> Written:
    """Write one HTML file with a live dial; it opens from disk and asks nothing of a network.

    The texts of the samples stand in it.

    Args:
        source: The folder of a comparison; one or several files that ``tcva evaluate``, ``compare``
            or ``ccrs`` wrote, or results of RAGAS, DeepEval or LangSmith, which are joined by
            sample; results or assessments; several lists of them by name; or the object that
            ``compare``, ``Evaluation.of``, ``summarise_ccrs``, ``compare_systems`` or ``demo`` gave.
        path: The file.
        title: Of the page; by default the name of the file or folder.
        samples: A file of samples, or samples, whose texts are joined by id; where no result has
            an id, as those of the frameworks' evaluators, and there are as many, in their order.
        human: The metadata field with human ratings, or `Labels`; by default ``human`` or
            ``human_score`` where there is one.
        human_scale: Lowest and highest rating that could be given; by default [0, 1], or the
            lowest and highest that were given where one lies outside.
        missing: The number that stands for no score in existing results.
        scale: Their lowest and highest possible score.
        max_details: Samples whose texts are in the page; by default 10 000, and as many as have
            about 16 MB of text. Of more it has all figures, and the texts of a draw: half of it
            the worst by the first run, at the settings that the page begins with, unscored ones
            first; the others at random, with seed 0.
        skip_bad: Leave out unreadable lines.
        group: The metadata field of what samples belong to (a document): intervals are about other
            such groups then. A comparison has its own.
        overwrite: Replace a file that is no report, too.

    Returns:
        Where it is, and how large.

    Raises:
        InvalidValueError: The file cannot be written, or holds something else; nothing that a report
            can be made of; a rating outside its scale; or no label is of a sample.
        InvalidSampleError: There are no results, they are of several kinds, judges or criteria
            within one file, no sample has a human rating, or one belongs to no group.
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
    reading = Reading(
        title=title,
        samples=samples,
        human=human,
        human_scale=human_scale,
        missing=missing,
        scale=scale,
        skip_bad=skip_bad,
        group=group,
    )
    content = content_of(source, reading)
    draw = Draw.of(content, max_details)
    notes = (*content.notes, *draw.notes)
    pieces = page_of(figures_of(content, draw), detail_lines(content, draw))
    with replacing(path, ours=OURS, overwrite=overwrite) as stream:
        size = sum(stream.write(piece) for piece in pieces)
    return Written(Path(path), size, len(content.samples), len(draw.chosen), notes)
