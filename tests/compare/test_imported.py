"""Existing results: real files of RAGAS and DeepEval, tables of any kind, and matching."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # it comes without types
import pytest
from deepeval.metrics import FaithfulnessMetric
from ragas.metrics._faithfulness import Faithfulness

import tests.deepeval.entry as deepeval_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import Sample
from tcva_adapters.compare import ScoreTable, read_scores
from tcva_adapters.compare.scores.imported.reader import read_imported
from tcva_adapters.compare.scores.score_reader import parse_spec
from tcva_adapters.deepeval import LexicalLLM as DeepEvalLLM
from tcva_adapters.deepeval import TCVAMetric as DeepEvalTCVA
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.ragas import LexicalLLM as RagasLLM
from tcva_adapters.ragas import TCVAMetric as RagasTCVA

OPENS = "The office opens at nine."

SAMPLES = [
    Sample(
        id="good",
        input="When, exactly?",
        response=OPENS,
        contexts=(OPENS, 'A "quote", here.'),
    ),
    Sample(
        id="bad",
        input="When?",
        response="Bananas are loud,\nand purple.",
        contexts=(OPENS,),
    ),
    Sample(id="hello", input="When?", response="Hello!", contexts=(OPENS,)),
]


@pytest.fixture(scope="module")
def ragas_frame() -> pd.DataFrame:
    """What RAGAS itself prints of our three samples."""
    metrics = [Faithfulness(), RagasTCVA(llm="lexical")]
    frame = ragas_entry.evaluated(metrics, *SAMPLES, llm=RagasLLM()).to_pandas()
    assert isinstance(frame, pd.DataFrame)
    return frame


@pytest.fixture(scope="module")
def deepeval_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run that DeepEval itself saved, in its folder of results and as the latest one."""
    folder = tmp_path_factory.mktemp("deepeval")
    unnamed = SAMPLES[2].model_copy(update={"id": None})
    cases = [deepeval_entry.case_of(sample) for sample in (*SAMPLES[:2], unnamed)]
    theirs = FaithfulnessMetric(model=DeepEvalLLM(), threshold=0.8)
    metrics = [theirs, DeepEvalTCVA(model="lexical")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEEPEVAL_RESULTS_FOLDER", str(folder))
        deepeval_entry.evaluated(cases, metrics, use_cache=True, ignore_errors=True)
    latest = Path(os.environ["DEEPEVAL_CACHE_FOLDER"]) / ".latest_test_run.json"
    copied = folder / ".latest_test_run.json"
    copied.write_bytes(latest.read_bytes())
    return [next(folder.glob("test_run_*.json")), copied]


def imported(spec: object, **how: Any) -> ScoreTable:
    return read_scores(str(spec), samples=SAMPLES, **how)


def said(table: ScoreTable, method: str) -> list[float | str]:
    """Each score, or why there is none."""
    pairs = zip(table.samples, table.column(method).tolist(), strict=True)
    return [
        table.reason(name, method) if math.isnan(score) else score
        for name, score in pairs
    ]


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_ragas(ragas_frame: pd.DataFrame, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"saved.{kind}"
    if kind == "csv":
        ragas_frame.to_csv(path)  # with its index
    elif kind == "parquet":
        ragas_frame.iloc[::-1].to_parquet(path)
    else:
        ragas_frame.to_json(path, orient="records", lines=True)
    table = imported(path)
    assert table.methods == ("ragas faithfulness", "imported tcva_faithfulness")
    # Fully supported, not at all, and a greeting, which claims nothing.
    np.testing.assert_array_equal(table.scores, [[1, 1], [0, 0.027], [np.nan, np.nan]])
    assert set(table.reasons.values()) == {"no score in the file"}
    assert table.judged_methods["ragas faithfulness"].kind == "ragas"
    assert (
        f"{path} (ragas): {', '.join(table.methods)} on 3 of 3 samples" in table.notes
    )


def test_deepeval(deepeval_runs: list[Path]) -> None:
    """The third case has no name; its texts tell whose it is."""
    for saved in deepeval_runs:
        table = imported(saved)
        assert table.methods == ("deepeval Faithfulness", "deepeval TCVA faithfulness")
        assert table.column("deepeval Faithfulness").tolist() == [1.0, 0.0, 1.0]
        assert table.reason("hello", "deepeval TCVA faithfulness").startswith(
            "unscored: no_claims"
        )
        assert [table.threshold(method) for method in table.methods] == [0.8, 0.5]


def test_deepeval_odds_and_ends(tmp_path: Path) -> None:
    """A metric of one name twice, a 0 beside an error, NaN, names of Python."""
    twice = [
        {"name": "GEval", "score": 0.1},
        {"name": "GEval", "score": 0, "error": "it hung up"},
    ]
    good = {"name": "good", "input": "?", "actualOutput": OPENS, "metricsData": twice}
    hello = {
        "name": "test_case_7",
        "input": "When?",
        "actualOutput": "Hello!",
        "metricsData": None,
    }
    path = tmp_path / "run.json"
    path.write_text(
        json.dumps({"testRunData": {"testCases": [good, hello]}}), encoding="utf-8"
    )
    table = imported(f"mine={path}")
    assert table.methods == ("mine deepeval GEval", "mine deepeval GEval #2")
    assert said(table, table.methods[0]) == [0.1, "no row", "no score in the file"]
    assert said(table, table.methods[1]) == [
        "it hung up",
        "no row",
        "no score in the file",
    ]
    assert imported(f"mine={path}::GEval").methods == ("mine",)
    twice[1]["error"] = {"code": 500}
    path.write_text(json.dumps({"testCases": [good]}), encoding="utf-8")
    assert said(imported(path), "deepeval GEval #2")[0] == "{'code': 500}"
    case = {"name": "good", "metrics_data": [{"name": "m", "score": math.nan}]}
    path.write_text(
        json.dumps({"test_results": [case, case | {"name": "bad"}]}), encoding="utf-8"
    )
    assert np.isnan(imported(path).column("deepeval m")).all()


CSV = "id,ours,theirs,domain,human\ngood,0.5,1,chat,0.75\nbad,,nan,chat,\nelse,0.1,0.2,chat,1\n"


def test_any_table_with_a_column_per_method(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(CSV, encoding="utf-8")
    table = imported(path)
    assert said(table, "ours") == [0.5, "no score in the file", "no row"]
    assert said(table, "theirs") == [1.0, "no score in the file", "no row"]
    np.testing.assert_array_equal(table.rating, [0.75, np.nan, np.nan])
    assert table.notes[0].endswith(
        "ours, theirs on 2 of 3 samples; 1 row without a matching sample (4: else); "
        "columns left out: domain"
    )
    assert imported(f"{path}::theirs").methods == ("theirs",)
    assert imported(f"x={path}::ours").methods == ("x",)
    alone = read_scores(path, group="domain", human="theirs")
    assert (alone.samples, alone.groups) == (("good", "bad", "else"), ("chat",) * 3)
    assert alone.raters == ("theirs",)


def test_langsmith(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        f"id,inputs.question,outputs.answer,feedback.correct,error\n"
        f'run-1,"When, exactly?",{OPENS},0.75,\nrun-2,When?,Hello!,0,timed out\n',
        encoding="utf-8",
    )
    assert said(imported(path), "langsmith correct") == [0.75, "no row", "timed out"]
    run = {
        "outputs": {"answer": OPENS},
        "inputs": {},
        "feedback_stats": {"correct": {"avg": 0.5}},
    }
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([run]), encoding="utf-8")
    assert imported(path).scores[0].tolist() == [0.5]


def test_a_row_per_sample_and_method(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = "good,a,0.5,,2\ngood,b,,timeout: late,\nbad,a,1,,\n"
    path.write_text(f"sample,method,score,unscored,calls\n{rows}", encoding="utf-8")
    table = imported(path)
    assert (said(table, "a")[:2], said(table, "b")[:2]) == (
        [0.5, 1.0],
        ["timeout: late", "no row"],
    )
    assert imported(f"{path}::a").methods == ("a",)
    lines = [{"sample": "good", "method": "a", "score": 1}, {"sample": "b", "score": 1}]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(UnreadableInputError, match="'method' is empty"):
        imported(path)


def test_a_score_outside_the_scale_is_refused_with_ways_out(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,m,ms\ngood,-1,250\nbad,0.5,900\n", encoding="utf-8")
    with pytest.raises(
        UnreadableInputError, match=r"line 2: .*'m'.*--set scale=.*missing=-1"
    ):
        imported(path)
    with pytest.raises(UnreadableInputError, match=r"'ms'.*250.*PATH::COLUMN"):
        imported(path, missing=-1)
    table = imported(f"{path}::m", missing=-1)
    assert said(table, "m")[:2] == ["-1 in the file", 0.5]
    path.write_text("id,m\ngood,1\nbad,4\n", encoding="utf-8")
    assert imported(path, scale=(1, 5)).column("m")[:2].tolist() == [0.0, 0.75]
    with pytest.raises(InvalidValueError, match=r"scale must be .* got \(1, 0\)"):
        imported(path, scale=(1, 0))


def test_text_matches_with_any_white_space_and_tells_equal_answers_apart(
    tmp_path: Path,
) -> None:
    same = [
        Sample(id="a", input="One?", response="Yes.", contexts=("p",)),
        Sample(id="b", input="Two?", response="Yes.", contexts=("p",)),
        Sample(id="c", input="Two?", response="Yes.", contexts=("q", "r")),
        Sample(id="d", response="No  way.\r\nNever."),
    ]
    path = tmp_path / "scores.csv"
    header = "user_input,response,retrieved_contexts,m\n"
    rows = "One?,Yes.,,0.1\nTwo?,Yes.,\"['q', 'r']\",0.2\nAny?, No way. Never. ,,0.3\nTwo?,Maybe.,,1\n"
    path.write_text(header + rows + "Three?,Yes.,,1\nOne?,,,1\n", encoding="utf-8")
    table = read_scores(path, samples=same)
    np.testing.assert_array_equal(table.scores[:, 0], [0.1, np.nan, 0.2, 0.3])
    assert (
        "3 rows without a matching sample (5: Maybe.; 6: Yes.; 7: One?)"
        in table.notes[0]
    )
    rows = "One?,Yes.,,0.1\n" + "Three?,Yes.,,1\n" * 4
    path.write_text(header + rows, encoding="utf-8")
    (note,) = read_scores(path, samples=same).notes
    assert note.endswith("(3: Yes.; 4: Yes.; 5: Yes.; ...)")
    path.write_text(header + "Two?,Yes.,,0.1\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="b, c"):
        read_scores(path, samples=same)


@pytest.mark.parametrize(("content", "why"), [
    ("id,m\ngood,1\ngood,0\n", "2 and 3: both score sample 'good' by 'm'"),
    ("id,m\nx,1\ny,0\n", r"none of its 2 rows matches a sample \(2: x; 3: y\)"),
    (f"id,answer,m\nhello,{OPENS},1\n", "none of its 1 rows matches a sample"),
    ("id,m\n", "holds no results"),
    ("id,m\ngood,yes\n", "only id, m; judge samples first: tcva evaluate .* --out"),
    ('{"testCases": []}', "it holds no metric"), ("{", "not JSON"),
    (f'[{{"id": "good", "m": 1{"0" * 400}}}]', "no column holds scores"),
    ('{"testCases": [{"metricsData": [5]}]}', "test case 1 is no object"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / ("scores.json" if content[0] in "{[" else "scores.csv")
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=why):
        imported(path)


def test_what_is_asked_for_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,m,n\ngood,1,yes\n", encoding="utf-8")
    for spec, why in (
        (f"{path}::x", "it has no 'x'; there are id, m, n"),
        (f"{path}::n", "'yes' is no number"),
        (tmp_path.parent, "this is a folder"),
        (tmp_path / "nowhere", "the file does not exist"),
    ):
        with pytest.raises(UnreadableInputError, match=why):
            imported(spec)
    with pytest.raises(InvalidValueError, match="'people'"):
        imported(path, human="people")
    with pytest.raises(InvalidValueError, match="'x='"):
        parse_spec("x=")


def test_a_row_that_is_no_sample_is_matched_by_its_texts(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    row = {"response": "Parking is free.", "contexts": [1, 2], "recall": 0.5}
    path.write_text(json.dumps(row), encoding="utf-8")
    imported = read_imported(path)
    assert imported.rows[0].sample.response == "Parking is free."
    assert imported.rows[0].sample.contexts is None
