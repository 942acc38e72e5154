"""When a run ends early: after twenty equal failures without a success, and never by one."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.cli.app import run
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.runner.running import ENOUGH_FAILURES
from tests.deepeval.entry import hanging_up
from tests.llamaindex.entry import ScriptedLLM
from tests.support.server import (
    GARBAGE,
    WRONG_KEY,
    Answer,
    Body,
    Script,
    ScriptedServer,
    auto_judge,
    error,
)
from tests.test_faults import LLMS

SIZE = 1500
NOBODY = "http://127.0.0.1:9/v1"
"""An address where nobody listens."""

OLLAMA = error(404, "model 'llama9' not found, try pulling it first")

OUTAGES: dict[str, tuple[Answer, str]] = {
    "401": (WRONG_KEY, "check OPENAI_API_KEY"),
    "402": (error(402, "Pay first."), "no credit left"),
    "403": (error(403, "Not yours."), "does not have the rights"),
    "unknown model": (OLLAMA, "check the name"),
    "HTML": (GARBAGE, "check base_url"),
    "wrong content type": (
        Answer('{"hello": 1}', headers={"Content-Type": "text/plain"}),
        "check base_url",
    ),
    "empty choices": (Answer({"choices": []}), "check base_url"),
    "no text": (
        Answer({"choices": [{"message": {"content": ""}}]}),
        "the reply is empty",
    ),
    "400": (error(400, "Bad request."), "answered 400"),
    "429": (error(429, "Slow down."), "requests_per_minute"),
    "500": (error(500, "Out of order."), "answered 500"),
}

Face = Callable[[TCVA, list[Sample]], list[Result]]

FACES: dict[str, Face] = {
    "many": lambda tcva, samples: tcva.evaluate_many(samples),
    "awaited": lambda tcva, samples: asyncio.run(tcva.aevaluate_many(samples)),
    "one by one": lambda tcva, samples: [*tcva.iter_evaluate(samples)],
}


def samples(size: int = SIZE) -> list[Sample]:
    texts = [f"Door {n} opens at nine." for n in range(size)]
    return [
        Sample(id=str(n), response=text, contexts=[text])
        for n, text in enumerate(texts)
    ]


def judged(
    url: str, face: Face, *, concurrency: int = 8, **settings: Any
) -> list[Result]:
    model = OpenAICompatibleModel(
        "m", base_url=url, api_key="key", **{"max_retries": 0, **settings}
    )
    return face(TCVA(judge=model, max_concurrency=concurrency, share=False), samples())


def check_ended(results: list[Result], says: str) -> None:
    """All are there, none has a score, and the last one says how the run ended, and the way out."""
    assert len(results) == SIZE
    reasons = [result.unscored for result in results]
    assert None not in reasons
    asked = [not why.detail.startswith("not asked") for why in reasons if why]
    assert ENOUGH_FAILURES <= sum(asked) <= ENOUGH_FAILURES + 64
    last = reasons[-1]
    assert last is not None
    assert last.detail.startswith("not asked, after 20 failures like this: ")
    assert says in last.detail


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
@pytest.mark.parametrize("place", [1, 2, 8])
def test_one_refusal_among_the_first_calls_costs_one_sample(
    place: int, face: Face
) -> None:
    def script(body: Body, number: int) -> Any:
        return WRONG_KEY if number == place else auto_judge(body, number)

    with ScriptedServer(script) as server:
        results = judged(server.base_url, face)
        assert server.count == SIZE
    assert sum(result.score is not None for result in results) == SIZE - 1


@pytest.mark.parametrize(("answer", "says"), OUTAGES.values(), ids=OUTAGES)
@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_an_outage_costs_twenty_calls(
    answer: Answer, says: str, concurrency: int
) -> None:
    faces = (
        [FACES["awaited"], FACES["one by one"]] if concurrency == 8 else [FACES["many"]]
    )
    for face in faces:
        with ScriptedServer(lambda *_: answer) as server:
            results = judged(server.base_url, face, concurrency=concurrency)
            assert ENOUGH_FAILURES <= server.count < ENOUGH_FAILURES + concurrency
        check_ended(results, says)


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_a_wrong_address_costs_twenty_calls(face: Face) -> None:
    check_ended(judged(NOBODY, face), "check OPENAI_BASE_URL or base_url")


@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_texts_that_are_too_long_for_the_model_say_nothing_of_others(
    concurrency: int,
) -> None:
    def script(body: Body, number: int) -> Any:
        is_long = number <= 2 * ENOUGH_FAILURES
        too_long = error(400, "8192 tokens", code="context_length_exceeded")
        return too_long if is_long else auto_judge(body, number)

    with ScriptedServer(script) as server:
        results = judged(server.base_url, FACES["many"], concurrency=concurrency)
    reasons = [result.unscored.reason for result in results if result.unscored]
    assert reasons == ["invalid_input"] * 2 * ENOUGH_FAILURES


def test_repeated_requests_count_as_one_call() -> None:
    with ScriptedServer(lambda *_: error(500, "x", retry_after=0.01)) as server:
        check_ended(
            judged(server.base_url, FACES["many"], max_retries=2), "3 requests sent"
        )
        assert 3 * ENOUGH_FAILURES <= server.count < 3 * (ENOUGH_FAILURES + 8)


def test_calls_that_take_too_long_end_a_run() -> None:
    with ScriptedServer(lambda *_: Answer(delay=5)) as server:
        results = judged(server.base_url, FACES["many"], timeout=0.1, concurrency=16)
        assert server.count <= ENOUGH_FAILURES + 16
    check_ended(results, "raise timeout")


@pytest.mark.parametrize("later", [error(403, "Not yours."), GARBAGE, error(500, "x")])
def test_after_a_success_a_run_goes_on(later: Answer) -> None:
    def script(body: Body, number: int) -> Any:
        return later if 3 < number < 200 else auto_judge(body, number)

    with ScriptedServer(script) as server:
        results = judged(server.base_url, FACES["many"])
        assert server.count == SIZE
    assert sum(result.score is not None for result in results) == SIZE - 196


def test_samples_without_a_call_are_no_success() -> None:
    empty = [Sample(id=f"e{n}", response=" ", contexts=["c"]) for n in range(30)]
    with ScriptedServer(lambda *_: GARBAGE) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, max_retries=0)
        results = TCVA(judge=model, share=False).evaluate_many(empty + samples(400))
        assert server.count < ENOUGH_FAILURES + 8
    assert [result.unscored.reason for result in results[:30] if result.unscored] == [
        "empty_response"
    ] * 30


def refusing(_: str) -> str:
    msg = "Connection refused"
    raise ConnectionRefusedError(msg)


@pytest.mark.parametrize(
    "face", [FACES["many"], FACES["awaited"]], ids=["many", "awaited"]
)
@pytest.mark.parametrize("name", [*LLMS, "llamaindex"])
def test_llms_of_frameworks_end_a_run_too(name: str, face: Face) -> None:
    def ended(llm: Any) -> list[Result]:
        return face(TCVA(judge=llm, max_concurrency=8, share=False), samples(300))

    if name == "llamaindex":
        results = ended(ScriptedLLM(reply=refusing))
        assert sum("not asked" not in result.reason for result in results) <= 28
        return
    for answer in (WRONG_KEY, GARBAGE):
        with ScriptedServer(hanging_up(lambda *_, answer=answer: answer)) as server:
            results = ended(LLMS[name](server.base_url))
            # RAGAS and DeepEval repeat requests by themselves, up to four times.
            assert ENOUGH_FAILURES <= server.count < 4 * (ENOUGH_FAILURES + 8)
        asked = [
            "not asked" not in result.reason for result in results if result.unscored
        ]
        assert (len(asked), sum(asked) < ENOUGH_FAILURES + 8) == (300, True)
    once = hanging_up(lambda body, n: WRONG_KEY if n == 3 else auto_judge(body, n))
    with ScriptedServer(once) as server:
        results = ended(LLMS[name](server.base_url))
        assert sum(result.score is not None for result in results) == 299


# Commands


def command(
    *arguments: str, script: Script, path: Path, url: str = ""
) -> tuple[int, int]:
    """A command's exit code, and how many calls came."""
    with ScriptedServer(script) as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        patch.setenv("OPENAI_API_KEY", "key")
        patch.setenv("OPENAI_BASE_URL", url or server.base_url)
        code = run([*arguments, "--judge", "openai:m", "--set", "max-retries=0"])
        return code, server.count


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    rows = [
        {"question": "When?", **s.model_dump(include={"id", "response", "contexts"})}
        for s in samples(400)
    ]
    (tmp_path / "in.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), encoding="utf-8"
    )
    return tmp_path


