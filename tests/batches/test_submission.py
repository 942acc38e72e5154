"""What is judged by batches is what a live run judges, and nothing is asked twice on the way."""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA, Panel, Sample
from tcva_adapters.batches import cancel, collect, status, submit
from tcva_adapters.batches.ledger import open_ledger
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.tables import Report
from tests.support.batch_server import BatchServer, Fault, Line
from tests.support.one_word import one_word
from tests.support.scripted import ScriptedModel
from tests.support.server import (
    DROP,
    Answer,
    Body,
    Handler,
    auto_judge,
    error,
    lacking,
    reply,
)

KEY = "sk-test-0123456789abcdef"
SAMPLES = [
    Sample(
        id=f"s{n}",
        input="When?",
        response=f"Room {n} opens at nine.\u2028 It is painted red. Zebras invented telephone {n}.",
        contexts=[f"Room {n} opens at nine. It is painted red.", "Parking is free."],
        reference=f"Room {n} opens at nine.",
    )
    for n in range(12)
]
FEW = SAMPLES[:4]


@pytest.fixture(name="server")
def _server() -> Iterator[BatchServer]:
    with BatchServer(auto_judge, models=("m", "n")) as server:
        yield server


@pytest.fixture(name="tcva")
def _tcva(server: BatchServer, tmp_path: Path) -> TCVA:
    return TCVA(judge=model_at(server, max_retries=0), store=tmp_path / "v.sqlite")


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Path:
    return tmp_path / "sub"


def model_at(
    server: BatchServer, name: str = "m", **settings: Any
) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(
        name, base_url=server.base_url, api_key=KEY, **settings
    )


def figures(report: Report) -> dict[str, Any]:
    (found,) = report.records("samples")
    return found


def collected(scorer: Any, folder: Path, **options: Any) -> Report:
    """Collect until nothing is under way."""
    for _ in range(12):
        report = collect(scorer, folder, **options)
        options.pop("again", None)
        if not figures(report)["requests_under_way"]:
            return report
    raise AssertionError(report)


def plain(results: list[Any]) -> list[str]:
    """Results as JSON, without the seconds that calls took."""
    return [re.sub(r'"seconds": ?[0-9.e-]+', "", each.to_json()) for each in results]


def sloppy(body: Body, number: int) -> Any:
    """Leaves the last verdict out at first; some replies are no JSON, some are cut off."""
    prompt = body["messages"][-1]["content"]
    text = auto_judge(body, number)
    if "keeping the numbers" in prompt or "verdicts" not in text:
        return text if "telephone 5." not in prompt else "I would rather not."
    if "telephone 3." in prompt:
        return reply(text[:40], finish_reason="length", model="m")
    verdicts = json.loads(text)["verdicts"]
    return json.dumps({"verdicts": verdicts[:-1]})


def rates(body: Body, _: int) -> str:
    if "Room 4 " in body["messages"][-1]["content"]:
        return '{"score": 30, "rating": 30}'
    return json.dumps(
        dict.fromkeys(("score", "rating", "cc", "qr", "id", "ac", "ir"), 70)
    )


SCORERS: dict[str, Callable[[BatchServer, Path], Any]] = {
    "split": lambda s, p: TCVA(judge=model_at(s, prices=(1, 5)), store=p),
    "llm": lambda s, p: TCVA(judge=model_at(s), claims="llm", store=p),
    "repeats": lambda s, p: TCVA(
        judge=Panel([model_at(s), "lexical"]), fuse=model_at(s, "n"), repeats=2, store=p
    ),
    "ccrs": lambda s, p: CCRS(judge=model_at(s), store=p),
}


