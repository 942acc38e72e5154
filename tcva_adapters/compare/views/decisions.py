"""Pass or fail under TCVA against pass or fail under other methods, and from which T they agree.

Nothing here calls a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.rows import ScoreTable
from tcva_adapters.compare.views.crosstab import Crosstab
from tcva_adapters.compare.views.spans import Best, Spans, best, outside, passing
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.counted import judged_counts
from tcva_adapters.results.result import Result, ScoringConfig

THRESHOLD: Final = 0.5
"""Of a method that has no threshold of its own."""


@dataclass(frozen=True, slots=True)
class AtTemperature:
    """Our decisions at one temperature against another method's.

    Attributes:
        temperature: Ours.
        counts: First is ours, second the other method.
        only_ours: Ids of samples that pass under ours and fail under the other.
        only_theirs: Ids of samples that fail under ours and pass under the other.
    """

    temperature: float
    counts: Crosstab
    only_ours: tuple[str, ...]
    only_theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleDecision:
    """What another method decides about one sample, and where ours says the same.

    Attributes:
        sample: The sample's id.
        score: The other method's.
        passes: Its decision.
        flip: The temperature from which on ours passes for good; None where it never does.
        agrees: The temperatures at which ours decides the same; empty where there is none.
    """

    sample: str
    score: float
    passes: bool
    flip: float | None
    agrees: Spans


@dataclass(frozen=True, slots=True)
class MethodDecisions:
    """Ours against one other method, on the samples that both have scored.

    Attributes:
        method: The other method.
        threshold: A score of the other method passes from here on.
        samples: One entry per sample that both have scored.
        unscored_ours: Ids of samples that the other method alone has scored.
        unscored_theirs: Ids of samples that ours alone has scored.
        at: One entry per temperature asked for.
        best: Where ours agrees with the other method most often; None without samples.
    """

    method: str
    threshold: float
    samples: tuple[SampleDecision, ...]
    unscored_ours: tuple[str, ...]
    unscored_theirs: tuple[str, ...]
    at: tuple[AtTemperature, ...]
    best: Best | None


@dataclass(frozen=True, slots=True)
class DecisionView:
    """Ours against every other method.

    Attributes:
        threshold: A score of ours passes from here on.
        temperatures: Those asked for.
        lowest: The low end of the temperature's scale.
        total: Samples in the table.
        methods: One entry per other method.
        best: Where ours agrees most often, all methods' decisions counted together; None where
            there are none.
    """

    threshold: float
    temperatures: tuple[float, ...]
    lowest: float
    total: int
    methods: tuple[MethodDecisions, ...]
    best: Best | None

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it; crosstabs with their agreement and kappa."""
        whole: dict[str, Any] = jsonable(self)
        for entry, method in zip(whole["methods"], self.methods, strict=True):
            for counted, at in zip(entry["at"], method.at, strict=True):
                counted["counts"] = at.counts.to_dict()
        return whole


def decision_view(
    assessments: Mapping[str, Assessment] | Iterable[Assessment],
    table: ScoreTable,
    *,
    ours: Sequence[str] = (),
    scoring: ScoringConfig | None = None,
    temperatures: Sequence[float | str] | None = None,
    thresholds: Mapping[str, float] | None = None,
) -> DecisionView:
    """Which samples pass under one and fail under the other, and from which T ours would agree.

    A sample passes under ours from its flip temperature on. So ours agrees with a pass of another
    method from there on, and with a fail of it below. (`spans.passing` says where a sample also
    passes in a second range.) Counted over the samples this is a step function of the temperature,
    whose edges are the flip temperatures themselves: the best range is exact.

    Args:
        assessments: Ours, by sample id; or those whose ``sample_id`` fits the table, one after the
            other, of which none is held.
        table: The methods' scores. Samples without an assessment count as unscored by ours.
        ours: Columns that are left out, as they are views of the same assessments.
        scoring: Our settings, threshold included.
        temperatures: Where decisions are listed; by default that of ``scoring``.
        thresholds: Of the other methods; 0.5 where none is given.

    Raises:
        InvalidValueError: An unknown method or temperature; two assessments for one sample.
    """
    scoring = scoring or ScoringConfig()
    asked = [scoring.temperature] if temperatures is None else temperatures
    grid = tuple(check_temperature(t, scoring.bounds) for t in asked)
    limits = resolve_thresholds(table.methods, thresholds, others_too=True)
    for name in ours:
        table.column(name)  # refuses a name that is not there
    spans = _passing(_named(assessments), table, scoring)
    methods = tuple(
        _against(name, table, limits[name], spans, scoring, grid)
        for name in table.methods
        if name not in ours
    )
    everything = [sample.agrees for method in methods for sample in method.samples]
    overall = best(everything, scoring.bounds, scoring.temperature) if everything else None
    return DecisionView(
        scoring.threshold, grid, scoring.bounds.t_min, len(table.samples), methods, overall
    )


