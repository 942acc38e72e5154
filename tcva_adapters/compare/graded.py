"""What gates, reviewers and CI servers look at: every sample of every method, scored or not.

`TCVA`, CCRS, a comparison and a comparison of systems all come down to it, so that gates, Markdown
and JUnit are written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import compress
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tcva_adapters.compare.grouping import group_of
from tcva_adapters.compare.running.cached import JUDGE_ERROR, METRIC_ERROR, NOT_ASKED
from tcva_adapters.core.verdicts import LEVELS, FloatArray, Verdict, WeightScheme
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result, interval_text
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.least_mean import least_mean
from tcva_adapters.stats.means import least_share
from tcva_adapters.tcva import TCVA

if TYPE_CHECKING:  # what is graded is there already, and most commands have none of it
    from tcva_adapters.ccrs.result import CCRSResult
    from tcva_adapters.ccrs.summary import CCRSSummary
    from tcva_adapters.compare.rows import Row, ScoreTable
    from tcva_adapters.compare.views.describe import MethodSummary

COMPOSITE: Final = "composite"

_FAILURES: Final = frozenset(
    {JUDGE_ERROR, METRIC_ERROR, NOT_ASKED, *(r.value for r in Reason if r.is_failure)}
)

_NO_ROW: Final = "no result"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Case:
    """One sample under one method.

    Attributes:
        sample: Its id, ``row-N`` without one.
        score: On the method's own scale; None where there is none.
        passed: Whether it reaches the threshold; None where there is no score, or no threshold.
        why: Why there is no score, or what a score without claims rests on.
        is_failure: The judge or the metric failed on it, as opposed to a sample that has no score.
        claims: With their verdicts; none where whole answers are rated.
        seconds: Time that the judgement took.
        sure: Where the score may lie, in a few words; empty where its verdicts have no
            probabilities.
        scheme: The weights of the claims' levels.
        group: What it belongs to (a document), see `grouping.group_of`; None where it stands alone.
    """

    sample: str
    score: float | None
    passed: bool | None = None
    why: str = ""
    is_failure: bool = False
    claims: tuple[ClaimVerdict, ...] = ()
    seconds: float = 0.0
    sure: str = ""
    scheme: WeightScheme = WeightScheme.DEFAULT
    group: Hashable = None

    @property
    def worst_claims(self) -> list[ClaimVerdict]:
        """The claims below ``fully``, the lowest first."""
        below = [c for c in self.claims if c.verdict not in {None, Verdict.FULLY}]
        return sorted(below, key=lambda claim: -LEVELS.index(Verdict(claim.verdict or "none")))


class Cases(Sequence[Case], Generic[Item]):
    """Samples under one method, each made when it is looked at.

    Args:
        items: What they are made of, in their order.
        make: Makes one of its item and its place.
    """

    def __init__(self, items: Sequence[Item], make: Callable[[Item, int], Case]) -> None:
        self._items, self._make = items, make

    def __len__(self) -> int:
        """How many there are."""
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Case]: ...
    def __getitem__(self, place: int | slice) -> Case | Sequence[Case]:
        """One of them, or several."""
        if isinstance(place, slice):
            return Cases(range(*place.indices(len(self))), lambda each, _: self[each])
        place = range(len(self))[place]
        return self._make(self._items[place], place)

    def __iter__(self) -> Iterator[Case]:
        """All of them."""
        return (self._make(item, place) for place, item in enumerate(self._items))


@dataclass(frozen=True)
class Graded:
    """The samples of one method. Of each stay a few numbers; the rest is asked of `cases`.

    Attributes:
        name: Of the method: a criterion, a metric, or as a comparison calls it.
        cases: In the order of the samples.
        threshold: A score passes from here on; None where nothing passes or fails.
        about: Who judged, and the dial, by name.
        is_part: It stands behind another method (one judge of a panel), and has gates alone.
        bare: The same cases without claims and how sure they are, where these take time.
        scale: The lowest and the highest possible score.
    """

    name: str
    cases: Sequence[Case]
    threshold: float | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    is_part: bool = False
    bare: Sequence[Case] | None = None
    scale: tuple[float, float] = (0.0, 1.0)

    @property
    def scored(self) -> Sequence[Case]:
        """The samples with a score, the lowest first."""
        scores = self._numbers.scores
        order = np.argsort(scores, kind="stable")  # without a score they are last
        return self._at(order[: np.count_nonzero(~np.isnan(scores))])

    def below(self, least: float) -> Sequence[Case]:
        """Those with a lower score than that, the lowest first."""
        scores = self._numbers.scores
        return self._at(np.argsort(scores, kind="stable")[: np.count_nonzero(scores < least)])

    @property
    def not_passed(self) -> Sequence[Case]:
        """Those that do not pass, the lowest score first."""
        numbers = self._numbers
        order = np.argsort(numbers.scores, kind="stable")
        return self._at(order[(numbers.passed == 0)[order]])

    @property
    def unscored(self) -> Sequence[Case]:
        """The samples without, those first on which the judge failed."""
        numbers = self._numbers
        (lacking,) = np.nonzero(np.isnan(numbers.scores))
        return self._at(lacking[np.argsort(~numbers.failures[lacking], kind="stable")])

    @property
    def lost(self) -> int:
        """Samples without a score because the judge failed."""
        numbers = self._numbers
        return int(np.count_nonzero(numbers.failures & np.isnan(numbers.scores)))

    @property
    def mean(self) -> float | None:
        """Mean score; None where there is none."""
        scores = self._numbers.scores
        scores = scores[~np.isnan(scores)]
        return math.fsum(scores) / len(scores) if len(scores) else None

    @property
    def passed(self) -> int:
        """How many samples reach the threshold."""
        return int(np.count_nonzero(self._numbers.passed == 1))

    @property
    def pass_rate(self) -> float | None:
        """Their share of the scored samples; None where nothing passes or fails."""
        decided = int(np.count_nonzero(self._numbers.passed >= 0))
        return self.passed / decided if decided else None

    def sure_mean(self, confidence: float) -> float | None:
        """The mean's lower bound: other samples of the same kind, judged anew, reach it as surely.

        That of `least_mean`, which knows that a failure that is rare has often not been seen. How
        far scores lie apart has the judge's noise in it, which repeats make smaller. Samples that
        belong together are drawn as one.

        Args:
            confidence: Between 0.5 and 1.

        Returns:
            None without a score, and where one lies outside the scale.
        """
        known = np.isfinite(self._numbers.scores)
        scores, (low, high) = self._numbers.scores[known], self.scale
        if not len(scores) or scores.min() < low or scores.max() > high:
            return None
        return least_mean(scores, confidence, low=low, groups=self._numbers.groups_of(known))

    def sure_pass_rate(self, confidence: float) -> float | None:
        """The pass rate's lower bound, see `least_share`; None where nothing passes or fails."""
        decided = self._numbers.passed >= 0
        groups = self._numbers.groups_of(decided)
        if not decided.any():
            return None
        if groups is None:
            return least_share(self.passed, int(np.count_nonzero(decided)), confidence)
        return least_mean(self._numbers.passed[decided], confidence, groups=groups)

    @property
    def groups(self) -> Sequence[Hashable] | None:
        """The groups of the samples with a score; None where samples stand alone."""
        return self._numbers.groups_of(~np.isnan(self._numbers.scores))

    @property
    def coverage(self) -> float:
        """Share of the samples that have a score; 1 where there are no samples."""
        return len(self.scored) / len(self.cases) if self.cases else 1.0

    def _at(self, places: npt.NDArray[np.intp]) -> Sequence[Case]:
        return Cases(np.ascontiguousarray(places).data, lambda place, _: self.cases[place])

    @cached_property
    def _numbers(self) -> _Numbers:
        size = len(self.cases)
        found = _Numbers(
            np.full(size, np.nan), np.full(size, -1, dtype=np.int8), np.zeros(size, dtype=bool), []
        )
        for place, case in enumerate(self.cases if self.bare is None else self.bare):
            found.failures[place] = case.is_failure
            if case.score is not None:
                found.scores[place] = case.score
            if case.passed is not None:
                found.passed[place] = case.passed
            if case.group is not None:
                found.groups.append(case.group)
        return found


