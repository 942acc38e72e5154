"""What the commands print of hostile files, and what they write over."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

from tcva_adapters.cli.app import run
from tests.support.server import ScriptedServer

OBEYED = "\x1b[31m\x1b]0;t\x07\r\x9b2J\u202e"
OPENS = "The office opens at nine."
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, **changed: object) -> str:
    """Three samples; the first has hostile text everywhere."""
    hostile = {
        "id": f"id{OBEYED}",
        "question": f"When{OBEYED}?",
        "answer": f"It opens{OBEYED} at ten. {OPENS}",
        "contexts": [OPENS],
        "system": f"sys{OBEYED}",
        "human_score": 0.5,
    }
    good = {"question": "When?", "answer": OPENS, "contexts": [OPENS], "human_score": 0.9}
    rows = [hostile | changed, *({**good, "id": f"s{i}", "system": "b"} for i in range(2))]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


@pytest.mark.parametrize(
    "arguments",
    [
        "evaluate in.jsonl --judge lexical -o out.jsonl",
        "evaluate in.jsonl --judge lexical -o -",
        "evaluate bad.jsonl --judge lexical",
        "evaluate bad.jsonl --judge lexical --skip-bad",
        f"evaluate missing{OBEYED}.jsonl --judge lexical",
        f"evaluate in.jsonl --judge lexical{OBEYED}",
        f"evaluate in.jsonl more{OBEYED}",
        f"evaluate in.jsonl --option{OBEYED}",
        f"evaluate in.jsonl --judge lexical --store nowhere{OBEYED}/\0/x",
        "ccrs in.jsonl --judge lexical",
        "ccrs bad.jsonl --judge lexical",
        "compare in.jsonl --judge lexical --with none --out side -B 10",
        "compare in.jsonl --judge lexical --with none --out side -B 10 --human human_score",
        f"sweep missing{OBEYED}",
        f"--debug sweep missing{OBEYED}",
        f"nothing{OBEYED}",
    ],
)
def test_no_command_hands_on_what_a_terminal_obeys(
    arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("in.jsonl")
    write("bad.jsonl", answer=[OBEYED, OBEYED])
    run(arguments.split(" "))
    printed = capsys.readouterr()
    assert printed.out + printed.err
    assert not _CONTROL.search(printed.out + printed.err)


def test_files_keep_the_true_text(capsys: pytest.CaptureFixture[str]) -> None:
    write("in.jsonl")
    run(["evaluate", "in.jsonl", "--judge", "lexical", "-o", "out.jsonl"])
    capsys.readouterr()
    run(["evaluate", "in.jsonl", "--judge", "lexical", "-o", "-"])
    lines = (Path("out.jsonl").read_text(encoding="utf-8"), capsys.readouterr().out)
    for text in lines:
        assert json.loads(text.splitlines()[0])["sample_id"] == f"id{OBEYED}"


def test_what_a_server_says_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = 400, {"error": {"message": f"no{OBEYED}such thing [red]x[/red]"}}
    with ScriptedServer(lambda body, n: refusal) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        run(["evaluate", write("in.jsonl"), "--judge", "openai:m", "--no-store"])
    printed = capsys.readouterr()
    assert "[red]x[/red]" in printed.out + printed.err
    assert not _CONTROL.search(printed.out + printed.err)


def test_warnings_are_notes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def warned(*_: object, **__: object) -> None:
        warnings.warn(f"mind{OBEYED}this", UserWarning, stacklevel=1)

    monkeypatch.setattr("tcva_adapters.cli.evaluate.check_wanted", warned)
    with warnings.catch_warnings(action="always"):
        assert run(["evaluate", write("in.jsonl"), "--judge", "lexical"]) == 0
    assert "warning: mind\\x1b[31m" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "out", "said"),
    [
        ("none.jsonl", "judged.jsonl", "none.jsonl: there is no such file; check the path"),
        ("in.jsonl", "in.jsonl/x.jsonl", "--out in.jsonl/x.jsonl cannot be written"),
    ],
)
def test_paths_that_are_none_are_named(
    source: str, out: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("in.jsonl")
    assert run(["evaluate", "in.jsonl", "--judge", "lexical", "-o", "judged.jsonl"]) == 0
    assert run(["evaluate", source, "--judge", "lexical", "-o", out]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        "evaluate in.jsonl --judge lexical -o {}",
        "ccrs in.jsonl --judge lexical -o {}",
        "calibrate judged.jsonl --human human_score -B 20 -o {}",
    ],
)
def test_a_file_of_something_else_needs_overwrite(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = write("in.jsonl")
    assert run(["evaluate", samples, "--judge", "lexical", "-o", "judged.jsonl"]) == 0
    precious = Path("precious.jsonl")
    precious.write_text("my notes\n")
    arguments = command.format(precious).split(" ")
    capsys.readouterr()
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert "precious.jsonl was written by something else" in printed.err
    assert "--overwrite" in printed.err
    assert printed.out == ""
    assert precious.read_text() == "my notes\n"
    if command.startswith("calibrate"):  # three samples are too few to choose by
        return
    assert run([*arguments, "--overwrite"]) == 0
    assert precious.read_text() != "my notes\n"
    assert run(arguments) == 0  # now it is ours
