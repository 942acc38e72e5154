"""The folder of verdicts and scores that the paper's authors publish, read as score tables.

A set ``NAME`` is up to four JSON files, each a list of records with an ``id``:
``NAME_prepared.json`` (the samples), ``NAME_tcva_scores.json`` (verdicts and stored scores),
``NAME_ragas_scores.json`` and ``NAME_deepeval_scores.json``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.core.temperature import BALANCED, check_temperature
from tcva_adapters.core.verdicts import LEVELS, FloatArray, count_levels
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.samples.file_formats import read_records
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.sources import unreadable
from tcva_adapters.tcva import TCVA

_VERDICTS: Final = "_tcva_scores.json"
_PREPARED: Final = "_prepared.json"
_OTHERS: Final = {"_ragas_scores.json": "ragas", "_deepeval_scores.json": "deepeval"}
_FAILED: Final = -1.0
_SLACK: Final = 1e-9  # sums of floats end a hair outside [0, 1]

_Records = dict[str, dict[str, Any]]


def read_folder(folder: str | Path, *, lexical: bool = False) -> dict[str, ScoreTable]:
    """All sets in a folder, by name. Records are joined by id, whatever their order.

    The methods of a set are the stored scores of TCVA (``T=0.2`` and so on), ``ragas``, ``deepeval``
    and, where asked for, ``lexical``; nan where a method has no score. A row of ``counts`` is 0
    where a sample has no verdict, or is marked as failed (-1).

    Args:
        folder: Of the files.
        lexical: Judge the samples with the embedded lexical judge too.

    Raises:
        UnreadableInputError: No verdicts in the folder, or a file that does not hold what its name
            says: broken JSON, an id twice, a score outside its range.
    """
    root = Path(folder).expanduser()
    names = sorted(
        path.name.removesuffix(_VERDICTS) for path in root.glob(f"?*{_VERDICTS}")
    )
    if not names:
        wanted = f"a folder of NAME{_VERDICTS}, NAME{_PREPARED} and so on"
        raise unreadable(folder, f"no file is called NAME{_VERDICTS}; give {wanted}")
    return {name: _read_set(root, name, lexical=lexical) for name in names}


def _read_set(root: Path, name: str, *, lexical: bool) -> ScoreTable:
    paths = {
        ending: root / f"{name}{ending}" for ending in (_VERDICTS, _PREPARED, *_OTHERS)
    }
    files = {ending: _records(path) for ending, path in paths.items() if path.exists()}
    ids = tuple(dict.fromkeys(key for records in files.values() for key in records))
    human = np.full(len(ids), np.nan)
    for ending, records in files.items():
        given = _column(ids, records, "human_score", paths[ending])
        human = np.where(np.isnan(human), given, human)
    counts, columns = _verdicts(ids, files[_VERDICTS], paths[_VERDICTS])
    for ending, method in _OTHERS.items():
        if ending in files:
            columns[method] = _column(
                ids, files[ending], f"{method}_score", paths[ending]
            )
    if lexical and _PREPARED in files:
        columns["lexical"] = _lexical(ids, files[_PREPARED], paths[_PREPARED])
    missing = [path.name for ending, path in paths.items() if ending not in files]
    return ScoreTable(
        samples=ids,
        methods=tuple(columns),
        scores=np.array([*columns.values()]).reshape(-1, len(ids)).T,
        human=human,
        counts=counts,
        notes=tuple(f"there is no {file}" for file in missing),
    )


def _records(path: Path) -> _Records:
    records: _Records = {}
    for line, record, error in read_records(path, "json"):
        if record is None:
            raise unreadable(path, error, line=line, word="item")
        key = record.get("id")
        if key in (None, "") or str(key) in records:
            wrong = f"the id is {key!r}; give each sample one of its own"
            raise unreadable(path, wrong, line=line, word="item")
        records[str(key)] = record
    return records


def _column(
    ids: tuple[str, ...], records: _Records, name: str, path: Path
) -> FloatArray:
    if not any(name in record for record in records.values()):
        raise unreadable(path, f"no record has a field {name!r}; is it the right file?")
    return np.array(
        [_score(records.get(key, {}).get(name), name, key, path) for key in ids]
    )


def _score(value: object, name: str, key: str, path: Path) -> float:
    """A score in [0, 1], or nan for null and -1, which says that the method failed."""
    if value is None or value == _FAILED:
        return math.nan
    if isinstance(value, int | float) and -_SLACK <= value <= 1.0 + _SLACK:
        return min(max(float(value), 0.0), 1.0)
    wanted = (
        f"{name} of sample {key!r} must be between 0 and 1, or null where there is none"
    )
    raise unreadable(path, f"{wanted}, got {value!r}")


def _verdicts(
    ids: tuple[str, ...], records: _Records, path: Path
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Level counts, shape (N, 1, 5), and the stored scores by temperature."""
    counts = np.zeros((len(ids), 1, len(LEVELS)))
    stored: dict[str, FloatArray] = {}
    for place, key in enumerate(ids):
        record = records.get(key, {})
        try:
            counts[place, 0] = count_levels(
                v["verdict"] for v in record.get("verdicts") or ()
            )
            scores = {
                f"T={check_temperature(float(label.removeprefix('T'))):g}": score
                for label, score in (record.get("tcva_scores") or {}).items()
            }
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            wanted = "verdicts are [{'verdict': 'fully'}, ...], tcva_scores {'T0.5': 0.7, ...}"
            raise unreadable(path, f"sample {key!r}: {error}; {wanted}") from None
        for label, score in scores.items():
            column = stored.setdefault(label, np.full(len(ids), np.nan))
            column[place] = _score(score, f"score {label}", key, path)
            if score == _FAILED:
                counts[place] = 0.0
    return counts, stored


def _lexical(ids: tuple[str, ...], records: _Records, path: Path) -> FloatArray:
    """The embedded judge's faithfulness at T=0.5, nan where it has none.

    Faithfulness for every set, as in the paper's RAGAS column: held against a question that all
    samples share, the judge would give one score to all.
    """
    samples = []
    for key in ids:
        try:
            known = key in records
            samples.append(
                Sample.from_record({**records[key], "id": key}) if known else Sample()
            )
        except InvalidSampleError as error:
            raise unreadable(path, f"sample {key!r}: {error}") from None
    results = TCVA("faithfulness", judge="lexical", temperature=BALANCED).evaluate_many(
        samples
    )
    return np.array(
        [math.nan if each.score is None else each.score for each in results]
    )
