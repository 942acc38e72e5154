"""The run: TCVA and framework metrics on the same samples, each judged once, whatever fails."""

from __future__ import annotations

import asyncio
import math
import time
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, islice
from typing import Final, NamedTuple

from tcva_adapters.compare.ratings import mean_of, parse_rating, rater_names
from tcva_adapters.compare.rows import Row
from tcva_adapters.compare.running.cached import (
    JUDGE_ERROR,
    METRIC_ERROR,
    NO_SCORE,
    NOT_ASKED,
    CachedJudgement,
    read_cached,
)
from tcva_adapters.compare.running.methods import Method, llm_of
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel
from tcva_adapters.progress import progress_of
from tcva_adapters.results.assessment import Assessment, Reason, Usage
from tcva_adapters.results.evidence import EvidenceCounts
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import Profiles
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner import CHUNK
from tcva_adapters.samples.files import SampleFile, SampleStream, distinct, renamed
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.tcva import TCVA

Models = Callable[[str], JudgeModel]
"""From a framework to the model behind its LLM, the same one whenever it is asked."""

Verdicts = tuple[FrameworkVerdict, ...]
"""A framework metric's own, on one sample."""

OURS: Final = "tcva"
"""Our own judgements in counts by method."""

_DIGEST: Final = 16
"""Bytes of a key by which equal samples are found."""

_NOTHING: Final = Usage()
_NOTHING_TO_SCORE: Final = frozenset({"the metric returned nan"})
"""What a metric says when all calls went well and there still is no score."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run.

    Attributes:
        rows: One per sample and method, sample by sample, methods in the order of the run.
        results: TCVA's, one per sample, in order; read from a temporary file where they are many.
        judged: How many judgements were made now, by method; ``tcva`` is one of them.
        cached: How many were served from an earlier run, by method.
        spent: What the judgements made now cost. Seconds are those of each, added up.
        evidence: What became of the quotes of TCVA's verdicts.
        verdicts: The framework metrics' own, by sample and method, where they gave any.
        fatal: Why no other call could succeed; None where none failed like that.
    """

    rows: Sequence[Row]
    results: Sequence[Result]
    judged: dict[str, int]
    cached: dict[str, int]
    spent: Usage
    evidence: EvidenceCounts
    verdicts: Mapping[str, Mapping[str, Verdicts]] = field(default_factory=dict)
    fatal: JudgeError | None = None


def named(read: SampleFile) -> SampleFile:
    """The same samples, each with an id of its own: ``row-N`` without one, numbered like another.

    >>> read = SampleFile([Sample(id="a"), Sample(), Sample(id="a")], [1, 2, 3], [])
    >>> [sample.id for sample in named(read).samples], named(read).repeated
    (['a', 'row-2', 'a#2'], ('a',))
    """
    rows = zip(read.lines, read.samples, strict=True)
    names, repeated = distinct(sample.id or f"row-{line}" for line, sample in rows)
    return replace(read, samples=renamed(read.samples, names), repeated=repeated)


def read_named(stream: SampleStream) -> SampleFile:
    """The same of a file that is read to its end."""
    samples, lines = stream.collected()
    return named(SampleFile(samples, lines, stream.bad))


def human_scores(samples: Sequence[Sample], fields: str) -> dict[str, float]:
    """The human ratings by sample id, from a metadata field; samples without one are left out.

    Several fields with commas between are several raters, whose mean it is.

    Raises:
        InvalidSampleError: No sample has the field, or a value in it is no rating.

    >>> human_scores([Sample(id="a", metadata={"human": "4.5"}), Sample(id="b")], "human")
    {'a': 4.5}
    """
    return mean_of(rater_scores(samples, fields))


def rater_scores(samples: Sequence[Sample], fields: str) -> dict[str, dict[str, float]]:
    """The ratings of each rater by sample id, by the fields' names.

    Raises:
        InvalidSampleError: As for `human_scores`, for any of the raters.
        InvalidValueError: No field, or one twice.
    """
    return {field: _rated(samples, field) for field in rater_names(fields)}