@pytest.mark.parametrize("kind", SCORERS)
def test_batches_as_live_runs(
    kind: str, server: BatchServer, tmp_path: Path, place: Path
) -> None:
    server.script = rates if kind == "ccrs" else sloppy
    build = SCORERS[kind]
    blank = Sample(id="blank", input="?", response=" ", contexts=["x"], reference="x")
    samples = [
        *SAMPLES,
        blank,
        Sample(id="none", response="x", contexts=["x"]),
        SAMPLES[0],
    ]
    first = build(server, tmp_path / "live.sqlite").evaluate_many(samples)
    batch = build(server, tmp_path / "batch.sqlite")
    submit(batch, samples, place)
    found = figures(collected(batch, place))
    failed = sum(r.unscored is not None and r.unscored.reason.is_failure for r in first)
    assert (found["failed"], found["scored"]) == (
        failed,
        sum(r.unscored is None for r in first),
    )
    assert found["waiting"] == 0
    again = [build(server, tmp_path / f"{name}.sqlite") for name in ("live", "batch")]
    one, other = (
        [r for r in s.evaluate_many(samples) if r.passed is not None] for s in again
    )
    assert plain(one) == plain(other)
    assert max(server.answered.values()) == 1


@pytest.mark.parametrize(("verdicts", "calls"), [("written", 2), ("yes_no", 30)])
def test_a_turn_goes_into_one_batch(
    verdicts: Any, calls: int, tmp_path: Path, place: Path
) -> None:
    text = " ".join(f"Room number {n} opens at nine." for n in range(1, 31))
    sample = Sample(id="long", response=text, contexts=[text])
    with BatchServer(one_word, models=("m",)) as server:
        tcva = TCVA(
            judge=model_at(server), verdicts=verdicts, store=tmp_path / "v.sqlite"
        )
        assert figures(submit(tcva, [sample], place))["requests_under_way"] == calls
        collected(tcva, place)
        result = tcva.evaluate(sample)
        live = TCVA(judge=model_at(server), verdicts=verdicts, share=False).evaluate(
            sample
        )
    assert result.assessment.from_store
    assert (result.claims, result.score) == (live.claims, live.score)


CLOSING = "Bis die Tage, deine Velohelden."


def marks_closings(body: Body, number: int) -> str:
    prompt = body["messages"][-1]["content"]
    if "Does SENTENCE assert something?" in prompt:
        return '{"reason": "a farewell", "asserts": "no"}'
    return auto_judge(body, number).replace(
        '"verdict": "none"', '"verdict": "not_a_claim"'
    )


def test_a_sentence_alone_is_a_turn_that_all_samples_share(
    server: BatchServer, tcva: TCVA, place: Path
) -> None:
    server.script = marks_closings
    samples = [
        Sample(
            id=f"s{n}",
            response=f"Room {n} is red. {CLOSING}",
            contexts=[f"Room {n} is red."],
        )
        for n in range(4)
    ]
    alone: dict[str, int] = {}

    def fate(_: int, __: int, line: Line) -> Answer | None:
        if "SENTENCE" not in str(line):
            return None
        alone[line["custom_id"]] = alone.get(line["custom_id"], 0) + 1
        return error(400, "no") if alone[line["custom_id"]] == 1 else None

    server.fate = fate
    submit(tcva, samples, place)
    report = collected(tcva, place)
    assert [each["requests"] for each in report.records("batches")] == [4, 1]
    assert figures(report)["failed"] == 4
    # Asked anew it is answered; the replies to the samples that are asked again differ in nothing.
    report = collected(tcva, place, again=True)
    assert figures(report)["scored"] == 4
    assert [*alone.values()] == [2]
    results = tcva.evaluate_many(samples)
    assert all(result.assessment.from_store for result in results)
    assert [result.claims[1].marked_by_judge for result in results] == [True] * 4
    assert [result.score for result in results] == [1.0] * 4
    # A live run knows the sentence from the batch, and a batch from a live run.
    before = server.count
    new = Sample(response=f"Room 9 is red. {CLOSING}", contexts=["Room 9 is red."])
    assert tcva.evaluate(new).score == 1.0
    assert server.count == before + 1
    other = [Sample(response=f"Room 7 is red. {CLOSING}", contexts=["Room 7 is red."])]
    submit(tcva, other, place / "other")
    report = collected(tcva, place / "other")
    assert [each["requests"] for each in report.records("batches")] == [1]


