"""The folder of verdicts and scores that the paper's authors publish, read as arrays.

A set ``NAME`` is up to four JSON files, each a list of records with an ``id``:
``NAME_prepared.json`` (the samples), ``NAME_tcva_scores.json`` (verdicts and stored scores),
``NAME_ragas_scores.json`` and ``NAME_deepeval_scores.json``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from tcva_adapters.core.aggregation import check_counts
from tcva_adapters.core.temperature import check_temperature
from tcva_adapters.core.verdicts import LEVELS, FloatArray, count_levels
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.samples.records import unreadable, whole_text
from tcva_adapters.samples.sample import Sample

_PREPARED: Final = "_prepared.json"
_TCVA: Final = "_tcva_scores.json"
_FRAMEWORKS: Final = {method: f"_{method}_scores.json" for method in ("ragas", "deepeval")}
_ENDINGS: Final = (_PREPARED, _TCVA, *_FRAMEWORKS.values())
_LAYOUT: Final = f"a folder of NAME{_PREPARED}, NAME{_TCVA} and so on"
_FAILED: Final = -1.0
_SLACK: Final = 1e-9  # sums of floats end a hair outside [0, 1]

Record = dict[str, Any]
Records = dict[str, Record]


@dataclass(frozen=True)
class PaperSet:
    """One data set: human ratings, TCVA's verdicts and the other methods' scores, by sample.

    Attributes:
        name: What its files are called.
        ids: The N samples, each once.
        human: Shape (N,), in [0, 1]; nan where nobody judged.
        counts: Shape (N, 5), how often each level occurs, fully first; a row of zeros where there
            are no verdicts or the sample is marked as failed (-1). None without a file of verdicts.
        stored: Stored TCVA scores by temperature, shape (N,) each, rounded to 4 decimals by whoever
            stored them; nan where none is stored.
        framework_scores: Scores of ``ragas`` and ``deepeval`` where there are files; nan where unscored.
        samples: The N samples, None where the prepared file lacks one. None without that file.
        notes: What was missing or did not match, one sentence each.

    Raises:
        InvalidValueError: An id twice, or an array of another length than ``ids``.
    """

    name: str
    ids: tuple[str, ...]
    human: FloatArray
    counts: FloatArray | None = None
    stored: Mapping[float, FloatArray] = field(default_factory=dict)
    framework_scores: Mapping[str, FloatArray] = field(default_factory=dict)
    samples: tuple[Sample | None, ...] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        size = len(self.ids)
        if len(set(self.ids)) < size:
            twice = next(name for name in self.ids if self.ids.count(name) > 1)
            msg = f"set {self.name!r} has the id {twice!r} twice; each sample occurs once"
            raise InvalidValueError(msg)
        if self.counts is not None:
            check_counts(self.counts)
        columns: dict[str, Sized | None] = {"human": self.human, "counts": self.counts}
        columns |= {"samples": self.samples, **self.framework_scores}
        columns |= {f"stored T={t:g}": scores for t, scores in self.stored.items()}
        for what, column in columns.items():
            if column is not None and len(column) != size:
                msg = f"set {self.name!r}: {what} has {len(column)} entries for {size} samples"
                raise InvalidValueError(msg)


def read_folder(folder: str | Path) -> list[PaperSet]:
    """All sets in a folder, by name. Records are joined by id, whatever their order.

    Raises:
        UnreadableInputError: No such folder, no set in it, or a file that does not hold what its
            name says: broken JSON, an id twice, a score outside its range, files of one set
            without one id in common, or with different human scores of one sample.
    """
    root = Path(folder).expanduser()
    if not root.is_dir():
        what = "is a file" if root.exists() else "does not exist"
        raise unreadable(folder, f"it {what}; give {_LAYOUT}")
    names = {
        ending: {path.name.removesuffix(ending) for path in root.glob(f"?*{ending}")}
        for ending in _ENDINGS
    }
    if not any(names[ending] for ending in _ENDINGS if ending != _PREPARED):
        raise unreadable(folder, f"no scores in it: no file is called NAME{_TCVA}; give {_LAYOUT}")
    return [read_set(root, name) for name in sorted(set().union(*names.values()))]


def read_set(folder: Path, name: str) -> PaperSet:
    """One set of a folder; files that are not there are left out and noted.

    Raises:
        UnreadableInputError: As for `read_folder`.
    """
    files = {ending: folder / f"{name}{ending}" for ending in _ENDINGS}
    tables = {ending: _load(path) for ending, path in files.items() if path.exists()}
    notes = [f"there is no {files[e].name}" for e in _ENDINGS if e not in tables]
    if not tables:
        raise unreadable(folder, f"there is no set {name!r}: no file is called {name}{_TCVA}")
    ids = tuple(dict.fromkeys(key for table in tables.values() for key in table))
    first = next(iter(tables))
    for ending, table in tables.items():
        if not table.keys() & tables[first].keys():
            stranger = f"such as {next(iter(table))!r}; are they of one set?"
            raise unreadable(files[ending], f"no id in common with {files[first].name}, {stranger}")
        lacking = len(ids) - len(table)
        if lacking:
            notes.append(
                f"{files[ending].name} lacks {lacking} of the {len(ids)} ids; they are "
                "unscored in its rows"
            )
    human = _human(ids, {files[e]: table for e, table in tables.items()})
    if np.isnan(human).any():
        notes.append(f"{int(np.isnan(human).sum())} samples have no human score; they are left out")
    fields: dict[str, Any] = {}
    if _TCVA in tables:
        fields |= _verdicts(ids, tables[_TCVA], files[_TCVA])
    if _PREPARED in tables:
        fields["samples"] = _samples(ids, tables[_PREPARED], files[_PREPARED])
    others = {
        method: _column(ids, tables[ending], f"{method}_score", files[ending])
        for method, ending in _FRAMEWORKS.items()
        if ending in tables
    }
    return PaperSet(name, ids, human, framework_scores=others, notes=tuple(notes), **fields)


def _load(path: Path) -> Records:
    try:
        content = json.loads(whole_text(path))
    except json.JSONDecodeError as error:
        raise unreadable(
            path, f"not JSON: {error.msg}; is the file complete?", line=error.lineno
        ) from None
    except RecursionError:
        raise unreadable(path, "nested too deeply to be a list of records") from None
    if not isinstance(content, list) or not content:
        raise unreadable(path, f"it must hold a list of records; it holds {_shortened(content)}")
    records: Records = {}
    for number, record in enumerate(content, start=1):
        key = record.get("id") if isinstance(record, dict) else None
        if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
            raise unreadable(
                path, f"{_shortened(record)} is no record with an id", line=number, word="item"
            )
        if str(key) in records:
            twice = f"the id {key!r} occurs twice; leave one record per sample"
            raise unreadable(path, twice, line=number, word="item")
        records[str(key)] = record
    return records


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _human(ids: Sequence[str], tables: Mapping[Path, Records]) -> FloatArray:
    """Human ratings, which all files repeat; they must say the same."""
    found = dict.fromkeys(ids, math.nan)
    source: dict[str, Path] = {}
    for path, table in tables.items():
        for key, record in table.items():
            value = _number(record.get("human_score"), "human_score", key, path)
            if math.isnan(value):
                continue
            if key in source and abs(found[key] - value) > _SLACK:
                other = f"{found[key]!r} in {source[key].name}; make them agree"
                raise unreadable(path, f"sample {key!r} has the human_score {value!r}, but {other}")
            if key not in source:
                found[key], source[key] = value, path
    return np.array([found[key] for key in ids])


def _number(value: object, name: str, key: str, path: Path) -> float:
    """A score in [0, 1], or nan for null and NaN."""
    if value is None:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        if math.isnan(value):
            return math.nan
        if -_SLACK <= value <= 1.0 + _SLACK:
            return min(max(float(value), 0.0), 1.0)
    limits = "it must lie in [0, 1] (null where there is none)"
    raise unreadable(path, f"sample {key!r} has the {name} {value!r}; {limits}")


def _score(value: object, name: str, key: str, path: Path) -> float:
    """The same for a method's score, where -1 says that the method failed."""
    is_failed = isinstance(value, int | float) and value == _FAILED
    return math.nan if is_failed else _number(value, name, key, path)


