"""What judging will cost, against what it then costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.cli.app import run
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import JudgeRequest, ModelReply
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.scale import estimate
from tests.support.lexical_server import lexical_reply
from tests.support.one_word import one_word
from tests.support.server import ScriptedServer

SAMPLES = [Sample.from_record(json.loads(line)) for line in sample_lines()]
URL = "http://127.0.0.1:1/v1"


class Counting:
    """Answers like a good model, and counts what it is asked."""

    name = "counting"
    parameters: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.calls = self.prompts = 0

    def complete(self, request: JudgeRequest) -> ModelReply:
        self.calls += 1
        self.prompts += len((request.system + request.user).encode())
        if request.schema_name == "ccrs_score":
            return ModelReply('{"score": 50}')
        return ModelReply(lexical_reply(request.user) or "")

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


@pytest.mark.parametrize(
    "scorer_of", [lambda judge: TCVA(judge=judge), lambda judge: CCRS(("qr", "ir"), judge=judge)]
)
def test_calls_and_prompts_are_those_that_are_then_made(scorer_of: Any) -> None:
    model = Counting()
    scorer = scorer_of(model)
    found = estimate(scorer, SAMPLES, prices=(2.0, 8.0), requests_per_minute=30)
    assert model.calls == 0
    scorer.changed(share=False).evaluate_many(SAMPLES)
    # Equal questions are asked once, and the estimate does not look for them.
    assert 0 <= found.calls - model.calls <= 2
    assert found.prompt_tokens == pytest.approx(model.prompts / 4, rel=0.03)
    cost = (found.prompt_tokens * 2 + found.completion_tokens * 8) / 1e6
    assert found.cost == pytest.approx(cost)
    assert found.seconds == found.calls * 2


def test_what_the_store_has_costs_nothing(tmp_path: Path) -> None:
    model = Counting()
    tcva = TCVA(judge=model, store=VerdictStore(tmp_path / "store"))
    scored = [sample for sample in SAMPLES if sample.contexts and sample.response][:20]
    tcva.evaluate_many(scored[:15])
    found = estimate(tcva, scored)
    assert (found.cached, found.calls) == (15, 5)


def test_many_samples_are_drawn_from() -> None:
    one = next(sample for sample in SAMPLES if sample.contexts and sample.response)
    found = estimate(TCVA(judge=Counting()), (one for _ in range(2000)))
    assert (found.samples, found.looked_at, found.calls) == (2000, 500, 2000)
    assert "500 samples drawn at random" in str(found).replace("\n", " ")


def test_a_judge_that_is_not_ours_is_not_guessed_at() -> None:
    class Other(LexicalJudge):
        is_local = False

    with pytest.raises(InvalidValueError, match="cannot be estimated"):
        estimate(TCVA(judge=Other()), SAMPLES[:1])


def test_the_command_asks_nothing_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", URL)
    Path("in.jsonl").write_text("\n".join(sample_lines()), encoding="utf-8")
    common = ["in.jsonl", "--judge", "openai:m", "--estimate", "--json"]
    assert run(["evaluate", *common, "--prices", "1,4", "--latency", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] == len(SAMPLES)
    assert 0 < found["calls"] <= len(SAMPLES)
    assert found["cost"] > 0
    assert found["seconds"] == found["calls"] * 2 / 8
    assert run(["evaluate", *common, "--latency", "2", "--workers", "4"]) == 0
    assert json.loads(capsys.readouterr().out)["seconds"] == found["seconds"]
    assert run(["ccrs", *common, "--rate", "60"]) == 0
    assert json.loads(capsys.readouterr().out)["limited_by"] == "at 60 requests per minute"
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("command", ["evaluate", "ccrs"])
def test_the_lexical_judge_is_estimated_too(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(sample_lines()), encoding="utf-8")
    arguments = [command, str(file), "--judge", "lexical", "--estimate"]
    assert run(arguments) == 0
    assert f"{len(SAMPLES)} samples: 0 calls" in capsys.readouterr().out
    assert run([*arguments, "--prices", "1,4"]) == 2
    assert "--prices: these are for a model" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        ["--group", "document"],
        ["--baseline", "before.jsonl"],
    ],
)
def test_what_looks_at_results_is_refused_on_ray(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(sample_lines()), encoding="utf-8")
    out = ["--out", str(tmp_path / "out")]
    assert run(["evaluate", str(file), "--judge", "lexical", "--ray", *out, *more]) == 2
    said = capsys.readouterr().err
    assert any(f"{option}: not with --ray" in said for option in more[::2])


@pytest.mark.parametrize("command", ["evaluate", "ccrs"])
def test_an_estimate_needs_no_key(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.invalid/v1")
    file = tmp_path / "in.jsonl"
    file.write_text("\n".join(sample_lines()), encoding="utf-8")
    arguments = [command, str(file), "--judge", "openai:m"]
    assert run([*arguments, "--estimate"]) == 0
    assert "calls" in capsys.readouterr().out
    assert run([*arguments, "--no-store"]) == 2
    assert "no API key" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "cached"), [([], 1), (["--no-store"], 0), (["--ray"], 0)])
def test_a_store_that_the_run_does_not_use_is_not_counted(
    more: list[str],
    cached: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", URL)
    sample = next(each for each in SAMPLES if each.contexts and each.response)
    Path("in.jsonl").write_text(sample.model_dump_json(exclude_none=True), encoding="utf-8")
    monkeypatch.setattr("tcva_adapters.cli.options.DEFAULT_STORE", Path("kept.sqlite"))
    VerdictStore(Path("kept.sqlite"))
    monkeypatch.setattr("tcva_adapters.scale.cost._answer", _from_store)
    assert run(["evaluate", "in.jsonl", "-j", "openai:m", "--estimate", "--json", *more]) == 0
    assert json.loads(capsys.readouterr().out)["cached"] == cached


def _from_store(scorer: Any, question: Any, ledger: Any) -> Any:
    """As if a store had everything that is looked up in it."""
    ledger.cached += scorer.store is not None
    question.judge = LexicalJudge()
    return question.ask()


def test_answers_of_one_word_are_estimated_by_their_calls() -> None:
    with ScriptedServer(one_word) as server:
        scorer = TCVA(judge=OpenAICompatibleModel("m", base_url=server.base_url), verdicts="yes_no")
        found = estimate(scorer, SAMPLES[:6])
        assert not server.count
        results = scorer.evaluate_many(SAMPLES[:6])
    assert sum(result.usage.calls for result in results) == found.calls
