"""A command that is killed between any two of its steps is run again: nothing twice, nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import openai
import pytest

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.batches import Limits, collect, submit
from tcva_adapters.batches.ledger import Ledger
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_batches import BatchService
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.store import VerdictStore
from tests.batches.test_submission import SAMPLES, collected, model_at
from tests.support.batch_server import BatchServer, Fault, Line
from tests.support.server import DROP, Answer, auto_judge, error

pytestmark = pytest.mark.slow

STEPS = {
    Ledger: ("put", "update", "add", "ask", "answer", "give_up"),
    BatchService: ("upload", "create", "batch", "lines"),
    VerdictStore: ("put_many", "put"),
}


class Killed(BaseException):
    """As a signal ends a process: nothing of ours catches it."""


class Killer:
    """Kills at the n-th step, before it is taken or after."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, *, after: bool) -> None:
        self.left = at
        self.after = after
        for owner, names in STEPS.items():
            for name in names:
                if hasattr(owner, name):
                    patch.setattr(owner, name, self.deadly(getattr(owner, name)))

    def deadly(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*arguments: Any, **named: Any) -> Any:
            self.left -= 1
            is_last = self.left == 0  # steps may be taken within steps
            if is_last and not self.after:
                raise Killed
            result = step(*arguments, **named)
            if is_last:
                raise Killed
            return result

        return taken


def fate(batch: int, number: int, _: Line) -> Answer | str | None:
    return error(500, "oops") if (batch, number) == (1, 2) else None


# Each way takes every third step, and together they take all.
@pytest.mark.parametrize(
    ("after", "has_metadata", "first"), [(False, True, 1), (True, True, 2), (True, False, 3)]
)
def test_a_kill_at_any_step(after: bool, has_metadata: bool, first: int, tmp_path: Path) -> None:
    samples = SAMPLES[:2]
    for at in count(first, 3):
        with (
            BatchServer(auto_judge) as server,
            openai.OpenAI(base_url=server.base_url, api_key="sk-1") as client,
            pytest.MonkeyPatch.context() as patch,
        ):
            server.fate, server.has_metadata = fate, has_metadata
            folder = tmp_path / f"sub{at}"
            model = OpenAICompatibleModel("m", client=client)
            tcva = TCVA(judge=model, store=tmp_path / f"{at}.sqlite")
            killer = Killer(patch, at, after=after)
            is_killed = False
            try:
                run(tcva, samples, folder)
            except Killed:
                is_killed = True
                run(tcva, samples, folder)
            assert list(server.answered.values()) == [1, 1], at
            assert killer.left <= 0 or not is_killed
            scores = [result.score for result in tcva.evaluate_many(samples)]
            assert scores == [result.score for result in live(server, samples)]
            if not is_killed:
                break
    assert at > 30


def run(tcva: TCVA, samples: list[Sample], folder: Path) -> None:
    submit(tcva, samples, folder, limits=Limits(requests=2), trial=False)
    collected(tcva, folder)


def live(server: BatchServer, samples: list[Sample]) -> list[Result]:
    server.fate = lambda *_: None
    return TCVA(judge=model_at(server)).evaluate_many(samples)


@pytest.mark.parametrize("path", ["POST /v1/files", "POST /v1/batches"])
@pytest.mark.parametrize("answer", [DROP, error(503, "away")])
@pytest.mark.parametrize("is_done", [True, False])
def test_an_answer_that_is_lost(path: str, answer: Answer, is_done: bool, tmp_path: Path) -> None:
    with BatchServer(auto_judge) as server:
        tcva = TCVA(judge=model_at(server, max_retries=0), store=tmp_path / "v.sqlite")
        server.faults = [Fault(path, answer, is_done=is_done)]
        try:
            submit(tcva, SAMPLES, tmp_path / "sub")
        except JudgeError:
            submit(tcva, SAMPLES, tmp_path / "sub")
        assert len(server.batches) == 1
        assert collect(tcva, tmp_path / "sub").scored == len(SAMPLES)
        assert len(server.files) == 2  # requests and answers


def test_a_refused_batch_is_made_by_the_next_command(tmp_path: Path) -> None:
    with BatchServer(auto_judge) as server:
        tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
        server.faults = [Fault("POST /v1/batches", error(400, "Billing hard limit reached."))]
        with pytest.raises(JudgeError, match="Billing hard limit"):
            submit(tcva, SAMPLES, tmp_path / "sub")
        assert collected(tcva, tmp_path / "sub").scored == len(SAMPLES)
        assert len(server.batches) == 1
