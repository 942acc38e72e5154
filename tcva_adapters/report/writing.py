"""Writing a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tcva_adapters.report.details import Draw, detail_lines
from tcva_adapters.report.figures import figures_of
from tcva_adapters.report.page import OURS, page_of
from tcva_adapters.report.sources import Reading, content_of
from tcva_adapters.samples.output import replacing
from tcva_adapters.stats.checks import whole

MOST_DETAILS: Final = 5000
"""Samples whose texts are in a page, unless more are asked for."""


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

    def __str__(self) -> str:
        shown = f"{self.samples} samples"
        if self.details < self.samples:
            shown += f", the texts of {self.details} of them"
        return f"{self.path} ({shown}; {_size(self.size)})"


def write(
    source: Any,
    path: str | Path,
    *,
    overwrite: bool = False,
    max_details: int = MOST_DETAILS,
    **reading: Any,
) -> Written:
    whole("max_details or --max-details", max_details, least=0)
    content = content_of(source, Reading(**reading))
    draw = Draw.of(content, max_details)
    size = 0
    with replacing(path, ours=OURS, overwrite=overwrite) as stream:
        for piece in page_of(figures_of(content, draw), detail_lines(content, draw)):
            size += stream.write(piece)
    return Written(Path(path), size, len(content.samples), len(draw.chosen), content.notes)


def _size(size: int) -> str:
    """Bytes as people say them.

    >>> _size(1_234_567), _size(20_000)
    ('1.2 MB', '20 kB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
