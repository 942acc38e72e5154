"""What an evaluation of RAGAS carries of ours: scores, traces, tables; and how it is read back."""

from __future__ import annotations

import math
from typing import Any, Final, Generic, Self

import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
from ragas.dataset_schema import EvaluationResult
from ragas.metrics.result import MetricResult

from tcva_adapters._adapter.results import Carrier, chosen
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import R
from tcva_adapters.results.assessment import Reason, Unscored
from tcva_adapters.results.protocol import Scored, read_result

JUDGEMENT: Final = "tcva_judgement"
"""The name of a judgement in RAGAS' traces; its output is the result as JSON values."""

_BESIDE: Final = "_result"
"""What a column of results is called after the column of its scores."""


class _OfRagas(Carrier):
    """What both carriers have in common: they are made of their result, and copied by it."""

    def __reduce__(self) -> tuple[type[Self], tuple[Any]]:
        return type(self), (self.result,)

    def _carrying(self, result: Any) -> Self:
        return type(self)(result)  # type: ignore[call-arg]  # both take it


class ScorerScore(_OfRagas, float):
    """A score as RAGAS' `evaluate` takes it, a plain number, and the result behind it.

    NaN where the sample has no score. Copies and pickles.

    Attributes:
        result: Of a `TCVA` a `Result`, with claims, verdicts, evidence, and ``at(T)`` without a
            call.
    """

    result: Scored

    def __new__(cls, result: Scored) -> Self:
        """The number and its origin in one."""
        score = super().__new__(cls, _number(result))
        score.result = result
        return score


class ScorerMetricResult(_OfRagas, MetricResult, Generic[R]):
    """A result as RAGAS' newer metrics give it, and ours behind it.

    ``value`` is the score, NaN where there is none; ``reason`` says what it rests on or why there
    is none; the output in ``traces`` is the result as plain data. Copies, pickles, and has a hash.

    Attributes:
        result: As for `ScorerScore`.
    """

    result: R

    def __init__(self, result: R) -> None:
        super().__init__(_number(result), result.reason, {"output": result.to_dict()})
        self.result = result

    def __hash__(self) -> int:
        # RAGAS compares results by their values, and with plain numbers, and forgot the hash.
        return hash(self.value)


def _number(result: Scored) -> float:
    return math.nan if result.score is None else result.score


def score_of(result: Scored) -> ScorerScore:
    """The score, or the exception that RAGAS turns into NaN, or raises where it is told to.

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
    """The results of one of our metrics, one per row in order, those without a score included.

    Args:
        evaluation: What ``evaluate`` or ``aevaluate`` returned; or the frame that
            `results_to_pandas` made of it, also after it was written to a file and read again.
        metric: The metric's name; needed where there are several.

    Raises:
        TypeError: It is something else.
        InvalidValueError: There is no such metric of ours, or there are several and no name.
        UnreadableInputError: A cell of the frame holds no result.
    """
    carried = _carried(evaluation)
    columns = evaluation.scores[0] if isinstance(evaluation, EvaluationResult) else ()
    found = carried[chosen(metric, list(carried), columns, argument="metric")]
    results = [None if each is None else read_result(each) for each in found]
    like = next(filter(None, results))  # any of them shows judge and settings
    detail = "RAGAS has no judgement of this row, e.g. because of a field's type; see its log"
    why = Unscored(reason=Reason.INVALID_INPUT, detail=detail)
    return [like.unscored_for(why) if result is None else result for result in results]


def results_to_pandas(evaluation: EvaluationResult) -> pd.DataFrame:
    """RAGAS' own ``to_pandas()``, with the results beside the scores; no call.

    A column ``NAME_result`` follows each score of ours. It holds JSON, so the frame may be written
    as csv, parquet or anything else: `results_of` reads the results back.
    """
    frame = evaluation.to_pandas()
    for name in _carried(evaluation):
        carried = [result.to_json() for result in results_of(evaluation, name)]
        frame.insert(frame.columns.get_loc(name) + 1, name + _BESIDE, carried)
    return frame


def _carried(evaluation: EvaluationResult | pd.DataFrame) -> dict[str, list[Any]]:
    """By metric of ours, in the order of their columns, what carries the result of each row."""
    if isinstance(evaluation, EvaluationResult):
        # In RAGAS' traces a metric is missing from the rows that it was not handed.
        rows = [
            {name: run.get(JUDGEMENT, {}).get("output") or None for name, run in row.items()}
            for row in evaluation.traces
        ]
        judged = dict.fromkeys(name for row in rows for name, output in row.items() if output)
        return {name: [row.get(name) for row in rows] for name in judged}
    if not isinstance(evaluation, pd.DataFrame):
        msg = (
            f"evaluation={evaluation!r:.80}; it is what evaluate() or results_to_pandas() returned"
        )
        raise TypeError(msg)
    names = [name for name in evaluation.columns if f"{name}{_BESIDE}" in evaluation.columns]
    if not names:
        msg = (
            "no metric of tcva-adapters in the frame: RAGAS' to_pandas() leaves results out; pass "
            "what evaluate() or results_to_pandas() returned"
        )
        raise InvalidValueError(msg)
    return {name: [*evaluation[f"{name}{_BESIDE}"].fillna("")] for name in names}
