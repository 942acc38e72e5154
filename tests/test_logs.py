"""What a run writes to the log of the application: what happened, and no text or key."""

import asyncio
import logging
from pathlib import Path

import pytest

from tcva_adapters import TCVA, Sample, clear_shared
from tests.support.server import (
    Answer,
    ScriptedServer,
    auto_judge,
    error,
    lacking,
    reply,
)

KEY = "sk-" + "a1" * 20
QUESTION, ANSWER, CONTEXT = (
    "When does it open?",
    "The office opens at nine.",
    "The office opens at nine. Ask Ms Lund.",
)
SAMPLE = Sample(id="s1", input=QUESTION, response=ANSWER, contexts=[CONTEXT])


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Level and message of each record of the package; no record has a text of the sample or the key."""
    records = [
        record for record in caplog.records if record.name.startswith("tcva_adapters")
    ]
    for record in records:
        message = record.getMessage()
        for secret in (
            QUESTION,
            ANSWER,
            CONTEXT,
            "Lund",
            "opens",
            "Stated",
            KEY,
            "sk-",
        ):
            assert secret not in message
            assert secret not in repr(record.args)
        assert record.exc_info is None
    return [(record.levelname, record.getMessage()) for record in records]


def judge_of(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    return "openai:m"


def test_a_run_tells_of_calls_retries_refusals_and_what_was_cached(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def script(body: dict[str, object], number: int) -> Answer | str:
        if number == 1:
            return error(503, f"busy: {ANSWER} {KEY}", retry_after=0.01)
        return then(body, number)  # type: ignore[return-value]  # an answer or a text

    then = lacking("seed", then=auto_judge)
    with ScriptedServer(script) as server, caplog.at_level(logging.DEBUG):
        tcva = TCVA(
            judge=judge_of(server, monkeypatch), store=tmp_path / "store.sqlite"
        )
        assert tcva.evaluate(SAMPLE).score == 1.0
        assert (
            tcva.changed(store=None, temperature="strict").evaluate(SAMPLE).score == 1.0
        )
        clear_shared()
        assert asyncio.run(tcva.aevaluate(SAMPLE)).assessment.from_store
    url = server.base_url
    assert lines(caplog) == [
        ("DEBUG", "0 of 1 judgements are in the store"),
        ("INFO", f"{url} refuses seed; the request is sent again without it"),
        ("DEBUG", "openai:m replied after 2 retries"),
        ("DEBUG", "a judgement of another evaluator is shared"),
        ("DEBUG", "1 of 1 judgements are in the store"),
    ]


def test_failures_are_warned_of_once_a_run_and_reason(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(_: dict[str, object], number: int) -> Answer:
        return (
            reply(f"I cannot say: {ANSWER}")
            if number % 2
            else error(400, f"{KEY} {CONTEXT}")
        )

    samples = [
        SAMPLE.model_copy(update={"contexts": (f"{CONTEXT} {n}",)}) for n in range(6)
    ]
    with ScriptedServer(script) as server, caplog.at_level(logging.INFO):
        tcva = TCVA(judge=judge_of(server, monkeypatch), max_concurrency=1)
        results = tcva.evaluate_many(samples, progress=False)
    reasons = {result.unscored.reason for result in results if result.unscored}
    told = lines(caplog)
    assert [line for line in told if line[0] == "WARNING"] == [
        ("WARNING", f"a judgement failed: {reason}")
        for reason in dict.fromkeys(r.split(": ")[1] for _, r in told)
    ]
    assert len(told) == len(samples)
    assert {line.split(": ")[1] for _, line in told} == {
        reason.value for reason in reasons
    }


def test_without_a_configuration_nothing_is_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])
    with ScriptedServer(lambda *_: error(400, "no")) as server:
        assert TCVA(judge=judge_of(server, monkeypatch)).evaluate(SAMPLE).unscored
    assert capsys.readouterr() == ("", "")
