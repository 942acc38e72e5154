"""Files of samples as a Ray dataset, in which a bad row is a row that says so."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # Arrow is not typed
import pyarrow.csv  # type: ignore[import-untyped]  # as above
import pyarrow.parquet  # type: ignore[import-untyped]  # as above
import ray
from ray.data.datasource import BlockBasedFileDatasink, FileBasedDatasource

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.files import columns_of, sample_of
from tcva_adapters.samples.records import FileRow, Format, read_records

ROW_HASH: Final = "row_hash"
"""Which row of which file: the column that Ray's reader of parquet has under this name."""

_ROWS: Final = 256
LIGHT: Final = {"num_cpus": 0.25}
"""What Ray reserves for a task that reads or writes."""


class RowFiles(FileBasedDatasource):  # type: ignore[misc]  # Ray is an extra
    """jsonl and csv, read as everywhere in this package: Ray's readers end the job at a bad line.

    Args:
        paths: Files or folders, as Ray's readers take them.
        kind: Their format.
        error: The column that says what is wrong with a row that cannot be read.
        mapping: Your column name to the field it holds.
        files: The file system; by default that of the paths.
    """

    def __init__(
        self,
        paths: str | list[str],
        kind: Format,
        error: str,
        mapping: Mapping[str, str],
        files: Any = None,
    ) -> None:
        super().__init__(paths, filesystem=files)
        self._kind = kind
        self._error = error
        self._mapping = mapping

    def _read_stream(self, f: Any, path: str) -> Iterator[pa.Table]:
        # Bytes that are no UTF-8 come through, so that the reader says which line they are in.
        text = TextIOWrapper(f, encoding="utf-8", errors="surrogateescape", newline="")
        rows = read_records(text, self._kind)
        kinds: dict[str, pa.DataType] = {}
        while some := list(islice(rows, _ROWS)):
            table = self._table(some, path, kinds)
            for field in table.schema:
                if pa.types.is_null(kinds.get(field.name, pa.null())):
                    kinds[field.name] = field.type
            yield table

    def _table(
        self, rows: Sequence[FileRow], path: str, kinds: Mapping[str, pa.DataType]
    ) -> pa.Table:
        names = dict.fromkeys(name for row in rows for name in row.record or ())
        values = {name: [(row.record or {}).get(name) for row in rows] for name in names}
        errors = [row.error or None for row in rows]
        columns: dict[str, pa.Array] = {}
        for name, cells in values.items():
            try:
                columns[name] = pa.array(cells)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                # Of several kinds: each that is no text as JSON. What was no sample stays none.
                columns[name] = pa.array(_as_texts(cells), type=pa.string())
                errors = _first(errors, self._checked(rows))
            kind = kinds.get(name)
            if kind is not None and not _is_one(kind, columns[name].type):
                # Ray ends the job where a column is of another type than in the rows before.
                errors = _first(errors, self._checked(rows))
                columns[name], errors = _as_before(name, cells, kind, errors)
        hashes = [_row_hash(path, row.line) for row in rows]
        columns[ROW_HASH] = pa.array(hashes, type=pa.uint64())
        columns[self._error] = pa.array(errors, type=pa.string())
        return pa.table(columns)

    def _checked(self, rows: Sequence[FileRow]) -> list[str | None]:
        """What is wrong with each row, as it is in the file."""
        columns = columns_of(self._mapping)
        errors: list[str | None] = []
        for row in rows:
            error = row.error or None
            if row.record is not None:
                try:
                    sample_of(row.record, columns)
                except InvalidSampleError as refused:
                    error = str(refused)
            errors.append(error)
        return errors


def read_rows(
    paths: str | list[str],
    kind: Format,
    error: str,
    mapping: Mapping[str, str],
    files: Any = None,
) -> Any:
    """A dataset of the rows of files, each with its `ROW_HASH`.

    Args:
        paths: Files or folders, on a disk that all nodes have or in an object store.
        kind: Their format.
        error: See `RowFiles`.
        mapping: See there.
        files: See there.
    """
    if kind == "parquet":
        return ray.data.read_parquet(paths, filesystem=files, include_row_hash=True, **LIGHT)
    return ray.data.read_datasource(RowFiles(paths, kind, error, mapping, files), **LIGHT)


class Parts(BlockBasedFileDatasink):  # type: ignore[misc]  # as above
    """Blocks as files that hold every digit of a number, and lists also in csv.

    Ray's own writer of jsonl goes by pandas, which rounds to ten digits and makes floats of whole
    numbers beside gaps; Arrow's csv has no lists.
    """

    def __init__(self, path: str, kind: Format, files: Any) -> None:
        super().__init__(path, filesystem=files, file_format=kind)
        self._kind = kind

    def write_block_to_file(self, block: Any, file: Any) -> None:
        """Write a block, as Ray asks for it."""
        table = block.to_arrow()
        if self._kind == "parquet":
            pa.parquet.write_table(table, file)
        elif self._kind == "csv":
            pa.csv.write_csv(_flat(table), file)
        else:
            for row in table.to_pylist():
                file.write(f"{json.dumps(_plain(row), ensure_ascii=False)}\n".encode())


def _flat(table: pa.Table) -> pa.Table:
    """A table in which lists and objects are JSON, and bytes are texts."""
    for place, field in enumerate(table.schema):
        if pa.types.is_nested(field.type) or _is_bytes(field.type):
            texts = _as_texts(table.column(place).to_pylist())
            table = table.set_column(place, field.name, pa.array(texts, type=pa.string()))
    return table


def _is_bytes(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(is_it(kind) for is_it in kinds)


def _as_texts(values: list[Any]) -> list[str | None]:
    return [
        each if each is None or isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        for each in map(_plain, values)
    ]


def _first(errors: list[str | None], more: list[str | None]) -> list[str | None]:
    return [error or other for error, other in zip(errors, more, strict=True)]


def _is_one(before: pa.DataType, after: pa.DataType) -> bool:
    """Whether Ray can make one column of these types."""
    schemas = [pa.schema([("column", kind)]) for kind in (before, after)]
    try:
        pa.unify_schemas(schemas, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


def _as_before(
    name: str, cells: list[Any], kind: pa.DataType, errors: list[str | None]
) -> tuple[pa.Array, list[str | None]]:
    """A column in the type that it has in the rows before, and what is wrong with its rows."""
    if pa.types.is_string(kind):
        return pa.array(_as_texts(cells), type=kind), errors
    values, why = [], []
    for cell, error in zip(cells, errors, strict=True):
        # A passage alone is a list of one.
        value = [cell] if pa.types.is_list(kind) and isinstance(cell, str) else cell
        fault = None
        if not _holds(kind, value):
            fault = f"column {name!r} holds a {type(cell).__name__}, and {kind} in the rows before"
            value = None
        values.append(value)
        why.append(error or fault)
    return pa.array(values, type=kind), why


def _holds(kind: pa.DataType, value: Any) -> bool:
    """Whether a type has room for a value with nothing lost: Arrow cuts 1.5 to an integer."""
    try:
        (found,) = pa.array([value], type=kind).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return False
    if isinstance(found, dict) and isinstance(value, dict):
        return all(found.get(name) == each for name, each in value.items())
    return bool(found == value)


def _row_hash(path: str, line: int) -> int:
    found = hashlib.blake2b(f"{path}\n{line}".encode(), digest_size=8)
    return int.from_bytes(found.digest())


def _plain(value: Any) -> Any:
    """A cell as JSON would have it; NaN is how data frames say that there is nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
