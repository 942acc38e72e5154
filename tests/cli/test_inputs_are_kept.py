"""No command writes over what it reads, however the path is spelled."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tcva_adapters.cli.app import COMMANDS, imported_command
from tcva_adapters.cli.output import check_apart
from tcva_adapters.errors import InvalidValueError
from tests.cli.conftest import Run, record, write

SIDE = "side"
INPUTS = (
    "in.jsonl",
    "paid.jsonl",
    "rated.csv",
    "settings.json",
    "tests.json",
    "own.sqlite",
)
READS = {
    "evaluate": "evaluate in.jsonl --judge lexical --baseline paid.jsonl --human rated.csv::stars --config settings.json --store own.sqlite",
    "compare": "compare in.jsonl --with none --scores ragas=rated.csv --human rated.csv --config settings.json --store own.sqlite",
    "sweep": "sweep paid.jsonl --human rated.csv::stars --config settings.json",
    "calibrate": "calibrate paid.jsonl --human rated.csv --config settings.json",
    "validate": "validate paid.jsonl --human rated.csv --config settings.json --next 1",
    "systems": "systems one=paid.jsonl two=rated.csv --hypotheses tests.json",
    "report": "report paid.jsonl rated.csv --samples in.jsonl --human rated.csv",
    "batch submit": "batch submit in.jsonl --judge openai:m --store own.sqlite",
}
WRITES = {
    "evaluate": "--out --report --junit --markdown",
    "compare": "--out --report --junit --markdown",
    "sweep": "--figures",
    "calibrate": "--out --report",
    "validate": "--out --report --tables",
    "systems": "--report --figures",
    "report": "--out",
    "batch submit": "--out",
}
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "dotted": lambda name: f"./{name}",
    "roundabout": lambda name: f"{SIDE}/../{name}",
    "absolute": lambda name: str(Path(name).absolute()),
    "a linked folder": lambda name: f"linked/{name}",
    "a link": lambda name: _linked(name, Path.symlink_to),
    "a link to a link": lambda name: _linked(
        _linked(name, Path.symlink_to), Path.symlink_to
    ),
    "a hard link": lambda name: _linked(name, Path.hardlink_to),
    "home": lambda name: f"~/{name}",
}
OPTIONS = [(command, option) for command in READS for option in WRITES[command].split()]


def _linked(name: str, link: Callable[[Path, Path], None]) -> str:
    path = Path(f"{name}.link")
    link(path, Path(name).absolute())
    return str(path)


@pytest.fixture
def kept(tcva: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A folder with inputs, which are there unchanged in the end."""
    write("in.jsonl", record(1), record(2))
    tcva("evaluate", "in.jsonl", "--judge", "lexical", "--out", "paid.jsonl")
    Path("rated.csv").write_text("id,human,stars\ns1,1,1\ns2,0,0\n", encoding="utf-8")
    Path("settings.json").write_text('{"temperature": 0.5}', encoding="utf-8")
    Path("tests.json").write_text("[]", encoding="utf-8")
    Path("own.sqlite").write_bytes(b"")
    Path(SIDE).mkdir()
    Path("linked").symlink_to(Path.cwd())
    monkeypatch.setenv("HOME", str(Path.cwd()))
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    return tcva


def test_every_option_that_writes_is_tested() -> None:
    """A new option of a command belongs into the table above, or among those that write nothing."""
    for name in COMMANDS:
        group = imported_command(name)
        for own, command in getattr(group, "commands", {name: group}).items():
            named = own if own == name else f"{name} {own}"
            writing = {
                each.opts[0] for each in command.params if each.name in _writing()
            }
            assert writing == set(
                WRITES.get(named, "--report" if name == "demo" else "").split()
            )


def _writing() -> set[str]:
    names = set()
    for name in (
        "out",
        "report",
        "markdown",
        "tables",
        "junit",
        "figures",
        "samples",
        "human",
        "config",
    ):
        try:
            check_apart({"sources": __file__, name: __file__})
        except InvalidValueError:
            names.add(name)
    return names


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_no_input_is_written_over(
    command: str, option: str, spelling: str, kept: Run
) -> None:
    before = {name: Path(name).read_bytes() for name in INPUTS}
    for name in filter(READS[command].__contains__, INPUTS):
        there = {*Path().rglob("*")}
        target = SPELLINGS[spelling](name)
        new = {*Path().rglob("*")} - there
        overwrite = [] if command == "batch submit" else ["--overwrite"]
        done = kept(*READS[command].split(), option, target, *overwrite, code=2)
        assert (
            f"{option} {target.removeprefix('./')} is also what is read"
            in done.text.replace(" ./", " ")
        )
        assert {*Path().rglob("*")} == there | new
        assert {name: Path(name).read_bytes() for name in INPUTS} == before
        for path in new:
            path.unlink()


@pytest.mark.parametrize("command", [
    "compare side/samples.jsonl --with none --out side",
    "compare in.jsonl --with none --scores side/scores.csv --out side",
    "report side --out side/scores.csv",
    "report side --out side/assessments.jsonl",
    "validate side --human rated.csv --tables side/summary.json",
    "systems a=side b=paid.jsonl --report side/assessments.jsonl",
    "sweep side --figures side/samples.jsonl",
    "demo --report .tcva/verdicts.sqlite",
    "report paid.jsonl --out .tcva/verdicts.sqlite",
    "evaluate in.jsonl --ray local --out in.jsonl",
    "evaluate in.jsonl --judge lexical --store new.jsonl --out new.jsonl",
    "evaluate in.jsonl --judge lexical --store new.xml --junit new.xml",
])  # fmt: skip
def test_no_folder_and_no_store_is_written_over(command: str, kept: Run) -> None:
    kept("compare", "in.jsonl", "--with", "none", "--judge", "lexical", "--out", SIDE)
    Path(".tcva").mkdir()
    shutil.copy("paid.jsonl", ".tcva/verdicts.sqlite")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    more = [] if "ray" in command else ["--overwrite"]
    done = kept(*command.split(), *more, code=2)
    assert f"{' '.join(command.split()[-2:])} is also what is read" in done.text
    assert {p: p.read_bytes() for p in Path().rglob("*") if p.is_file()} == before


def test_files_beside_the_input_may_be_written(kept: Run) -> None:
    kept("compare", "in.jsonl", "--with", "none", "--judge", "lexical", "--out", SIDE)
    for _ in range(2):
        kept("report", SIDE, "--out", f"{SIDE}/report.html")
        kept(
            "compare", "in.jsonl", "--with", "none", "--judge", "lexical", "--out", SIDE
        )
    shutil.copy("in.jsonl", f"{SIDE}/mine.jsonl")
    kept(
        "compare",
        f"{SIDE}/mine.jsonl",
        "--with",
        "none",
        "--judge",
        "lexical",
        "--out",
        SIDE,
    )
    kept("evaluate", os.devnull, "--judge", "lexical", "--out", os.devnull, code=2)