class _Numbers(NamedTuple):
    """By sample.

    Attributes:
        scores: nan where there is none.
        passed: 1 and 0; -1 where nothing passes or fails.
        failures: Whether the judge failed.
        groups: Of all samples, or of none.
    """

    scores: FloatArray
    passed: npt.NDArray[np.int8]
    failures: npt.NDArray[np.bool_]
    groups: list[Hashable]

    def groups_of(self, samples: npt.NDArray[np.bool_]) -> list[Hashable] | None:
        """The groups of some of the samples; None where samples stand alone."""
        return list(compress(self.groups, samples.tolist())) if self.groups else None


def grade(
    name: str,
    results: Sequence[Scored],
    *,
    threshold: float | None = None,
    about: Mapping[str, str] | None = None,
    is_part: bool = False,
    group: str | None = None,
) -> Graded:
    """Results of one scorer.

    Args:
        name: See `Graded`.
        results: In the order of the samples.
        threshold: See `Graded`.
        about: See `Graded`.
        is_part: See `Graded`.
        group: The metadata field of what samples belong to.

    >>> found = grade("faithfulness", [Result(Assessment.from_verdicts(["none", "fully"]))])
    >>> found.scored[0].sample, found.pass_rate, found.scored[0].worst_claims[0].claim
    ('row-1', 0.0, 'claim 1')
    """
    cases = Cases(results, partial(_case, group=group))
    bare = Cases(results, partial(_case, group=group, is_bare=True))
    return Graded(name, cases, threshold, about or {}, is_part, bare)


