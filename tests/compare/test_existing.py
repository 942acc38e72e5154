"""Existing results: real files of RAGAS and DeepEval, tables of any kind, and matching."""

from __future__ import annotations

import json
import math
import os
import warnings
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # it comes without types
import pytest
from deepeval.evaluate import evaluate as deepeval_evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import FaithfulnessMetric
from deepeval.test_case import LLMTestCase
from hypothesis import given
from hypothesis import strategies as st
from ragas import EvaluationDataset, MultiTurnSample, SingleTurnSample
from ragas import evaluate as ragas_evaluate
from ragas.metrics._faithfulness import Faithfulness

from tcva_adapters import Sample
from tcva_adapters.compare.existing.imports import (
    import_scores,
    match,
    parse_spec,
    read_existing,
)
from tcva_adapters.compare.existing.records import Reading
from tcva_adapters.compare.old_comparison import report_dict
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.running.write import write_csv, write_parquet
from tcva_adapters.compare.views.summary import summarise_table
from tcva_adapters.deepeval import LexicalLLM as DeepEvalLLM
from tcva_adapters.deepeval import TCVAMetric as DeepEvalTCVA
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.ragas import LexicalLLM as RagasLLM
from tcva_adapters.ragas import TCVAMetric as RagasTCVA
from tests.deepeval.entry import own_loop

OPENS = "The office opens at nine."

SAMPLES = [
    Sample(id="good", input="When, exactly?", response=OPENS, contexts=(OPENS, 'A "quote", here.')),
    Sample(id="bad", input="When?", response="Bananas are loud,\nand purple.", contexts=(OPENS,)),
    Sample(id="hello", input="When?", response="Hello!", contexts=(OPENS,)),
]


@pytest.fixture(scope="module")
def ragas_frame() -> pd.DataFrame:
    """What RAGAS itself prints of our three samples."""
    rows: list[SingleTurnSample | MultiTurnSample] = [
        SingleTurnSample(
            user_input=s.input, response=s.response, retrieved_contexts=list(s.contexts or ())
        )
        for s in SAMPLES
    ]
    with warnings.catch_warnings():
        # RAGAS announces the end of its main function on every call.
        warnings.simplefilter("ignore", DeprecationWarning)
        result = ragas_evaluate(
            EvaluationDataset(samples=rows),
            metrics=[Faithfulness(), RagasTCVA(llm="lexical")],
            llm=RagasLLM(),  # type: ignore[arg-type]  # it takes both families, but says one
            show_progress=False,
            allow_nest_asyncio=False,
        )
    frame = result.to_pandas()  # type: ignore[union-attr]  # no executor was asked for
    assert isinstance(frame, pd.DataFrame)
    return frame


