"""Gates, comments, JUnit and annotations on the command line: what CI servers get of each command."""

from __future__ import annotations

import io
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.cli.app import run
from tests.report.test_machines import ALL
from tests.support.server import ScriptedServer, auto_judge

PASSAGE = "The office opens at nine. Parking is free for visitors."
ZEBRAS = "Zebras invented the telephone in 1850."


def record(number: int, answer: str = "The office opens at nine.", **more: Any) -> dict[str, Any]:
    return {
        "id": f"s{number}",
        "question": "When?",
        "answer": answer,
        "contexts": [PASSAGE],
        **more,
    }


def write(name: str, *records: dict[str, Any]) -> str:
    Path(name).write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return name


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    write("in.jsonl", record(1), record(2, ZEBRAS), record(3, contexts=[]))


EVALUATE = ["evaluate", "in.jsonl", "-j", "lexical"]


def test_one_run_hands_over_everything(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--min-score", "0.9", "--markdown", "c.md", "--junit", "j.xml", "--annotations"]
    assert run([*EVALUATE, *asked]) == 1
    printed = capsys.readouterr()
    assert "gate failed: faithfulness: mean score 0.50" in printed.err
    assert "s2: 0.000 < 0.5" in printed.err
    assert f"none: {ZEBRAS}" in printed.err
    assert "::error title=TCVA gate failed::faithfulness: mean score 0.50" in printed.err
    assert "::error title=TCVA faithfulness%3A s2::0.000 < 0.5%0Anone: Zebras" in printed.err
    assert "::" not in printed.out
    assert "c.md" in printed.err
    assert "j.xml" in printed.err
    comment = Path("c.md").read_text(encoding="utf-8")
    assert comment.startswith("**Gates failed**: 50% of 2 scored samples pass")
    assert "<summary><code>s2</code>: 0.000 &lt; 0.5" in comment
    suites = ET.parse("j.xml").getroot().findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["faithfulness", "gates"]
    assert [case.get("name") for case in suites[0].iter("testcase")] == ["s1", "s2", "s3"]


@pytest.mark.parametrize(
    ("environment", "flags", "printed"),
    [
        ("true", [], True),
        ("true", ["--no-annotations"], False),
        ("", [], False),
        ("", ["--annotations"], True),
    ],
)
def test_annotations_are_for_github(
    environment: str,
    flags: list[str],
    printed: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", environment)
    assert run([*EVALUATE, "--min-score", "0.9", *flags]) == 1
    assert ("::error" in capsys.readouterr().err) is printed
    assert run([*EVALUATE, "--min-score", "0.1", *flags]) == 0
    assert "::error" not in capsys.readouterr().err


def test_a_step_summary_is_added_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("summary.md").write_text("# Build\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    for _ in range(2):
        assert run([*EVALUATE, "--markdown", "summary.md"]) == 0
    text = Path("summary.md").read_text(encoding="utf-8")
    assert text.startswith("# Build\n**TCVA**: ")
    assert text.count("\n**TCVA**: ") == 2
    capsys.readouterr()
    assert run([*EVALUATE, "--markdown", "-"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("**TCVA**: ")
    assert "passed" in printed.err


@pytest.mark.parametrize("option", ["--markdown", "--junit"])
def test_files_of_others_are_left_alone(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("precious").write_text("my notes\n", encoding="utf-8")
    with ScriptedServer(auto_judge) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        asked = ["evaluate", "in.jsonl", "-j", "openai:m", "--no-store", option]
        assert run([*asked, "precious"]) == 2
        assert "precious was written by something else" in capsys.readouterr().err
        assert run([*asked, "in.jsonl"]) == 2
        assert (
            f"{option} in.jsonl is the file that the samples come from" in capsys.readouterr().err
        )
        assert server.count == 0  # before anything was paid for
    assert Path("precious").read_text(encoding="utf-8") == "my notes\n"
    for _ in range(2):  # ours is replaced
        assert run([*EVALUATE, option, "precious", "--overwrite"]) == 0
        assert run([*EVALUATE, option, "precious"]) == 0


@pytest.mark.parametrize("other", [["--json"], ["--out", "-"]])
def test_standard_output_has_one_use(other: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*EVALUATE, "--markdown", "-", *other]) == 2
    assert "both write to standard output" in capsys.readouterr().err


def test_json_has_the_gates(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*EVALUATE, "--json", "--min-score", "faithfulness=0.9"]) == 1
    gates = json.loads(capsys.readouterr().out)["gates"]
    assert gates["passed"] is False
    assert [gate["figure"] for gate in gates["checked"]] == ["mean score", "judged"]
    assert run([*EVALUATE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gates"] == {"passed": None, "checked": []}


def test_a_gate_on_nothing_is_refused_before_a_call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = {
        "evaluate in.jsonl --no-store": "there are faithfulness",
        "ccrs in.jsonl --no-store": "there are cc, qr",
        "compare in.jsonl --with none --out side": "there are tcva T=0.1, tcva T=0.5, tcva T=0.9",
    }
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for command, there_are in commands.items():
            assert run([*command.split(" "), "-j", "openai:m", "--min-score", "beauty=0.5"]) == 2
            said = capsys.readouterr().err
            assert "nothing here is called 'beauty'" in said
            assert there_are in said
        assert run([*EVALUATE[:2], "-j", "openai:m", "--no-store", "--show", "s9"]) == 2
        assert "no sample 's9' to show" in capsys.readouterr().err
        assert server.count == 0


def test_compare_has_gates_by_method(capsys: pytest.CaptureFixture[str]) -> None:
    side = ["compare", "in.jsonl", "-j", "lexical", "--with", "none", "--out", "side", "-B", "10"]
    asked = ["--min-score", "tcva T=0.1=0.9", "--min-pass-rate", "tcva T=0.9=0.2"]
    assert run([*side, *asked, "--junit", "j.xml", "--markdown", "c.md"]) == 1
    said = capsys.readouterr().err
    assert "gate failed: tcva T=0.1: mean score" in said
    assert f"none: {ZEBRAS}" in said
    assert "gate passed: tcva T=0.9: pass rate" in said
    assert "(tcva T=0.9)" not in said
    gates = json.loads(Path("side/summary.json").read_text(encoding="utf-8"))["gates"]
    assert [g["method"] for g in gates["checked"] if g["failed"]] == ["tcva T=0.1"]
    names = [suite.get("name") for suite in ET.parse("j.xml").getroot()]
    assert names == ["tcva T=0.1", "tcva T=0.5", "tcva T=0.9", "gates"]
    assert run([*side, "--min-score", "tcva T=0.5=0.2"]) == 0  # other gates, the same comparison


def test_ccrs_has_gates_by_metric(capsys: pytest.CaptureFixture[str]) -> None:
    rate = ["ccrs", "in.jsonl", "-j", "lexical", "-m", "qr,cc", "--weights", "qr=0.5,cc=0.5"]
    asked = ["--min-score", "composite=0.99", "--min-coverage", "0.1", "--junit", "j.xml"]
    assert run([*rate, *asked, "--json"]) == 1
    printed = capsys.readouterr()
    assert "gate failed: composite: mean score" in printed.err
    assert json.loads(printed.out)["gates"]["passed"] is False
    names = [suite.get("name") for suite in ET.parse("j.xml").getroot()]
    assert sorted(str(name) for name in names) == ["cc", "composite", "gates", "qr"]
    assert run([*rate, "--min-score", "0.0", "--min-coverage", "0"]) == 0


def test_systems_have_gates_by_metric_and_system(capsys: pytest.CaptureFixture[str]) -> None:
    write("more.jsonl", *(record(n, "The office opens at nine.") for n in range(1, 4)))
    for name in ("in", "more"):
        assert run(["evaluate", f"{name}.jsonl", "-j", "lexical", "-o", f"j{name}.jsonl"]) == 0
    capsys.readouterr()
    systems = ["systems", "old=jin.jsonl", "new=jmore.jsonl", "-T", "0.5", "-B", "10"]
    asked = ["--min-score", "faithfulness T=0.5 of old=0.9", "--markdown", "c.md"]
    assert run([*systems, *asked]) == 1
    assert "gate failed: faithfulness T=0.5 of old: mean score" in capsys.readouterr().err
    assert "| `faithfulness T=0.5 of new` | 3/3 | 1.000 | - | " in Path("c.md").read_text("utf-8")
    assert run([*systems, "--min-score", "faithfulness T=0.5 of new=0.9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gates"]["passed"] is True
    assert run([*systems, "--min-score", "x=1"]) == 2


def test_a_baseline_says_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*EVALUATE, "-o", "before.jsonl"]) == 0
    write("in.jsonl", record(1, ZEBRAS), record(2), record(4))
    capsys.readouterr()
    since = [*EVALUATE, "--baseline", "before.jsonl"]
    assert run([*since, "--markdown", "c.md"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "since the baseline: mean score 0.500 before, 0.667 now; on 2 samples of both" in said
    assert "1 of 2 samples no longer pass" in said
    comment = Path("c.md").read_text(encoding="utf-8")
    assert "<summary>No longer pass: 1</summary>\n\n- `s1`: 1.000 before, 0.000" in comment
    assert run([*since, "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["since_baseline"]
    assert (changes["broken"], changes["repaired"]) == (["s1"], ["s2"])
    assert (changes["only_before"], changes["only_now"]) == (["s3"], ["s4"])
    assert run([*EVALUATE, "-c", "answer_relevancy", "--baseline", "before.jsonl"]) == 2
    assert "a baseline of faithfulness" in capsys.readouterr().err
    assert run([*since, "--markdown", "before.jsonl"]) == 2


def test_claims_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*EVALUATE, "--show", "s3", "--show", "s1"]) == 0
    out = capsys.readouterr().out
    assert out.index("s1: When?") < out.index("s3: When?")
    assert "unscored: empty_context: contexts is empty" in out
    assert run([*EVALUATE, "--json", "--show", "worst"]) == 0
    printed = capsys.readouterr()
    json.loads(printed.out)
    assert printed.err.index("s2: When?") < printed.err.index("s1: When?")


def test_a_wrong_key_is_no_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = (401, {"error": {"code": "invalid_api_key", "message": "no such key"}})
    with ScriptedServer(lambda body, n: refused) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        asked = ["evaluate", "in.jsonl", "-j", "openai:m", "--no-store", "--junit", "j.xml"]
        assert run([*asked, "--min-score", "0.5"]) == 2
    suite = ET.parse("j.xml").getroot()[0]
    assert int(suite.get("errors", "0")) >= 1  # the file says it, too


def obeyed(line: str) -> bool:
    """Whether GitHub's runner, Azure's or TeamCity's takes a line for a command."""
    start = line.lstrip()
    is_command = start.startswith("::") and "::" in start[2:]
    return is_command or any(mark in line for mark in ("##[", "##vso[", "##teamcity["))


@pytest.mark.slow
def test_hostile_texts_command_no_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    # No file holds half a character.
    texts = [e.text for e in ALL if e.text.strip() and not re.search("[\ud800-\udfff]", e.text)]
    rows = [
        {"id": text, "question": text, "answer": f"{text} {ZEBRAS}", "contexts": [PASSAGE, text]}
        for text in texts
    ]
    write("in.jsonl", *rows)
    asked = ["--min-score", "0.99", "--show", "all", "--markdown", "c.md", "--junit", "j.xml"]
    assert run([*EVALUATE, *asked]) == 1
    printed = [capsys.readouterr()]
    assert run([*EVALUATE, "--json", "-c", "::add-mask::x"]) == 2
    assert run([*EVALUATE, "--markdown", "-"]) == 0
    assert run([*EVALUATE, "-o", "-"]) == 0
    assert run(["compare", "in.jsonl", *EVALUATE[2:], "--with", "none", "-o", "s", "-B", "9"]) == 0
    printed.append(capsys.readouterr())
    lines = [line for each in printed for line in f"{each.out}\n{each.err}".split("\n")]
    commands = [line for line in lines if obeyed(line)]
    assert 2 <= len(commands) <= 10
    assert all(line.startswith("::error title=TCVA") for line in commands)
    assert len(list(ET.parse("j.xml").getroot()[0].iter("testcase"))) == len(texts)


@pytest.mark.parametrize(
    "asked", [["--show", "all"], ["--markdown", "-"], ["-o", "-"], ["--min-score", "0.1"]]
)
def test_a_pipe_in_ascii_gets_everything(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write("in.jsonl", record(1, "Das Büro öffnet um neun. 打完针以后。", id="ü打"))
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert run([*EVALUATE, *asked]) in {0, 1}
    stream.seek(0)
    shown = stream.read()
    assert shown
    if asked == ["-o", "-"]:
        assert json.loads(shown)["sample_id"] == "ü打"


def test_a_comment_names_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    write("in.jsonl", record(1, contexts=[]))
    assert run([*EVALUATE, "--min-score", "0.5", "--markdown", "-"]) == 2
    comment = capsys.readouterr().out
    assert "- failed: `faithfulness: there is no mean score, and 0.5 is asked for`" in comment
    assert "| 0/1 | - | - | **no mean score** |" in comment
    assert "empty_context: contexts is empty" in comment


@pytest.mark.parametrize(
    "asked",
    [["--markdown", "a.x", "--junit", "a.x"], ["-o", "a.jsonl", "--junit", "./a.jsonl"]],
)
def test_one_file_is_for_one_thing(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*EVALUATE, *asked]) == 2
    said = capsys.readouterr()
    assert "give each a file of its own" in said.err
    assert said.out == ""
    assert not Path(asked[1]).exists()
