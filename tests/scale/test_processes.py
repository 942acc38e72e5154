"""Several processes give what one gives, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.judging.judge import LexicalSampleJudge
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.scale import iter_evaluate
from tcva_adapters.scorer import Scorer


def samples(number: int) -> Iterator[Sample]:
    for n in range(number):
        text = f"Room {n % 50} opens at nine. It is {'red' if n % 3 else 'blue'}."
        contexts = None if n % 17 == 5 else [f"Room {n % 50} opens at nine and is red."]
        yield Sample(id=str(n), response=text, contexts=contexts, metadata={"n": n})


class Deadly(LexicalSampleJudge):
    """Takes its process down at some samples: at once, or the first time only."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        mark = Path(sample.metadata.get("mark") or "/")
        if sample.metadata.get("deadly") or (mark.name and not mark.exists()):
            if mark.name:
                mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().assess(sample, criterion)


def test_results_are_those_of_one_process_in_order() -> None:
    scorers: list[Scorer[Any]] = [
        TCVA(judge="lexical", temperature="strict"),
        CCRS("cc", judge="lexical"),
    ]
    for scorer in scorers:
        alone = scorer.evaluate_many(samples(200))
        found = list(iter_evaluate(scorer, samples(200), workers=2))
        assert found == alone
        assert [each.sample_id for each in found] == [str(n) for n in range(200)]


def test_reading_stays_a_few_chunks_ahead() -> None:
    read = 0

    def counted() -> Iterator[Sample]:
        nonlocal read
        for sample in samples(10_000):
            read += 1
            yield sample

    found = iter_evaluate(TCVA(judge="lexical"), counted(), workers=1)
    assert next(found).sample_id == "0"
    assert read <= 4 * 32
    found.close()  # type: ignore[attr-defined]  # a generator


def test_closing_ends_the_processes() -> None:
    found = iter_evaluate(TCVA(judge="lexical"), samples(10_000), workers=2)
    next(found)
    children = _children()
    assert len(children) >= 2
    found.close()  # type: ignore[attr-defined]  # as above
    for _ in range(100):
        if not children & _children():
            return
        time.sleep(0.05)
    raise AssertionError(children & _children())


def _children() -> set[int]:
    task = Path(f"/proc/{os.getpid()}/task")
    if not task.exists():
        pytest.skip("looks at processes in /proc")
    found = {n for each in task.glob("*/children") for n in each.read_text().split()}
    # The process in which Python looks after semaphores stays to the end.
    return {int(n) for n in found if b"resource_tracker" not in _command(n)}


def _command(process: str) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b"resource_tracker"  # it has ended


def test_a_killed_process_costs_nothing(tmp_path: Path) -> None:
    given = list(samples(200))
    once = {"mark": str(tmp_path / "killed")}
    given[77] = given[77].model_copy(update={"metadata": once})
    found = list(iter_evaluate(TCVA(judge=Deadly()), given, workers=2))
    assert (tmp_path / "killed").exists()
    assert found == TCVA(judge=Deadly()).evaluate_many(given)


def test_a_deadly_sample_is_unscored_and_no_other() -> None:
    given = list(samples(100))
    given[40] = given[40].model_copy(update={"metadata": {"deadly": True}})
    found = list(iter_evaluate(TCVA(judge=Deadly()), given, workers=2))
    why = found[40].unscored
    assert why is not None
    assert why.reason == "judge_error"
    assert "ended without a word" in why.detail
    del given[40], found[40]
    assert found == TCVA(judge=Deadly()).evaluate_many(given)


def test_no_samples_and_what_is_no_sample() -> None:
    tcva = TCVA(judge="lexical")
    assert list(iter_evaluate(tcva, [], workers=2)) == []
    with pytest.raises(InvalidSampleError, match="a Sample is needed"):
        list(iter_evaluate(tcva, [{"response": "a"}], workers=1))  # type: ignore[list-item]  # that is the point
    with pytest.raises(InvalidValueError, match="workers"):
        iter_evaluate(tcva, [], workers=0)