@pytest.fixture(scope="module")
def deepeval_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that DeepEval itself saved, one metric failing on one case."""

    class Failing(FaithfulnessMetric):  # type: ignore[no-untyped-call]  # as its base class
        async def a_measure(self, test_case: LLMTestCase, *args: object, **more: object) -> float:
            if test_case.name == "bad":
                msg = "the model hung up: again"
                raise ValueError(msg)
            self.score, self.success, self.reason = 0.25, False, "so"
            return 0.25

        @property
        def __name__(self) -> str:
            return "Failing"

    folder = tmp_path_factory.mktemp("deepeval")
    cases = [
        LLMTestCase(
            name=None if s.id == "hello" else s.id,
            input=s.input or "",
            actual_output=s.response,
            retrieval_context=list(s.contexts or ()),
        )
        for s in SAMPLES
    ]
    with own_loop():
        deepeval_evaluate(
            cases,
            [
                FaithfulnessMetric(model=DeepEvalLLM(), threshold=0.8),
                DeepEvalTCVA(model="lexical"),
                Failing(model=DeepEvalLLM()),
            ],
            async_config=AsyncConfig(),
            display_config=DisplayConfig(
                print_results=False, show_indicator=False, results_folder=str(folder)
            ),
            error_config=ErrorConfig(ignore_errors=True),
        )
    latest = Path(os.environ["DEEPEVAL_CACHE_FOLDER"]) / ".latest_test_run.json"
    (folder / "latest.json").write_bytes(latest.read_bytes())
    return folder


@pytest.mark.parametrize("index", [False, True], ids=["bare", "index"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_ragas(ragas_frame: pd.DataFrame, tmp_path: Path, kind: str, index: bool) -> None:
    path = tmp_path / f"saved.{kind}"
    if kind == "csv":
        ragas_frame.to_csv(path, index=index)
    elif kind == "parquet":
        ragas_frame.iloc[::-1].to_parquet(path, index=index)
    else:
        ragas_frame.to_json(path, orient="records", lines=True)
    imported = import_scores(str(path), SAMPLES)
    assert (imported.kind, imported.unmatched, imported.missing) == ("ragas", (), ())
    assert imported.methods == ("ragas faithfulness", "ragas tcva_faithfulness")
    scores = {(r.sample, r.method): r.score for r in imported.rows}
    for method in imported.methods:
        # Fully supported, not at all, and a greeting, which claims nothing.
        assert [scores[s, method] for s in ("good", "bad", "hello")] == [1.0, 0.0, None]
    assert {r.unscored for r in imported.rows if r.score is None} == {"no score in the file"}
    assert read_existing(path).methods == imported.methods


def test_a_ragas_metric_that_failed_everywhere_is_kept(
    ragas_frame: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "saved.csv"
    ragas_frame.assign(faithfulness=math.nan, team="blue").to_csv(path, index=False)
    imported = import_scores(str(path), SAMPLES)
    assert [r.score for r in imported.rows if r.method == "ragas faithfulness"] == [None] * 3
    assert imported.ignored == ("team",)
    assert "columns left out: team" in imported.summary


def test_deepeval(deepeval_folder: Path) -> None:
    saved = next(deepeval_folder.glob("test_run_*.json"))
    imported = import_scores(str(saved), SAMPLES)
    assert imported.kind == "deepeval"
    assert imported.methods == (
        "deepeval Faithfulness",
        "deepeval TCVA faithfulness",
        "deepeval Failing",
    )
    rows = {(r.sample, r.method.removeprefix("deepeval ")): r for r in imported.rows}
    assert [rows[s, "Faithfulness"].score for s in ("good", "bad", "hello")] == [1.0, 0.0, 1.0]
    assert rows["hello", "TCVA faithfulness"].score is None
    assert rows["hello", "TCVA faithfulness"].unscored.startswith("unscored: no_claims")
    assert rows["good", "TCVA faithfulness"].input_tokens == 0
    assert (rows["bad", "Failing"].score, rows["bad", "Failing"].unscored) == (
        None,
        "the model hung up: again",
    )
    assert imported.thresholds == {
        "deepeval Faithfulness": 0.8,
        "deepeval TCVA faithfulness": 0.5,
        "deepeval Failing": 0.5,
    }
    assert (imported.unmatched, imported.missing) == ((), ())
    # The third case had no name; DeepEval calls it test_case_2, and its texts tell whose it is.
    assert '"test_case_2"' in saved.read_text(encoding="utf-8")
    latest = import_scores(str(deepeval_folder / "latest.json"), SAMPLES)
    assert latest.rows == imported.rows
    assert read_existing(saved).methods == imported.methods


def test_what_deepeval_returns_as_json(deepeval_folder: Path, tmp_path: Path) -> None:
    """`evaluate(...).model_dump_json()` has the same in Python's names."""
    saved = next(deepeval_folder.glob("test_run_*.json"))
    cases = json.loads(saved.read_text(encoding="utf-8"))["testCases"]
    results = [
        {
            "name": case["name"],
            "input": case["input"],
            "actual_output": case["actualOutput"],
            "metrics_data": [
                {"name": m["name"], "score": m.get("score", math.nan)} for m in case["metricsData"]
            ],
        }
        for case in cases
    ]
    path = tmp_path / "returned"
    path.write_text(json.dumps({"test_results": results}), encoding="utf-8")  # NaN and all
    scores = [row.score for row in import_scores(str(path), SAMPLES).rows]
    assert scores == [row.score for row in import_scores(str(saved), SAMPLES).rows]