def _column(ids: Iterable[str], table: Records, name: str, path: Path) -> FloatArray:
    for number, (key, record) in enumerate(table.items(), start=1):
        if name not in record:
            lacks = f"sample {key!r} has no {name}; write null or -1 where there is no score"
            raise unreadable(path, lacks, line=number, word="item")
    return np.array([_score(table.get(key, {}).get(name), name, key, path) for key in ids])


def _verdicts(ids: Sequence[str], table: Records, path: Path) -> dict[str, Any]:
    counts = np.zeros((len(ids), len(LEVELS)))
    stored: dict[float, FloatArray] = {}
    for i, key in enumerate(ids):
        record = table.get(key, {})
        counts[i] = _counts(record, key, path)
        scores = record.get("tcva_scores") or {}
        if not isinstance(scores, dict):
            raise unreadable(
                path, f"sample {key!r} has the tcva_scores {_shortened(scores)}, no object"
            )
        for label, value in scores.items():
            temperature = _temperature(label, key, path)
            column = stored.setdefault(temperature, np.full(len(ids), np.nan))
            column[i] = _score(value, f"score {label}", key, path)
            if value == _FAILED:
                counts[i] = 0.0
    if not counts.any() and not stored:
        raise unreadable(path, "it has neither verdicts nor tcva_scores; is it the right file?")
    return {"counts": counts, "stored": dict(sorted(stored.items()))}


def _counts(record: Record, key: str, path: Path) -> FloatArray:
    verdicts = record.get("verdicts") or []
    weights = record.get("weights")
    if not isinstance(verdicts, list):
        raise unreadable(path, f"sample {key!r} has the verdicts {_shortened(verdicts)}, no list")
    if isinstance(weights, list) and len(weights) != len(verdicts):
        sizes = f"{len(weights)} weights for {len(verdicts)} verdicts"
        raise unreadable(path, f"sample {key!r} has {sizes}; the record is damaged")
    try:
        return count_levels(str(v["verdict"] if isinstance(v, dict) else v) for v in verdicts)
    except KeyError:
        raise unreadable(
            path, f"a verdict of sample {key!r} has no field 'verdict' with its level"
        ) from None
    except InvalidValueError as error:
        raise unreadable(path, f"sample {key!r}: {error}") from None


def _temperature(label: str, key: str, path: Path) -> float:
    try:
        return check_temperature(float(label.removeprefix("T")))
    except ValueError:  # ours is one of these
        raise unreadable(
            path, f"sample {key!r} has a score for {label!r}, no temperature like T0.5"
        ) from None


def _samples(ids: Iterable[str], table: Records, path: Path) -> tuple[Sample | None, ...]:
    samples: dict[str, Sample] = {}
    for key, record in table.items():
        try:
            samples[key] = Sample.from_record({**record, "id": key})
        except InvalidSampleError as error:
            raise unreadable(path, f"sample {key!r}: {error}") from None
    return tuple(samples.get(key) for key in ids)
