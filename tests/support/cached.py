"""The records of a verdict store, as its file has them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def records(path: str | Path) -> list[str]:
    """The texts, in the order in which they came."""
    with closing(sqlite3.connect(path)) as plain:
        query = "SELECT json FROM judgements WHERE kind IN ('record', 'framework metric') ORDER BY rowid"
        return [text for (text,) in plain.execute(query)]