def resolve_thresholds(
    methods: Sequence[str], given: Mapping[str, float] | None, *, others_too: bool = False
) -> dict[str, float]:
    """A threshold per method: the given one, or 0.5.

    Args:
        methods: All of them.
        given: By name.
        others_too: Names that are no methods are let pass (a method that scored nothing).

    Raises:
        InvalidValueError: A name that is no method, or a threshold that is not finite.
    """
    given = given or {}
    unknown = [] if others_too else [name for name in given if name not in methods]
    if unknown:
        msg = f"a threshold for {unknown[0]!r}, which is no method; there are {', '.join(methods)}"
        raise InvalidValueError(msg)
    for name, value in given.items():
        if not np.isfinite(value):
            msg = f"the threshold of {name!r} is {value!r}; give a number"
            raise InvalidValueError(msg)
    return {name: float(given.get(name, THRESHOLD)) for name in methods}


def _named(
    assessments: Mapping[str, Assessment] | Iterable[Assessment],
) -> Iterator[tuple[str, Assessment]]:
    """Ours with their samples' ids, each once."""
    if isinstance(assessments, Mapping):
        yield from assessments.items()
        return
    seen = set[str]()
    for assessment in assessments:
        sample = assessment.sample_id
        if sample is None or sample in seen:
            which = "no id" if sample is None else f"the id {sample!r}, as has another"
            msg = f"an assessment has {which}; pass a mapping by the table's sample ids"
            raise InvalidValueError(msg)
        seen.add(sample)
        yield sample, assessment


def _passing(
    assessments: Iterable[tuple[str, Assessment]], table: ScoreTable, scoring: ScoringConfig
) -> dict[str, Spans]:
    """Where each sample with a score of ours passes, in the order of the table.

    Samples with the same counts by all judges share the search, and what it found.
    """
    searched: dict[bytes, Spans] = {}
    found: dict[str, Spans] = {}
    known = set(table.samples)
    for sample, assessment in assessments:
        result = Result(assessment, scoring)
        if sample not in known or result.score is None:
            continue
        counts = b"" if result.unscored else judged_counts([result.seen]).tobytes()
        if counts not in searched:
            searched[counts] = passing(result)
        found[sample] = searched[counts]
    return {sample: found[sample] for sample in table.samples if sample in found}


def _against(
    name: str,
    table: ScoreTable,
    threshold: float,
    spans: Mapping[str, Spans],
    scoring: ScoringConfig,
    grid: Sequence[float],
) -> MethodDecisions:
    theirs = dict(zip(table.samples, table.column(name).tolist(), strict=True))
    scored = {sample: score for sample, score in theirs.items() if np.isfinite(score)}
    shared = [sample for sample in scored if sample in spans]
    others: dict[Spans, Spans] = {}
    decisions = []
    for sample in shared:
        passes, agrees = scored[sample] >= threshold, spans[sample]
        flip = next((span.start for span in agrees if span.end is None), None)
        if not passes:
            if agrees not in others:
                others[agrees] = outside(agrees, scoring.bounds)
            agrees = others[agrees]
        decisions.append(SampleDecision(sample, scored[sample], passes, flip, agrees))
    where = None
    if shared:
        where = best([d.agrees for d in decisions], scoring.bounds, scoring.temperature)
    return MethodDecisions(
        method=name,
        threshold=threshold,
        samples=tuple(decisions),
        unscored_ours=tuple(sample for sample in scored if sample not in spans),
        unscored_theirs=tuple(sample for sample in spans if sample not in scored),
        at=tuple(_at(t, decisions, spans) for t in grid),
        best=where,
    )


def _at(
    temperature: float, decisions: Sequence[SampleDecision], spans: Mapping[str, Spans]
) -> AtTemperature:
    ours = np.array([any(temperature in s for s in spans[d.sample]) for d in decisions], dtype=bool)
    theirs = np.array([d.passes for d in decisions], dtype=bool)
    names = [d.sample for d in decisions]
    return AtTemperature(
        temperature=temperature,
        counts=Crosstab.of(ours, theirs),
        only_ours=tuple(names[i] for i in np.flatnonzero(ours & ~theirs)),
        only_theirs=tuple(names[i] for i in np.flatnonzero(~ours & theirs)),
    )
