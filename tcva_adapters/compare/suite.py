"""Samples in a test suite: judged, checked, and told about at the end of the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, overload

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.gates import Gates, clipped
from tcva_adapters.compare.graded import Case, Graded, case_name, grade
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import Part, Table, Wrapped, counted, figure, share, text_of, visible
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

Given = Sample | Mapping[str, Any] | Scored
"""What a test hands over: a sample, a record with the field names of any framework, or a result."""

_WIDTH: Final = 80
_NAME: Final = 40
_EVERY: Final = {"min_pass_rate": 1.0, "min_coverage": 1.0}
"""Without gates every sample has a score and passes."""


class Suite:
    """What a test judges by; the fixture ``tcva`` of the pytest plugin.

    Args:
        min_score: Least mean score of the samples of one `check`.
        min_pass_rate: Least share of those with a score that pass.
        min_coverage: Least share that have a score.
        confidence: See `Gates.of`.
        group: The metadata field of what samples belong to: the confidence is about other groups.
        settings: Of the `TCVA`.

    Attributes:
        scorer: It judges.

    >>> suite = Suite(judge="lexical")
    >>> suite.check({"answer": "It opens at nine.", "contexts": ["It opens at nine."]}).score
    1.0
    """

    def __init__(
        self,
        *,
        min_score: float | None = None,
        min_pass_rate: float | None = None,
        min_coverage: float | None = None,
        confidence: float | None = None,
        group: str | None = None,
        **settings: Any,
    ) -> None:
        self.scorer = TCVA(**settings)
        asked = {
            "min_score": min_score,
            "min_pass_rate": min_pass_rate,
            "min_coverage": min_coverage,
            "confidence": confidence,
        }
        self._gates = {name: least for name, least in asked.items() if least is not None}
        Gates.of(**self._gates)  # refuses a number that is no gate
        self._group = group
        self._judged: list[dict[str, Any]] = []

    @overload
    def evaluate(self, given: Given) -> Scored: ...
    @overload
    def evaluate(self, given: Sequence[Given]) -> list[Scored]: ...
    def evaluate(self, given: Given | Sequence[Given]) -> Scored | list[Scored]:
        """Judge samples and remember them for the run's summary, whatever their scores.

        Args:
            given: A sample or a result, or several.

        Returns:
            One result, or a list of them.

        Raises:
            InvalidSampleError: A sample lacks what the criterion looks at.
            InvalidValueError: Something else than samples, records and results.
        """
        is_one = isinstance(given, Sample | Mapping | Scored)
        items = [given] if is_one else list(given)  # type: ignore[arg-type]  # told apart above
        results: list[Scored | None] = [i if isinstance(i, Scored) else None for i in items]
        waiting = [place for place, result in enumerate(results) if result is None]
        samples = [self.scorer.require(_sample(items[place])) for place in waiting]
        judged = self.scorer.evaluate_many(samples, progress=False)
        for place, result in zip(waiting, judged, strict=True):
            results[place] = result
        found = [result for result in results if result is not None]
        self._judged += [_entry(number, each) for number, each in enumerate(found, start=1)]
        return found[0] if is_one else found

    @overload
    def check(self, given: Given, **gates: float) -> Scored: ...
    @overload
    def check(self, given: Sequence[Given], **gates: float) -> list[Scored]: ...
    def check(self, given: Given | Sequence[Given], **gates: float) -> Scored | list[Scored]:
        """Judge samples, and fail where they do not reach what is asked for.

        Without gates, here and in the marker, every sample has to have a score and to pass.

        Args:
            given: See `evaluate`.
            gates: ``min_score``, ``min_pass_rate``, ``min_coverage`` and ``confidence`` instead of the
                marker's.

        Raises:
            AssertionError: It names the worst samples, at most ten, with their claims.
            InvalidSampleError: As for `evaluate`, or a sample belongs to no group.
            InvalidValueError: As there; or a gate outside [0, 1], or no sample at all.
        """
        __tracebackhide__ = True
        asked = {**self._gates, **gates}
        wanted = Gates.of(**(asked or _EVERY))
        found = self.evaluate(given)
        results = found if isinstance(found, list) else [found]
        if not results:
            msg = "there is nothing to check: the list is empty; give at least one sample"
            raise InvalidValueError(msg)
        labelled = _by_label(results)
        gated = wanted.judge(
            [
                grade(name, of, threshold=_label(of[0])[2], group=self._group)
                for name, of in labelled.items()
            ]
        )
        if not gated.failed:
            return found
        parts: list[Part] = [*(gated.parts() if asked else gated.worst_parts())]
        if not asked:
            failing = sum(result.passed is not True for result in results)
            does = "does" if failing == 1 else "do"
            of = f"{failing} of {counted(len(results), 'sample')}"
            parts.insert(0, Wrapped(f"{of} {does} not pass: {', '.join(labelled)}", indent=2))
        raise AssertionError(text_of(parts, _WIDTH).rstrip())

    def taken(self, test: str = "") -> list[dict[str, Any]]:
        """What was judged since the last time, as plain values that any process can send.

        Args:
            test: The name of the test, which samples without an id are then called by.
        """
        judged, self._judged = self._judged, []
        for entry in judged:
            if not entry.pop("has_id") and test:
                entry["sample"] = f"{visible(test)} {entry['sample']}"
        return judged

    def properties(self, judged: Iterable[Mapping[str, Any]]) -> list[tuple[str, object]]:
        """What was judged in one test, as properties of its JUnit report."""
        return [
            (f"tcva {each.name}", f"{_scored(each)}, mean {figure(each.mean)}, {_passed(each)}")
            for each in _graded(judged)
        ]


def run_lines(judged: Iterable[Mapping[str, Any]]) -> list[str]:
    """The summary of a run: for each criterion a table with a row per judge and setting.

    Args:
        judged: What `Suite.taken` gave, of all tests.
    """
    parts: list[Part] = []
    criteria: dict[str, list[Graded]] = {}
    for each in _graded(judged):
        criteria.setdefault(each.about["criterion"], []).append(each)
    for criterion, methods in criteria.items():
        header = (criterion, "scored", "mean", "pass rate", "worst")
        rows = []
        for each in methods:
            worst = next(iter([*each.scored, *each.unscored]))
            shown = f"{clipped(worst.sample, _NAME)} {figure(worst.score)}"
            row = (
                each.about["how"],
                _scored(each),
                figure(each.mean),
                share(each.pass_rate),
                shown,
            )
            rows.append(row)
        parts.append(Table(header, rows, "lrrrl"))
        lost = sum(each.lost for each in methods)
        if lost:
            parts.append(f"the judge failed on {counted(lost, 'sample')}")
    return text_of(parts, _WIDTH).splitlines()


def _graded(judged: Iterable[Mapping[str, Any]]) -> list[Graded]:
    """Entries of `Suite.taken` by criterion, judge and setting."""
    found: dict[tuple[str, str], list[Case]] = {}
    for entry in judged:
        case = Case(
            entry["sample"],
            entry["score"],
            passed=entry["passed"],
            is_failure=entry["is_failure"],
        )
        found.setdefault((entry["criterion"], entry["how"]), []).append(case)
    return [
        Graded(f"{criterion} {how}", tuple(cases), about={"criterion": criterion, "how": how})
        for (criterion, how), cases in found.items()
    ]


def _scored(graded: Graded) -> str:
    return f"{len(graded.scored)}/{len(graded.cases)}"


def _passed(graded: Graded) -> str:
    return f"{graded.passed} pass"


def _entry(number: int, result: Scored) -> dict[str, Any]:
    """A result as plain values; texts without what a terminal or another process cannot take."""
    criterion, how, _ = _label(result)
    unscored = result.unscored
    return {
        "criterion": visible(criterion),
        "how": visible(how),
        "sample": visible(case_name(result, number)),
        "has_id": bool(result.sample_id),
        "score": result.score,
        "passed": result.passed,
        "is_failure": unscored is not None and unscored.reason.is_failure,
    }


def _label(result: Scored) -> tuple[str, str, float | None]:
    """The criterion, judge and dial of a result, and its threshold."""
    if isinstance(result, Result):
        dial, judged = result.scoring, result.assessment
        how = f"by {judged.judge}, {dial.place}, threshold {dial.threshold:g}"
        return judged.criterion, how, dial.threshold
    if isinstance(result, CCRSResult):
        how = f"by {result.judge}, threshold {result.threshold:g}"
        return "+".join(result.answers), how, result.threshold
    return result.kind, "", None


def _by_label(results: Iterable[Scored]) -> dict[str, list[Scored]]:
    found: dict[str, list[Scored]] = {}
    for result in results:
        criterion, how, _ = _label(result)
        found.setdefault(f"{criterion} {how}".rstrip(), []).append(result)
    return found


def _sample(given: object) -> Sample:
    if isinstance(given, Sample):
        return given
    if isinstance(given, Mapping):
        return Sample.from_record(given)
    msg = f"cannot judge a {type(given).__name__}; give a Sample, a record, a result, or a list"
    raise InvalidValueError(msg)
