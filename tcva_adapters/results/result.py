"""Results: the score of an assessment under one setting of temperature and weights."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import ClassVar, Self

import numpy as np

from tcva_adapters.core.flip import flip_point
from tcva_adapters.core.uncertainty import central_interval, count_distribution
from tcva_adapters.core.verdicts import LEVELS, Verdict, WeightScheme
from tcva_adapters.errors import (
    GuaranteeWarning,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.results.assessment import (
    MAX_MARKED,
    Assessment,
    AssessmentView,
    ClaimVerdict,
)
from tcva_adapters.results.citations import Citations, citations_of, without_wrong
from tcva_adapters.results.evidence import evidence_lines, evidence_outcomes, under
from tcva_adapters.results.guarantee import (
    AnyGuarantee,
    GuaranteeCheck,
    check_guarantee,
    read_guarantee,
)
from tcva_adapters.results.judgement import SCHEMA_VERSION, SILENT, Unscored, Usage
from tcva_adapters.results.passages import PassageUse, passage_uses
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.supported import SupportedAnswer, supported_answer
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json, json_object
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Column, Report, Table, counted, shortened

MOSTLY_MARKED = "passes no gate, as most of the text is no claim by the judge alone"
_QUOTED = 80
_NAMES = tuple(level.value for level in LEVELS)


@dataclass(frozen=True)
class Result(AssessmentView):
    """The score of an assessment at one temperature, with one set of weights.

    Attributes:
        assessment: The judgement; other settings of it cost no call.
        scoring: The setting.
        certified: The guarantee of the settings that it came from; None where they have none.
        sample: The sample that was judged; None where the result was read back, as files of results
            hold no texts.
        seen: The assessment under the setting's view of the evidence, from which the score is
            computed.
        score: The score in [0, 1]; None where there is none.
        judge: Name of the judge. This and the following are those of the assessment.
        criterion: Name of the criterion.
        prompt_version: Version of the prompt.
        form: The form in which verdicts were asked for in the end.
        from_store: Whether a store served the judgement.
        shared: Whether another evaluator of this process had asked for it.
        metadata: The sample's metadata.
        members: The assessments of additional judges, for a fused score.
        panel: The judgements of a panel's judges, or the repeats of one judge.
        schema_version: Version of the layout in files.

    >>> result = Result(Assessment.from_verdicts(["fully", "fully", "minor"]))
    >>> round(result.score, 3), round(result.at("strict").score, 3), round(result.at(0.9).score, 3)
    (0.767, 0.363, 0.96)
    """

    assessment: Assessment
    scoring: ScoringConfig = field(default_factory=ScoringConfig)
    certified: AnyGuarantee | None = field(
        default=None,
        repr=False,
        hash=False,
    )
    sample: Sample | None = field(
        default=None,
        repr=False,
        compare=False,
    )
    seen: Assessment = field(
        init=False,
        repr=False,
        compare=False,
    )
    score: float | None = field(init=False)
    kind: ClassVar[str] = "tcva"

    def __post_init__(self) -> None:
        judged = self.assessment
        seen = under(judged, self.scoring.evidence)
        if judged.unscored is not None:
            score = self.scoring.for_unscored(judged.unscored.reason)
        else:
            counts = [part.level_counts for part in (seen, *seen.members)]
            score = self.scoring.single(counts)
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "score", score)

    @cached_property
    def guarantee(self) -> GuaranteeCheck | None:
        """Whether the guarantee of the settings holds for this score; None where there is none."""
        if self.certified is None:
            return None
        judged = self.assessment
        return check_guarantee(
            self.certified, judged.judged_by, self.scoring, failed_text(judged)
        )

    def warn_if_lost(self) -> Self:
        """Warn, once in a run, if the guarantee is not known to hold; return this result."""
        check = self.guarantee
        if check and self.certified and check.state != "holds":
            if check.text not in self.certified.warned_of:
                warnings.warn(check.text, GuaranteeWarning, stacklevel=3)
            self.certified.warned_of.add(check.text)
        return self

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with their verdicts under this view, non-claims included."""
        return self.seen.claims

    @property
    def usage(self) -> Usage:
        """The cost of this run; nothing where a store or another evaluator supplied it."""
        judged = (self.assessment, *self.members)
        return sum((part.usage for part in judged if part.is_new), Usage())

    @property
    def breakdown(self) -> dict[str, float]:
        """Claims per level; expected numbers where claims carry probabilities.

        ``aggregate_counts`` of these at the same setting gives the main judge's score, which is
        the score unless others are fused with it.
        """
        return dict(zip(_NAMES, self.seen.level_counts, strict=True))

    @cached_property
    def weights(self) -> tuple[float | None, ...]:
        """The weight of each claim under the scheme; None for sentences that claim nothing."""
        return tuple(claim.weight(self.scoring.scheme) for claim in self.claims)

    @property
    def mostly_marked(self) -> bool:
        """Whether no gate passes the answer, whatever its score; see `Assessment.marked_share`."""
        return self.assessment.marked_share > MAX_MARKED

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; None where there is no score.

        False, with or without a score, where the answer is `mostly_marked`; and where
        ``uncontexted="fail"`` closes an answer that has no score.
        """
        if self.mostly_marked:
            return False
        if self.score is not None:
            return self.score >= self.scoring.threshold
        is_closed = self.unscored and self.scoring.closes(self.unscored.reason)
        return False if is_closed else None

    @property
    def nothing_to_check(self) -> bool:
        """Whether the text claims nothing (a greeting, a refusal): gates let it through.

        False where ``on_unscored`` gives it a score, or it is `mostly_marked`.
        """
        is_silent = self.unscored is not None and self.unscored.reason in SILENT
        return is_silent and self.score is None and not self.mostly_marked

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """An interval with at least 95 % of the scores that the verdicts' probabilities allow.

        Claims are drawn independently. None without a score, for a fused score, and where no
        verdict has probabilities that stand for chance. Those of the lexical judge only place a
        claim between two levels, and it always gives the same ones.
        """
        judged = self.seen
        if judged.unscored or judged.members or not judged.is_soft or judged.is_lexical:
            return None
        chances = np.array(
            [claim.shares for claim in judged.claims if claim.verdict is not None]
        )
        if _is_yes_no(judged):
            # Its shares lie between two levels, and their expected weight is the chance
            # of a yes.
            yes = np.clip(chances @ WeightScheme.DEFAULT.weights, 0.0, 1.0)
            chances = np.zeros_like(chances)
            chances[:, 0] = yes
            chances[:, -1] = 1.0 - yes
        counts, likely = count_distribution(chances)
        return central_interval(self.scoring.scores(counts), likely)

    @property
    def flip_temperature(self) -> float | None:
        """The smallest temperature from which on the sample passes; None if it never does."""
        if self.unscored is not None or self.mostly_marked:
            return None
        judged = (self.seen, *self.seen.members)
        curve = self.scoring.curve(np.array([part.level_counts for part in judged]))
        threshold = self.scoring.threshold
        return flip_point(lambda at: curve(at) - threshold, self.scoring.bounds)

    @property
    def member_scores(self) -> dict[str, float | None]:
        """The scores that were fused, by judge, the main judge first; None for a judge without one.

        Judges of one name are named by their criterion, or else by their number.
        """
        scores = {}
        alone = self.assessment.model_copy(update={"members": ()})
        for number, judged in enumerate((alone, *self.members), start=1):
            name = judged.judge
            if name in scores:
                name = f"{judged.judge} {judged.criterion}"
            if name in scores:
                name = f"{judged.judge} #{number}"
            scores[name] = Result(judged, self.scoring).score
        return scores

    @cached_property
    def repeats(self) -> tuple[Result, ...]:
        """The result of each repeat at this setting; empty where the sample was judged once.

        A fused score uses the repeat of the same number of each judge; for a judge with fewer
        repeats, its whole assessment.
        """
        results = []
        for place, repeat in enumerate(self.assessment.repeats):
            members = tuple(
                member.repeats[place] if place < len(member.repeats) else member
                for member in self.members
            )
            judged = repeat.model_copy(update={"members": members})
            results.append(Result(judged, self.scoring))
        return tuple(results)

    def at(self, temperature: float | str, **changes: object) -> Self:
        """Score the same assessment at another temperature, and under other settings by name.

        No call is made.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return self.changed(temperature=temperature, **changes)

    def changed(self, **settings: object) -> Self:
        """Score the same assessment under other settings, given by name; no call is made.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return type(self)(
            self.assessment,
            self.scoring.changed(**settings),
            self.certified,
            self.sample,
        )

    def supported(
        self,
        threshold: Verdict | str | float | None = None,
        sample: Sample | None = None,
    ) -> SupportedAnswer:
        """Return the answer without its unsupported claims; no call is made.

        What stays is unchanged, byte for byte. Greetings, questions and refusals stay. An answer that
        could not be judged loses every sentence that may claim something.

        Args:
            threshold: A level, or a weight in [0, 1], that a claim must have to stay; by default the
                ``claim_threshold`` of the setting.
            sample: The sample that was judged, for a result that was read back.

        Raises:
            InvalidValueError: There is no sample, the threshold is out of range, or the claims are
                not the sentences of the sample's response.

        >>> from tcva_adapters import TCVA
        >>> sample = Sample(response="We open at 9. Entry is 90 EUR.", contexts=["We open at 9."])
        >>> TCVA(judge="lexical").evaluate(sample).supported().text
        'We open at 9.'
        """
        judged = self._judged_sample("supported", sample)
        result = self.as_cited(judged)
        if threshold is not None:
            result = result.changed(claim_threshold=threshold)
        return supported_answer(judged.response or "", result.seen, result.scoring)

    def passages(self, sample: Sample | None = None) -> tuple[PassageUse, ...]:
        """Say for each passage of the sample which claims rest on it; no call is made.

        A claim rests on the passages that hold its quote, where that passed the evidence check. Only one
        quote of each claim is known, so a passage that is not used may still have served.

        Args:
            sample: The sample that was judged, for a result that was read back.

        Returns:
            A use for each passage, in order. None where nothing is known: the sample is unscored or has
            no contexts, or claims are supported and none of them has a sound quote (``yes_no`` verdicts
            have no quotes).

        Raises:
            InvalidValueError: There is no sample, or the claims were compared with another text than
                the contexts.

        >>> from tcva_adapters import TCVA
        >>> sample = Sample(response="Entry is free.", contexts=["We open at 9.", "Entry is free."])
        >>> [use.claims for use in TCVA(judge="lexical").evaluate(sample).passages()]
        [(), (0,)]
        """
        judged = self._judged_sample("passages", sample)
        return passage_uses(self.seen, judged, self.weights)

    def citations(self, sample: Sample | None = None) -> Citations:
        """Hold the marks of the answer ([1], [doc-7]) against the quotes of its claims; no call is made.

        Args:
            sample: The sample that was judged, for a result that was read back.

        Raises:
            InvalidValueError: There is no sample, or the claims are not the sentences of its response, or
                were compared with another text than the contexts.

        >>> from tcva_adapters import TCVA
        >>> sample = Sample(response="We open at 9 [2].", contexts=["We open at 9.", "Entry is free."])
        >>> [part.outcome.value for part in TCVA(judge="lexical").evaluate(sample).citations().parts]
        ['elsewhere']
        """
        judged = self._judged_sample("citations", sample)
        return citations_of(judged, self.seen, self.scoring)

    def as_cited(self, sample: Sample | None = None) -> Result:
        """Return it as it is served: under ``require_citations``, claims with wrong marks are ``none``.

        Args:
            sample: The sample that was judged, for a result that was read back.

        Raises:
            InvalidValueError: As for `citations`, under ``require_citations``.
        """
        if not (self.scoring.require_citations and self.claims):
            return self
        judged = self._judged_sample("citations", sample)
        # This refuses a sample with another answer.
        supported_answer(judged.response or "", self.seen, self.scoring)
        seen = without_wrong(self.seen, self.citations(judged))
        return Result(seen, self.scoring, self.certified, judged)

    def _judged_sample(self, view: str, sample: Sample | None) -> Sample:
        judged = sample or self.sample
        if not isinstance(judged, Sample):
            raise InvalidValueError(
                f"{view}() needs the sample that was judged, got {judged!r}; a result that was read "
                f"back has none, so pass it: {view}(sample=...)"
            )
        if self.assessment.earlier_contexts:
            update = {"contexts": judged.earlier_contexts, "context_ids": ()}
            return judged.model_copy(update=update)
        return judged

    def at_gate(self) -> Self:
        """Return it as gates see it: an answer that claims something without contexts does not pass.

        Under ``uncontexted="skip"`` it stays as it is.
        """
        if self.scoring.uncontexted == "skip":
            return self
        closed = self.changed(uncontexted="fail")
        return self if closed.passed == self.passed else closed

    def unscored_for(self, why: Unscored) -> Self:
        """Make a result without a score for another sample, with this judge and settings."""
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
        records = [
            {
                "verdict": claim.level_text(self.scoring.scheme),
                "claim": claim.claim,
                "why": claim.reason,
                "quote": claim.evidence,
            }
            for claim in self.claims
        ]
        columns = [*map(Column, ("verdict", "claim", "why", "quote"))]
        return Report(self.reason, [Table("claims", columns, records)])._repr_html_()

    def to_dict(self) -> Json:
        """Convert to JSON values: the assessment, the setting, and what follows from the two.

        Each entry is an attribute, too. Each claim has its weight, and ``breakdown`` the counts
        that the score is computed from. ``usage`` is that of the main judge when it was asked.
        Metadata that JSON cannot hold is written as text.
        """
        judged = self.assessment.model_dump(mode="json")
        certified = self.certified
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
            "certified": certified
            and certified.model_dump(mode="json", exclude_none=True),
            **judged,
        }

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal result."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, plain: Fields) -> Self:
        """Read a result from the values of `to_dict`; the score is computed again.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        scoring, certified = setting_in(plain)
        return cls(Assessment.from_dict(plain), scoring, certified)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a result from the line of `to_json`; the score is computed again.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        return cls.from_dict(
            json_object(text, what=f"a result of layout {SCHEMA_VERSION}")
        )

    @property
    def reason(self) -> str:
        """The score in one sentence: claims per level, interval, lowered verdicts, the worst claim."""
        if self.unscored is not None:
            return self._without_score(self.unscored.text)
        weights = zip(self.seen.claims, self.weights, strict=True)
        worst, _ = min(
            (pair for pair in weights if pair[1] is not None), key=itemgetter(1)
        )
        if not worst.is_soft and worst.verdict is Verdict.FULLY:
            return self.summary
        text = shortened(worst.claim, _QUOTED)
        level = worst.level_text(self.scoring.scheme)
        why = f": {worst.reason}" if worst.reason else ""
        return f'{self.summary}; worst: "{text}" [{level}]{why}'

    @property
    def summary(self) -> str:
        """The reason without any text of the sample, the judge or an error."""
        judged = self.assessment
        scoring = self.scoring
        if judged.unscored is not None:
            return self._without_score(judged.unscored.reason.value)
        relation = ">=" if (self.score or 0.0) >= scoring.threshold else "<"
        place = f"{scoring.threshold:g} at {scoring.place}"
        parts = [f"{self.score:.3f} {relation} {place}: {self.levels}"]
        parts += self._non_claims_in_words()
        if judged.earlier_contexts:
            parts.append("contexts of earlier turns count")
        if judged.members:
            scores = (
                f"{judge} none" if score is None else f"{judge} {score:.3f}"
                for judge, score in self.member_scores.items()
            )
            parts.append(f"fused from {', '.join(scores)}")
        failed = failed_text(judged)
        if failed and any(part.panel for part in (judged, *judged.members)):
            parts.append(failed)
        if self.interval is not None:
            parts.append("95% interval {:.3f} to {:.3f}".format(*self.interval))
        if self.guarantee is not None and self.guarantee.state != "holds":
            parts.append(self.guarantee.text)
        parts += self._repeats_in_words()
        parts += evidence_lines(evidence_outcomes([judged]), scoring.evidence)
        return "; ".join(parts)

    def _without_score(self, why: str) -> str:
        closed = ", not passed" if self.passed is False else ""
        whole = f"unscored: {why}{substitute_text(self.score)}{closed}"
        return "; ".join([whole, *self._non_claims_in_words()])

    def _non_claims_in_words(self) -> list[str]:
        lines = [*non_claim_lines(self.assessment.non_claims)]
        return [*lines, MOSTLY_MARKED] if self.mostly_marked else lines

    def _repeats_in_words(self) -> list[str]:
        scores = sorted(r.score for r in self.repeats if r.score is not None)
        if not scores:
            return []
        passed = sum(repeat.passed is True for repeat in self.repeats)
        span = f"{scores[0]:.3f} to {scores[-1]:.3f}"
        return [f"{len(scores)} repeats score {span}, {passed} of them pass"]

    @property
    def levels(self) -> str:
        """How many claims each level has, in words."""
        counts = Counter(self.seen.verdicts)
        return ", ".join(
            f"{counts[level]} {level.value}" for level in LEVELS if level in counts
        )