def _rated(samples: Sequence[Sample], field: str) -> dict[str, float]:
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

    >>> profile_name({"domain": {}})
    'tcva by domain'
    """
    return f"tcva by {next(iter(profiles))}"


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
    run = _Run(samples, tcva, store, models, seconds, temperatures, methods)
    async with aclosing(tcva.aiter_evaluate(samples, progress=progress)) as results:
        async for result in results:
            run.take(result)
    jobs = [run.jobs(method) for method in methods]
    waiting = run.found(chain.from_iterable(jobs))

    async def work() -> None:
        for job, cached in waiting:
            shown.tick(failed=await run.do(job, cached))

    number = sum(map(len, jobs))
    with progress_of("framework metrics", number, progress) as shown:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(1 if models is None else tcva.max_concurrency):
                    group.create_task(work())
        except ExceptionGroup as failed:  # metrics do not raise: a fault of ours
            raise failed.exceptions[0] from None
    return run.outcome()


class _Job(NamedTuple):
    """A method on equal samples.

    Attributes:
        method: The method.
        key: Of the judgement.
        sample: The first of them.
        places: Where they are among all samples, rising.
    """

    method: Method
    key: str
    sample: Sample
    places: Sequence[int]


class _Jobs(Collection[_Job]):
    """A method on all samples, of which eight bytes each are held; equal ones are one job."""

    def __init__(
        self, method: Method, samples: Sequence[Sample], key: Callable[[Sample], str]
    ) -> None:
        self._method, self._samples, self._key = method, samples, key
        firsts: dict[bytes, int] = {}
        self._again: dict[int, list[int]] = {}
        self._firsts = array("q")
        for place, sample in enumerate(samples):
            first = firsts.setdefault(bytes.fromhex(key(sample))[:_DIGEST], place)
            if first == place:
                self._firsts.append(place)
            else:
                self._again.setdefault(first, []).append(place)

    def __len__(self) -> int:
        return len(self._firsts)

    def __contains__(self, job: object) -> bool:
        return any(job == each for each in self)

    def __iter__(self) -> Iterator[_Job]:
        for place in self._firsts:
            sample = self._samples[place]
            places = [place, *self._again.get(place, ())]
            yield _Job(self._method, self._key(sample), sample, places)


class _Run:
    """A run under way: what its judgements share, and the rows so far."""

    def __init__(
        self,
        samples: Sequence[Sample],
        tcva: TCVA,
        store: VerdictStore,
        model_of: Models | None,
        seconds: float | None,
        temperatures: Sequence[float],
        methods: Sequence[Method],
    ) -> None:
        self.samples, self.tcva, self.store = samples, tcva, store
        self.model_of, self.seconds = model_of, seconds
        self.names = [sample.id or "" for sample in samples]
        self.ours = {tcva_name(t): t for t in temperatures}
        profiles = () if tcva.profiles is None else (profile_name(tcva.profiles),)
        columns = [*self.ours, *profiles, *(method.name for method in methods)]
        self.columns = {name: place for place, name in enumerate(columns)}
        self.rows = [Row(name, method, None) for name in self.names for method in columns]
        self.judgements: list[Assessment] = []
        self.verdicts: dict[str, dict[str, Verdicts]] = {name: {} for name in self.names}
        self.evidence = EvidenceCounts.of(())
        self.judged, self.cached = Counter[str](), Counter[str]()
        self.spent = _NOTHING
        self.fatal: JudgeError | None = None
        self.lexical_llm = cache(partial(llm_of, model=None))

    def take(self, result: Result) -> None:
        """Count one of TCVA's judgements, with a row per temperature, and one for profiles."""
        assessment, place = result.assessment, len(self.judgements)
        self.judgements.append(assessment)
        self.evidence += EvidenceCounts.of((assessment,), self.tcva.scoring.evidence)
        unscored = assessment.unscored
        if unscored is not None and unscored.fatal:
            self.fatal = JudgeError(unscored.detail, fatal=True)
        if unscored is None or unscored.reason is not Reason.MISSING_FIELD:  # nobody was asked
            self._count(OURS, assessment.usage if assessment.is_new else None)
        why = "" if unscored is None else _why(unscored.reason.value, unscored.detail)
        usage = assessment.usage
        plain = Result(assessment, self.tcva.scoring)
        seen = {name: plain.at(t) for name, t in self.ours.items()}
        scores = {name: each.score for name, each in seen.items()}
        if self.tcva.profiles is not None:
            scores[profile_name(self.tcva.profiles)] = result.score
        for name, score in scores.items():
            self._put([place], name, score, why if score is None else "", usage, usage.calls)
            usage = _NOTHING

    def jobs(self, method: Method) -> _Jobs:
        """A method on all samples; equal ones are one job."""
        model = None if self.model_of is None else self.model_of(method.framework)
        judge = (self.tcva.judge.name, {}) if model is None else (model.name, model.parameters)
        return _Jobs(method, self.samples, lambda sample: method.key(sample, *judge))

    def found(self, jobs: Iterable[_Job]) -> Iterator[tuple[_Job, CachedJudgement | None]]:
        """With what the store has of them; so many are looked up at once."""
        waiting = iter(jobs)
        while some := list(islice(waiting, CHUNK)):
            cached: dict[str, CachedJudgement] = {}
            with self.store.spared():
                cached = read_cached(self.store, (job.key for job in some))
            for job in some:
                yield job, cached.get(job.key)

    async def do(self, job: _Job, cached: CachedJudgement | None) -> bool:
        """One judgement, made now or before, or the reason why nobody is asked; whether it failed."""
        name, places = job.method.name, job.places
        unasked = ""
        if lacking := job.method.lacking(job.sample):
            unasked = _why(Reason.MISSING_FIELD.value, lacking)
        elif cached is None and self.fatal is not None:
            unasked = _why(NOT_ASKED, str(self.fatal))
        if unasked:
            self._put(places, name, None, unasked, _NOTHING, 0)
            return not lacking
        said = cached
        if said is None:
            said = await self._asked(job.method, job.sample)
            if not said.is_failure:
                with self.store.spared():
                    self.store.put_records([(job.key, said.to_json())])
        self._count(name, said.usage if cached is None else None)
        score = said.score
        why = "" if score.score is not None else _why(said.reason, score.error)
        # Of the lexical judge only the metric knows its calls.
        self._put(places, name, score.score, why, said.usage, said.usage.calls or score.calls)
        if score.verdicts:
            for place in places:
                self.verdicts[self.names[place]][name] = score.verdicts
        return said.is_failure

    def outcome(self) -> Outcome:
        """What came of it."""
        counts = dict(self.judged), dict(self.cached)
        results = [*map(self.tcva.result, self.judgements)]
        return Outcome(
            *(self.rows, results, *counts, self.spent),
            evidence=self.evidence,
            verdicts=self.verdicts,
            fatal=self.fatal,
        )

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
            judge=self.tcva.judge.name if asked is None else asked.model.name,
            version=method.version,
            score=score,
            usage=usage.model_copy(update={"seconds": time.perf_counter() - started}),
            reason=_reason(score, 0 if asked is None else asked.failures),
        )

    def _count(self, method: str, usage: Usage | None) -> None:
        """One judgement: made now for so much, or served (None)."""
        (self.cached if usage is None else self.judged)[method] += 1
        self.spent += usage or _NOTHING

    def _put(
        self,
        places: Sequence[int],
        method: str,
        score: float | None,
        unscored: str,
        usage: Usage,
        calls: int | None,
    ) -> None:
        """The rows of a method on equal samples; the cost stands in that of the first."""
        for place in places:
            # Servers that report no tokens leave zeros, which would read as costing nothing.
            known = bool(usage.input_tokens or usage.output_tokens)
            row = Row(
                *(self.names[place], method, score, unscored, calls),
                input_tokens=usage.input_tokens if known else None,
                output_tokens=usage.output_tokens if known else None,
                seconds=usage.seconds,
            )
            self.rows[place * len(self.columns) + self.columns[method]] = row
            usage, calls = _NOTHING, 0


def _why(reason: str, detail: str) -> str:
    # An error's text may hold halves of characters, which no file takes.
    return f"{reason}: {' '.join(whole_characters(detail).split())}" if detail else reason


def _reason(score: FrameworkScore, failures: int) -> str:
    if score.score is not None:
        return ""
    if failures:
        return JUDGE_ERROR
    return NO_SCORE if score.error in _NOTHING_TO_SCORE else METRIC_ERROR
