"""Human ratings: fields of the samples' metadata, or labels that are joined by the samples' ids."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path

import numpy as np

from tcva_adapters.core.aggregation import aggregate
from tcva_adapters.core.temperature import as_temperature
from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError, UnreadableInputError, percent_hint
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.file_formats import original
from tcva_adapters.samples.row_stream import RowStream
from tcva_adapters.samples.sources import quoted_names, unreadable
from tcva_adapters.stats.checks import BoolArray
from tcva_adapters.tables import Record, counted

Scale = tuple[float, float]
"""The lowest and the highest rating (or score) that could be given."""

NEEDS_HUMAN = "needs human ratings; name them with human (--human)"
_GIVE_SCALE = "give their scale: --human-scale 1,5 (in Python human_scale=(1, 5))"
_WORDS = {
    **dict.fromkeys(("pass", "passed", "true", "yes"), 1.0),
    **dict.fromkeys(("fail", "failed", "false", "no"), 0.0),
}
MISSING = {"", "na", "n/a", "nan", "none", "null"}
"""Words that stand for a missing number."""


def names_in(text: str) -> list[str]:
    """Split a text at commas into names.

    >>> names_in("anna, ben,")
    ['anna', 'ben']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def check_scale(name: str, scale: object) -> None:
    """Refuse a scale whose ends are not two finite numbers in order.

    Raises:
        InvalidValueError: It is refused; the message names the setting.
    """
    match scale:
        case (Real() as low, Real() as high):
            if -math.inf < float(low) < float(high) < math.inf:
                return
    raise InvalidValueError(
        f"{name} must be two finite numbers, the lower one first, e.g. (1, 5), got {scale!r}"
    )


def check_unused(why: str, **settings: object) -> None:
    """Refuse settings that would be ignored; those that are None are not given.

    Args:
        why: The reason and the way out, for the message.
        settings: Settings by name.

    Raises:
        InvalidValueError: One of them is given.
    """
    for name, value in settings.items():
        if value is not None:
            raise InvalidValueError(f"{name}={reprlib.repr(value)} {why}")


def on_unit_scale(number: float, scale: Scale) -> float:
    """Map a number of a scale to [0, 1]; on the scale (0, 1) it keeps its last bit.

    >>> on_unit_scale(4.0, (1.0, 5.0))
    0.75
    """
    low, high = scale
    return (number - low) / (high - low)


def parse_rating(value: object) -> float:
    """Parse a rating as a number; nan where there is none.

    Numbers count as they are, true, pass and yes as 1, false, fail and no as 0.

    Raises:
        InvalidValueError: The value is anything else.

    >>> [parse_rating(value) for value in (0.7, "4", True, "Fail", None)]
    [0.7, 4.0, 1.0, 0.0, nan]
    """
    word = str(value).strip().lower()
    if word in MISSING:
        return math.nan
    try:
        number = _WORDS[word] if word in _WORDS else float(word)
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise InvalidValueError(
            f"{value!r} is not a rating; give a number, true or false, pass or fail"
        )
    return number


