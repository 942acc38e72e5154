"""The verdict store: keys, what is served, damage, and several processes at once."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.criteria import ANSWER_RELEVANCY, FAITHFULNESS, Criterion, rubric
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.judges.base import verdict_key
from tcva_adapters.results.assessment import Assessment, Reason, Unscored, Usage
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample

SOURCES = Path(__file__).parents[2]
SAMPLE = Sample(input="Who?", response="Ada.", contexts=("It was Ada.",), reference="Ada", id="1")


def key(sample: Sample = SAMPLE, criterion: Criterion = FAITHFULNESS, **changes: Any) -> str:
    how: dict[str, Any] = {"judge": "m", "prompt_version": "1", "parameters": {"seed": 1}}
    return verdict_key(sample, criterion, **{**how, **changes})


def scored(*words: str) -> Assessment:
    return Assessment.from_verdicts(list(words or ("fully",)))


def unscored(reason: Reason) -> Assessment:
    why = Unscored(reason=reason, detail="why")
    return Assessment(criterion="faithfulness", judge="m", prompt_version="1", unscored=why)


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process of its own that may import the package."""
    return subprocess.Popen(
        [sys.executable, "-c", IMPORTS + code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        stdout=subprocess.PIPE,
        text=True,
    )


SEEN: list[dict[str, Any]] = [
    *({"response": "Bob."}, {"contexts": ("It was", "Ada.")}, {"contexts": ()}),
    *({"contexts": None}, {"input": "Whom?"}, {"input": None}),
]
UNSEEN: list[dict[str, Any]] = [{"id": "2"}, {"metadata": {"a": 1}}, {"reference": "Bob"}]
HOW: list[dict[str, Any]] = [
    *({"judge": "n"}, {"prompt_version": "2"}, {"parameters": {"seed": 2}}),
    *({"criterion": ANSWER_RELEVANCY}, {"criterion": replace(FAITHFULNESS, wording="Other.")}),
    {"criterion": replace(FAITHFULNESS, checks_evidence=False)},
]


def test_whatever_can_change_a_verdict_changes_the_key_and_nothing_else() -> None:
    others = [*(key(SAMPLE.model_copy(update=c)) for c in SEEN), *(key(**how) for how in HOW)]
    assert len({key(), *others}) == 1 + len(SEEN) + len(HOW)
    assert {key(SAMPLE.model_copy(update=change)) for change in UNSEEN} == {key()}
    about = rubric("sources", ["Names a person."], against="contexts", shows=())
    assert key(SAMPLE.model_copy(update={"response": "Bob."}), about) == key(SAMPLE, about)
    assert key(parameters={"a": 1, "b": 2}) == key(parameters={"b": 2, "a": 1})
    one, two = Sample(response="b", contexts=("c",)), Sample(response="bc", contexts=("",))
    assert key(one) != key(two)
    for value in (float("nan"), object(), {1, 2}):
        with pytest.raises(InvalidValueError, match="JSON values"):
            key(parameters={"a": value})


def test_what_was_put_comes_back_without_the_sample(tmp_path: Path) -> None:
    path, usage = tmp_path / "new" / "folder" / "v.sqlite", Usage(calls=1, input_tokens=7, cost=0.5)
    about = {"usage": usage, "sample_id": "Zaphod", "metadata": {"who": "Trillian"}}
    made = scored("fully", "none").model_copy(update=about)
    with VerdictStore(path) as store:
        store.put("k", made)
    with VerdictStore(str(path)) as store:
        got = store.get("k")
    assert got is not None
    assert (got.from_store, got.usage, got.claims) == (True, usage, made.claims)
    assert (got.sample_id, got.metadata) == (None, {})
    assert not any(name in path.read_bytes() for name in (b"Zaphod", b"Trillian"))


def test_the_last_put_that_is_no_failure_is_served() -> None:
    with VerdictStore(":memory:") as store:
        for reason in (Reason.TIMEOUT, None, Reason.RATE_LIMIT):
            store.put("a", scored() if reason is None else unscored(reason))
            store.put("b", unscored(reason or Reason.REFUSAL))
            store.put("c", scored("none") if reason else scored())
        store.put("d", unscored(Reason.TIMEOUT))
        served = {"a": scored(), "b": unscored(Reason.REFUSAL), "c": scored("none")}
        assert store.get_many("abcd", Assessment) == served
    store.close()  # a second time
    with pytest.raises(UnreadableInputError, match="closed"):
        store.get("a")


def test_records_and_assessments_do_not_see_each_other(tmp_path: Path) -> None:
    texts = {f"k{n}": f"“{n}”\n'" for n in range(1200)}
    with VerdictStore(tmp_path / "v.sqlite") as store:
        store.put("k", scored())
        store.put_records([("k", '{"rating": 87}'), ("only", "x")])
        assert store.get_records(["k", "other", "k"]) == {"k": '{"rating": 87}'}
        store.put_records(texts.items())
        store.put_many((key, scored()) for key in texts)
    with VerdictStore(tmp_path / "v.sqlite") as store:
        assert store.get_records(texts) == texts
        assert store.get_many(texts, Assessment).keys() == texts.keys()
        assert (store.get("k"), store.get("only")) == (scored(), None)


def test_a_damaged_row_counts_as_absent(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    for value in ["", "{", b"\xff\xfe", 5, '{"schema_version": 3}', scored().to_json()[:-9]]:
        with VerdictStore(path) as store:
            store.put("k", scored())
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE judgements SET json = ?", (value,))
        with VerdictStore(path) as store:
            assert store.get("k") is None
            store.put("k", scored("none"))
            assert store.get("k") is not None


def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    other, text = tmp_path / "other.db", tmp_path / "samples.jsonl"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE verdicts (x)")
    for path, content, said in [
        (text, b"hello\n", r"samples\.jsonl .*no verdict store"),
        (text, b'{"question": "a"}\n' * 300, r"samples\.jsonl .*no verdict store"),
        (other, other.read_bytes(), "of another program"),
    ]:
        path.write_bytes(content)
        with pytest.raises(UnreadableInputError, match=said):
            VerdictStore(path)
        assert path.read_bytes() == content
    assert {*tmp_path.iterdir()} == {other, text}
    for bad in [tmp_path, text / "v.sqlite"]:
        with pytest.raises(UnreadableInputError, match="cannot be used"):
            VerdictStore(bad)
    with pytest.raises(InvalidValueError, match="empty"):
        VerdictStore("")


def test_one_store_serves_many_threads(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "v.sqlite") as store, ThreadPoolExecutor(8) as pool:

        def work(i: int) -> bool:
            store.put(f"k{i}", scored())
            return store.get(f"k{i}") is not None

        assert all(pool.map(work, range(400)))


IMPORTS = """
import itertools, os, sys
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.store import VerdictStore
"""
WRITER = """
with VerdictStore(sys.argv[1]) as store:
    for i in range(200):
        store.put(f"{sys.argv[2]}-{i}", Assessment.from_verdicts(["fully"]))
        store.put("shared", Assessment.from_verdicts(["none"]))
"""


@pytest.mark.slow
def test_four_processes_lose_nothing(tmp_path: Path) -> None:
    # The file does not exist yet, so they also race for creating it.
    path = tmp_path / "v.sqlite"
    writers = [start(WRITER, path, name) for name in "abcd"]
    for writer in writers:
        with writer:
            assert writer.wait(60) == 0
    with VerdictStore(path) as store:
        assert store.get("shared") is not None
        keys = [f"{n}-{i}" for n in "abcd" for i in range(200)]
        assert len(store.get_many(keys, Assessment)) == 800


ENDLESS = """
store = VerdictStore(sys.argv[1])
for i in itertools.count():
    store.put(f"k{i}", Assessment.from_verdicts(["fully"]))
    print(i, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_killed_process_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    with start(ENDLESS, path) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if line.strip() == "100":
                break
        writer.send_signal(signal.SIGKILL)
        # What it acknowledged between the hundredth line and its death counts as well; its
        # last line may be cut.
        rest = [int(line) for line in writer.stdout if line.endswith("\n")]
        assert writer.wait(60) == -signal.SIGKILL
    acknowledged = rest[-1] if rest else 100
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    with VerdictStore(path) as store:
        kept = store.get_many([f"k{i}" for i in range(acknowledged + 1)], Assessment)
        assert len(kept) == acknowledged + 1


FORKED = """
store = VerdictStore(sys.argv[1])
store.put("before", Assessment.from_verdicts(["fully"]))
parents = store._connection
child = os.fork()
if child == 0:
    store.put("child", Assessment.from_verdicts(["fully"]))
    own = store._connection is not parents
    store.close()
    os._exit(0 if own else 1)
assert os.waitpid(child, 0)[1] == 0
store.put("after", Assessment.from_verdicts(["fully"]))
assert sorted(store.get_many(["before", "child", "after"], Assessment)) == ["after", "before", "child"]
store.close()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_fork_opens_the_file_for_itself(tmp_path: Path) -> None:
    with start(FORKED, tmp_path / "v.sqlite") as parent:
        assert parent.wait(60) == 0


def test_a_write_waits_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with VerdictStore(path) as store, ThreadPoolExecutor(1) as pool:
        holder.execute("BEGIN IMMEDIATE")
        put = pool.submit(store.put, "k", scored())
        assert not put.done()
        holder.execute("COMMIT")
        put.result(timeout=60)
        assert store.get("k") is not None
    holder.close()


def test_a_store_that_an_evaluator_opened_is_closed_with_it(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "verdicts.sqlite")
    connection = store._connection
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
