"""A store that cannot be used costs the store, not the verdicts: one warning, and no waiting."""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, Sample
from tcva_adapters.compare import compare
from tcva_adapters.errors import InvalidValueError, StoreWarning, UnreadableInputError
from tcva_adapters.results.store import VerdictStore

OPENS = "The office opens at nine."
SAMPLES = [
    Sample(id=str(i), input="When?", response=f"{OPENS} It has {i} rooms.", contexts=(OPENS,))
    for i in range(6)
]
WAIT = 0.2


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tcva_adapters.results.store._WAIT_SECONDS", WAIT)
    monkeypatch.setattr("tcva_adapters.results.store._LOOP_WAIT_SECONDS", WAIT / 2)
    return tmp_path / "v.sqlite"


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program that writes and does not end."""
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield


def in_a_loop(scorer: Any) -> list[Any]:
    found: list[Any] = asyncio.run(scorer.aevaluate_many(SAMPLES))
    return found


def test_a_held_store_is_waited_for_once_and_told_of_once(path: Path) -> None:
    scorer = TCVA(judge="lexical", store=path)
    scorer.evaluate(SAMPLES[0])
    for judged in (in_a_loop, lambda scorer: scorer.evaluate_many(SAMPLES)):
        with held(path):
            started = time.monotonic()
            with pytest.warns(
                StoreWarning, match="holds it.*not cached as long as it does"
            ) as told:
                results = judged(scorer.changed(store=VerdictStore(path), share=False))
            assert time.monotonic() - started < 5 * WAIT
            assert len(told) == 1
        assert all(result.score is not None for result in results)
    assert in_a_loop(scorer) == results  # all is well again, and nothing is said


def test_an_event_loop_does_not_stand_still_for_long(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.results.store._WAIT_SECONDS", 60.0)
    tcva = TCVA(judge="lexical", store=path)
    started = time.monotonic()
    with held(path), pytest.warns(StoreWarning, match="holds it"):
        asyncio.run(tcva.aevaluate(SAMPLES[0]))
    assert time.monotonic() - started < 30.0


def test_single_evaluations_tell_it_once_until_it_is_over(path: Path) -> None:
    tcva = TCVA(judge="lexical", store=path)
    with held(path):
        with pytest.warns(StoreWarning, match="not cached as long as it does"):
            tcva.evaluate(SAMPLES[0])
        tcva.evaluate(SAMPLES[1])
        asyncio.run(tcva.aevaluate(SAMPLES[2]))
    tcva.evaluate(SAMPLES[3])
    with held(path), pytest.warns(StoreWarning):
        tcva.evaluate(SAMPLES[4])


@pytest.mark.slow
def test_a_comparison_goes_on_without_its_store(path: Path) -> None:
    pytest.importorskip("llama_index.core", reason="the extra llamaindex")
    with VerdictStore(path) as store, held(path):
        with pytest.warns(StoreWarning, match="the verdict store failed") as told:
            found = compare(
                SAMPLES, {"judge": "lexical"}, frameworks="llamaindex", store=store, n_boot=10
            )
        assert len(told) == 1
    assert {row.sample for row in found.rows if row.score is not None} == {s.id for s in SAMPLES}


def test_a_store_that_cannot_be_written_costs_the_store_alone(path: Path) -> None:
    store = VerdictStore(path)
    tcva, connection = TCVA(judge="lexical", store=store), store._connection
    tcva.evaluate(SAMPLES[0])
    connection.execute("PRAGMA query_only = ON")
    with pytest.warns(StoreWarning, match="readonly.*; judgements"):
        results = tcva.evaluate_many(SAMPLES)
    assert [result.assessment.from_store for result in results] == [True] + [False] * 5
    connection.execute("PRAGMA query_only = OFF")
    tcva.evaluate_many(SAMPLES)
    connection.execute("PRAGMA max_page_count = 1")
    texts = [f"{OPENS} {i} {'x' * 99_000}" for i in range(3)]
    big = [Sample(response=text, contexts=(text,)) for text in texts]
    with pytest.warns(StoreWarning, match=r"full.*free space.*; judgements") as told:
        results = tcva.evaluate_many(big)
    assert len(told) == 1
    assert all(result.score is not None for result in results)
    connection.execute("PRAGMA max_page_count = 100000")
    assert tcva.evaluate_many(big) == results


def test_another_version_is_refused_and_left_alone(path: Path) -> None:
    VerdictStore(path).close()
    for version in (0, 2, 99):
        with closing(sqlite3.connect(path)) as plain:
            plain.execute(f"PRAGMA user_version = {version}")
        before = path.read_bytes()
        said = f"layout {version}.*reads layout 3.*judged again"
        with pytest.raises(UnreadableInputError, match=said):
            TCVA(judge="lexical", store=path)
        assert path.read_bytes() == before


def test_a_log_that_was_left_behind_is_read(path: Path, tmp_path: Path) -> None:
    left = tmp_path / "left.sqlite"
    with VerdictStore(path) as store:
        store.put("k", Assessment.from_verdicts(["fully"]))
        # As a kill leaves it: what was put is in the log alone.
        for suffix in ("", "-wal"):
            left.with_name(left.name + suffix).write_bytes(
                path.with_name(path.name + suffix).read_bytes()
            )
    with VerdictStore(left) as store:
        assert store.get("k") is not None


def test_it_is_pickled_as_its_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with VerdictStore(path.name) as store:
        store.put("k", Assessment.from_verdicts(["fully"]))
        text = pickle.dumps(store)
        monkeypatch.chdir("/")
        with pickle.loads(text) as again:
            assert again.get("k") is not None
            assert again is not store
    with VerdictStore(":memory:") as memory, pytest.raises(InvalidValueError, match="give it a fi"):
        pickle.dumps(memory)
