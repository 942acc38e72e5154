"""A command that is killed between any two of its steps is run again: nothing twice, nothing lost."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import openai
import pytest

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.batches import submit
from tcva_adapters.batches.ledger import Ledger
from tcva_adapters.models.openai_batches import BatchService
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.store import VerdictStore
from tests.batches.test_submission import SAMPLES, collected, model_at
from tests.support.batch_server import BatchServer, Line
from tests.support.server import Answer, auto_judge, error

pytestmark = pytest.mark.slow

STEPS = {
    Ledger: ("put", "update", "settle"),  # the others stand in transactions of these
    BatchService: ("upload", "create", "batch", "lines"),
    VerdictStore: ("put_many",),
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


# Each way takes every second step, and together they take all.
@pytest.mark.parametrize(("after", "first"), [(False, 1), (True, 2)])
def test_a_kill_at_any_step(after: bool, first: int, tmp_path: Path) -> None:
    samples = SAMPLES[:2]
    for at in count(first, 2):
        with (
            BatchServer(auto_judge) as server,
            openai.OpenAI(base_url=server.base_url, api_key="sk-1") as client,
            pytest.MonkeyPatch.context() as patch,
        ):
            server.fate = fate
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
    assert at > 20


def run(tcva: TCVA, samples: list[Sample], folder: Path) -> None:
    submit(tcva, samples, folder, batch_size=2)
    collected(tcva, folder)


def live(server: BatchServer, samples: list[Sample]) -> list[Result]:
    server.fate = lambda *_: None
    return TCVA(judge=model_at(server)).evaluate_many(samples)
