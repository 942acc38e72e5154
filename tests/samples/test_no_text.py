"""Files that are no text: Excel's, packed ones, databases, parquet under another name."""

import bz2
import gzip
import io
import lzma
import re
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples.reader import read_samples

GOOD = '{"question": "Who?", "answer": "Ada."}\n'


def of_excel(stream: Any) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr("xl/worksheets/sheet1.xml", "<worksheet/>")


def of_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE verdicts (key)")


BINARY: dict[str, tuple[Callable[[Path], Any], str]] = {
    "table.xlsx": (of_excel, "an Excel file or a zip archive, .* export the sheet as csv"),
    "renamed.csv": (of_excel, "an Excel file or a zip archive, .* export the sheet as csv"),
    "samples.zip": (of_excel, ".* zip archive, which is not read; .* unpack the archive"),
    "old.xls": (lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 64), "an Excel file, which is not read; export the sheet as csv"),
    "samples.jsonl.gz": (lambda path: path.write_bytes(gzip.compress(GOOD.encode())), "a compressed file, which is not read; unpack"),
    "samples.json": (lambda path: path.write_bytes(gzip.compress(GOOD.encode())), "a compressed file"),
    "samples.csv.bz2": (lambda path: path.write_bytes(bz2.compress(GOOD.encode())), "a compressed file"),
    "samples.xz": (lambda path: path.write_bytes(lzma.compress(GOOD.encode())), "a compressed file"),
    "samples.csv": (lambda path: path.write_bytes(b"PAR1" + bytes(8)), r"a parquet file; its name must end in \.parquet"),
    "verdicts.sqlite": (of_sqlite, "a database, which is not read; give samples or results"),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_a_file_that_is_no_text_is_named_by_what_it_is(
    name: str, tmp_path: Path
) -> None:
    write, said = BINARY[name]
    write(tmp_path / name)
    for skip_bad in (False, True):
        with pytest.raises(
            UnreadableInputError, match=f"{re.escape(name)}: {said}"
        ) as raised:
            read_samples(tmp_path / name, skip_bad=skip_bad)
        assert "UTF-8" not in str(raised.value)


def test_a_packed_file_in_a_pipe_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(gzip.compress(GOOD.encode())))
    monkeypatch.setattr("sys.stdin", stream)
    with pytest.raises(UnreadableInputError, match="standard input: a compressed file"):
        read_samples("-")
