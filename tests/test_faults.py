"""Every mode of the fault server: it costs the sample that meets it, and no other one."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from deepeval.models import LocalModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from ragas.llms import llm_factory

from benchmarks.attacks import interrupted_run
from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.runner.running import ENOUGH_FAILURES
from tests.deepeval.entry import hanging_up
from tests.support.faults import MODES, FaultServer, Mode, for_prompts
from tests.support.scripted import ScriptedModel, verdict_json
from tests.support.server import ScriptedServer, auto_judge, error

N = 5
TIMEOUT = 2.0
"""Seconds; long enough for a good answer on a busy machine."""


def samples(hit: int) -> list[Sample]:
    """One of them holds the word that the server stumbles over."""
    texts = [f"Note {i} says that door {i} opens at nine" for i in range(N)]
    texts = [f"{t}{' near the rock' * (i == hit)}." for i, t in enumerate(texts)]
    return [
        Sample(id=str(i), response=text, contexts=(text,))
        for i, text in enumerate(texts)
    ]


def judged(
    mode: Mode, hit: int, *, concurrency: int, asynchronous: bool
) -> list[Result]:
    with FaultServer(auto_judge, for_prompts({"near the rock": mode.name})) as server:
        model = OpenAICompatibleModel(
            "m",
            base_url=server.base_url,
            timeout=TIMEOUT if mode.name in ("hang", "drip", "endless") else 20.0,
            max_retries=0,
        )
        tcva = TCVA(judge=model, max_concurrency=concurrency, share=False)
        if asynchronous:
            return asyncio.run(tcva.aevaluate_many(samples(hit)))
        return tcva.evaluate_many(samples(hit))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [m.name for m in MODES.values() if m.expected != "stop"]
)
def test_a_fault_costs_its_own_sample_alone(name: str) -> None:
    mode = MODES[name]
    for hit, asynchronous, concurrency in ((0, False, 8), (N - 1, True, 1)):
        results = judged(mode, hit, concurrency=concurrency, asynchronous=asynchronous)
        others = [r.score for i, r in enumerate(results) if i != hit]
        assert others == [1.0] * (N - 1)
        met = results[hit]
        if mode.expected == "scored":
            assert met.score == 1.0, met.reason
        else:
            assert met.score is None
            assert met.unscored is not None
            assert not met.unscored.fatal
            assert met.unscored.detail
            assert len(met.unscored.detail) < 700


@pytest.mark.parametrize(
    "name", [m.name for m in MODES.values() if m.expected == "stop"]
)
def test_twenty_failures_without_a_success_spare_the_rest(name: str) -> None:
    with FaultServer(auto_judge, lambda _body, _attempt: name) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, max_retries=0)
        many = [sample for hit in range(10) for sample in samples(hit)]
        results = TCVA(judge=model, max_concurrency=1, share=False).evaluate_many(many)
        assert server.count == ENOUGH_FAILURES
    assert all(r.unscored is not None and r.unscored.fatal for r in results)


def ends(refused: set[int], *, asynchronous: bool) -> tuple[list[bool], list[bool]]:
    """Which of 60 samples have a score, and which others were spared, where so many calls fail."""
    wrong_key = JudgeError("the key is not valid", reason="authentication", fatal=True)
    reply = verdict_json((1, "fully", "opens at nine"))
    model = ScriptedModel([wrong_key if i in refused else reply for i in range(1, 61)])
    tcva = TCVA(judge=model, max_concurrency=1)
    text = "It opens at nine."
    many = [
        Sample(id=str(i), response=text, contexts=(f"{i}: {text.lower()}",))
        for i in range(60)
    ]
    results = (
        asyncio.run(tcva.aevaluate_many(many))
        if asynchronous
        else tcva.evaluate_many(many)
    )
    stopped = [
        result.unscored is not None and result.unscored.fatal for result in results
    ]
    return [result.score is not None for result in results], stopped


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_key_that_has_just_worked_costs_one_sample(asynchronous: bool) -> None:
    scored, fatal = ends({21}, asynchronous=asynchronous)
    assert [i for i, has in enumerate(scored) if not has] == [20]
    assert not any(fatal)
    scored, fatal = ends({21, 22, 24, 25}, asynchronous=asynchronous)
    assert (scored.count(False), any(fatal)) == (4, False)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_twenty_refusals_in_a_row_end_the_run_and_one_never_does(
    asynchronous: bool,
) -> None:
    scored, fatal = ends({*range(21, 41)}, asynchronous=asynchronous)
    assert scored == [True] * 20 + [False] * 40
    assert fatal == [False] * 40 + [True] * 20
    for refused in ({1}, {*range(1, 20)}, {*range(21, 40)}):
        scored, fatal = ends(refused, asynchronous=asynchronous)
        assert scored.count(False) == len(refused)
        assert not any(fatal[19:])


@pytest.mark.slow
def test_killed_and_started_again(tmp_path: Path) -> None:
    figures = interrupted_run(tmp_path, samples=60, times=2)
    assert figures["stored verdicts that were asked again"] == 0
    assert figures["results lost"] == figures["results without a score"] == 0
    assert figures["stored at the last kill"] > 0
    assert (
        figures["under way at one of the kills"]
        <= figures["most that can be under way"]
    )


KEY = "given-by-hand-0123456789"
"""It looks like none of the keys that are known by their looks."""

TEXT = "The office opens at nine."
SAMPLE = Sample(response=TEXT, contexts=(TEXT,))
SAID = {
    "claim": 1,
    "evidence": TEXT,
    "passage": 1,
    "reason": f"by {KEY}",
    "verdict": "fully",
}

LLMS: dict[str, Callable[[str], Any]] = {
    "langchain": lambda url: ChatOpenAI(
        model="m", api_key=SecretStr(KEY), base_url=url, max_retries=0
    ),
    "ragas": lambda url: llm_factory(
        "m", client=openai.OpenAI(api_key=KEY, base_url=url, max_retries=0)
    ),
    "deepeval": lambda url: LocalModel(model="m", api_key=KEY, base_url=url),
}


@pytest.mark.parametrize("make", LLMS.values(), ids=LLMS)
def test_a_key_that_is_repeated_is_in_no_result_and_no_store(
    make: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    for n, answer in enumerate(
        (
            error(401, f"Incorrect API key provided: {KEY}."),
            json.dumps({"verdicts": [SAID]}),
        )
    ):
        with ScriptedServer(hanging_up(lambda *_, said=answer: said)) as server:
            tcva = TCVA(judge=make(server.base_url), store=tmp_path / f"{n}.sqlite")
            result = tcva.evaluate(SAMPLE)
            assert server.count
        assert KEY not in result.to_json()
    stored = list(tmp_path.iterdir())
    assert stored
    assert not any(KEY.encode() in path.read_bytes() for path in stored)