def test_deepeval_odds_and_ends(tmp_path: Path) -> None:
    twice = [{"name": "GEval", "score": 0.1}, {"name": "GEval", "score": 0.2}]
    run = {
        "testCases": [
            {"name": "good", "input": "?", "actualOutput": OPENS, "metricsData": twice},
            {
                "name": "test_case_7",
                "input": "When?",
                "actualOutput": "Hello!",
                "metricsData": None,
            },
        ],
        "conversationalTestCases": [{"name": "talk"}],
    }
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testRunData": run}), encoding="utf-8")
    imported = import_scores(f"mine={path}", SAMPLES)
    assert imported.methods == ("mine deepeval GEval", "mine deepeval GEval #2")
    assert [(r.sample, r.score, r.unscored) for r in imported.rows] == [
        ("good", 0.1, ""),
        ("good", 0.2, ""),
        ("hello", None, "skipped"),
        ("hello", None, "skipped"),
    ]
    assert [u.why for u in imported.unmatched] == ["a conversation, not one answer"]
    assert imported.missing == ("bad",)
    assert import_scores(f"mine={path}::GEval", SAMPLES).methods == ("mine",)


CSV = "id,ours,theirs,domain,human\ngood,0.5,1,chat,0.75\nbad,,nan,chat,\nelse,0.1,0.2,chat,1\n"


