"""The folder of a comparison: a run does not take the place of what others have put there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.running.details import DETAILS_BEGIN
from tcva_adapters.compare.running.write import SCORES_BEGIN
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.files import OURS as RESULTS
from tcva_adapters.samples.output import check_ours

SCORES: Final = "scores.csv"
PARQUET: Final = "scores.parquet"
ASSESSMENTS: Final = "assessments.jsonl"
SUMMARY: Final = "summary.json"
DETAILS: Final = "details.jsonl"
CONTENTS: Final = {
    SCORES: "a row per sample and method, with reasons",
    PARQUET: "the same",
    ASSESSMENTS: "TCVA's verdicts, for sweep and calibrate",
    DETAILS: "texts, human ratings, the metrics' own verdicts",
    SUMMARY: "all figures",
}
"""What is in each file, in a few words."""

SETTINGS: Final = "settings"
"""Where the summary holds what the comparison was asked for."""

_SHOWN: Final = 60


def check_folder(folder: str | Path, settings: Mapping[str, Any], *, overwrite: bool) -> None:
    """Refuse a folder that holds a comparison with other settings, or files of something else.

    Args:
        folder: It need not be there.
        settings: Of the comparison that is to be written, as JSON values.
        overwrite: Refuse nothing.

    Raises:
        InvalidValueError: It does; the message says what differs, or which file.
    """
    for name, ours in ((SCORES, SCORES_BEGIN), (ASSESSMENTS, RESULTS), (DETAILS, DETAILS_BEGIN)):
        check_ours(Path(folder) / name, ours, overwrite=overwrite)
    path = Path(folder) / SUMMARY
    ways = "choose another folder, or replace it with overwrite=True (--overwrite)"
    if overwrite:
        return
    if not path.is_file():
        parquet = Path(folder) / PARQUET
        if parquet.is_file() and not (Path(folder) / SCORES).is_file():  # written before it
            msg = f"{parquet} was written by something else and is left alone; {ways}"
            raise InvalidValueError(msg)
        return
    try:
        held = json.loads(path.read_text(encoding="utf-8"))[SETTINGS]
        names = dict.fromkeys([*settings, *held])
        other = [name for name in names if held.get(name) != settings.get(name)]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        msg = f"{path} is no comparison's of this version; {ways}"
        raise InvalidValueError(msg) from None
    if other:
        differs = "; ".join(
            f"{name}: {_shown(held.get(name))} there and {_shown(settings.get(name))} here"
            for name in other
        )
        msg = f"{folder} holds a comparison with other settings ({differs}); {ways}"
        raise InvalidValueError(msg)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
