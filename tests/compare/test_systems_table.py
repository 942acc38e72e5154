"""Scores of systems: rows into matrices, and files into rows."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.compare.rows import Row
from tcva_adapters.compare.running.write import write_csv, write_parquet
from tcva_adapters.compare.systems.read import read_systems
from tcva_adapters.compare.systems.table import SystemRow, SystemTable, at_temperature
from tcva_adapters.core.aggregation import aggregate
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.result import Result

NAN = math.nan
LONG = "system,query,metric,score\na,1,m,0.5\nb,1,m,1\na,2,m,\nb,2,m,0.25\na,1,k,0.1\n"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def judged(name: str, words: dict[str, list[str]], **changes: object) -> None:
    assessments = [Assessment.from_verdicts(v, sample_id=k) for k, v in words.items()]
    write_assessments(name, [a.model_copy(update=changes) for a in assessments])


def rated(sample_id: str) -> CCRSResult:
    answer = MetricAnswer(rating=80.0)
    return CCRSResult(
        judge="j",
        prompt_version="1",
        answers={"qr": answer},
        sample_id=sample_id,
    )


def test_a_long_table() -> None:
    Path("scores.tsv.csv").write_text(LONG)
    table = read_systems(["scores.tsv.csv"])
    assert (table.systems, table.queries, table.metrics) == (("a", "b"), ("1", "2"), ("m", "k"))
    expected = [[[0.5, 1.0], [NAN, 0.25]], [[0.1, NAN], [NAN, NAN]]]
    assert np.array_equal(table.scores, expected, equal_nan=True)
    # A query that nobody has under a metric is no gap of it.
    assert np.array_equal(table.metric("k"), [[0.1, NAN]], equal_nan=True)
    assert table.gaps() == [
        "m: of 2 queries, some have no score: a 1",
        "k: of 1 queries, some have no score: b 1",
    ]


def test_other_formats_say_the_same() -> None:
    Path("long.csv").write_text(LONG)
    records = [
        {"system": s, "query": q, "metric": m, "score": float(x) if x else None}
        for s, q, m, x in (line.split(",") for line in LONG.splitlines()[1:])
    ]
    Path("long.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    Path("long.json").write_text(json.dumps(records))
    names = ["long.jsonl", "long.json"]
    pa = pytest.importorskip("pyarrow", reason="the extra parquet")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet")
    parquet.write_table(pa.Table.from_pylist(records), "long.parquet")
    expected = read_systems(["long.csv"])
    for name in [*names, "long.parquet"]:
        found = read_systems([name])
        assert found.metrics == expected.metrics
        assert np.array_equal(found.scores, expected.scores, equal_nan=True)


def test_files_without_a_system_are_systems_themselves() -> None:
    Path("plain.csv").write_text("id,score\nq1,0.5\nq2,n/a\n")
    Path("x").mkdir()
    Path("x/other.csv").write_text("sample,method,score\nq1,score,1.0\n")
    table = read_systems(["plain.csv", "best=x/other.csv"])
    assert table.systems == ("plain", "best")
    assert table.metrics == ("score",)
    assert np.array_equal(table.scores, [[[0.5, 1.0], [NAN, NAN]]], equal_nan=True)


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "judged.csv").write_text("query,score\n1,0.5\n")
    assert read_systems(["one/judged.csv", "two/judged.csv"]).systems == (
        "one/judged",
        "two/judged",
    )


def test_the_table_of_a_comparison_of_frameworks() -> None:
    rows = [Row("s1", "tcva T=0.5", 0.9), Row("s1", "ragas faithfulness", None, "no_score")]
    write_csv(Path("plain/scores.csv"), rows)
    write_parquet(Path("tuned/scores.parquet"), [Row("s1", "tcva T=0.5", 0.4)])
    table = read_systems(["plain", "tuned"])
    assert table.systems == ("plain", "tuned")
    assert table.metrics == ("tcva T=0.5", "ragas faithfulness")
    assert table.metric("tcva T=0.5").tolist() == [[0.9, 0.4]]


def test_assessments_at_every_temperature() -> None:
    mixed, good = ["fully", "partial", "none"], ["fully", "fully"]
    judged("a.jsonl", {"q1": mixed, "q2": good})
    judged("b.jsonl", {"q2": mixed, "q1": []})
    table = read_systems(["a.jsonl", "b.jsonl"], temperatures=["strict", 0.9])
    assert table.metrics == ("faithfulness T=0.2", "faithfulness T=0.9")
    assert table.queries == ("q1", "q2")
    for metric, temperature in (("faithfulness T=0.2", 0.2), ("faithfulness T=0.9", 0.9)):
        low = aggregate(mixed, temperature)
        expected = [[low, NAN], [1.0, low]]
        assert np.allclose(table.metric(metric), expected, atol=1e-12, equal_nan=True)
    assert table.notes == ()
    assert table.gaps() == ["faithfulness: of 2 queries, some have no score: b 1"]
    assert table.only(["faithfulness"]).metrics == table.metrics
    assert table.only(["faithfulness T=0.9"]).metrics == ("faithfulness T=0.9",)


def test_results_in_memory_are_read_like_their_files() -> None:
    words = {"q1": ["fully", "none"], "q2": ["partial"]}
    judged("a.jsonl", words)
    results = [Result(Assessment.from_verdicts(v, sample_id=k)) for k, v in words.items()]
    assessments = [result.assessment for result in results]
    table = read_systems({"file": "a.jsonl", "results": results, "assessments": assessments})
    assert table.systems == ("file", "results", "assessments")
    for metric in table.metrics:
        scores = table.metric(metric)
        assert np.array_equal(scores, scores[:, [0, 0, 0]])
    direct = read_systems({"one": [rated("q1")]})
    assert (direct.metrics, direct.queries) == (("qr",), ("q1",))
    with pytest.raises(InvalidSampleError, match="no results of 'one'"):
        read_systems({"one": []})


def test_systems_in_the_metadata_and_judges_that_differ() -> None:
    judged("a.jsonl", {"q1": ["fully"]}, metadata={"model": "small"}, judge="one")
    judged("b.jsonl", {"q1": ["none"]}, metadata={"model": "large"}, judge="two")
    found = read_systems(["a.jsonl", "b.jsonl"], system_field="model", temperatures=[0.5])
    assert found.systems == ("small", "large")
    assert found.notes == (
        "systems have different judges, so differences may be theirs (small: one; large: two)",
    )
    with pytest.raises(UnreadableInputError, match=r"no 'modell' in its metadata.*'model'"):
        read_systems(["a.jsonl"], system_field="modell")


def test_samples_without_ids_go_by_their_number() -> None:
    for name in ("a.jsonl", "b.jsonl"):
        assessments = [Assessment.from_verdicts([word]) for word in ("fully", "minor")]
        write_assessments(name, assessments)
    assert read_systems(["a.jsonl", "b.jsonl"]).queries == ("#1", "#2")


def test_two_judges_in_a_file_are_two_metrics() -> None:
    pair = [Assessment.from_verdicts(["fully"], judge=j, sample_id="q") for j in ("one", "two")]
    write_assessments("a.jsonl", pair)
    assert read_systems(["a.jsonl"], temperatures=[0.5]).metrics == (
        "faithfulness by one T=0.5",
        "faithfulness by two T=0.5",
    )


def test_direct_metrics() -> None:
    Path("a.jsonl").write_text(rated("q1").to_json() + "\n")
    table = read_systems(["a.jsonl"])
    assert (table.metrics, table.metric("qr").tolist()) == (("qr",), [[0.8]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("system,query,score\n", "empty"),
        ("system,query\na,1\n", "no scores among the fields 'system', 'query'"),
        ("system,query,score\na,1,good\n", "line 2: score 'good' is no number"),
        ("system,query,score\na,1,inf\n", "score 'inf' is no number"),
        ("system,query,score\na,,1\n", "'query' is empty"),
        ("system,query,score\n,1,1\n", "'system' is empty"),
        ("system,query,score\na,1\n", "line 2: 2 cells"),
    ],
)
def test_unreadable_tables(text: str, said: str) -> None:
    Path("long.csv").write_text(text)
    with pytest.raises(UnreadableInputError, match=said):
        read_systems(["long.csv"])


def test_mistakes() -> None:
    Path("long.csv").write_text("system,query,score\na,1,0.5\na,1,0.6\n")
    with pytest.raises(InvalidValueError, match="two scores of system 'a' for query '1'"):
        read_systems(["long.csv"])
    with pytest.raises(InvalidValueError, match="no file"):
        read_systems([])
    with pytest.raises(UnreadableInputError, match="no such file"):
        read_systems(["nowhere.csv"])
    Path("folder").mkdir()
    with pytest.raises(UnreadableInputError, match=r"without scores\.csv"):
        read_systems(["folder"])
    with pytest.raises(InvalidSampleError, match="no scores to compare"):
        SystemTable.of([])
    judged("a.jsonl", {"q1": ["fully"]})
    with Path("a.jsonl").open("a") as stream:
        stream.write('{"criterion": "x"}\n')
    with pytest.raises(UnreadableInputError, match=r"a\.jsonl, line 2: not an assessment"):
        read_systems(["a.jsonl"])
    table = SystemTable.of([SystemRow("a", "1", "m", 0.5)])
    for attempt in (lambda: table.metric("x"), lambda: table.only(["x"])):
        with pytest.raises(InvalidValueError, match="no metric 'x'; there are m"):
            attempt()


def test_temperatures_in_names() -> None:
    assert at_temperature("tcva T=0.35") == ("tcva", 0.35)
    assert at_temperature("by gpt-4 T=1") == ("by gpt-4", 1.0)
    assert at_temperature(" T=1") == (" T=1", None)
