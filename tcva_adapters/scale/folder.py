"""A folder of parts: whose it is, what is in it, and which rows need not be judged again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # Arrow is not typed
import pyarrow.csv  # type: ignore[import-untyped]  # as above
import pyarrow.dataset  # type: ignore[import-untyped]  # as above
import pyarrow.fs  # type: ignore[import-untyped]  # as above
import pyarrow.json  # type: ignore[import-untyped]  # as above
import pyarrow.parquet  # type: ignore[import-untyped]  # as above

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.output import usable_path
from tcva_adapters.samples.records import Format

_MANIFEST: Final = "_tcva.json"  # readers of folders leave out what begins with an underscore
_CHECKPOINT: Final = "_rows"
_UNFINISHED: Final = ".pending.parquet"
_VERSION: Final = 1


class Folder:
    """Where the parts of a run are, on a disk or in an object store.

    Args:
        out: A path or an address such as ``s3://bucket/judged``.
        kind: The format of the parts.

    Attributes:
        files: The file system.
        path: As the file system knows it.
        kind: The format of the parts.

    Raises:
        InvalidValueError: It is no address of a file system.
    """

    def __init__(self, out: str, kind: Format) -> None:
        self.files, self.path = file_system(out)
        self.kind = kind

    def claim(self, settings: Mapping[str, Any], paths: Sequence[str], *, overwrite: bool) -> None:
        """Make it the folder of this run: new, or one that an equal run has left.

        Args:
            settings: Everything that can change what is written, as JSON values.
            paths: What is read.
            overwrite: Empty it where another run has left it.

        Raises:
            InvalidValueError: It holds something else, or what was judged by other settings, from
                other files, or from files that have changed since.
        """
        sources = {name: state for path in paths for name, state in _files_of(path)}
        ours = {"version": _VERSION, **settings, "as": self.kind}
        known = self._manifest()
        if known is None:
            if self._entries():
                msg = f"{self.path} is not empty, and no run of ours; name a new folder"
                raise InvalidValueError(msg)
        else:
            why = _differs(known, ours, sources)
            if why and not overwrite:
                msg = f"{self.path} {why}; name another folder, or start anew with --overwrite"
                raise InvalidValueError(msg)
            if why:
                self.files.delete_dir_contents(self.path)
            else:
                sources = {**known["sources"], **sources}
        self._write({**ours, "sources": sources})

    def checkpoint(self, column: str, memory: int) -> Any:
        """Ray's note of the rows that are in finished parts.

        Args:
            column: Tells rows apart.
            memory: Bytes reserved for an actor that skips rows.
        """
        from ray.data.checkpoint import CheckpointConfig  # noqa: PLC0415  # an extra

        path = f"{self.path}/{_CHECKPOINT}"
        self.files.create_dir(path, recursive=True)
        config = CheckpointConfig(
            column, path, delete_checkpoint_on_success=False, override_filesystem=self.files
        )
        config.checkpoint_actor_memory_bytes = memory
        return config

    def rows(self) -> int:
        """How many rows are in finished parts."""
        noted = (each.path for each in self._entries(_CHECKPOINT))
        return sum(
            pa.parquet.read_metadata(path, filesystem=self.files).num_rows
            for path in noted
            if not path.endswith(_UNFINISHED)
        )

    def columns(self, names: Sequence[str]) -> Iterator[list[list[Any]]]:
        """The values of some columns, part by part."""
        for part in self.paths():
            kind = self._format(part)
            table = pa.dataset.dataset(part, format=kind, filesystem=self.files).to_table(names)
            yield [table[name].to_pylist() for name in names]

    def paths(self) -> list[str]:
        """The parts, in the order of their names."""
        return sorted(e.path for e in self._entries() if not e.base_name.startswith("_"))

    def written_as(self) -> Format | None:
        """The format of the parts that are there; None where this is no folder of ours."""
        known = self._manifest()
        return None if known is None or not self.paths() else known["as"]

    def _format(self, part: str) -> Any:
        """How a part is read: as one block, for no row is cut and the first rows say nothing alone."""
        size = {"block_size": max(1, self.files.get_file_info(part).size)}
        if self.kind == "jsonl":
            return pa.dataset.JsonFileFormat(read_options=pa.json.ReadOptions(**size))
        if self.kind == "csv":
            return pa.dataset.CsvFileFormat(
                read_options=pa.csv.ReadOptions(**size),
                parse_options=pa.csv.ParseOptions(newlines_in_values=True),
            )
        return pa.dataset.ParquetFileFormat()

    def _entries(self, within: str = "") -> list[Any]:
        look = pa.fs.FileSelector(f"{self.path}/{within}", allow_not_found=True)
        return list(self.files.get_file_info(look))

    def _manifest(self) -> dict[str, Any] | None:
        try:
            with self.files.open_input_stream(f"{self.path}/{_MANIFEST}") as stream:
                found: dict[str, Any] = json.loads(stream.read())
        except FileNotFoundError:
            return None
        return found

    def _write(self, manifest: dict[str, Any]) -> None:
        self.files.create_dir(self.path, recursive=True)
        draft = f"{self.path}/{_MANIFEST}.tmp"
        with self.files.open_output_stream(draft) as stream:
            stream.write(f"{json.dumps(manifest, indent=2)}\n".encode())
        self.files.move(draft, f"{self.path}/{_MANIFEST}")


def file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it; a path without one is absolute.

    Raises:
        InvalidValueError: There is no such file system.
    """
    try:
        if "://" in address:
            return pa.fs.FileSystem.from_uri(address)  # type: ignore[no-any-return]  # Arrow is not typed
        return pa.fs.LocalFileSystem(), str(usable_path(address).resolve())
    except pa.ArrowInvalid as error:
        msg = f"{address} is no file system that Arrow knows: {error}"
        raise InvalidValueError(msg) from None


def _files_of(path: str) -> Iterator[tuple[str, list[Any]]]:
    """A file, or those of a folder, each with what changes when the file does.

    Raises:
        UnreadableInputError: There is nothing.
    """
    files, inner = file_system(path)
    (info,) = files.get_file_info([inner])
    if info.type == pa.fs.FileType.NotFound:
        msg = f"{path}: there is no such file; check the path"
        raise UnreadableInputError(msg)
    found = [info]
    if info.type == pa.fs.FileType.Directory:
        within = files.get_file_info(pa.fs.FileSelector(inner, recursive=True))
        # As Ray's readers have it.
        found = [each for each in within if each.is_file and each.base_name[0] not in "._"]
    return ((each.path, [each.size, each.mtime_ns]) for each in found)


def _differs(known: dict[str, Any], ours: dict[str, Any], sources: dict[str, Any]) -> str:
    """How what is in a folder differs from what would be put there; empty where it does not."""
    if any(known.get(name) != value for name, value in ours.items()):
        return "was judged by other settings"
    changed = [
        path for path, state in known["sources"].items() if sources.get(path, state) != state
    ]
    return f"was judged from a file that has changed since: {changed[0]}" if changed else ""
