"""The one place that says what a command has written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tcva_adapters.printing import notes
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.output import usable_path


def say_written(files: Mapping[Path, str]) -> None:
    """Name the files on standard error, each with its size and what is in it.

    Args:
        files: What is in each, in a few words; may be empty. Those that are not there are left out.
    """
    lines = [
        f"{path} ({_size(path.stat().st_size)}){what and f': {what}'}"
        for path, what in files.items()
        if path.is_file()
    ]
    if len(lines) == 1:
        notes().print(f"written: {lines[0]}")
    elif lines:
        notes().print("written:")
        for line in lines:
            notes().print(f"  {line}")


def results_written(out: str | None, store: VerdictStore | None, what: str) -> dict[Path, str]:
    """Results and the store behind them, as `say_written` takes them.

    Args:
        out: What ``--out`` names; may be standard output, or nothing.
        store: The store; None for none.
        what: What is in the results.
    """
    files = {} if out in (None, "-") else {usable_path(str(out)): what}
    return files if store is None else {**files, Path(store.path): "what the judge said, cached"}


def _size(number: int) -> str:
    """Bytes as a reader takes them in.

    >>> _size(512), _size(98_304), _size(12_345_678)
    ('512 B', '98 kB', '12.3 MB')
    """
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.0f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"
