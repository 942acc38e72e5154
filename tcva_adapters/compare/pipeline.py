"""From samples to a comparison: what is checked first, then paid for, then counted."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import math
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import wraps
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

from tcva_adapters.compare.existing.imports import ImportedScores, import_scores
from tcva_adapters.compare.existing.records import SCALE
from tcva_adapters.compare.fused import FusedMethod, fused_rows, gains
from tcva_adapters.compare.gates import Gates
from tcva_adapters.compare.grouping import groups_by_sample
from tcva_adapters.compare.human import Ratings, check_distances
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.judged import Judged, JudgedSource
from tcva_adapters.compare.labels import Labels
from tcva_adapters.compare.old_comparison import Comparison
from tcva_adapters.compare.raters import Raters
from tcva_adapters.compare.rows import Row, ScoreTable
from tcva_adapters.compare.running.folder import check_folder
from tcva_adapters.compare.running.judges import framework_models
from tcva_adapters.compare.running.methods import ALL, Method, choose
from tcva_adapters.compare.running.run import (
    Models,
    Outcome,
    judge_all,
    named,
    profile_name,
    read_named,
    tcva_name,
)
from tcva_adapters.compare.views.decisions import decision_view
from tcva_adapters.compare.views.same_samples import SameSamples, ways
from tcva_adapters.compare.views.summary import summarise_table
from tcva_adapters.core.temperature import as_temperature, check_temperature
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.progress import progress_of
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.files import SampleFile, SampleStream
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.checks import whole
from tcva_adapters.stats.correlation import Measure, check_measure
from tcva_adapters.stats.equivalence import check_margin
from tcva_adapters.stats.scipy_extra import scipy_module
from tcva_adapters.stats.strata import stratified
from tcva_adapters.tcva import TCVA

NO_FRAMEWORK: Final = "none"
PATIENCE: Final = 900.0  # above what a metric's calls may take with all their retries

Say = Callable[[str], None]
"""Told what happens, in sentences."""

P = ParamSpec("P")
T = TypeVar("T")


def _silent(_: str) -> None:
    """Says nothing."""


@dataclass(frozen=True, slots=True)
class _Request:
    """Run framework metrics and TCVA on the same samples, each judged once, and compare them.

    Everything is read and checked before the first call is paid for. What fails later is a row
    without a score. After a failure that no call can escape (a wrong key) nobody is asked any more,
    and ``outcome.fatal`` says why. The frameworks are imported, which takes seconds.

    Args:
        samples: A file, what `read_samples` or `SampleStream` made of one, or samples. Those of a
            file wait in a temporary file.
        tcva: A `TCVA`, or the settings of one: ``{"judge": "openai:MODEL", "threshold": 0.7}``. Its
            judge answers the frameworks' prompts, too.
        frameworks: Their names; ``all`` takes those that are installed, ``none`` runs TCVA alone.
        metrics: ``faithfulness`` (of every framework that has it) or ``ragas.faithfulness``; all
            where None.
        temperatures: TCVA's; all of one judgement.
        imported: Scores that were made elsewhere, each as ``NAME=FILE``; see `import_scores`.
        missing: The number that stands for no score in them.
        scale: Their lowest and highest possible score.
        fuse: More methods, each the geometric mean of others: ``"tcva T=0.5 + ragas
            faithfulness"``.
        human: The samples' field with human ratings, or `Labels`; by default those of imported
            files. Several fields with commas between are several raters: their mean counts, and
            the comparison says how far they agree and how good that lets a method get.
        human_scale: The lowest and the highest rating that could be given: ratings are laid on [0, 1],
            the scale of scores. By default they are as they are.
        objective: The measure by which methods are tested, chosen before looking: ``spearman``,
            ``kendall``, ``pearson`` or ``mae``.
        reference: The method that others are tested against; by default the best one.
        equivalence: The difference by the objective that would matter: tests whether the others are
            as good as the reference, up to that.
        pass_from: Thresholds of other methods by name.
        group: The samples' field that names what they belong to (a document, a conversation, a
            user): intervals, tests and the confidence of gates are about other groups then.
        ablation: Set TCVA beside itself with parts of the method taken out (A to D).
        beside: Judgements of the same samples in other forms, or by other judges, see `Judged.of`.
        stratify: Take only so many of the samples, spread evenly over their human ratings; see
            `stratified`. They are drawn before anything is paid for.
        stratify_seed: Which samples of a stratum.
        gates: The least mean score, pass rate and coverage, for all methods or by name.
        store: Where judgements are cached: what is there is not asked for again. By default the
            store of the TCVA, else memory.
        folder: Where the results will be saved: refused before anything is paid for, where it holds
            a comparison with other settings.
        overwrite: Refuse no folder.
        timeout: Seconds after which a framework metric is given up on a sample.
        n_boot: Resamples per interval and test.
        say: Told in sentences what is left out.
        progress: Whether to show bars on a terminal, and a line every ten seconds in a log; by
            default the bars alone.

    Raises:
        InvalidValueError: A setting is out of range or unknown.
        InvalidSampleError: No sample has a human rating, or one belongs to no group.
        UnreadableInputError: A file or the store cannot be read.
        MissingDependencyError: Something that was asked for is not installed.
    """

    samples: str | Path | SampleFile | SampleStream | Sequence[Sample]
    tcva: TCVA | Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    frameworks: str | Sequence[str] = ALL
    metrics: str | Sequence[str] | None = None
    temperatures: str | Sequence[float | str] = (0.1, 0.5, 0.9)
    imported: Sequence[str] = ()
    missing: float | None = None
    scale: tuple[float, float] = SCALE
    fuse: Sequence[str] = ()
    human: str | Labels | None = None
    human_scale: tuple[float, float] | None = None
    objective: Measure = "spearman"
    reference: str | None = None
    equivalence: float | None = None
    pass_from: Mapping[str, float] = field(default_factory=dict)
    group: str | None = None
    ablation: bool = False
    beside: Sequence[JudgedSource] = ()
    stratify: int | None = None
    stratify_seed: int = 0
    gates: Gates = field(default_factory=Gates)
    store: VerdictStore | str | Path | None = None
    folder: str | Path | None = None
    overwrite: bool = False
    timeout: float = PATIENCE
    n_boot: int = 10_000
    say: Say = _silent
    progress: bool | None = None

    def plan(self) -> _Plan:
        """Read and check everything."""
        grid = [as_temperature(part) for part in _listed(self.temperatures)]
        if len(set(grid)) < len(grid) or not grid:
            msg = f"temperatures {self.temperatures!r} names one twice, or none"
            raise InvalidValueError(msg)
        tcva = self.tcva
        if not isinstance(tcva, TCVA):
            tcva = TCVA(**{"temperature": grid[0], **tcva})
        for temperature in grid:
            check_temperature(temperature, tcva.scoring.bounds)
        if tcva.scoring.temperature not in grid:
            grid.append(tcva.scoring.temperature)
        fused = tuple(map(FusedMethod.parse, self.fuse))
        read = _read(self.samples)
        for note in read.notes:
            self.say(note)
        samples, drawn = self._drawn(read.samples)
        imported = tuple(
            import_scores(
                one,
                samples,
                missing=self.missing,
                scale=self.scale,
                repeated=read.repeated,
            )
            for one in self.imported
        )
        ratings = self._ratings(samples, imported)
        methods, left_out = self._chosen(is_lexical=tcva.judge.is_local)
        for note in [*left_out, *(one.summary for one in imported)]:
            self.say(note)
        plan = _Plan(
            request=self,
            samples=samples,
            digest=_digest_of(samples),
            skipped=tuple(read.bad),
            tcva=tcva,
            temperatures=tuple(grid),
            methods=methods,
            left_out=tuple(left_out),
            imported=imported,
            human=ratings.of_samples,
            raters=ratings.raters,
            groups=None if self.group is None else groups_by_sample(samples, self.group),
            drawn=drawn,
            beside=[Judged.of(each) for each in self.beside],
            fused=fused,
            models=framework_models(tcva.judge),
        )
        plan.check()
        return plan

    def _drawn(self, samples: Sequence[Sample]) -> tuple[Sequence[Sample], str]:
        """The samples that are taken, and what is to be known of it; all, and nothing, by default."""
        if self.stratify is None:
            return samples, ""
        if self.human is None:
            msg = "stratify or --stratify needs human ratings: name their field (human), or labels"
            raise InvalidValueError(msg)
        ratings = self._ratings(samples, ()).of_samples or {}
        values = [ratings.get(sample.id or "", math.nan) for sample in samples]
        found = stratified(values, self.stratify, seed=self.stratify_seed)
        per = ", ".join(map(str, found.drawn))
        note = (
            f"{len(found.places)} of {len(samples)} samples were drawn, spread over the human ratings "
            f"({per} from the lowest fifth to the highest): figures are of this set; on all samples "
            "means differ, and correlations are mostly lower"
        )
        self.say(note)
        return [samples[place] for place in found.places.tolist()], note

    def _ratings(self, samples: Sequence[Sample], imported: Sequence[ImportedScores]) -> Ratings:
        found = Ratings.find(self.human, samples, imported, self.say)
        return found.scaled(self.human_scale)

    def _chosen(self, *, is_lexical: bool) -> tuple[list[Method], list[str]]:
        frameworks = _listed(self.frameworks)
        if frameworks in ([], [NO_FRAMEWORK]):
            return [], []
        metrics = None if self.metrics is None else _listed(self.metrics)
        return choose(frameworks, metrics, is_lexical=is_lexical)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What was read and checked before anything is paid for."""

    request: _Request
    samples: Sequence[Sample]
    digest: str
    skipped: tuple[tuple[int, str], ...]
    tcva: TCVA
    temperatures: tuple[float, ...]
    methods: list[Method]
    left_out: tuple[str, ...]
    imported: tuple[ImportedScores, ...]
    human: Mapping[str, float] | None
    groups: Mapping[str, Hashable] | None
    raters: Mapping[str, Mapping[str, float]]
    fused: tuple[FusedMethod, ...]
    models: Models | None
    drawn: str
    beside: Sequence[Judged]

    @property
    def ours(self) -> list[str]:
        """TCVA's methods: one at each temperature, and one that follows profiles."""
        profiles = self.tcva.profiles
        names = [tcva_name(t) for t in self.temperatures]
        return names if profiles is None else [*names, profile_name(profiles)]

    def check(self) -> None:
        """Refuse what could not be put into one table afterwards, or into statistics.

        Raises:
            InvalidValueError: A name that occurs twice or is unknown; a number out of range; or a
                folder that holds another comparison.
            MissingDependencyError: Human ratings without scipy.
        """
        theirs = [name for one in self.imported for name in one.methods]
        single = [*self.ours, *(method.name for method in self.methods), *theirs]
        for fused in self.fused:
            unknown = next((name for name in fused.members if name not in single), None)
            if unknown is not None:
                text = " + ".join(fused.members)
                msg = f"--fuse {text!r}: no method {unknown!r}; there are {', '.join(single)}"
                raise InvalidValueError(msg)
        names = [*single, *(fused.name for fused in self.fused)]
        twice = next((name for name, number in Counter(names).items() if number > 1), None)
        if twice is not None:
            msg = f"two methods are named {twice!r}; name existing scores with --results NAME=FILE"
            raise InvalidValueError(msg)
        for name, limit in self.request.pass_from.items():
            if name not in names or not math.isfinite(limit):
                msg = (
                    f"pass_from or --pass-from {name!r}={limit:g}; give a finite number for one of "
                    f"{', '.join(names)}"
                )
                raise InvalidValueError(msg)
        self.request.gates.check_names(names)
        self._check_tests()
        whole("n_boot or --bootstrap", self.request.n_boot, least=1)
        if not self.request.timeout > 0.0:
            msg = f"timeout or --timeout {self.request.timeout:g}; give a number of seconds above 0"
            raise InvalidValueError(msg)
        if self.human is not None:
            scipy_module("stats")
        if self.request.folder is not None:
            check_folder(self.request.folder, self.settings, overwrite=self.request.overwrite)

    def _check_tests(self) -> None:
        """Refuse what human ratings are to be compared by where it says nothing.

        Raises:
            InvalidValueError: It does not.
        """
        asked = self.request
        check_measure(asked.objective)
        if asked.equivalence is not None:
            check_margin(asked.equivalence)
            if asked.equivalence >= 1.0:
                msg = (
                    f"equivalence or --equivalence {asked.equivalence:g}: all methods are as good as "
                    "each other up to that; give a difference below 1, e.g. 0.05"
                )
                raise InvalidValueError(msg)
        given = {
            "reference": asked.reference,
            "equivalence": asked.equivalence,
            "objective": None if asked.objective == "spearman" else asked.objective,
            "human-scale": asked.human_scale,
            "group": asked.group if asked.gates.confidence is None else None,
        }
        for name, value in given.items():
            if value is not None and self.human is None:
                msg = (
                    f"{name} or --{name} {value}: methods are tested by their agreement with human "
                    "ratings; give these, too (human, --human, --labels)"
                )
                raise InvalidValueError(msg)
        check_distances(asked.objective, self.human or {})

    @property
    def settings(self) -> dict[str, Any]:
        """What the figures depend on, as JSON values; texts of samples as a digest."""
        request, judge = self.request, self.tcva.judge
        dial = self.tcva.scoring.model_dump(mode="json")
        del dial["temperature"]  # one of the temperatures
        found = {
            "samples": f"{len(self.samples)}, {self.digest}",
            "criterion": self.tcva.criterion.name,
            "judge": judge.name,
            "prompt version": judge.prompt_version,
            "judge's parameters": judge.parameters,
            "additional judges": [
                f"{m.criterion.name} by {m.judge.name}" for m in self.tcva.members
            ],
            "profiles": self.tcva.profiles,
            "temperatures": self.temperatures,
            "metrics": {method.name: method.version for method in self.methods},
            "imported": [
                f"{one.source}: {', '.join(one.methods)}, {_digest_of(one.rows)}"
                for one in self.imported
            ],
            "fused": [fused.name for fused in self.fused],
            "human": request.human.source if isinstance(request.human, Labels) else request.human,
            "human raters": [_digest_of(sorted(each.items())) for each in self.raters.values()],
            "human ratings": None if self.human is None else _digest_of(sorted(self.human.items())),
            "objective": request.objective,
            "reference": request.reference,
            "equivalence": request.equivalence,
            "pass_from": request.pass_from,
            "group": request.group,
            "bootstrap": request.n_boot,
            **dial,
        }
        settings: dict[str, Any] = json.loads(json.dumps(jsonable(found)))
        return settings

    async def judged(self) -> Outcome:
        """Every sample judged once by every method."""
        with _opened(self.request.store, self.tcva) as store:
            tcva = self.tcva.changed(store=store) if self.tcva.store is None else self.tcva
            return await judge_all(
                self.samples,
                tcva,
                self.methods,
                temperatures=self.temperatures,
                store=store,
                models=self.models,
                seconds=self.request.timeout,
                progress=self.request.progress,
            )

    def told(self, outcome: Outcome) -> Comparison:
        """The figures, with a sign of life: ten thousand resamples take a while."""
        with progress_of("statistics", None, self.request.progress):
            return self.comparison(outcome)

    def comparison(self, outcome: Outcome) -> Comparison:
        """The figures; they cost no call."""
        rows = [*outcome.rows, *(row for one in self.imported for row in one.rows)]
        rows, members, left_out = self._fuse(rows)
        table = ScoreTable.of(rows, self.human)
        limits = {method.name: method.threshold for method in self.methods}
        for one in self.imported:
            limits |= one.thresholds
        known = {name: limit for name, limit in limits.items() if name in table.methods}
        known |= self.request.pass_from
        ours, scoring = self.ours, self.tcva.scoring
        known_groups = self.groups
        groups = None if known_groups is None else [known_groups[name] for name in table.samples]
        summary = summarise_table(
            table,
            rows=rows,
            thresholds=known | dict.fromkeys(ours, scoring.threshold),
            views=ours,
            objective=self.request.objective,
            reference=self.request.reference,
            margin=self.request.equivalence,
            n_boot=self.request.n_boot,
            groups=groups,
        )
        if self.drawn:
            summary = replace(summary, notes=(*summary.notes, self.drawn))
        return Comparison(
            tcva=self.tcva,
            temperatures=self.temperatures,
            samples=self.samples,
            outcome=outcome,
            rows=rows,
            table=table,
            summary=summary,
            decisions=decision_view(
                (result.assessment for result in outcome.results),
                table,
                ours=ours,
                scoring=scoring,
                temperatures=self.temperatures,
                thresholds=known,
            ),
            raters=Raters.of(self.raters, table, objective=self.request.objective, groups=groups)
            if self.raters
            else None,
            imported=self.imported,
            members=members,
            gains=gains(
                [fused for fused in self.fused if fused.name in members],
                table,
                n_boot=self.request.n_boot,
                groups=groups,
            ),
            groups=groups,
            left_out=(*self.left_out, *left_out),
            skipped=self.skipped,
            settings=self.settings,
            ways=self._ways(outcome),
            gates=self.request.gates,
            models=self.models,
        )

    def _ways(self, outcome: Outcome) -> tuple[SameSamples, ...]:
        """TCVA at the middle temperature, beside what else was asked for."""
        if not (self.request.ablation or self.beside):
            return ()
        middle = self.temperatures[len(self.temperatures) // 2]
        scoring = self.tcva.scoring.changed(temperature=middle)
        ours = Judged.of(outcome.results).under(scoring.evidence)
        human, known = None, self.groups
        if self.human is not None:
            human = np.array([self.human.get(name, math.nan) for name in ours.names])
        return ways(
            ours,
            scoring,
            human,
            ablation=self.request.ablation,
            beside=self.beside,
            n_boot=self.request.n_boot,
            groups=None if known is None else [known[name] for name in ours.names],
        )

    def _fuse(self, rows: list[Row]) -> tuple[list[Row], dict[str, dict[int, int]], list[str]]:
        """With the rows of fused methods, and how many members stood behind each.

        What cannot be fused (a member on a scale of its own) is left out and said: by then all the
        judgements are paid for.
        """
        members: dict[str, dict[int, int]] = {}
        left_out: list[str] = []
        if not self.fused:
            return rows, members, left_out
        single = ScoreTable.of(rows)
        for fused in self.fused:
            try:
                more, members[fused.name] = fused_rows(fused, single)
            except InvalidValueError as error:
                left_out.append(f"left out {fused.name}: {error}")
                self.request.say(left_out[-1])
            else:
                rows = [*rows, *more]
        return rows, members, left_out


def _read(samples: str | Path | SampleFile | SampleStream | Sequence[Sample]) -> SampleFile:
    """The samples, each with an id of its own."""
    if isinstance(samples, str | Path):
        samples = SampleStream(samples, kept=None)
    if isinstance(samples, SampleStream):
        return read_named(samples)
    return named(samples if isinstance(samples, SampleFile) else SampleFile.of(samples))


def _digest_of(parts: Iterable[Any]) -> str:
    """Eight characters that differ where the parts differ."""
    found = hashlib.sha256(b"[")
    for number, part in enumerate(parts):
        found.update(f"{', ' if number else ''}{part!r}".encode(errors="replace"))
    found.update(b"]")
    return found.hexdigest()[:8]


def _listed(given: str | Sequence[T]) -> list[str] | list[T]:
    """What a text names with commas between, or the parts as they are."""
    if isinstance(given, str):
        return [part.strip() for part in given.split(",") if part.strip()]
    return list(given)


@contextmanager
def _opened(store: VerdictStore | str | Path | None, tcva: TCVA) -> Iterator[VerdictStore]:
    """The store of a run; it is closed after it where it was opened for it."""
    given = tcva.store if store is None else store
    if isinstance(given, VerdictStore):
        yield given
        return
    with VerdictStore(":memory:" if given is None else given) as opened:
        yield opened


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end; in a thread with a loop of its own where a loop is running here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    begun: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = SimpleQueue()

    async def cancellable() -> T:
        begun.put((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(copy_context().run, asyncio.run, cancellable())
        try:
            return done.result()
        except KeyboardInterrupt:
            loop, task = begun.get()
            if task is not None:
                with suppress(RuntimeError):  # it has just ended by itself
                    loop.call_soon_threadsafe(task.cancel)
            raise


def _faces(
    request: Callable[P, _Request],
) -> tuple[Callable[P, Comparison], Callable[P, Coroutine[Any, Any, Comparison]]]:
    """A function that waits for the comparison, and one that is awaited, by the same arguments."""

    @wraps(request, updated=())
    def compare(*args: P.args, **kwargs: P.kwargs) -> Comparison:
        plan = request(*args, **kwargs).plan()
        return plan.told(_finished(plan.judged()))

    @wraps(request, updated=())
    async def acompare(*args: P.args, **kwargs: P.kwargs) -> Comparison:
        plan = request(*args, **kwargs).plan()
        return plan.told(await plan.judged())

    shown = inspect.signature(request).replace(return_annotation=Comparison)
    faces: tuple[Any, ...] = (compare, acompare)
    for face, name in zip(faces, ("compare", "acompare"), strict=True):
        face.__name__ = face.__qualname__ = name
        face.__signature__ = shown  # what help and editors read
    return compare, acompare


compare, acompare = _faces(_Request)
