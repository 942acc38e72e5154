"""The samples of a table, taken one by one: ids, ratings, groups and metadata."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from tcva_adapters.compare.scores.ratings import Fields, Ratings
from tcva_adapters.compare.scores.table import Numbered, ScoreTable
from tcva_adapters.samples.conversation import add_group, conversation_of
from tcva_adapters.samples.reader import numbered


@dataclass(slots=True, eq=False)
class SampleRows:
    """Collects the rows of a `ScoreTable`.

    Attributes:
        ratings: Where human ratings are; None where nobody asks for them.
        group: The metadata field that names what samples belong to; by default conversations.
        holds_ids: Whether ids and metadata are held; else samples are known by their numbers.
        names: Ids in their order, each once, and how often it came.
        metadata: Of each sample.
        human: Ratings, one per sample and rater, one after the other.
        groups: What each sample belongs to.
        number: How many samples there are.
    """

    ratings: Ratings | None = None
    group: str | None = None
    holds_ids: bool = True
    names: dict[str, int] = field(default_factory=dict)
    metadata: list[Fields] = field(default_factory=list)
    human: array[float] = field(default_factory=lambda: array("d"))
    groups: list[Hashable] = field(default_factory=list)
    number: int = 0

    def add(
        self, name: str | None, metadata: Fields, conversation: str | None = None
    ) -> str:
        """Take one more sample.

        Args:
            name: Its id; by default ``row-N``. One that came before is numbered.
            metadata: Its metadata.
            conversation: The one that it is a turn of, where its id does not say so.

        Returns:
            What the sample is called in the table.
        """
        self.number += 1
        row = f"row-{self.number}"
        called = name or row
        if self.holds_ids:
            row = called = numbered(called, self.names)
            self.metadata.append(metadata)
        if self.ratings is not None:
            self.human.extend(self.ratings.of_sample(called, metadata))
        if self.group is None:
            turn_of = conversation_of(name, metadata) or conversation
            add_group(self.groups, self.number, turn_of)
        else:
            self.groups.append(_group(metadata.get(self.group)))
        return row

    def table(self) -> ScoreTable:
        """The samples as a table without methods."""
        return ScoreTable(
            samples=tuple(self.names) if self.names else Numbered(self.number),
            methods=(),
            scores=np.empty((self.number, 0)),
            human=np.frombuffer(self.human),
            raters=self.ratings.raters if self.ratings and self.human else (),
            groups=tuple(self.groups),
            metadata=self.metadata,
        )


def _group(value: object) -> Hashable:
    """A value of the field of groups; None for what names no group."""
    is_name = isinstance(value, str | int | float) and value != ""
    is_nan = value != value  # noqa: PLR0124  # only nan differs from itself
    return value if is_name and not is_nan else None
