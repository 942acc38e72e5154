"""One batch of rows, judged: the function that every engine calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from tcva_adapters.errors import InvalidSampleError, JudgeError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.base import digest
from tcva_adapters.results.protocol import Scored
from tcva_adapters.samples.files import columns_of, sample_of
from tcva_adapters.samples.sample import Sample
from tcva_adapters.scale.columns import KINDS, rows_of, with_columns
from tcva_adapters.scale.settings import ScorerLike, scorer_of

PREFIX: Final = "tcva_"
"""What the names of added columns begin with."""


def judge_batch(
    batch: Any,
    *,
    settings: ScorerLike,
    mapping: Mapping[str, str] | None = None,
    apart: Collection[str] = (),
    prefix: str = PREFIX,
) -> Any:
    """Judge the rows of a batch; the same rows come back with columns more.

    Field names are those of `Sample.from_record`; other columns are metadata. One row in is one
    row out, in order. Whatever is wrong with a row stays with it: a row that is no sample has an
    ``error``, and one that could not be scored says why in ``unscored``.

    ========== ======= =====================================================================
    column     type    what it is
    ========== ======= =====================================================================
    score      float   in [0, 1]; missing (nan in numpy) where there is none
    passed     bool    whether the score reaches the threshold; missing without one
    reason     text    the score in a sentence, or why there is none
    unscored   text    the reason in a word (``missing_field``, ``timeout``); missing with a score
    error      text    why the row is no sample; missing where it is one
    result     text    the whole result as JSON, which `Result.from_json` reads; ``at`` costs no call
    key        text    SHA-256 of everything that can change the score
    ========== ======= =====================================================================

    A row that comes with an ``error`` keeps it and is not judged.

    Args:
        batch: Columns by name: a dict of numpy arrays (or lists), a `pyarrow.Table` or a
            ``pandas.DataFrame``. The same kind comes back.
        settings: The arguments of `TCVA` or, with ``metrics``, of `CCRS` as plain values, or one of
            these objects; see `ScorerLike`. Equal settings are made into a scorer once in a process.
        mapping: Your column name to the field it holds, e.g. ``{"my_answer": "response"}``.
        apart: Columns that come back and are no part of the sample, not even of its metadata.
        prefix: What the names of the added columns begin with; those that are there are replaced.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or this is no batch.
        JudgeError: No call can succeed (a wrong key, no credit left): no row is given up for that.

    >>> batch = {"answer": ["It opens at nine."] * 2, "context": ["It opens at nine.", None]}
    >>> found = judge_batch(batch, settings={"criterion": "faithfulness", "judge": "lexical"})
    >>> found["tcva_score"].tolist(), found["tcva_unscored"].tolist()
    ([1.0, nan], [None, 'missing_field'])
    """
    scorer = scorer_of(settings)
    columns = columns_of(mapping or {})
    ours = {prefix + name for name in KINDS} | {*apart}
    errors: list[str | None] = []
    samples: list[Sample] = []
    for row in rows_of(batch):
        found = row.get(f"{prefix}error")
        # What is missing comes back as nan from numpy, and as "" from csv.
        error = found if isinstance(found, str) and found else None
        if error is None:
            fields = {name: value for name, value in row.items() if name not in ours}
            try:
                samples.append(sample_of(fields, columns))
            except InvalidSampleError as refused:
                error = str(refused)
        errors.append(error)
    keys = row_keys(scorer, samples)
    results = scorer.evaluate_many(samples, progress=False)
    for result in results:
        if result.unscored is not None and result.unscored.fatal:
            raise JudgeError(result.unscored.detail, fatal=True)
    judged = map(_row, keys, results)
    rows = [{"error": error} if error is not None else next(judged) for error in errors]
    return with_columns(batch, {name: [row.get(name) for row in rows] for name in KINDS}, prefix)


def _row(key: str, result: Scored) -> Mapping[str, Any]:
    why = result.unscored
    return {
        "score": result.score,
        "passed": result.passed,
        "reason": result.reason,
        "unscored": None if why is None else why.reason.value,
        "result": result.to_json(),
        "key": key,
    }


def row_keys(scorer: Scorer[Any], samples: Iterable[Sample]) -> Iterator[str]:
    """For each sample a SHA-256 that is equal where everything is that can change its score."""
    who, judging = scorer.fingerprint, (scorer, *getattr(scorer, "members", ()))
    fields = {name for each in judging for name in (*each.required, *each.shown)}
    profiles = getattr(scorer, "profiles", None)
    for sample in samples:
        parts: dict[str, Any] = {name: getattr(sample, name) for name in fields}
        if profiles is not None:
            parts["profile"] = repr([sample.metadata.get(field) for field in profiles])
        yield digest({"scorer": who, "sample": parts})
