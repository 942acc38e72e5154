"""Judge and check samples in a test suite, and sum them up at the end of the run."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import Any, overload

import numpy as np

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.console import visible
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.evaluating import evaluation
from tcva_adapters.report.failing_samples import gate_lines
from tcva_adapters.report.gates import (
    Gates,
    exit_code,
    gate_records,
)
from tcva_adapters.results.config import Config
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.reader import read_item
from tcva_adapters.samples.sample import Sample, is_one
from tcva_adapters.stats.describe import mean
from tcva_adapters.tables import (
    Record,
    Report,
    Table,
    cell,
    counted,
    named_columns,
    shortened,
)
from tcva_adapters.tcva import TCVA

Given = Sample | Conversation | Mapping[str, Any] | Scored
"""What a test may pass: a sample, a conversation, a framework's record of one, or a result."""

GatesLike = Sequence[str] | str
"""Gates that samples have to reach, see `Gates.of`."""

_WIDTH = 80
_NAME = 40
_EVERY = ("pass_rate>=1", "coverage>=1")
"""The default gates: every sample has a score and passes."""

_COLUMNS = named_columns(
    criterion="prose",
    scored="text",
    mean="score",
    pass_rate="share",
    worst="text",
)


class Suite:
    """A scorer for the samples of a test; the fixture ``tcva`` of the pytest plugin.

    Args:
        gates: Gates that the samples of one `check` have to reach, see `Gates.of`.
        group: The metadata field with a sample's group: a gate's confidence is about other groups.
        config: A file of ``tcva calibrate``, or a `Config`; settings that are given win over it.
        settings: Settings of the `TCVA`.

    Attributes:
        scorer: The `TCVA` that judges.

    >>> suite = Suite(judge="lexical")
    >>> suite.check({"answer": "It opens at nine.", "contexts": ["It opens at nine."]}).score
    1.0
    """

    def __init__(
        self,
        *,
        gates: GatesLike = (),
        group: str | None = None,
        config: Config | str | Path | None = None,
        **settings: Any,
    ) -> None:
        self.scorer = TCVA.from_config(config or Config(), **settings)
        self._gates = Gates.of(gates)
        self._group = group
        self._judged: list[Record] = []

    @overload
    def evaluate(self, given: Given) -> Scored: ...
    @overload
    def evaluate(self, given: Sequence[Given]) -> list[Scored]: ...
    def evaluate(self, given: Given | Sequence[Given]) -> Scored | list[Scored]:
        """Judge samples and remember them for the run's summary, whatever their scores.

        Args:
            given: A sample, a conversation (its messages in a record, say) or a result, or several.

        Returns:
            One result, or a list of them.

        Raises:
            InvalidSampleError: A sample lacks what the criterion looks at.
            InvalidValueError: An argument is not a sample, a record or a result.
        """
        is_single = isinstance(given, Scored) or is_one(given)
        several = [given] if is_single else list(given)  # type: ignore[arg-type]  # checked above
        items = [*map(_item, several)]
        samples = [
            self.scorer.require(item) for item in items if isinstance(item, Sample)
        ]
        conversations = [item for item in items if isinstance(item, Conversation)]
        judged: Mapping[type, Iterator[Scored]] = {
            Sample: iter(self.scorer.evaluate_many(samples, progress=False)),
            Conversation: iter(
                self.scorer.evaluate_conversations(conversations, progress=False)
            ),
        }
        results = [
            item if isinstance(item, Scored) else next(judged[type(item)])
            for item in items
        ]
        for number, result in enumerate(results, start=1):
            self._judged.append(_entry(number, result))
        return results[0] if is_single else results

    @overload
    def check(self, given: Given, gates: GatesLike = ()) -> Scored: ...
    @overload
    def check(self, given: Sequence[Given], gates: GatesLike = ()) -> list[Scored]: ...
    def check(
        self, given: Given | Sequence[Given], gates: GatesLike = ()
    ) -> Scored | list[Scored]:
        """Judge samples, and fail if they do not pass the gates.

        Without gates, here and in the marker, every sample has to have a score and to pass, or to
        claim nothing.

        Args:
            given: See `evaluate`.
            gates: Gates in place of the marker's.

        Raises:
            AssertionError: A gate failed; the message names at most ten samples, the worst first,
                with their claims.
            InvalidSampleError: As for `evaluate`, or a sample belongs to no group.
            InvalidValueError: As for `evaluate`; or a gate is not one, or there is no sample.
        """
        __tracebackhide__ = True
        asked = Gates.of(gates) if gates else self._gates
        judged = self.evaluate(given)
        results = judged if isinstance(judged, list) else [judged]
        if not results:
            raise InvalidValueError("the list is empty; give at least one sample")
        by_label: dict[str, list[Scored]] = {}
        for result in map(_at_gate, results):
            if not result.nothing_to_check:
                by_label.setdefault(_label(result), []).append(result)

        lines = list[str]()
        failing = 0
        for alike in by_label.values():
            table = read_scores(alike, group=self._group)
            report = evaluation(table, asked or Gates.of(_EVERY))
            if exit_code(table, gate_records(report)):
                lines += [
                    line
                    for line in gate_lines(report, table)
                    if asked or line.startswith("  ")
                ]
            passes = np.array([table.passes(method) for method in table.methods])
            failing += int((~passes.all(axis=0)).sum())
        if not lines:
            return judged
        if not asked:
            verb = "does" if failing == 1 else "do"
            total = counted(len(results), "sample")
            labels = ", ".join(by_label)
            lines.insert(0, f"{failing} of {total} {verb} not pass: {labels}")
        raise AssertionError("\n".join(lines))

    def taken(self, test: str = "") -> list[Record]:
        """Return and forget what was judged since the last call, as values that any process can send.

        Args:
            test: The name of the test, which samples without an id are then called by.
        """
        judged = self._judged
        self._judged = []
        for entry in judged:
            if not entry.pop("has_id") and test:
                entry["sample"] = f"{visible(test)} {entry['sample']}"
        return judged


