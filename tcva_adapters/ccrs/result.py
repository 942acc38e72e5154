"""What a rating leaves behind: one answer per metric, and the scores that are views of it."""

from __future__ import annotations

import json
from numbers import Real
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tcva_adapters.ccrs.exact import ExactMatch
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, METRICS
from tcva_adapters.ccrs.reply import HIGHEST
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Unscored, Usage

SCHEMA_VERSION: Final = 1
"""Version of the JSON layout."""

Protocol = Literal["single", "suite", "lexical"]

_FROZEN: Final = ConfigDict(frozen=True, extra="forbid")


class MetricAnswer(BaseModel):
    """What a judge said to one metric of one sample; kept, so that it is asked only once.

    Attributes:
        metric: The metric's short name.
        judge: Name of the judge, with its version or model.
        prompt_version: Version of the prompt, or of the algorithm of a judge without prompts.
        protocol: ``single`` is one call per metric, as in the source; ``suite`` one call for
            several; ``lexical`` no call.
        rating: The number, in [0, 100]; None where there is none.
        unscored: Why there is none.
        replies: All that the judge replied, in order; none where it was not asked.
        usage: What it cost. The call of a suite is counted at the first of its metrics.
        from_store: True when no judge was asked this time.
    """

    model_config = _FROZEN

    metric: str
    judge: str
    prompt_version: str
    protocol: Protocol
    rating: float | None = Field(default=None, ge=0.0, le=HIGHEST, allow_inf_nan=False)
    unscored: Unscored | None = None
    replies: tuple[str, ...] = ()
    usage: Usage = Usage()
    from_store: bool = False

    @model_validator(mode="after")
    def _rated_or_not(self) -> Self:
        if self.metric not in METRICS:
            msg = f"unknown metric {self.metric!r}; the metrics are {', '.join(METRICS)}"
            raise ValueError(msg)
        if (self.rating is None) == (self.unscored is None):
            msg = f"{self.metric} has a rating or a reason why it has none, not both or neither"
            raise ValueError(msg)
        return self


class CCRSResult(BaseModel):
    """The scores of one sample, and the answers behind them.

    Attributes:
        judge: Name of the judge; the lexical one says that it is lexical.
        protocol: As for `MetricAnswer`.
        answers: By the metrics' short names, in the order asked for.
        exact: Whether the response is the reference under `em`; None where answer correctness was
            not asked for or a text is missing.
        em: How that was decided.
        lambda_: What it weighs in answer correctness.
        sample_id: The sample's id.
        metadata: The sample's metadata.

    >>> answers = {
    ...     name: MetricAnswer(metric=name, judge="j", prompt_version="1", protocol="single", rating=80)
    ...     for name in ("qr", "ac")
    ... }
    >>> result = CCRSResult(judge="j", protocol="single", answers=answers, exact=False)
    >>> {name: round(score, 3) for name, score in result.scores.items()}
    {'qr': 0.8, 'ac': 0.24}
    >>> round(result.score("ac", lambda_=0.5), 3)
    0.4
    """

    model_config = _FROZEN

    schema_version: Literal[1] = SCHEMA_VERSION
    judge: str
    protocol: Protocol
    answers: dict[str, MetricAnswer]
    exact: bool | None = None
    em: ExactMatch = "strict"
    lambda_: float = Field(default=DEFAULT_LAMBDA, ge=0.0, le=1.0, allow_inf_nan=False)
    sample_id: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _under_their_names(self) -> Self:
        for name, answer in self.answers.items():
            if name != answer.metric:
                msg = f"the answer of {answer.metric!r} stands under {name!r}"
                raise ValueError(msg)
        return self

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores in [0, 1] by metric; None where there is none."""
        return {name: self.score(name) for name in self.answers}

    def score(self, metric: str, *, lambda_: float | None = None) -> float | None:
        """The score of one metric in [0, 1]; None where it has none. No call.

        Args:
            metric: Its short name.
            lambda_: Another weight of the exact match, for answer correctness.

        Raises:
            InvalidValueError: The metric was not asked for, or the weight lies outside [0, 1].
        """
        weight = check_lambda(self.lambda_ if lambda_ is None else lambda_)
        judged = self.judged(metric)
        if judged is None or not METRICS[metric].has_exact_match:
            return judged
        return min(1.0, weight * bool(self.exact) + (1.0 - weight) * judged)

    def judged(self, metric: str) -> float | None:
        """The judge's number over 100, without the exact match; None where there is none.

        Raises:
            InvalidValueError: The metric was not asked for.
        """
        if metric not in self.answers:
            msg = f"no metric {metric!r} in this result; it has {', '.join(self.answers)}"
            raise InvalidValueError(msg)
        rating = self.answers[metric].rating
        return None if rating is None else rating / HIGHEST

    @property
    def unscored(self) -> dict[str, Unscored]:
        """Why metrics have no score, by metric; empty where all have one."""
        found = {name: answer.unscored for name, answer in self.answers.items()}
        return {name: why for name, why in found.items() if why is not None}

    @property
    def usage(self) -> Usage:
        """What this evaluation cost: answers from the store cost nothing again."""
        paid = (answer.usage for answer in self.answers.values() if not answer.from_store)
        return sum(paid, Usage())

    def reason(self, metric: str) -> str:
        """The score of one metric in a sentence, or why there is none.

        Raises:
            InvalidValueError: The metric was not asked for.
        """
        judged = self.judged(metric)
        answer = self.answers[metric]
        if answer.unscored is not None or judged is None:
            why = answer.unscored
            return "unscored" if why is None else f"unscored: {why.reason.value}: {why.detail}"
        title = METRICS[metric].title
        text = f"{title} {self.score(metric):.3f} by {answer.judge}"
        if METRICS[metric].has_exact_match:
            match = "exact match" if self.exact else "no exact match"
            text += f": {match} ({self.em}, weight {self.lambda_:g}), judged {judged:.3f}"
        return text

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal result.

        The scores stand in it as well, under ``scores``, for whoever reads it without this package.
        Metadata that JSON cannot hold is written as text.
        """
        plain = self.model_dump(mode="json", fallback=str)
        return json.dumps({**plain, "scores": self.scores}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> CCRSResult:
        """The result that `to_json` wrote; the scores are worked out from its answers.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        try:
            plain = json.loads(text)
            return cls.model_validate(_without_scores(plain))
        except ValidationError as error:
            first = error.errors()[0]
            why = f"{'.'.join(map(str, first['loc'])) or 'document'}: {first['msg']}"
        except (ValueError, RecursionError) as error:
            why = str(error)
        msg = f"not a CCRS result (layout {SCHEMA_VERSION}): {why}"
        raise UnreadableInputError(msg)


def _without_scores(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    return {name: value for name, value in plain.items() if name != "scores"}


def check_lambda(value: Any) -> float:
    """A weight of the exact match.

    Raises:
        InvalidValueError: It is no number in [0, 1].
    """
    if not _is_share(value):
        msg = f"lambda_={value!r}; the weight of the exact match lies in [0, 1]"
        raise InvalidValueError(msg)
    return float(value)


def check_threshold(value: Any) -> float:
    """A threshold.

    Raises:
        InvalidValueError: It is no number in [0, 1].
    """
    if not _is_share(value):
        msg = f"threshold={value!r}; it lies in [0, 1]"
        raise InvalidValueError(msg)
    return float(value)


def _is_share(value: Any) -> bool:
    # Real is also what numpy's numbers are, of any size.
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return 0.0 <= float(value) <= 1.0
