"""Read files of scores, whose kind is recognised by their content."""

from __future__ import annotations

from pathlib import Path

from tcva_adapters.compare.scores.imported.deepeval_run import (
    read_test_run,
    test_run_in,
)
from tcva_adapters.compare.scores.imported.rows import (
    Imported,
    ImportSettings,
    NumberedRecords,
    row_error,
)
from tcva_adapters.compare.scores.imported.tables import (
    FEEDBACK,
    is_long_table,
    read_long_table,
    read_wide_table,
)
from tcva_adapters.samples.file_formats import format_of, read_records
from tcva_adapters.samples.sources import unreadable


def read_imported(
    path: str | Path, importing: ImportSettings | None = None
) -> Imported:
    """Read a file of scores, whose kind is recognised by its content.

    * ``deepeval``: a test run (``.latest_test_run.json``, a file in ``DEEPEVAL_RESULTS_FOLDER``, or
      the JSON of what ``evaluate`` returns). A metric that a test case lacks was skipped there.
    * ``ragas``: what ``result.to_pandas()`` holds, as csv, parquet or jsonl. Every column that
      RAGAS does not use for the sample itself is a metric if it holds numbers, or nothing at all (a
      metric that failed everywhere).
    * ``langsmith``: runs with columns ``feedback.KEY``, or ``feedback_stats`` with an average.
    * ``long``: a row per sample and method, with the columns ``sample`` (or ``query``), ``score``
      and, where they apply, ``method`` (or ``metric``) and ``system``.
    * ``scores``: a column per method; by default every column of numbers that is neither a field of
      a sample nor a human rating.

    A score with an error (in a metric's data, or a column ``error`` or ``METHOD_error``, in any
    case and with blanks or ``_``) counts as missing, whatever its number.

    Raises:
        UnreadableInputError: The file is missing or damaged, or holds no scores or one outside the
            scale.
        MissingDependencyError: A parquet file without pyarrow.
    """
    importing = importing or ImportSettings()
    if format_of(path) == "json" and (run := test_run_in(path)) is not None:
        return read_test_run(path, run, importing)
    records = _records(path)
    columns = list(dict.fromkeys(name for _, record in records for name in record))
    if is_long_table(columns):
        return read_long_table(path, records, importing)
    return read_wide_table(path, records, columns, importing)


def _records(path: str | Path) -> NumberedRecords:
    records = []
    for line, record, error in read_records(path):
        if record is None:
            raise row_error(path, line, error)
        cells = {
            name: cell
            for name, cell in record.items()
            if name not in {"", "Unnamed: 0", "index"}  # those of a data frame's index
        }
        stats = cells.pop("feedback_stats", None)
        if isinstance(stats, dict):  # a run as LangSmith's client has it
            for key, stat in stats.items():
                cells[FEEDBACK + key] = (
                    stat.get("avg") if isinstance(stat, dict) else None
                )
        records.append((line, cells))
    if not records:
        raise unreadable(path, "it holds no results")
    return records