def _case(result: Scored, place: int, *, group: str | None = None, is_bare: bool = False) -> Case:
    name = case_name(result, place + 1)
    return Case(
        name,
        result.score,
        passed=result.passed,
        why=_why(result.unscored, "" if result.claims else result.reason),
        is_failure=_is_failure(result.unscored),
        claims=() if is_bare else result.claims,
        seconds=result.usage.seconds,
        sure="" if is_bare else _sure(result),
        scheme=result.scoring.scheme if isinstance(result, Result) else WeightScheme.DEFAULT,
        group=_group(result, name, group),
    )


def _group(result: Scored, name: str, field: str | None) -> Hashable:
    if field is None:
        return None
    judged = result.assessment if isinstance(result, Result) else result
    return group_of(getattr(judged, "metadata", {}), field, name)


def _sure(result: Scored) -> str:
    found = result.interval if isinstance(result, Result) else None
    return "" if found is None else interval_text(found)


def part_names(tcva: TCVA) -> list[str]:
    """The judges behind a fused score or a panel, as gates name them; none for a single judge.

    >>> part_names(TCVA(judge="lexical", fuse=["lexical"]))
    ['faithfulness by lexical/3', 'faithfulness by lexical/3 #2']
    """
    ours, judges = tcva.criterion.name, tcva.panel_judges
    names = [f"{ours} by {judge.name}" for judge in judges]
    if tcva.members:
        members = [f"{m.criterion.name} by {m.judge.name}" for m in tcva.members]
        names += [f"{ours} by {tcva.judge.name}", *members]
    return [
        name if name not in names[:place] else f"{name} #{place + 1}"
        for place, name in enumerate(names)
    ]


def grade_tcva(
    tcva: TCVA, results: Sequence[Result], *, group: str | None = None
) -> tuple[Graded, ...]:
    """The results of one `TCVA`; of several judges also what each of them gave.

    Args:
        tcva: Who made the results.
        results: In the order of the samples.
        group: See `grade`.
    """
    dial = tcva.scoring
    about = {
        "judge": tcva.judge.name,
        "temperature": f"{dial.temperature:g}",
        "threshold": f"{dial.threshold:g}",
        "scheme": dial.scheme.name,
        "penalty": dial.penalty,
        "evidence": dial.evidence,
    }
    whole = grade(tcva.criterion.name, results, threshold=dial.threshold, about=about, group=group)

    def part(judge: int, result: Result, place: int) -> Case:
        found = _case(Result(_by_judge(tcva, result)[judge], result.scoring), place)
        return replace(found, group=_group(result, found.sample, group))

    parts = [
        Graded(name, Cases(results, partial(part, judge)), dial.threshold, is_part=True)
        for judge, name in enumerate(part_names(tcva))
    ]
    return whole, *parts


