"""A command that is killed between any two of its steps is run again: nothing twice, nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA
from tcva_adapters.batches import Limits, collect, submit
from tcva_adapters.batches.ledger import Ledger
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_batches import BatchService
from tcva_adapters.results.store import VerdictStore
from tests.batches.test_submission import SAMPLES, collected, model_at
from tests.support.batch_server import BatchServer, Fault, Line
from tests.support.server import DROP, Answer, auto_judge, error

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
            if self.left == 0 and not self.after:
                raise Killed
            result = step(*arguments, **named)
            if self.left == 0:
                raise Killed
            return result

        return taken


def fate(batch: int, number: int, _: Line) -> Answer | str | None:
    return error(500, "oops") if (batch, number) == (1, 2) else None


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("has_metadata", [True, False])
def test_a_kill_at_any_step(after: bool, has_metadata: bool, tmp_path: Path) -> None:
    samples = SAMPLES[:3]
    for at in count(1):
        with BatchServer(auto_judge) as server, pytest.MonkeyPatch.context() as patch:
            server.fate, server.has_metadata = fate, has_metadata
            folder, store = tmp_path / f"sub{at}", tmp_path / f"{at}.sqlite"
            tcva = TCVA(judge=model_at(server), claims="llm", store=store)
            killer = Killer(patch, at, after=after)

            def run(tcva: TCVA = tcva, folder: Path = folder) -> None:
                submit(tcva, samples, folder, limits=Limits(requests=2))
                collected(tcva, folder)

            try:
                run()
                is_over = killer.left > 0
            except Killed:
                is_over = False
                run()
            assert max(server.answered.values()) == 1, at
            assert sum(server.answered.values()) == 6, at
            assert [r.score for r in tcva.evaluate_many(samples)] == [
                r.score for r in TCVA(judge=model_at(server), claims="llm").evaluate_many(samples)
            ]
            if is_over:
                break
    assert at > 40


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
