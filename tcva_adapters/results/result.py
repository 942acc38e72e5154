"""A score is a view of an assessment: what the dial's settings make of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from statistics import stdev
from typing import Any, ClassVar, Final, Self

import numpy as np

from tcva_adapters.core.flip import flip_point
from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.printing import html_table
from tcva_adapters.results.assessment import (
    SCHEMA_VERSION,
    Assessment,
    ClaimVerdict,
    Unscored,
    Usage,
)
from tcva_adapters.results.evidence import EvidenceCounts, under
from tcva_adapters.results.interval import interval_text, score_interval
from tcva_adapters.results.metadata import written_out
from tcva_adapters.results.protocol import json_object
from tcva_adapters.results.settings import ScoringConfig

__all__ = ["Result", "ScoringConfig", "judged_counts"]

_QUOTED: Final = 80


def judged_counts(assessments: Sequence[Assessment]) -> FloatArray:
    """What scores are made of: the level counts of each sample by each of its judges.

    Args:
        assessments: As they are stored, or under a view of their evidence (see `under`).

    Returns:
        Shape (N, J, 5), the main judge first, then those whose scores are fused with its; a row of
        zeros where a judge has no verdicts.

    >>> judged_counts([Assessment.from_verdicts(["fully", "none"])]).tolist()
    [[[1.0, 0.0, 0.0, 0.0, 1.0]]]
    """
    judges = 1 + max((len(each.members) for each in assessments), default=0)
    counts = np.zeros((len(assessments), judges, len(LEVELS)))
    for i, assessment in enumerate(assessments):
        for j, judged in enumerate((assessment, *assessment.members)):
            counts[i, j] = judged.counts
    return counts


@dataclass(frozen=True, slots=True)
class Repeated:
    """How far the scores of independent judgements of one sample lie apart.

    Attributes:
        scores: Of the repeats that have one, two or more.
        passed: How many of them reach the threshold.

    >>> found = Repeated((0.5, 0.75, 1.0), 2)
    >>> round(found.spread, 12), found.flips, round(found.disagreement, 3)
    (0.25, True, 0.667)
    """

    scores: tuple[float, ...]
    passed: int

    @property
    def spread(self) -> float:
        """Standard deviation of the scores (over n - 1): the judge's noise on this sample."""
        return stdev(self.scores)

    @property
    def flips(self) -> bool:
        """Whether repeats lie on both sides of the threshold."""
        return 0 < self.passed < len(self.scores)

    @property
    def disagreement(self) -> float:
        """Share of the pairs of repeats of which one passes and one does not, in [0, 1]."""
        number = len(self.scores)
        return 2 * self.passed * (number - self.passed) / (number * (number - 1))

    @property
    def text(self) -> str:
        """The same in a few words."""
        sides = f", {self.passed} of them pass" if self.flips else ""
        return (
            f"{len(self.scores)} repeats from {min(self.scores):.3f} to {max(self.scores):.3f} "
            f"(sd {self.spread:.3f}{sides})"
        )


