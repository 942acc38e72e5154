"""TCVA: a criterion, a judge and the dial in one object."""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tcva_adapters.claims.criteria import Criterion, resolve_criterion
from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, TCVAError
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode, Judge
from tcva_adapters.judging.keys import verdict_key
from tcva_adapters.judging.panel import Panel
from tcva_adapters.judging.resolve import resolve_judge
from tcva_adapters.results.assessment import Assessment, Unscored, Usage
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import GEOMETRIC, Fusion, HumanScale, Profiles, Scoring
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample

Tick = Callable[[], None]


class TCVA(FromConfig):
    """Judge samples under one criterion and score them on the dial.

    Args:
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        judge: ``"lexical"``, ``"openai:MODEL"``, a model object, a judge, or a `Panel` of several.
        temperature: Strictness in [0.1, 1.0], low is strict; or ``strict``, ``balanced``,
            ``lenient``.
        threshold: A score passes from here on.
        scheme: Weights of the levels: a scheme, its name, or five numbers.
        penalty: ``paper``, ``ramped``, ``absolute`` or ``off``.
        eps: Floor under the weights at exponents that are not positive.
        floor: ``paper`` or ``always``.
        on_unscored: Score for samples that have none of their own; None leaves them unscored.
        claims: ``split`` (sentences, one call) or ``llm`` (asked of the judge, two calls).
        max_claims: Most claims per sample.
        store: A path or a `VerdictStore`: judgements made before are served from it.
        max_concurrency: How many samples are judged at once by a model.
        fuse: A further judge, or several, whose scores are fused with the first one's. With
            ``"lexical"`` it costs no further call. A `TCVA` judges by its own criterion.
        fusion: The mean that fuses them, geometric by default.
        mapping: From scores to a human scale, for `Result.human_score`.
        profiles: Settings for samples with certain metadata.

    A further judge that fails is left out, and the reason says so; without the first judge's score
    there is none.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> tcva = TCVA("faithfulness", judge="lexical")
    >>> sample = Sample(response="The office opens at nine.", contexts=["The office opens at nine."])
    >>> tcva.evaluate(sample).score
    1.0
    """

    def __init__(
        self,
        criterion: Criterion | str = "faithfulness",
        *,
        judge: Any = "lexical",
        temperature: float | str = 0.5,
        threshold: float = 0.5,
        scheme: WeightScheme | str | Sequence[float] = WeightScheme.DEFAULT,
        penalty: Penalty = "paper",
        eps: float = 1e-9,
        floor: Floor = "paper",
        on_unscored: float | None = None,
        claims: ClaimsMode = "split",
        max_claims: int = MAX_CLAIMS,
        store: VerdictStore | str | Path | None = None,
        max_concurrency: int = 8,
        fuse: Any = None,
        fusion: Fusion = GEOMETRIC,
        mapping: HumanScale | None = None,
        profiles: Profiles | None = None,
    ) -> None:
        check_concurrency(max_concurrency)
        check_kind("store", store, VerdictStore, str, Path)
        check_kind("profiles", profiles, Profiles)
        self.criterion = resolve_criterion(criterion)
        self.scoring = Scoring(
            temperature=check_temperature(temperature),
            threshold=threshold,
            scheme=WeightScheme.resolve(scheme),
            penalty=penalty,
            eps=eps,
            floor=floor,
            on_unscored=on_unscored,
            fusion=fusion,
            mapping=mapping,
        )
        self.profiles = profiles
        self.judge: Judge = resolve_judge(
            judge, claims=claims, max_claims=max_claims, max_concurrency=max_concurrency
        )
        self.judge.check(self.criterion)
        self.panel_judges = tuple(
            TCVA(self.criterion, judge=single)
            for single in (self.judge.judges if isinstance(self.judge, Panel) else ())
        )
        given = _listed(fuse)
        self.members = tuple(
            member if isinstance(member, TCVA) else TCVA(self.criterion, judge=member)
            for member in given
        )
        # What another TCVA can be given as fuse: judges, which follow its criterion, and those that
        # came with a criterion of their own. Clients are shared.
        self.fuse: tuple[Any, ...] = tuple(
            member if any(member is each for each in given) else member.judge
            for member in self.members
        )
        for member in self.members:
            if member.members:
                msg = f"{member!r} is fused already; list all the judges in one fuse=[...]"
                raise InvalidValueError(msg)
        if fusion.weights is not None and len(fusion.weights) != 1 + len(self.members):
            msg = f"fusion has {len(fusion.weights)} weights for {1 + len(self.members)} judges"
            raise InvalidValueError(msg)
        self.store = VerdictStore(store) if isinstance(store, str | Path) else store
        self.max_concurrency = max_concurrency

    def __repr__(self) -> str:
        fused = f", fuse={[m.judge.name for m in self.members]!r}" if self.members else ""
        return (
            f"TCVA({self.criterion.name!r}, judge={self.judge.name!r}, "
            f"temperature={self.scoring.temperature:g}, threshold={self.scoring.threshold:g}{fused})"
        )

    def result(self, assessment: Assessment) -> Result:
        """An assessment under this object's settings, or those of the profile it falls under."""
        scoring = self.scoring
        if self.profiles is not None:
            scoring = self.profiles.scoring(scoring, assessment.metadata)
        return Result(assessment, scoring)

    def evaluate(self, sample: Sample) -> Result:
        """Judge one sample.

        Raises:
            InvalidSampleError: The sample lacks a field that the criterion needs. Everything that
                can go wrong after that is the reason of an unscored result.
        """
        self._require(sample)
        return self.result(self._judged(sample))

    async def aevaluate(self, sample: Sample) -> Result:
        """The same, awaited."""
        self._require(sample)
        return self.result(await self._ajudged(sample))

    def evaluate_many(
        self, samples: Iterable[Sample], *, progress: bool | None = None
    ) -> list[Result]:
        """Judge many samples; one result per sample, in order, whatever fails.

        A sample without a needed field becomes unscored (``missing_field``). Equal samples are
        judged once. After a failure that no further call can escape (a wrong key), the remaining
        samples are given the same reason without a call.

        Args:
            samples: What to judge.
            progress: Show a bar on standard error; by default on a terminal.
        """
        batch = _Batch(self, list(samples))
        with progress_bar(len(batch.firsts), progress) as tick:
            if all(each.judge.is_local for each in (self, *self.members)):
                for index in batch.firsts:
                    batch.done(index, self._judged(batch.samples[index]))
                    tick()
            else:
                self._in_threads(batch, tick)
        return batch.results()

    async def aevaluate_many(
        self, samples: Iterable[Sample], *, progress: bool | None = None
    ) -> list[Result]:
        """The same, awaited, with at most ``max_concurrency`` samples under way."""
        batch = _Batch(self, list(samples))
        gate = asyncio.Semaphore(self.max_concurrency)

        async def one(index: int) -> None:
            async with gate:
                batch.done(index, await self._ajudged(batch.samples[index], batch))
                tick()

        with progress_bar(len(batch.firsts), progress) as tick:
            async with asyncio.TaskGroup() as group:
                for index in batch.firsts:
                    group.create_task(one(index))
        return batch.results()

    def _in_threads(self, batch: _Batch, tick: Tick) -> None:
        pool = ThreadPoolExecutor(self.max_concurrency, thread_name_prefix="tcva")
        try:
            futures = {
                pool.submit(self._judged, batch.samples[index], batch): index
                for index in batch.firsts
            }
            for future in as_completed(futures):
                batch.done(futures[future], future.result())
                tick()
        finally:
            # After Ctrl-C nothing new starts. Calls under way end by themselves and reach the
            # store, but nobody is made to wait for them here.
            pool.shutdown(wait=False, cancel_futures=True)

    def key(self, sample: Sample) -> str:
        """The store key of a sample: everything that can change its verdicts, nothing else."""
        return verdict_key(
            sample,
            self.criterion,
            judge=self.judge.name,
            prompt_version=self.judge.prompt_version,
            parameters=self.judge.parameters,
        )

    def _judged(self, sample: Sample, batch: _Batch | None = None) -> Assessment:
        def by(each: TCVA) -> Assessment:
            if isinstance(each.judge, Panel):
                return each.judge.combined(list(map(by, each.panel_judges)))
            known = self._known(each, sample, batch)
            return known or self._kept(
                each, sample, each.judge.assess(sample, each.criterion), batch
            )

        assessment = by(self)
        if not self.members or assessment.unscored is not None:
            return assessment
        return assessment.model_copy(update={"members": tuple(map(by, self.members))})

    async def _ajudged(self, sample: Sample, batch: _Batch | None = None) -> Assessment:
        async def by(each: TCVA) -> Assessment:
            if isinstance(each.judge, Panel):
                return each.judge.combined(await asyncio.gather(*map(by, each.panel_judges)))
            known = self._known(each, sample, batch)
            return known or self._kept(
                each, sample, await each.judge.aassess(sample, each.criterion), batch
            )

        assessment = await by(self)
        if not self.members or assessment.unscored is not None:
            return assessment
        members = await asyncio.gather(*map(by, self.members))
        return assessment.model_copy(update={"members": tuple(members)})

    def _known(self, each: TCVA, sample: Sample, batch: _Batch | None) -> Assessment | None:
        """What can be said without a call: from the store, or because no call can succeed."""
        found = None
        if self.store is not None:
            try:
                found = self.store.get(each.key(sample))
            except TCVAError as error:
                self._warn_of_store(error)
        if found is not None:
            return relabelled(found, sample, from_store=True)
        return None if batch is None else batch.given_up(each, sample)

    def _kept(
        self, each: TCVA, sample: Sample, assessment: Assessment, batch: _Batch | None
    ) -> Assessment:
        """A new judgement, once the store has it and the batch knows what it means for the rest."""
        if batch is not None:
            batch.note(each, assessment)
        if self.store is not None:
            try:
                self.store.put(each.key(sample), assessment)
            except TCVAError as error:
                self._warn_of_store(error)
        return assessment

    def _warn_of_store(self, error: TCVAError) -> None:
        """A broken store costs the store, not the judgement that was paid for."""
        warnings.warn(f"the verdict store failed: {error}", RuntimeWarning, stacklevel=2)

    def _require(self, sample: Any) -> None:
        if not isinstance(sample, Sample):
            kind = type(sample).__name__
            msg = f"a Sample is needed, got {kind}; Sample.from_record reads a mapping"
            raise InvalidSampleError(msg)
        self.criterion.require(sample)


