"""Metadata of every kind go into JSON, and what it cannot hold is text."""

from __future__ import annotations

import json
import math
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.results.assessment import written_out
from tcva_adapters.results.files import read_assessments, write_assessments

OPENS = "The office opens at nine."


class Speechless:
    def __str__(self) -> str:
        raise OSError


def circular() -> dict[str, Any]:
    found: dict[str, Any] = {"name": "x"}
    found["self"] = [found, found]
    return found


def deep() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(5000):
        found = {"a": found}
    return found


METADATA = {
    "bytes": {"b": b"\xff\xfe"},
    "circular": circular(),
    "deep": deep(),
    "speechless": {"o": Speechless()},
    "half a character": {"t": "\ud800"},
    "a long number": {"n": 10**5000},
    "nan": {"n": [math.nan, np.float32(0.5), np.arange(2)]},
    "keys that are no texts": {"k": {1: 2, (1, 2): {"\ud800": 3}}},
    "values of Python's own": {"d": date(2026, 1, 1), "c": Decimal("1.5"), "s": {1}, "o": object()},
}


def test_no_metadata_break_what_was_judged(tmp_path: Path) -> None:
    fused = TCVA(judge="lexical", fuse=TCVA("answer_relevancy", judge="lexical"))
    scorers: list[Any] = [fused, CCRS("qr", judge="lexical")]
    for metadata in METADATA.values():
        sample = Sample(input="When?", response=OPENS, contexts=(OPENS,), metadata=metadata)
        for scorer in scorers:
            (result,) = scorer.evaluate_many([sample])
            assert type(result).from_json(result.to_json()).score == result.score
            json.dumps(result.to_dict()).encode()
        judged = fused.evaluate(sample).assessment
        write_assessments(tmp_path / "a.jsonl", [judged])
        assert read_assessments(tmp_path / "a.jsonl")[0].verdicts == judged.verdicts


def test_what_json_cannot_hold_is_text() -> None:
    values = {"n": np.int64(3), "all": np.arange(2), "o": Speechless(), "long": 10**5000}
    assert written_out(values) == {"n": 3, "all": [0, 1], "o": "<Speechless>", "long": "<int>"}
    assert written_out(circular())["name"] == "x"
