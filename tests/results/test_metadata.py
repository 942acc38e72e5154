"""Metadata may be anything; results with it are written and read all the same."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters.ccrs import CCRS
from tcva_adapters.results.protocol import read_result
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA


class Unwilling:
    def __str__(self) -> str:
        raise ZeroDivisionError


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"a": inner}
    return inner


def endless() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["itself"] = value
    return value


ODD: dict[str, dict[str, Any]] = {
    "half a character": {"a": "\ud800"},
    "half a character deep inside": {"a": [{"b": "x\udfff"}]},
    "half a character as a key": {"\ud800": 1},
    "a key of half a character inside": {"a": {"\ud800": 1}},
    "NUL": {"a\0": "\0"},
    "bytes": {"a": b"\xff\xfe"},
    "a large number": {"a": 10**400},
    "a number of 5000 digits": {"a": 10**5000},
    "nan": {"a": math.nan, "b": math.inf},
    "numpy": {"a": np.float64(1), "b": np.int64(3), "c": np.ones(3)},
    "a key that is no text": {"a": {1: 2, (1, 2): 3}},
    "a date": {"a": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)},
    "a Decimal": {"a": Decimal("1.50")},
    "a set": {"a": {1}},
    "an object": {"a": object()},
    "an object without a text": {"a": Unwilling(), "b": 1},
    "deep nesting": {"a": nested(3000), "b": 1},
    "itself": {"a": endless(), "b": 1},
}


@pytest.mark.parametrize("scorer", [TCVA, CCRS])
@pytest.mark.parametrize("odd", ODD)
def test_a_result_with_odd_metadata_is_written_and_read(
    odd: str, scorer: Any, tmp_path: Path
) -> None:
    sample = Sample(
        input="When?",
        response="It opens at nine.",
        contexts=("It opens at nine.",),
        reference="At nine.",
        id="\ud800",
        metadata=ODD[odd],
    )
    with VerdictStore(tmp_path / "store") as store:
        (result,) = scorer(store=store).evaluate_many([sample])
    assert result.score is not None
    (tmp_path / "out.jsonl").write_text(result.to_json(), encoding="utf-8")
    held = read_result((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert held.score == result.score
    assert held.sample_id == "\ufffd"
    assert read_result(result.to_dict()).score == result.score


def test_only_what_cannot_be_written_becomes_text() -> None:
    sample = Sample(
        response="It opens at nine.",
        contexts=("It opens at nine.",),
        metadata={
            "good": [1, {"a": None}],
            "bytes": b"\xff",
            "long": 10**5000,
            "date": datetime.date(2026, 1, 1),
        },
    )
    written = TCVA().evaluate(sample).to_dict()["metadata"]
    assert written == {
        "good": [1, {"a": None}],
        "bytes": "b'\\xff'",
        "long": "<int>",
        "date": "2026-01-01",
    }
