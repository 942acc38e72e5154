"""Batches of every kind come back whole, whatever is wrong with a row."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # as Arrow
import pyarrow as pa  # type: ignore[import-untyped]  # it is not typed
import pytest

from tcva_adapters import TCVA, Panel, Result, Sample
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.result_reader import read_result
from tcva_adapters.scale import cluster, judge_batch
from tcva_adapters.scale.settings import scorer_of, worker_settings
from tests.support.scripted import ScriptedModel

SETTINGS = {"criterion": "faithfulness", "judge": "lexical", "temperature": "strict"}
ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "answer": "It opens at nine.",
        "docs": ["It opens at nine.", "It is red."],
        "n": 1,
    },
    {
        "id": "b",
        "answer": "It opens at ten. It is red.",
        "docs": ["It opens at nine."],
        "n": 2,
    },
    {"id": "c", "answer": "It opens at nine.", "docs": None, "n": 3},
    {"id": "d", "answer": None, "docs": None, "n": 4},
]


def columns() -> dict[str, Any]:
    names = {"docs": "contexts"}
    return {names.get(name, name): [row[name] for row in ROWS] for name in ROWS[0]}


def arrays() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, values in columns().items():
        found[name] = np.empty(len(values), dtype=object)
        # Engines hand lists over as arrays.
        found[name][:] = [
            np.array(v, dtype=object) if isinstance(v, list) else v for v in values
        ]
    return {**found, "n": np.array(columns()["n"])}


KINDS: dict[str, Any] = {"numpy": arrays, "arrow": lambda: pa.table(columns())}
KINDS["pandas"] = lambda: pd.DataFrame(columns(), index=[3, 5, 7, 9])


def as_rows(batch: Any) -> list[dict[str, Any]]:
    if isinstance(batch, pa.Table):
        return batch.to_pylist()  # type: ignore[no-any-return]  # Arrow is not typed
    if isinstance(batch, pd.DataFrame):
        return batch.astype(object).where(batch.notna(), None).to_dict("records")  # type: ignore[no-any-return]  # pandas is not typed
    rows = [
        dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True)
    ]
    for row in rows:
        row["tcva_score"] = (
            None if math.isnan(row["tcva_score"]) else float(row["tcva_score"])
        )
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_rows_come_back_with_columns_more(kind: str) -> None:
    batch = KINDS[kind]()
    found = judge_batch(batch, settings=SETTINGS)
    assert type(found) is type(batch)
    rows = as_rows(found)
    assert [row["id"] for row in rows] == ["a", "b", "c", "d"]
    assert [int(row["n"]) for row in rows] == [1, 2, 3, 4]
    tcva = TCVA(**SETTINGS)
    for given, row in zip(ROWS[:2], rows, strict=False):
        fields = {
            "id": given["id"],
            "response": given["answer"],
            "contexts": given["docs"],
        }
        wanted = tcva.evaluate(Sample(**fields, metadata={"n": given["n"]}))
        assert row["tcva_score"] == wanted.score
        assert bool(row["tcva_passed"]) is wanted.passed
        assert (row["tcva_reason"], Result.from_json(row["tcva_result"])) == (
            wanted.reason,
            wanted,
        )
        assert row["tcva_unscored"] is row["tcva_error"] is None
    assert rows[2]["tcva_unscored"] == "missing_field"
    assert (
        rows[2]["tcva_score"] is rows[2]["tcva_passed"] is rows[2]["tcva_error"] is None
    )
    assert rows[3]["tcva_error"].startswith("no known field")
    assert rows[3]["tcva_result"] is rows[3]["tcva_key"] is None
    again = as_rows(judge_batch(found, settings=SETTINGS))
    assert [row["tcva_key"] for row in again] == [row["tcva_key"] for row in rows]
    assert again[0].keys() == rows[0].keys()


def test_types_hold_in_a_batch_without_a_score() -> None:
    table = judge_batch(pa.table({"answer": ["It is red."]}), settings=SETTINGS)
    types = [str(table.schema.field(name).type) for name in table.column_names[1:]]
    assert types == ["double", "bool", *["string"] * 5]
    assert len(judge_batch(KINDS["pandas"]()[:0], settings=SETTINGS).columns) == 11
    assert judge_batch({"answer": []}, settings=SETTINGS)["tcva_score"].tolist() == []


@pytest.mark.parametrize(
    ("error", "score"), [("half-written", None), ("", 1.0), (None, 1.0)]
)
def test_your_columns_your_prefix_and_your_errors(
    error: Any, score: float | None
) -> None:
    batch = {"mine": ["It is red."], "context": ["It is red."], "f_error": [error]}
    how: dict[str, Any] = {"mapping": {"mine": "response"}, "prefix": "f_"}
    found = judge_batch(batch, settings=SETTINGS, **how)
    assert found["mine"] == ["It is red."]
    assert (None if math.isnan(found["f_score"][0]) else found["f_score"][0]) == score
    assert found["f_error"].tolist() == [error or None]


def test_keys_are_equal_where_scores_are() -> None:
    batch = {
        "id": ["a", "b", "c"],
        "answer": ["Red.", "Red.", "Blue."],
        "context": ["Red."] * 3,
    }
    one, two, other = judge_batch(batch, settings=SETTINGS)["tcva_key"]
    assert one == two != other
    assert (
        judge_batch(batch, settings={**SETTINGS, "temperature": 0.9})["tcva_key"][0]
        != one
    )
    fused = TCVA(judge="lexical", fuse=[TCVA("correctness", judge="lexical")])
    batch = {
        "answer": ["Red."] * 2,
        "context": ["Red."] * 2,
        "reference": ["Red.", "Blue."],
    }
    one, other = judge_batch(batch, settings=fused)["tcva_key"]
    assert one != other


def test_settings_of_every_kind_of_scorer() -> None:
    batch = {"question": ["Where is it?"], "answer": ["It is here."]}
    found = judge_batch(batch, settings={"metrics": "qr", "judge": "lexical"})
    assert read_result(found["tcva_result"][0]).score == found["tcva_score"][0]
    assert scorer_of(dict(SETTINGS)) is scorer_of(dict(SETTINGS))
    model = {"base_url": "http://127.0.0.1:1/v1", "requests_per_minute": 60}
    settings = {
        "judge": "openai:a",
        "panel": ["openai:b"],
        "fuse": "lexical",
        "max_claims": 4,
    }
    tcva = scorer_of({**settings, "model": model})
    assert isinstance(tcva, TCVA)
    assert isinstance(tcva.judge, Panel)
    assert [judge.name for judge in tcva.judge.judges] == ["openai:a", "openai:b"]
    assert [judge.parameters["max_claims"] for judge in tcva.judge.judges] == [4, 4]
    own = worker_settings(
        {"judge": "openai:m", "max_concurrency": 16, "model": model}, 4
    )
    assert (own["max_concurrency"], own["model"]["requests_per_minute"]) == (4, 15.0)  # type: ignore[index]  # a mapping
    with pytest.raises(InvalidValueError, match=r"max_concurrency=2, got 3"):
        worker_settings({"judge": "openai:m", "max_concurrency": 2, "model": model}, 3)


def test_a_failure_that_no_call_escapes_ends_the_job() -> None:
    wrong = JudgeError("the key is wrong", reason="authentication", fatal=True)
    tcva = TCVA(judge=ScriptedModel([wrong]))
    with pytest.raises(JudgeError, match="the key is wrong"):
        judge_batch({"answer": ["Red."], "context": ["Red."]}, settings=tcva)


@pytest.mark.parametrize(("batch", "settings", "says"), [
    ([1, 2], SETTINGS, "got list"),
    ({"answer": ["a"], "context": []}, SETTINGS, "equal length"),
    ({"answer": "abc"}, SETTINGS, "equal length"),
    ({"answer": ["a"]}, {"judge": "lexical", "temprature": 1}, "temprature"),
    ({"answer": ["a"]}, {"judge": lambda: None}, "plain values that can be pickled"),
])  # fmt: skip
def test_what_is_no_batch_and_what_are_no_settings(
    batch: Any, settings: Any, says: str
) -> None:
    with pytest.raises(InvalidValueError, match=says):
        judge_batch(batch, settings=settings)


def test_a_folder_knows_its_files_by_what_they_hold(tmp_path: Path) -> None:
    source, linked, copied = (
        tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")
    )
    source.write_text("one", encoding="utf-8")
    linked.symlink_to(source)
    copied.write_text("one", encoding="utf-8")
    held = {cluster._digest(str(path)) for path in (source, linked, copied)}
    copied.write_text("two", encoding="utf-8")
    other = cluster._digest(str(copied))
    assert len({*held, other}) == 2
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "_lock").touch()
    for sources in ([*held], [*held], [other, *held]):
        cluster._claim(folder, {}, sources)
    for sources in ([*held], [other], []):
        with pytest.raises(
            InvalidValueError, match="changed since or are not named now; name all"
        ):
            cluster._claim(folder, {}, sources)
