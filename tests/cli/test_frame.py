"""The frame of the command line: its commands and options, help, errors and exit codes."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from tcva_adapters import __version__, diagnosis
from tcva_adapters.cli.app import COMMANDS, imported_command
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.frameworks import Requirement
from tests.cli.conftest import Run, record, write
from tests.support.server import WRONG_KEY, ScriptedServer, auto_judge


def test_version_and_an_unknown_command(tcva: Run) -> None:
    assert tcva("--version").out.strip() == __version__
    assert "No such command 'nonsense'" in tcva("nonsense", code=2).err


def help_by_option() -> dict[str, dict[str, str]]:
    """The options of each command and subcommand, with what `--help` says of them."""
    commands = {}
    for name in COMMANDS:
        command = imported_command(name)
        for sub, function in getattr(command, "commands", {"": command}).items():
            commands[f"{name} {sub}".strip()] = {
                option: parameter.help
                for parameter in function.params
                for option in parameter.opts
                if option.startswith("--")
            }
    return commands


def test_the_eleven_commands_have_few_options() -> None:
    assert len(COMMANDS) == 11
    for options in help_by_option().values():
        assert len(options) <= 30
        assert options.keys().isdisjoint({"--labels", "--no-store", "--estimate"})


def test_an_option_means_the_same_in_all_commands() -> None:
    commands = help_by_option().values()
    for option in ("--fuse", "--markdown", "--human-scale", "--mean-of", "--tables"):
        meanings = {options[option] for options in commands if option in options}
        assert len(meanings) == 1, option
    for options in commands:
        assert ("--human" in options) == ("--human-scale" in options)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("width", [80, 140])
def test_pages_of_help(
    name: str, width: int, tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    commands = [
        [name, own] for own in getattr(imported_command(name), "commands", {})
    ] or [[name]]
    for command in commands:
        done = tcva(*command, "--help")
        lines = done.out.splitlines()
        assert max(map(len, lines)) == width
        assert "─ Output ─" in done.out or name == "batch"
        assert f"Example: tcva {' '.join(command)}" in done.text
        if name in {"systems", "report", "batch", "doctor"}:
            assert not {"--config", "penalty=off"} & {
                *done.text.replace(",", "").split()
            }


def test_a_mistake_is_one_sentence_and_the_traceback_is_asked_for(tcva: Run) -> None:
    done = tcva("evaluate", "nowhere.jsonl", code=2)
    assert "error: nowhere.jsonl: the file does not exist" in done.err
    assert "Traceback" not in done.err
    unknown = tcva("doctor", "--judge", "gpt-4", code=2).err
    assert "use 'lexical', 'openai:gpt-4' or 'nli:FOLDER'" in unknown
    assert "Traceback" in tcva("evaluate", "nowhere.jsonl", "--debug", code=2).err


@pytest.mark.slow
def test_a_closed_pipe_is_no_failed_gate(tcva: Run) -> None:
    tcva("--version")
    samples = write("in.jsonl", record(1))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-m", "tcva_adapters", "evaluate", samples],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 141


def test_the_demo_sets_the_judge_beside_a_reader(tcva: Run) -> None:
    found = tcva("demo", "--json").json["tables"]
    [shown] = [
        records for title, records in found.items() if title.startswith("claims of ")
    ]
    assert {row["reader"] for row in shown} == set(LEVELS)
    assert sum(row["reader"] == row["judge"] for row in shown) > len(shown) / 2
    whole = found["agreement"][-1]
    assert whole["claims"] == sum(whole[level] for level in LEVELS) > 200
    assert 0.5 < whole["same_level"] < whole["within_one"]
    strict, balanced, lenient, *own = found["mean scores"]
    for domain in ("medical", "support", "creative"):
        assert strict[domain] < balanced[domain] < lenient[domain]
    if find_spec("ragas"):
        assert "RAGAS faithfulness" in {row["method"] for row in own}


@pytest.mark.parametrize(("script", "sentence", "answers", "right"), [
    (auto_judge, "openai:m: not usable: fewer than 8 of", True, 7),
    (
        lambda _, n: '{"ok": true}' if n == 1 else "Nice day.",
        "openai:m: the test ended early: unreadable_reply",
        True,
        0,
    ),
    (lambda *_: WRONG_KEY, "openai:m: no answer", False, None),
    (None, "openai:m: no answer", False, None),
], ids=["unfit", "no verdicts", "wrong key", "no key"])  # fmt: skip
def test_the_doctor_tries_a_judge(
    script: object,
    sentence: str,
    answers: bool,
    right: int | None,
    tcva: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    not_imported(monkeypatch)
    with ScriptedServer(script or auto_judge) as server:  # type: ignore[arg-type]  # as given
        if script is not None:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        found = tcva("doctor", "--judge", "openai:m", "--json", code=1).json
    tables = found["tables"]
    assert found["sentence"].startswith(sentence)
    assert found["sentence"].endswith("ragas cannot be imported")
    judge = {row["what"]: row["found"] for row in tables["judge"]}
    assert judge["replies"] == ("yes" if answers else "no")
    assert [row["right"] for row in tables["test claims"]] == (
        [] if right is None else [right]
    )
    if script is None:
        assert "OPENAI_API_KEY" in judge["detail"]


def test_the_doctor_takes_the_settings_that_its_help_names(
    tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_imported(monkeypatch)
    text = tcva("doctor", "--help").text.replace("│", "")
    named = re.search(
        r"Another setting, e\.g\. (.+?); repeatable", " ".join(text.split())
    )
    assert named is not None
    examples = named[1].split(", ")
    assert len(examples) > 1
    for example in examples:
        done = tcva("doctor", "--set", example, code=1)
        assert "ragas cannot be imported" in done.text
    assert "unknown setting" in tcva("doctor", "--set", "penalty=off", code=2).err


@pytest.mark.slow
def test_the_doctor_imports_every_package(tcva: Run) -> None:
    packages = tcva("doctor", "--json", code=None).json["tables"]["packages"]
    assert {row["package"] for row in packages} >= {"ragas", "deepeval", "openai"}


def not_imported(patch: pytest.MonkeyPatch) -> None:
    """Let the doctor find packages that work, one that is not there, and one that is broken."""

    states = {
        "openai": "not installed",
        "ragas": "broken: ModuleNotFoundError: No module named 'langchain_community.chat_models'",
    }

    def found(requirement: Requirement) -> dict[str, Any]:
        name = requirement.distribution
        return {"package": name, "version": "1.7.2", "state": states.get(name, "works")}

    patch.setattr(diagnosis, "package_record", found)
