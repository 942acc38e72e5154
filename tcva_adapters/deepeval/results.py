"""Read results back from what DeepEval returns or stores.

DeepEval stores one text of a metric, ``verbose_logs``. It holds the result as JSON.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from deepeval.evaluate.types import EvaluationResult, TestResult
from deepeval.test_run import LATEST_TEST_RUN_DATA_KEY
from deepeval.test_run.api import ConversationalApiTestCase, LLMApiTestCase
from deepeval.test_run.test_run import TestRun
from deepeval.tracing.api import MetricData

from tcva_adapters._adapter.results import choose_metric
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.samples.json_values import record_once

Case: TypeAlias = TestResult | LLMApiTestCase | ConversationalApiTestCase

_BEGINS = '{"kind": "'
"""The beginning of a result as JSON."""


def result_of(measured: object) -> Any:
    """Return the result of a TCVA metric for one test case.

    Args:
        measured: A ``MetricData`` (of a ``TestResult``), or anything with ``verbose_logs``.

    Returns:
        The `Result`, or the result of another scorer. It is unscored if the test case lacks a
        field, or DeepEval's time limit ended the measurement.

    Raises:
        UnreadableInputError: Its ``verbose_logs`` come from another metric, or are missing because
            the measurement never began; the message quotes DeepEval's error.
    """
    error = getattr(measured, "error", None)
    try:
        result = read_result(getattr(measured, "verbose_logs", None) or "")
    except UnreadableInputError as invalid:
        name = getattr(measured, "name", measured)
        raise UnreadableInputError(
            f"metric {name!r} has no result of tcva-adapters: {error or invalid}"
        ) from None
    if error is not None and result.unscored is None:
        # DeepEval's time limit came after the measurement and before its report.
        return result.unscored_for(Unscored(reason=Reason.TIMEOUT, detail=error))
    return result


def results_of(
    evaluation: EvaluationResult | str | Path, name: str | None = None
) -> list[Any]:
    """Return the results of a TCVA metric, from what ``evaluate`` returned or DeepEval wrote.

    Args:
        evaluation: What DeepEval's ``evaluate`` returned, or the path of one of its files:
            ``.latest_test_run.json``, or a ``test_run_*.json`` of the results folder.
        name: The metric's name; needed if several TCVA metrics were measured.

    Returns:
        One per test case, in their order. A test case that lacks a field is unscored
        (``missing_field``), also if DeepEval skipped it; so is one that DeepEval's time limit ended
        (``timeout``). Files leave out test cases on which DeepEval skipped every metric.

    Raises:
        InvalidValueError: No TCVA metric was measured, or none of this name; there are several and
            no name is given; or several have one name.
        UnreadableInputError: The metric has no result of this package, or was never measured; or
            the file cannot be read, or is not a test run.
    """
    cases = _cases_of(evaluation)
    rows = [case.metrics_data or [] for case in cases]
    every = [data for row in rows for data in row]
    names = dict.fromkeys(data.name for data in every)
    # A metric that never began is found by its name; its data say so.
    ours = dict.fromkeys(
        data.name
        for data in every
        if data.name == name or (data.verbose_logs or "").startswith(_BEGINS)
    )
    name = choose_metric(name, [*ours], names, argument="name")
    of_metric = [[data for data in row if data.name == name] for row in rows]
    if any(len(measured) > 1 for measured in of_metric):
        raise InvalidValueError(
            f"several metrics have the name {name!r}; give each its own with name=..."
        )
    pairs = [
        (case, next(iter(measured), None))
        for case, measured in zip(cases, of_metric, strict=True)
    ]
    # Any of them has judge and settings; if there is none, the error says why.
    like: Scored = result_of(
        min(chain(*of_metric), key=lambda data: not data.verbose_logs)
    )
    # `deepeval test run` may have other metrics for conversations.
    classes = {type(case) for case, data in pairs if data is not None}
    return [
        _result_of_case(case, data, like)
        for case, data in pairs
        if type(case) in classes
    ]


def _result_of_case(case: Case, data: MetricData | None, like: Scored) -> Scored:
    """Return the result of a test case, unscored if no measurement of it ended."""
    reason = Reason.TIMEOUT
    if data is None:
        reason = Reason.MISSING_FIELD
        detail = (
            f"DeepEval skipped {case.name!r}: a field that the metric needs is missing"
        )
    elif data.verbose_logs is None:
        detail = data.error or "the measurement never began"
    else:
        return result_of(data)  # type: ignore[no-any-return]  # of any scorer
    return like.unscored_for(Unscored(reason=reason, detail=detail))


def _cases_of(evaluation: EvaluationResult | str | Path) -> list[Case]:
    """Read the test cases in the order of the suite; DeepEval lists them as they were finished."""
    if isinstance(evaluation, EvaluationResult):
        return [*sorted(evaluation.test_results, key=lambda test: test.index or 0)]
    try:
        content = json.loads(
            Path(evaluation).read_text(encoding="utf-8"), object_pairs_hook=record_once
        )
        if isinstance(content, dict):
            content = content.get(LATEST_TEST_RUN_DATA_KEY, content)
        run = TestRun.model_validate(content)
    except (OSError, ValueError) as error:
        fault = str(error).splitlines()[0]  # pydantic has several lines
        raise UnreadableInputError(
            f"{str(evaluation)!r} is not a test run of DeepEval: {fault}"
        ) from None
    return [
        *sorted(run.test_cases, key=_order),
        *sorted(run.conversational_test_cases, key=_order),
    ]


def _order(case: LLMApiTestCase | ConversationalApiTestCase) -> int:
    return case.order or 0