def _by_judge(tcva: TCVA, result: Result) -> list[Assessment]:
    """What each judge gave, in the order of `part_names`; without that, why the sample has no score."""
    judged = result.assessment
    panel, members = len(tcva.panel_judges), len(tcva.members)
    found = list(judged.panel) if len(judged.panel) == panel else [judged] * panel
    if members:
        found.append(judged.model_copy(update={"members": ()}))
        found += judged.members if len(judged.members) == members else [judged] * members
    return [each.model_copy(update={"sample_id": judged.sample_id}) for each in found]


def grade_ccrs(summary: CCRSSummary, *, group: str | None = None) -> tuple[Graded, ...]:
    """Each direct metric, and the composite where there is one.

    Args:
        summary: The results.
        group: See `grade`.
    """
    about = {"judge": summary.first.judge}

    def rated(metric: str, result: CCRSResult, place: int) -> Case:
        score, answer = result.scores[metric], result.answers[metric]
        name = case_name(result, place + 1)
        return Case(
            name,
            score,
            passed=None if score is None else score >= result.threshold,
            why=_why(answer.unscored, result.reasons[metric]),
            is_failure=_is_failure(answer.unscored),
            seconds=answer.usage.seconds if answer.is_new else 0.0,
            group=_group(result, name, group),
        )

    def whole(result: CCRSResult, place: int) -> Case:
        found = summary.composite_of(result)
        name = case_name(result, place + 1)
        return Case(
            name,
            found.score,
            passed=found.passed,
            why=_why(found.unscored, result.reason),
            is_failure=_is_failure(found.unscored),
            group=_group(result, name, group),
        )

    graded = [
        Graded(
            metric, Cases(summary.results, partial(rated, metric)), summary.first.threshold, about
        )
        for metric in summary.metrics
    ]
    if summary.has_composite:
        graded.append(Graded(COMPOSITE, Cases(summary.results, whole), None, about))
    return tuple(graded)


def grade_table(
    table: ScoreTable,
    rows: Iterable[Row],
    methods: Sequence[MethodSummary],
    judged: Mapping[str, Sequence[Scored]],
    judge: str,
    groups: Sequence[Hashable] | None = None,
) -> tuple[Graded, ...]:
    """Every method of a comparison.

    Args:
        table: The samples and methods.
        rows: What each method said of each sample.
        methods: With their thresholds.
        judged: By method, the results behind its scores, in the order of the table; those of TCVA's.
        judge: Its name.
        groups: What the samples of the table belong to; None where they stand alone.
    """
    places = {name: place for place, name in enumerate(table.samples)}
    columns = {name: place for place, name in enumerate(table.methods)}
    seconds = np.zeros(table.scores.shape)
    whys: dict[tuple[int, int], str] = {}
    for row in rows:
        at = places[row.sample], columns[row.method]
        seconds[at] = row.seconds or 0.0
        if row.score is None:
            whys[at] = row.unscored

    def case(method: MethodSummary, sample: str, place: int, *, with_claims: bool = True) -> Case:
        at = place, columns[method.method]
        score = None if np.isnan(table.scores[at]) else table.scores.item(*at)
        why = whys.get(at, _NO_ROW) if score is None else ""
        results = judged.get(method.method)
        return Case(
            sample,
            score,
            passed=None if score is None else score >= method.threshold,
            why=why,
            is_failure=why.partition(":")[0] in _FAILURES,
            claims=results[place].claims if with_claims and results is not None else (),
            seconds=seconds.item(*at),
            group=None if groups is None else groups[place],
        )

    return tuple(
        Graded(
            method.method,
            Cases(table.samples, partial(case, method)),
            method.threshold,
            {"judge": judge, "threshold": f"{method.threshold:g}"},
            bare=Cases(table.samples, partial(case, method, with_claims=False)),
        )
        for method in methods
    )


def case_name(of: Scored | Sample, number: int) -> str:
    """What a sample is called: its id, or else the number of its row, counted from 1.

    >>> case_name(Sample(id="a"), 1), case_name(Sample(), 2)
    ('a', 'row-2')
    """
    name = of.id if isinstance(of, Sample) else of.sample_id
    return name or f"row-{number}"


def _why(unscored: Unscored | None, otherwise: str) -> str:
    return otherwise if unscored is None else unscored.text


def _is_failure(unscored: Unscored | None) -> bool:
    return unscored is not None and unscored.reason.is_failure
