"""The list of records in a JSON document, as programs of this field write it."""

from __future__ import annotations

from typing import Any, Final

from tcva_adapters.samples.names import ALIASES

_LIST_KEYS: Final = (
    *("samples", "data", "assessments", "results", "examples", "runs", "rows", "records"),
    *("test_cases", "testCases", "test_results", "testResults"),
)
_OF_A_SAMPLE: Final = ("input", "response")
_OUTER_KEY: Final = "testRunData"
"""Where DeepEval's ``.latest_test_run.json`` holds the run."""


def records_in(content: Any) -> Any:
    """The records of a document: a list, or what is no list at all.

    * A list is the records; of an object, the list under one of the usual names (``samples``,
      ``data``, ``results``, DeepEval's ``testCases``, ...), or its only entry if that is a list.
    * What pandas' ``to_json`` writes, by rows, columns (its default) or in parts (``split``).
    * Any other object is one record.

    >>> records_in({"question": {"0": "Who?", "1": "When?"}, "answer": {"0": "Ada.", "1": "1843."}})
    [{'question': 'Who?', 'answer': 'Ada.'}, {'question': 'When?', 'answer': '1843.'}]
    """
    if not isinstance(content, dict):
        return content
    if isinstance(content.get(_OUTER_KEY), dict):
        content = content[_OUTER_KEY]
    columns, rows = content.get("columns"), content.get("data")
    if isinstance(columns, list) and isinstance(rows, list) and all(map(_is_list, rows)):
        return [dict(zip(map(str, columns), row, strict=False)) for row in rows]
    if all(any(isinstance(content.get(name), str) for name in ALIASES[f]) for f in _OF_A_SAMPLE):
        return [content]  # its lists are its own
    for key in _LIST_KEYS:
        if isinstance(content.get(key), list):
            return content[key]
    parts = list(content.values())
    if len(parts) == 1 and isinstance(parts[0], list):
        return parts[0]
    return _of_numbered(content, parts)


def _of_numbered(content: dict[str, Any], parts: list[Any]) -> list[Any]:
    """Rows or columns whose cells pandas numbered; else the object itself."""
    if _is_numbered(content) and all(isinstance(part, dict) for part in parts):
        return parts
    if parts and all(_is_numbered(part) and part.keys() == parts[0].keys() for part in parts):
        return [{name: column[at] for name, column in content.items()} for at in parts[0]]
    return [content]


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_numbered(value: Any) -> bool:
    """Whether this is an object of rows 0, 1, 2, ..."""
    return isinstance(value, dict) and len(value) > 0 and all(map(str.isdecimal, value))
