"""What a panel is worth: to how many independent judges it amounts, and whether one would do."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.views.interval_text import ends_text
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.printing import counted, figure
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.bootstrap import PairedDifference, paired_difference
from tcva_adapters.stats.checks import FloatArray, numbers, same_length
from tcva_adapters.stats.correlation import agreement
from tcva_adapters.stats.independence import ENOUGH, Independence, independence
from tcva_adapters.stats.planning import smallest_from

_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class BestMember:
    """The panel beside the judge of it that agrees best with human ratings, by Spearman.

    Attributes:
        judge: That judge; it was chosen on these very samples, which flatters it.
        difference: The panel less the judge, on the same resamples.
    """

    judge: str
    difference: PairedDifference

    @property
    def would_do(self) -> bool | None:
        """Whether nothing shows that the panel agrees better than this judge.

        None where it does on these samples and there is no interval to tell it from chance by.
        """
        found = self.difference
        return None if found.reason and found.delta > 0.0 else not found.low > 0.0

    @property
    def sentence(self) -> str:
        """What it says."""
        found = self.difference
        groups = "" if found.clusters is None else f" of {counted(found.clusters, 'group')}"
        return (
            f"best judge by human ratings: {self.judge}, Spearman {figure(found.second)}, the panel "
            f"{figure(found.first)}; difference {found.delta:+.3f} {ends_text(found, signed=True)} on "
            f"{counted(found.n, 'sample')}{groups}: {self._verdict}"
        )

    @property
    def smallest(self) -> float:
        """The true difference that such samples show in 80 % of cases; nan without an interval."""
        return smallest_from(self.difference.low, self.difference.high, self.difference.level)

    @property
    def _verdict(self) -> str:
        if self.would_do is None:
            return "whether it would do alone cannot be told"
        if not self.would_do:
            return "the panel agrees better than any of its judges alone"
        alone = "it would do alone, as far as these samples show"
        if math.isnan(self.smallest):
            return alone
        return f"{alone}, which would mostly show a true difference of {figure(self.smallest)}"


@dataclass(frozen=True, slots=True)
class PanelWorth:
    """What several judges say that one of them does not.

    Attributes:
        independence: How far they say the same.
        best: The panel beside its best judge; None without human ratings for enough samples.
        fault: Why there is no `best`; empty otherwise.
    """

    independence: Independence
    best: BestMember | None
    fault: str

    @property
    def sentence(self) -> str:
        """To how many independent judges they amount."""
        found = self.independence
        if not found.is_known:
            rated = " and a human rating" if found.of_errors else ""
            why = (
                f"not enough samples ({found.samples} with a score by each{rated}; {ENOUGH} are needed)"
                if found.samples < ENOUGH
                else "fewer than two of them give scores that vary"
            )
            return f"to how many independent judges these {found.judges} amount is not known: {why}"
        what = (
            "their errors against human ratings"
            if found.of_errors
            else "their scores, which judges that are right have in common, too,"
        )
        return (
            f"these {found.judges} judges amount to {found.effective:.1f} independent ones: {what} "
            f"correlate by {figure(found.correlation)} on {found.samples} samples"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values; what is not known is None."""
        known = self.independence.is_known
        best = self.best
        return {
            "sentence": self.sentence,
            **jsonable(self.independence),
            "effective": self.independence.effective if known else None,
            "best_judge": {"sentence": self.fault}
            if best is None
            else {
                **jsonable(best),
                "would_do": best.would_do,
                "smallest": jsonable(best.smallest),
                "sentence": best.sentence,
            },
        }

    def lines(self) -> Iterator[str]:
        """Both in a sentence."""
        yield self.sentence
        yield self.fault if self.best is None else self.best.sentence


def panel_worth(
    assessments: Sequence[Assessment],
    *,
    human: npt.ArrayLike | None = None,
    scoring: ScoringConfig | None = None,
    groups: Sequence[Hashable] | None = None,
) -> PanelWorth:
    """What the judges behind these assessments are worth together.

    Args:
        assessments: Of a `Panel`.
        human: Human ratings, shape (N,); nan or None where there is none.
        scoring: The setting of the dial for scores; by default the usual one.
        groups: What each sample belongs to: the interval is about other such groups then.

    Raises:
        InvalidValueError: There is not one rating for each assessment.
    """
    dial = scoring or ScoringConfig()
    judges = list(dict.fromkeys(each.judge for a in assessments for each in a.panel))
    table = np.full((len(assessments), len(judges) + 1), np.nan)
    for row, assessment in zip(table, assessments, strict=True):
        row[-1] = _score(assessment, dial)
        for each in assessment.panel:
            row[judges.index(each.judge)] = _score(each, dial)
    members = table[:, :-1]
    if human is None:
        fault = (
            "whether its best judge alone would do cannot be told without human ratings: --human "
            "FIELD, --labels FILE, or human=..."
        )
        return PanelWorth(independence(members), None, fault)
    ratings = numbers("human", human)
    same_length(assessments=table, human=ratings)
    found = independence(members, ratings)
    try:
        return PanelWorth(found, *_best(judges, table, ratings, groups))
    except MissingDependencyError as error:
        return PanelWorth(found, None, f"no comparison with its best judge: {error}")


def _score(assessment: Assessment, dial: ScoringConfig) -> float:
    alone = assessment.model_copy(update={"members": ()})
    score = Result(alone, dial).score
    return np.nan if score is None else score


def _best(
    judges: Sequence[str],
    table: FloatArray,
    ratings: FloatArray,
    groups: Sequence[Hashable] | None,
) -> tuple[BestMember | None, str]:
    """The best judge on the samples that everyone scored; or why there is none."""
    kept = np.isfinite(table).all(axis=1) & np.isfinite(ratings)
    n = int(kept.sum())
    if n < ENOUGH:
        return None, (
            f"whether its best judge alone would do is not known: not enough samples ({n} with all "
            f"scores and a human rating; {ENOUGH} are needed)"
        )
    scores, ratings = table[kept], ratings[kept]
    values = [agreement("spearman", column, ratings).value for column in scores.T[:-1]]
    if np.isnan(values).all():
        return None, "whether its best judge alone would do is not known: no score or rating varies"
    best = int(np.nanargmax(values))
    own = None if groups is None else list(compress(groups, kept.tolist()))
    difference = paired_difference(
        *("spearman", scores[:, -1], scores[:, best], ratings), n_boot=_RESAMPLES, groups=own
    )
    return BestMember(judges[best], difference), ""
