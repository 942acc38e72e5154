"""Results of a rating: one answer per metric, and the scores computed from them."""

from __future__ import annotations

import json
from statistics import fmean
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, METRICS, ExactMatch
from tcva_adapters.ccrs.reply import HIGHEST
from tcva_adapters.results.judgement import Judgement, Layouted, Unscored, Usage
from tcva_adapters.results.settings_base import Share, check
from tcva_adapters.samples.json_values import Json, Metadata


class MetricAnswer(Judgement):
    """A judge's answer for one metric of one sample.

    Attributes:
        rating: The number, in [0, 100]; None where there is none.
        replies: The judge's replies in order; empty where it was not asked.
    """

    rating: float | None = Field(
        default=None,
        ge=0.0,
        le=HIGHEST,
        allow_inf_nan=False,
    )
    replies: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_answer(self) -> Self:
        if (self.rating is None) == (self.unscored is None):
            raise ValueError(
                "an answer must have either a rating or a reason why it is unscored"
            )
        return self


class CCRSResult(Layouted):
    """The ratings of one sample; scores are computed from them without a call.

    Results with equal ratings are equal, whatever they cost and whether or not a judge was asked.

    Attributes:
        judge: Name of the judge, with its version or model; the lexical one says that it is
            lexical.
        prompt_version: Version of the prompt, or of the algorithm of a judge without prompts.
        answers: Answers by the metrics' short names, in the order asked for.
        exact: Whether the response equals the reference under `em`; None where answer correctness
            was not asked for or a text is missing.
        em: How the exact match was decided.
        lambda_: The weight of the exact match in answer correctness.
        threshold: The lowest score that passes.
        sample_id: The sample's id.
        metadata: The sample's metadata.

    >>> answers = {"qr": MetricAnswer(rating=80), "ac": MetricAnswer(rating=80)}
    >>> result = CCRSResult(
    ...     judge="j", prompt_version="1", answers=answers, exact=False
    ... )
    >>> {name: round(score, 3) for name, score in result.scores.items()}
    {'qr': 0.8, 'ac': 0.24}
    >>> round(result.at(lambda_=0.5).scores["ac"], 3), round(result.score, 2)
    (0.4, 0.52)
    """

    kind: ClassVar[str] = "ccrs"
    nothing_to_check: ClassVar[bool] = False
    called = "a CCRS result"

    judge: str
    prompt_version: str
    answers: dict[
        Annotated[str, Field(pattern=f"^({'|'.join(METRICS)})$")], MetricAnswer
    ]
    exact: bool | None = None
    em: ExactMatch = "strict"
    lambda_: Share = DEFAULT_LAMBDA
    threshold: Share = 0.5
    sample_id: str | None = None
    metadata: Metadata = Field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.judge, self.sample_id, *self.answers))

    @property
    def criterion(self) -> str:
        """The short names of the rated metrics, separated by commas."""
        return ",".join(self.answers)

    @property
    def judged(self) -> dict[str, float | None]:
        """The judge's numbers divided by 100, without the exact match; None where there is none."""
        return {
            name: None if answer.rating is None else answer.rating / HIGHEST
            for name, answer in self.answers.items()
        }

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores in [0, 1] by metric; None where there is none."""
        scores = self.judged
        for name, judged in scores.items():
            if judged is not None and METRICS[name].has_exact_match:
                scores[name] = min(
                    1.0, self.lambda_ * bool(self.exact) + (1.0 - self.lambda_) * judged
                )
        return scores

    @property
    def score(self) -> float | None:
        """The mean score of the metrics; None where one of them has no score."""
        scores = [score for score in self.scores.values() if score is not None]
        return fmean(scores) if 0 < len(scores) == len(self.answers) else None

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; None where there is no score."""
        return None if self.score is None else self.score >= self.threshold

    @property
    def unscored(self) -> Unscored | None:
        """Why there is no score, by the first metric without one; see `unscored_by`.

        A fatal failure comes first, then other failures, then reasons that a new try would not
        change.
        """
        return max(
            self.unscored_by.values(),
            key=lambda why: (why.fatal, why.reason.is_failure),
            default=None,
        )

    @property
    def unscored_by(self) -> dict[str, Unscored]:
        """Why metrics have no score, by metric; empty where all have one."""
        return {
            name: answer.unscored
            for name, answer in self.answers.items()
            if answer.unscored is not None
        }

    @property
    def reason(self) -> str:
        """The score in a sentence, or one for each of several metrics."""
        return "; ".join(self.reasons.values())

    @property
    def summary(self) -> str:
        """The reason without the text of an error."""
        return "; ".join(self._reason(name, in_short=True) for name in self.answers)

    @property
    def reasons(self) -> dict[str, str]:
        """The score of each metric in a sentence, or why there is none."""
        return {name: self._reason(name) for name in self.answers}

    def _reason(self, name: str, *, in_short: bool = False) -> str:
        unscored = self.answers[name].unscored
        if unscored is not None:
            return f"unscored: {unscored.reason.value if in_short else unscored.text}"
        metric = METRICS[name]
        reason = f"{metric.title} {self.scores[name]:.3f} by {self.judge}"
        if not metric.has_exact_match:
            return reason
        match = "exact match" if self.exact else "no exact match"
        return (
            f"{reason}: {match} ({self.em}, weight {self.lambda_:g}), "
            f"rating {self.judged[name]:.3f}"
        )

    @property
    def claims(self) -> tuple[()]:
        """Empty, as whole answers are rated."""
        return ()

    @property
    def breakdown(self) -> dict[str, float]:
        """The scores by metric, without metrics that have none."""
        return {name: score for name, score in self.scores.items() if score is not None}

    @property
    def usage(self) -> Usage:
        """The cost of this evaluation; answers from a store or another evaluator cost nothing."""
        return sum(
            (answer.usage for answer in self.answers.values() if answer.is_new), Usage()
        )

    def at(
        self, *, lambda_: float | None = None, threshold: float | None = None
    ) -> CCRSResult:
        """Score the same ratings with another weight of the exact match or threshold; no call.

        Raises:
            InvalidValueError: A number lies outside [0, 1].
        """
        changes = {"lambda_": lambda_, "threshold": threshold}
        return self.model_copy(
            update={
                name: check(Share, name, value)
                for name, value in changes.items()
                if value is not None
            }
        )

    def unscored_for(self, why: Unscored) -> Self:
        """Build the unscored result of another sample, with the same judge and settings."""
        return self.model_copy(
            update={
                "answers": dict.fromkeys(self.answers, MetricAnswer(unscored=why)),
                "exact": None,
                "sample_id": None,
                "metadata": {},
            }
        )

    def to_dict(self) -> Json:
        """Convert to JSON values, with the scores, passed and reason added for other readers.

        Metadata that JSON cannot hold is written as text.
        """
        return {
            "kind": self.kind,
            "score": self.score,
            "passed": self.passed,
            "reason": self.reason,
            "scores": self.scores,
            **self.model_dump(mode="json"),
        }

    def to_json(self) -> str:
        """Convert to one line of JSON, which `from_json` reads back as an equal result."""
        return json.dumps(self.to_dict(), ensure_ascii=False)
