"""The run: every sample accounted for, nothing judged twice, nothing lost.

Real frameworks; the judge is the lexical one, or a scripted model that answers every prompt with
the lexical judge's reply and fails where a test says so.
"""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.running import methods as methods_module
from tcva_adapters.compare.running.cached import CachedJudgement
from tcva_adapters.compare.running.methods import Method, choose
from tcva_adapters.compare.running.run import Outcome, human_scores, judge_all, named
from tcva_adapters.compare.running.write import write_csv
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    JudgeError,
    UnreadableInputError,
)
from tcva_adapters.results.framework_score import FrameworkScore
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.files import SampleFile
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA
from tests.support.cached import records
from tests.support.lexical_server import LexicalModel

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the frameworks' own

PASSAGE = "The office opens at nine. Parking is free for visitors."
RIGHT = Sample(
    input="When does it open?",
    response="The office opens at nine.",
    contexts=(PASSAGE,),
    reference="It opens at nine.",
    id="right",
)
WRONG = RIGHT.model_copy(update={"response": "Parking costs five euros.", "id": "wrong"})
BARE = Sample(input="When?", response="The office opens at nine.", contexts=(PASSAGE,), id="bare")
SAMPLES = [RIGHT, WRONG, BARE]
METHODS = choose(
    ["all"],
    [
        "ragas.faithfulness",
        "deepeval.faithfulness",
        "langchain.context_qa",
    ],
)[0]
NAMES = [method.name for method in METHODS]


def run(
    folder: Path,
    model: LexicalModel | None = None,
    samples: list[Sample] = SAMPLES,
    methods: list[Method] = METHODS,
    **options: Any,
) -> Outcome:
    judge: Any = "lexical" if model is None else model
    with VerdictStore(folder / "verdicts.sqlite") as store:
        return asyncio.run(
            judge_all(
                samples,
                TCVA(judge=judge, store=store),
                methods,
                store=store,
                models=None if model is None else lambda _: model,
                **{"temperatures": [0.1, 0.9], "progress": False, **options},
            )
        )


def cells(outcome: Outcome) -> dict[tuple[str, str], Row]:
    found = {(row.sample, row.method): row for row in outcome.rows}
    assert len(found) == len(outcome.rows)
    return found


def test_one_row_per_sample_and_method_in_order(tmp_path: Path) -> None:
    outcome = run(tmp_path)
    table = ScoreTable.of(outcome.rows)
    assert table.samples == ("right", "wrong", "bare")
    assert table.methods == ("tcva T=0.1", "tcva T=0.9", *NAMES)
    found = cells(outcome)
    assert found["right", "ragas faithfulness"].score == 1.0
    assert found["wrong", "ragas faithfulness"].score == 0.0
    assert found["right", "tcva T=0.1"].score == 1.0
    wrong = [found["wrong", f"tcva T={t}"].score for t in (0.1, 0.9)]
    assert wrong[0] is not None
    assert wrong[1] is not None
    assert wrong[0] <= wrong[1] < 0.5
    for row in outcome.rows:
        assert (row.score is None) is bool(row.unscored)


def test_a_missing_field_is_no_call(tmp_path: Path) -> None:
    model = LexicalModel()
    correctness = [Method("langchain", "labeled_criteria")]
    row = cells(run(tmp_path, model, [BARE], correctness))["bare", "langchain labeled_criteria"]
    assert row.unscored == (
        "missing_field: the sample has no reference, which langchain labeled_criteria needs"
    )
    assert (row.calls, row.score) == (0, None)
    assert len(model.prompts) == 1  # TCVA's own
    assert records(tmp_path / "verdicts.sqlite") == []


def test_costs_stand_once_and_add_up_to_the_calls(tmp_path: Path) -> None:
    model = LexicalModel()
    outcome = run(tmp_path, model)
    assert sum(row.calls or 0 for row in outcome.rows) == len(model.prompts)
    assert outcome.spent.calls == len(model.prompts)
    assert outcome.spent.input_tokens == 10 * len(model.prompts)
    found = cells(outcome)
    ours = [found["right", f"tcva T={t}"] for t in (0.1, 0.9)]
    assert [row.calls for row in ours] == [1, 0]
    theirs = found["right", "ragas faithfulness"]  # statements, then verdicts
    assert (theirs.calls, theirs.input_tokens, theirs.output_tokens) == (2, 20, 10)
    assert (theirs.seconds or 0) > 0


def test_equal_samples_are_judged_once(tmp_path: Path) -> None:
    model = LexicalModel()
    twin = RIGHT.model_copy(update={"id": "twin"})
    found = cells(run(tmp_path, model, [RIGHT, twin]))
    assert len(model.prompts) == sum(row.calls or 0 for row in found.values())
    for method in NAMES:
        assert found["twin", method].score == found["right", method].score
        assert found["twin", method].calls == 0


