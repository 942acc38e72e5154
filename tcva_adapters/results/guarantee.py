"""What a gate guarantees, as the settings file carries it, and which runs it says nothing about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from tcva_adapters.results.settings import ScoringConfig, shown
from tcva_adapters.samples.sample import Checked

_Inner = Annotated[float, Field(gt=0.0, lt=1.0)]
_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_Count = Annotated[int, Field(ge=1)]


def percent(share: float) -> str:
    """A limit or a confidence as it was given.

    >>> percent(0.1), percent(0.025), percent(0.999)
    ('10 %', '2.5 %', '99.9 %')
    """
    return f"{100 * share:.6g} %"


class Limits(Checked):
    """What a gate must keep.

    Attributes:
        max_false_pass: The largest share of rejected answers that may pass; None sets no limit.
        min_true_pass: The smallest share of good answers that must pass, likewise.
        confidence: Of both together.
        human_threshold: A rating below it rejects an answer.
        human_scale: Lowest and highest rating.

    >>> Limits(max_false_pass=0.1).text
    'at most 10 % of the answers that people reject'
    """

    max_false_pass: _Inner | None = None
    min_true_pass: _Inner | None = None
    confidence: _Inner = 0.95
    human_threshold: float = 0.5
    human_scale: tuple[float, float] = (0.0, 1.0)

    @property
    def text(self) -> str:
        """The limits in words."""
        most, least = self.max_false_pass, self.min_true_pass
        words = (
            [] if most is None else [f"at most {percent(most)} of the answers that people reject"]
        )
        words += [] if least is None else [f"at least {percent(least)} of the good answers"]
        return " and ".join(words)


class Guarantee(Limits):
    """A setting that keeps limits, with the ratings that it was certified by.

    Shares are of answers; with `groups`, means over groups of the share within each. With `by` they
    are those of the value of the field where they are worst.

    Attributes:
        rejected: Rated answers that people reject, and that have a score.
        false_pass: The share of these that passes.
        bound: Its upper bound, for this threshold alone.
        good: Rated answers that people accept; those without a score do not pass.
        true_pass: The share of these that passes.
        true_bound: Its lower bound, for this threshold alone.
        groups: How many groups the rejected answers are of; None where answers stand alone.
        by: The field for each of whose values the limits hold.
        date: When it was certified, as YYYY-MM-DD.
        criterion: What was judged.
        judge: By whom.
        prompt_version: Of the judge.
        fused: Additional judges, as ``CRITERION by JUDGE``.
        setting: That of the score with its threshold, as keyword arguments of `ScoringConfig`.
    """

    rejected: _Count
    false_pass: _Share
    bound: _Share
    good: _Count
    true_pass: _Share
    true_bound: _Share
    groups: int | None = None
    by: str | None = None
    date: str
    criterion: str | None = None
    judge: str | None = None
    prompt_version: str | None = None
    fused: tuple[str, ...] = ()
    setting: Mapping[str, Any]

    @property
    def said(self) -> str:
        """What is guaranteed, and what the rated answers did."""
        where = f" for each {self.by}" if self.by else ""
        said = f"{self.text} pass{where} ({percent(self.confidence)} confidence)"
        below = f"rejected answers (rated below {self.human_threshold:g})"
        if not (self.by or self.groups):
            rejected = f"{self.false_pass * self.rejected:.0f} of {self.rejected} {below}"
            good = f"{self.true_pass * self.good:.0f} of {self.good} good ones"
            return f"{said}. Of those rated, {rejected} and {good} pass."
        at = f"in the mean over groups ({self.groups} of them with a rejected answer)"
        at = f"in the {self.by} where each share is worst" if self.by else at
        shares = f"{self.false_pass:.1%} of the rejected and {self.true_pass:.1%} of the good ones"
        shares = shares.replace("%", " %")
        return f"{said}. Of {self.rejected} {below} and {self.good} good ones, {shares} pass {at}."

    def lost(self, scorer: Any, *, has_judge: bool = True) -> list[str]:
        """How a `TCVA` differs from what was certified; the guarantee does not hold for it.

        Args:
            scorer: The `TCVA`.
            has_judge: False where it gets its judge later, which is not compared then.
        """
        judged: dict[str, Any] = {"criterion": scorer.criterion.name}
        if has_judge:
            judges = [scorer.judge, *(each.judge for each in scorer.members)]
            versions = dict.fromkeys(each.prompt_version for each in judges)
            judged |= {"judge": scorer.judge.name, "prompt_version": "+".join(versions)}
            judged["fused"] = tuple(f"{m.subject} by {m.judge_name}" for m in scorer.members)
        found = [*self.differences(scorer.scoring, judged)]
        return found + ["temperatures follow profiles"] * (scorer.profiles is not None)

    def differences(self, scoring: ScoringConfig, judged: dict[str, Any]) -> Iterator[str]:
        """How a run differs from what was certified; its guarantee does not hold there.

        Args:
            scoring: Of the run.
            judged: ``criterion``, ``judge``, ``prompt_version`` and ``fused`` of the run.
        """
        own = dict(ScoringConfig(**self.setting))
        own |= {name: getattr(self, name) for name in judged} if self.judge else judged
        for name, other in (dict(scoring) | judged).items():
            if (value := own[name]) != other:
                yield f"{name} {shown(other) or 'none'} instead of {shown(value) or 'none'}"
