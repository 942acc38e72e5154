"""The run: every sample accounted for, nothing judged twice, nothing lost.

Real frameworks; the judge is the lexical one, or a scripted model that answers every prompt with
the lexical judge's reply and fails where a test says so.
"""

import asyncio
import csv
import json
import re
import sqlite3
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import TCVA, Sample, clear_shared
from tcva_adapters.compare import (
    Run,
    ScoreTable,
    acompare,
    calibrate,
    compare,
    comparison,
    read_scores,
    sweep,
    validate,
)
from tcva_adapters.compare.runs.folder import FILES, STORE, save
from tcva_adapters.compare.runs.framework_metrics import ADAPTERS
from tcva_adapters.compare.runs.metric_judgement import MetricEvaluation
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    JudgeError,
    StoreWarning,
)
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.results.framework_score import FrameworkScore
from tcva_adapters.results.guarantee import Guarantee
from tcva_adapters.results.store import VerdictStore
from tests.support.lexical_server import LexicalModel, LexicalServer

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the frameworks' own

PASSAGE = "The office opens at nine. Parking is free for visitors."
ASKED: Any = {"input": "When does it open?", "contexts": (PASSAGE,), "id": "right"}
ASKED |= {
    "reference": "It opens at nine.",
    "metadata": {"stars": 5, "ben": 4, "office": "x"},
}
RIGHT = Sample(response="The office opens at nine.", **ASKED)
WRONG = RIGHT.model_copy(
    update={"response": "Parking costs five euros.", "id": "wrong"}
)
BARE = Sample(
    input="When?", response="The office opens at nine.", contexts=(PASSAGE,), id="bare"
)
SAMPLES = [RIGHT, WRONG, BARE]
METRICS = ["ragas.faithfulness", "deepeval.faithfulness", "langchain.context_qa"]
NAMES = [each.replace(".", " ") for each in METRICS]


@pytest.fixture(autouse=True)
def _forget() -> None:
    clear_shared()


def run(
    model: LexicalModel | None = None,
    folder: Path | None = None,
    samples: list[Sample] = SAMPLES,
    metrics: Any = METRICS,
    **options: Any,
) -> ScoreTable:
    tcva = TCVA(judge="lexical" if model is None else model, temperature=0.1)
    options = {"temperatures": [0.1, 0.9], "progress": False, **options}
    return Run(samples, tcva, metrics=metrics, folder=folder, **options).table()


def score(table: ScoreTable, sample: str, method: str) -> float:
    return float(table.column(method)[table.samples.index(sample)])


def fails_on(beginning: str, error: BaseException) -> LexicalModel:
    def fails(prompt: str) -> str | None:
        if prompt.startswith(beginning):
            raise error
        return None

    return LexicalModel(fails)


def test_every_sample_has_a_score_or_a_reason_by_every_method() -> None:
    rated = [
        s.model_copy(update={"metadata": {"stars": 4, "id_of": s.id}}) for s in SAMPLES
    ]
    table = run(human="stars", human_scale=(1, 5), group="id_of", samples=rated)
    assert table.samples == ("right", "wrong", "bare")
    assert table.methods == ("tcva T=0.1", "tcva T=0.9", *NAMES)
    for method in table.methods:
        assert score(table, "right", method) == 1.0
    assert score(table, "wrong", "ragas faithfulness") == 0.0
    low, high = (score(table, "wrong", f"tcva T={t}") for t in (0.1, 0.9))
    assert low <= high < 0.5
    assert (table.rating.tolist(), table.groups) == (
        [0.75] * 3,
        ("right", "wrong", "bare"),
    )
    assert table.counts is not None
    assert table.at(0.9).tolist() == table.column("tcva T=0.9").tolist()
    said = table.results["ragas faithfulness"][1]
    assert said is not None
    assert [claim.claim for claim in said.claims] == ["Parking costs five euros."]


def test_an_argument_with_a_typo_gets_the_nearest_name() -> None:
    known = "unknown setting 'tempratures' of Run; did you mean 'temperatures'?"
    with pytest.raises(InvalidValueError, match=re.escape(known)):
        Run(SAMPLES, tempratures=[0.1])  # type: ignore[call-arg]  # the typo


