"""Test runs of DeepEval: JSON documents with test cases and the data of their metrics."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from tcva_adapters.compare.scores.imported.rows import (
    Imported,
    ImportSettings,
    number_in,
)
from tcva_adapters.compare.scores.imported.tables import scores_in_columns
from tcva_adapters.compare.scores.ratings import on_unit_scale
from tcva_adapters.samples.json_values import record_once
from tcva_adapters.samples.sources import unreadable, whole_text
from tcva_adapters.tables import Record

_CASES = ("testCases", "test_results")
_CONVERSATIONS = ("conversationalTestCases",)


def test_run_in(path: str | Path) -> Record | None:
    """Find the test run in a JSON document, which may hold NaN; None where there is none.

    Raises:
        UnreadableInputError: The file is not JSON.
    """
    text = whole_text(path)
    try:
        content = json.loads(text, object_pairs_hook=record_once)
    except (ValueError, RecursionError) as error:
        raise unreadable(path, f"not JSON: {error}") from None
    run = content.get("testRunData", content) if isinstance(content, dict) else None
    return run if isinstance(run, dict) and any(key in run for key in _CASES) else None


def read_test_run(
    path: str | Path,
    run: Record,
    importing: ImportSettings,
) -> Imported:
    """Read a test run: its test cases as a table, with the data of its metrics in columns.

    Raises:
        UnreadableInputError: A test case is incomplete, there is no metric, or a score is wrong.
    """
    records = []
    thresholds = {}
    metrics: dict[str, None] = {}
    cases = [*(_first(run, *_CASES) or []), *(_first(run, *_CONVERSATIONS) or [])]
    for number, case in enumerate(cases, start=1):
        metrics_data = _first(case, "metricsData", "metrics_data") or []
        if not all(isinstance(part, dict) for part in (case, *metrics_data)):
            raise unreadable(
                path,
                f"test case {number} is no object with a list of metrics; the file may be incomplete",
            )
        metadata = _first(
            case,
            "metadata",
            "additionalMetadata",
            "additional_metadata",
        )
        record = {**(metadata if isinstance(metadata, dict) else {}), **case}
        occurrences = Counter[str]()
        for data in metrics_data:
            name = str(data.get("name"))
            occurrences[name] += 1
            if occurrences[name] > 1:
                name = f"{name} #{occurrences[name]}"
            metrics[name] = None
            record |= {
                name: data.get("score"),
                f"{name}_error": data.get("error"),
                f"{name}_reason": data.get("reason"),
                f"{name}_log": _first(
                    data, "verboseLogs", "verbose_logs"
                ),  # may hold a judgement of TCVA
            }
            threshold = number_in(data.get("threshold"))
            if threshold is not None and math.isfinite(threshold):
                thresholds[f"deepeval {name}"] = on_unit_scale(
                    threshold, importing.scale
                )
        records.append((number, record))
    if not metrics:
        raise unreadable(path, "it holds no metric")
    imported = scores_in_columns(
        path,
        "deepeval",
        records,
        [*metrics],
        importing,
    )
    return replace(imported, thresholds=thresholds)


def _first(record: object, *names: str) -> Any:
    """The first of these fields that a record has; None where it has none."""
    values = map(record.get, names) if isinstance(record, dict) else ()
    return next((value for value in values if value is not None), None)