def test_a_second_run_serves_everything_and_asks_nobody(tmp_path: Path) -> None:
    first = run(tmp_path, LexicalModel())
    again = LexicalModel()
    second = run(tmp_path, again)
    assert again.prompts == []
    assert second.rows == first.rows
    assert (second.judged, second.cached) == ({}, first.judged)
    assert second.spent.calls == 0


def test_a_metric_that_always_fails_stops_nobody(tmp_path: Path) -> None:
    def fails(prompt: str) -> str | None:
        if "sheer" in prompt or prompt.startswith("You are a teacher grading a quiz"):
            msg = "out of order"
            raise RuntimeError(msg)
        return None

    found = cells(run(tmp_path, LexicalModel(fails)))
    for sample in ("right", "wrong", "bare"):
        row = found[sample, "langchain context_qa"]
        assert row.score is None
        assert row.unscored.startswith("judge_error: JudgeError: RuntimeError: out of order")
        assert row.calls == 1  # it was made, and it failed
        assert found[sample, "ragas faithfulness"].score is not None
        assert found[sample, "tcva T=0.1"].score is not None


def test_a_metric_that_raises_by_itself_is_told_from_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Method, *_: Any, **__: Any) -> FrameworkScore:
        return FrameworkScore(self.metric, None, error="KeyError: 'statements'")

    monkeypatch.setattr(Method, "score", broken)
    outcome = run(tmp_path, LexicalModel())
    said = {row.unscored for row in outcome.rows if row.method == "ragas faithfulness"}
    assert said == {"metric_error: KeyError: 'statements'"}


def test_what_an_adapter_lets_through_is_still_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        @staticmethod
        async def ascore_framework_metric(*_: Any) -> None:
            msg = "not even the adapter expected this"
            raise LookupError(msg)

    adapter = methods_module._adapter
    monkeypatch.setattr(
        methods_module, "_adapter", lambda name: Broken if name == "ragas" else adapter(name)
    )
    found = cells(run(tmp_path, LexicalModel()))
    assert "LookupError: not even" in found["right", "ragas faithfulness"].unscored
    assert found["right", "deepeval faithfulness"].score is not None


async def _nan() -> Any:
    return FrameworkScore("faithfulness", math.nan)


async def _infinite() -> Any:
    return FrameworkScore("faithfulness", math.inf)


async def _nothing() -> Any:
    return None


async def _text() -> Any:
    return FrameworkScore("faithfulness", "high")  # type: ignore[arg-type]  # what the test is about


async def _cancelled() -> Any:
    raise asyncio.CancelledError


async def _leaves() -> Any:
    raise SystemExit(3)


async def _half_a_character() -> Any:
    msg = "half \ud83d"
    raise ValueError(msg)


async def _hangs() -> Any:
    await asyncio.Event().wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "said"),
    [
        (_nan, "no_score: the metric returned nan"),
        (_infinite, "metric_error: the metric returned inf"),
        (_nothing, "metric_error: TypeError: the metric returned None"),
        (_text, "metric_error: TypeError: the metric returned 'high'"),
        (_cancelled, "metric_error: CancelledError:"),
        (_leaves, "metric_error: SystemExit: 3"),
        (_half_a_character, "metric_error: ValueError: half \ufffd"),
        (_hangs, "metric_error: TimeoutError: no score after 1 seconds"),
    ],
)
def test_whatever_a_metric_does_every_sample_has_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: Any, said: str
) -> None:
    class Hostile:
        LexicalLLM = staticmethod(object)

        @staticmethod
        async def ascore_framework_metric(*_: Any) -> Any:
            return await metric()

    adapter = methods_module._adapter
    monkeypatch.setattr(
        methods_module, "_adapter", lambda name: Hostile if name == "ragas" else adapter(name)
    )
    run(tmp_path / "before", methods=[METHODS[2]])  # its framework is imported in no time limit
    limit = 1.0 if metric is _hangs else None
    found = cells(run(tmp_path, methods=[METHODS[0], METHODS[2]], seconds=limit))
    row = found["right", METHODS[0].name]
    assert (row.score, row.unscored) == (None, said)
    assert found["right", METHODS[2].name].score is not None
    assert {sample for sample, _ in found} == {"right", "wrong", "bare"}
    write_csv(tmp_path / "scores.csv", found.values())  # and every file takes it


