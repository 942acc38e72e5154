"""Save the figures of reports and score tables, for papers and notebooks.

They need matplotlib, the extra ``plots``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import (
    InvalidValueError,
    MissingDependencyError,
    install_hint,
)
from tcva_adapters.samples.file_writing import (
    make_folder,
    replacing,
    usable_path,
)
from tcva_adapters.tables import Report

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from tcva_adapters.report import charts
except ImportError:
    raise MissingDependencyError(
        f"figures need matplotlib: {install_hint('plots')}"
    ) from None

Source = Report | ScoreTable

_DPI = 200
_SOFTWARE = "tcva-adapters"
# Dates and matplotlib's version are left out, so that equal figures give equal bytes.
# The mark identifies a file that was drawn here.
_FORMATS: dict[str, tuple[dict[str, str | None], bytes]] = {
    "png": ({"Software": _SOFTWARE}, b"Software\0tcva-adapters"),
    "svg": (
        {
            "Date": None,
            "Creator": None,
            "Title": _SOFTWARE,
        },
        b"<dc:title>tcva-adapters</dc:title>",
    ),
    "pdf": (
        {
            "CreationDate": None,
            "Creator": None,
            "Producer": _SOFTWARE,
        },
        b"/Producer (tcva-adapters)",
    ),
}
_UNSAFE = re.compile(r"[^\w.=-]+")
# Text stays text in vector files, and their inner names do not change from run to run.
_RC: dict[Any, Any] = {
    **charts.STYLE,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": _SOFTWARE,
}


def save_figures(
    source: Source,
    folder: str | Path,
    *,
    format: str = "png",  # noqa: A002  # what everyone calls it
    overwrite: bool = False,
) -> list[Path]:
    """Draw all figures of a report, or of a table, into a folder.

    A table gives a scatter of its first method against each other one. A report gives, as far as
    its tables allow, the ``sweep`` over temperatures, the thresholds of a ``guarantee``, ``agreement`` with
    human ratings, ``reliability``, ``asl`` of systems, and ``correlations`` of methods or metrics.

    Args:
        source: What a function of `tcva_adapters.compare` returned.
        folder: Made if it is not there; figures that were drawn here before are replaced.
        format: ``png``, ``svg`` or ``pdf``.
        overwrite: Replace other files of these names, too.

    Returns:
        The files; the same data give the same bytes.

    Raises:
        InvalidValueError: There is nothing to draw, the format is unknown, or a file cannot be
            written or holds something else.
        MissingDependencyError: matplotlib is not installed.
    """
    if format not in _FORMATS:
        raise InvalidValueError(
            f"{format} is no format of figures; they are {', '.join(_FORMATS)}"
        )
    drawings = dict(figures_of(source))
    if not drawings:
        raise InvalidValueError(
            "nothing to draw: give a table of two methods, or a report that has figures"
        )
    target = usable_path(folder)
    try:
        make_folder(target)
    except OSError as error:
        raise InvalidValueError(
            f"cannot write figures to {folder}: {error.strerror or error}; give another folder"
        ) from error
    metadata, mark = _FORMATS[format]
    written = []
    for name, draw in drawings.items():
        path = target / f"{_UNSAFE.sub('-', name)}.{format}"
        stream = io.BytesIO()
        with mpl.rc_context(_RC):
            draw().savefig(
                stream,
                format=format,
                dpi=_DPI,
                metadata=metadata,
            )
        drawn_here = path.is_file() and mark in path.read_bytes()
        with replacing(
            path, beginning=re.compile(rb"(?!)"), overwrite=overwrite or drawn_here
        ) as file:
            file.write(stream.getvalue())
        written.append(path)
    return written


def figures_of(source: Source) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Yield the figures of a report or a table: each name with the function that draws it."""
    if isinstance(source, ScoreTable):
        first, *others = source.methods or ("",)
        for other in others:
            if len(source.common([first, other])):
                yield (
                    f"scatter-{other}",
                    partial(
                        charts.draw_scatter,
                        source,
                        other,
                        first,
                    ),
                )
        return
    titles = {table.title for table in source.tables if table.records}
    drawings = {
        charts.draw_sweep: "temperatures" in titles,
        charts.draw_guarantee: "thresholds" in titles,
        charts.draw_agreement: charts.agreement_records(source),
        charts.draw_reliability: "bins" in titles,
        charts.draw_asl: "metrics" in titles,
        charts.draw_correlations: charts.correlation_by_pair(source),
    }
    for draw, has_records in drawings.items():
        if has_records:
            yield draw.__name__.removeprefix("draw_"), partial(draw, source)