def test_temperatures_of_a_run_are_those_of_its_table() -> None:
    table = run()
    report = sweep(table, [0.1, 0.9])
    means = [row["mean"] for row in report.records("temperatures")]
    assert means == table.scores[:, :2].mean(axis=0).tolist()
    assert report.settings["scoring"]["temperature"] == 0.1
    assert "faithfulness by lexical/6" in report.notes


@pytest.mark.parametrize(("function", "name"), [
    (sweep, "human"), (calibrate, "human"), (validate, "human"),
    (calibrate, "group"), (validate, "group"),
])  # fmt: skip
def test_ratings_and_groups_are_not_read_for_a_table(function: Any, name: str) -> None:
    message = f"{name}='nope' cannot be read for a table; give it to read_scores"
    with pytest.raises(InvalidValueError, match=message):
        function(run(metrics=[], frameworks="none"), **{name: "nope"})


def test_a_sweep_takes_the_ratings_of_a_table() -> None:
    rated = [
        sample.model_copy(update={"metadata": {"stars": n}})
        for n, sample in enumerate(SAMPLES)
    ]
    report = sweep(run(samples=rated, metrics=[], frameworks="none", human="stars"))
    assert {row["rated"] for row in report.records("temperatures")} == {3}


def test_a_guarantee_from_a_run_names_the_judge_of_its_verdicts_alone() -> None:
    samples = [
        sample.model_copy(
            update={"id": f"{sample.id}-{n}", "metadata": {"stars": stars}}
        )
        for sample, stars in ((RIGHT, 1.0), (WRONG, 0.0))
        for n in range(30)
    ]
    table = run(human="stars", samples=samples)
    assert table.results["ragas faithfulness"][0] is not None  # verdicts of its own
    found = calibrate(table, max_false_pass=0.2)
    guarantee = Guarantee(**found.settings["guarantee"])
    assert guarantee.judged_by["prompt_version"] == "lexical/6"
    settings = {**found.settings["recommended"], "guarantee": guarantee}
    check = TCVA(judge="lexical", **settings).evaluate(RIGHT).guarantee
    assert check is not None
    assert check.state == "holds"


def test_a_metric_that_no_sample_can_be_asked_for_is_left_out_in_one_line() -> None:
    of = Run([BARE], {"judge": LexicalModel()}, metrics="all")
    (left,) = [note for note in of.notes if "reference" in note]
    assert left.startswith("Left out: ragas context_recall")
    assert "langchain labeled_criteria" in left
    assert not [method for method in of.metrics if "reference" in method.entry.needs]
    # Where some samples have it, the others have a reason, and nobody is asked about them.
    model = LexicalModel()
    table = run(model, metrics="langchain.labeled_criteria", samples=[RIGHT, BARE])
    assert table.reason("bare", "langchain labeled_criteria") == (
        "missing_field: the sample has no reference, which langchain labeled_criteria needs"
    )
    assert len(model.prompts) == 3


def test_by_default_the_metrics_of_the_criterion_run() -> None:
    names: dict[str, list[str]] = {}
    for criterion in ("faithfulness", "correctness", "completeness"):
        found = Run(SAMPLES, {"judge": LexicalModel(), "criterion": criterion}).metrics
        names[criterion] = [method.name for method in found]
    grounding = {
        "ragas": "faithfulness",
        "deepeval": "faithfulness",
        "llamaindex": "faithfulness",
    }
    wanted = [f"{name} {metric}" for name, metric in grounding.items()]
    assert names["faithfulness"] == [*wanted, "langchain context_qa"]
    metrics = {
        "ragas factual_correctness",
        "llamaindex correctness",
        "langchain labeled_criteria",
    }
    assert {*names["correctness"]} == metrics
    assert names["completeness"] == []
    lexical = Run(SAMPLES, {"judge": "lexical", "criterion": "correctness"})
    (left,) = lexical.notes
    assert all(name in left for name in names["correctness"])
    assert lexical.table().methods == ("tcva T=0.1", "tcva T=0.5", "tcva T=0.9")
    relevancy = Run(SAMPLES, {"judge": LexicalModel(), "criterion": "answer_relevancy"})
    assert "ragas answer_relevancy" in relevancy.notes[0]
    assert "embeddings" in relevancy.notes[0]


