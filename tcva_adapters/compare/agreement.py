"""How far the judges of a panel agree, claim by claim, and on which samples they do not."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.worth import PanelWorth, panel_worth
from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Report, Table, Wrapped, counted, figure, shortened
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.stats.agreement import weighted_kappa
from tcva_adapters.stats.alpha import FEW_UNITS, Alpha, krippendorff_alpha

_SHOWN: Final = 3
_CLAIM_WIDTH: Final = 60
_HANGS: Final = f"below {FEW_UNITS} alpha hangs on one or two of them"


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two judges' agreement.

    Attributes:
        first: One judge.
        second: The other.
        kappa: Cohen's kappa with quadratic weights; nan where chance explains all.
        exact: Share of claims with the same level.
        fully: Share of claims that the first, and that the second, gave the highest level: where
            nearly all have it, chance agrees nearly always.
        claims: Claims that both gave a level.
    """

    first: str
    second: str
    kappa: float
    exact: float
    fully: tuple[float, float]
    claims: int


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """Agreement over all claims of all samples of a panel.

    Attributes:
        alpha: Krippendorff's alpha for ordered levels, its value 1 where judges agree and 0 where
            they do no better than chance, with an interval over the samples, or over groups of
            them. Judges that left a claim out are missing values.
        pairs: Every two judges.
        claims: Claims with at least one level.
        samples: Samples with at least one claim.
        failed: By judge, on how many samples it gave no verdicts although another judge did.
        groups: How many groups the samples belong to; None where they stand alone.
    """

    alpha: Alpha
    pairs: tuple[PairAgreement, ...]
    claims: int
    samples: int
    failed: Mapping[str, int]
    groups: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values; what is not defined is None."""
        values: dict[str, Any] = jsonable(self)
        return values


@dataclass(frozen=True, slots=True)
class DisputedClaim:
    """One claim, and what each judge said of it; None where a judge sees no claim or failed."""

    claim: str
    verdicts: Mapping[str, Verdict | None]


@dataclass(frozen=True, slots=True)
class Dispute:
    """A sample on which judges differ.

    Attributes:
        sample_id: The sample's id.
        spread: Mean distance in levels between two judges on a claim, in [0, 4].
        claims: Its claims, the most disputed first.
    """

    sample_id: str | None
    spread: float
    claims: tuple[DisputedClaim, ...]


@dataclass(frozen=True, slots=True, repr=False)
class PanelReport(Report):
    """What the judges of a panel agree on, and where a person should look.

    Attributes:
        agreement: Over all claims.
        disputes: Samples on which they differ, those that differ most first.
        worth: To how many independent judges they amount, and whether one of them would do.
    """

    agreement: PanelAgreement
    disputes: tuple[Dispute, ...]
    worth: PanelWorth

    @property
    def sentence(self) -> str:
        """How far the judges agree, and on how many samples they do not."""
        found = self.agreement
        of = f"{counted(found.claims, 'claim')} of {counted(found.samples, 'sample')}"
        return (
            f"The judges differ on {counted(len(self.disputes), 'sample')}; Krippendorff's alpha is "
            f"{alpha_text(found.alpha)} on {of}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values; what is not defined is None."""
        return {
            "sentence": self.sentence,
            "agreement": self.agreement.to_dict(),
            "disputed": [
                {
                    "sample": dispute.sample_id,
                    "spread": dispute.spread,
                    "claims": [jsonable(claim) for claim in dispute.claims],
                }
                for dispute in self.disputes
            ],
            "worth": self.worth.to_dict(),
        }

    def parts(self) -> Iterator[Part]:
        """Agreement in a few lines, what the panel is worth, and the most disputed claims."""
        yield from _agreement_lines(self.agreement)
        for line in self.worth.lines():
            yield Wrapped(line, indent=2)
        if not self.disputes:
            return
        yield "most disputed, to be read first:"
        rows = []
        for dispute in self.disputes[:_SHOWN]:
            claim = dispute.claims[0]
            words = ["-" if v is None else v.value for v in claim.verdicts.values()]
            rows.append((dispute.sample_id or "-", shortened(claim.claim, _CLAIM_WIDTH), *words))
        yield Table(("sample", "claim", *self.disputes[0].claims[0].verdicts), rows, "lpl")


