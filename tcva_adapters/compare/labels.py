"""Human ratings in a file of their own, as the report's page exports them, joined to samples by id."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tcva_adapters.compare.ratings import mean_of, parse_rating, rater_names
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.csv_cells import original
from tcva_adapters.samples.records import format_of
from tcva_adapters.samples.rows import collect_rows


@dataclass(frozen=True, slots=True)
class Labels:
    """Ratings by sample id.

    Attributes:
        source: The name of the file.
        ratings: The mean of a sample's raters. Samples that were left open are not in it.
        raters: The ratings of each rater by name, where there are several.
    """

    source: str
    ratings: Mapping[str, float]
    raters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path, columns: str = "human") -> Labels:
        """Read csv with the columns ``id`` and ``human``, or jsonl with these fields.

        Ratings are numbers, pass and fail, or true and false; what is empty is no rating. Other
        columns are left alone.

        Args:
            path: The file.
            columns: The column with the ratings, or several with commas between, one per rater.

        Raises:
            UnreadableInputError: The file cannot be read, a line has no id or no rating that can be
                read, a sample is labelled twice, or there is no rating at all.
        """
        source, names = Path(path).name, rater_names(columns)
        read = partial(_label, columns=names)
        labels, lines, _ = collect_rows(path, None, skip_bad=False, read=read)
        if format_of(path) == "csv":
            labels = [(original(name), rated) for name, rated in labels]
        seen: dict[str, int] = {}
        for (name, _), line in zip(labels, lines, strict=True):
            if name in seen:
                msg = f"{source}, {seen[name]} and {line}: both label the sample {name!r}; leave one out"
                raise UnreadableInputError(msg, line=line)
            seen[name] = line
        raters = {
            rater: {name: rated[place] for name, rated in labels if not math.isnan(rated[place])}
            for place, rater in enumerate(names)
        }
        for rater, found in raters.items():
            if not found:
                msg = f"{source}: none of its {len(labels)} lines has a rating under {rater!r}"
                raise UnreadableInputError(msg)
        return cls(source, mean_of(raters), raters if len(raters) > 1 else {})

    def of(self, names: Iterable[str]) -> dict[str, float]:
        """The ratings of these samples, in their order.

        Raises:
            InvalidValueError: No label is of one of them.

        >>> Labels("labels.csv", {"a": 1.0, "b": 0.0}).of(["b", "c"])
        {'b': 0.0}
        """
        known = list(names)
        found = {name: self.ratings[name] for name in known if name in self.ratings}
        if not found:
            msg = (
                f"{self.source}: none of its {len(self.ratings)} labels is of a sample here; ids "
                f"there are {_some(self.ratings)}, here {_some(known)}"
            )
            raise InvalidValueError(msg)
        return found

    def notes(self, names: Sequence[str]) -> Iterator[str]:
        """What does not fit together, in sentences.

        >>> list(Labels("labels.csv", {"a": 1.0, "b": 0.0}).notes(["b", "c", "d"]))
        ['labels.csv: 1 of 2 labels is of no sample here', 'labels.csv: 2 of 3 samples have no label']
        """
        lost = len(self.ratings.keys() - set(names))
        open_ = sum(name not in self.ratings for name in names)
        if lost:
            verb = "is" if lost == 1 else "are"
            yield f"{self.source}: {lost} of {len(self.ratings)} labels {verb} of no sample here"
        if open_:
            verb = "has" if open_ == 1 else "have"
            yield f"{self.source}: {open_} of {len(names)} samples {verb} no label"


def _label(record: dict[str, Any], *, columns: Sequence[str]) -> tuple[str, list[float]]:
    name = record.get("id")
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name:
        msg = (
            f"no id; a label has id and {', '.join(columns)}, this has "
            f"{', '.join(map(str, record)) or 'nothing'}"
        )
        raise UnreadableInputError(msg)
    if lacking := [column for column in columns if column not in record]:
        msg = f"the label of {name!r} has no {lacking[0]!r}; it has {', '.join(map(str, record))}"
        raise UnreadableInputError(msg)
    try:
        return name, [parse_rating(record[column]) for column in columns]
    except InvalidValueError as error:
        msg = f"the label of {name!r}: {error}"
        raise UnreadableInputError(msg) from None


def _some(names: Iterable[str]) -> str:
    shown = [repr(name) for name, _ in zip(names, range(3), strict=False)]
    return ", ".join(shown) or "none"