def test_what_every_metric_needs_and_takes_is_known() -> None:
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    whole = next(s for s in samples if s.input and s.contexts and s.reference)
    model = LexicalModel()
    table = Run([whole], TCVA(judge=model), metrics="all").table()
    for name, known in FRAMEWORKS.items():
        adapter = ADAPTERS[name]
        assert set(known.metrics) == set(adapter.framework_metrics())
        for metric, each in known.metrics.items():
            if each.is_lexical:
                assert table.usage[f"{name} {metric}"]["calls"] == each.calls


def test_the_cost_is_said_before_the_first_call(tmp_path: Path) -> None:
    model = LexicalModel()
    of = Run(SAMPLES, TCVA(judge=model), metrics=METRICS, folder=tmp_path)
    before = of.cost()
    assert model.prompts == []
    # TCVA's three, then 2, 4 and 1 calls for each; DeepEval does not look at the question.
    calls = {row["method"]: row["calls"] for row in before.records("calls")}
    assert calls == dict(zip(["tcva", *NAMES], (3, 6, 8, 3), strict=True))
    of.table()
    assert len(model.prompts) in (19, 20)
    after = of.cost()
    assert [row["cached"] for row in after.records("calls")] == [3, 3, 2, 3]


def test_an_estimate_of_costs_writes_nothing(tmp_path: Path) -> None:
    dry = partial(Run, SAMPLES, {"judge": "lexical"}, frameworks="none")
    for folder in (tmp_path / "new", tmp_path):
        dry(folder=folder).cost()
    assert [*tmp_path.iterdir()] == []
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InvalidValueError, match="file is a file"):
        dry(folder=file)


def test_costs_are_those_of_the_calls_and_equal_samples_cost_once() -> None:
    model = LexicalModel()
    twin = RIGHT.model_copy(update={"id": "twin"})
    table = run(model, samples=[RIGHT, WRONG, twin])
    assert sum(used["calls"] for used in table.usage.values()) == len(model.prompts)
    assert sum(used["input_tokens"] for used in table.usage.values()) == 10 * len(
        model.prompts
    )
    theirs = table.usage["ragas faithfulness"]  # statements, then verdicts
    assert (theirs["judged"], theirs["cached"], theirs["calls"]) == (2, 1, 4)
    for method in table.methods:
        assert score(table, "twin", method) == score(table, "right", method)


def test_a_second_run_on_the_folder_asks_for_failures_alone(tmp_path: Path) -> None:
    def fails(prompt: str) -> str | None:
        return "What a lovely day." if "Parking costs" in prompt else None

    first = run(LexicalModel(fails), tmp_path)
    # No JSON for ours, RAGAS and DeepEval, no grade for LangChain.
    assert np.isnan(first.scores[1]).all()
    assert np.isfinite(first.scores[[0, 2]]).all()
    healed = LexicalModel()
    clear_shared()
    second = run(healed, tmp_path)
    judged = {name: used["judged"] for name, used in second.usage.items()}
    assert judged == dict.fromkeys(["tcva T=0.1", *NAMES], 1)
    assert np.isfinite(second.scores).all()
    assert second.scores[[0, 2]].tolist() == first.scores[[0, 2]].tolist()
    clear_shared()
    again = LexicalModel()
    third = run(again, tmp_path)
    assert again.prompts == []
    assert third.scores.tolist() == second.scores.tolist()
    assert [used["cached"] for used in third.usage.values()] == [3] * 4