def _agreement_lines(found: PanelAgreement) -> Iterator[Part]:
    def shown(value: float) -> str:
        return "not defined" if np.isnan(value) else figure(value)

    yield (
        f"agreement on {counted(found.claims, 'claim')} of {counted(found.samples, 'sample')}: "
        f"Krippendorff's alpha (ordinal) {alpha_text(found.alpha)}"
    )
    if found.groups is not None:
        yield Wrapped(
            f"the samples are of {counted(found.groups, 'group')}, which intervals are about", 2
        )
    if found.alpha.reason:
        why = found.alpha.reason
        if found.groups is None:  # the groups of claims are the samples
            why = why.replace("group", "sample")
        yield Wrapped(f"no interval of alpha: {why}", indent=2)
    if found.alpha.is_few:
        rated = f"{counted(found.alpha.n, 'claim')} with two judges' levels"
        yield Wrapped(f"{rated} {'is' if found.alpha.n == 1 else 'are'} few: {_HANGS}", indent=2)
    for pair in found.pairs:
        yield Wrapped(
            f"  {pair.first} and {pair.second}: weighted kappa {shown(pair.kappa)}, "
            f"the same level on {shown(pair.exact)} of {pair.claims}, fully by "
            f"{' and '.join(map(shown, pair.fully))}",
            indent=2,
        )
    for judge, number in found.failed.items():
        if number:
            yield f"  {judge} gave no verdicts on {number} samples that others judged"


def panel_report(
    assessments: Sequence[Assessment],
    *,
    human: npt.ArrayLike | None = None,
    scoring: ScoringConfig | None = None,
    groups: Sequence[Hashable] | None = None,
) -> PanelReport:
    """Agreement and disputes of the judges behind these assessments, and what they are worth.

    Args:
        assessments: Of a `Panel`.
        human: See `panel_worth`.
        scoring: See there.
        groups: What each sample belongs to; None where they stand alone.

    Raises:
        InvalidValueError: No assessment comes from a panel, or there is not one rating for each.
    """
    disputes = tuple(disputed(assessments))
    worth = panel_worth(assessments, human=human, scoring=scoring, groups=groups)
    return PanelReport(panel_agreement(assessments, groups), disputes, worth)


def panel_agreement(
    assessments: Sequence[Assessment], groups: Sequence[Hashable] | None = None
) -> PanelAgreement:
    """The agreement of the judges behind these assessments.

    Args:
        assessments: Of a `Panel`: each holds its judges' own in ``panel``.
        groups: What each of the samples belongs to; None where they stand alone.

    Raises:
        InvalidValueError: No assessment comes from a panel.
        MissingDependencyError: There is an interval of alpha, and scipy is not installed.
    """
    judges = _judges(assessments)
    panels = [place for place, assessment in enumerate(assessments) if assessment.panel]
    blocks = [_levels(assessments[place], judges) for place in panels]
    levels = np.concatenate([*blocks, np.empty((len(judges), 0))], axis=1)
    samples = np.repeat(panels, [block.shape[1] for block in blocks])
    judged = np.isfinite(levels).any(axis=0)
    levels, of = levels[:, judged], samples[judged].tolist()
    drawn = of if groups is None else [groups[place] for place in of]
    failed = dict.fromkeys(judges, 0)
    for assessment in assessments:
        given = {each.judge for each in assessment.panel if each.unscored is None}
        for judge in judges:
            failed[judge] += bool(given) and judge not in given
    return PanelAgreement(
        alpha=krippendorff_alpha(levels, groups=drawn),
        pairs=tuple(
            _pair(judges[i], judges[j], levels[i], levels[j])
            for i, j in combinations(range(len(judges)), 2)
        ),
        claims=levels.shape[1],
        samples=sum(bool(np.isfinite(block).any()) for block in blocks),
        failed=failed,
        groups=None if groups is None else len(set(drawn)),
    )