def test_a_run_that_is_cancelled_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[asyncio.Event] = []

    class Slow:
        LexicalLLM = staticmethod(object)

        @staticmethod
        async def ascore_framework_metric(*_: Any) -> Any:
            for event in begun:
                event.set()
            await asyncio.Event().wait()

    monkeypatch.setattr(methods_module, "_adapter", lambda _: Slow)

    async def cancelled() -> None:
        with VerdictStore(tmp_path / "v.sqlite") as store:
            options: Any = {"temperatures": [0.5], "store": store, "progress": False}
            begun.append(asyncio.Event())
            task = asyncio.create_task(
                judge_all(SAMPLES, TCVA(judge="lexical"), METHODS[:1], **options)
            )
            await begun[0].wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(asyncio.wait_for(cancelled(), 5))


def test_only_failures_are_repeated(tmp_path: Path) -> None:
    def fails(prompt: str) -> str | None:
        return "What a lovely day." if "Parking costs" in prompt else None

    first = run(tmp_path, LexicalModel(fails))
    # No JSON for ours, RAGAS and DeepEval, no grade for LangChain.
    assert {row.sample for row in first.rows if _failed(row)} == {"wrong"}
    assert {row.method for row in first.rows if _failed(row)} == set(
        ScoreTable.of(first.rows).methods
    )

    healed = LexicalModel()
    second = run(tmp_path, healed)
    assert second.judged == dict.fromkeys(["tcva", *NAMES], 1)
    about = [prompt for prompt in healed.prompts if "Parking costs" in prompt]
    others = [prompt for prompt in healed.prompts if prompt not in about]
    assert len(others) == 2  # DeepEval's truths are about the passages, its reason about verdicts
    assert not any(_failed(row) for row in second.rows)
    good = {cell: row for cell, row in cells(first).items() if not _failed(row)}
    assert {cell: cells(second)[cell] for cell in good} == good


def _failed(row: Row) -> bool:
    return row.score is None and not row.unscored.startswith("missing_field")


def test_a_metric_that_finds_nothing_to_score_is_not_asked_again(tmp_path: Path) -> None:
    # RAGAS takes no statement from it, and so returns nan: the answer is final, not a failure.
    greeting = RIGHT.model_copy(update={"response": "Hello! How are you?", "id": "greeting"})
    method = [Method("ragas", "faithfulness")]
    first = cells(run(tmp_path, LexicalModel(), [greeting], method))
    assert first["greeting", "ragas faithfulness"].unscored.startswith("no_score: ")
    again = LexicalModel()
    outcome = run(tmp_path, again, [greeting], method)
    assert (outcome.cached["ragas faithfulness"], again.prompts) == (1, [])


def test_nan_after_failed_calls_is_a_failure(tmp_path: Path) -> None:
    # RAGAS' older family logs a reply that it cannot read, and returns nan.
    def fails(prompt: str) -> str | None:
        return None if "<<<CLAIM" in prompt else "What a lovely day."

    method = [Method("ragas", "legacy_faithfulness")]
    row = cells(run(tmp_path, LexicalModel(fails), [WRONG], method))[
        "wrong", "ragas legacy_faithfulness"
    ]
    assert row.score is None
    assert row.unscored.startswith("judge_error: ")


def test_after_a_fatal_failure_nobody_is_asked(tmp_path: Path) -> None:
    def fails(prompt: str) -> str | None:
        if prompt.startswith("You are a teacher"):
            msg = "the API key was not accepted"
            raise JudgeError(msg, reason="authentication", fatal=True)
        return None

    methods = [Method("langchain", "context_qa"), Method("ragas", "faithfulness")]
    many = [
        RIGHT.model_copy(update={"response": f"Door {n} opens.", "id": f"{n}"}) for n in range(40)
    ]
    model = LexicalModel(fails)
    outcome = run(tmp_path, model, many, methods)
    assert outcome.fatal is not None
    assert "API key" in str(outcome.fatal)
    found = cells(outcome)
    unasked = [row for row in found.values() if row.unscored.startswith("not_asked: ")]
    assert len(unasked) >= 80 - 8  # eight may have been under way
    assert all(row.calls == 0 for row in unasked)
    assert len(model.prompts) <= 40 + 8

    healed = LexicalModel()
    outcome = run(tmp_path, healed, many, methods)
    assert outcome.fatal is None
    assert all(row.score is not None for row in outcome.rows)
    assert outcome.cached["tcva"] == 40


def test_an_interrupt_in_a_metric_leaves_what_was_cached(tmp_path: Path) -> None:
    def fails(prompt: str) -> str | None:
        if prompt.startswith("You are a teacher"):
            raise KeyboardInterrupt
        return None

    model = LexicalModel(fails)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, model)
    done = records(tmp_path / "verdicts.sqlite")
    assert done

    again = LexicalModel()
    outcome = run(tmp_path, again)
    assert sum(outcome.cached.values()) == len(done) + len(SAMPLES)  # TCVA's are in the store
    assert all(row.score is not None for row in outcome.rows if "missing" not in row.unscored)


