"""The verdict store: keys, what is served, damage, several processes, and what a failing one costs."""

import asyncio
import gc
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, Criterion, Sample, rubric
from tcva_adapters.ccrs.result import MetricAnswer
from tcva_adapters.criteria import ANSWER_RELEVANCY, FAITHFULNESS
from tcva_adapters.errors import InvalidValueError, StoreWarning, UnreadableInputError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.models import store_keys
from tcva_adapters.models.store_keys import verdict_key
from tcva_adapters.results.judgement import Reason, Unscored, Usage
from tcva_adapters.results.store import VerdictStore
from tests.support.scripted import ScriptedModel

SOURCES = Path(__file__).parents[2]
SAMPLE = Sample(
    input="Who?", response="Ada.", contexts=("It was Ada.",), reference="Ada", id="1"
)
WAIT = 0.2


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "v.sqlite"


def key(
    sample: Sample = SAMPLE, criterion: Criterion = FAITHFULNESS, **changes: Any
) -> str:
    judge = SimpleNamespace(name="m", prompt_version="1", parameters={"seed": 1})
    vars(judge).update(changes)
    return verdict_key(sample, criterion, judge)


def scored(*words: str) -> Assessment:
    return Assessment.from_verdicts(list(words or ("fully",)))


def unscored(reason: Reason) -> Assessment:
    why = Unscored(reason=reason, detail="why")
    return Assessment(
        criterion="faithfulness", judge="m", prompt_version="1", unscored=why
    )


SEEN: list[dict[str, Any]] = [
    *({"response": "Bob."}, {"contexts": ("It was", "Ada.")}, {"contexts": ()}),
    *({"contexts": None}, {"input": "Whom?"}, {"input": None}),
]
UNSEEN: list[dict[str, Any]] = [
    {"id": "2"},
    {"metadata": {"a": 1}},
    {"reference": "Bob"},
]
HOW: list[dict[str, Any]] = [
    *({"name": "n"}, {"prompt_version": "2"}, {"parameters": {"seed": 2}}),
    *(
        {"criterion": ANSWER_RELEVANCY},
        {"criterion": replace(FAITHFULNESS, instruction="Other.")},
    ),
    {"criterion": replace(FAITHFULNESS, checks_evidence=False)},
]


def test_whatever_can_change_a_verdict_changes_the_key_and_nothing_else() -> None:
    others = [
        *(key(SAMPLE.model_copy(update=c)) for c in SEEN),
        *(key(**how) for how in HOW),
    ]
    assert len({key(), *others}) == 1 + len(SEEN) + len(HOW)
    assert {key(SAMPLE.model_copy(update=change)) for change in UNSEEN} == {key()}
    about = rubric("sources", ["Names a person."], against="contexts", shows=())
    assert key(SAMPLE.model_copy(update={"response": "Bob."}), about) == key(
        SAMPLE, about
    )
    assert key(parameters={"a": 1, "b": 2}) == key(parameters={"b": 2, "a": 1})
    one, two = (
        Sample(response="b", contexts=("c",)),
        Sample(response="bc", contexts=("",)),
    )
    assert key(one) != key(two)
    for value in (float("nan"), object()):
        with pytest.raises(InvalidValueError, match="JSON values"):
            key(parameters={"a": value})


def test_what_was_put_comes_back_without_the_sample(tmp_path: Path) -> None:
    path, usage = (
        tmp_path / "new" / "folder" / "v.sqlite",
        Usage(calls=1, input_tokens=7, cost=0.5),
    )
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


def test_judgements_of_different_kinds_do_not_see_each_other(path: Path) -> None:
    ratings = {f"k{n}": MetricAnswer(rating=n / 12) for n in range(1200)}
    with VerdictStore(path) as store:
        store.put_many([*ratings.items(), ("only", MetricAnswer(rating=1))])
        store.put_many((key, scored()) for key in ratings)
    with VerdictStore(path) as store:
        assert store.get_many([*ratings, "other", "k0"], MetricAnswer) == ratings
        assert store.get_many(ratings, Assessment).keys() == ratings.keys()
        assert store.get("only") is None