def substitute_text(score: float | None) -> str:
    """The score that ``on_unscored`` gives a sample that has none, in words; empty for None."""
    return "" if score is None else f", scored as {score:g} by on_unscored"


def failed_text(assessment: Assessment) -> str:
    """Name the failed judges that a score lacks; empty for none, and without a score."""
    names = [] if assessment.unscored else assessment.failed_judges
    return f"no verdicts from {', '.join(names)}" if names else ""


def setting_in(plain: Fields) -> tuple[ScoringConfig, AnyGuarantee | None]:
    """Read the setting of a written result, and its guarantee.

    Raises:
        UnreadableInputError: The setting is missing, or one of the two does not fit.
    """
    try:
        scoring = ScoringConfig(**plain["scoring"])
        certified = plain.get("certified")
        return scoring, None if certified is None else read_guarantee({**certified})
    except (KeyError, TypeError, InvalidValueError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise UnreadableInputError(
            f"not a result of layout {SCHEMA_VERSION}: {why}"
        ) from None


def non_claim_lines(non_claims: Counter[bool]) -> Iterator[str]:
    """Yield a sentence on how many sentences claim nothing; nothing where there are none.

    Args:
        non_claims: See `Assessment.non_claims`.

    >>> [*non_claim_lines(Counter([True, False, False]))]
    ['3 sentences claim nothing, 1 of them by the judge alone']
    """
    if number := non_claims.total():
        text = f"{counted(number, 'sentence')} {'claims' if number == 1 else 'claim'} nothing"
        by_judge = non_claims[True]
        yield f"{text}, {by_judge} of them by the judge alone" if by_judge else text


def _is_yes_no(assessment: Assessment) -> bool:
    judged = [part for part in assessment.panel if part.unscored is None]
    if judged:
        return all(map(_is_yes_no, judged))
    return assessment.form.startswith("yes_no")
