"""CCRS: metrics, a judge and a store in one object."""

from __future__ import annotations

import asyncio
import contextvars
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from tcva_adapters.ccrs.exact import ExactMatch, check_mode, exact_match
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, METRICS, Metric, fields_of, resolve_metrics
from tcva_adapters.ccrs.rater import Answers, Rater, resolve_rater
from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer, check_lambda
from tcva_adapters.errors import InvalidSampleError, TCVAError
from tcva_adapters.judging.judge import EMPTY_REASONS
from tcva_adapters.judging.keys import digest
from tcva_adapters.results.assessment import Reason, Unscored, Usage
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import check_concurrency, check_kind, progress_bar

_KEY_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class _Job:
    """What is rated together: one metric, or all those of a suite that fit the sample."""

    sample: Sample
    metrics: tuple[Metric, ...]
    keys: tuple[str, ...]


class CCRS:
    """Rate whole answers with a number per metric, without claims.

    Args:
        metrics: Short or long names: ``cc`` contextual coherence, ``qr`` question relevance,
            ``id`` information density, ``ac`` answer correctness, ``ir`` information recall.
        judge: ``"lexical"`` (by counting words, no more than a baseline), ``"openai:MODEL"``, a
            model object, or an LLM object of one of the frameworks.
        lambda_: What the exact match weighs in answer correctness.
        em: The exact match: ``strict`` (equal strings, as in the source) or ``normalised``
            (without regard to case, punctuation, articles and white space).
        suite: Ask for all metrics in one call. It saves calls and is no longer the source's
            protocol: a number may lean on the others.
        store: A path or a `VerdictStore`: what was rated before is served from it. It may be the
            file that holds verdicts.
        max_concurrency: How many calls are under way at once.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> ccrs = CCRS(("qr", "ir"))
    >>> sample = Sample(
    ...     input="Where is the red car?", response="The red car is in the garage.",
    ...     contexts=[], reference="In the garage.",
    ... )
    >>> ccrs.evaluate(sample).scores
    {'qr': 1.0, 'ir': 1.0}
    """

    def __init__(
        self,
        metrics: Iterable[str | Metric] | str = tuple(METRICS),
        *,
        judge: Any = "lexical",
        lambda_: float = DEFAULT_LAMBDA,
        em: ExactMatch = "strict",
        suite: bool = False,
        store: VerdictStore | str | Path | None = None,
        max_concurrency: int = 8,
    ) -> None:
        check_concurrency(max_concurrency)
        check_kind("store", store, VerdictStore, str, Path)
        check_kind("suite", suite, bool)
        check_mode(em)
        self.metrics = resolve_metrics(metrics)
        self.lambda_ = check_lambda(lambda_)
        self.em: ExactMatch = em
        self.rater = resolve_rater(judge, suite=suite, max_concurrency=max_concurrency)
        self.suite = suite
        self.store = VerdictStore(store) if isinstance(store, str | Path) else store
        self.max_concurrency = max_concurrency

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics)
        return f"CCRS({names!r}, judge={self.rater.name!r}, protocol={self.rater.protocol!r})"

    def evaluate(self, sample: Sample) -> CCRSResult:
        """Rate one sample. Whatever goes wrong is the reason of an unscored metric.

        An empty response scores 0 without a call, as the source's prompts say. A metric whose
        fields the sample lacks is unscored (``missing_field``).

        Raises:
            InvalidSampleError: It is no `Sample`.
        """
        return self.evaluate_many([sample], progress=False)[0]

    async def aevaluate(self, sample: Sample) -> CCRSResult:
        """The same, awaited."""
        return (await self.aevaluate_many([sample], progress=False))[0]

    def evaluate_many(
        self, samples: Iterable[Sample], *, progress: bool | None = None
    ) -> list[CCRSResult]:
        """Rate many samples; one result per sample, in order, whatever fails.

        Equal questions to the judge are asked once. After a failure that no further call can
        escape (a wrong key), what is left is given the same reason without a call.

        Args:
            samples: What to rate.
            progress: Show a bar on standard error; by default on a terminal.

        Raises:
            InvalidSampleError: One of them is no `Sample`.
        """
        batch = _Batch(self, samples)
        with progress_bar(len(batch.jobs), progress) as tick:
            if self.rater.is_local or len(batch.jobs) < 2:
                for job in batch.jobs:
                    batch.rate(job)
                    tick()
                return batch.results()
            pool = ThreadPoolExecutor(self.max_concurrency, thread_name_prefix="ccrs")
            try:
                # Each in a context of its own: what a framework has set for its callbacks holds.
                futures = [
                    pool.submit(contextvars.copy_context().run, batch.rate, job)
                    for job in batch.jobs
                ]
                for future in as_completed(futures):
                    future.result()
                    tick()
            finally:
                # After Ctrl-C nothing new starts, and nobody is made to wait for what has.
                pool.shutdown(wait=False, cancel_futures=True)
        return batch.results()

    async def aevaluate_many(
        self, samples: Iterable[Sample], *, progress: bool | None = None
    ) -> list[CCRSResult]:
        """The same, awaited, with at most ``max_concurrency`` calls under way."""
        batch = _Batch(self, samples)
        gate = asyncio.Semaphore(self.max_concurrency)

        async def one(job: _Job) -> None:
            async with gate:
                await batch.arate(job)
                tick()

        with progress_bar(len(batch.jobs), progress) as tick:
            async with asyncio.TaskGroup() as group:
                for job in batch.jobs:
                    group.create_task(one(job))
        return batch.results()

    def key(self, sample: Sample, metric: Metric, together: Sequence[Metric]) -> str:
        """The store key of one answer: everything that can change the rating, nothing else.

        The weight and the mode of the exact match are views of the rating and not part of it.

        Args:
            sample: What is rated.
            metric: By what.
            together: All metrics of the same call, this one included.
        """
        parts = {
            "ccrs_key_version": _KEY_VERSION,
            "sample": {name: getattr(sample, name) for name in fields_of(together)},
            "metric": metric.fingerprint,
            "together": [each.fingerprint for each in together] if self.suite else None,
            "judge": self.rater.name,
            "prompt_version": self.rater.prompt_version,
            "parameters": dict(self.rater.parameters),
        }
        return digest(parts)


