"""The options for reading sources of scores, and what is found while reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tcva_adapters.compare.scores.imported.rows import ImportSettings
from tcva_adapters.compare.scores.ratings import Ratings, Scale
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.sample import Sample

Held = Literal["all", "scores", "counts"]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Settings for reading sources; see `read_scores`.

    Attributes:
        group: The metadata field, or column, of groups.
        scoring: The settings for judgements; None for those that they were written with.
        samples: The samples that imported scores are about, by id.
        importing: How imported scores are read.
        human_scale: The lowest and the highest rating that could be given.
        skip_bad: Whether unreadable lines are left out; None where that is never offered.
        hold: What is held in memory; see `read_scores`.
        split: The metadata field of systems; each system makes a part of its own.
        of_systems: Whether names are those of systems; then a column ``system`` of tables names
            them, too.
    """

    group: str | None = None
    scoring: ScoringConfig | None = None
    samples: Mapping[str, Sample] | None = None
    importing: ImportSettings = field(default_factory=ImportSettings)
    human_scale: Scale | None = None
    skip_bad: bool | None = False
    hold: Held = "all"
    split: str | None = None
    of_systems: bool = False

    @property
    def holds_ids(self) -> bool:
        """Whether ids and metadata are held; else samples are known by their numbers."""
        return self.hold == "all"


@dataclass(slots=True)
class Reading:
    """The reading of sources: its options, and what is found on the way.

    Attributes:
        options: The settings.
        ratings: Where human ratings are; those of imported scores are found while reading.
        notes: What was left out, in sentences.
        skipped: How many unreadable lines were left out.
    """

    options: ReadingOptions
    ratings: Ratings | None = None
    notes: list[str] = field(default_factory=list)
    skipped: int = 0