def test_any_table_with_a_column_per_method(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(CSV, encoding="utf-8")
    imported = import_scores(str(path), SAMPLES)
    assert (imported.kind, imported.methods) == ("scores", ("ours", "theirs"))
    assert [(r.sample, r.method, r.score, r.unscored) for r in imported.rows] == [
        ("good", "ours", 0.5, ""),
        ("good", "theirs", 1.0, ""),
        ("bad", "ours", None, "no score in the file"),
        ("bad", "theirs", None, "no score in the file"),
    ]
    assert imported.human == {"good": 0.75}
    assert (imported.missing, imported.ignored) == (("hello",), ("domain",))
    (unmatched,) = imported.unmatched
    assert (unmatched.line, unmatched.name, unmatched.why) == (4, "else", "no sample has this id")
    assert "ours, theirs on 2 of 3 samples; 1 row matches no sample (4: else" in imported.summary
    assert read_existing(path, Reading(methods=["theirs"])).methods == ("theirs",)
    assert import_scores(f"{path}::ours", SAMPLES).methods == ("ours",)
    assert import_scores(f"x={path}::ours", SAMPLES).methods == ("x",)
    assert import_scores(str(path), SAMPLES, human="ours").human == {"good": 0.5}


def test_parquet_and_json_lists_and_whole_numbers_as_ids(tmp_path: Path) -> None:
    samples = [Sample(id="1", response="x"), Sample(response="y")]
    records = [{"sample": 1.0, "m": 0.5}, {"sample": "row-2", "m": 1.0}]
    path = tmp_path / "list.json"
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")
    assert [r.sample for r in import_scores(str(path), samples).rows] == ["1", "row-2"]
    path = tmp_path / "frame.parquet"
    pd.DataFrame({"sample": [1.0, 2.0], "m": [0.5, 1.0]}, index=[5, 9]).to_parquet(path)
    imported = import_scores(str(path), samples, ids=("1", "2"))
    assert [(r.sample, r.method, r.score) for r in imported.rows] == [
        ("1", "m", 0.5),
        ("2", "m", 1.0),
    ]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_our_own_table_comes_back_as_it_was(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "scores.csv"
    source.write_text(CSV, encoding="utf-8")
    rows = import_scores(str(source), SAMPLES).rows
    path = tmp_path / f"tidy.{kind}"
    if kind == "csv":
        write_csv(path, rows)
    else:
        assert write_parquet(path, list(rows))
    again = import_scores(str(path), SAMPLES)
    assert again.kind == "tidy"
    assert again.rows == rows
    assert import_scores(f"{path}::ours", SAMPLES).rows == rows[::2]


def test_a_score_outside_the_scale_is_refused_with_ways_out(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,m,ms\ngood,-1,250\nbad,0.5,900\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=r"line 2|, 2: column 'm'.*missing=-1.*scale="):
        import_scores(str(path), SAMPLES)
    with pytest.raises(UnreadableInputError, match=r"'ms' holds 250.0.*PATH::COLUMN"):
        import_scores(str(path), SAMPLES, missing=-1)
    imported = import_scores(f"{path}::m", SAMPLES, missing=-1)
    assert [(r.score, r.unscored) for r in imported.rows] == [(None, "-1 in the file"), (0.5, "")]
    assert imported.ignored == ("ms",)
    stars = tmp_path / "stars.csv"
    stars.write_text("id,m\ngood,1\nbad,4\n", encoding="utf-8")
    assert [r.score for r in import_scores(str(stars), SAMPLES, scale=(1, 5)).rows] == [0.0, 0.75]


def test_text_matches_with_any_white_space_and_tells_equal_answers_apart(tmp_path: Path) -> None:
    same = [
        Sample(id="a", input="One?", response="Yes.", contexts=("p",)),
        Sample(id="b", input="Two?", response="Yes.", contexts=("p",)),
        Sample(id="c", input="Two?", response="Yes.", contexts=("q", "r")),
        Sample(id="d", response="No  way.\r\nNever."),
    ]
    path = tmp_path / "scores.csv"
    header = "user_input,response,retrieved_contexts,m\n"
    rows = (
        "One?,Yes.,,0.1\nTwo?,Yes.,\"['q', 'r']\",0.2\nAny?, No way. Never. ,,0.3\nTwo?,Maybe.,,1\n"
    )
    path.write_text(header + rows + "Three?,Yes.,,1\nOne?,,,1\n", encoding="utf-8")
    imported = import_scores(str(path), same)
    assert {r.sample: r.score for r in imported.rows} == {"a": 0.1, "c": 0.2, "d": 0.3}
    assert [u.why for u in imported.unmatched] == [
        "no sample has this answer",
        "a sample has this answer, but to another question",
        "no answer to match by",
    ]
    path.write_text(header + "Two?,Yes.,,0.1\n", encoding="utf-8")
    with pytest.raises(
        UnreadableInputError, match="fits the samples b, c alike; give the rows an id"
    ):
        import_scores(str(path), same)


def test_an_id_with_another_answer_is_from_another_run(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"id,answer,m\ngood,{OPENS},1\nhello,{OPENS},1\n", encoding="utf-8")
    imported = import_scores(str(path), SAMPLES)
    assert [r.sample for r in imported.rows] == ["good"]
    assert imported.unmatched[0].why == "its id is known, but its answer is another one"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,m\ngood,1\ngood,0\n", "2 and 3: both score sample 'good' by 'm'"),
        ("id,m\nx,1\ny,0\n", "none of its 2 rows matches a sample; the first, 2: no sample"),
        ("id,m\n", "holds no results"),
        ("", "holds no results"),
        ("id,m\ngood,yes\n", "no column holds scores; columns are id, m"),
        ("id,m\ngood,1,2\n", "3 cells"),
        ('{"a": 1}', "none of its 1 rows matches a sample"),
        ('{"a": "b"}', "no column holds scores"),
        ("[1]", "a JSON object, not 1"),
        ('{"testCases": []}', "no metric of a single answer"),
        ("{", "not JSON"),
        (f'[{{"id": "good", "m": 1{"0" * 400}}}]', "no column holds scores"),
        ('{"testCases": [null]}', "test case 1 is None, no object"),
        ('{"testCases": [{"metricsData": {"name": 1}}]}', "test case 1: its metrics are no list"),
        ('{"testCases": [{"metricsData": [5]}]}', "test case 1: its metrics are no list"),
        (
            '{"testCases": [{"metadata": [1], "metricsData": [{"name": "m", "score": 1}]}]}',
            "none of its 1 rows matches a sample",
        ),
        (
            '{"testCases": [{"metricsData": [{"name": "m"}]}], "conversationalTestCases": 3}',
            "none of its 1 rows matches a sample",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=said):
        import_scores(str(path), SAMPLES)


def test_the_kind_shows_in_the_content_however_long_its_lines_are(tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    records = [
        {
            "user_input": "When?",
            "response": f"{OPENS} " * 300,
            "retrieved_contexts": [OPENS],
            "m": m,
        }
        for m in (0.5, 1)
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8-sig")
    existing = read_existing(path)
    assert (existing.kind, existing.methods, len(existing.records)) == ("ragas", ("ragas m",), 2)
    assert existing.records[0].contexts == (OPENS,)
    path.write_text(json.dumps(records[0]), encoding="utf-8")
    assert len(read_existing(path).records) == 1


def test_what_is_asked_for_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,m\ngood,1\n", encoding="utf-8")
    for spec, options, said in (
        (f"{path}::x", {}, "no column 'x'"),
        (str(path), {"human": "people"}, "no column 'people'"),
        (str(tmp_path), {}, "folder"),
        (str(tmp_path / "nowhere"), {}, "no such file"),
    ):
        with pytest.raises(UnreadableInputError, match=said):
            import_scores(spec, SAMPLES, **options)  # type: ignore[arg-type]  # one option at a time
    path.write_text("id,m\ngood,yes\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="'yes', which is no number"):
        import_scores(f"{path}::m", SAMPLES)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="no column holds scores"):
        read_existing(path)
    with pytest.raises(InvalidValueError, match=r"scale=\(1, 0\)"):
        Reading(scale=(1, 0))


def test_ids_must_tell_samples_apart(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,m\ngood,1\n", encoding="utf-8")
    existing = read_existing(path)
    with pytest.raises(InvalidValueError, match="2 ids for 3 samples"):
        match(existing, SAMPLES, ["a", "b"])
    with pytest.raises(InvalidValueError, match="two samples have the id 'a'"):
        match(existing, SAMPLES, ["a", "b", "a"])


def test_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_spec("scores.csv") == (None, "scores.csv", None)
    assert parse_spec("a b=x.csv::m, n") == ("a b", "x.csv", ("m", "n"))
    monkeypatch.chdir(tmp_path)
    Path("a=b.csv").write_text("", encoding="utf-8")
    assert parse_spec("a=b.csv") == (None, "a=b.csv", None)
    for wrong in ("=x.csv", "name=", ""):
        with pytest.raises(InvalidValueError, match="NAME=PATH"):
            parse_spec(wrong)


def test_imported_rows_go_through_the_whole_comparison(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(CSV, encoding="utf-8")
    imported = import_scores(str(path), SAMPLES)
    table = ScoreTable.of(imported.rows, imported.human)
    report = report_dict(summarise_table(table, rows=imported.rows, n_boot=10), None, [imported])
    json.dumps(report, allow_nan=False)
    assert report["methods"][1]["reasons"] == {"no score in the file": 1}
    (entry,) = report["imported"]
    assert (entry["matched"], entry["unmatched"][0]["line"]) == (2, 4)
    assert "rows" not in entry


cells = st.one_of(
    st.text(max_size=12),
    st.floats(),
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.lists(st.text(max_size=3), max_size=2),
)
names = st.sampled_from(["id", "response", "m", "n", "human", "method", "score", "sample", "name"])


@given(st.lists(st.dictionaries(names, cells, max_size=5), min_size=1, max_size=4))
def test_odd_tables_are_read_or_refused_with_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, object]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    try:
        imported = import_scores(str(path), SAMPLES)
    except UnreadableInputError:
        return
    for row in imported.rows:
        assert row.score is None or 0.0 <= row.score <= 1.0
        assert (row.score is None) == bool(row.unscored)