def _jobs(ccrs: CCRS, sample: Sample) -> tuple[_Job, ...]:
    """What has to be asked about a sample."""
    metrics = tuple(m for m in ccrs.metrics if _without_call(ccrs.rater, sample, m) is None)
    groups = [metrics] if ccrs.suite and metrics else [(metric,) for metric in metrics]
    return tuple(
        _Job(sample, group, tuple(ccrs.key(sample, metric, group) for metric in group))
        for group in groups
    )


def _without_call(rater: Rater, sample: Sample, metric: Metric) -> MetricAnswer | None:
    """What can be said without asking anybody; None where the judge has to be asked."""
    missing = metric.missing(sample)
    if missing:
        detail = f"the sample has no {' and no '.join(missing)}, which {metric.name} needs"
        return _answer(rater, metric, Unscored(reason=Reason.MISSING_FIELD, detail=detail))
    if not (sample.response or "").strip():
        return _answer(rater, metric, 0.0)
    if not (sample.field(metric.against) or "").strip():
        detail = f"{metric.against} is empty"
        return _answer(rater, metric, Unscored(reason=EMPTY_REASONS[metric.against], detail=detail))
    return None


def _answer(rater: Rater, metric: Metric, found: float | Unscored) -> MetricAnswer:
    """An answer that nobody was asked for."""
    return MetricAnswer(
        metric=metric.name,
        judge=rater.name,
        prompt_version=rater.prompt_version,
        protocol=rater.protocol,
        rating=None if isinstance(found, Unscored) else found,
        unscored=found if isinstance(found, Unscored) else None,
    )


def _result(ccrs: CCRS, sample: Sample, answers: Answers) -> CCRSResult:
    """The answers of one sample under the settings of a `CCRS`."""
    exact = None
    response, reference = sample.response, sample.reference
    if any(metric.has_exact_match for metric in ccrs.metrics):
        has_both = response is not None and reference is not None
        exact = exact_match(response or "", reference or "", ccrs.em) if has_both else None
    return CCRSResult(
        judge=ccrs.rater.name,
        protocol=ccrs.rater.protocol,
        answers=answers,
        exact=exact,
        em=ccrs.em,
        lambda_=ccrs.lambda_,
        sample_id=sample.id,
        metadata=sample.metadata,
    )


