"""What a report shows, wherever it comes from: samples, runs that follow the dial, fixed scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tcva_adapters.compare.grouping import group_note, group_of
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.evidence import under
from tcva_adapters.results.framework_score import FrameworkVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import Profiles, ScoringConfig
from tcva_adapters.samples.sample import Sample

SCALE: Final = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Run:
    """Judgements of one judge under one criterion.

    Attributes:
        name: Unlike those of the other runs.
        assessments: By sample id; a sample that is not in this run is not in here.
        scoring: The settings that the page begins with.
        temperatures: Those that were asked for.
        profiles: Settings that depend on metadata, which the page names and does not apply.
    """

    name: str
    assessments: Mapping[str, Assessment]
    scoring: ScoringConfig
    temperatures: tuple[float, ...] = ()
    profiles: Profiles | None = None

    def result(self, assessment: Assessment) -> Result:
        """One of its judgements at the settings that the page begins with, or at its own profile's."""
        if not self.profiles:
            return Result(assessment, self.scoring)
        return Result(assessment, self.scoring.for_profile(self.profiles, assessment.metadata))

    def seen(self, name: str) -> Assessment:
        """What was judged of a sample, under the settings' view of the evidence."""
        return under(self.assessments[name], self.scoring.evidence)


@dataclass(frozen=True, slots=True)
class Said:
    """What a method said of one sample beside its score.

    Attributes:
        verdicts: Its own, claim by claim.
        reason: In a sentence.
    """

    verdicts: tuple[FrameworkVerdict, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FixedMethod:
    """Scores that no dial changes.

    Attributes:
        name: Unlike those of the other methods.
        scores: By sample id; None where there is none.
        framework: Where they come from: a framework, ``imported``, ``fused``, ``ccrs``, ``tcva``.
        version: The framework with its version; None where that is not known.
        scale: Lowest and highest possible score.
        threshold: A score passes from here on.
        unscored: Why there is no score, by sample id.
        said: What else it said, by sample id.
    """

    name: str
    scores: Mapping[str, float | None]
    framework: str
    version: str | None = None
    scale: tuple[float, float] = SCALE
    threshold: float = 0.5
    unscored: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, Said] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Human:
    """Human ratings.

    Attributes:
        ratings: By sample id.
        name: The field that they stood in; None for a file of labels.
        scale: Lowest and highest rating that could be given; None takes [0, 1], or the lowest and
            highest that were given where one lies outside (0 and it, where all are the same).
    """

    ratings: Mapping[str, float]
    name: str | None = None
    scale: tuple[float, float] | None = None

    def check(self) -> None:
        """Refuse a scale that is not theirs.

        Raises:
            InvalidValueError: A rating lies outside the scale that was named.
        """
        low, high = self.ends
        for name, rating in self.ratings.items():
            if not low <= rating <= high:
                msg = (
                    f"the rating of {name!r} is {rating:g}, outside [{low:g}, {high:g}]; name their "
                    "scale with human_scale=(LOW, HIGH) (--human-scale LOW,HIGH)"
                )
                raise InvalidValueError(msg)

    @property
    def ends(self) -> tuple[float, float]:
        """The scale."""
        if self.scale is not None:
            return self.scale
        low, high = min(self.ratings.values()), max(self.ratings.values())
        if low >= 0.0 and high <= 1.0:
            return SCALE
        return (low, high) if low < high else (min(0.0, low), max(0.0, high))


@dataclass(frozen=True, slots=True)
class Content:
    """Everything that a report shows.

    Attributes:
        title: Of the page.
        sentence: What came out.
        samples: All of them, each with an id of its own; texts that are not known are None.
        runs: What follows the dial.
        methods: What does not.
        human: None without ratings.
        notes: What a reader must know beside the figures, in sentences.
        sections: What commands print, by the name of the view: see `section_of`.
        groups: What each sample belongs to (a document); None where they stand alone.
        group: The metadata field that says so; empty without.
    """

    title: str
    sentence: str = ""
    samples: Sequence[Sample] = ()
    runs: tuple[Run, ...] = ()
    methods: tuple[FixedMethod, ...] = ()
    human: Human | None = None
    notes: tuple[str, ...] = ()
    sections: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    groups: Sequence[Hashable] | None = None
    group: str = ""

    def by_group(self, name: str | None) -> Content:
        """The same with the groups that a metadata field names, and a note of how many there are.

        Raises:
            InvalidSampleError: A sample belongs to none.
            InvalidValueError: It has groups of another field.
        """
        if name is None or name == self.group:
            return self
        if self.group:
            msg = (
                f"this comparison is by {self.group!r}, not by {name!r}; leave --group out, or run it "
                f"again with --group {name}"
            )
            raise InvalidValueError(msg)
        groups = [group_of(sample.metadata, name, sample.id or "") for sample in self.samples]
        said = (
            f"{group_note(groups)}, by {name!r}: on this page intervals of means, pass rates and "
            "changes are about other such groups; rank correlations and labels have none"
        )
        return replace(self, groups=groups, group=name, notes=(*self.notes, said))
