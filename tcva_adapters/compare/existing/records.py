"""What files with existing results are read into, and how their cells are read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn, TypeGuard

from tcva_adapters.compare.rows import Row
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, UnreadableInputError
from tcva_adapters.samples.fields import read_contexts
from tcva_adapters.samples.records import Format

Record = Mapping[str, Any]

SCALE: Final = (0.0, 1.0)
_SHOWN: Final = 40
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read.

    Attributes:
        methods: The columns that are methods; None takes those with nothing but numbers in them.
        human: The column with the human ratings; by default ``human`` or ``human_score``.
        missing: A number that stands for no score.
        scale: The ends of the scale; scores are mapped from there to [0, 1].

    Raises:
        InvalidValueError: A scale whose ends are not in order.
    """

    methods: Sequence[str] | None = None
    human: str | None = None
    missing: float | None = None
    scale: tuple[float, float] = SCALE

    def __post_init__(self) -> None:
        low, high = self.scale
        if not 0.0 < high - low < math.inf:
            msg = f"scale={self.scale!r}; give two finite numbers, the lower one first"
            raise InvalidValueError(msg)

    def score(self, value: Any, where: str) -> float | None:
        """A cell as a score in [0, 1]; None where it is empty, nan, or the number for that.

        Raises:
            UnreadableInputError: No number, or one outside the scale.
        """
        number = number_of(value)
        if number is None:
            msg = f"{where} holds {value!r}, which is no number; leave the cell empty for no score"
            raise UnreadableInputError(msg)
        if math.isnan(number) or number == self.missing:
            return None
        low, high = self.scale
        if not low <= number <= high:
            msg = (
                f"{where} holds {number!r}, outside [{low:g}, {high:g}]; if it stands for a "
                f"missing score, say missing={number:g} (--missing); if the scale is another, say so "
                "with scale=(LOW, HIGH) (--scale LOW,HIGH); if the column holds no scores, name those that do: "
                "PATH::COLUMN,COLUMN"
            )
            raise UnreadableInputError(msg)
        # A score on [0, 1] already stays what it is to the last bit.
        return number if self.scale == SCALE else (number - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Found:
    """What a file says about one sample.

    Attributes:
        line: Line (csv, jsonl), row (parquet) or test case, from 1.
        rows: One per method; their ``sample`` is empty until the sample is known.
        id: The sample's name in the file, where it has one.
        input: The question.
        response: The answer that was judged.
        contexts: Its passages, where they can be read.
        human: The human rating.
        unusable: Why it cannot be about a sample of ours.
        reasons: What methods said of their scores, by method, where the file has that.
    """

    line: int
    rows: tuple[Row, ...]
    id: str | None = None
    input: str | None = None
    response: str | None = None
    contexts: tuple[str, ...] | None = None
    human: float | None = None
    unusable: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its id, or the start of its text."""
        text = " ".join((self.id or self.response or self.input or "no name").split())
        return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


@dataclass(frozen=True, slots=True)
class Existing:
    """What was read from a file, not yet matched to samples.

    Attributes:
        source: The path.
        kind: ``ragas``, ``deepeval``, ``langsmith``, ``scores`` or ``tidy``.
        methods: Names, in the order of the file.
        records: One per row or test case.
        thresholds: By method, where the file has them.
        ignored: Columns that are neither scores nor known.
    """

    source: str
    kind: str
    methods: tuple[str, ...]
    records: tuple[Found, ...]
    thresholds: Mapping[str, float] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def number_of(value: Any) -> float | None:
    """A cell as a float, nan where it is empty; None where it is no number.

    A whole number that is larger than any float is infinite.
    """
    text = value.strip() if isinstance(value, str) else value
    if text is None or text == "":
        return math.nan
    if isinstance(text, bool) or not isinstance(text, int | float | str):
        return None
    try:
        return float(text)
    except OverflowError:
        return math.inf
    except ValueError:
        return None


def text_of(record: Record, names: Iterable[str]) -> str | None:
    """The first of these fields that holds text, or a whole number as ids may be."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if _is_whole(value):
            return str(int(value))
    return None


def _is_whole(value: Any) -> TypeGuard[int | float]:
    return not isinstance(value, bool) and isinstance(value, int | float) and value == value // 1


def passages_of(value: Any) -> tuple[str, ...] | None:
    """Contexts, read as those of samples; None where they cannot be: other columns may tell."""
    try:
        return None if value is None else read_contexts("contexts", value)
    except InvalidSampleError:
        return None


def count_of(value: Any) -> int | None:
    """A cell as a whole number; None where it is none."""
    number = finite_of(value)
    return None if number is None else int(number)


def finite_of(value: Any) -> float | None:
    """A cell as a finite number; None where it is none."""
    number = number_of(value)
    return number if number is not None and math.isfinite(number) else None


def refuse(source: str | Path, error: str) -> NoReturn:
    """Raise the error that names the file.

    Raises:
        UnreadableInputError: Always.
    """
    msg = f"{source}: {error}"
    raise UnreadableInputError(msg)


def format_of(path: str | Path) -> Format:
    """By the content: names of saved results say little.

    Raises:
        UnreadableInputError: There is no such file, or it cannot be read.
    """
    try:
        with Path(path).expanduser().open("rb") as file:
            line = file.readline()
            while line and not line.removeprefix(_BYTE_ORDER_MARK).strip():
                line = file.readline()
            more = any(rest.strip() for rest in file)
    except FileNotFoundError:
        refuse(path, "there is no such file; check the path")
    except IsADirectoryError:
        refuse(path, "this is a folder; name a file in it")
    except (OSError, ValueError) as error:  # a name with a null in it is the latter
        refuse(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    text = line.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"PAR1"):
        return "parquet"
    if not text.startswith((b"{", b"[")):
        return "csv"
    return "jsonl" if more and text.startswith(b"{") and _is_json(text) else "json"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def load_json(path: str | Path) -> Any:
    """A JSON file's content, nan included: DeepEval writes it, which strict JSON has not.

    Raises:
        UnreadableInputError: It is no JSON, or cannot be read.
    """
    try:
        return json.loads(Path(path).expanduser().read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        refuse(path, f"not JSON: {error}")
    except OSError as error:
        refuse(path, f"cannot be read: {error.strerror or error}")
