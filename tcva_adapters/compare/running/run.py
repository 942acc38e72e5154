"""The run: TCVA and framework metrics on the same samples, each judged once, whatever fails."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Final, NamedTuple

from tcva_adapters.compare.ratings import parse_rating
from tcva_adapters.compare.running.cached import (
    JUDGE_ERROR,
    METRIC_ERROR,
    NO_SCORE,
    CachedJudgement,
    read_cached,
)
from tcva_adapters.compare.running.methods import Method, llm_of
from tcva_adapters.compare.table import Row
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel
from tcva_adapters.progress import progress_of
from tcva_adapters.results.assessment import Reason, Usage
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import Profiles
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.results.store_troubles import StoreTroubles
from tcva_adapters.samples.files import SampleFile, numbered
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.tcva import TCVA

Models = Callable[[str], JudgeModel]
"""From a framework to the model behind its LLM, the same one whenever it is asked."""

OURS: Final = "tcva"
"""Our own judgements in counts by method."""

_NOTHING: Final = Usage()
_NOTHING_TO_SCORE: Final = frozenset({"the metric returned nan"})
"""What a metric says when all calls went well and there still is no score."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run.

    Attributes:
        rows: One per sample and method, sample by sample, methods in the order of the run.
        results: TCVA's, one per sample, in order.
        judged: How many judgements were made now, by method; ``tcva`` is one of them.
        cached: How many were served from an earlier run, by method.
        spent: What the judgements made now cost. Seconds are those of each, added up.
        verdicts: The framework metrics' own, by sample and method, where they gave any.
        fatal: Why no other call could succeed; None where none failed like that.
    """

    rows: list[Row]
    results: list[Result]
    judged: dict[str, int]
    cached: dict[str, int]
    spent: Usage
    verdicts: dict[str, dict[str, tuple[FrameworkVerdict, ...]]] = field(default_factory=dict)
    fatal: JudgeError | None = None


def named(read: SampleFile) -> SampleFile:
    """The same samples, each with an id of its own: ``row-N`` without one, numbered like another.

    >>> read = SampleFile([Sample(id="a"), Sample(), Sample(id="a")], [1, 2, 3], [])
    >>> [sample.id for sample in named(read).samples], named(read).repeated
    (['a', 'row-2', 'a#2'], ('a',))
    """
    samples, repeated = numbered(
        [
            sample if sample.id else sample.model_copy(update={"id": f"row-{line}"})
            for line, sample in zip(read.lines, read.samples, strict=True)
        ]
    )
    return replace(read, samples=samples, repeated=(*read.repeated, *repeated))


def human_scores(samples: Sequence[Sample], field: str) -> dict[str, float]:
    """The human ratings by sample id, from a metadata field; samples without one are left out.

    Raises:
        InvalidSampleError: No sample has the field, or a value in it is no rating.

    >>> human_scores([Sample(id="a", metadata={"human": "4.5"}), Sample(id="b")], "human")
    {'a': 4.5}
    """
    found: dict[str, float] = {}
    for sample in samples:
        try:
            rating = parse_rating(sample.metadata.get(field))
        except InvalidValueError as error:
            msg = f"sample {sample.id!r}, {field}: {error}"
            raise InvalidSampleError(msg) from None
        if not math.isnan(rating):
            found[sample.id or ""] = rating
    if not found:
        known = sorted({name for sample in samples for name in sample.metadata})
        msg = (
            f"no sample has a rating in {field!r}; other fields are {', '.join(known) or '(none)'}"
        )
        raise InvalidSampleError(msg)
    return found


def tcva_name(temperature: float) -> str:
    """The method's name at a temperature.

    >>> tcva_name(0.5)
    'tcva T=0.5'
    """
    return f"tcva T={temperature:g}"


def profile_name(profiles: Profiles) -> str:
    """The name of the method that follows profiles.

    >>> profile_name(Profiles("domain", {}))
    'tcva by domain'
    """
    return f"tcva by {profiles.by}"


async def judge_all(
    samples: Sequence[Sample],
    tcva: TCVA,
    methods: Sequence[Method],
    *,
    temperatures: Sequence[float],
    store: VerdictStore,
    models: Models | None = None,
    seconds: float | None = None,
    progress: bool | None = None,
) -> Outcome:
    """Judge every sample once by every method; what fails is a row without a score.

    TCVA's judgement is one, whatever the number of temperatures; its cost stands in the row of
    the first one, and the others cost nothing. With profiles, one more method follows them. Equal
    samples are judged once, and the cost stands in the row of the first of them. What a store
    served has the cost of its first time. After a failure that no other call can escape (a wrong
    key), nobody is asked any more.

    Args:
        samples: With ids of their own, see `named`.
        tcva: Its store makes TCVA's judgements resumable.
        methods: From `choose`.
        temperatures: At least one.
        store: What framework metrics said, before and now. Failures are tried again.
        models: The models behind the frameworks' LLMs; None for the lexical judge.
        seconds: After which a framework metric is given up on a sample; None waits for ever.
        progress: As for `TCVA.evaluate_many`.
    """
    run = _Run(samples, tcva, store, models, seconds)
    results = await tcva.aevaluate_many(samples, progress=progress)
    for result in results:
        run.take(result, temperatures)
    jobs = list(run.jobs(methods))
    cached: dict[str, CachedJudgement] = {}
    with run.troubles.spared():
        cached = read_cached(store, (job.key for job in jobs))
    waiting = iter(jobs)

    async def work() -> None:
        for job in waiting:
            shown.tick(failed=await run.do(job, cached.get(job.key)))

    with run.troubles, progress_of("framework metrics", len(jobs), progress) as shown:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(1 if models is None else tcva.max_concurrency):
                    group.create_task(work())
        except ExceptionGroup as failed:  # metrics do not raise: a fault of ours
            raise failed.exceptions[0] from None
    return run.outcome(results, methods)


class _Job(NamedTuple):
    """A method on equal samples."""

    method: Method
    key: str
    samples: list[Sample]


@dataclass(slots=True)
class _Run:
    """A run under way: what its judgements share, and the rows so far."""

    samples: Sequence[Sample]
    tcva: TCVA
    store: VerdictStore
    model_of: Models | None
    seconds: float | None
    rows: dict[str, list[Row]] = field(default_factory=dict)
    judged: Counter[str] = field(default_factory=Counter)
    cached: Counter[str] = field(default_factory=Counter)
    spent: Usage = _NOTHING
    verdicts: dict[str, dict[str, tuple[FrameworkVerdict, ...]]] = field(default_factory=dict)
    fatal: JudgeError | None = None
    troubles: StoreTroubles = field(init=False)
    lexical_llm: Callable[[str], Any] = field(
        default_factory=lambda: cache(partial(llm_of, model=None))
    )

    def __post_init__(self) -> None:
        self.troubles = StoreTroubles(self.store, in_batch=False)

    def take(self, result: Result, temperatures: Sequence[float]) -> None:
        """Count one of TCVA's judgements, with a row per temperature, and one for profiles."""
        assessment = result.assessment
        unscored = assessment.unscored
        if unscored is not None and unscored.fatal:
            self.fatal = JudgeError(unscored.detail, fatal=True)
        if unscored is None or unscored.reason is not Reason.MISSING_FIELD:  # nobody was asked
            self._count(OURS, assessment.usage if assessment.is_new else None)
        why = "" if unscored is None else _why(unscored.reason.value, unscored.detail)
        usage = assessment.usage
        plain = Result(assessment, self.tcva.scoring)
        scores = {tcva_name(t): plain.at(t).score for t in temperatures}
        if self.tcva.profiles is not None:
            scores[profile_name(self.tcva.profiles)] = result.score
        for name, score in scores.items():
            cell = (assessment.sample_id or "", name, score)
            self._add(*cell, why if score is None else "", usage, usage.calls)
            usage = _NOTHING

    def jobs(self, methods: Iterable[Method]) -> Iterator[_Job]:
        """Method by method, so that results of one come together; equal samples are one job."""
        for method in methods:
            model = None if self.model_of is None else self.model_of(method.framework)
            judge = (self.tcva.judge.name, {}) if model is None else (model.name, model.parameters)
            equal: dict[str, _Job] = {}
            for sample in self.samples:
                key = method.key(sample, *judge)
                equal.setdefault(key, _Job(method, key, [])).samples.append(sample)
            yield from equal.values()

    async def do(self, job: _Job, cached: CachedJudgement | None) -> bool:
        """One judgement, made now or before, or the reason why nobody is asked; whether it failed."""
        name, sample = job.method.name, job.samples[0]
        unasked = ""
        if lacking := job.method.lacking(sample):
            unasked = _why(Reason.MISSING_FIELD.value, lacking)
        elif cached is None and self.fatal is not None:
            unasked = _why("not_asked", str(self.fatal))
        if unasked:
            for sample in job.samples:
                self._add(sample.id or "", name, None, unasked, _NOTHING, 0)
            return not lacking
        said = cached
        if said is None:
            said = await self._asked(job.method, sample)
            with self.troubles.spared(loses=1):
                self.store.put_record(job.key, said.to_json(), failed=said.is_failure)
        self._count(name, said.usage if cached is None else None)
        score, usage = said.score, said.usage
        calls = usage.calls or score.calls  # of the lexical judge only the metric knows
        why = "" if score.score is not None else _why(said.reason, score.error)
        for sample in job.samples:
            self._add(sample.id or "", name, score.score, why, usage, calls)
            if score.verdicts:
                self.verdicts.setdefault(sample.id or "", {})[name] = score.verdicts
            usage, calls = _NOTHING, 0
        return said.is_failure

    def outcome(self, results: list[Result], methods: Sequence[Method]) -> Outcome:
        """What came of it."""
        order = {method.name: place for place, method in enumerate(methods)}
        for rows in self.rows.values():
            rows.sort(key=lambda row: order.get(row.method, -1))  # our own come first
        rows = [row for rows in self.rows.values() for row in rows]
        counts = dict(self.judged), dict(self.cached)
        return Outcome(rows, results, *counts, self.spent, self.verdicts, self.fatal)

    async def _asked(self, method: Method, sample: Sample) -> CachedJudgement:
        if self.model_of is None:
            asked, llm = None, self.lexical_llm(method.framework)
        else:
            # One per judgement, so that its counts are those of this judgement alone.
            asked = Prompted(self.model_of(method.framework))
            llm = llm_of(method.framework, asked)
        started = time.perf_counter()
        score = await method.score(sample, llm, seconds=self.seconds)
        usage = _NOTHING if asked is None else asked.usage
        if asked is not None:
            self.fatal = self.fatal or asked.fatal
        return CachedJudgement(
            sample=sample.id or "",
            method=method.name,
            judge=self.tcva.judge.name if asked is None else asked.name,
            version=method.version,
            score=score,
            usage=usage.model_copy(update={"seconds": time.perf_counter() - started}),
            reason=_reason(score, 0 if asked is None else asked.failures),
        )

    def _count(self, method: str, usage: Usage | None) -> None:
        """One judgement: made now for so much, or served (None)."""
        (self.cached if usage is None else self.judged)[method] += 1
        self.spent += usage or _NOTHING

    def _add(  # a row's own columns, in their order
        self,
        sample: str,
        method: str,
        score: float | None,
        unscored: str,
        usage: Usage,
        calls: int | None,
    ) -> None:
        # Servers that report no tokens leave zeros, which would read as costing nothing.
        known = bool(usage.input_tokens or usage.output_tokens)
        row = Row(
            *(sample, method, score, unscored, calls),
            input_tokens=usage.input_tokens if known else None,
            output_tokens=usage.output_tokens if known else None,
            seconds=usage.seconds,
        )
        self.rows.setdefault(sample, []).append(row)


def _why(reason: str, detail: str) -> str:
    # An error's text may hold halves of characters, which no file takes.
    return f"{reason}: {' '.join(whole_characters(detail).split())}" if detail else reason


def _reason(score: FrameworkScore, failures: int) -> str:
    if score.score is not None:
        return ""
    if failures:
        return JUDGE_ERROR
    return NO_SCORE if score.error in _NOTHING_TO_SCORE else METRIC_ERROR
