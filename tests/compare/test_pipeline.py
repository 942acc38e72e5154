"""``compare`` as a notebook calls it: one import, a report, and the command's own figures."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, Sample, clear_shared
from tcva_adapters.cli.app import run
from tcva_adapters.compare import Comparison, Evaluation, acompare, compare
from tcva_adapters.compare.running.methods import Method
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.store import VerdictStore
from tests.support.cached import records
from tests.support.lexical_server import LexicalModel, LexicalServer

PASSAGE = "The office opens at nine. Parking is free for visitors."
SAMPLES = [
    Sample(id="right", input="When?", response="The office opens at nine.", contexts=(PASSAGE,)),
    Sample(id="<wrong>", input="When?", response="Parking costs money.", contexts=(PASSAGE,)),
]
QA: dict[str, Any] = {"frameworks": ["langchain"], "metrics": ["context_qa"]}
LEXICAL = {"judge": "lexical"}
ALONE: dict[str, Any] = {"frameworks": "none", "temperatures": (0.5,)}


def test_it_prints_writes_and_holds_what_the_command_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "samples.jsonl"
    source.write_text("\n".join(s.model_dump_json() for s in SAMPLES), encoding="utf-8")
    arguments = ["--with", "langchain", "--metrics", "context_qa", "--out", str(tmp_path / "out")]
    assert run(["compare", str(source), *arguments]) == 0
    printed = capsys.readouterr().out
    found = compare(source, {"judge": "lexical"}, **QA, store=tmp_path / "side" / "v.sqlite")
    assert str(found).splitlines() == [line.rstrip() for line in printed.splitlines()]
    written = {path.name for path in found.save(tmp_path / "side")}
    assert written == {path.name for path in (tmp_path / "out").iterdir()} - {"verdicts.sqlite"}
    summary = json.loads((tmp_path / "side/summary.json").read_text(encoding="utf-8"))
    theirs = json.loads((tmp_path / "out/summary.json").read_text(encoding="utf-8"))
    for figures in (summary, theirs):
        del figures["run"]["spent"]  # seconds among them
    assert summary == theirs
    assert len(records(tmp_path / "side" / "v.sqlite")) == len(SAMPLES)


def test_an_evaluation_prints_what_the_command_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "samples.jsonl"
    source.write_text("\n".join(s.model_dump_json() for s in SAMPLES), encoding="utf-8")
    assert run(["evaluate", str(source)]) == 0
    printed = capsys.readouterr().out
    tcva = TCVA(judge="lexical")
    found = Evaluation.of(tcva, tcva.evaluate_many(SAMPLES))
    assert str(found).splitlines() == [line.rstrip() for line in printed.splitlines()]
    assert found.summary.passing("").startswith("50% of 2 scored samples pass (")


def test_it_is_a_table_and_inert_html() -> None:
    pytest.importorskip("pandas", reason="the extra ragas")
    found = compare(SAMPLES, LEXICAL, **QA)
    frame = found.to_pandas()
    assert list(frame.columns)[:3] == ["sample", "method", "score"]
    assert len(frame) == len(found.rows) == len(SAMPLES) * 4
    page = found._repr_html_()
    assert "<wrong>" not in page
    assert page.startswith("<div")
    assert "<script" not in page


def test_it_works_where_a_loop_runs_and_can_be_awaited() -> None:
    async def notebook() -> tuple[Comparison, Comparison]:
        return compare(SAMPLES, LEXICAL, **ALONE), await acompare(SAMPLES, LEXICAL, **ALONE)

    blocking, awaited = asyncio.run(notebook())
    scores = [row.score for row in compare(SAMPLES, LEXICAL, **ALONE).rows]
    assert [row.score for row in blocking.rows] == [row.score for row in awaited.rows] == scores


def test_each_framework_asks_the_named_model_and_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LexicalServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        settings = {"judge": "openai:m"}
        found = asyncio.run(acompare(SAMPLES, settings, **QA))
        assert found.outcome.spent.calls == server.count == 2 * len(SAMPLES)
        clear_shared()
        assert compare(SAMPLES, settings, **QA).outcome.spent.calls == 2 * len(SAMPLES)
    gc.collect()  # what was left open would warn, and warnings are errors here


def test_an_interrupt_where_a_loop_runs_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()
    ended: list[bool] = []

    async def hangs(*_: Any, **__: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    def interrupted(*_: Any, **__: Any) -> None:
        assert begun.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(Method, "score", hangs)
    monkeypatch.setattr("concurrent.futures.Future.result", interrupted)
    loop = asyncio.new_event_loop()
    asyncio._set_running_loop(loop)  # as in a cell of a notebook
    try:
        with pytest.raises(KeyboardInterrupt):
            compare(SAMPLES, LEXICAL, **QA)
    finally:
        asyncio._set_running_loop(None)
        loop.close()
    assert ended == [True]


def test_a_tcva_keeps_its_settings_and_its_store(tmp_path: Path) -> None:
    model = LexicalModel()
    with VerdictStore(tmp_path / "own.sqlite") as store:
        tcva = TCVA(judge=model, store=store, temperature=0.3, threshold=0.7)
        found = compare(SAMPLES, tcva, temperatures=[0.5], **QA)
        asked = len(model.prompts)
        assert found.temperatures == (0.5, 0.3)
        assert found.decisions.threshold == 0.7
        again = compare(SAMPLES, tcva, temperatures=[0.5], **QA)
        assert len(store.get_many(map(tcva.key, SAMPLES), Assessment)) == len(SAMPLES)  # it is open
    assert len(model.prompts) == asked
    assert again.outcome.judged == {}


def test_a_tcva_without_a_store_is_left_as_it_was(tmp_path: Path) -> None:
    tcva = TCVA(judge=LexicalModel())
    compare(SAMPLES, tcva, **ALONE, store=tmp_path / "v.sqlite")
    assert tcva.store is None
    again = compare(SAMPLES, TCVA(judge=LexicalModel()), **ALONE, store=tmp_path / "v.sqlite")
    assert again.outcome.cached == {"tcva": 2}


def test_what_is_left_out_is_said_and_held(tmp_path: Path) -> None:
    (tmp_path / "stars.csv").write_text("id,stars\nright,0.5\nnobody,1\n", encoding="utf-8")
    said: list[str] = []
    found = compare(SAMPLES, LEXICAL, imported=[f"{tmp_path}/stars.csv"], say=said.append, **ALONE)
    assert found.imported[0].unmatched[0].name == "nobody"
    assert "1 row matches no sample" in said[0]


def test_nothing_is_asked_where_the_request_is_wrong(tmp_path: Path) -> None:
    model = LexicalModel()
    for wrong in ({"timeout": 0}, {"n_boot": 0}, {"pass_from": {"nobody": 0.5}}, {"fuse": ["a"]}):
        with pytest.raises(InvalidValueError):
            compare(SAMPLES, TCVA(judge=model), **ALONE, store=tmp_path / "v.sqlite", **wrong)
    assert model.prompts == []
    assert not (tmp_path / "v.sqlite").exists()


def test_both_faces_show_what_they_take() -> None:
    for face in (compare, acompare):
        names = list(inspect.signature(face).parameters)
        assert names[:3] == ["samples", "tcva", "frameworks"]
        assert "Args:" in (face.__doc__ or "")


def test_the_import_loads_nothing_that_is_not_used() -> None:
    code = (
        "import sys; from tcva_adapters.compare import compare, Comparison, Evaluation; "
        "print([m for m in ('rich', 'pandas', 'matplotlib', 'scipy', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