def test_a_metric_that_finds_nothing_to_score_is_not_asked_again(
    tmp_path: Path,
) -> None:
    # RAGAS takes no statement from it, and so returns nan: the answer is final, not a failure.
    greeting = RIGHT.model_copy(update={"response": "Hello! How are you?"})
    table = run(LexicalModel(), tmp_path, [greeting], "ragas.faithfulness")
    assert (
        table.reason("right", "ragas faithfulness")
        == "no_claims: the metric returned nan"
    )
    clear_shared()
    again = LexicalModel()
    run(again, tmp_path, [greeting], "ragas.faithfulness")
    assert again.prompts == []
    unretrieved = RIGHT.model_copy(
        update={"contexts": []}
    )  # RAGAS raises for an empty list
    table = run(
        LexicalModel(), samples=[RIGHT, unretrieved], metrics="ragas.faithfulness"
    )
    assert table.reason("right#2", "ragas faithfulness").startswith("missing_field: ")

    def prose(prompt: str) -> str | None:  # the older family logs what it cannot read
        return None if "<<<CLAIM" in prompt else "What a lovely day."

    table = run(
        LexicalModel(prose), samples=[WRONG], metrics="ragas.legacy_faithfulness"
    )
    assert table.reason("wrong", "ragas legacy_faithfulness").startswith(
        "judge_error: "
    )


async def _raises(error: BaseException) -> Any:
    raise error


async def _returns(value: Any) -> Any:
    return value


async def _hangs() -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize(("metric", "said"), [
    (lambda: _returns(FrameworkScore("m", None)), "the metric gave no score"),
    (lambda: _raises(asyncio.CancelledError()), "CancelledError"),
    (lambda: _raises(SystemExit(3)), "SystemExit: 3"),
    (lambda: _raises(ValueError("half \ud83d")), "ValueError: half \ufffd"),
    (_hangs, "timeout: no score after 0.2 seconds"),
])  # fmt: skip
def test_hostile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: Any, said: str
) -> None:
    class Hostile:
        LexicalLLM = staticmethod(object)
        framework_metrics = staticmethod(lambda: ["faithfulness"])

        @staticmethod
        async def ascore_framework_metric(*_: Any) -> Any:
            return await metric()

    monkeypatch.setitem(ADAPTERS, "ragas", Hostile)
    limit = 0.2 if metric is _hangs else 60.0  # a busy machine is slow
    table = run(frameworks="ragas", metrics="faithfulness", timeout=limit)
    assert np.isnan(table.column("ragas faithfulness")).all()
    reason = table.reason("right", "ragas faithfulness")
    assert said in reason
    assert reason.startswith(("judge_error: ragas faithfulness failed: ", "timeout: "))
    assert np.isfinite(table.column("tcva T=0.1")).all()
    save(tmp_path, table, comparison(table))  # and every file takes it


def test_after_a_failure_that_no_call_can_escape_nobody_is_asked(
    tmp_path: Path,
) -> None:
    texts = {str(n): f"Door {n} opens." for n in range(40)}
    many = [
        RIGHT.model_copy(update={"response": text, "id": n})
        for n, text in texts.items()
    ]
    fatal = JudgeError(
        "the API key was not accepted", reason="authentication", fatal=True
    )
    metrics = ["langchain.context_qa", "deepeval.faithfulness"]
    model = fails_on("Based on the given text", fatal)  # DeepEval's, which comes first
    table = run(model, tmp_path, many, metrics)
    assert table.run is not None
    assert (
        table.run.fatal
        == "not asked, after 20 failures like this: the API key was not accepted"
    )
    assert any("ended early" in note and "API key" in note for note in table.notes)
    assert np.isfinite(table.column("tcva T=0.1")).all()
    for method in ("deepeval faithfulness", "langchain context_qa"):
        assert np.isnan(table.column(method)).all()
        assert "API key" in table.reason("7", method)
    assert len(model.prompts) <= 40 + 2 * (20 + 8)  # so many may have been under way
    clear_shared()
    healed = run(LexicalModel(), tmp_path, many, metrics)
    assert np.isfinite(healed.scores).all()
    assert healed.run is not None
    assert (healed.run.fatal, healed.usage["tcva T=0.1"]["cached"]) == ("", 40)


