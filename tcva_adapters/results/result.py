"""A score is a view of an assessment: what temperature and weights make of it."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter, methodcaller
from typing import Any, ClassVar, Final, Self

import numpy as np

from tcva_adapters.core.flip import flip_point
from tcva_adapters.core.uncertainty import central_interval, count_distribution
from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict, WeightScheme
from tcva_adapters.errors import GuaranteeWarning, InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import (
    SCHEMA_VERSION,
    Assessment,
    ClaimVerdict,
    Unscored,
    Usage,
    non_claims_text,
)
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.evidence import EvidenceCounts, under
from tcva_adapters.results.guarantee import Guarantee
from tcva_adapters.results.guarantee_check import GuaranteeCheck, checked
from tcva_adapters.results.protocol import json_object
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.tables import Column, Report, Table, shortened

__all__ = ["Result", "ScoringConfig"]

_QUOTED: Final = 80
_NAMES: Final = tuple(level.value for level in LEVELS)


@dataclass(frozen=True)
class Result:
    """The score of an assessment at one temperature, with one set of weights.

    Attributes:
        assessment: What was judged; other settings cost no call.
        scoring: The setting.
        certified: What was certified of the setting it came from; None where nothing was.
        seen: The assessment under the setting's view of the evidence, which is what the score is
            made of.
        score: In [0, 1]; None where there is none.

    >>> result = Result(Assessment.from_verdicts(["fully", "fully", "minor"]))
    >>> round(result.score, 3), round(result.at("strict").score, 3), round(result.at(0.9).score, 3)
    (0.767, 0.363, 0.96)
    """

    assessment: Assessment
    scoring: ScoringConfig = field(default_factory=ScoringConfig)
    certified: Guarantee | None = field(default=None, repr=False, hash=False)
    seen: Assessment = field(init=False, repr=False, compare=False)
    score: float | None = field(init=False)
    kind: ClassVar[str] = "tcva"

    def __post_init__(self) -> None:
        judged = self.assessment
        seen = judged if self.scoring.evidence == "lower" else under(judged, self.scoring.evidence)
        score = None
        if judged.unscored is None:
            score = self.scoring.single([*map(attrgetter("level_counts"), (seen, *seen.members))])
        elif not judged.unscored.reason.is_failure:
            score = self.scoring.on_unscored
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "score", score)

    @cached_property
    def guarantee(self) -> GuaranteeCheck | None:
        """Whether the guarantee of the settings holds for this score; None where there is none."""
        if self.certified is None:
            return None
        return checked(self.certified, self.assessment.judged_by, self.scoring)

    def warned(self) -> Self:
        """The same, after a warning, once in a run, where the guarantee is not known to hold."""
        if (check := self.guarantee) and self.certified and check.state != "holds":
            if check.text not in self.certified.warned_of:
                warnings.warn(check.text, GuaranteeWarning, stacklevel=3)
            self.certified.warned_of.add(check.text)
        return self

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
        return dict(zip(_NAMES, self.seen.level_counts, strict=True))

    @cached_property
    def weights(self) -> tuple[float | None, ...]:
        """The weight of each claim under the scheme; None for what claims nothing."""
        return tuple(map(methodcaller("weight", self.scoring.scheme), self.seen.claims))

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
        """An interval with at least 95 % of the scores that the verdicts' probabilities allow.

        Claims are drawn independently. None without a score, of a fused score, and where no verdict
        has probabilities that are chances: the lexical judge's place a claim between two levels,
        and asked again it says the same.
        """
        judged = self.seen
        if judged.unscored or judged.members or not judged.is_soft or judged.is_lexical:
            return None
        chances = np.array([each.shares for each in judged.claims if each.verdict is not None])
        if _is_yes_no(judged):
            # Its shares lie between two levels, whose expected weight is the chance of a yes.
            yes = np.clip(chances @ WeightScheme.DEFAULT.as_array(), 0.0, 1.0)
            chances = np.zeros_like(chances)
            chances[:, 0], chances[:, -1] = yes, 1.0 - yes
        counts, likely = count_distribution(chances)
        return central_interval(self.scoring.scores(counts), likely)

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

        Judges of one name are named by their criterion, or else by their number.
        """
        scores: dict[str, float | None] = {}
        alone = self.assessment.model_copy(update={"members": ()})
        for number, judged in enumerate((alone, *self.assessment.members), start=1):
            names = (judged.judge, f"{judged.judge} {judged.criterion}")
            name = next((n for n in names if n not in scores), f"{judged.judge} #{number}")
            scores[name] = Result(judged, self.scoring).score
        return scores

    @cached_property
    def repeats(self) -> tuple[Result, ...]:
        """What each repeat makes of the sample at this setting; none where it was judged once.

        A fused score is made of what each judge said the same time; of a judge that was asked less
        often, of all that it said.
        """
        results = []
        for place, repeat in enumerate(self.assessment.repeats):
            members = tuple(
                each.repeats[place] if place < len(each.repeats) else each
                for each in self.assessment.members
            )
            results.append(Result(repeat.model_copy(update={"members": members}), self.scoring))
        return tuple(results)

    def at(self, temperature: float | str, **changes: Any) -> Result:
        """The same assessment at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        scoring = self.scoring.changed(temperature=temperature, **changes)
        return Result(self.assessment, scoring, self.certified)

    def unscored_for(self, why: Unscored) -> Self:
        """The result of another sample that has no score, by the same judge and settings."""
        judged = self.assessment
        assessment = Assessment(
            criterion=judged.criterion,
            judge=judged.judge,
            prompt_version=judged.prompt_version,
            unscored=why,
            judged_by=judged.judged_by,
        )
        return type(self)(assessment, self.scoring, self.certified)

    def _repr_html_(self) -> str:
        """The score in a sentence and the claims by level, for a notebook: static and escaped."""
        scheme = self.scoring.scheme
        names = ("verdict", "claim", "why", "quote")
        records = [
            dict(zip(names, (c.level_text(scheme), c.claim, c.reason, c.evidence), strict=True))
            for c in self.claims
        ]
        claims = Table("claims", [Column(name) for name in names], records)
        return Report(self.reason, [claims])._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: the assessment, the setting, and what follows from the two.

        Each claim has its weight, and ``breakdown`` the counts that the score is made of. Metadata
        that JSON cannot hold is written as text.
        """
        judged, certified = self.assessment.model_dump(mode="json"), self.certified
        for claim, weight in zip(judged["claims"], self.weights, strict=True):
            claim["weight"] = weight
        return {
            "kind": self.kind,
            "score": self.score,
            "passed": self.passed,
            "reason": self.reason,
            "interval": self.interval,
            "breakdown": self.breakdown,
            "scoring": self.scoring.model_dump(mode="json"),
            "guarantee": self.guarantee and self.guarantee._asdict(),
            "certified": certified and certified.model_dump(mode="json", exclude_none=True),
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
        setting = setting_in(plain)
        return cls(Assessment.from_dict(plain), *setting)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The result that `to_json` wrote.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        return cls.from_dict(json_object(text, what=f"a result of layout {SCHEMA_VERSION}"))

    @property
    def reason(self) -> str:
        """The score in one sentence: claims per level, interval, lowered verdicts, the worst claim."""
        why = self.assessment.unscored
        if why is not None:
            return self._without_score(why.text)
        worst, least = self.seen.claims[0], math.inf
        for claim, weight in zip(self.seen.claims, self.weights, strict=True):
            if weight is not None and weight < least:
                worst, least = claim, weight
        if not worst.is_soft and worst.verdict is Verdict.FULLY:
            return self.summary
        said = f": {worst.reason}" if worst.reason else ""
        text, level = shortened(worst.claim, _QUOTED), worst.level_text(self.scoring.scheme)
        return f'{self.summary}; worst: "{text}" [{level}]{said}'

    @property
    def summary(self) -> str:
        """The reason without any text of the sample, the judge or an error."""
        judged, scoring = self.assessment, self.scoring
        if judged.unscored is not None:
            return self._without_score(judged.unscored.reason.value)
        threshold = f"{'>=' if self.passed else '<'} {scoring.threshold:g}"
        parts = [f"{self.score:.3f} {threshold} at {scoring.place}: {self.levels}"]
        parts += self._non_claims_in_words()
        if judged.members:
            by_judge = self.member_scores.items()
            scores = (f"{name} {'none' if n is None else f'{n:.3f}'}" for name, n in by_judge)
            parts.append(f"fused from {', '.join(scores)}")
        if self.interval is not None:
            parts.append(interval_text(self.interval))
        if self.guarantee is not None and self.guarantee.state != "holds":
            parts.append(self.guarantee.text)
        if judged.panel:
            parts += self._repeats_in_words()
        has_checks = any(claim.evidence_check is not None for claim in self.seen.claims)
        if has_checks or judged.panel or judged.members:
            parts += EvidenceCounts.of([judged], scoring.evidence).lines()
        return "; ".join(parts)

    def _without_score(self, why: str) -> str:
        given = "" if self.score is None else f" (scored as {self.score:g} by on_unscored)"
        return "; ".join([f"unscored: {why}{given}", *self._non_claims_in_words()])

    def _non_claims_in_words(self) -> list[str]:
        non_claims = self.assessment.non_claims
        by_judge = sum(claim.marked_by_judge for claim in non_claims)
        return [non_claims_text(len(non_claims), by_judge)] if non_claims else []

    def _repeats_in_words(self) -> list[str]:
        scores = sorted(each.score for each in self.repeats if each.score is not None)
        if not scores:
            return []
        passed = sum(score >= self.scoring.threshold for score in scores)
        span = f"{scores[0]:.3f} to {scores[-1]:.3f}"
        return [f"{len(scores)} repeats score {span}, {passed} of them pass"]

    @property
    def levels(self) -> str:
        """How many claims each level has, in words."""
        found = Counter(self.seen.verdicts)
        return ", ".join(f"{found[level]} {level.value}" for level in LEVELS if level in found)


def setting_in(plain: Mapping[str, Any]) -> tuple[ScoringConfig, Guarantee | None]:
    """The setting of a result that was written, and what was certified of it.

    Raises:
        UnreadableInputError: It has none, or one that does not fit.
    """
    try:
        scoring, certified = ScoringConfig(**plain["scoring"]), plain.get("certified")
        return scoring, certified and Guarantee(**certified)
    except (KeyError, TypeError, InvalidValueError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        msg = f"not a result of layout {SCHEMA_VERSION}: {why}"
        raise UnreadableInputError(msg) from None


def interval_text(interval: tuple[float, float]) -> str:
    """An interval in a few words."""
    return "95% interval {:.3f} to {:.3f}".format(*interval)


def _is_yes_no(assessment: Assessment) -> bool:
    judged = [each for each in assessment.panel if each.unscored is None]
    return all(map(_is_yes_no, judged)) if judged else assessment.form.startswith("yes_no")
