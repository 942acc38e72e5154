"""The folder of a comparison: its files, and how they are written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.result import Result
from tcva_adapters.results.writer import RESULTS_BEGINNING, write_results
from tcva_adapters.samples.file_formats import csv_text
from tcva_adapters.samples.file_writing import check_replaceable, replacing, usable_path
from tcva_adapters.samples.json_values import written_out
from tcva_adapters.tables import Report

STORE = "verdicts.sqlite"
"""The file in which judgements are stored as they are made."""

FILES = {
    "scores.csv": "a row per sample and method, with reasons",
    "assessments.jsonl": "TCVA's verdicts, for sweep and calibrate",
    "samples.jsonl": "what was judged",
    "summary.json": "all figures",
}
"""The files in a comparison's folder besides the store, with their content."""

_BEGINNING = re.compile(rb'sample,method,score|{"input": |{\n "sentence": ')
_FINGERPRINT = "fingerprint"


def check_folder(folder: Path, fingerprint: str) -> None:
    """Refuse a folder with another comparison, or with other files under these names.

    Raises:
        InvalidValueError: The folder holds one of these.
    """
    for name in FILES:
        beginning = RESULTS_BEGINNING if name == "assessments.jsonl" else _BEGINNING
        check_replaceable(folder / name, beginning)
    path = folder / "summary.json"
    if not path.is_file():
        return  # the folder is empty, or an interrupted run left its store
    written = None
    with suppress(ValueError):
        written = json.loads(path.read_bytes()).get(_FINGERPRINT)
    if written != fingerprint:
        raise InvalidValueError(
            f"{folder} holds a comparison with other samples or settings; choose another folder, or "
            "--overwrite (overwrite=True)"
        )


def save(
    folder: str | Path,
    table: ScoreTable,
    report: Report,
    *,
    overwrite: bool = False,
) -> list[Path]:
    """Write the files of a comparison, and return their paths.

    These are ``scores.csv`` (a row per sample and method), ``assessments.jsonl`` (TCVA's verdicts),
    ``samples.jsonl`` (what was judged) and ``summary.json`` (the report). Each file appears under
    its name once it is complete, and replaces that of an earlier comparison.

    Args:
        folder: The folder, which is made where it does not exist.
        table: The table that `Run.table` made.
        report: The comparison of the table; see
            `tcva_adapters.compare.comparison`.
        overwrite: Replace files with other content, too.

    Raises:
        InvalidValueError: A file cannot be written, or a file of that name has other content.
    """

    def write(path: Path, lines: Iterable[str]) -> None:
        with replacing(path, beginning=_BEGINNING, overwrite=overwrite) as stream:
            stream.writelines(line.encode() for line in lines)

    scores, judged, texts, summary = (usable_path(folder) / name for name in FILES)
    header = ("sample", "method", "score", "unscored")
    write(scores, [csv_text(header, _cells(table))])
    results = table.results[table.views[0]]
    assessments = (item.assessment for item in results if isinstance(item, Result))
    write_results(judged, assessments, overwrite=overwrite)
    records = (sample.model_dump(by_alias=True) for sample in table.judged_samples)
    write(texts, (f"{json.dumps(written_out(record))}\n" for record in records))
    fingerprint = table.run.fingerprint if table.run else None
    content = report.to_dict() | {_FINGERPRINT: fingerprint}
    write(summary, [json.dumps(content, indent=1), "\n"])
    return [scores, judged, texts, summary]


def _cells(table: ScoreTable) -> Iterator[tuple[str, str, float | None, str]]:
    """Yield a row per sample and method."""
    for sample, row in zip(table.samples, table.scores.tolist(), strict=True):
        for method, score in zip(table.methods, row, strict=True):
            if math.isnan(score):
                yield sample, method, None, table.reason(sample, method)
            else:
                yield sample, method, score, ""