async def _inside_a_loop(folder: Path) -> Outcome:
    with VerdictStore(folder / "v.sqlite") as store:
        return await judge_all(
            SAMPLES, TCVA(judge="lexical"), METHODS, temperatures=[0.5], store=store, progress=False
        )


def test_it_can_be_awaited_where_a_loop_runs(tmp_path: Path) -> None:
    outcome = asyncio.run(_inside_a_loop(tmp_path))
    assert len(outcome.rows) == len(SAMPLES) * (1 + len(METHODS))


def test_a_full_disk_is_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(VerdictStore, "put_records", full)
    with pytest.raises(OSError, match="No space left"):
        run(tmp_path)


# --- the store --------------------------------------------------------------------------------------


def test_the_store_reads_back_what_it_cached(tmp_path: Path) -> None:
    run(tmp_path)
    texts = records(tmp_path / "verdicts.sqlite")
    assert len(texts) == 2 * len(METHODS) + 2  # the bare sample lacks what two of them need
    for text in texts:
        cached = CachedJudgement.from_json(text)
        assert CachedJudgement.from_json(cached.to_json()) == cached
        assert cached.score.verdicts or cached.score.score is None


@pytest.mark.parametrize(
    "damaged", ["", "[]", "{", '{"layout": 99}', '{"layout": 1}', '{"layout": 1, "score": 3}']
)
def test_a_damaged_record_is_passed_over_and_judged_again(tmp_path: Path, damaged: str) -> None:
    first = run(tmp_path)
    with closing(sqlite3.connect(tmp_path / "verdicts.sqlite")) as plain, plain:
        plain.execute(
            "UPDATE judgements SET json = ? WHERE rowid = (SELECT MIN(rowid) FROM judgements WHERE kind = 'record')",
            (damaged,),
        )
    second = run(tmp_path)
    assert sum(second.judged.values()) == 1
    scores = [(r.sample, r.method, r.score) for r in first.rows]
    assert [(r.sample, r.method, r.score) for r in second.rows] == scores
    third = run(tmp_path)
    assert third.judged == {}


def test_of_two_judgements_under_one_key_the_last_counts(tmp_path: Path) -> None:
    run(tmp_path, samples=[RIGHT], methods=METHODS[:1])
    key = METHODS[0].key(RIGHT, TCVA(judge="lexical").judge.name, {})
    with VerdictStore(tmp_path / "verdicts.sqlite") as store:
        found = json.loads(store.get_records([key])[key])
        found["score"]["score"] = 0.25
        store.put_records([(key, json.dumps(found))])
    row = cells(run(tmp_path, samples=[RIGHT], methods=METHODS[:1]))["right", METHODS[0].name]
    assert row.score == 0.25


def test_a_store_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "verdicts.sqlite").mkdir()
    with pytest.raises(UnreadableInputError, match=r"verdicts\.sqlite cannot be used"):
        run(tmp_path)


# --- ids and human ratings ---------------------------------------------------------------------------------


def test_samples_without_an_id_get_one_that_stays() -> None:
    bare = [Sample(response="x"), Sample(response="y", id="b"), Sample(response="z")]
    assert ids_of(bare, [1, 2, 3]) == ["row-1", "b", "row-3"]
    assert ids_of(bare, [2, 5, 9]) == ["row-2", "b", "row-9"]


def test_ids_that_repeat_are_numbered() -> None:
    twice = [Sample(response="x", id="a"), Sample(response="y"), Sample(response="z", id="a")]
    assert ids_of(twice, [1, 2, 3]) == ["a", "row-2", "a#2"]
    taken = [Sample(response="x", id="row-2"), Sample(response="y")]
    assert ids_of(taken, [1, 2]) == ["row-2", "row-2#2"]


def ids_of(samples: list[Sample], lines: list[int]) -> list[str | None]:
    return [sample.id for sample in named(SampleFile(samples, lines, [])).samples]


@pytest.mark.parametrize("value", ["high", math.inf, [1]])
def test_a_human_score_is_a_label(value: object) -> None:
    with pytest.raises(InvalidSampleError, match=r"sample 'a', human: .* is no rating"):
        human_scores([Sample(id="a", metadata={"human": value})], "human")


def test_a_field_that_no_sample_has_is_named_beside_those_there_are() -> None:
    with pytest.raises(InvalidSampleError, match=r"no sample has a rating in 'humen'.*human"):
        human_scores([Sample(id="a", metadata={"human": 1})], "humen")


def test_a_table_names_the_first_row_that_comes_twice() -> None:
    rows = [Row(s, m, 0.5) for s, m in (("a", "x"), ("b", "x"), ("b", "y"), ("b", "x"), ("a", "x"))]
    with pytest.raises(InvalidValueError, match="sample 'b' and method 'x'"):
        ScoreTable.of(rows)
    assert ScoreTable.of([]).scores.shape == (0, 0)
