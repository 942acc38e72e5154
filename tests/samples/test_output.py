"""What is written: for whom, over what, and as what a spreadsheet takes it."""

from __future__ import annotations

import csv
import io
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import Assessment
from tcva_adapters.compare.imported import read_imported
from tcva_adapters.compare.system_pairs import read_systems
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config
from tcva_adapters.results.files import read_assessments, write_assessments
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.files import SampleStream, read_samples
from tcva_adapters.samples.output import csv_text, harmless, original

MADE = Assessment.from_verdicts(["fully"])
FORMULAS = ["=1+1", "+1", "-2", "@SUM(1)", "\tx", "\rx", "'=1", "''-1", "\uff1d1"]
posix = pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- for whom -------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_files_and_folders_are_their_owners_alone(tmp_path: Path, mask: int) -> None:
    folder = tmp_path / "one" / "two"
    before = os.umask(mask)
    try:
        write_assessments(folder / "a.jsonl", [MADE])
        Config(settings={"temperature": 0.2}).dump(folder / "c.json")
        with VerdictStore(folder / "three" / "v.sqlite") as store:
            store.put("k", MADE)  # with its log beside it
            found = {path: mode(path) for path in tmp_path.rglob("*")}
    finally:
        os.umask(before)
    assert len(found) == 8
    assert all(bits == (0o700 if path.is_dir() else 0o600) for path, bits in found.items())


# --- over what ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["\n", '{"schema_versions": 2}'])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, text: str) -> None:
    lines, settings = tmp_path / "precious.jsonl", tmp_path / "precious.json"
    for path, write in (
        (lines, lambda **how: write_assessments(lines, [MADE], **how)),
        (settings, lambda **how: Config().dump(settings, **how)),
    ):
        path.write_text(text)
        with pytest.raises(InvalidValueError, match=r"precious\.json.*--overwrite"):
            write()
        assert path.read_text() == text
        write(overwrite=True)
        write()  # over a file of ours, and over an empty one
        path.write_text("")
        write()
    assert set(tmp_path.iterdir()) == {lines, settings}
    assert read_assessments(lines) == [MADE]
    assert Config.load(settings) == Config()


@posix
def test_links_modes_and_pipes_stay_what_they_are(tmp_path: Path) -> None:
    path, link, pipe = tmp_path / "a.jsonl", tmp_path / "link.jsonl", tmp_path / "pipe"
    path.write_text("x")
    path.chmod(0o640)
    link.symlink_to(path)
    with pytest.raises(InvalidValueError, match="was not written by this"):
        write_assessments(link, [MADE])
    assert path.read_text() == "x"
    write_assessments(link, [MADE], overwrite=True)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(read_assessments(path)) == 1
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_assessments(pipe, [MADE])
    assert os.read(reader, 100_000).decode() == MADE.to_json() + "\n"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_path_that_none_can_be(tmp_path: Path) -> None:
    loop, other = tmp_path / "loop.json", tmp_path / "loop.jsonl"
    loop.symlink_to(other)
    other.symlink_to(loop)
    for path in ["a\0b.json", "\ud800.json", "~nobody-of-this-name/a.json", str(loop)]:
        for use in (
            lambda path: write_assessments(f"{path}l", [MADE]),
            lambda path: Config().dump(path),
            Config.load,
            read_samples,
            lambda path: SampleStream(path).check(),
            VerdictStore,
        ):
            with pytest.raises(InvalidValueError) as caught:
                use(path)
            assert repr(path)[1:-2] in str(caught.value)


# --- as what a spreadsheet takes it ---------------------------------------------------------


@given(st.text(alphabet="'=+-@\t\r a1") | st.text() | st.sampled_from(FORMULAS))
def test_no_cell_begins_like_a_formula_and_every_text_comes_back(text: str) -> None:
    assert original(harmless(text)) == text
    assert not harmless(text).startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))
    cells = list(csv.reader(io.StringIO(csv_text(["id"], [[f"={text}", -1.5]]), newline="")))[1]
    assert cells == [f"'={text}", "-1.5"]


def test_ids_that_look_like_formulas_still_join(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = [(name, "=method", 0.5) for name in FORMULAS]
    path.write_text(csv_text(["sample", "method", "score"], rows), encoding="utf-8")
    assert [row.sample.id for row in read_imported(path).rows] == FORMULAS
    assert read_imported(path).methods == ["=method"]
    (table,) = read_systems(path).values()
    assert set(table.samples) == set(FORMULAS)
    path.write_text("id,score\n'=1,0.5\n")  # a table of others: cells are as they are
    assert [row.sample.id for row in read_imported(path).rows] == ["'=1"]
