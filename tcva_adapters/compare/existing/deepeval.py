"""DeepEval's test runs as existing results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.existing.records import (
    Existing,
    Found,
    Reading,
    Record,
    count_of,
    finite_of,
    passages_of,
    refuse,
    text_of,
)
from tcva_adapters.compare.rows import Row
from tcva_adapters.samples.fields import ALIASES

_CASE_KEYS: Final = ("testCases", "test_results", "testResults")
_GENERATED_NAME: Final = "test_case_"


def is_deepeval(content: Any) -> bool:
    """Whether a JSON document is a test run."""
    return isinstance(content, dict) and (
        isinstance(content.get("testRunData"), dict) or any(key in content for key in _CASE_KEYS)
    )


def read_run(path: str | Path, content: Record, reading: Reading) -> Existing:
    """The test cases and metrics of a DeepEval test run.

    That is ``.deepeval/.latest_test_run.json``, a file in ``DEEPEVAL_RESULTS_FOLDER``, or the JSON
    of what ``evaluate`` returns. Methods are named ``deepeval METRIC``; a metric's threshold comes
    along. A metric that a test case lacks was skipped there.

    Raises:
        UnreadableInputError: It holds no metric, or a score outside the scale.
    """
    run = content.get("testRunData") or content
    cases: list[Any] = next((run[k] for k in _CASE_KEYS if isinstance(run.get(k), list)), [])
    for number, case in enumerate(cases, start=1):
        if not isinstance(case, dict):
            refuse(path, f"test case {number} is {case!r}, no object")
    per_case = [
        (case, _metrics_of(case, f"{path}, test case {n}")) for n, case in enumerate(cases, 1)
    ]
    names = list(dict.fromkeys(name for _, metrics in per_case for name in metrics))
    if reading.methods is not None:
        absent = [name for name in reading.methods if name not in names]
        if absent:
            refuse(path, f"it has no metric {absent[0]!r}; metrics are {', '.join(names)}")
        names = list(reading.methods)
    if not names:
        refuse(path, "the test run holds no metric of a single answer")
    found = []
    thresholds: dict[str, float] = {}
    for number, (case, metrics) in enumerate(per_case, start=1):
        rows = []
        for name in names:
            data = metrics.get(name)
            where = f"{path}, test case {number}: metric {name!r}"
            rows.append(_metric_row(name, data, reading, where))
            threshold = finite_of((data or {}).get("threshold"))
            if threshold is not None:
                low, high = reading.scale
                thresholds[f"deepeval {name}"] = (threshold - low) / (high - low)
        said = {f"deepeval {n}": metrics[n].get("reason") for n in names if n in metrics}
        reasons = {name: reason for name, reason in said.items() if isinstance(reason, str)}
        found.append(replace(_case(number, tuple(rows), case), reasons=reasons))
    first = len(per_case) + 1
    talks = run.get("conversationalTestCases")
    talks = talks if isinstance(talks, list) else []
    found += [
        Found(number, (), unusable="a conversation, not one answer")
        for number in range(first, first + len(talks))
    ]
    methods = tuple(f"deepeval {name}" for name in names)
    return Existing(str(path), "deepeval", methods, tuple(found), thresholds)


def _metrics_of(case: Record, where: str) -> dict[str, dict[str, Any]]:
    """By name; a name that occurs again in one test case gets a number."""
    metrics: dict[str, dict[str, Any]] = {}
    listed = _first(case, "metricsData", "metrics_data") or []
    if not (isinstance(listed, list) and all(isinstance(data, dict) for data in listed)):
        refuse(where, "its metrics are no list of objects; is the file complete?")
    for data in listed:
        name = base = str(data.get("name"))
        number = 1
        while name in metrics:
            number += 1
            name = f"{base} #{number}"
        metrics[name] = data
    return metrics


def _metric_row(name: str, data: Record | None, reading: Reading, where: str) -> Row:
    if data is None:
        return Row("", f"deepeval {name}", None, "skipped")
    score = reading.score(data.get("score"), where)
    why = ""
    if score is None:
        why = str(data.get("error") or data.get("reason") or "no score in the file")
    return Row(
        "",
        f"deepeval {name}",
        score,
        why,
        input_tokens=count_of(_first(data, "inputTokenCount", "input_tokens", "input_token_count")),
        output_tokens=count_of(
            _first(data, "outputTokenCount", "output_tokens", "output_token_count")
        ),
    )


def _case(number: int, rows: tuple[Row, ...], case: Record) -> Found:
    name = str(case.get("name") or "")
    generated = name.startswith(_GENERATED_NAME) and name[len(_GENERATED_NAME) :].isdigit()
    metadata = _first(case, "metadata", "additional_metadata")
    text = {
        field: value if isinstance(value, str) else None
        for field, value in (
            ("input", case.get("input")),
            ("response", _first(case, "actualOutput", "actual_output")),
        )
    }
    return Found(
        line=number,
        rows=rows,
        # A name that DeepEval made up counts test cases of one run, and says nothing of samples.
        id=(None if generated else name) or _own_id(metadata),
        input=text["input"],
        response=text["response"],
        contexts=passages_of(_first(case, "retrievalContext", "retrieval_context")),
    )


def _own_id(metadata: Any) -> str | None:
    return text_of(metadata, ALIASES["id"][:2]) if isinstance(metadata, dict) else None


def _first(record: Record, *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)