def test_failed_expired_and_missing_lines(
    server: BatchServer, tcva: TCVA, place: Path
) -> None:
    def fate(batch: int, number: int, _: Line) -> str | Answer | None:
        if batch == 2:
            return "expired" if number > 2 else None
        fates = {1: error(500, "oops"), 2: "missing", 3: error(429, "slow down")}
        return fates.get(number) if batch == 1 else None  # type: ignore[return-value]  # mypy joins str and Answer to object

    server.fate, server.statuses = fate, {2: "expired"}
    submit(tcva, SAMPLES, place, batch_size=6)
    report = collect(tcva, place)
    assert [each["requests"] for each in report.records("batches")] == [6, 6, 6, 1]
    assert report.sentence == "5 of 12 samples scored, 0 failed; 7 requests under way"
    assert figures(collected(tcva, place))["scored"] == 12
    assert set(server.answered.values()) == {1}
    retries = [r.assessment.usage.retries for r in tcva.evaluate_many(SAMPLES)]
    assert sorted(retries) == [0] * 5 + [1] * 7


def test_tries_end_or_are_not_begun(
    server: BatchServer, tcva: TCVA, place: Path
) -> None:
    def fate(_: int, __: int, line: Line) -> str | Answer | None:
        if "Room 1 " in str(line):
            return "expired"
        if "Room 2 " in str(line):
            return error(400, "This model's maximum context length is 10 tokens.")
        quota = error(
            429, "You exceeded your current quota.", code="insufficient_quota"
        )
        return quota if "Room 3 " in str(line) else None

    server.fate = fate
    submit(tcva, SAMPLES, place, tries=2)
    report = collected(tcva, place)
    assert [each["requests"] for each in report.records("batches")] == [12, 1]
    assert (figures(report)["scored"], figures(report)["failed"]) == (9, 3)
    reasons = {each["reason"]: each["example"] for each in report.records("failures")}
    assert "no reply; the batch is" in reasons["timeout"]
    assert "maximum context length" in reasons["judge_error"]  # the first of two
    server.fate = lambda *_: None
    assert figures(collected(tcva, place, again=True))["scored"] == 12
    assert set(server.answered.values()) == {1}


def test_the_first_answer_to_a_request_stays(
    server: BatchServer, tcva: TCVA, place: Path
) -> None:
    submit(tcva, FEW, place)
    held = server.look("batch_1")
    name, content = server.files[held["output_file_id"]]
    lines = content.decode().split("\n")
    other = json.loads(lines[0])
    message = other["response"]["body"]["choices"][0]["message"]
    message["content"] = message["content"].replace('"none"', '"fully"')
    failed = {
        **json.loads(lines[1]),
        "response": {"status_code": 500, "body": {}},
    }
    late = json.dumps(failed)
    # A failure may come before an answer or after it.
    lines = [late, *lines, json.dumps(other), lines[2], late, late.replace("-0", "-7")]
    server.files[held["output_file_id"]] = (name, "\n".join(lines).encode())
    report = collected(tcva, place)
    assert [each["requests"] for each in report.records("batches")] == [4]
    assert figures(report)["scored"] == 4
    assert len({tcva.evaluate(sample).score for sample in FEW}) == 1


HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: "
BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n"


