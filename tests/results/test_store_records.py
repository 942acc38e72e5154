"""Records that are no assessments, in the same file and out of the way of those that are."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tcva_adapters import Assessment
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.store import STORE_VERSION, VerdictStore


def test_records_and_assessments_do_not_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    with VerdictStore(path) as store:
        assert store.get_records(["k"]) == {}  # before there is a table for them
        store.put("k", Assessment.from_verdicts(["fully"]))
        store.put_record("k", '{"rating": 87}', failed=False)
        assert len(store) == 1
    with VerdictStore(path) as store:
        assert store.get_records(["k", "other", "k"]) == {"k": '{"rating": 87}'}
        assert store.get("k") is not None
        assert list(store.failures()) == []


def test_failures_are_kept_never_served_and_replace_nothing(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    with VerdictStore(path) as store:
        store.put_record("a", "failed once", failed=True)
        assert store.get_records(["a"]) == {}
        store.put_record("a", "failed twice", failed=True)
        store.put_record("b", "good", failed=False)
        store.put_record("b", "failed later", failed=True)
        assert store.get_records(["a", "b"]) == {"b": "good"}
        store.put_record("a", "good at last", failed=False)
        store.put_record("b", "better", failed=False)
        assert store.get_records(["a", "b"]) == {"a": "good at last", "b": "better"}


def test_a_file_of_before_gets_the_table_and_keeps_its_version(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    VerdictStore(path).close()
    with sqlite3.connect(path) as plain:
        tables = {row[0] for row in plain.execute("SELECT name FROM sqlite_master")}
    plain.close()
    assert "records" not in tables
    with VerdictStore(path) as store:
        store.put_record("k", "text", failed=False)
    with sqlite3.connect(path) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (STORE_VERSION,)
    plain.close()


def test_many_keys_many_threads_and_odd_texts(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "v.sqlite") as store:
        texts = {f"k{n}": f"“{n}”\n'\u0000" for n in range(1200)}
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda pair: store.put_record(*pair, failed=False), texts.items()))
        assert store.get_records(texts) == texts


def test_a_closed_store_says_so() -> None:
    store = VerdictStore(":memory:")
    store.put_record("k", "text", failed=False)
    assert store.get_records(["k"]) == {"k": "text"}
    store.close()
    with pytest.raises(InvalidValueError, match="is closed"):
        store.get_records(["k"])
