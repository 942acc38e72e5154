"""What gates, reviewers and CI servers look at: every sample of every method, scored or not.

`TCVA`, CCRS, a comparison and a comparison of systems all come down to it, so that gates, Markdown
and JUnit are written once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from tcva_adapters.compare.running.cached import JUDGE_ERROR, METRIC_ERROR, NOT_ASKED
from tcva_adapters.compare.table import Row, ScoreTable
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

if TYPE_CHECKING:  # what is graded is there already, and most commands have none of it
    from tcva_adapters.ccrs.summary import CCRSSummary
    from tcva_adapters.compare.systems.table import SystemTable
    from tcva_adapters.compare.views.describe import MethodSummary

COMPOSITE: Final = "composite"

_FAILURES: Final = frozenset(
    {JUDGE_ERROR, METRIC_ERROR, NOT_ASKED, *(r.value for r in Reason if r.is_failure)}
)

_NO_ROW: Final = Row("", "", None, "no result")

Rated = TypeVar("Rated", bound=Scored)


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
    """

    sample: str
    score: float | None
    passed: bool | None = None
    why: str = ""
    is_failure: bool = False
    claims: tuple[ClaimVerdict, ...] = ()
    seconds: float = 0.0

    @property
    def worst_claims(self) -> list[ClaimVerdict]:
        """The claims below ``fully``, the lowest first."""
        below = [c for c in self.claims if c.verdict not in {None, Verdict.FULLY}]
        return sorted(below, key=lambda claim: -LEVELS.index(Verdict(claim.verdict or "none")))


@dataclass(frozen=True, slots=True)
class Graded:
    """The samples of one method.

    Attributes:
        name: Of the method: a criterion, a metric, or as a comparison calls it.
        cases: In the order of the samples.
        threshold: A score passes from here on; None where nothing passes or fails.
        about: Who judged, and the dial, by name.
        is_part: It stands behind another method (one judge of a panel), and has gates alone.
    """

    name: str
    cases: tuple[Case, ...]
    threshold: float | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    is_part: bool = False

    @property
    def scored(self) -> list[Case]:
        """The samples with a score, the lowest first."""
        have = (case for case in self.cases if case.score is not None)
        return sorted(have, key=lambda case: case.score or 0.0)

    @property
    def unscored(self) -> list[Case]:
        """The samples without, those first on which the judge failed."""
        lacking = (case for case in self.cases if case.score is None)
        return sorted(lacking, key=lambda case: not case.is_failure)

    @property
    def lost(self) -> int:
        """Samples without a score because the judge failed."""
        return sum(case.is_failure for case in self.unscored)

    @property
    def mean(self) -> float | None:
        """Mean score; None where there is none."""
        scores = [case.score for case in self.cases if case.score is not None]
        return math.fsum(scores) / len(scores) if scores else None

    @property
    def passed(self) -> int:
        """How many samples reach the threshold."""
        return sum(case.passed is True for case in self.cases)

    @property
    def pass_rate(self) -> float | None:
        """Their share of the scored samples; None where nothing passes or fails."""
        decided = sum(case.passed is not None for case in self.cases)
        return self.passed / decided if decided else None

    @property
    def coverage(self) -> float:
        """Share of the samples that have a score; 1 where there are no samples."""
        scored = sum(case.score is not None for case in self.cases)
        return scored / len(self.cases) if self.cases else 1.0


def grade(
    name: str,
    results: Iterable[Scored],
    *,
    threshold: float | None = None,
    about: Mapping[str, str] | None = None,
    is_part: bool = False,
) -> Graded:
    """Results of one scorer.

    Args:
        name: See `Graded`.
        results: In the order of the samples.
        threshold: See `Graded`.
        about: See `Graded`.
        is_part: See `Graded`.

    >>> found = grade("faithfulness", [Result(Assessment.from_verdicts(["none", "fully"]))])
    >>> found.scored[0].sample, found.pass_rate, found.scored[0].worst_claims[0].claim
    ('row-1', 0.0, 'claim 1')
    """
    cases = tuple(_case(*named) for named in _named(results))
    return Graded(name, cases, threshold, about or {}, is_part)


def _case(name: str, result: Scored) -> Case:
    return Case(
        name,
        result.score,
        passed=result.passed,
        why=_why(result.unscored, "" if result.claims else result.reason),
        is_failure=_is_failure(result.unscored),
        claims=result.claims,
        seconds=result.usage.seconds,
    )


