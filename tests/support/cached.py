"""The records of a verdict store, as its file has them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def records(path: str | Path) -> list[str]:
    """The texts, failures included, in the order in which they came."""
    with closing(sqlite3.connect(path)) as plain:
        if not plain.execute("SELECT 1 FROM sqlite_master WHERE name = 'records'").fetchall():
            return []
        return [text for (text,) in plain.execute("SELECT record FROM records ORDER BY rowid")]
