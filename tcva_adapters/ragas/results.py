"""Put results into RAGAS' evaluations (scores, traces, tables), and read them back."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any, Generic, Self

import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
from ragas.dataset_schema import EvaluationResult
from ragas.metrics.result import MetricResult

from tcva_adapters._adapter.results import Carrier, choose_metric, views_of
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.runner.questions import R

JUDGEMENT = "tcva_judgement"
"""The name of a judgement in RAGAS' traces; its output is the result as JSON values."""

_RESULT_SUFFIX = "_result"
"""The end of the name of a column of results, after the name of its scores' column."""


class _OfRagas(Carrier):
    """The base of both carriers, which are made of their result and copied by it."""

    def __reduce__(self) -> tuple[type[Self], tuple[Scored]]:
        return type(self), (self.result,)

    def _with_result(self, result: Scored) -> Self:
        return type(self)(result)  # type: ignore[call-arg]  # both take it


class ScorerScore(_OfRagas, float):
    """A score in RAGAS' `evaluate`: a plain number, with the result behind it.

    NaN if the sample is unscored. It can be copied and pickled.

    Attributes:
        result: A `Result` for a `TCVA`, with claims, verdicts, evidence, and ``at(T)`` without a
            call.
    """

    result: Scored

    def __new__(cls, result: Scored) -> Self:
        """Make the number, and attach its result."""
        score = super().__new__(cls, _number(result))
        score.result = result
        return score


class ScorerMetricResult(_OfRagas, MetricResult, Generic[R]):
    """RAGAS' `MetricResult`, with the result behind it.

    ``value`` is the score, NaN if the sample is unscored; ``reason`` explains it; the output in
    ``traces`` is the result as plain data. It can be copied, pickled and hashed.

    Attributes:
        result: As for `ScorerScore`.
    """

    result: R

    def __init__(self, result: R) -> None:
        output = result.to_dict() | views_of(result)
        super().__init__(_number(result), result.reason, {"output": output})
        self.result = result

    def __hash__(self) -> int:
        # RAGAS' class compares by value, also with plain numbers, but has no hash.
        return hash(self.value)


def _number(result: Scored) -> float:
    return math.nan if result.score is None else result.score


def score_of(result: Scored) -> ScorerScore:
    """Return the score; raise what RAGAS, depending on its settings, turns into NaN or raises.

    Raises:
        JudgeError: The judge failed.
    """
    why = result.unscored
    if why is not None and why.reason.is_failure:
        raise JudgeError(result.reason, reason=why.reason.value, fatal=why.fatal)
    return ScorerScore(result)


def results_of(
    evaluation: EvaluationResult | pd.DataFrame, metric: str | None = None
) -> list[Scored]:
    """Return the results of a TCVA metric, one per row in order, unscored ones included.

    Args:
        evaluation: What ``evaluate`` or ``aevaluate`` returned; or the frame of
            `results_to_pandas`, also after it was written to a file and read again.
        metric: The metric's name; needed if there are several.

    Raises:
        TypeError: It is something else.
        InvalidValueError: There is no such metric, or there are several and no name is given.
        UnreadableInputError: A cell of the frame holds no result.
    """
    carriers = _carriers(evaluation)
    columns = evaluation.scores[0] if isinstance(evaluation, EvaluationResult) else ()
    rows = carriers[choose_metric(metric, list(carriers), columns, argument="metric")]
    results: list[Scored | None] = [
        None if row is None else read_result(row) for row in rows
    ]
    why = Unscored(
        reason=Reason.INVALID_INPUT,
        detail="RAGAS did not measure this row, e.g. because of the type of a field; see its log",
    )
    # Any of them shows judge and settings.
    unscored = next(filter(None, results)).unscored_for(why)
    return [result or unscored for result in results]


def results_to_pandas(evaluation: EvaluationResult) -> pd.DataFrame:
    """Make the frame of RAGAS' own ``to_pandas()``, with a column of results after each TCVA score.

    The column is called ``NAME_result`` and holds JSON, so the frame can be written as csv, parquet
    or anything else. `results_of` reads the results back.
    """
    frame = evaluation.to_pandas()
    for name in _carriers(evaluation):
        column = [result.to_json() for result in results_of(evaluation, name)]
        frame.insert(frame.columns.get_loc(name) + 1, name + _RESULT_SUFFIX, column)
    return frame


def _carriers(evaluation: EvaluationResult | pd.DataFrame) -> dict[str, list[Any]]:
    """Return the carriers of each row's result by TCVA metric, in the order of the columns."""
    if isinstance(evaluation, EvaluationResult):
        # In RAGAS' traces a metric is missing from the rows that it did not get.
        rows = [
            {
                name: run[JUDGEMENT]["output"]
                for name, run in row.items()
                if run.get(JUDGEMENT, {}).get("output")
            }
            for row in evaluation.traces
        ]
        return {
            metric: [row.get(metric) for row in rows]
            for metric in dict.fromkeys(chain.from_iterable(rows))
        }
    if not isinstance(evaluation, pd.DataFrame):
        needed = "what evaluate() or results_to_pandas() returned"
        raise TypeError(f"evaluation must be {needed}, got {evaluation!r:.80}")
    columns = evaluation.columns
    names = [name for name in columns if f"{name}{_RESULT_SUFFIX}" in columns]
    if not names:
        raise InvalidValueError(
            "the frame has no results of tcva-adapters, because RAGAS' to_pandas() leaves them out; "
            "pass what evaluate() or results_to_pandas() returned"
        )
    return {name: [*evaluation[f"{name}{_RESULT_SUFFIX}"].fillna("")] for name in names}