def test_a_damaged_row_counts_as_absent(path: Path) -> None:
    with VerdictStore(path) as store:
        for value in [
            "",
            "{",
            b"\xff\xfe",
            5,
            '{"schema_version": 4}',
            scored().to_json()[:-9],
        ]:
            store.put("k", scored())
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("UPDATE judgements SET json = ?", (value,))
            assert store.get("k") is None


def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path, path: Path) -> None:
    other, text = tmp_path / "other.db", tmp_path / "samples.jsonl"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE verdicts (x)")
    VerdictStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    for file, content, said in [
        (text, b"hello\n", r"samples\.jsonl .*cannot be used"),
        (text, b'{"question": "a"}\n' * 300, r"samples\.jsonl .*cannot be used"),
        (other, other.read_bytes(), "not a store"),
        (path, path.read_bytes(), "it has 2"),
    ]:
        file.write_bytes(content)
        with pytest.raises(UnreadableInputError, match=said):
            TCVA(judge="lexical", store=file)
        assert file.read_bytes() == content
    assert {*tmp_path.iterdir()} == {other, text, path}
    for bad in [tmp_path, text / "v.sqlite"]:
        with pytest.raises(UnreadableInputError):
            VerdictStore(bad)
    with pytest.raises(InvalidValueError, match="empty"):
        VerdictStore("")


def test_it_is_pickled_as_its_path_and_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    store = VerdictStore(path.name)
    store.put("k", scored())
    text = pickle.dumps(store)
    monkeypatch.chdir("/")
    with pickle.loads(text) as again:
        assert again.get("k") is not None
    with VerdictStore(":memory:") as memory, pytest.raises(InvalidValueError):
        pickle.dumps(memory)
    connection = store._connection
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


# --- threads and processes ------------------------------------------------------------------


def test_one_store_serves_many_threads(path: Path) -> None:
    with VerdictStore(path) as store, ThreadPoolExecutor(8) as pool:

        def work(i: int) -> bool:
            store.put(f"k{i}", scored())
            return store.get(f"k{i}") is not None

        assert all(pool.map(work, range(400)))


WRITER = """
import itertools, sys
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.store import VerdictStore
from tests.support.scripted import ScriptedModel
path, name, times = sys.argv[1:]
with VerdictStore(path) as store:
    for i in range(int(times)) if times else itertools.count():
        store.put(f"{name}-{i}", Assessment.from_verdicts(["fully"]))
        store.put("shared", Assessment.from_verdicts(["none"]))
        print(i, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_processes_lose_nothing_acknowledged_and_one_of_them_is_killed(
    path: Path,
) -> None:
    # The file does not exist yet, so they also race for creating it.
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name, times],
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, times in (("a", "200"), ("b", "200"), ("killed", ""))
    ]
    acknowledged = {}
    for name, writer in zip(("killed", "b", "a"), started[::-1], strict=True):
        with writer:
            assert writer.stdout is not None
            if name == "killed":
                next(line for line in writer.stdout if line.strip() == "100")
                writer.send_signal(signal.SIGKILL)
            rest = [int(line) for line in writer.stdout if line.endswith("\n")]
            acknowledged[name] = rest[-1] if rest else 100
            assert writer.wait(60) == (-signal.SIGKILL if name == "killed" else 0)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with VerdictStore(path) as store:
        keys = [
            f"{name}-{i}"
            for name, last in acknowledged.items()
            for i in range(last + 1)
        ]
        assert len(store.get_many(["shared", *keys], Assessment)) == len(keys) + 1 > 500


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
# Python warns of forks beside threads, which other tests leave.
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_fork_opens_the_file_for_itself(path: Path) -> None:
    with VerdictStore(path) as store:
        store.put("before", scored())
        parents = store._connection
        child = os.fork()
        if child == 0:
            store.put("child", scored())
            store.close()
            os._exit(store._connection is parents)
        assert os.waitpid(child, 0)[1] == 0
        store.put("after", scored())
        keys = {"before", "child", "after"}
        assert store.get_many(keys, Assessment).keys() == keys


# --- a store that fails costs the store: one warning, and no long wait ------------------------

OPENS = "The office opens at nine."
TEXTS = [f"{OPENS} It has {i} rooms." for i in range(6)]
SAMPLES = [Sample(id=t, input="When?", response=t, contexts=(OPENS,)) for t in TEXTS]


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another program that writes and does not end."""
    with closing(
        sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    ) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield


def test_a_write_waits_for_another_process(path: Path) -> None:
    with VerdictStore(path) as store, ThreadPoolExecutor(1) as pool:
        with held(path):
            put = pool.submit(store.put, "k", scored())
            assert not put.done()
        put.result(timeout=60)
        assert store.get("k") is not None


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_store_held_long(
    path: Path, asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Inside an event loop the wait is a short one.
    short, other = ("_LOOP_WAIT_SECONDS", "_WAIT_SECONDS")[:: 1 if asynchronous else -1]
    monkeypatch.setattr(f"tcva_adapters.results.store.{short}", WAIT)
    monkeypatch.setattr(f"tcva_adapters.results.store.{other}", 60.0)

    def judged(samples: list[Sample] = SAMPLES) -> list[Any]:
        if asynchronous:
            return asyncio.run(tcva.aevaluate_many(samples))
        return tcva.evaluate_many(samples)

    tcva = TCVA(judge="lexical", store=path)
    with held(path):
        started = time.monotonic()
        with pytest.warns(StoreWarning, match="not cached") as told:
            results = judged()
        tcva.evaluate(SAMPLES[0])
        asyncio.run(tcva.aevaluate(SAMPLES[2]))
        assert time.monotonic() - started < 30
        assert len(told) == 1
    assert all(result.score is not None for result in results)
    assert judged() == results  # all is well again, and nothing is said
    with held(path), pytest.warns(StoreWarning, match="another process"):
        judged([SAMPLES[4].model_copy(update={"response": OPENS})])


def test_a_store_that_cannot_be_written_costs_the_store_alone(path: Path) -> None:
    store = VerdictStore(path)
    tcva, connection = TCVA(judge="lexical", store=store), store._connection
    tcva.evaluate(SAMPLES[0])
    connection.execute("PRAGMA query_only = ON")
    with pytest.warns(StoreWarning, match="readonly"):
        results = tcva.evaluate_many(SAMPLES)
    assert [result.assessment.from_store for result in results] == [True] + [False] * 5
    connection.execute("PRAGMA query_only = OFF")
    tcva.evaluate_many(SAMPLES)
    connection.execute("PRAGMA max_page_count = 1")
    texts = [f"{OPENS} {i} {'x' * 99_000}" for i in range(3)]
    big = [Sample(response=text, contexts=(text,)) for text in texts]
    with pytest.warns(StoreWarning, match=r"full") as told:
        results = tcva.evaluate_many(big)
    assert len(told) == 1
    assert all(result.score is not None for result in results)
    connection.execute("PRAGMA max_page_count = 100000")
    assert tcva.evaluate_many(big) == results


def test_what_an_earlier_split_judged_is_judged_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Claims that are split otherwise are other claims; rules of a rubric and an LLM's claims are the same."""
    sample = Sample(response="It is 5.[doc-7] It is 6.", contexts=("It is 5.",))
    judge = LLMJudge(ScriptedModel([]))
    own = LLMJudge(ScriptedModel([]), claims="llm")
    tone = rubric("tone", ["Is polite."])
    judged = [
        (FAITHFULNESS, judge, False),
        (FAITHFULNESS, own, True),
        (tone, judge, True),
        (tone, LexicalJudge(), False),  # it quotes sentences of the response
    ]
    for criterion, asked, is_same in judged:
        now = verdict_key(sample, criterion, asked)
        with monkeypatch.context() as patch:
            patch.setattr(store_keys, "SPLIT_VERSION", 1)
            assert (verdict_key(sample, criterion, asked) == now) is is_same