@dataclass(slots=True)
class Ratings:
    """A source of human ratings, which are read sample by sample.

    Attributes:
        source: The field or the file.
        raters: The fields, one per rater.
        scale: Lowest and highest rating that could be given; they become 0 and 1. None leaves
            ratings as they are.
        labels: Records with the fields, by sample id; None where the samples' metadata holds them.
        temperature: The temperature at which labels of claims make a rating, where the label names
            none; for judgements, their own.
    """

    source: str
    raters: tuple[str, ...]
    scale: Scale | None = None
    labels: Mapping[str, Fields] | None = None
    temperature: float = 0.5
    _matched: set[str] = field(default_factory=set)
    _temperatures: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.scale is not None:
            check_scale("human_scale (--human-scale)", self.scale)

    @classmethod
    def find(
        cls,
        human: str | Path | Fields,
        scale: Scale | None = None,
        temperature: float = 0.5,
    ) -> Ratings:
        """Find ratings in fields of the metadata (``anna,ben``), in a file, or by sample id.

        A file is csv with the columns ``id`` and ``human``, or jsonl with these fields, as the
        report's page exports it; ``FILE::anna,ben`` names other columns, one per rater. Other
        columns are ignored. A sample for which only claims are labelled is rated by these labels; sentences with the
        label null claim nothing.

        Args:
            human: Where the ratings are.
            scale: See `Ratings`.
            temperature: See `Ratings`.

        Raises:
            UnreadableInputError: The file cannot be read, a line has no id or not all of the
                columns, a sample is labelled twice, or no line has a rating.
            InvalidValueError: There is no field, or one twice, or a scale without a lowest and
                highest rating.
        """
        if isinstance(human, Mapping):
            labels = {name: {"human": value} for name, value in human.items()}
            return cls(
                "human ratings",
                ("human",),
                scale,
                labels,
            )
        path, _, columns = str(human).partition("::")
        is_file = bool(columns) or Path(path).expanduser().is_file()
        fields = (columns or "human") if is_file else path
        raters = tuple(names_in(fields))
        if not raters or len(set(raters)) < len(raters):
            raise InvalidValueError(
                f"human ratings in {fields!r}: name one field, or several different ones"
            )
        return cls(
            path,
            raters,
            scale,
            _labels(path, raters) if is_file else None,
            temperature,
        )

    def of_sample(
        self,
        name: str,
        metadata: Fields,
    ) -> list[float]:
        """Read the ratings of a sample, nan where a rater gave none, and record it for `notes`.

        Raises:
            InvalidValueError: A value is no rating, or one lies outside the scale.
        """
        record = self.record(name, metadata)
        try:
            if self.labels is not None and _is_of_claims(record, self.raters):
                temperature = as_temperature(
                    record.get("temperature") or self.temperature
                )
                levels = [
                    claim["verdict"]
                    for claim in record["claims"]
                    if claim["verdict"] is not None
                ]
                if not levels:
                    return [math.nan]  # every sentence claims nothing
                self._temperatures.append(temperature)
                return [
                    aggregate(levels, temperature)
                ]  # on the scale of scores already
            return [
                self.scaled(parse_rating(record.get(rater))) for rater in self.raters
            ]
        except (InvalidValueError, KeyError, TypeError) as error:
            raise InvalidValueError(
                f"sample {name!r}, {self.source}: {error}"
            ) from None

    def record(self, name: str, metadata: Fields) -> Fields:
        """Find the label of a sample, or its metadata, and record it for `notes`."""
        if self.labels is None:
            self._matched.update(metadata)
            return metadata
        label = self.labels.get(name, {})
        if label:
            self._matched.add(name)
        return label

    def notes(self, number: int) -> list[str]:
        """List in sentences what did not match, once all samples are read.

        Args:
            number: The number of samples.

        Raises:
            InvalidValueError: No sample has a rating.
        """
        if self.labels is None:
            for rater in self.raters:
                if rater not in self._matched:
                    known = quoted_names(sorted(self._matched)) or "none"
                    raise InvalidValueError(
                        f"no sample has {rater!r} in its metadata; its fields are {known}"
                    )
            return []
        if not self._matched:
            raise InvalidValueError(
                f"{self.source}: none of its {len(self.labels)} labels has the id of a sample; its "
                f"ids are {quoted_names([*self.labels][:3])}"
            )
        sentences = []
        if self._temperatures:
            different = sorted({*self._temperatures})
            temperatures = ", ".join(f"{number:g}" for number in different)
            ratings = counted(len(self._temperatures), "rating")
            sentences.append(
                f"{ratings} computed from labels of claims at T={temperatures}."
            )
        if unmatched := len(self.labels) - len(self._matched):
            sentences.append(
                f"{unmatched} of {len(self.labels)} labels match no sample."
            )
        if unrated := number - len(self._matched):
            sentences.append(
                f"{unrated} of {counted(number, 'sample')} came without a label."
            )
        return [f"{self.source}: {sentence}" for sentence in sentences]

    def scaled(self, rating: float) -> float:
        """Map a rating to [0, 1]; without a scale it stays as it is.

        Raises:
            InvalidValueError: It lies outside the scale.
        """
        if self.scale is None:
            return rating
        low, high = self.scale
        if not (math.isnan(rating) or low <= rating <= high):
            hint = (
                _GIVE_SCALE
                if self.scale == (0.0, 1.0)
                else "give the scale of these ratings"
            )
            raise InvalidValueError(
                f"the rating must be between {low:g} and {high:g}, got {rating:g}; {hint}"
            )
        return on_unit_scale(rating, self.scale)