def disputed(assessments: Sequence[Assessment], most: int | None = None) -> list[Dispute]:
    """The samples on which the judges differ, those that differ most first.

    A person's time is best spent on these.

    Args:
        assessments: Of a `Panel`.
        most: How many; all with any difference where None.

    Raises:
        InvalidValueError: No assessment comes from a panel.
    """
    judges = _judges(assessments)
    found = []
    for assessment in assessments:
        levels = _levels(assessment, judges)
        spreads = _spreads(levels)
        if not np.isfinite(spreads).any() or np.nanmean(spreads) == 0.0:
            continue
        texts = [claim.claim for claim in _first_judged(assessment).claims]
        order = np.argsort(-np.nan_to_num(spreads), kind="stable")
        claims = tuple(
            DisputedClaim(
                texts[i],
                {
                    judge: LEVELS[int(level)] if np.isfinite(level) else None
                    for judge, level in zip(judges, levels[:, i], strict=True)
                },
            )
            for i in order
        )
        found.append(Dispute(assessment.sample_id, float(np.nanmean(spreads)), claims))
    return sorted(found, key=lambda dispute: -dispute.spread)[:most]


def _judges(assessments: Sequence[Assessment]) -> list[str]:
    judges = list(dict.fromkeys(each.judge for a in assessments for each in a.panel))
    if not judges:
        msg = f"none of {len(assessments)} assessments comes from a panel; judge with Panel([...])"
        raise InvalidValueError(msg)
    return judges


def _first_judged(assessment: Assessment) -> Assessment:
    return next(each for each in assessment.panel if each.unscored is None)


def _levels(assessment: Assessment, judges: Sequence[str]) -> FloatArray:
    """Levels as numbers, 0 for fully; shape (judges, claims), nan where a judge gave none."""
    judged = {each.judge: each for each in assessment.panel if each.unscored is None}
    if not judged:
        return np.empty((len(judges), 0))
    texts = [claim.claim for claim in _first_judged(assessment).claims]
    levels = np.full((len(judges), len(texts)), np.nan)
    for row, judge in enumerate(judges):
        claims = judged[judge].claims if judge in judged else ()
        if [claim.claim for claim in claims] == texts:
            levels[row] = [
                np.nan if claim.verdict is None else LEVELS.index(claim.verdict) for claim in claims
            ]
    return levels


def _spreads(levels: FloatArray) -> FloatArray:
    """Mean distance between two judges for each claim; nan where fewer than two gave a level."""
    pairs = [np.abs(levels[i] - levels[j]) for i, j in combinations(range(len(levels)), 2)]
    distances = np.array(pairs).reshape(len(pairs), levels.shape[1])
    known = np.isfinite(distances).sum(axis=0)
    total = np.nansum(distances, axis=0)
    return np.where(known > 0, total / np.maximum(known, 1), np.nan)


def _pair(first: str, second: str, one: FloatArray, two: FloatArray) -> PairAgreement:
    both = np.isfinite(one) & np.isfinite(two)
    number = int(both.sum())
    return PairAgreement(
        first=first,
        second=second,
        kappa=weighted_kappa(one, two, levels=len(LEVELS)),
        exact=_mean(one[both] == two[both]),
        fully=(_mean(one[both] == 0), _mean(two[both] == 0)),
        claims=number,
    )


def alpha_text(alpha: Alpha) -> str:
    """The value, and its interval where there is one.

    >>> alpha_text(Alpha(0.5, 0.25, 0.625, 100, level=0.95))
    '0.500 [0.25,0.62]'
    """
    if np.isnan(alpha.value):
        return "not defined"
    ends = "" if alpha.reason else f" [{figure(alpha.low, 2)},{figure(alpha.high, 2)}]"
    return f"{figure(alpha.value)}{ends}"


def _mean(of: npt.NDArray[np.bool_]) -> float:
    return float(of.mean()) if len(of) else float("nan")