def test_evaluate_says_how_it_ended_and_goes_on(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate = ("evaluate", "in.jsonl", "-o", "out.jsonl")

    def out_of_credit(body: Body, number: int) -> Any:
        return auto_judge(body, number) if number <= 100 else error(402, "Pay first.")

    code, calls = command(*evaluate, script=lambda *_: GARBAGE, path=path)
    text = " ".join(capsys.readouterr().out.split())
    assert (code, calls < ENOUGH_FAILURES + 8) == (2, True)
    assert (
        "0 of 400 samples judged, 400 failed (judge_error); the same command asks only"
        in text
    )
    assert "not asked, after 20 failures like this: the reply of http" in text
    assert "check base_url" in text
    code, calls = command(*evaluate, script=out_of_credit, path=path)
    text = " ".join(capsys.readouterr().out.split())
    assert (code, calls <= 100 + 3 * ENOUGH_FAILURES) == (
        3,
        True,
    )  # a late success begins anew
    assert "100 of 400 samples judged, 300 failed (judge_error)" in text
    assert "no credit left" in text


def test_the_same_command_asks_only_for_the_rest(path: Path) -> None:
    evaluate = ("evaluate", "in.jsonl", "-o", "out.jsonl")
    with ScriptedServer(
        lambda body, n: WRONG_KEY if n == 2 else auto_judge(body, n)
    ) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(path)
            patch.setenv("OPENAI_API_KEY", "key")
            patch.setenv("OPENAI_BASE_URL", server.base_url)
            codes = [run([*evaluate, "--judge", "openai:m"]) for _ in range(2)]
        assert (codes, server.count) == ([3, 0], 401)


def test_compare_asks_twenty_times(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare = (
        "compare",
        "in.jsonl",
        "-o",
        "out",
        "--metrics",
        "ragas.faithfulness,deepeval.faithfulness",
    )
    code, calls = command(*compare, script=lambda *_: GARBAGE, path=path)
    assert (code, calls < ENOUGH_FAILURES + 8) == (2, True)
    assert "The run ended early" in " ".join(capsys.readouterr().out.split())


def test_a_batch_asks_once(path: Path) -> None:
    submit = ("batch", "submit", "in.jsonl", "--store", "v.sqlite", "-o", "july")
    code, calls = command(*submit, script=lambda *_: GARBAGE, path=path)
    assert (code, calls) == (2, 1)
