"""Sum up scores: means with their coverage, the reasons of unscored samples, and gates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from tcva_adapters.compare.agreement.method_tables import (
    LEXICAL,
    REASONS,
    reasons_of_missing,
)
from tcva_adapters.compare.scores.ratings import Ratings, Scale
from tcva_adapters.compare.scores.table import ScoreTable, no_group
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.report.baseline import changes, check_common
from tcva_adapters.report.gates import Gates
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.judgement import FAILURES
from tcva_adapters.results.result import Result
from tcva_adapters.results.summary import FEW_SAMPLES, Summary
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import (
    Column,
    Record,
    Records,
    Report,
    Table,
    cell,
    counted,
    named_columns,
    shortened,
)

_DETAIL = 200

_METHODS = (
    Column("method"),
    Column("mean", "score", "of the scored samples"),
    Column("pass_rate", "share", "of the scored samples"),
    Column("passed", "int"),
    Column("scored", "int"),
    Column("samples", "int", "that were read, unreadable lines included"),
)
_LEVELS = (Column("method"), *(Column(level.value, "int") for level in LEVELS))
_CONVERSATIONS = (
    *named_columns(
        method="text",
        conversation="text",
        turns="int",
    ),
    Column("scored", "int", "turns with a score"),
    Column("score", "score", "of the claims of all turns"),
    Column("passed"),
)
_GATES = (
    Column("method"),
    Column("figure"),
    Column("value", "score", "the figure of these samples"),
    Column("minimum", "score"),
    Column("confidence", "share"),
    Column("reached", "score", "the value, or its lower bound at the confidence"),
    Column("outcome"),
)


def evaluation(
    table: ScoreTable,
    gates: Gates | None = None,
    baseline: ScoreTable | None = None,
) -> Report:
    """Report the figures of each method, the outcome of its gates, and changes since a baseline.

    Args:
        table: The scores; with results if claims are to be named.
        gates: The gates to check.
        baseline: An earlier run, read with the settings of this one.

    Returns:
        A report with the tables ``methods``, ``levels`` (claims per level, of judgements), ``unscored``,
        and where they apply ``conversations`` (their scores), ``gates`` (see `Gates.judge`) and those
        of `changes`.

    Raises:
        InvalidValueError: A gate does not fit the table, see `Gates.check`, or the baseline has no
            method or no sample of it.

    >>> import numpy as np
    >>> table = ScoreTable(("a", "b"), ("m",), np.array([[0.25], [1.0]]))
    >>> report = evaluation(table, Gates.of("mean>=0.8"))
    >>> report.sentence
    'm: 50 % of 2 scored samples pass (mean 0.625). With 2 samples the mean is imprecise.'
    >>> report.records("gates")[0]["text"]
    'm: mean 0.625 < 0.8'
    """
    gates = gates or Gates()
    gates.check(table.methods, has_baseline=baseline is not None)
    methods = [_figures(table, method) for method in table.methods]
    levels = [
        {"method": method, **judged.summary.levels}
        for method, judged in table.judged_methods.items()
        if isinstance(judged.summary, Summary)
    ]
    unscored = list[Record]()
    conversations = list[Record]()
    for method in table.methods:
        unscored += _unscored(table, method)
        conversations += _conversations(table, method)
    others = (
        Table("levels", _LEVELS, levels),
        Table("unscored", REASONS, unscored),
        Table("conversations", _CONVERSATIONS, conversations, detail=True),
    )
    tables = [Table("methods", _METHODS, methods)]
    tables += [other for other in others if other.records]
    notes = [*_notes(table)]
    if conversations and len(methods) == 1:
        passed = sum(record["passed"] is True for record in conversations)
        total = counted(len(conversations), "conversation")
        notes.append(f"{passed} of {total} pass by the score over all their claims.")
    if baseline is not None:
        comparison = changes(baseline, table)
        tables += comparison.tables
        notes += [comparison.sentence, *comparison.notes]
    if outcomes := gates.judge(table, baseline):
        # The value has its own column only if a gate has a bound.
        has_bounds = any(outcome["confidence"] for outcome in outcomes)
        columns = [
            column
            for column in _GATES
            if has_bounds or column.name not in {"value", "confidence"}
        ]
        tables.insert(0, Table("gates", columns, outcomes))
    settings = {
        name: value
        for name, value in table.settings.items()
        if isinstance(value, str | int)
    }
    if table.judged.scoring:
        settings |= table.judged.scoring.model_dump(mode="json")
    return Report(
        f"{failure_sentence(table, unscored)} {_sentence(table, methods, unscored)}".lstrip(),
        tables,
        [*dict.fromkeys(notes)],
        settings,
    )


def failure_sentence(table: ScoreTable, unscored: Records) -> str:
    """Say how many judgements failed, and why; empty if none did.

    Args:
        table: The scores. If it `can_continue`, the same command asks only for the judgements
            that failed.
        unscored: The records of the table ``unscored``.
    """
    parts = []
    samples = counted(table.total, "sample")
    for method in table.methods:
        name = f"{method}: " if len(table.methods) > 1 else ""
        reasons = {
            record["reason"]: record["samples"]
            for record in unscored
            if record["method"] == method and record["reason"] in FAILURES
        }
        if failed := sum(reasons.values()):
            judged = f"{table.total - failed} of {samples} judged"
            parts.append(f"{name}{judged}, {failed} failed ({', '.join(reasons)})")
        if number := incomplete(table, method):
            parts.append(
                f"{name}{number} of {samples} judged without a judge that failed"
            )
    rest = "; the same command asks only for the rest" if table.can_continue else ""
    return f"{'; '.join(parts)}{rest}." if parts else ""


def incomplete(table: ScoreTable, method: str) -> int:
    """Count the samples that were judged without one of several judges because it failed."""
    judged = table.judged_methods.get(method)
    summary = judged and judged.summary
    return summary.incomplete if isinstance(summary, Summary) else 0


def check_samples(
    samples: Iterable[Sample],
    human: str | None,
    human_scale: Scale | None,
    group: str | None,
    baseline: ScoreTable | None,
) -> None:
    """Refuse ratings, groups or a baseline that do not fit the samples, before any paid call.

    Args:
        samples: All samples.
        human: A field or file of ratings, see `read_scores`.
        human_scale: The lowest and the highest rating; by default those of scores, 0 and 1.
        group: The metadata field that each sample needs; with ratings, each rated sample.
        baseline: An earlier run.

    Raises:
        InvalidValueError: No sample has a rating, one lies outside the scale, or the baseline
            has none of the samples.
        InvalidSampleError: A sample belongs to no group.
    """
    ratings = None if human is None else Ratings.find(human, human_scale or (0.0, 1.0))
    names = []
    for number, sample in enumerate(samples, start=1):
        name = sample.id or f"row-{number}"
        names.append(name)
        rated = (
            ratings is None
            or not np.isnan(ratings.of_sample(name, sample.metadata)).all()
        )
        if group is not None and rated and sample.metadata.get(group) in (None, ""):
            raise InvalidSampleError(no_group(name, group))
    if ratings is not None:
        ratings.notes(len(names))
    if baseline is not None:
        check_common(baseline, names)


def _figures(table: ScoreTable, method: str) -> Record:
    scores = table.column(method)
    known = scores[np.isfinite(scores)]
    passed = int(table.passes(method).sum())
    scored = len(known)
    return {
        "method": method,
        "mean": math.fsum(known) / scored if scored else None,
        "pass_rate": passed / scored if scored else None,
        "passed": passed,
        "scored": scored,
        "samples": table.total,
        "coverage": scored / table.total if table.total else 1.0,
        "threshold": table.threshold(method),
    }


def _conversations(table: ScoreTable, method: str) -> Iterator[Record]:
    """Yield a record per conversation, with its score over the claims of all its turns."""
    for name, rows in table.conversations.items():
        results = [table.result(method, row) for row in rows]
        turns = [result for result in results if isinstance(result, Result)]
        if turns:
            conversation = ConversationResult(turns)
            yield {
                "method": method,
                "conversation": name,
                "turns": len(turns),
                "scored": sum(turn.unscored is None for turn in turns),
                "score": conversation.score,
                "passed": conversation.passed,
            }


def _unscored(table: ScoreTable, method: str) -> list[Record]:
    """Count samples without a score by reason, the most frequent first, each with an example."""
    judged = table.judged_methods.get(method)
    summary = (judged and judged.summary) or reasons_of_missing(table, method)
    records = summary.records(method)
    for record in records:
        record["example"] = shortened(record["example"], _DETAIL)
    if table.skipped:
        first = (note for note in table.notes if note.startswith("skipped line"))
        records.append(
            {
                "method": method,
                "reason": "unreadable",
                "samples": table.skipped,
                "example": next(first, ""),
            }
        )
    return records


def _sentence(
    table: ScoreTable,
    methods: Records,
    unscored: Records,
) -> str:
    """Say how many samples pass, the mean, and the reservations; for several methods, the means."""
    size = table.total
    if len(methods) != 1:
        means = ", ".join(
            f"{row['method']} {cell(row['mean'], 'score')}" for row in methods
        )
        sentence = f"Mean scores of {counted(size, 'sample')}: {means or 'no method'}."
        judges = table.judged_methods.values()
        return " ".join([sentence, *{LEXICAL for by in judges if by.is_lexical}])
    (row,) = methods
    method = row["method"]
    scored = row["scored"]
    if not scored:
        why = ""
        if unscored and unscored[0]["example"]:
            why = f" ({unscored[0]['reason']}: {unscored[0]['example']})"
        return f"None of {counted(size, 'sample')} has a score{why}."

    judged = table.judged_methods.get(method)
    scoring = judged and judged.scoring
    sentence = "" if scoring else f"{method}: "
    verb = "passes" if scored == 1 else "pass"
    sentence += f"{cell(row['pass_rate'], 'share')} of {counted(scored, 'scored sample')} {verb}"
    if scoring:
        sentence += f" at {scoring.place}"
    sentence += f" (mean {cell(row['mean'], 'score')})."
    if lacking := size - scored:
        sentence += (
            f" {lacking} of {size} {'has' if lacking == 1 else 'have'} no score."
        )
    if scored < FEW_SAMPLES:
        sentence += f" With {counted(scored, 'sample')} the mean is imprecise."
    if table.judged.is_lexical:
        sentence += f" {LEXICAL}"
    return sentence


def _notes(table: ScoreTable) -> Iterator[str]:
    """Yield what was judged and by whom, the lines of the summary, and the calls and tokens."""
    for judged in table.judged_methods.values():
        summary = judged.summary
        scoring = judged.scoring
        if not isinstance(summary, Summary) or scoring is None:
            continue
        yield (
            f"{judged}; {scoring.place}, {scoring.scheme.name} "
            f"weights, {scoring.penalty} penalty, threshold {scoring.threshold:g}"
        )
        yield from summary.lines()
        usage = summary.usage
        if usage.calls or summary.served:
            tokens = (
                f"{usage.input_tokens} input and {usage.output_tokens} output tokens"
            )
            served = counted(summary.served, "sample")
            yield f"{counted(usage.calls, 'call')}, {tokens}; {served} cached"
    yield from table.notes
