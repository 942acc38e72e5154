"""What an evaluation of RAGAS carries of ours: scores, traces, tables; and the way from its columns."""

from __future__ import annotations

import math
from typing import Any, Final, Self

import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements
from pydantic import BaseModel
from ragas.dataset_schema import EvaluationResult

from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored
from tcva_adapters.results.result import Result, Scoring
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

COLUMNS: Final = {
    "input": "user_input",
    "response": "response",
    "contexts": "retrieved_contexts",
    "reference": "reference",
}

JUDGEMENT: Final = "tcva_judgement"
"""The name of the judgement in RAGAS' traces."""


class TCVAScore(float):
    """A score as RAGAS takes it, a plain number, and the judgement behind it.

    NaN where the sample has no score. Copies and pickles.

    Attributes:
        result: The `Result`, with claims, verdicts, evidence, and ``at(T)`` without a call.
    """

    result: Result

    def __new__(cls, result: Result) -> Self:
        """The number and its origin in one."""
        score = super().__new__(cls, math.nan if result.score is None else result.score)
        score.result = result
        return score

    def __reduce__(self) -> tuple[type[Self], tuple[Result]]:
        return type(self), (self.result,)

    def at(self, temperature: float | str, **changes: Any) -> TCVAScore:
        """The same judgement at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return TCVAScore(self.result.at(temperature, **changes))


class TCVAJudgement(BaseModel):
    """What stands in RAGAS' traces.

    Attributes:
        score: The score; None where there is none.
        reason: The score in one sentence.
        assessment: Claims, verdicts, evidence.
        scoring: The setting of the dial.
    """

    score: float | None
    reason: str
    assessment: Assessment
    scoring: Scoring

    @classmethod
    def of(cls, result: Result) -> TCVAJudgement:
        """The trace of a result."""
        return cls(
            score=result.score,
            reason=result.reason,
            assessment=result.assessment,
            scoring=result.scoring,
        )

    @property
    def result(self) -> Result:
        """The same as a `Result`, as `TCVA` returns it."""
        return Result(self.assessment, self.scoring)


def results_of(evaluation: EvaluationResult, metric: str | None = None) -> list[Result]:
    """The results of a TCVA metric, one per row in order, those without a score included.

    Args:
        evaluation: What ``evaluate`` or ``aevaluate`` returned.
        metric: The metric's name; needed where the suite has several TCVA metrics.

    Raises:
        InvalidValueError: There is no such TCVA metric, or several and no name.
    """
    names = _tcva_names(evaluation)
    if metric is None and len(names) == 1:
        metric = names[0]
    if metric not in names:
        known = ", ".join(names) or "none"
        msg = f"metric={metric!r} names no TCVA metric of this evaluation; there are: {known}"
        raise InvalidValueError(msg)
    return [_result(trace[metric][JUDGEMENT]["output"], metric) for trace in evaluation.traces]


def claims_to_pandas(evaluation: EvaluationResult) -> pd.DataFrame:
    """One row per claim of every TCVA metric of an evaluation; no call.

    ``row`` is the row of ``evaluation.to_pandas()``. A sample without claims keeps one row, with
    the reason in ``unscored``.
    """
    table: list[dict[str, Any]] = []
    for name in _tcva_names(evaluation):
        for row, result in enumerate(results_of(evaluation, name)):
            unscored = result.unscored and result.unscored.reason.value
            head = {"row": row, "metric": name, "score": result.score, "unscored": unscored}
            table += [head | _columns(claim) for claim in result.claims or [None]]
    return pd.DataFrame(table, columns=list(_TABLE))


_CLAIM: Final = ("claim", "verdict", "original_verdict", "evidence", "passage", "reason")
_TABLE: Final = ("row", "metric", "score", "unscored", *_CLAIM)


def _columns(claim: ClaimVerdict | None) -> dict[str, Any]:
    found = {} if claim is None else claim.model_dump(mode="json")
    return {name: found.get(name) for name in _CLAIM}


def _tcva_names(evaluation: EvaluationResult) -> list[str]:
    first: dict[str, Any] = evaluation.traces[0] if evaluation.traces else {}
    return [name for name, prompts in first.items() if JUDGEMENT in prompts]


def _result(output: TCVAJudgement | dict[str, Any], metric: str) -> Result:
    if isinstance(output, TCVAJudgement):
        return output.result
    detail = "no judgement was recorded: RAGAS ended it (run_config.timeout)"
    unscored = Unscored(reason=Reason.TIMEOUT, detail=detail)
    return Result(Assessment(criterion=metric, judge="", prompt_version="", unscored=unscored))


def not_judged(tcva: TCVA, error: InvalidSampleError) -> Result:
    """The result of a row that cannot be judged."""
    assessment = Assessment(
        criterion=tcva.criterion.name,
        judge=tcva.judge.name,
        prompt_version=tcva.judge.prompt_version,
        unscored=Unscored(reason=Reason.MISSING_FIELD, detail=str(error)),
    )
    return tcva.result(assessment)


def sample_of(columns: dict[str, Any]) -> Sample:
    """The sample in RAGAS' columns; others are left out."""
    return Sample.from_record({name: columns.get(name) for name in COLUMNS.values()})
