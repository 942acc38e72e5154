"""How a model as judge is called, from the command line; and what a run that stops early says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.cli.app import run
from tcva_adapters.compare.running.judges import framework_models
from tcva_adapters.judges.resolve import resolve_judge
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.one_word import one_word
from tests.support.server import (
    WRONG_KEY,
    Answer,
    ScriptedServer,
    auto_judge,
    error,
    later,
    reply,
)

RECORD = {
    "input": "When does the office open?",
    "response": "The office opens at nine.",
    "contexts": ["The office opens at nine. Parking is free."],
}
EVALUATE = ("evaluate", "in.jsonl", "--judge", "openai:m")
CCRS = ("ccrs", "in.jsonl", "--judge", "openai:m", "--metrics", "qr")
COMPARE = ("compare", "in.jsonl", "--judge", "openai:m", "--with", "langchain", "--out", "side")
DOCTOR = ("doctor", "--judge", "openai:m")
commands = pytest.mark.parametrize("command", [EVALUATE, CCRS, COMPARE], ids=lambda c: str(c[0]))


def _judge(body: dict[str, Any], n: int) -> str:
    return "85" if "CLAIM 1" not in body["messages"][-1]["content"] else auto_judge(body, n)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.chdir(tmp_path)
    records = [{**RECORD, "id": str(n), "input": f"{RECORD['input']} ({n})"} for n in range(3)]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    with ScriptedServer(_judge) as found:
        monkeypatch.setenv("OPENAI_BASE_URL", found.base_url)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        yield found


@pytest.mark.slow
@commands
def test_a_judges_time_and_retries_are_set(
    command: tuple[str, ...], server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = later(30.0, _judge)
    assert run([*command, "--judge-timeout", "1", "--retries", "0", "--max-concurrency", "3"]) in (
        0,
        2,
    )
    said = capsys.readouterr()
    assert "within 1 s" in said.out + said.err or "timeout" in said.out + said.err


@pytest.mark.parametrize("command", [EVALUATE, CCRS], ids=lambda c: str(c[0]))
def test_prices_fill_in_costs(
    command: tuple[str, ...], server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--prices", "2,8", "--rate", "60000", "--json"]) == 0
    # 3 calls of 10 and 5 tokens at 2 and 8 per million: 3 * (20 + 40) / 1e6.
    usage = json.loads(capsys.readouterr().out)["usage"]
    assert (usage["calls"], usage["cost"]) == (server.count, pytest.approx(180e-6))


def test_retries_are_counted_down_to_none(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = lambda *_: error(503, "Busy.", retry_after=0.01)
    assert run([*EVALUATE, "--retries", "1"]) == 2
    assert "2 requests sent" in capsys.readouterr().err
    assert server.count == 6


def test_they_hold_for_fused_and_panel_judges_too(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    lexical = ["evaluate", "in.jsonl", "--json", "--prices", "2,8", "--no-store"]
    assert run([*lexical, "--fuse", "openai:m"]) == 0
    assert run([*lexical, "--panel", "openai:m"]) == 0
    assert capsys.readouterr().out.count('"cost": 0.00018') == 2
    assert server.count == 6


@pytest.mark.parametrize("name", ["evaluate", "ccrs", "compare"])
@pytest.mark.parametrize("option", ["--judge-timeout", "--retries", "--rate"])
def test_a_lexical_judge_has_none_of_them(
    name: str, option: str, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", "side", "--with", "none"] if name == "compare" else []
    assert run([name, "in.jsonl", *out, option, "7"]) == 2
    assert f"{option}: these are for a model as judge" in capsys.readouterr().err
    assert server.count == 0


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("--prices", "5"), "two numbers"),
        (("--prices", "a,b"), "not a list of numbers"),
        (("--rate", "0"), "--rate=0.0; it should"),
        (("--judge-timeout", "-1"), "--judge-timeout=-1.0; it should"),
        (("--retries", "-1"), "--retries=-1; it should"),
    ],
)
def test_values_that_cannot_be_used_are_refused(
    typed: tuple[str, ...], says: str, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*EVALUATE, *typed]) == 2
    assert says in capsys.readouterr().err
    assert server.count == 0


@commands
@pytest.mark.parametrize(
    ("answer", "proof"),
    [
        (WRONG_KEY, "answered 401"),
        (error(402, "Pay."), "answered 402"),
    ],
    ids=["401", "402"],
)
def test_a_run_that_stops_early_says_what_proved_it(
    command: tuple[str, ...],
    answer: Answer,
    proof: str,
    server: ScriptedServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.script = lambda *_: answer
    assert run([*command, "--max-concurrency", "1"]) == 2
    assert proof in " ".join(capsys.readouterr().err.split())
    assert server.count <= 2


def test_one_refused_sample_stops_no_command(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(body: dict[str, Any], n: int) -> Any:
        is_odd = "(0)" in body["messages"][-1]["content"]
        return error(403, "blocked") if is_odd else reply(_judge(body, n))

    server.script = script
    assert run([*CCRS, "--json", "--max-concurrency", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["qr"]["scored"] == 2


def test_the_models_of_a_comparison_share_limits_and_learn_for_themselves() -> None:
    model = OpenAICompatibleModel("m", base_url="http://localhost:1/v1", requests_per_minute=7)
    models = framework_models(resolve_judge(model))
    assert models is not None
    ragas, deepeval = models("ragas"), models("deepeval")
    assert ragas is models("ragas")
    assert ragas is not deepeval
    assert isinstance(ragas, OpenAICompatibleModel)
    assert vars(ragas)["connection"] is vars(deepeval)["connection"]


def test_what_a_fused_model_said_is_cached_beside_a_judge_that_costs_nothing(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["evaluate", "in.jsonl", "--fuse", "openai:m"]
    assert run(asked) == 0
    assert "verdicts are cached in" in capsys.readouterr().err
    assert run(asked) == 0
    assert server.count == 3


def test_the_form_of_verdicts_is_chosen(server: ScriptedServer) -> None:
    server.script = one_word
    assert run([*EVALUATE, "--verdicts", "yes_no", "--out", "judged.jsonl"]) == 0
    lines = Path("judged.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["form"] for line in lines] == ["yes_no"] * 3
    assert all(body["logprobs"] is True for body in server.bodies)


def test_a_comparison_takes_the_form_too(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script = one_word
    compare = ("compare", "in.jsonl", "--judge", "openai:m", "--with", "none", "--out", "side")
    assert run([*compare, "--verdicts", "yes_no"]) == 0
    assert any("yes or no" in str(body["messages"]) for body in server.bodies)
    assert capsys.readouterr().out
