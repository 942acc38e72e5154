"""What all figures share: sizes, colours, lines, how names are written, and a canvas without a window."""

from __future__ import annotations

import io
import textwrap
from typing import Any, Final, Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tcva_adapters.core.checks import as_number
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import visible

Width = float | Literal["column", "page"]
"""Inches; ``column`` and ``page`` are those of a paper in two columns."""

WIDTHS: Final = {"column": 3.3, "page": 7.0}
DPI: Final = 200

TEXT: Final = 8.0
SMALL: Final = 7.0
TINY: Final = 5.5
"""Points; a paper's own text has 9 or 10."""

TICKS: Final[dict[str, Any]] = {"labelsize": SMALL, "width": 0.6, "length": 2.5}

# Okabe and Ito's colours, which colour-blind readers tell apart. Neighbours differ in lightness,
# and every use adds a line style, a marker or a hatch.
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
LINES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
GREY: Final = "#777777"
RATINGS: Final = "cividis"
SIGNED: Final = "PuOr"

_NARROWEST: Final = 1.5
_WIDEST: Final = 40.0


class Picture(Figure):
    """A matplotlib figure that a notebook shows by itself, whether or not pyplot is in use."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=DPI)
        return stream.getvalue()


def canvas(ax: Axes | None, width: Width, height: float) -> tuple[Figure, Axes]:
    """The axes to draw into: those given, or those of a new figure.

    Args:
        ax: Axes of the caller's, or None.
        width: Of a new figure.
        height: Likewise, in inches.

    Raises:
        InvalidValueError: ``ax`` is something else, or a width that no figure has.
    """
    if ax is None:
        figure, grid = new_figure(width, height)
        return figure, grid[0]
    given: Any = ax  # whatever a caller without a type checker passes
    if not isinstance(given, Axes):
        msg = f"ax is {ax!r}; give the axes of a figure, or None for a new one"
        raise InvalidValueError(msg)
    dress(ax)
    found: Any = ax.figure
    while not isinstance(found, Figure):  # the part of a figure
        found = found.figure
    return found, ax


def new_figure(
    width: Width, height: float, rows: int = 1, columns: int = 1, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of its own: pyplot's list of figures and its current one stay untouched.

    Args:
        width: See `Width`.
        height: In inches.
        rows: Of axes.
        columns: Of axes; those of the first row come first.
        shared: For `Figure.subplots`.

    Raises:
        InvalidValueError: A width that no figure has.
    """
    figure = Picture(figsize=(inches(width), height), layout="constrained")
    FigureCanvasAgg(figure)
    grid: Any = figure.subplots(rows, columns, squeeze=False, **shared)
    for axes in grid.flat:
        dress(axes)
    return figure, list(grid.flat)


def inches(width: Width) -> float:
    """A width as a number.

    Raises:
        InvalidValueError: An unknown word, or a width that no figure has.

    >>> inches("column"), inches(5)
    (3.3, 5.0)
    """
    number = WIDTHS.get(width) if isinstance(width, str) else as_number(width)
    if number is None or not _NARROWEST <= number <= _WIDEST:
        msg = (
            f"width is {width!r}; give 'column' (3.3 in), 'page' (7 in), or {_NARROWEST:g} to "
            f"{_WIDEST:g} inches"
        )
        raise InvalidValueError(msg)
    return number


def dress(axes: Axes) -> None:
    """Sizes and lines of axes; said for each, since matplotlib's settings are the user's."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_linewidth(0.6)
    axes.tick_params(**TICKS)
    for each in (axes.xaxis, axes.yaxis):
        each.label.set_fontsize(TEXT)
        each.get_offset_text().set_fontsize(SMALL)
    axes.set_axisbelow(True)


def legend(axes: Axes, columns: int = 1, **options: Any) -> None:
    """A legend above the axes, where it hides nothing; none without entries."""
    if not axes.get_legend_handles_labels()[1]:
        return
    placed = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "fontsize": SMALL}
    tight = {"borderaxespad": 0.2, "handlelength": 2.2, "columnspacing": 1.2, "labelspacing": 0.3}
    look: dict[str, Any] = {"frameon": False, **placed, **tight, **options}
    axes.legend(ncols=columns, **look)


def mark_cliff(axes: Axes, cliff: float | None) -> None:
    """A line at the temperature of the cliff, where there is one."""
    if cliff is not None:
        axes.axvline(cliff, color=GREY, ls=":", lw=1.0, label=f"cliff, T = {cliff:.3f}")


def name_x(axes: Axes, text: str) -> None:
    """A name of the x-axis that may begin further left than the axes do."""
    axes.set_xlabel(text, x=1.0, ha="right")


def colour_bar(axes: Axes, marks: Any, left: float, name: str) -> None:
    """What colours stand for, at the right of the axes.

    Args:
        axes: Those with the colours.
        marks: What is coloured.
        left: Where the bar begins, as a share of the axes' width.
        name: What is measured.
    """
    inside: Any = axes.inset_axes((left, 0.15, 0.035, 0.7))
    bar = inside.figure.colorbar(marks, cax=inside)
    bar.set_label(name, fontsize=SMALL)
    bar.ax.tick_params(**TICKS)
    bar.outline.set_linewidth(0.4)


def label(text: str, width: int = 28, lines: int = 3) -> str:
    r"""A name from a file as a label: visible, in a few lines, cut at their end.

    Names are broken at blanks and after underscores, and a dollar sign begins no formula.

    >>> label("ragas legacy_context_recall", 16)
    'ragas legacy_\ncontext_recall'
    """
    wrapper = textwrap.TextWrapper(width, max_lines=lines, placeholder="…", break_on_hyphens=False)
    # The blank after an underscore lets a line end there, and is taken out again.
    spaced = visible(" ".join(text.split())).replace("_", "_\u200b ")
    filled = wrapper.fill(spaced).replace("\u200b ", "").replace("\u200b", "")
    return filled.replace("$", r"\$")
