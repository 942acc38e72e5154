"""Results behind what DeepEval reports: a metric's logs hold the judgement, whatever became of it.

Of all that a metric knows, DeepEval keeps one text that is the metric's own: ``verbose_logs``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from deepeval.evaluate.types import EvaluationResult
from pydantic import BaseModel, ValidationError

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Assessment, Reason, Unscored
from tcva_adapters.results.result import Result, Scoring


class _Log(BaseModel):
    """What the logs hold."""

    assessment: Assessment
    scoring: Scoring


def log_of(result: Result) -> str:
    """A result as the text of ``verbose_logs``."""
    return _Log(assessment=result.assessment, scoring=result.scoring).model_dump_json()


def result_of(measured: Any) -> Result:
    """The `Result` behind what DeepEval reports of a `TCVAMetric`; no call.

    Args:
        measured: A ``MetricData`` (of a ``TestResult``), or anything with ``verbose_logs``.

    Returns:
        The result. Where the test case lacks a field, or DeepEval ended the measurement at its
        time limit, it is unscored and says so.

    Raises:
        UnreadableInputError: Its ``verbose_logs`` do not come from a `TCVAMetric`, or there are
            none because it was never begun; the message quotes DeepEval's error.
    """
    logs, error = getattr(measured, "verbose_logs", None), getattr(measured, "error", None)
    if logs is None:
        name = getattr(measured, "name", measured)
        msg = f"{name!r} was not judged by a TCVAMetric: {error or 'it has no verbose_logs'}"
        raise UnreadableInputError(msg)
    try:
        log = _Log.model_validate_json(logs)
    except ValidationError as invalid:
        first = invalid.errors()[0]["msg"]
        msg = f"verbose_logs {logs[:40]!r} were not written by a TCVAMetric: {first}"
        raise UnreadableInputError(msg) from None
    result = Result(log.assessment, log.scoring)
    if error is not None and result.unscored is None:
        # Not begun before the time limit: the logs are left from the test case before.
        return _unscored_like(result, Reason.TIMEOUT, error)
    return result


def results_of(evaluation: EvaluationResult, name: str | None = None) -> list[Result]:
    """The results of a `TCVAMetric` from what ``evaluate`` returns.

    Args:
        evaluation: What DeepEval's ``evaluate`` returned.
        name: The metric's name; needed where several TCVA metrics were measured.

    Returns:
        One per test case, in their order; that of the dataset where they come from one. A test
        case that lacks a field has its place, unscored (``missing_field``), also where DeepEval
        skipped it; so has one that DeepEval's time limit ended (``timeout``).

    Raises:
        InvalidValueError: No TCVA metric was measured or none of this name; several, and no name
            was given; or several under one name.
        UnreadableInputError: The metric is no `TCVAMetric`, or was begun on no test case.
    """
    # DeepEval lists test cases as they were finished.
    tests = sorted(evaluation.test_results, key=lambda test: test.index or 0)
    rows = [test.metrics_data or [] for test in tests]
    name = _checked(rows, name) if name is not None else _only_name(rows)
    found = [next((data for data in row if data.name == name), None) for row in rows]
    measured = [data for data in found if data is not None]
    # Any of them shows criterion, judge and settings.
    like = result_of(next((data for data in measured if data.verbose_logs), measured[0]))
    results = []
    for test, data in zip(tests, found, strict=True):
        if data is None:
            missing = f"DeepEval skipped {test.name!r}: a field that the metric needs is missing"
            results.append(_unscored_like(like, Reason.MISSING_FIELD, missing))
        elif data.verbose_logs is None:
            results.append(_unscored_like(like, Reason.TIMEOUT, data.error or "never begun"))
        else:
            results.append(result_of(data))
    return results


def _only_name(rows: Sequence[Sequence[Any]]) -> str:
    measured = [data for row in rows for data in row]
    # Reading all logs to the end would take as long as the results themselves.
    start = '{"assessment":'
    ours = dict.fromkeys(d.name for d in measured if (d.verbose_logs or "").startswith(start))
    if not ours:
        msg = f"no TCVA metric in the evaluation; it has {_listed(rows)}"
        raise InvalidValueError(msg)
    if len(ours) > 1:
        msg = f"pass the name of one of the evaluation's TCVA metrics: {', '.join(ours)}"
        raise InvalidValueError(msg)
    return _checked(rows, *ours)


def _checked(rows: Sequence[Sequence[Any]], name: str) -> str:
    most = max((Counter(data.name for data in row)[name] for row in rows), default=0)
    if most == 0:
        msg = f"no metric {name!r} in the evaluation; it has {_listed(rows)}"
        raise InvalidValueError(msg)
    if most > 1:
        msg = (
            f"{most} metrics are called {name!r} (the evaluation has {_listed(rows)}); give each "
            "a name of its own with TCVAMetric(name=...), or read its metrics_data with result_of"
        )
        raise InvalidValueError(msg)
    return name


def _listed(rows: Sequence[Sequence[Any]]) -> str:
    names = dict.fromkeys(data.name for row in rows for data in row)
    return ", ".join(names) or "none"


def _unscored_like(result: Result, reason: Reason, detail: str) -> Result:
    """No score, under the criterion, judge and settings of another result."""
    assessment = Assessment(
        criterion=result.assessment.criterion,
        judge=result.assessment.judge,
        prompt_version=result.assessment.prompt_version,
        unscored=Unscored(reason=reason, detail=detail),
    )
    return Result(assessment, result.scoring)