def part_names(tcva: TCVA) -> list[str]:
    """The judges behind a fused score or a panel, as gates name them; none for a single judge.

    >>> part_names(TCVA(judge="lexical", fuse=["lexical"]))
    ['faithfulness by lexical/1', 'faithfulness by lexical/1 #2']
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


def grade_tcva(tcva: TCVA, results: Sequence[Result]) -> tuple[Graded, ...]:
    """The results of one `TCVA`; of several judges also what each of them gave."""
    dial = tcva.scoring
    about = {
        "judge": tcva.judge.name,
        "temperature": f"{dial.temperature:g}",
        "threshold": f"{dial.threshold:g}",
        "scheme": dial.scheme.name,
        "penalty": dial.penalty,
    }
    whole = grade(tcva.criterion.name, results, threshold=dial.threshold, about=about)
    judged = [_by_judge(tcva, result) for result in results]
    parts = [
        grade(
            name,
            (
                Result(each[place], result.scoring)
                for each, result in zip(judged, results, strict=True)
            ),
            threshold=dial.threshold,
            is_part=True,
        )
        for place, name in enumerate(part_names(tcva))
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


def grade_ccrs(summary: CCRSSummary) -> tuple[Graded, ...]:
    """Each direct metric, and the composite where there is one."""
    first = summary.results[0]
    about = {"judge": first.judge, "protocol": first.protocol}
    graded = []
    for metric in summary.metrics:
        cases = []
        for name, result in _named(summary.results):
            score, answer = result.scores[metric], result.answers[metric]
            case = Case(
                name,
                score,
                passed=None if score is None else score >= result.threshold,
                why=_why(answer.unscored, result.reasons[metric]),
                is_failure=_is_failure(answer.unscored),
                seconds=answer.usage.seconds if answer.is_new else 0.0,
            )
            cases.append(case)
        graded.append(Graded(metric, tuple(cases), first.threshold, about))
    if summary.composites:
        pairs = zip(_named(summary.results), summary.composites, strict=True)
        composites = tuple(
            Case(
                name,
                whole.score,
                passed=whole.passed,
                why=_why(whole.unscored, result.reason),
                is_failure=_is_failure(whole.unscored),
            )
            for (name, result), whole in pairs
        )
        graded.append(Graded(COMPOSITE, composites, None, about))
    return tuple(graded)


def grade_table(
    table: ScoreTable,
    rows: Iterable[Row],
    methods: Sequence[MethodSummary],
    claims: Mapping[str, Mapping[str, tuple[ClaimVerdict, ...]]],
    judge: str,
) -> tuple[Graded, ...]:
    """Every method of a comparison.

    Args:
        table: The samples and methods.
        rows: What each method said of each sample.
        methods: With their thresholds.
        claims: By method and sample; those of TCVA's methods.
        judge: Its name.
    """
    said = {(row.method, row.sample): row for row in rows}
    graded = []
    for method in methods:
        own = claims.get(method.method, {})
        cases = []
        for sample in table.samples:
            row = said.get((method.method, sample), _NO_ROW)
            case = Case(
                sample,
                row.score,
                passed=None if row.score is None else row.score >= method.threshold,
                why=row.unscored,
                is_failure=row.unscored.partition(":")[0] in _FAILURES,
                claims=own.get(sample, ()),
                seconds=row.seconds or 0.0,
            )
            cases.append(case)
        about = {"judge": judge, "threshold": f"{method.threshold:g}"}
        graded.append(Graded(method.method, tuple(cases), method.threshold, about))
    return tuple(graded)


def grade_systems(table: SystemTable) -> tuple[Graded, ...]:
    """Every system under every metric; there is no threshold, so nothing passes or fails."""
    return tuple(
        Graded(
            f"{metric} of {system}",
            tuple(map(_query, table.queries, table.scores[m, :, s].tolist())),
        )
        for m, metric in enumerate(table.metrics)
        for s, system in enumerate(table.systems)
    )


def _query(query: str, score: float) -> Case:
    return Case(query, None, why="no score") if math.isnan(score) else Case(query, score)


def case_name(of: Scored | Sample, number: int) -> str:
    """What a sample is called: its id, or else the number of its row, counted from 1.

    >>> case_name(Sample(id="a"), 1), case_name(Sample(), 2)
    ('a', 'row-2')
    """
    name = of.id if isinstance(of, Sample) else of.sample_id
    return name or f"row-{number}"


def _named(results: Iterable[Rated]) -> Iterator[tuple[str, Rated]]:
    """Results with the names of their samples."""
    for number, result in enumerate(results, start=1):
        yield case_name(result, number), result


def _why(unscored: Unscored | None, otherwise: str) -> str:
    return otherwise if unscored is None else unscored.text


def _is_failure(unscored: Unscored | None) -> bool:
    return unscored is not None and unscored.reason.is_failure
