"""Judge one batch of rows: the function that every engine calls.

Batches are columns as the engines have them: a dict of numpy arrays, an Arrow table, a pandas frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, cast

import numpy as np

from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.evaluator import AnyScorer
from tcva_adapters.models.store_keys import digest
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.fields import FieldNames
from tcva_adapters.samples.reader import columns_of, known_item
from tcva_adapters.samples.sample import Sample
from tcva_adapters.scale.settings import ScorerLike, scorer_of
from tcva_adapters.tables import Record, plain
from tcva_adapters.tcva import TCVA

PREFIX = "tcva_"

Batch = Any
"""A dict of numpy arrays (or lists), a `pyarrow.Table` or a ``pandas.DataFrame``."""

Item = Sample | Conversation
"""What a row is read as."""

_ONE_ANSWER = (
    "CCRS rates single answers; give each answer of the conversation a row of its own"
)

_TEXTS = ("reason", "unscored", "error", "result", "key")
ADDED: Mapping[str, type] = {
    "score": float,
    "passed": bool,
    **dict.fromkeys(_TEXTS, str),
}
"""The added columns, each with the type of its values; any value may be missing."""


def judge_batch(
    batch: Batch,
    *,
    settings: ScorerLike,
    mapping: FieldNames | None = None,
    prefix: str = PREFIX,
) -> Batch:
    """Judge the rows of a batch, and return them with further columns.

    Field names are those of `Sample.from_record`; other columns are metadata. Each row in gives one
    row out, in order: a conversation in ``messages`` has the score of all its turns. A row that is
    not a sample has an ``error``, and one without a score has the reason in ``unscored``.

    ========== ======= =====================================================================
    column     type    what it is
    ========== ======= =====================================================================
    score      float   in [0, 1]; missing (nan in numpy) where there is none
    passed     bool    whether the score reaches the threshold; missing without one
    reason     text    the score in a sentence, or why there is none
    unscored   text    the reason in a word (``missing_field``, ``timeout``); missing with a score
    error      text    why the row is no sample; missing where it is one
    result     text    the whole result as JSON, which `read_result` reads; ``at`` costs no call
    key        text    SHA-256 of everything that can change the score
    ========== ======= =====================================================================

    A row that comes with an ``error`` keeps it and is not judged.

    Args:
        batch: Columns by name: a dict of numpy arrays (or lists), a `pyarrow.Table` or a
            ``pandas.DataFrame``. The same kind comes back.
        settings: The arguments of `TCVA` or, with ``metrics``, of `CCRS` as plain values, or one of
            these objects; see `ScorerLike`. Equal settings are made into a scorer once in a process.
        mapping: Your column name to the field it holds, e.g. ``{"my_answer": "response"}``.
        prefix: What the names of the added columns begin with; those that are there are replaced.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or this is no batch.
        JudgeError: No call can succeed (a wrong key, no credit left); no row is marked
            as failed for that.

    >>> batch = {"answer": ["It opens at nine."] * 2, "context": ["It opens at nine.", None]}
    >>> judged = judge_batch(batch, settings={"criterion": "faithfulness", "judge": "lexical"})
    >>> judged["tcva_score"].tolist(), judged["tcva_unscored"].tolist()
    ([1.0, nan], [None, 'missing_field'])
    """
    rows = judge_rows(
        rows_of(batch),
        scorer_of(settings),
        mapping or {},
        prefix,
    )
    return with_columns(
        batch, {name: [row.get(name) for row in rows] for name in ADDED}, prefix
    )


def judge_rows(
    rows: list[Record],
    scorer: AnyScorer,
    mapping: FieldNames,
    prefix: str,
) -> list[Record]:
    """Judge rows, and return the values to add to each, by the names of `ADDED`."""
    columns = columns_of(mapping)
    left_out = {prefix + name for name in ADDED}
    errors = []
    items = []
    for row in rows:
        error = row.get(f"{prefix}error") or None  # "" comes from csv
        if error is None:
            fields = {
                name: value for name, value in row.items() if name not in left_out
            }
            try:
                item = known_item(fields, columns)
            except InvalidSampleError as refused:
                error = str(refused)
            else:
                if isinstance(item, Conversation) and not isinstance(scorer, TCVA):
                    error = _ONE_ANSWER
                else:
                    items.append(item)
        errors.append(error)

    results = _results(scorer, items)
    reasons = [scorer.emit_result(result).unscored for result in results]
    if None not in reasons:  # else a call succeeded, and others may, too
        for why in reasons:
            if why is not None and why.fatal:
                raise JudgeError(why.detail, fatal=True)
    judged = map(_columns, _keys(scorer, items), results)
    return [{"error": error} if error is not None else next(judged) for error in errors]


def _results(scorer: AnyScorer, items: Sequence[Item]) -> list[Scored]:
    """Judge each item; the turns of all items are judged together."""
    turns = iter(
        scorer.quiet.evaluate_many(
            chain.from_iterable(map(_turns, items)), progress=False
        )
    )
    return [
        cast("TCVA", scorer).of_turns(
            item, cast("Iterator[Result]", islice(turns, len(item.turns)))
        )
        if isinstance(item, Conversation)
        else next(turns)
        for item in items
    ]


def _columns(key: str, result: Scored) -> Record:
    return {
        "score": result.score,
        "passed": result.passed,
        "reason": result.reason,
        "unscored": result.unscored and result.unscored.reason.value,
        "result": result.to_json(),
        "key": key,
    }


def _turns(item: Item) -> Sequence[Sample]:
    return item.turns if isinstance(item, Conversation) else [item]


def _keys(scorer: AnyScorer, items: Iterable[Item]) -> Iterator[str]:
    """Yield a SHA-256 for each row of everything that can change its score."""
    for item in items:
        keys = [
            question.key for turn in _turns(item) for question in scorer.questions(turn)
        ]
        profile = [
            item.metadata.get(field)
            for field in getattr(scorer, "profiles", None) or ()
        ]
        yield digest(
            {"scorer": scorer.fingerprint, "keys": keys, "profile": repr(profile)}
        )


def rows_of(batch: Batch) -> list[Record]:
    """Return the rows of a batch as plain values; missing values (nan) are None.

    Raises:
        InvalidValueError: It is not a known kind of batch, a column is not one, or columns differ
            in length.
    """
    if hasattr(batch, "to_pylist"):  # Arrow's
        return [plain(row) for row in batch.to_pylist()]
    if hasattr(batch, "notna"):  # pandas'
        whole = batch.astype(object).where(batch.notna(), None)
        return [plain(row) for row in whole.to_dict("records")]
    if not isinstance(batch, Mapping):
        kinds = "a dict of numpy arrays, a pyarrow.Table or a pandas.DataFrame"
        raise InvalidValueError(f"a batch must be {kinds}, got {type(batch).__name__}")
    columns = {name: plain(values) for name, values in batch.items()}
    sizes = {
        name: len(values) if isinstance(values, list) else None
        for name, values in columns.items()
    }
    if None in sizes.values() or len(set(sizes.values())) > 1:
        raise InvalidValueError(
            f"the columns of a batch must be lists or arrays of equal length, got {sizes}"
        )
    return [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def with_columns(
    batch: Batch, added: Mapping[str, Sequence[object]], prefix: str
) -> Batch:
    """Return a batch of the same kind with further columns; those of the same name are replaced.

    Args:
        batch: As for `rows_of`.
        added: Values by the names of `ADDED`; None is a missing one.
        prefix: Goes before these names.
    """
    columns = {
        prefix + name: np.array(values, dtype=float if ADDED[name] is float else object)
        for name, values in added.items()
    }
    if isinstance(batch, Mapping):
        return {**batch, **columns}
    if hasattr(batch, "assign"):
        return batch.assign(**columns)
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # the batch is one of its tables

    types = {float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    table = batch.drop_columns([name for name in batch.column_names if name in columns])
    for name, values in added.items():
        table = table.append_column(
            prefix + name, pa.array(values, type=types[ADDED[name]])
        )
    return table