class _Batch:
    """The jobs of several samples, what became of them, and the way back to one result each."""

    def __init__(self, ccrs: CCRS, samples: Iterable[Any]) -> None:
        self._ccrs = ccrs
        self._samples: list[Any] = list(samples)
        for sample in self._samples:
            if not isinstance(sample, Sample):
                kind = type(sample).__name__
                msg = f"a Sample is needed, got {kind}; Sample.from_record reads a mapping"
                raise InvalidSampleError(msg)
        self._jobs_of = [_jobs(ccrs, sample) for sample in self._samples]
        different = {job.keys: job for jobs in self._jobs_of for job in jobs}
        self.jobs = list(different.values())
        self._answers: dict[tuple[str, ...], Answers] = {}
        self._fatal: Unscored | None = None

    def rate(self, job: _Job) -> None:
        """Get the answers of a job: from the store, else from the judge."""
        known, left = self._known(job)
        if left and self._fatal is None:
            self._keep(job, self._ccrs.rater.rate(job.sample, job.metrics, left=left), known)
        else:
            self._answers[job.keys] = {**known, **self._given_up(left)}

    async def arate(self, job: _Job) -> None:
        """The same, awaited."""
        known, left = self._known(job)
        if left and self._fatal is None:
            new = await self._ccrs.rater.arate(job.sample, job.metrics, left=left)
            self._keep(job, new, known)
        else:
            self._answers[job.keys] = {**known, **self._given_up(left)}

    def results(self) -> list[CCRSResult]:
        """One result per sample, in order."""
        seen: set[tuple[str, ...]] = set()
        results = []
        for sample, jobs in zip(self._samples, self._jobs_of, strict=True):
            answers: Answers = {}
            for job in jobs:
                found = self._answers[job.keys]
                if job.keys in seen:
                    # The call was counted at the first of the equal questions.
                    found = {n: a.model_copy(update={"usage": Usage()}) for n, a in found.items()}
                seen.add(job.keys)
                answers |= found
            both = (
                answers.get(metric.name) or _without_call(self._ccrs.rater, sample, metric)
                for metric in self._ccrs.metrics
            )
            ordered = {answer.metric: answer for answer in both if answer is not None}
            results.append(_result(self._ccrs, sample, ordered))
        return results

    def _known(self, job: _Job) -> tuple[Answers, list[Metric]]:
        known: Answers = {}
        store = self._ccrs.store
        if store is not None:
            try:
                found = store.get_records(job.keys)
            except TCVAError as error:
                _warn_of_store(error)
                found = {}
            for metric, key in zip(job.metrics, job.keys, strict=True):
                answer = _read(found.get(key))
                if answer is not None:
                    known[metric.name] = answer
        return known, [metric for metric in job.metrics if metric.name not in known]

    def _given_up(self, metrics: Sequence[Metric]) -> Answers:
        """What is left once no call can succeed."""
        why = self._fatal
        if why is None:
            return {}
        bare = why.model_copy(update={"raw_reply": None})
        return {metric.name: _answer(self._ccrs.rater, metric, bare) for metric in metrics}

    def _keep(self, job: _Job, new: Answers, known: Answers) -> None:
        fatal = (a.unscored for a in new.values() if a.unscored is not None and a.unscored.fatal)
        self._fatal = self._fatal or next(fatal, None)
        store = self._ccrs.store
        if store is not None:
            keys = dict(zip((metric.name for metric in job.metrics), job.keys, strict=True))
            try:
                for name, answer in new.items():
                    failed = answer.unscored is not None and answer.unscored.reason.is_failure
                    store.put_record(keys[name], answer.model_dump_json(), failed=failed)
            except TCVAError as error:
                _warn_of_store(error)
        self._answers[job.keys] = {**known, **new}


def _read(text: str | None) -> MetricAnswer | None:
    """A kept answer; None for none, and for one that cannot be read."""
    if text is None:
        return None
    try:
        return MetricAnswer.model_validate_json(text).model_copy(update={"from_store": True})
    except ValidationError:
        return None


def _warn_of_store(error: TCVAError) -> None:
    """A broken store costs the store, not the rating that was paid for."""
    warnings.warn(f"the verdict store failed: {error}", RuntimeWarning, stacklevel=2)