def _is_of_claims(record: Fields, raters: Sequence[str]) -> bool:
    return bool(record.get("claims")) and all(
        record.get(rater) is None for rater in raters
    )


def _labels(path: str, raters: Sequence[str]) -> dict[str, Record]:
    """Read the labels of a file by sample id; those without a rating are left out."""
    stream = RowStream(
        path,
        None,
        skip_bad=None,
        read=Record,
    )
    labels = {}
    for record in stream:
        is_of_claims = _is_of_claims(record, raters)
        name = str(record.get("id") or "")
        if stream.kind == "csv":
            name = original(name)
        if not name or not (is_of_claims or {*raters} <= {*record}):
            has = ", ".join(map(str, record)) or "nothing"
            raise unreadable(
                path,
                (
                    f"labels need the columns id and {', '.join(raters)}, got {has}; FILE::COLUMN names "
                    "another column of ratings"
                ),
                line=stream.line,
            )
        if name in labels:
            raise unreadable(
                path, f"{name!r} has two labels; remove one", line=stream.line
            )
        if is_of_claims or any(record[rater] not in (None, "") for rater in raters):
            labels[name] = record
    if not labels:
        raise UnreadableInputError(
            f"{path}: none of its {stream.number} lines has a rating under {', '.join(raters)}"
        )
    return labels


def is_on_scale(values: FloatArray) -> bool:
    """Whether all values that are not nan lie on the scale of scores, [0, 1].

    >>> is_on_scale(np.array([0.0, np.nan, 1.0])), is_on_scale(np.array([4.0, np.nan]))
    (True, False)
    """
    return not ((values < 0.0) | (values > 1.0)).any()


def check_on_scale(human: FloatArray) -> None:
    """Refuse ratings outside [0, 1], with the remedy.

    Raises:
        InvalidValueError: A rating lies outside.
    """
    if not is_on_scale(human):
        low = np.nanmin(human)
        high = np.nanmax(human)
        raise InvalidValueError(
            f"human ratings must be between 0 and 1, got {low:g} to {high:g}; {_GIVE_SCALE}"
        )


def passes_by_rating(ratings: FloatArray, passes_at: float) -> BoolArray:
    """Mark the ratings that pass; a mean of raters may miss what it is on paper by its last bit.

    >>> passes_by_rating(np.array([(0.3 + 0.3 + 0.0) / 3]), 0.2)
    array([ True])
    """
    return np.asarray(ratings >= passes_at - 1e-12)


def passes_from(threshold: float | None, scale: Scale | None) -> float:
    """Map the lowest rating that passes to [0, 1]; by default the middle.

    Raises:
        InvalidValueError: The threshold lies outside the scale.

    >>> passes_from(4, (1, 5)), passes_from(None, None)
    (0.75, 0.5)
    """
    if threshold is None:
        return 0.5
    low, high = scale = scale or (0.0, 1.0)
    if not low <= threshold <= high:
        hint = percent_hint(threshold) if high == 1.0 else ""
        raise InvalidValueError(
            f"human_threshold must be between {low:g} and {high:g}, got {threshold:g}{hint}"
        )
    return on_unit_scale(threshold, scale)
