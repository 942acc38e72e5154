"""Human ratings: fields of the samples' metadata, or files of labels that are joined by id."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from tcva_adapters.core.aggregation import aggregate
from tcva_adapters.core.temperature import as_temperature
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.output import original
from tcva_adapters.samples.records import RowStream, format_of
from tcva_adapters.tables import counted

_WORDS: Final = {
    "pass": 1.0,
    "passed": 1.0,
    "true": 1.0,
    "yes": 1.0,
    "fail": 0.0,
    "failed": 0.0,
    "false": 0.0,
    "no": 0.0,
}
MISSING: Final = {"", "na", "n/a", "nan", "none", "null"}
"""Words in the place of a number where there is none."""


def parse_rating(value: Any) -> float:
    """A rating as a number; nan where there is none.

    Numbers count as they are, true, pass and yes as 1, false, fail and no as 0.

    Raises:
        InvalidValueError: Anything else.

    >>> [parse_rating(value) for value in (0.7, "4", True, "Fail", None)]
    [0.7, 4.0, 1.0, 0.0, nan]
    """
    if value is None:
        return math.nan
    if isinstance(value, int | float):
        # A whole number of JSON may be larger than any float.
        number = float(value) if abs(value) <= sys.float_info.max or value != value else math.inf  # noqa: PLR0124  # nan
    else:
        word = str(value).strip().lower()
        if word in MISSING:
            return math.nan
        if word in _WORDS:
            return _WORDS[word]
        try:
            number = float(word)
        except ValueError:
            number = math.inf
    if math.isinf(number):
        msg = f"{value!r} is no rating; ratings are numbers, true and false, or pass and fail"
        raise InvalidValueError(msg)
    return number


def rater_names(columns: str) -> tuple[str, ...]:
    """The fields of human ratings that a text names with commas between, one per rater.

    Raises:
        InvalidValueError: None at all, or one twice.

    >>> rater_names("anna, ben")
    ('anna', 'ben')
    """
    names = tuple(part.strip() for part in columns.split(",") if part.strip())
    if not names or len(set(names)) < len(names):
        msg = f"human ratings in {columns!r}; name one field, or several once each: anna,ben"
        raise InvalidValueError(msg)
    return names


@dataclass(slots=True)
class Ratings:
    """Where human ratings are, and how they are told sample by sample.

    Attributes:
        source: The field or the file.
        raters: One name per rater.
        scale: Lowest and highest rating that could be given; they become 0 and 1. None leaves
            ratings as they are.
        labels: Of a file, by sample id, one rating per rater; None where they are in metadata.
        claims: Of a file, by sample id, the levels of a sample's claims where there is no rating,
            and the temperature at which they make one; None where the file does not say it.
        temperature: Of those; for judgements it is theirs.
    """

    source: str
    raters: tuple[str, ...]
    scale: tuple[float, float] | None = None
    labels: Mapping[str, Sequence[float]] | None = None
    claims: Mapping[str, tuple[Sequence[str], float | None]] = field(default_factory=dict)
    temperature: float = 0.5
    _seen: set[str] = field(default_factory=set)

    @classmethod
    def find(
        cls,
        human: str | Path | Mapping[str, Any],
        scale: tuple[float, float] | None = None,
        temperature: float = 0.5,
    ) -> Ratings:
        """Ratings under fields of the metadata (``anna,ben``), of a file, or by sample id.

        A file is csv with the columns ``id`` and ``human``, or jsonl with these fields, as the
        report's page exports it; ``FILE::anna,ben`` names other columns, one per rater. Other
        columns are left alone. A sample whose claims alone are labelled is rated by these.

        Args:
            human: Where they are.
            scale: See `Ratings`.
            temperature: See `Ratings`.

        Raises:
            UnreadableInputError: The file cannot be read, a line has no id or no rating that can be
                read, a sample is labelled twice, or a rater has no rating at all.
            InvalidValueError: No field, or a scale without a lowest and highest rating.
        """
        if scale is not None and not -math.inf < scale[0] < scale[1] < math.inf:
            msg = f"human_scale={scale!r}; give the lowest and the highest rating, e.g. (1, 5)"
            raise InvalidValueError(msg)
        if isinstance(human, Mapping):
            labels = {name: [parse_rating(value)] for name, value in human.items()}
            return cls("human ratings", ("human",), scale, labels)
        path, _, columns = str(human).partition("::")
        if columns or Path(path).expanduser().is_file():
            raters = rater_names(columns or "human")
            return cls(path, raters, scale, *_labels(path, raters), temperature)
        return cls(str(human), rater_names(str(human)), scale)

    def of(self, name: str, metadata: Mapping[str, Any]) -> list[float]:
        """The ratings of a sample, nan where a rater gave none.

        Raises:
            InvalidValueError: A value is no rating, or one lies outside the scale.
        """
        if name in self.claims:  # on the scale of scores already
            self._seen.add(name)
            levels, at = self.claims[name]
            return [aggregate(levels, self.temperature if at is None else at)]
        if self.labels is not None:
            found = self.labels.get(name)
            if found is None:
                return [math.nan] * len(self.raters)
            self._seen.add(name)
        else:
            try:
                found = [parse_rating(metadata.get(rater)) for rater in self.raters]
            except InvalidValueError as error:
                msg = f"sample {name!r}, {self.source}: {error}"
                raise InvalidValueError(msg) from None
            self._seen.update(metadata)
        return list(found) if self.scale is None else [self._scaled(name, each) for each in found]

    def ended(self, number: int) -> list[str]:
        """What did not fit together, once all samples were seen, in sentences.

        Args:
            number: How many samples there were.

        Raises:
            InvalidValueError: No sample has a rating.
        """
        if self.labels is None:
            if missing := [rater for rater in self.raters if rater not in self._seen]:
                known = ", ".join(map(repr, sorted(self._seen))) or "none"
                msg = f"no sample has {missing[0]!r} in its metadata; the fields there are {known}"
                raise InvalidValueError(msg)
            return []
        ids = [*self.labels, *self.claims]
        if not self._seen:
            msg = (
                f"{self.source}: none of its {len(ids)} labels is of a sample here; ids there are "
                f"{', '.join(map(repr, ids[:3]))}"
            )
            raise InvalidValueError(msg)
        notes = []
        if made := [at for name, (_, at) in self.claims.items() if name in self._seen]:
            temperatures = sorted({self.temperature if at is None else at for at in made})
            what = f"{counted(len(made), 'rating')} made of the labels of claims"
            at_all = ", ".join(f"{at:g}" for at in temperatures)
            notes.append(f"{self.source}: {what}, at T={at_all}")
        lost, open_ = len(ids) - len(self._seen), number - len(self._seen)
        if lost:
            notes.append(f"{self.source}: {lost} of {len(ids)} labels of no sample here")
        if open_:
            notes.append(f"{self.source}: {open_} of {counted(number, 'sample')} without a label")
        return notes

    def _scaled(self, name: str, rating: float) -> float:
        low, high = self.scale or (0.0, 1.0)
        if not (math.isnan(rating) or low <= rating <= high):
            msg = (
                f"the rating of {name!r} is {rating:g}, outside the scale from {low:g} to {high:g}; "
                "name their scale (human_scale, --human-scale)"
            )
            raise InvalidValueError(msg)
        return (rating - low) / (high - low)


def _labels(
    path: str, raters: Sequence[str]
) -> tuple[dict[str, list[float]], dict[str, tuple[list[str], float | None]]]:
    """The ratings of a file by sample id, and the levels of claims of those without one."""
    stream = RowStream(path, None, skip_bad=False, read=partial(_label, raters=raters))
    ratings: dict[str, list[float]] = {}
    claims: dict[str, tuple[list[str], float | None]] = {}
    seen, is_csv = set(), format_of(path) == "csv"
    for name, rated, labelled in stream:
        own = original(name) if is_csv else name
        if own in seen:
            msg = f"{path}, {stream.line}: {own!r} is labelled a second time; leave one out"
            raise UnreadableInputError(msg, line=stream.line)
        seen.add(own)
        if labelled is not None:
            claims[own] = labelled
        elif not all(map(math.isnan, rated)):
            ratings[own] = rated
    for place, rater in enumerate(raters):
        if not claims and all(math.isnan(rated[place]) for rated in ratings.values()):
            msg = f"{path}: none of its {len(seen)} lines has a rating under {rater!r}"
            raise UnreadableInputError(msg)
    return ratings, claims


def _label(
    record: dict[str, Any], *, raters: Sequence[str]
) -> tuple[str, list[float], tuple[list[str], float | None] | None]:
    """A line: whom it is about, the ratings, or else the levels of its claims and their T."""
    name = record.get("id")
    name = str(name) if isinstance(name, int) and not isinstance(name, bool) else name
    own = len(raters) == 1 and record.get(raters[0]) is None and record.get("claims")
    lacking = next((rater for rater in raters if rater not in record and not own), None)
    if not isinstance(name, str) or not name or lacking:
        has = ", ".join(map(str, record)) or "nothing"
        msg = f"a label has id and {', '.join(raters)}, this has {has}"
        raise UnreadableInputError(msg)
    try:
        if own:
            levels, at = [each["verdict"] for each in own], record.get("temperature")
            aggregate(levels)  # which refuses what is no level
            return name, [], (levels, None if at is None else as_temperature(at))
        rated = [parse_rating(record[rater]) for rater in raters]
    except (InvalidValueError, AttributeError, KeyError, TypeError) as error:
        msg = f"the label of {name!r}: {error}"
        raise UnreadableInputError(msg) from None
    return name, rated, None
