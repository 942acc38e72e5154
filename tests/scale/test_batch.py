"""Batches of every kind come back whole, whatever is wrong with a row."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # as Arrow
import pyarrow as pa  # type: ignore[import-untyped]  # it is not typed
import pytest

from tcva_adapters import TCVA, Assessment, Result, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.results.protocol import read_result
from tcva_adapters.scale import judge_batch
from tcva_adapters.scale.lines import slimmed
from tcva_adapters.scale.settings import scorer_of, shared_out
from tests.support.scripted import ScriptedModel

SETTINGS = {"criterion": "faithfulness", "judge": "lexical", "temperature": "strict"}
ROWS: list[dict[str, Any]] = [
    {"id": "a", "answer": "It opens at nine.", "docs": ["It opens at nine.", "It is red."], "n": 1},
    {"id": "b", "answer": "It opens at ten. It is red.", "docs": ["It opens at nine."], "n": 2},
    {"id": "c", "answer": "It opens at nine.", "docs": None, "n": 3},
    {"id": "d", "answer": None, "docs": None, "n": 4},
]


def columns(names: dict[str, str] | None = None) -> dict[str, Any]:
    names = {"docs": "contexts", **(names or {})}
    return {names.get(name, name): [row[name] for row in ROWS] for name in ROWS[0]}


def arrays() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, values in columns().items():
        found[name] = np.empty(len(values), dtype=object)
        # Engines hand lists over as arrays.
        found[name][:] = [np.array(v, dtype=object) if isinstance(v, list) else v for v in values]
    return {**found, "n": np.array(columns()["n"])}


KINDS: dict[str, Any] = {
    "numpy": arrays,
    "arrow": lambda: pa.table(columns()),
    "pandas": lambda: pd.DataFrame(columns(), index=[3, 5, 7, 9]),
}


def as_rows(batch: Any) -> list[dict[str, Any]]:
    if isinstance(batch, pa.Table):
        return batch.to_pylist()  # type: ignore[no-any-return]  # Arrow is not typed
    if isinstance(batch, pd.DataFrame):
        return batch.astype(object).where(batch.notna(), None).to_dict("records")  # type: ignore[no-any-return]  # pandas is not typed
    rows = [dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True)]
    for row in rows:
        row["tcva_score"] = None if math.isnan(row["tcva_score"]) else float(row["tcva_score"])
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
        fields = {"id": given["id"], "response": given["answer"], "contexts": given["docs"]}
        wanted = tcva.evaluate(Sample(**fields, metadata={"n": given["n"]}))
        assert row["tcva_score"] == wanted.score
        assert bool(row["tcva_passed"]) is wanted.passed
        assert row["tcva_reason"] == wanted.reason
        assert Result.from_json(row["tcva_result"]) == wanted
        assert row["tcva_unscored"] is row["tcva_error"] is None
    assert rows[2]["tcva_unscored"] == "missing_field"
    assert rows[2]["tcva_score"] is rows[2]["tcva_passed"] is rows[2]["tcva_error"] is None
    assert rows[3]["tcva_error"].startswith("nothing to judge")
    assert rows[3]["tcva_result"] is rows[3]["tcva_key"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_was_judged_is_judged_again_alike(kind: str) -> None:
    once = judge_batch(KINDS[kind](), settings=SETTINGS)
    again = judge_batch(once, settings=SETTINGS)
    keys = [row["tcva_key"] for row in as_rows(once)]
    assert [row["tcva_key"] for row in as_rows(again)] == keys
    assert (
        list(getattr(again, "columns", again)) == list(getattr(once, "columns", once))
        or kind == "arrow"
    )
    assert len(as_rows(again)[0]) == len(as_rows(once)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_batch_has_the_columns(kind: str) -> None:
    batch = KINDS[kind]()
    empty = {n: v[:0] for n, v in batch.items()} if kind == "numpy" else batch[:0]
    found = judge_batch(empty, settings=SETTINGS)
    assert "tcva_score" in (found.column_names if kind == "arrow" else found)


def test_types_hold_in_a_batch_without_a_score() -> None:
    table = judge_batch(pa.table({"answer": ["It is red."]}), settings=SETTINGS)
    types = {name: str(table.schema.field(name).type) for name in table.column_names[1:]}
    assert types == {
        "tcva_score": "double",
        "tcva_passed": "bool",
        "tcva_reason": "string",
        "tcva_unscored": "string",
        "tcva_error": "string",
        "tcva_result": "string",
        "tcva_key": "string",
    }


def test_your_columns_and_your_prefix() -> None:
    batch = {"my_answer": ["It opens at nine."], "context": ["It opens at nine."]}
    found = judge_batch(batch, settings=SETTINGS, mapping={"my_answer": "response"}, prefix="f_")
    assert found["f_score"].tolist() == [1.0]
    assert found["my_answer"] == ["It opens at nine."]


def test_a_row_with_an_error_keeps_it() -> None:
    batch = {"answer": ["It is red."], "context": ["It is red."], "tcva_error": ["half-written"]}
    found = judge_batch(batch, settings=SETTINGS)
    assert found["tcva_error"].tolist() == ["half-written"]
    assert found["tcva_result"].tolist() == [None]


@pytest.mark.parametrize("none", [None, "", float("nan")])
def test_a_missing_error_is_none_however_it_is_stored(none: Any) -> None:
    batch = {"answer": ["It is red."], "context": ["It is red."], "tcva_error": [none]}
    assert judge_batch(batch, settings=SETTINGS)["tcva_score"].tolist() == [1.0]


def test_keys_are_equal_where_scores_are() -> None:
    batch = {"id": ["a", "b", "c"], "answer": ["Red.", "Red.", "Blue."], "context": ["Red."] * 3}
    one, two, other = judge_batch(batch, settings=SETTINGS)["tcva_key"]
    assert one == two != other
    lenient = judge_batch(batch, settings={**SETTINGS, "temperature": 0.9})["tcva_key"]
    assert lenient[0] != one


def test_keys_tell_what_fused_judges_look_at() -> None:
    tcva = TCVA(judge="lexical", fuse=[TCVA("correctness", judge="lexical")])
    batch = {"answer": ["Red."] * 2, "context": ["Red."] * 2, "reference": ["Red.", "Blue."]}
    one, other = judge_batch(batch, settings=tcva)["tcva_key"]
    assert one != other


def test_direct_metrics() -> None:
    batch = {"question": ["Where is it?"], "answer": ["It is here."]}
    settings = {"metrics": "qr", "judge": "lexical"}
    found = judge_batch(batch, settings=settings)
    assert read_result(found["tcva_result"][0]).score == found["tcva_score"][0]
    assert isinstance(scorer_of(settings), CCRS)


def test_settings_are_made_into_a_scorer_once() -> None:
    assert scorer_of(dict(SETTINGS)) is scorer_of(dict(SETTINGS))
    tcva = TCVA(judge="lexical")
    assert scorer_of(tcva) is tcva
    assert pickle.loads(pickle.dumps(SETTINGS)) == SETTINGS


def test_a_panel_and_models_by_their_settings() -> None:
    model = {"base_url": "http://127.0.0.1:1/v1", "requests_per_minute": 60}
    settings = {"judge": "openai:a", "panel": ["openai:b"], "fuse": "lexical", "max_claims": 4}
    tcva = scorer_of({**settings, "model": model})
    assert isinstance(tcva, TCVA)
    assert [judge.name for judge in tcva.panel_judges] == ["openai:a", "openai:b"]
    assert [judge.parameters["max_claims"] for judge in tcva.panel_judges] == [4, 4]
    assert [member.judge.name for member in tcva.members] == ["lexical-4"] or tcva.members


def test_a_failure_that_no_call_escapes_ends_the_job() -> None:
    wrong = JudgeError("the key is wrong", reason="authentication", fatal=True)
    tcva = TCVA(judge=ScriptedModel([wrong]))
    with pytest.raises(JudgeError, match="the key is wrong"):
        judge_batch({"answer": ["Red."], "context": ["Red."]}, settings=tcva)


@pytest.mark.parametrize(
    ("batch", "settings", "says"),
    [
        ([1, 2], SETTINGS, "not a list"),
        ({"answer": ["a"], "context": []}, SETTINGS, "equal length"),
        ({"answer": ["a"]}, {"judge": "lexical", "temprature": 1}, "temprature"),
        ({"answer": ["a"]}, "faithfulness", "mapping of arguments"),
        ({"answer": ["a"]}, {"judge": lambda: None}, "plain values that can be pickled"),
        ({"answer": ["a"]}, {"judge": "lexical", "model": 5}, "model=5 .* a mapping"),
        ({"answer": ["a"]}, {"judge": "lexical", "panel": "lexical"}, "a list of judges"),
        ({"answer": ["a"]}, {"judge": "lexical", "config": 5}, "the path of a file"),
        ({"answer": ["a"]}, {1: 2}, "named by texts; 1 is none"),
        ({"answer": "abc"}, SETTINGS, "column 'answer' is a str"),
        ({"answer": None}, SETTINGS, "column 'answer' is a NoneType"),
        ({"answer": np.array("abc")}, SETTINGS, "column 'answer' is a ndarray"),
        (pa.table([["a"], ["b"]], names=["answer"] * 2), SETTINGS, "'answer' is there more than"),
        (pd.DataFrame([["a", "b"]], columns=["answer"] * 2), SETTINGS, "'answer' is there more"),
    ],
)
def test_what_is_no_batch_and_what_are_no_settings(batch: Any, settings: Any, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        judge_batch(batch, settings=settings)


def test_limits_are_shared_out() -> None:
    with pytest.raises(InvalidValueError, match="3 workers share max_concurrency=2"):
        shared_out(
            {
                "judge": "openai:m",
                "max_concurrency": 2,
                "model": {"base_url": "http://127.0.0.1:1/v1"},
            },
            3,
        )
    tcva = TCVA(judge="lexical")
    assert shared_out(tcva, 3) is tcva


def test_slim_lines_tell_which_judges_looked_at_the_same_claims() -> None:
    one = Assessment.from_verdicts(["fully", "none"], judge="a")
    other = one.model_copy(
        update={"claims": (one.claims[0], one.claims[1].model_copy(update={"claim": "Another."}))}
    )
    whole = one.model_copy(update={"panel": (one, other)})
    table = pa.table({"result": [Result(whole).to_json()]})
    (line,) = slimmed(table, column="result").column("result").to_pylist()
    found = Assessment.from_json(line)
    assert "Another" not in line
    texts = [[claim.claim for claim in each.claims] for each in (found, *found.panel)]
    assert texts[0] == texts[1] != texts[2]