def relabelled(assessment: Assessment, sample: Sample, *, from_store: bool) -> Assessment:
    """A kept judgement under the name of the sample that asks for it now."""
    update = {"sample_id": sample.id, "metadata": sample.metadata, "from_store": from_store}
    return assessment.model_copy(update=update)


class _Batch:
    """Which samples of a batch to judge, and the way back to one result per sample."""

    def __init__(self, tcva: TCVA, samples: list[Sample]) -> None:
        self._tcva = tcva
        self.samples = samples
        # Equal to every judge: a further one may look at fields that the first one does not.
        judges = (tcva, *tcva.members)
        first_of: dict[tuple[str, ...], int] = {}
        self._source = [
            first_of.setdefault(tuple(each.key(sample) for each in judges), i)
            for i, sample in enumerate(samples)
        ]
        self.firsts = list(first_of.values())
        self._assessments: dict[int, Assessment] = {}
        self._fatal: dict[str, Unscored] = {}

    def done(self, index: int, assessment: Assessment) -> None:
        self._assessments[index] = assessment

    def note(self, tcva: TCVA, assessment: Assessment) -> None:
        """Remember a failure of a judge that no further call can escape."""
        if assessment.unscored is not None and assessment.unscored.fatal:
            self._fatal[tcva.judge.name] = assessment.unscored

    def given_up(self, tcva: TCVA, sample: Sample) -> Assessment | None:
        """What a sample gets once no call of this judge can succeed."""
        fatal = self._fatal.get(tcva.judge.name)
        if fatal is None:
            return None
        return Assessment(
            criterion=tcva.criterion.name,
            judge=tcva.judge.name,
            prompt_version=tcva.judge.prompt_version,
            unscored=fatal.model_copy(update={"raw_reply": None}),
            sample_id=sample.id,
            metadata=sample.metadata,
        )

    def results(self) -> list[Result]:
        judged = []
        for index, source in enumerate(self._source):
            assessment = self._assessments[source]
            if index != source:
                # The call was counted at the first of the equal samples.
                assessment = _twin(assessment, self.samples[index])
            judged.append(self._tcva.result(assessment))
        return judged