def run_lines(judged: Iterable[Record]) -> list[str]:
    """Write the summary of a run: a row for each criterion, judge and setting.

    Args:
        judged: The records of `Suite.taken`, of all tests.
    """
    failed = 0
    by_criterion: dict[str, list[Record]] = {}
    for entry in judged:
        failed += entry["is_failure"]
        by_criterion.setdefault(entry["criterion"], []).append(entry)
    rows = list[Record]()
    for criterion, entries in by_criterion.items():
        scored = [entry for entry in entries if entry["score"] is not None]
        worst = min(scored or entries, key=lambda entry: entry["score"] or 0.0)
        name = shortened(worst["sample"], _NAME)
        score = cell(worst["score"], "score")
        rows.append(
            {
                "criterion": criterion,
                "scored": f"{len(scored)}/{len(entries)}",
                "mean": mean(np.array([entry["score"] for entry in scored])),
                "pass_rate": mean(np.array([entry["passed"] for entry in scored])),
                "worst": f"{name} {score}",
            }
        )
    notes = [f"The judge failed on {counted(failed, 'sample')}."] if failed else []
    text = Report("", [Table("results", _COLUMNS, rows)], notes).text(_WIDTH)
    return text.strip().splitlines()[1:]


def _at_gate(result: Scored) -> Scored:
    """Return the result for gates, in which a conversation is one sample, not its turns."""
    if not isinstance(result, ConversationResult):
        return result
    gated = result.at_gate()
    return Result(gated.assessment, gated.scoring, gated.certified)


def _entry(number: int, result: Scored) -> Record:
    """Return a result as plain values, in texts that are safe for terminals and other processes."""
    unscored = result.unscored
    return {
        "criterion": visible(_label(result)),
        "sample": visible(result.sample_id or f"row-{number}"),
        "has_id": bool(result.sample_id),
        "score": result.score,
        "passed": result.passed,
        "is_failure": unscored is not None and unscored.reason.is_failure,
    }


def _label(result: Scored) -> str:
    """The criterion, judge, temperature and threshold of a result."""
    if isinstance(result, Result):
        scoring = result.scoring
        place = f"{scoring.place}, threshold {scoring.threshold:g}"
        return f"{result.criterion} by {result.judge}, {place}"
    if isinstance(result, CCRSResult):
        return f"{'+'.join(result.answers)} by {result.judge}, threshold {result.threshold:g}"
    return result.kind


def _item(item: object) -> Sample | Conversation | Scored:
    if isinstance(item, Sample | Conversation | Scored):
        return item
    if isinstance(item, Mapping):
        return read_item(item, {})
    raise InvalidValueError(
        f"cannot judge a {type(item).__name__}; give samples, conversations, records or results"
    )
