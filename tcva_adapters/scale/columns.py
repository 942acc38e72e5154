"""Columns as the engines have them: a dict of numpy arrays, an Arrow table, a pandas frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tcva_adapters.errors import InvalidValueError

KINDS: Final[Mapping[str, type]] = {
    "score": float,
    "passed": bool,
    "reason": str,
    "unscored": str,
    "error": str,
    "result": str,
    "key": str,
}
"""The columns that are added, each with the type of its values; any may be missing."""


def rows_of(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows of a batch, as plain values.

    Raises:
        InvalidValueError: It is none that is known, a column is none or there twice, or columns
            differ in length.
    """
    columns = {name: _listed(name, values) for name, values in _columns(batch).items()}
    if len({len(values) for values in columns.values()}) > 1:
        sizes = {name: len(values) for name, values in columns.items()}
        msg = f"the columns of a batch are of equal length, these are not: {sizes}"
        raise InvalidValueError(msg)
    names = tuple(columns)
    return (dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True))


def with_columns(batch: Any, added: Mapping[str, Sequence[Any]], prefix: str) -> Any:
    """A batch of the same kind with columns more; those of the same name are replaced.

    Args:
        batch: As for `rows_of`.
        added: Values by the names of `KINDS`; None is a missing one.
        prefix: Goes before these names.
    """
    if isinstance(batch, Mapping):
        arrays = {prefix + name: _array(values, KINDS[name]) for name, values in added.items()}
        return {**batch, **arrays}
    if _is_arrow(batch):
        return _with_arrow(batch, added, prefix)
    import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415  # the batch is one of its frames

    kinds = {float: "float64", bool: "boolean", str: object}
    series = {
        prefix + name: pd.Series(list(values), dtype=kinds[KINDS[name]], index=batch.index)
        for name, values in added.items()
    }
    return batch.assign(**series)


def _with_arrow(batch: Any, added: Mapping[str, Sequence[Any]], prefix: str) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # the batch is one of its tables

    types = {float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    ours = {prefix + name for name in added}
    table = batch.drop_columns([name for name in batch.column_names if name in ours])
    for name, values in added.items():
        table = table.append_column(prefix + name, pa.array(values, type=types[KINDS[name]]))
    return table


def _columns(batch: Any) -> Mapping[str, Any]:
    if isinstance(batch, Mapping):
        return batch
    if _is_arrow(batch):
        _check_once(batch.column_names)
        return dict(zip(batch.column_names, batch.columns, strict=True))
    if _package(batch) == "pandas" and hasattr(batch, "columns"):
        _check_once(batch.columns)
        whole = batch.astype(object)
        whole = whole.where(whole.notna(), None)
        return {str(name): whole[name] for name in batch.columns}
    msg = (
        f"a batch is a dict of numpy arrays, a pyarrow.Table or a pandas.DataFrame, not a "
        f"{type(batch).__name__}"
    )
    raise InvalidValueError(msg)


def _check_once(names: Iterable[Any]) -> None:
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        msg = f"column {twice[0]!r} is there more than once; rename one, or leave it out"
        raise InvalidValueError(msg)


def _is_arrow(batch: Any) -> bool:
    return _package(batch) == "pyarrow" and hasattr(batch, "append_column")


def _package(batch: Any) -> str:
    return type(batch).__module__.partition(".")[0]


def _listed(name: Any, values: Any) -> list[Any]:
    if hasattr(values, "to_pylist"):
        return values.to_pylist()  # type: ignore[no-any-return]  # Arrow is not typed
    is_one = isinstance(values, str | bytes | Mapping) or getattr(values, "ndim", 1) == 0
    if is_one or not hasattr(values, "__len__"):
        msg = f"column {name!r} is a {type(values).__name__}; a column is an array or a list"
        raise InvalidValueError(msg)
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """A cell without numpy: a list of passages may be an array of texts."""
    if isinstance(value, np.ndarray):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _array(values: Sequence[Any], kind: type) -> np.ndarray[Any, Any]:
    if kind is float:
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
