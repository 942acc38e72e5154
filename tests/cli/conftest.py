"""The command line in process: what it printed, in an empty folder, without keys."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import clear_shared
from tcva_adapters.cli.app import run as run_command

PASSAGE = "The office opens at nine. Parking is free for visitors."


@dataclass(frozen=True)
class Done:
    """A command that ran: its exit code, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def text(self) -> str:
        """Both streams, with every blank a single one."""
        return " ".join((self.out + " " + self.err).split())


Run = Callable[..., Done]


@pytest.fixture
def tcva(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
    ):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object, code: int | None = 0) -> Done:
        clear_shared()  # a command is a process of its own, which remembers nothing
        capsys.readouterr()
        found = run_command([str(argument) for argument in arguments])
        done = Done(found, *capsys.readouterr())
        assert code is None or done.code == code, done.text
        return done

    return run


def record(
    number: int, response: str = "The office opens at nine.", **more: Any
) -> dict[str, Any]:
    """A sample whose response its passage supports."""
    texts = {"question": "When?", "answer": response, "contexts": [PASSAGE]}
    return {"id": f"s{number}", **texts, **more}


def write(path: str | Path, *records: object) -> str:
    """A file of records, line by line."""
    text = "".join(json.dumps(each) + "\n" for each in records)
    Path(path).write_text(text, encoding="utf-8")
    return str(path)