@pytest.mark.parametrize("beginning", [HEADERS, BODY], ids=["headers", "body"])
@pytest.mark.parametrize(
    ("path", "ask"),
    [
        ("POST /v1/files", lambda tcva, place: submit(tcva, FEW, place)),
        ("POST /v1/batches", lambda tcva, place: submit(tcva, FEW, place)),
        ("GET /v1/batches/batch_1", status),
        ("POST /v1/batches/batch_1/cancel", cancel),
        ("GET /v1/files/file-2/content", collect),
    ],
    ids=["upload", "create", "status", "cancel", "download"],
)
def test_a_server_that_sends_byte_after_byte_is_not_waited_for(
    path: str, ask: Callable[[TCVA, Path], object], beginning: bytes,
    server: BatchServer, tcva: TCVA, place: Path,
) -> None:  # fmt: skip
    def drips(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(beginning)
        for _ in range(200):  # a byte now and then restarts the clock of a connection
            handler.wfile.write(b" ")
            handler.wfile.flush()
            if server.closing.wait(0.1):
                return

    if ask in (status, cancel, collect):
        server.hold = ask is cancel
        submit(tcva, FEW, place)
        server.look("batch_1")
    server.faults = [Fault(path, Answer(write=drips))]
    impatient = TCVA(
        judge=model_at(server, timeout=1.0, max_retries=0), store=tcva.store
    )
    began = time.monotonic()
    with pytest.raises(JudgeError) as raised:
        ask(impatient, place)
    assert raised.value.reason == "timeout"
    assert time.monotonic() - began < 10  # the server goes on for twenty seconds
    if ask is not cancel:
        submit(tcva, FEW, place)
        assert (
            figures(collected(tcva, place))["scored"] == 4
        )  # the ledger is free, nothing is lost


def test_what_a_model_refuses_is_left_out(
    server: BatchServer, tcva: TCVA, place: Path
) -> None:
    server.script = lacking("temperature", "seed", then=auto_judge)
    submit(tcva, FEW, place)
    assert server.count == 3
    report = collected(tcva, place)
    assert (figures(report)["scored"], len(report.records("batches"))) == (4, 1)
    assert "openai:m gets requests without seed" in str(report)


def test_a_wrong_key_is_found_at_once(
    server: BatchServer, tcva: TCVA, place: Path
) -> None:
    server.script = lambda *_: error(
        401, f"Incorrect API key {KEY}.", code="invalid_api_key"
    )
    with pytest.raises(JudgeError, match="API key was not accepted") as raised:
        submit(tcva, SAMPLES, place)
    assert KEY not in str(raised.value)
    assert not server.files
    server.script = auto_judge
    submit(tcva, SAMPLES, place)
    assert figures(collected(tcva, place))["scored"] == 12


def test_batches_that_fail_or_are_cancelled(
    server: BatchServer, tcva: TCVA, place: Path
) -> None:
    server.statuses = {1: "failed"}
    server.fate = lambda batch, number, _: (
        "cancelled" if batch == 2 and number > 2 else None
    )
    submit(tcva, SAMPLES, place)
    report = collected(tcva, place)
    assert "batch 1: The provided model 'm' is not supported by Batch." in str(report)
    server.hold = True
    collect(tcva, place, again=True)
    assert status(tcva, place).records("batches")[1]["status"] == "in_progress"
    assert "cancelling" in str(cancel(tcva, place))
    server.hold = False
    assert figures(collected(tcva, place))["scored"] == 2
    report = collected(tcva, place, again=True)
    assert (figures(report)["scored"], report.records("batches")[-1]["requests"]) == (
        12,
        10,
    )
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("size", [4, 1])
def test_batches_wait_for_room(
    size: int, server: BatchServer, tcva: TCVA, place: Path
) -> None:
    server.room = 15_000 if size == 1 else 40_000
    submit(tcva, SAMPLES, place, batch_size=12 if size == 1 else 4)
    report = collect(tcva, place)
    assert ("Enqueued token limit reached for m." in str(report)) is (size == 4)
    if size == 1:  # it is too large for any room, and was sent again
        assert "cancelled before it was sent" in str(cancel(tcva, place))
        submit(tcva, SAMPLES, place, batch_size=1)
        collect(tcva, place, again=True)
    report = collected(tcva, place)
    assert figures(report)["scored"] == 12
    assert set(server.answered.values()) == {1}


def test_what_a_server_lacks(
    server: BatchServer, tcva: TCVA, tmp_path: Path, place: Path
) -> None:
    submit(tcva, FEW, place, batch_size=2)
    gone = Fault("GET /v1/batches/batch_1", error(404, "gone"))
    server.faults = [gone] * 3
    assert "the server does not know it" in str(status(tcva, place))
    assert figures(collect(tcva, place))["scored"] == 2
    assert (
        figures(collect(tcva, place, wait=0.01))["scored"] == 2
    )  # it does not wait for ever
    assert figures(collected(tcva, place))["scored"] == 4  # the right key
    assert len(server.batches) == 2
    submit(tcva, SAMPLES, tmp_path / "lost", batch_size=4)
    server.faults = [Fault("GET /v1/batches/batch_3", error(404, "gone"))] * 2
    collect(tcva, tmp_path / "lost")
    assert figures(collected(tcva, tmp_path / "lost", again=True))["scored"] == 12
    assert len(server.batches) == 5


@pytest.mark.parametrize("path", ["POST /v1/files", "POST /v1/batches"])
@pytest.mark.parametrize("is_done", [True, False])
def test_lost_reply(
    path: str, is_done: bool, server: BatchServer, tcva: TCVA, place: Path
) -> None:
    server.faults = [Fault(path, DROP, is_done=is_done)]
    with pytest.raises(JudgeError):
        submit(tcva, SAMPLES, place)
    submit(tcva, SAMPLES, place)
    assert len(server.batches) == 1
    assert figures(collect(tcva, place))["scored"] == len(SAMPLES)


def test_waiting_outlasts_an_away_server(
    server: BatchServer, tmp_path: Path, place: Path
) -> None:
    judge = model_at(server, max_retries=0)
    tcva = TCVA(judge=judge, claims="llm", store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, place)
    away = Fault("GET /v1/batches/batch_1", error(503, "away"))
    server.faults = [away, Fault("GET /v1/files/file-2/content", DROP)]
    said: list[str] = []
    report = collect(tcva, place, wait=0.01, say=said.append)
    assert figures(report)["scored"] == 12
    assert said == ["0 of 12 samples scored, 0 failed; 12 requests under way"]


def test_what_is_refused(
    server: BatchServer, tcva: TCVA, tmp_path: Path, place: Path
) -> None:
    submit(tcva, SAMPLES, place)
    submit(
        tcva.changed(temperature=0.1), SAMPLES, place
    )  # a view is none of its business
    store, new = tcva.store, tmp_path / "new"
    for other in (
        tcva.changed(max_claims=3),
        TCVA(judge=model_at(server, "n"), store=store),
    ):
        with pytest.raises(InvalidValueError):
            collect(other, place)
    two = TCVA(
        judge=model_at(server), fuse=model_at(server, temperature=1.0), store=store
    )
    for scorer, samples, folder, says in (
        (tcva, SAMPLES[1:], place, "a submission of other samples"),
        (tcva.changed(store=None), SAMPLES, new, "needs a store"),
        (TCVA(judge="lexical", store=store), SAMPLES, new, "uses no model"),
        (
            TCVA(judge=ScriptedModel([]), store=store),
            SAMPLES,
            new,
            "openai:MODEL, got ",
        ),
        (two, SAMPLES, new, "with different settings"),
    ):
        with pytest.raises(InvalidValueError, match=says):
            submit(scorer, samples, folder)
    with pytest.raises(InvalidValueError):
        status(tcva, new)
    with pytest.raises(ZeroDivisionError):
        submit(tcva, (1 // 0 for _ in FEW), new)  # type: ignore[misc]  # that is the point
    with pytest.raises(InvalidValueError, match="stopped before"):
        status(tcva, new)
    with pytest.raises(InvalidValueError, match="wait"):
        collect(tcva, place, wait=0)
    server.faults = [Fault("POST /v1/files", error(404, "no page"))]
    with pytest.raises(JudgeError):
        submit(tcva, [Sample(response="It is red.", contexts=["A red car."])], new)


@pytest.mark.slow
def test_one_command_at_a_time_and_no_file_of_something_else(
    tcva: TCVA, tmp_path: Path
) -> None:
    submit(tcva, FEW, tmp_path / "sub")
    with (
        open_ledger(tmp_path / "sub"),
        pytest.raises(InvalidValueError, match="another command"),
    ):
        status(tcva, tmp_path / "sub")
    with sqlite3.connect(tmp_path / "ledger.sqlite") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(ValueError, match="is not a submission of this version"):
        submit(tcva, SAMPLES, tmp_path)
    (tmp_path / "ledger.sqlite").write_text("my notes\n" * 100, encoding="utf-8")
    with pytest.raises(InvalidValueError):
        submit(tcva, SAMPLES, tmp_path)


def test_keys_stay_outside(
    server: BatchServer, tcva: TCVA, tmp_path: Path, place: Path
) -> None:
    def tells(body: Body, number: int) -> Any:
        if "Room 1 " in str(body):
            return error(400, f"Your key {KEY} is odd.")
        return auto_judge(body, number).replace("Stated.", f"Stated with {KEY}.")

    server.script = tells
    submit(tcva, SAMPLES, place)
    report = collected(tcva, place)
    assert figures(report)["failed"] == 1
    assert KEY not in str(report)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 1
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
