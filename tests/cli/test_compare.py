"""``tcva compare`` through the command line's own entry; one framework, real, is enough here."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import Config
from tcva_adapters.cli.app import run
from tcva_adapters.compare.rows import Row
from tcva_adapters.compare.running import methods, write
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results import files
from tests.support.cached import records
from tests.support.lexical_server import LexicalServer, lexical_reply
from tests.support.server import WRONG_KEY, Answer, Body, ScriptedServer, reply

PASSAGE = "The office opens at nine. Parking is free for visitors."
QA = ["--with", "langchain", "--metrics", "context_qa"]


def record(name: str, answer: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "question": "When?", "answer": answer, "contexts": [PASSAGE], **more}


RECORDS = [
    record("right", "The office opens at nine.", human=5),
    record("wrong", "Parking costs five euros.", human=1.5),
    {"id": "bare", "question": "When?", "answer": "The office opens at nine."},
]


def sample_file(folder: Path, *records: dict[str, Any]) -> str:
    path = folder / "samples.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records or RECORDS), encoding="utf-8")
    return str(path)


def table(path: Path = Path("out/scores.csv")) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_one_command_writes_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", sample_file(tmp_path), *QA, "-T", "0.5,0.9", "--out", "out"]) == 0
    printed, said = capsys.readouterr()
    assert "the lexical judge only compares words" in " ".join(printed.split())
    # The bare sample has no contexts: nobody is asked about it.
    assert "4 judgements now, 0 cached" in printed
    assert "out/scores.csv" in said
    assert "out/verdicts.sqlite" in said

    rows = table()
    methods_of_a_sample = ["tcva T=0.5", "tcva T=0.9", "langchain context_qa"]
    assert [(r["sample"], r["method"]) for r in rows] == [
        (sample, method) for sample in ("right", "wrong", "bare") for method in methods_of_a_sample
    ]
    assert [r["score"] for r in rows[:3]] == ["1.0", "1.0", "1.0"]
    assert {r["unscored"].partition(":")[0] for r in rows[6:]} == {"missing_field"}
    written = files.read_assessments("out/assessments.jsonl")
    assert [a.sample_id for a in written] == ["right", "wrong", "bare"]
    details = [
        json.loads(line) for line in Path("out/details.jsonl").read_text("utf-8").splitlines()
    ]
    assert [each["sample"]["response"] for each in details] == [r["answer"] for r in RECORDS]
    assert [json.loads(text)["sample"] for text in records("out/verdicts.sqlite")] == [
        "right",
        "wrong",
    ]
    summary = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))
    assert summary["judge"].startswith("lexical")
    assert [m["method"] for m in summary["methods"]] == methods_of_a_sample
    assert {path.name for path in tmp_path.iterdir()} == {"samples.jsonl", "out"}


def test_the_lexical_judge_leaves_out_what_it_cannot_answer_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", sample_file(tmp_path), "--with", "deepeval,llamaindex", "--out", "out"]
    assert run(arguments) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "lexical judge cannot" in line]
    assert len(said) == 1
    assert said[0].endswith(
        "prompts: deepeval answer_relevancy, deepeval contextual_recall, "
        "llamaindex answer_relevancy, llamaindex correctness"
    )
    assert {row["method"] for row in table() if "tcva" not in row["method"]} == {
        "deepeval faithfulness",
        "llamaindex faithfulness",
    }


def test_json_prints_what_the_summary_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first == json.loads(Path("out/summary.json").read_text(encoding="utf-8"))
    assert first["run"]["judged"] == {"tcva": 2, "langchain context_qa": 2}
    rows = table()
    details = Path("out/details.jsonl").read_bytes()
    assert b'"langchain context_qa": [[' in details  # the metric's own verdicts

    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out", "--json"]) == 0
    assert Path("out/details.jsonl").read_bytes() == details  # from the store as well
    second = json.loads(capsys.readouterr().out)
    assert second["run"]["judged"] == {}
    assert second["run"]["cached"] == {"tcva": 2, "langchain context_qa": 2}
    assert [{**r, "seconds": ""} for r in table()] == [{**r, "seconds": ""} for r in rows]


def test_parquet_holds_the_same_table(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet")
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out"]) == 0
    held = parquet.read_table("out/scores.parquet").to_pylist()
    for ours, theirs in zip(table(), held, strict=True):
        assert tuple(ours) == tuple(theirs)
        assert {k: "" if v is None else str(v) for k, v in theirs.items()} == ours


def test_without_pyarrow_there_is_csv_alone_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out"]) == 0
    assert "tcva-adapters[parquet]" in capsys.readouterr().err
    assert not Path("out/scores.parquet").exists()
    assert len(table()) == 3 * 4


def test_human_scores_enter_the_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", sample_file(tmp_path), *QA, "--out", "out", "--human", "human"]
    assert run([*arguments, "--bootstrap", "50", "--json"]) == 0
    ratings = json.loads(capsys.readouterr().out)["human_ratings"]
    assert ratings["rated"] == 2
    assert run([*arguments[:-1], "humen"]) == 2
    assert "no sample has a rating in 'humen'; other fields are human" in capsys.readouterr().err


def test_existing_results_stand_beside_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("old.csv").write_text("id,score\nright,0.75\nwrong,0.25\n", encoding="utf-8")
    arguments = ["compare", sample_file(tmp_path), "--with", "none", "--out", "out"]
    assert run([*arguments, "--results", "old=old.csv"]) == 0
    assert "old" in capsys.readouterr().err
    imported = {r["sample"]: r["score"] for r in table() if r["method"] == "old"}
    assert imported == {"right": "0.75", "wrong": "0.25"}


def test_fused_methods_stand_in_the_table_and_show_their_gain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = ["opens at nine", "opens at ten", "never opens", "opens", "is free for visitors"] * 6
    records = [record(f"s{n}", f"The office {a}.", human=n) for n, a in enumerate(answers)]
    arguments = ["compare", sample_file(tmp_path, *records), *QA, "--out", "out", "-B", "50"]
    arguments += ["--fuse", "tcva T=0.5 + langchain context_qa"]
    assert run([*arguments, "--human", "human", "--json"]) == 0
    name = "fused(tcva T=0.5 + langchain context_qa)"
    fused = json.loads(capsys.readouterr().out)["fused"]
    assert list(fused) == [name]
    assert fused[name]["members"] == {"2": 30}
    gain = fused[name]["gain"]
    assert gain["n"] == 30
    assert gain["gain"] == pytest.approx(gain["rho"] - gain["best_rho"], abs=1e-12)
    assert gain["gain_low"] <= gain["gain"] <= gain["gain_high"]
    for sample in (r["id"] for r in records):
        scores = {r["method"]: float(r["score"]) for r in table() if r["sample"] == sample}
        pair = [scores["tcva T=0.5"], scores["langchain context_qa"]]
        # The geometric mean; a 0 enters as 1e-9, and two of them stay 0.
        expected = math.sqrt(math.prod(max(s, 1e-9) for s in pair)) if any(pair) else 0.0
        assert scores[name] == pytest.approx(expected, abs=1e-12)

    assert run([*arguments, "--overwrite"]) == 0
    assert "30 samples of 2 members" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["-T", "0.3"], "temperatures: [0.5, 0.9] there and [0.3] here"),
        (["-c", "answer_relevancy"], "criterion: faithfulness there and answer_relevancy here"),
        (["--with", "none"], "metrics: {"),
        (["-B", "60"], "bootstrap: 10000 there and 60 here"),
        (["--threshold", "0.7"], "threshold: 0.5 there and 0.7 here"),
        (["--human", "human"], "human ratings: null there"),
        (["--skip-bad"], ""),
        (["--timeout", "60"], ""),
    ],
)
def test_a_comparison_with_other_settings_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    arguments = ["compare", sample_file(tmp_path), *QA, "-T", "0.5,0.9", "--out", "out"]
    assert run(arguments) == 0
    before = Path("out/summary.json").read_bytes()
    judgements = len(records("out/verdicts.sqlite"))
    capsys.readouterr()
    assert run([*arguments, *more]) == (2 if said else 0)
    error = capsys.readouterr().err
    assert said in error
    if said:
        assert "holds a comparison with other settings" in error
        assert "--overwrite" in error
        assert Path("out/summary.json").read_bytes() == before
        assert len(records("out/verdicts.sqlite")) == judgements  # nothing was judged
        assert run([*arguments, *more, "--overwrite"]) == 0


def test_a_comparison_of_other_samples_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out"]) == 0
    assert run(["compare", sample_file(tmp_path, RECORDS[0]), *QA, "--out", "out"]) == 2
    assert "samples: 3, " in capsys.readouterr().err
    Path("out/summary.json").write_text("[]", encoding="utf-8")
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out"]) == 2
    assert "summary.json is no comparison's of this version" in capsys.readouterr().err


def test_a_table_of_something_else_is_not_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", sample_file(tmp_path), *QA, "--out", "out"]
    precious = Path("out/scores.parquet")
    precious.parent.mkdir()
    precious.write_bytes(b"PAR1")
    assert run(arguments) == 2
    assert "scores.parquet was written by something else" in capsys.readouterr().err
    assert precious.read_bytes() == b"PAR1"
    assert run([*arguments, "--overwrite"]) == 0
    Path("out/summary.json").unlink()  # as where a run was killed before it
    assert run(arguments) == 0


def test_a_judge_behind_a_server_is_asked_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with LexicalServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        arguments = ["compare", sample_file(tmp_path), *QA, "--judge", "openai:m", "--out", "out"]
        assert run([*arguments, "--json"]) == 0
        assert server.count == 2 + 2  # ours, and LangChain's own prompt, for each full sample
        plain = [b for b in server.bodies if "<<<CLAIM" not in b["messages"][-1]["content"]]
        assert len(plain) == 2
        for body in plain:  # as LangChain would send it: the prompt alone, and no form
            assert [m["role"] for m in body["messages"]] == ["user"]
            assert "response_format" not in body
        spent = json.loads(capsys.readouterr().out)["run"]["spent"]
        assert (spent["calls"], spent["input_tokens"]) == (4, 40)
        assert run(arguments) == 0
        assert server.count == 4
    assert "0 calls" in capsys.readouterr().out


def test_a_wrong_key_is_one_sentence_and_what_is_cached_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
    with ScriptedServer(lambda _body, _n: WRONG_KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        arguments = ["compare", sample_file(tmp_path), *QA, "--judge", "openai:m", "--out", "out"]
        assert run(arguments) == 2
        assert server.count <= 2  # TCVA's, both under way at once; no framework metric asks
    printed, said = capsys.readouterr()
    assert said.splitlines()[-1].startswith("error: the API key was not accepted")
    assert "sk-secret" not in printed + said
    assert {
        r["unscored"].partition(":")[0] for r in table() if r["method"] == "langchain context_qa"
    } == {
        "not_asked",
        "missing_field",
    }
    for path in Path("out").iterdir():
        assert b"sk-secret" not in path.read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--with", "langchian"], "unknown framework 'langchian'"),
        (["--metrics", "faithful"], "no metric 'faithful'"),
        (["-T", "0.5,0.50"], "names one twice"),
        (["-T", "2"], "temperature"),
        (["--judge", "gpt"], "unknown judge 'gpt'"),
        (["--pass-from", "0.7"], "not of the form METHOD=NUMBER"),
        (["--pass-from", "nobody=0.7"], "'nobody'"),
        (["--results", "=x.csv"], "no name before the ="),
        (["--fuse", "tcva T=0.5"], "two members or more"),
        (["--fuse", "tcva T=0.5 + ragas faithfulness"], "no method 'ragas faithfulness'"),
    ],
)
def test_wrong_use_is_exit_code_2_and_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out", *more]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_ids_that_repeat_are_numbered_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = sample_file(tmp_path, *RECORDS, record("right", "Something else."))
    assert run(["compare", samples, *QA, "--out", "out"]) == 0
    assert "several rows have the same id: 'right'" in capsys.readouterr().err
    assert [r["sample"] for r in table() if r["method"] == "tcva T=0.5"][-1] == "right#2"


def test_ids_that_repeat_join_no_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = sample_file(tmp_path, *RECORDS, record("right", "Something else."))
    Path("before.csv").write_text("id,mine\nright,0.5\n", encoding="utf-8")
    assert run(["compare", samples, *QA, "--results", "before.csv", "--out", "out"]) == 2
    assert "several samples have the id 'right'" in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_missing_framework_is_named_with_its_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "find_spec", lambda _: None)
    assert run(["compare", sample_file(tmp_path), "--with", "ragas", "--out", "out"]) == 2
    assert "pip install 'tcva-adapters[ragas]'" in capsys.readouterr().err
    assert run(["compare", sample_file(tmp_path), "--with", "all", "--out", "out"]) == 0
    assert "ragas is left out" in capsys.readouterr().err
    assert {r["method"].partition(" ")[0] for r in table()} == {"tcva"}


def test_a_folder_that_cannot_be_made_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").write_text("a file", encoding="utf-8")
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out"]) == 2
    assert "File exists" in capsys.readouterr().err


def test_a_table_that_cannot_be_written_leaves_the_former_one(tmp_path: Path) -> None:
    target = tmp_path / "scores.csv"
    write.write_csv(target, [Row("a", "m", 0.5)])
    before = target.read_bytes()
    with pytest.raises(InvalidValueError, match="is no JSON value"):
        write.write_json(tmp_path / "summary.json", {"x": math.nan})
    target.chmod(0o444)
    write.write_csv(target, [Row("a", "m", 0.5)])
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_a_file_sets_the_dial_and_its_profiles_are_a_method_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Config(
        settings={"temperature": 0.7, "penalty": "off"},
        profiles={"domain": {"medical": "strict"}},
    ).dump("tcva.json")
    answer = "The office opens at nine. Parking costs five euros."
    records = [record("a", answer, domain="medical"), record("b", answer, domain="chat")]
    arguments = ["--with", "none", "-T", "0.2,0.5", "--config", "tcva.json", "--out", "out"]
    assert run(["compare", sample_file(tmp_path, *records), *arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["temperatures"] == [0.2, 0.5, 0.7]
    scores = {(row["sample"], row["method"]): row["score"] for row in table()}
    assert scores["a", "tcva by domain"] == scores["a", "tcva T=0.2"]
    assert scores["b", "tcva by domain"] == scores["b", "tcva T=0.7"]
    assert scores["b", "tcva T=0.7"] != scores["b", "tcva T=0.2"]


def test_human_ratings_may_come_with_imported_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = [record(f"s{i}", f"The office opens at {i}.") for i in range(12)]
    lines = ["id,theirs,human", *(f"s{i},{i / 20},{i / 12}" for i in range(12))]
    Path("theirs.csv").write_text("\n".join(lines), encoding="utf-8")
    arguments = ["--with", "none", "--results", "theirs.csv::theirs", "--out", "out", "--json"]
    assert run(["compare", sample_file(tmp_path, *plain), *arguments, "-B", "200"]) == 0
    ratings = json.loads(capsys.readouterr().out)["human_ratings"]
    theirs = {a["measure"]: a["own"] for a in ratings["agreements"] if a["method"] == "theirs"}
    # Both columns rise with the number of the sample, so every order is the same.
    assert theirs["spearman"]["n"] == 12
    assert theirs["spearman"]["value"] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--pass-from", "nobody=0.5"],
            "--pass-from 'nobody'=0.5; give a finite number for one of",
        ),
        (["--pass-from", "tcva T=0.5=nan"], "--pass-from 'tcva T=0.5'=nan"),
        (["--results", "twice.csv"], "two methods are named 'tcva T=0.5'"),
        (["--bootstrap", "0"], "--bootstrap is 0"),
        (["--timeout", "0"], "--timeout 0; give a number of seconds above 0"),
        (["--fuse", "tcva T=0.1 + tcva T=0.5", "--fuse", "tcva T=0.1 + tcva T=0.5"], "two methods"),
    ],
)
def test_what_no_table_could_hold_is_refused_before_anything_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    Path("twice.csv").write_text("id,tcva T=0.5\nright,0.5\nwrong,0.25\n", encoding="utf-8")
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out", *options]) == 2
    assert said in capsys.readouterr().err
    assert not Path("out").exists()


def test_statistics_that_are_missing_are_missed_before_anything_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    assert run(["compare", sample_file(tmp_path), *QA, "--out", "out", "--human", "human"]) == 2
    assert "tcva-adapters[stats]" in capsys.readouterr().err
    assert not Path("out").exists()


def test_what_cannot_be_fused_is_left_out_after_all_is_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("stars.csv").write_text("id,stars\nright,5\nwrong,-1\n", encoding="utf-8")
    records = [{**one, "reference": "The office opens at nine."} for one in RECORDS]
    arguments = [
        *("--with", "llamaindex", "--metrics", "correctness", "--results", "stars.csv"),
        *("--scale", "0,5", "--missing", "-1", "--fuse", "tcva T=0.5 + stars"),
        *("--fuse", "tcva T=0.5 + llamaindex correctness", "--out", "out"),
        *("--judge", "openai:m"),
    ]

    def script(body: Body, _: int) -> Answer:
        prompt = body["messages"][-1]["content"]
        return reply(lexical_reply(prompt) or "5.0\nIt says what the reference says.")

    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with ScriptedServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert run(["compare", sample_file(tmp_path, *records), *arguments]) == 0
    assert "left out fused(tcva T=0.5 + llamaindex correctness)" in capsys.readouterr().err
    scores = {(row["sample"], row["method"]): row["score"] for row in table()}
    assert float(scores["right", "stars"]) == 1.0  # 5 on a scale from 0 to 5
    fused = "fused(tcva T=0.5 + stars)"
    assert scores["wrong", fused] == scores["wrong", "tcva T=0.5"]  # the other one is missing
    assert ("right", "fused(tcva T=0.5 + llamaindex correctness)") not in scores
