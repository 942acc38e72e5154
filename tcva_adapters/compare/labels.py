"""Human ratings in a file of their own, as the report's page exports them, joined to samples by id."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tcva_adapters.compare.ratings import mean_of, parse_rating, rater_names
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.output import original
from tcva_adapters.samples.records import RowStream, format_of


class Draw(NamedTuple):
    """How a sample was chosen to be rated.

    Attributes:
        inclusion: The chance with which it was, in (0, 1].
        round: In which choice, from 0 up; 0 is what was rated before the first one.
    """

    inclusion: float
    round: int


@dataclass(frozen=True, slots=True)
class Labels:
    """Ratings by sample id.

    Attributes:
        source: The name of the file, or of several.
        ratings: The mean of a sample's raters. Samples that were left open are not in it.
        raters: The ratings of each rater by name, where there are several.
        draws: Of samples that were chosen to be rated, how; the open ones, too.
    """

    source: str
    ratings: Mapping[str, float]
    raters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    draws: Mapping[str, Draw] = field(default_factory=dict)

    @classmethod
    def read(cls, *paths: str | Path, columns: str = "human") -> Labels:
        """Read csv with the columns ``id`` and ``human``, or jsonl with these fields.

        Ratings are numbers, pass and fail, or true and false; what is empty is no rating. What
        ``tcva estimate --next`` wrote has ``inclusion`` and ``round`` as well. Other columns are
        left alone. Of several files one may have what another one leaves open: the draw, and the
        ratings of its samples that a report's page exported.

        Args:
            paths: One file or several.
            columns: The column with the ratings, or several with commas between, one per rater.

        Raises:
            UnreadableInputError: A file cannot be read, a line has no id or no rating that can be
                read, a sample is labelled twice, or a rater has no rating at all.
        """
        names = rater_names(columns)
        read = [(Path(path).name, _rows_of(path, names)) for path in paths]
        source = ", ".join(name for name, _ in read)
        raters: dict[str, dict[str, float]] = {rater: {} for rater in names}
        draws: dict[str, Draw] = {}
        for file, labels in read:
            for name, rated, draw in labels:
                if draw is not None and draws.setdefault(name, draw) != draw:
                    msg = (
                        f"{file} says that {name!r} was chosen with the chance {draw.inclusion:g} in "
                        f"round {draw.round}, another file {draws[name].inclusion:g} in round "
                        f"{draws[name].round}; the file of the last round has all of them: leave "
                        "the earlier ones out"
                    )
                    raise UnreadableInputError(msg)
                for known, rating in zip(raters.values(), rated, strict=True):
                    if math.isnan(rating) or known.setdefault(name, rating) == rating:
                        continue
                    msg = f"{file} rates {name!r} {rating:g}, another file {known[name]:g}; leave one out"
                    raise UnreadableInputError(msg)
        for rater, found in raters.items():
            if not found:
                number = sum(len(labels) for _, labels in read)
                msg = f"{source}: none of its {number} lines has a rating under {rater!r}"
                raise UnreadableInputError(msg)
        return cls(source, mean_of(raters), raters if len(raters) > 1 else {}, draws)

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
        yield from self.lost(names)
        open_ = sum(name not in self.ratings for name in names)
        if open_:
            verb = "has" if open_ == 1 else "have"
            yield f"{self.source}: {open_} of {len(names)} samples {verb} no label"

    def lost(self, names: Iterable[str]) -> Iterator[str]:
        """How many labels are of no sample, in a sentence, if any are."""
        if lost := len(self.ratings.keys() - set(names)):
            verb = "is" if lost == 1 else "are"
            yield f"{self.source}: {lost} of {len(self.ratings)} labels {verb} of no sample here"


def source_of(human: object) -> str:
    """Where human ratings are, in words: a field, a file of labels, or just what they are.

    >>> source_of("score"), source_of(Labels("labels.csv", {"a": 1.0})), source_of([0.5, 1.0])
    ('score', 'labels.csv', 'human ratings')
    """
    if isinstance(human, Labels):
        return human.source
    return human if isinstance(human, str) else "human ratings"


_Label = tuple[str, list[float], Draw | None]


def _rows_of(path: str | Path, columns: Sequence[str]) -> list[_Label]:
    source = Path(path).name
    labels, lines = RowStream(
        path, None, skip_bad=False, read=partial(_label, columns=columns)
    ).collected()
    if format_of(path) == "csv":
        labels = [(original(name), rated, draw) for name, rated, draw in labels]
    seen: dict[str, int] = {}
    for (name, *_), line in zip(labels, lines, strict=True):
        if name in seen:
            msg = (
                f"{source}, {seen[name]} and {line}: both label the sample {name!r}; leave one out"
            )
            raise UnreadableInputError(msg, line=line)
        seen[name] = line
    return labels


def _label(record: dict[str, Any], *, columns: Sequence[str]) -> _Label:
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
        has = ", ".join(map(str, record))
        msg = (
            f"the label of {name!r} has no {lacking[0]!r}; it has {has}; name the columns of ratings "
            "(--human)"
        )
        raise UnreadableInputError(msg)
    try:
        return name, [parse_rating(record[column]) for column in columns], _draw(record)
    except InvalidValueError as error:
        msg = f"the label of {name!r}: {error}"
        raise UnreadableInputError(msg) from None


def _draw(record: Mapping[str, Any]) -> Draw | None:
    """How the sample was chosen; None where the file does not say it.

    Raises:
        InvalidValueError: A chance outside (0, 1], or a round that is no whole number.
    """
    chance, number = parse_rating(record.get("inclusion")), parse_rating(record.get("round"))
    if math.isnan(chance):
        return None
    if not 0.0 < chance <= 1.0:
        msg = f"inclusion {chance:g} is no chance; it lies above 0 and is at most 1"
        raise InvalidValueError(msg)
    number = 1.0 if math.isnan(number) else number
    if number < 0 or number != int(number):
        msg = f"round {number:g} is none; rounds are whole numbers from 0 up"
        raise InvalidValueError(msg)
    return Draw(chance, int(number))


def _some(names: Iterable[str]) -> str:
    shown = [repr(name) for name, _ in zip(names, range(3), strict=False)]
    return ", ".join(shown) or "none"