def test_an_interrupt_leaves_what_was_stored_and_one_run_has_the_folder(
    tmp_path: Path,
) -> None:
    tcva = TCVA(judge=fails_on("You are a teacher", KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(Run(SAMPLES, tcva, metrics=METRICS, folder=tmp_path).atable())
    again = LexicalModel()
    clear_shared()
    table = run(again, tmp_path)
    assert table.usage["tcva T=0.1"]["cached"] == len(SAMPLES)
    assert table.usage["ragas faithfulness"]["cached"] == len(SAMPLES)
    assert np.isfinite(table.scores).all()
    with (
        Run(
            SAMPLES, {"judge": "lexical"}, frameworks="none", folder=tmp_path
        )._tcva_with_store(tmp_path),
        pytest.raises(InvalidValueError),
    ):
        run(folder=tmp_path)


def test_a_locked_store_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.results.store._LOOP_WAIT_SECONDS", 0.05)
    with (
        VerdictStore(tmp_path / STORE),
        closing(sqlite3.connect(tmp_path / STORE)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.warns(StoreWarning, match="another process") as warned:
            assert np.isfinite(run(folder=tmp_path, samples=[RIGHT]).scores).all()
        assert len(warned) == 1


def test_it_is_awaited_and_cancelled_in_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"metrics": "langchain.context_qa", "progress": False}

    async def notebook() -> list[list[float]]:
        blocking = compare(SAMPLES, {"judge": "lexical"}, **options)
        awaited = await acompare(SAMPLES, {"judge": "lexical"}, **options)
        return [
            [row["mean"] for row in r.records("methods")] for r in (blocking, awaited)
        ]

    one, other = asyncio.run(notebook())
    assert one == other

    begun, ended = threading.Event(), threading.Event()

    async def hangs(*_: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(ADAPTERS["langchain"], "ascore_framework_metric", hangs)

    async def cancelled() -> None:
        task = asyncio.create_task(
            Run(SAMPLES, {"judge": "lexical"}, **options).atable()
        )
        await asyncio.to_thread(begun.wait, 20)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(asyncio.wait_for(cancelled(), 20))
    assert ended.wait(20)


def test_each_framework_asks_the_named_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with LexicalServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        of = Run(SAMPLES, {"judge": "openai:m"}, metrics=METRICS)
        asked = [MetricEvaluation(method, of.tcva, 9.0) for method in of.metrics]
        assert (
            len({id(each.model) for each in asked}) == 3
        )  # what one is refused is its own
        table = of.table()
        assert sum(used["calls"] for used in table.usage.values()) == server.count
    direct = run(temperatures=(0.1, 0.5, 0.9)).scores
    # The server's verdicts have no probabilities, so that TCVA's own scores are others.
    assert table.scores[:, 3:].tolist() == direct[:, 3:].tolist()
    assert (table.scores[:, :3] <= direct[:, :3]).all()


def test_the_folder_holds_scores_judgements_samples_and_the_report(
    tmp_path: Path,
) -> None:
    folder, judge = tmp_path / "side", {"judge": "lexical"}
    report = compare(SAMPLES, judge, metrics="ragas.faithfulness", folder=folder)
    folder = tmp_path / "side"
    assert {path.name for path in folder.iterdir()} == {*FILES, STORE, ".lock"}
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3 * 4
    assert [*rows[3].values()] == ["right", "ragas faithfulness", "1.0", ""]
    read = read_scores(folder)
    assert read.methods[-1] == "ragas faithfulness"
    assert len(read_scores(folder / "assessments.jsonl")) == 3
    samples = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in samples] == ["right", "wrong", "bare"]
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["sentence"] == report.sentence
    alone: dict[str, Any] = {"frameworks": "none", "folder": folder}
    with pytest.raises(InvalidValueError, match="comparison"):
        compare(SAMPLES[:2], {"judge": "lexical"}, **alone)
    compare(
        SAMPLES[:2], {"judge": "lexical"}, **alone, overwrite=True
    )  # takes its place
    compare(SAMPLES[:2], {"judge": "lexical"}, **alone)  # the same goes on
    (folder / "scores.csv").write_text("my,own\n1,2\n", encoding="utf-8")
    with pytest.raises(InvalidValueError, match="was not written by this"):
        save(folder, run(metrics=[], frameworks="none"), report)
    save(folder, run(frameworks="none"), report, overwrite=True)


@pytest.mark.parametrize(("options", "said"), [
    ({"frameworks": "rags"}, "no framework 'rags'; did you mean 'ragas'"),
    ({"frameworks": "langchain", "metrics": "faithfulnes"}, "no metric 'faithfulnes' in "),
    ({"timeout": 0}, "timeout must be above 0, got 0"),
    ({"pass_from": {"nobody": 0.5}}, "unknown method 'nobody'; use tcva"),
    ({"mean_of": ["tcva T=0.1"]}, "two different members"),
    ({"mean_of": ["tcva T=0.1 + other"]}, "unknown method 'other'; use tcva"),
    ({"human": "stars", "human_scale": (1, 4)}, "between 1 and 4, got 5"),
    ({"group": "office"}, "'bare' has no 'office'"),
    ({"human_scale": (1, 5)}, r"human_scale=\(1, 5\) needs human ratings"),
    ({"samples": []}, "samples is empty; give at least one"),
    ({"temperatures": 0.5}, "temperatures must be a list, got 0.5"),
    ({"metrics": 1}, "metrics must be a list, got 1"),
    ({"timeout": "x"}, "timeout must be a number, got 'x'"),
    ({"human": "stars", "human_scale": "0,1"}, r"e.g. \(1, 5\), got '0,1'"),
    ({"human": "stars", "human_scale": 5}, r"e.g. \(1, 5\), got 5"),
    ({"pass_from": [0.5]}, "pass_from must be a valid dictionary, got .0.5."),
    ({"pass_from": {"tcva T=0.1": "x"}}, "pass_from must be a number, got {'tcva T=0.1': 'x'}"),
    ({"mean_of": "tcva T=0.1 + tcva T=0.9"}, "mean_of must be a list, got 'tcva T=0.1"),
    ({"imported": "scores.csv"}, "imported must be a list, got 'scores.csv'"),
])  # fmt: skip
def test_what_is_refused_before(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    model = LexicalModel()
    with pytest.raises((InvalidValueError, InvalidSampleError), match=said):
        run(model, tmp_path / "out", **options)
    assert model.prompts == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("tcva", ["lexical", 0.5])
def test_a_judge_in_place_of_a_tcva_is_refused(tcva: Any) -> None:
    message = f'tcva must be a TCVA or its settings, {{"judge": ...}}, got {tcva!r}'
    with pytest.raises(InvalidValueError, match=re.escape(message)):
        Run(SAMPLES, tcva, frameworks="none")


def test_a_file_may_have_field_names_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    texts = {"mine": "It opens at nine.", "passage": "It opens at nine."}
    path.write_text(f"{json.dumps(texts)}\n", encoding="utf-8")
    mapping = {"mine": "response", "passage": "contexts"}
    how: Any = {"frameworks": "none", "temperatures": [0.5]}
    found = compare(path, {"judge": "lexical"}, mapping=mapping, **how)
    assert found.records("methods")[0]["mean"] == 1.0
    assert found.records("methods")[0]["scored"] == 1
    samples = Run(path, {"judge": "lexical"}, mapping=mapping, **how).samples
    with pytest.raises(InvalidValueError, match="mapping is for a file"):
        Run(samples, {"judge": "lexical"}, mapping=mapping, **how)


def test_samples_without_an_id_get_one_that_stays() -> None:
    bare = [
        Sample(response="x"),
        Sample(response="y", id="b"),
        Sample(response="z", id="b"),
    ]
    of = Run(bare, {"judge": "lexical"}, frameworks="none")
    assert [sample.id for sample in of.samples] == ["row-1", "b", "b#2"]
    assert "'b#2'" in of.notes[0]
