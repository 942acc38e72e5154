"""The outcome of a framework's own metric on a sample, in one form for all four frameworks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.judgement import Reason, Unscored


class FrameworkVerdict(NamedTuple):
    """One verdict of a framework metric.

    Attributes:
        claim: The text that was judged.
        word: The verdict in the metric's own words, e.g. ``idk`` or ``1``.
        verdict: The level that the word stands for; None where it stands for none.
        reason: The metric's reason, where it gives one.
    """

    claim: str
    word: str
    verdict: Verdict | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FrameworkScore:
    """The outcome of one framework metric on one sample.

    Attributes:
        metric: The metric's name.
        score: The metric's score on its own scale; None where it failed or returned none.
        verdicts: Its verdicts, captured from the calls that it makes anyway.
        calls: The number of model calls; None where they were not counted.
        error: Why there is no score; empty where there is one.

    >>> verdicts = (FrameworkVerdict("It is odd.", "yes", Verdict.FULLY), FrameworkVerdict("No.", "idk", None))
    >>> FrameworkScore("faithfulness", 1.0, verdicts).assessment().verdicts
    (<Verdict.FULLY: 'fully'>,)
    """

    metric: str
    score: float | None
    verdicts: tuple[FrameworkVerdict, ...] = ()
    calls: int | None = None
    error: str = ""

    def assessment(self, *, criterion: str = "faithfulness") -> Assessment:
        """Convert the verdicts to an assessment for any temperature; without verdicts it is unscored.

        Args:
            criterion: The name that the assessment carries.
        """
        unscored = None
        if self.error:
            unscored = Unscored(reason=Reason.JUDGE_ERROR, detail=self.error)
        elif all(verdict.verdict is None for verdict in self.verdicts):
            unscored = Unscored(
                reason=Reason.NO_CLAIMS, detail="the metric gave no verdict"
            )
        return Assessment(
            criterion=criterion,
            judge=f"framework:{self.metric}",
            prompt_version="framework",
            claims=tuple(
                ClaimVerdict(
                    claim=verdict.claim,
                    verdict=verdict.verdict,
                    reason=verdict.reason,
                )
                for verdict in self.verdicts
            ),
            unscored=unscored,
        )
