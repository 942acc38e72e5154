"""A baseline's answers that vanish: gates, exit codes, JUnit, Markdown and the report agree on them."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import clear_shared
from tcva_adapters.cli.app import run
from tests.support.server import Body, ScriptedServer, auto_judge, error

SIZE, KEPT = 20, 2
Rows = list[dict[str, Any]]


def rows() -> Rows:
    texts = [f"Door {n} opens at nine." for n in range(SIZE)]
    return [
        {"id": f"s{n}", "question": "?", "answer": t, "contexts": [t]}
        for n, t in enumerate(texts)
    ]


def all_but_two(**fields: Any) -> Callable[[Rows], Rows]:
    return lambda given: given[:KEPT] + [{**row, **fields} for row in given[KEPT:]]


def renamed(given: Rows) -> Rows:
    return given[:KEPT] + [{**row, "id": f"new-{row['id']}"} for row in given[KEPT:]]


LOST: dict[str, Callable[[Rows], Rows]] = {
    "gone": lambda given: given[:KEPT],
    "empty": all_but_two(answer=""),
    "blanks": all_but_two(answer=" \n\t\u00a0"),
    "too long": all_but_two(answer="Doors open. " * 30),
    "no contexts": all_but_two(contexts=[]),
    "blank contexts": all_but_two(contexts=["", " "]),
    "refusals": all_but_two(answer="I'm sorry, I cannot answer that."),
    "greetings": all_but_two(answer="Hello!"),
    "renamed": renamed,
    "duplicates": lambda given: [given[0]] * (SIZE - 1) + [given[1]],
    "in another order": lambda given: given[:KEPT][::-1],
}
ALLOWED = {
    "the same": lambda given: given,
    "another order": lambda given: given[::-1],
    "more": lambda given: [*given, {**given[0], "id": "another"}],
    "one that never had a score": lambda given: [
        *given,
        {**given[0], "id": "empty", "answer": ""},
    ],
}

JUDGE = (
    "--judge",
    "openai:m",
    "--set",
    "max-claims=24",
    "--set",
    "max-retries=0",
    "--store",
    "none",
)


def evaluated(given: Rows, *arguments: str) -> int:
    Path("in.jsonl").write_text("\n".join(map(json.dumps, given)), encoding="utf-8")
    clear_shared()
    return run(["evaluate", "in.jsonl", *JUDGE, *arguments])


@pytest.fixture(autouse=True, name="server")
def _server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert (
            evaluated(
                [*rows(), {**rows()[0], "id": "empty", "answer": ""}],
                "-o",
                "base.jsonl",
            )
            == 0
        )
        yield server


@pytest.mark.parametrize("changed", LOST.values(), ids=LOST)
def test_answers_that_vanish_close_a_gate_on_change(
    changed: Callable[[Rows], Rows], capsys: pytest.CaptureFixture[str]
) -> None:
    gates = (
        "--gate",
        "change>=-0.02",
        "--gate",
        "coverage>=0.05",
        "--baseline",
        "base.jsonl",
    )
    files = ("--junit", "j.xml", "--markdown", "m.md", "--report", "r.html", "--json")
    assert evaluated(changed(rows()), *gates, *files) == 1
    tables = json.loads(capsys.readouterr().out)["tables"]
    (failed,) = [gate for gate in tables["gates"] if not gate["passed"]]
    lost = SIZE - KEPT
    counted = SIZE
    assert failed["figure"] == "change"
    assert failed["value"] == pytest.approx(-lost / counted)
    assert tables["changes"][0]["newly_fail"] == lost
    assert len({each["sample"] for each in tables["newly fail"]}) == lost
    suites = ET.parse("j.xml").getroot()
    assert suites.find(".//testcase[@name='faithfulness: change']/failure") is not None
    comment = Path("m.md").read_text(encoding="utf-8")
    assert comment.startswith("**Gates failed**")
    assert f"Newly fail: {lost}" in comment
    assert "change" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("changed", ALLOWED.values(), ids=ALLOWED)
def test_a_run_that_lost_no_score_passes_a_gate_on_change(
    changed: Callable[[Rows], Rows],
) -> None:
    gates = (
        "--gate",
        "change>=0",
        "--gate",
        "coverage>=0.9",
        "--baseline",
        "base.jsonl",
    )
    assert evaluated(changed(rows()), *gates) == 0


@pytest.mark.parametrize("answer", [None, 7])
def test_an_answer_that_is_no_text_closes_a_gate_on_change(answer: object) -> None:
    gates = ("--gate", "change>=-0.02", "--baseline", "base.jsonl")
    assert evaluated(all_but_two(answer=answer)(rows()), *gates) in {1, 2}
    assert evaluated(all_but_two(answer=answer)(rows()), *gates, "--skip-bad") == 1


def test_a_judge_that_fails_is_no_lost_answer(server: ScriptedServer) -> None:
    def failing(body: Body, number: int) -> Any:
        hit = any(f"Door {n} " in json.dumps(body) for n in range(5))
        return error(400, "Bad request.") if hit else auto_judge(body, number)

    server.script = failing
    change = ("--baseline", "base.jsonl", "--gate", "change>=-0.02")
    assert evaluated(rows(), "--baseline", "base.jsonl") == 3
    assert (
        evaluated(rows(), *change) == 1
    )  # the judge failed, and no gate on coverage allows it
    assert evaluated(rows(), *change, "--gate", "coverage>=0.7") == 0


def test_answers_that_are_too_long_stay_in_the_denominator(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = LOST["too long"](rows())
    coverage = ("--gate", "coverage>=0.05", "--json")
    for gate in ("pass_rate>=0.5", "mean>=0.5"):
        assert evaluated(given, "--gate", gate, *coverage) == 1
        (failed,) = [
            g
            for g in json.loads(capsys.readouterr().out)["tables"]["gates"]
            if not g["passed"]
        ]
        assert failed["value"] == pytest.approx(KEPT / SIZE)
    assert evaluated(given, "--gate", "coverage>=0.5") == 1
    assert evaluated(given, "--gate", "mean>=0") == 1
