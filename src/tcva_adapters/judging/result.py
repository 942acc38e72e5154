"""A score is a view of an assessment: the dial's settings, and what they make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tcva_adapters.core.aggregation import Floor, sweep
from tcva_adapters.core.flip import flip_temperature
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds, check_temperature
from tcva_adapters.core.verdicts import Verdict, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.assessment import Assessment, ClaimVerdict, Unscored

_QUOTED: Final = 80


@dataclass(frozen=True, slots=True)
class Scoring:
    """The settings of the dial. They cost no call, so they may change after the judgement.

    Attributes:
        temperature: Strictness in [0.1, 1.0], low is strict.
        threshold: A score passes from here on, in [0, 1].
        scheme: Weights of the five levels.
        penalty: Dialect of the penalty for ``none`` verdicts.
        eps: The floor under weights where the exponent is not positive.
        floor: ``paper`` floors for p <= 0 only, ``always`` at every p.
        on_unscored: The score of a sample that has none of its own (a refusal, an empty context);
            None leaves it unscored. Failures of the judge never become a score.
        bounds: End points of the map from temperature to exponent.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised when built.
    """

    temperature: float = 0.5
    threshold: float = 0.5
    scheme: WeightScheme = WeightScheme.DEFAULT
    penalty: Penalty = "paper"
    eps: float = 1e-9
    floor: Floor = "paper"
    on_unscored: float | None = None
    bounds: Bounds = PAPER_BOUNDS

    def __post_init__(self) -> None:
        check_temperature(self.temperature, self.bounds)
        _check_share("threshold", self.threshold)
        if self.on_unscored is not None:
            _check_share("on_unscored", self.on_unscored)
        sweep([[1, 0, 0, 0, 0]], [self.temperature], **self.options)  # checks the rest

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `aggregate`, `sweep` and `flip_temperature`."""
        return {
            "scheme": self.scheme,
            "penalty": self.penalty,
            "eps": self.eps,
            "floor": self.floor,
            "bounds": self.bounds,
        }


def _check_share(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        msg = f"{name}={value!r}; it lies in [0, 1]"
        raise InvalidValueError(msg)


@dataclass(frozen=True)
class Result:
    """An assessment seen at one setting of the dial.

    Attributes:
        assessment: What was judged; kept, so that every other setting is free.
        scoring: The setting.
        score: In [0, 1]; None where there is none.

    >>> result = Result(Assessment.from_verdicts(["fully", "fully", "minor"]))
    >>> round(result.score, 3), round(result.at("strict").score, 3), round(result.at(0.9).score, 3)
    (0.767, 0.363, 0.96)
    """

    assessment: Assessment
    scoring: Scoring = field(default_factory=Scoring)
    score: float | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", self._score())

    def _score(self) -> float | None:
        unscored = self.assessment.unscored
        if unscored is not None:
            return None if unscored.reason.is_failure else self.scoring.on_unscored
        counts = self.assessment.counts
        scores = sweep(counts[None, :], [self.scoring.temperature], **self.scoring.options)
        return float(scores[0, 0])

    @property
    def unscored(self) -> Unscored | None:
        """Why there is no score of its own."""
        return self.assessment.unscored

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with their verdicts, non-claims included."""
        return self.assessment.claims

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; None where there is no score."""
        return None if self.score is None else self.score >= self.scoring.threshold

    @property
    def flip_temperature(self) -> float | None:
        """The smallest temperature from which on the sample passes; None if it never does."""
        if self.unscored is not None:
            return None
        counts: Sequence[float] = self.assessment.counts.tolist()
        return flip_temperature(counts, self.scoring.threshold, **self.scoring.options)

    def at(self, temperature: float | str, **changes: Any) -> Result:
        """The same assessment at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        unknown = changes.keys() - Scoring.__dataclass_fields__.keys()
        if unknown:
            known = ", ".join(Scoring.__dataclass_fields__)
            msg = f"unknown setting {min(unknown)!r}; settings are {known}"
            raise InvalidValueError(msg)
        if "scheme" in changes:
            changes["scheme"] = WeightScheme.resolve(changes["scheme"])
        value = check_temperature(temperature, changes.get("bounds", self.scoring.bounds))
        return Result(self.assessment, replace(self.scoring, temperature=value, **changes))

    @property
    def reason(self) -> str:
        """The score in one sentence: how many claims at which level, and the worst of them."""
        if self.unscored is not None:
            given = "" if self.score is None else f" (counted as {self.score:g} by on_unscored)"
            return f"unscored: {self.unscored.reason.value}: {self.unscored.detail}{given}"
        verdicts = self.assessment.verdicts
        levels = [f"{verdicts.count(v)} {v.value}" for v in Verdict if v in verdicts]
        relation = ">=" if self.passed else "<"
        text = (
            f"{self.score:.3f} {relation} {self.scoring.threshold:g} "
            f"at T={self.scoring.temperature:g}: {', '.join(levels)}"
        )
        worst = min(
            (c for c in self.claims if c.verdict is not None),
            key=lambda c: self.scoring.scheme.weight(Verdict(c.verdict or "none")),
        )
        if worst.verdict is Verdict.FULLY:
            return text
        why = f": {worst.reason}" if worst.reason else ""
        return f'{text}; worst: "{_shorten(worst.claim)}" [{worst.verdict}]{why}'


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTED else f"{flat[: _QUOTED - 1]}…"