@dataclass(frozen=True)
class Result:
    """An assessment seen at one setting of the dial.

    Attributes:
        assessment: What was judged; kept, so that every other setting is free.
        scoring: The setting.
        seen: The assessment under the setting's view of the evidence, which is what the score is
            made of.
        score: In [0, 1]; None where there is none.

    >>> result = Result(Assessment.from_verdicts(["fully", "fully", "minor"]))
    >>> round(result.score, 3), round(result.at("strict").score, 3), round(result.at(0.9).score, 3)
    (0.767, 0.363, 0.96)
    """

    assessment: Assessment
    scoring: ScoringConfig = field(default_factory=ScoringConfig)
    seen: Assessment = field(init=False, repr=False, compare=False)
    score: float | None = field(init=False)
    kind: ClassVar[str] = "tcva"

    def __post_init__(self) -> None:
        object.__setattr__(self, "seen", under(self.assessment, self.scoring.evidence))
        unscored = self.assessment.unscored
        score: float | None = None
        if unscored is None:
            judged = (self.seen, *self.seen.members)
            score = self.scoring.single([each.level_counts for each in judged])
        elif not unscored.reason.is_failure:
            score = self.scoring.on_unscored
        object.__setattr__(self, "score", score)

    @property
    def unscored(self) -> Unscored | None:
        """Why there is no score of its own."""
        return self.assessment.unscored

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with their verdicts under this view, non-claims included."""
        return self.seen.claims

    @property
    def usage(self) -> Usage:
        """What it cost this time: nothing where a store or another evaluator had it."""
        judged = (self.assessment, *self.assessment.members)
        return sum((each.usage for each in judged if each.is_new), Usage())

    @property
    def breakdown(self) -> dict[str, float]:
        """Claims per level, expected ones where claims carry probabilities.

        The score is made of these: ``aggregate_counts`` of them at the same setting is the score.
        """
        counts = self.seen.counts.tolist()
        return {level.value: count for level, count in zip(LEVELS, counts, strict=True)}

    @property
    def weights(self) -> tuple[float | None, ...]:
        """The weight of each claim under the scheme; None for what claims nothing."""
        return tuple(claim.weight(self.scoring.scheme) for claim in self.claims)

    @property
    def sample_id(self) -> str | None:
        """The sample's id."""
        return self.assessment.sample_id

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; None where there is no score."""
        return None if self.score is None else self.score >= self.scoring.threshold

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Where at least 95 % of the scores lie that its verdicts may give; see `score_interval`."""
        return score_interval(self.seen, self.scoring)

    @property
    def flip_temperature(self) -> float | None:
        """The smallest temperature from which on the sample passes; None if it never does."""
        if self.unscored is not None:
            return None
        return flip_point(self.above_threshold(), self.scoring.bounds)

    def above_threshold(self) -> Callable[[FloatArray], FloatArray]:
        """How far the sample's own score lies above the threshold, as a function of temperatures."""
        curve = self.scoring.curve(judged_counts([self.seen])[0])
        return lambda temperatures: curve(temperatures) - self.scoring.threshold

    @property
    def member_scores(self) -> dict[str, float | None]:
        """The scores that were fused, by judge, the main judge first; None where one has none.

        Judges of one name are told apart by their criterion, or else by their number.
        """
        scores: dict[str, float | None] = {}
        for number, judged in enumerate((self.assessment, *self.assessment.members), start=1):
            names = (judged.judge, f"{judged.judge} {judged.criterion}")
            name = next((n for n in names if n not in scores), f"{judged.judge} #{number}")
            alone = judged.model_copy(update={"members": ()})
            scores[name] = Result(alone, self.scoring).score
        return scores

    @cached_property
    def repeats(self) -> tuple[Result, ...]:
        """What each repeat makes of the sample at this setting; none where it was judged once.

        A fused score is made of what each judge said the same time; of a judge that was asked less
        often, of all that it said.
        """
        own = self.assessment

        def once(place: int, repeat: Assessment) -> Result:
            members = tuple(m.repeats[place] if place < len(m.repeats) else m for m in own.members)
            return Result(repeat.model_copy(update={"members": members}), self.scoring)

        return tuple(once(place, repeat) for place, repeat in enumerate(own.repeats))

    @property
    def repeated(self) -> Repeated | None:
        """How far the repeats lie apart; None where fewer than two have a score."""
        scores = tuple(each.score for each in self.repeats if each.score is not None)
        passed = sum(bool(each.passed) for each in self.repeats)
        return Repeated(scores, passed) if len(scores) > 1 else None

    def at(self, temperature: float | str, **changes: Any) -> Result:
        """The same assessment at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return Result(self.assessment, self.scoring.changed(temperature=temperature, **changes))

    def unscored_for(self, why: Unscored) -> Self:
        """The result of another sample that has no score, by the same judge and settings."""
        judged = self.assessment
        assessment = Assessment(
            criterion=judged.criterion,
            judge=judged.judge,
            prompt_version=judged.prompt_version,
            unscored=why,
        )
        return type(self)(assessment, self.scoring)

    def _repr_html_(self) -> str:
        """The score in a sentence and the claims by level, for a notebook: static and escaped."""
        scheme = self.scoring.scheme
        rows = [(c.level_text(scheme), c.claim, c.reason, c.evidence) for c in self.claims]
        return html_table(self.reason, ("verdict", "claim", "why", "quote"), rows)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: the assessment, the setting, and what follows from the two.

        Each claim has its weight, and ``breakdown`` the counts that the score is made of. Metadata
        that JSON cannot hold is written as text.
        """
        judged = self.assessment.model_dump(mode="json", fallback=written_out)
        for claim, weight in zip(judged["claims"], self.weights, strict=True):
            claim["weight"] = weight
        return {
            "kind": self.kind,
            "score": self.score,
            "passed": self.passed,
            "reason": self.reason,
            "interval": None if self.interval is None else list(self.interval),
            "breakdown": self.breakdown,
            "scoring": self.scoring.model_dump(mode="json"),
            **judged,
        }

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal result."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The result that `to_dict` gave; the score is worked out again.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        try:
            scoring = _scoring_of(json.dumps(plain["scoring"]))
        except (KeyError, TypeError, InvalidValueError) as error:
            why = f"{type(error).__name__}: {error}; it has {', '.join(map(str, plain))}"
            msg = f"not a result (layout {SCHEMA_VERSION}): {why}"
            raise UnreadableInputError(msg) from None
        return cls(Assessment.from_dict(plain), scoring)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The result that `to_json` wrote.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        return cls.from_dict(json_object(text, what=f"a result (layout {SCHEMA_VERSION})"))

    @property
    def reason(self) -> str:
        """The score in one sentence: claims per level, how sure, what quotes lowered, the worst claim."""
        if self.unscored is not None:
            given = "" if self.score is None else f" (counted as {self.score:g} by on_unscored)"
            return f"unscored: {self.unscored.text}{given}"
        relation = ">=" if self.passed else "<"
        text = (
            f"{self.score:.3f} {relation} {self.scoring.threshold:g} "
            f"at {self.scoring.place}: {self.levels}"
        )
        if self.assessment.members:
            parts = (
                f"{name} {'none' if score is None else f'{score:.3f}'}"
                for name, score in self.member_scores.items()
            )
            text = f"{text}; fused from {', '.join(parts)}"
        if self.interval is not None:
            text = f"{text}; {interval_text(self.interval)}"
        if self.repeated is not None:
            text = f"{text}; {self.repeated.text}"
        quotes = EvidenceCounts.of([self.assessment], self.scoring.evidence)
        text = "; ".join((text, *quotes.lines()))
        scored = [claim for claim in self.claims if claim.verdict is not None]
        scheme = self.scoring.scheme
        worst = min(scored, key=lambda claim: claim.weight(scheme) or 0.0)
        if worst.shares is not None and worst.shares[0] == 1.0:
            return text
        why = f": {worst.reason}" if worst.reason else ""
        return f'{text}; worst: "{_shorten(worst.claim)}" [{worst.level_text(scheme)}]{why}'

    @property
    def levels(self) -> str:
        """How many claims each level has, in words; four digits give the score to three."""
        verdicts = self.seen.verdicts
        levels = ", ".join(f"{verdicts.count(v)} {v.value}" for v in Verdict if v in verdicts)
        if not self.seen.is_soft:
            return levels
        expected = (f"{n:.4g} {level}" for level, n in self.breakdown.items() if n)
        return f"{', '.join(expected)} by probability (shown as {levels})"


@lru_cache(maxsize=2**6)
def _scoring_of(text: str) -> ScoringConfig:
    """The settings in some JSON: all lines of a file have the same ones."""
    return ScoringConfig(**json.loads(text))


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTED else f"{flat[: _QUOTED - 1]}…"
