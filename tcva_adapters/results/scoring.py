"""The settings that turn verdicts into a score, and the scores under them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Literal, Self, Unpack

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    DEFAULT_FLOOR,
    DEFAULT_PENALTY,
    Floor,
    Penalty,
    Plan,
    ScoreOptions,
    check_eps,
    check_floored,
    make_plan,
    score_curves,
    score_of,
    scores_of,
)
from tcva_adapters.core.panel import fuse
from tcva_adapters.core.temperature import (
    BALANCED,
    PAPER_BOUNDS,
    Bounds,
    as_temperature,
)
from tcva_adapters.core.verdicts import FloatArray, Verdict, WeightScheme
from tcva_adapters.results.evidence import DEFAULT_EVIDENCE, Evidence
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.settings_base import (
    ClaimThreshold,
    NonNegative,
    Profiles,
    SettingsModel,
    Share,
    as_bounds,
    as_scheme,
    as_scores_by_reason,
)
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json

Uncontexted = Literal["skip", "fail", "earlier"]

SERVING = ("claim_threshold", "max_removed", "citations", "require_citations")
"""The settings that no score depends on: they choose what is served, and how marks are read."""


def _as_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"must be a regular expression ({error})") from None
    return text


class PlanOptions(ScoreOptions):
    """The options of `aggregate`, with the bounds of temperature and exponent."""

    bounds: Bounds


class ScoringConfig(SettingsModel):
    """The settings of a score, which cost no call and can change after judging.

    ``eps`` and ``floor`` must fit each other at every temperature, since flips, sweeps and reports
    use the whole range.

    >>> ScoringConfig(temperature="strict").temperature
    0.2
    """

    temperature: Annotated[float, BeforeValidator(as_temperature)] = Field(
        default=BALANCED,
        title="T",
        description="Strictness of the score, from 0.1 (strictest) to 1.0 (most lenient); or strict, "
        "balanced, lenient. Not the model's sampling temperature.",
    )
    threshold: Share = Field(
        default=0.5, description="A sample passes with at least this score, in [0, 1]."
    )
    scheme: Annotated[WeightScheme, BeforeValidator(as_scheme)] = Field(
        default=WeightScheme.DEFAULT,
        description="Weights of the five levels: default, linear, aggressive, conservative, or "
        "five numbers.",
    )
    penalty: Penalty = Field(
        default=DEFAULT_PENALTY,
        description="How none verdicts are penalised: paper, ramped, absolute or off.",
    )
    eps: Annotated[float, BeforeValidator(check_eps)] = Field(
        default=DEFAULT_EPS,
        description="Least weight of a level in the mean; more than 1e-9 needs floor=always.",
    )
    floor: Floor = Field(
        default=DEFAULT_FLOOR,
        description="Where eps applies: paper (at exponents up to 0), or always.",
    )
    bounds: Annotated[Bounds, BeforeValidator(as_bounds)] = Field(
        default=PAPER_BOUNDS,
        title="p",
        description="Exponents of the power mean at the lowest and the highest temperature.",
    )
    evidence: Evidence = Field(
        default=DEFAULT_EVIDENCE,
        description="The evidence check: lower (a fully or mostly without a valid quote counts as "
        "partial) or off (it counts as it is).",
    )
    on_unscored: Annotated[
        float | Mapping[str, float] | None, BeforeValidator(as_scores_by_reason)
    ] = Field(
        default=None,
        description="Score of samples that have none (a refusal, an empty context): a number, or "
        "numbers by reason, e.g. refusal=1,empty_context=0. Failed calls never get a score.",
    )
    uncontexted: Uncontexted | None = Field(
        default=None,
        description="Answers that claim something without contexts: skip (no score), fail (they do "
        "not pass, nor does their conversation) or earlier (contexts of earlier turns count). By "
        "default skip, and fail in gates.",
    )
    claim_threshold: ClaimThreshold = Field(
        default=Verdict.PARTIAL,
        repr=False,
        description="A claim counts as supported, and stays in the answer that is served, with at least the "
        "weight of this level; or a weight in [0, 1].",
    )
    max_removed: Share = Field(
        default=1.0,
        repr=False,
        description="The largest share of an answer's claims that may be cut, in [0, 1]; if more would "
        "go, the whole answer is refused.",
    )
    citations: Annotated[str, AfterValidator(_as_pattern)] = Field(
        default="",
        repr=False,
        description="A regular expression for marks that cite passages, in place of [1], [2-4], [^1], ¹ and so on; "
        "its first group, or else the whole match, has the number or id.",
    )
    require_citations: bool = Field(
        default=False,
        repr=False,
        description="In what is served, a claim counts as unsupported if a mark in it names no passage, or "
        "only passages other than those with its quote.",
    )
    fuse_weights: tuple[NonNegative, ...] | None = Field(
        default=None,
        strict=False,
        description="Weights of the judges in the fused score, the main judge first.",
    )

    # Not typed like the fields, since presets are given by name.
    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        check_floored(self.eps, self.floor, self.bounds.p_max)
        if self.fuse_weights is not None:
            fuse(np.ones((1, len(self.fuse_weights))), weights=self.fuse_weights)
        _ = self.plan  # refuses a temperature outside the bounds
        return self

    @model_serializer(mode="wrap")
    def _as_in_files(self, dump: SerializerFunctionWrapHandler) -> Json:
        """Leave out the settings that choose what is served where they are the default."""
        plain: Json = dump(self)
        return {
            name: value
            for name, value in plain.items()
            if name not in SERVING or value != self.default(name)
        }

    def __hash__(self) -> int:  # not of all fields: scores by reason are a mapping
        return hash(self.temperature)

    def for_unscored(self, reason: Reason) -> float | None:
        """The score that ``on_unscored`` gives a sample without one of its own.

        A number for all reasons does not count where ``uncontexted="fail"`` closes the answer.

        >>> ScoringConfig(on_unscored={"refusal": 1.0}).for_unscored(Reason.REFUSAL)
        1.0
        """
        if isinstance(self.on_unscored, Mapping):
            return self.on_unscored.get(reason)
        if reason.is_failure or self.closes(reason):
            return None
        return self.on_unscored

    @property
    def least_weight(self) -> float:
        """The least weight of a claim that counts as supported.

        >>> ScoringConfig(claim_threshold="mostly").least_weight
        0.9
        """
        threshold = self.claim_threshold
        if isinstance(threshold, Verdict):
            return self.scheme.weight(threshold)
        return threshold

    def closes(self, reason: Reason) -> bool:
        """Whether answers that have no score for this reason do not pass."""
        return reason is Reason.EMPTY_CONTEXT and self.uncontexted == "fail"

    @property
    def plan(self) -> Plan:
        """The plan with which scores at this temperature are computed."""
        return _plan(self.temperature, **self.options)

    @property
    def place(self) -> str:
        """The temperature in words, with exponents and evidence check where they are not the default.

        >>> ScoringConfig(evidence="off", bounds=Bounds(p_min=-4)).place
        'T=0.5, p=-4..12.25, evidence off'
        """
        parts = [f"T={self.temperature:g}"]
        if self.bounds != PAPER_BOUNDS:
            parts.append(f"p={self.bounds.short_name}")
        if self.evidence != DEFAULT_EVIDENCE:
            parts.append(f"evidence {self.evidence}")
        return ", ".join(parts)

    @property
    def options(self) -> PlanOptions:
        """The keyword arguments of `aggregate`, `aggregate_counts` and `flip_temperature`."""
        return PlanOptions(
            scheme=self.scheme,
            penalty=self.penalty,
            eps=self.eps,
            floor=self.floor,
            bounds=self.bounds,
        )

    def scores(self, counts: FloatArray) -> FloatArray:
        """The scores of rows of five level counts; nan where all are 0."""
        return scores_of(counts, self.plan)[:, 0]

    def single(self, by_judge: Sequence[tuple[float, ...]]) -> float:
        """The score of one sample from the level counts of each judge, the main one first."""
        plan = self.plan
        scores = [_score(counts, plan) for counts in by_judge]
        return float(self.fuse_scores(np.array([scores]).T)[0])

    def curve(self, counts: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """A sample's score as a function of temperatures, whatever the temperature here is.

        Args:
            counts: Its level counts, shape (J, 5), with a row for each judge, the main one first.

        Returns:
            A function from temperatures within the bounds, shape (T,), to as many scores; nan
            throughout where the main judge has no verdicts.

        >>> ScoringConfig().curve(np.array([[1.0, 1, 1, 0, 0]]))(np.array([0.1, 0.5])).round(3)
        array([0.786, 0.867])
        """
        by_judge = score_curves(counts, **self.options)
        return lambda temperatures: self.fuse_scores(by_judge(temperatures))

    def fuse_scores(self, by_judge: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """Fuse judges' scores by their geometric mean; missing ones of additional judges are left out.

        Args:
            by_judge: Arrays of one shape, the main judge's first; nan where a judge has no score.

        Returns:
            An array of the same shape; nan wherever the main judge has no score.

        >>> scores = [np.array([0.9, 0.9, np.nan]), np.array([0.4, np.nan, 1.0])]
        >>> ScoringConfig().fuse_scores(scores).round(3)
        array([0.6, 0.9, nan])
        """
        main = by_judge[0]
        if len(by_judge) == 1:
            return main
        table = np.stack([scores.ravel() for scores in by_judge], axis=1)
        fused = fuse(table, weights=self.fuse_weights).scores
        return np.where(np.isnan(main), np.nan, fused.reshape(main.shape))

    def for_profile(self, profiles: Profiles | None, metadata: Fields) -> ScoringConfig:
        """The settings for a sample with this metadata.

        >>> profiles = {"domain": {"medical": 0.2}}
        >>> ScoringConfig().for_profile(profiles, {"domain": "medical"}).temperature
        0.2
        """
        for field, temperatures in (profiles or {}).items():
            value = metadata.get(field)
            if value is not None and str(value) in temperatures:
                return self.changed(temperature=temperatures[str(value)])
        return self


@lru_cache(maxsize=256)  # few settings, and a score for each of many samples
def _plan(temperature: float, **options: Unpack[PlanOptions]) -> Plan:
    return make_plan([temperature], **options)


# Samples have few claims: the same counts come again and again.
_score = lru_cache(maxsize=4096)(score_of)
