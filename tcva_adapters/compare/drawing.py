"""Figures without a window: one place that needs matplotlib, and says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.samples.output import replacing
from tcva_adapters.samples.paths import make_folder, usable_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT: Final = 4.2
_SOFTWARE: Final = "tcva-adapters"
_OURS: Final = re.compile(rb"\x89PNG.*tEXtSoftware\0" + _SOFTWARE.encode(), re.DOTALL)


def new_figure(width: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of its own: pyplot's list of figures and its current one stay untouched.

    Args:
        width: In inches.
        columns: Axes beside each other.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  # an extra
        from matplotlib.figure import Figure  # noqa: PLC0415  # an extra
    except ImportError:
        msg = "figures need matplotlib: pip install 'tcva-adapters[plots]'"
        raise MissingDependencyError(msg) from None
    figure = Figure(figsize=(width, _HEIGHT), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(1, columns, squeeze=False)
    return figure, list(axes[0])


def check_drawing(folder: str | Path | None) -> None:
    """Refuse, before any work is done, to draw where that will fail; None draws nothing.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: The folder cannot be made.
    """
    if folder is None:
        return
    new_figure(1.0)
    try:
        make_folder(usable_path(folder))
    except OSError as error:
        msg = f"cannot write figures to {folder}: {error.strerror or error}; give another folder"
        raise InvalidValueError(msg) from error


def write_figures(
    folder: str | Path, pictures: Mapping[str, Callable[[], Figure]], *, overwrite: bool = False
) -> list[Path]:
    """Draw each picture into ``NAME.png``, and return their paths.

    Args:
        folder: Made if it is not there; pictures of these names that were drawn here are replaced.
        pictures: By name; drawn one after the other.
        overwrite: Replace other files of these names, too.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        InvalidValueError: The folder cannot be written, or holds another file of such a name.
    """
    check_drawing(folder)
    written = []
    for name, draw in pictures.items():
        path = usable_path(folder) / f"{name}.png"
        with replacing(path, ours=_OURS, overwrite=overwrite) as stream:
            # Without the date and matplotlib's version the same figures give the same bytes.
            draw().savefig(stream, format="png", dpi=150, metadata={"Software": _SOFTWARE})
        written.append(path)
    return written
