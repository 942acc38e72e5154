"""Figures as files: one, or all that a report has."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import matplotlib as mpl
from matplotlib.figure import Figure

from tcva_adapters.ccrs.summary import CCRSSummary
from tcva_adapters.compare.ccrs_ratings import RatedCCRS
from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.compare.evaluation import Evaluation
from tcva_adapters.compare.sweeping import Sweep
from tcva_adapters.compare.systems.report import SystemsReport
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.plots import systems
from tcva_adapters.plots.canvas import DPI
from tcva_adapters.plots.deciding import decisions, flips
from tcva_adapters.plots.dial import sweep_curve
from tcva_adapters.plots.methods import correlations, histograms, scatter
from tcva_adapters.plots.rated import agreement, reliability
from tcva_adapters.samples.output import make_folder, replacing, usable_path

Drawn = Comparison | Evaluation | Sweep | CCRSSummary | RatedCCRS | SystemsReport
Pictures = Iterator[tuple[str, Callable[[], Figure]]]

_SOFTWARE: Final = "tcva-adapters"
# Without dates and matplotlib's version the same figures give the same bytes. By these marks a
# picture is known for one that was drawn here.
_METADATA: Final[dict[str, tuple[dict[str, str | None], bytes]]] = {
    "png": ({"Software": _SOFTWARE}, b"Software\0tcva-adapters"),
    "svg": (
        {"Date": None, "Creator": None, "Title": _SOFTWARE},
        b"<dc:title>tcva-adapters</dc:title>",
    ),
    "pdf": (
        {"CreationDate": None, "Creator": None, "Producer": _SOFTWARE},
        b"/Producer (tcva-adapters)",
    ),
}
# Text stays text in vector files, and their inner names do not change from run to run.
_RC: Final[dict[Any, Any]] = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": _SOFTWARE}
_FOREIGN: Final = re.compile(rb"(?!)")


def write(figure: Figure, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a figure as PNG, SVG or PDF, by the file's suffix.

    Text in SVG and PDF files stays text. A figure that is drawn anew of the same data gives the
    same bytes.

    Args:
        figure: Any figure of matplotlib's.
        path: The file; one that was drawn here before is replaced, missing folders are made.
        overwrite: Replace another file, too.

    Returns:
        The path.

    Raises:
        InvalidValueError: Another suffix, a file that cannot be written, or one of something else.
    """
    path = usable_path(path)
    suffix = check_format(path.suffix.removeprefix(".").lower(), path)
    metadata, mark = _METADATA[suffix]
    stream = io.BytesIO()
    with mpl.rc_context(_RC):
        figure.savefig(stream, format=suffix, dpi=DPI, metadata=metadata)
    drawn_here = path.is_file() and mark in path.read_bytes()
    with replacing(path, ours=_FOREIGN, overwrite=overwrite or drawn_here) as file:
        file.write(stream.getvalue())
    return path


def save(
    report: Drawn, folder: str | Path, *, suffix: str = "png", overwrite: bool = False
) -> list[Path]:
    """Draw all figures of a report into a folder.

    A comparison has its sweep curve, flips, histograms and correlations, a scatter and the changed
    decisions against the frameworks' own metrics and imported scores, and, with human ratings,
    agreement and reliability. An evaluation has its sweep curve and flips, a sweep its curve, CCRS
    histograms and correlations (and agreement with human ratings), and a comparison of systems ASL
    curves, histograms, box plots and correlations.

    Args:
        report: What a function of this package returned.
        folder: Made if it is not there; pictures that were drawn here before are replaced.
        suffix: ``png``, ``svg`` or ``pdf``.
        overwrite: Replace other files of these names, too.

    Returns:
        The files.

    Raises:
        InvalidValueError: Another report or suffix, or a file that cannot be written or is of
            something else.
    """
    suffix = check_format(suffix.lower().removeprefix("."), suffix)
    pictures = list(_unique(pictures_of(report)))
    check_folder(folder)
    return [
        write(draw(), usable_path(folder) / f"{name}.{suffix}", overwrite=overwrite)
        for name, draw in pictures
    ]


def check_folder(folder: str | Path, suffix: str = "png") -> None:
    """Refuse, before any work is done, to draw where that will fail.

    Args:
        folder: Is made.
        suffix: Of the files to come.

    Raises:
        InvalidValueError: The folder cannot be made, or a suffix of no figures.
    """
    check_format(suffix, suffix)
    try:
        make_folder(usable_path(folder))
    except OSError as error:
        msg = f"cannot write figures to {folder}: {error.strerror or error}; give another folder"
        raise InvalidValueError(msg) from error


def check_format(suffix: str, given: object) -> str:
    """The format of a figure.

    Raises:
        InvalidValueError: It is none.
    """
    if suffix not in _METADATA:
        msg = f"{given!s} is no format of figures; they are {', '.join(_METADATA)}"
        raise InvalidValueError(msg)
    return suffix


def pictures_of(report: Drawn) -> Pictures:
    """The figures of a report by name, each drawn when it is asked for.

    Raises:
        InvalidValueError: It has none.
    """
    given: Any = report  # whatever a caller without a type checker passes
    if not isinstance(given, get_args(Drawn)):
        msg = f"{type(given).__name__!r} has no figures; give a report of tcva_adapters.compare"
        raise InvalidValueError(msg)
    if isinstance(report, SystemsReport):
        yield from _of_systems(report)
    elif isinstance(report, Sweep):
        yield "sweep", partial(sweep_curve, report)
    elif isinstance(report, CCRSSummary):
        yield from _of_scores(report, len(report.metrics))
    elif isinstance(report, RatedCCRS):
        yield from _of_scores(report, 1 + len(report.table.methods))
        yield "agreement", partial(agreement, report)
    else:
        if any(result.assessment.unscored is None for result in report.results):
            yield "sweep", partial(sweep_curve, report)
            yield "flips", partial(flips, report)
        if isinstance(report, Comparison):
            yield from _of_comparison(report)


def _of_systems(report: SystemsReport) -> Pictures:
    yield "asl", partial(systems.significance, report)
    yield "histograms", partial(histograms, report)
    for one in report.figures:
        yield f"scores-{one.metric}", partial(systems.boxes, report, one.metric)
    for measure in report.averaged:
        yield f"correlations-{measure}", partial(correlations, report, measure=measure)


def _of_scores(report: Comparison | CCRSSummary | RatedCCRS, methods: int) -> Pictures:
    yield "histograms", partial(histograms, report)
    if methods > 1:
        yield "correlations", partial(correlations, report)


def _of_comparison(report: Comparison) -> Pictures:
    """All methods, and TCVA against metrics that judge what it judges and against imported scores."""
    yield from _of_scores(report, len(report.table.methods))
    like_ours = {f"{f.name} {f.grounding}" for f in FRAMEWORKS.values()}
    like_ours |= {method for one in report.imported for method in one.methods}
    against = [found for found in report.decisions.methods if found.samples]
    for found in [f for f in against if f.method in like_ours] or against[:1]:
        yield f"scatter-{found.method}", partial(scatter, report, found.method)
        yield f"decisions-{found.method}", partial(decisions, report, found.method)
    if report.summary.human_ratings is not None:
        yield "agreement", partial(agreement, report)
        yield "reliability", partial(reliability, report)


def _unique(pictures: Pictures) -> Pictures:
    """Names as file names; those that differ in signs alone do not share a file."""
    known: set[str] = set()
    for name, draw in pictures:
        safe = re.sub(r"[^\w.=-]+", "-", name)
        safe = safe if safe not in known else f"{safe}-{len(known)}"
        known.add(safe)
        yield safe, draw
