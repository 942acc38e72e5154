"""What a gate guarantees, as the settings file carries it, and which runs it says nothing about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tcva_adapters.results.settings import ScoringConfig, shown
from tcva_adapters.samples.sample import Checked

_CALLED: Final = {
    "criterion": "criterion",
    "judge": "judge",
    "prompt_version": "prompt version",
    "fused": "additional judge",
}
"""What a run has in common with the ratings that its guarantee comes from."""


def percent(share: float) -> str:
    """A limit or a confidence as it was given.

    >>> percent(0.1), percent(0.025), percent(0.999)
    ('10 %', '2.5 %', '99.9 %')
    """
    return f"{100 * share:.6g} %"


def limits_text(max_false_pass: float | None, min_true_pass: float | None) -> str:
    """Limits in words.

    >>> limits_text(0.1, None), limits_text(None, 0.5)
    ('at most 10 % of the answers that people reject', 'at least 50 % of the good answers')
    """
    words = []
    if max_false_pass is not None:
        words.append(f"at most {percent(max_false_pass)} of the answers that people reject")
    if min_true_pass is not None:
        words.append(f"at least {percent(min_true_pass)} of the good answers")
    return " and ".join(words)


class Guarantee(Checked):
    """A setting that keeps a limit, with the ratings that it was certified by.

    Shares are of answers; with `groups`, means over groups of the share within each. With `by` they
    are those of the value of the field where they are worst.

    Attributes:
        max_false_pass: At most this share of the rejected answers passes; None where no limit was set.
        min_true_pass: At least this share of the good answers passes, likewise.
        confidence: Of all that is guaranteed, together.
        rejected: Rated answers that people reject, and that have a score.
        false_pass: The share of these that passes.
        bound: Its upper bound, at most `max_false_pass`.
        good: Rated answers that people accept; those without a score do not pass.
        true_pass: The share of these that passes.
        true_bound: Its lower bound.
        groups: How many groups the rejected answers are of; None where answers stand alone.
        by: The field for each of whose values the limits hold.
        settings_tried: Among how many settings this one was chosen.
        human_threshold: A rating below it rejects an answer, on the scale of the ratings.
        date: When it was certified, as YYYY-MM-DD.
        criterion: What was judged.
        judge: By whom.
        prompt_version: Of the judge.
        fused: Additional judges, as ``CRITERION by JUDGE``.
        setting: That of the score with its threshold, as keyword arguments of `ScoringConfig`.
    """

    max_false_pass: float | None = None
    min_true_pass: float | None = None
    confidence: float
    rejected: int
    false_pass: float
    bound: float
    good: int
    true_pass: float
    true_bound: float
    groups: int | None = None
    by: str | None = None
    settings_tried: int = 1
    human_threshold: float
    date: str
    criterion: str | None = None
    judge: str | None = None
    prompt_version: str | None = None
    fused: tuple[str, ...] = ()
    setting: Mapping[str, Any]

    @property
    def said(self) -> str:
        """What is guaranteed, without the ratings behind it."""
        where = f" for each {self.by}" if self.by else ""
        limits = limits_text(self.max_false_pass, self.min_true_pass)
        return f"{limits} pass{where} ({percent(self.confidence)} confidence)"

    @property
    def rated(self) -> str:
        """What the rated answers did."""
        if self.by is None and self.groups is None:
            good = f"{self.true_pass:.3f} of {self.good} good ones"
            of = f"{self.false_pass:.3f} of {self.rejected} rejected and {good} pass"
            return f"Of the rated answers, {of}."
        where = f"for the worst {self.by}" if self.by else f"in the mean of {self.groups} groups"
        shares = f"{self.false_pass:.3f} of the rejected and {self.true_pass:.3f} of the good ones"
        return f"Of {self.rejected} rejected and {self.good} good rated answers, {shares} pass {where}."

    @property
    def line(self) -> str:
        """The guarantee with its ratings, in one line."""
        return f"Guarantee of {self.date}: {self.said}. {self.rated}"

    def differences(self, scoring: ScoringConfig, judged: Mapping[str, Any]) -> Iterator[str]:
        """How a run differs from what was certified; its guarantee does not hold there.

        Args:
            scoring: Of the run.
            judged: ``criterion``, ``judge``, ``prompt_version`` and ``fused`` of the run.
        """
        pairs = [
            (name, value, getattr(scoring, name)) for name, value in ScoringConfig(**self.setting)
        ]
        pairs += [
            (called, getattr(self, name), judged[name])
            for name, called in _CALLED.items()
            if getattr(self, name) is not None
        ]
        for name, value, other in pairs:
            if other != value:
                yield f"{name} is {shown(other) or 'none'}, not {shown(value) or 'none'}"