def _twin(assessment: Assessment, sample: Sample) -> Assessment:
    """The judgement of an equal sample, at no further cost."""
    twin = relabelled(assessment, sample, from_store=assessment.from_store)
    beside = {
        name: tuple(_twin(each, sample) for each in getattr(assessment, name))
        for name in ("members", "panel")
    }
    return twin.model_copy(update={"usage": Usage(), **beside})


def check_concurrency(number: object) -> None:
    """Refuse what is no number of calls at once.

    Raises:
        InvalidValueError: It is no whole number from 1 up.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        msg = f"max_concurrency={number!r}; it is a whole number from 1 up"
        raise InvalidValueError(msg)


def check_kind(name: str, value: object, *kinds: type) -> None:
    """Refuse a setting that is neither None nor of one of these kinds.

    Raises:
        InvalidValueError: It is something else.
    """
    if value is not None and not isinstance(value, kinds):
        msg = f"{name}={value!r}; it is None or a {' or '.join(kind.__name__ for kind in kinds)}"
        raise InvalidValueError(msg)


def _listed(fuse: Any) -> Sequence[Any]:
    if fuse is None:
        return ()
    return fuse if isinstance(fuse, list | tuple) else (fuse,)


@contextmanager
def progress_bar(total: int, wanted: bool | None) -> Iterator[Tick]:
    """A bar on standard error; what it gives is called once for each that is done.

    Args:
        total: How many there are.
        wanted: Whether to show it; None shows it on a terminal.
    """
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda: None
        return
    # rich takes 30 ms to import, which a library user without a terminal need not pay.
    from rich.console import Console  # noqa: PLC0415  # see above
    from rich.progress import Progress  # noqa: PLC0415  # see above

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("judging", total=total)
        yield lambda: bar.advance(task)
