"""What is judged by batches is what a live run judges, and nothing is asked twice on the way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA, Panel, Sample
from tcva_adapters.batches import BatchReport, Limits, cancel, collect, status, submit
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.batch_server import BatchServer, Fault, Line
from tests.support.one_word import one_word
from tests.support.server import DROP, Answer, Body, auto_judge, error, lacking, reply

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


@pytest.fixture(name="server")
def _server() -> Iterator[BatchServer]:
    with BatchServer(auto_judge, models=("m", "n")) as server:
        yield server


def model_at(server: BatchServer, name: str = "m", **settings: Any) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(name, base_url=server.base_url, api_key=KEY, **settings)


def collected(scorer: Any, folder: Path, **options: Any) -> BatchReport:
    """Collect until nothing is under way."""
    for _ in range(12):
        report = collect(scorer, folder, **options)
        options.pop("again", None)
        if not report.under_way:
            return report
    raise AssertionError(report)


def plain(results: list[Any]) -> list[str]:
    """Results as JSON, without the seconds that calls took."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: clean(v) for key, v in value.items() if key != "seconds"}
        return [clean(v) for v in value] if isinstance(value, list) else value

    return [json.dumps(clean(json.loads(each.to_json()))) for each in results]


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


def rates(body: Body, number: int) -> str:
    prompt = body["messages"][-1]["content"]
    if "Room 4 " in prompt and "Reply" not in body["messages"][0]["content"][:5]:
        return "no number" if number % 2 else '{"score": 30, "rating": 30}'
    return json.dumps(dict.fromkeys(("score", "rating", "cc", "qr", "id", "ac", "ir"), 70))


SCORERS: dict[str, Callable[[BatchServer, Path], Any]] = {
    "split": lambda s, p: TCVA(judge=model_at(s, prices=(1, 5)), store=p),
    "llm": lambda s, p: TCVA(judge=model_at(s), claims="llm", store=p),
    "panel": lambda s, p: TCVA(
        judge=Panel([model_at(s), model_at(s, "n"), "lexical"]), fuse="lexical", store=p
    ),
    "repeats": lambda s, p: TCVA(
        judge=Panel([model_at(s), "lexical"]), fuse=model_at(s, "n"), repeats=2, store=p
    ),
    "fuse": lambda s, p: TCVA(
        judge=model_at(s),
        fuse=[TCVA("answer_relevancy", judge=model_at(s)), model_at(s, "n")],
        store=p,
    ),
    "ccrs": lambda s, p: CCRS(judge=model_at(s), store=p),
}


@pytest.mark.parametrize("kind", SCORERS)
def test_a_batch_gives_what_a_live_run_gives(
    kind: str, server: BatchServer, tmp_path: Path
) -> None:
    is_ccrs = kind == "ccrs"
    server.script = rates if is_ccrs else sloppy
    if is_ccrs:  # numbers of lines differ from those of calls
        server.script = lambda body, _: rates(body, 0)
    build = SCORERS[kind]
    blank = Sample(id="blank", input="?", response=" ", contexts=["x"], reference="x")
    samples = [*SAMPLES, blank, Sample(id="none", response="x", contexts=["x"]), SAMPLES[0]]
    live = build(server, tmp_path / "live.sqlite")
    first = live.evaluate_many(samples)
    batch = build(server, tmp_path / "batch.sqlite")
    submit(batch, samples, tmp_path / "sub")
    report = collected(batch, tmp_path / "sub")
    assert report.is_done
    failed = sum(r.unscored is not None and r.unscored.reason.is_failure for r in first)
    assert (report.failed, report.scored) == (failed, sum(r.unscored is None for r in first))
    again = [build(server, tmp_path / f"{name}.sqlite") for name in ("live", "batch")]
    one, other = (
        [r for r in each.evaluate_many(samples) if r.passed is not None] for each in again
    )
    assert plain(one) == plain(other)
    assert max(server.answered.values()) == 1


def test_a_batch_that_is_collected_costs_no_call(server: BatchServer, tmp_path: Path) -> None:
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    half = tcva.evaluate_many(SAMPLES[:6])
    report = submit(tcva, SAMPLES, tmp_path / "sub")
    assert (report.scored, report.waiting, report.requests) == (6, 6, 6)
    assert "6 of 12 samples judged" in report.sentence
    collected(tcva, tmp_path / "sub")
    before = server.count
    fresh = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite", share=False)
    results = fresh.evaluate_many(SAMPLES)
    assert server.count == before
    assert [r.score for r in results[:6]] == [r.score for r in half]
    assert all(r.assessment.from_store for r in results)
    assert (
        collect(tcva, tmp_path / "sub").sentence == "12 of 12 samples judged; nothing is under way"
    )
    assert status(tcva, tmp_path / "sub").tokens == (60, 30)


def test_failed_lines_an_expired_batch_and_lines_that_are_missing(
    server: BatchServer, tmp_path: Path
) -> None:
    def fate(batch: int, number: int, _: Line) -> str | Answer | None:
        if batch == 2:
            return "expired" if number > 2 else None
        fates: dict[int, str | Answer] = {
            1: error(500, "oops"),
            2: "missing",
            3: error(429, "slow down"),
        }
        return fates.get(number) if batch == 1 else None

    server.fate, server.statuses = fate, {2: "expired"}
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub", limits=Limits(requests=6))
    report = collect(tcva, tmp_path / "sub")
    assert [each.requests for each in report.batches] == [6, 6, 6, 1]
    assert report.sentence == (
        "5 of 12 samples judged; round 2: 7 requests in 2 batches, 0 of them answered"
    )
    report = collected(tcva, tmp_path / "sub")
    assert (report.scored, report.failed, report.is_done) == (12, 0, True)
    assert max(server.answered.values()) == 1
    assert sum(server.answered.values()) == 12
    retries = [r.assessment.usage.retries for r in tcva.evaluate_many(SAMPLES)]
    assert sorted(retries) == [0] * 5 + [1] * 7


def test_tries_end(server: BatchServer, tmp_path: Path) -> None:
    server.fate = lambda _, number, line: (
        "expired"
        if "Room 1 " in str(line)
        else error(503, "busy")
        if "Room 2 " in str(line)
        else None
    )
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub", tries=2)
    report = collected(tcva, tmp_path / "sub")
    assert [each.requests for each in report.batches] == [12, 2]
    assert {(why, number) for why, number, _ in report.failures} == {
        ("timeout", 1),
        ("judge_error", 1),
    }
    assert "timeout: 1 sample, the first: " in str(report)
    assert "--again" in str(report)
    # Not by itself, but on demand.
    assert len(collected(tcva, tmp_path / "sub").batches) == 2
    server.fate = lambda *_: None
    report = collected(tcva, tmp_path / "sub", again=True)
    assert [each.requests for each in report.batches] == [12, 2, 2]
    assert (report.scored, report.failed) == (12, 0)
    assert max(server.answered.values()) == 1


def test_what_the_server_refuses_for_good_is_not_asked_again(
    server: BatchServer, tmp_path: Path
) -> None:
    too_long = error(400, "This model's maximum context length is 10 tokens.")
    no_credit = error(429, "You exceeded your current quota.", code="insufficient_quota")
    server.fate = lambda _, number, line: {1: too_long, 2: no_credit}.get(number)
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub")
    report = collected(tcva, tmp_path / "sub")
    assert (len(report.batches), report.scored, report.failed) == (1, 10, 2)
    assert "maximum context length" in str(report)


@pytest.mark.parametrize("trial", [True, False])
def test_what_a_model_refuses_is_left_out(trial: bool, server: BatchServer, tmp_path: Path) -> None:
    server.script = lacking("temperature", "seed", then=auto_judge)
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES[:3], tmp_path / "sub", trial=trial)
    assert server.count == (3 if trial else 0)
    report = collected(tcva, tmp_path / "sub")
    assert report.scored == 3
    assert len(report.batches) == (1 if trial else 3)
    assert set(report.refused["openai:m"]) == {"temperature", "seed"}
    assert "openai:m is asked without seed" in str(report)
    # In another process what was learnt is known, and no reply is lost.
    assert max(server.looked_at.values()) == 1


def test_a_trial_finds_a_wrong_key_before_anything_is_submitted(
    server: BatchServer, tmp_path: Path
) -> None:
    server.script = lambda *_: error(401, f"Incorrect API key {KEY}.", code="invalid_api_key")
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    with pytest.raises(JudgeError, match="API key was not accepted") as raised:
        submit(tcva, SAMPLES, tmp_path / "sub")
    assert KEY not in str(raised.value)
    assert not server.files
    server.script = auto_judge
    submit(tcva, SAMPLES, tmp_path / "sub")
    assert collected(tcva, tmp_path / "sub").scored == 12


def test_a_batch_that_fails_as_a_whole_is_explained_and_asked_on_demand(
    server: BatchServer, tmp_path: Path
) -> None:
    server.statuses = {1: "failed"}
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub")
    report = collected(tcva, tmp_path / "sub")
    assert report.sentence == (
        "0 of 12 samples judged; 12 requests in 1 batch stopped before the end"
    )
    assert "batch 1: The provided model 'm' is not supported by Batch." in str(report)
    assert not report.is_done
    assert collected(tcva, tmp_path / "sub", again=True).scored == 12


def test_what_is_cancelled_stays_so_until_it_is_asked_for(
    server: BatchServer, tmp_path: Path
) -> None:
    server.fate = lambda batch, number, _: "cancelled" if batch == 1 and number > 4 else None
    server.hold = True
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub")
    assert status(tcva, tmp_path / "sub").batches[0].status == "in_progress"
    assert "cancelling" in str(cancel(tcva, tmp_path / "sub"))
    server.hold = False
    report = collected(tcva, tmp_path / "sub")
    assert (report.scored, report.waiting) == (4, 8)
    assert "batch 1: cancelled" in str(report)
    report = collected(tcva, tmp_path / "sub", again=True)
    assert (report.scored, report.batches[-1].requests) == (12, 8)
    assert max(server.answered.values()) == 1


def test_batches_that_are_turned_away_wait_for_room(server: BatchServer, tmp_path: Path) -> None:
    server.room = 40_000
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub", limits=Limits(requests=4))
    report = collect(tcva, tmp_path / "sub")
    assert "waits for room: Enqueued token limit reached for m." in str(report)
    report = collected(tcva, tmp_path / "sub")
    assert (report.scored, len(report.batches)) == (12, 3)
    assert max(server.answered.values()) == 1
    assert any(each.tries > 1 for each in report.batches)


def test_batches_are_as_small_as_the_account_wants(server: BatchServer, tmp_path: Path) -> None:
    server.room = 15_000
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub")
    assert collect(tcva, tmp_path / "sub").scored == 0  # one batch, too large for any room
    report = submit(tcva, SAMPLES, tmp_path / "sub", limits=Limits(tokens=4_000))
    assert len(report.batches) > 3
    assert sum(each.requests for each in report.batches) == 12
    assert sum(each.state == "sent" for each in report.batches) == 1
    assert "waits" in str(report)
    report = collected(tcva, tmp_path / "sub")
    assert report.scored == 12
    assert [each.tries for each in report.batches] == [1] * len(report.batches)


def test_files_have_limits(server: BatchServer, tmp_path: Path) -> None:
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    long = Sample(id="long", response="It is red.", contexts=["It is red. " * 4_000])
    limits = Limits(bytes=20_000)
    report = submit(tcva, [*SAMPLES, long], tmp_path / "sub", limits=limits)
    assert len(report.batches) > 2
    assert all(len(content) <= 20_000 for _, content in server.files.values())
    assert report.failures[0][:2] == ("judge_error", 1)
    assert "larger than a file of a batch may be (20,000 bytes)" in report.failures[0][2]
    with pytest.raises(InvalidValueError, match="tokens=0"):
        Limits(tokens=0)


def test_another_scorer_other_samples_or_no_store_are_refused(
    server: BatchServer, tmp_path: Path
) -> None:
    store = tmp_path / "v.sqlite"
    tcva = TCVA(judge=model_at(server), store=store)
    submit(tcva, SAMPLES, tmp_path / "sub")
    submit(
        tcva.changed(temperature=0.1), SAMPLES, tmp_path / "sub"
    )  # a view is none of its business
    for other in (tcva.changed(max_claims=3), TCVA(judge=model_at(server, "n"), store=store)):
        with pytest.raises(InvalidValueError, match="was submitted with another judge"):
            collect(other, tmp_path / "sub")
    with pytest.raises(InvalidValueError, match="holds a submission of other samples"):
        submit(tcva, SAMPLES[1:], tmp_path / "sub")
    with pytest.raises(InvalidValueError, match="go into a store"):
        submit(tcva.changed(store=None), SAMPLES, tmp_path / "new")
    with pytest.raises(InvalidValueError, match="asks no model"):
        submit(TCVA(judge="lexical", store=store), SAMPLES, tmp_path / "new")
    with pytest.raises(InvalidValueError, match="holds no submission"):
        status(tcva, tmp_path / "new")
    with pytest.raises(InvalidSampleError, match="no samples"):
        submit(tcva, [], tmp_path / "new")
    two = TCVA(judge=model_at(server), fuse=model_at(server, temperature=1.0), store=store)
    with pytest.raises(InvalidValueError, match="asked with two settings"):
        submit(two, SAMPLES, tmp_path / "other")
    with pytest.raises(InvalidValueError, match="wait=0"):
        collect(tcva, tmp_path / "sub", wait=0)


def test_a_judge_that_calls_by_itself_is_refused(tmp_path: Path) -> None:
    from tests.support.scripted import ScriptedModel  # noqa: PLC0415  # used here alone

    tcva = TCVA(judge=ScriptedModel([]), store=tmp_path / "v.sqlite")
    with pytest.raises(InvalidValueError, match="scripted:one calls by itself"):
        submit(tcva, SAMPLES, tmp_path / "sub")


@pytest.mark.slow
def test_one_command_at_a_time(server: BatchServer, tmp_path: Path) -> None:
    from tcva_adapters.batches.ledger import Ledger  # noqa: PLC0415  # used here alone

    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub")
    with Ledger(tmp_path / "sub"), pytest.raises(InvalidValueError, match="another command"):
        status(tcva, tmp_path / "sub")
    assert status(tcva, tmp_path / "sub").under_way


def test_a_file_of_something_else_is_left_alone(server: BatchServer, tmp_path: Path) -> None:
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    with sqlite3.connect(tmp_path / "ledger.sqlite") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(ValueError, match="is no submission of this version"):
        submit(tcva, SAMPLES, tmp_path)
    (tmp_path / "ledger.sqlite").write_text("my notes\n" * 100, encoding="utf-8")
    with pytest.raises(ValueError, match="cannot be used"):
        submit(tcva, SAMPLES, tmp_path)


def test_keys_stay_out_of_the_folder_and_of_the_store(server: BatchServer, tmp_path: Path) -> None:
    def tells(body: Body, number: int) -> Any:
        if "Room 1 " in str(body):
            return error(400, f"Your key {KEY} is odd.")
        return auto_judge(body, number).replace("Stated.", f"Stated with {KEY}.")

    server.script = tells
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub")
    report = collected(tcva, tmp_path / "sub")
    assert report.failed == 1
    assert KEY not in str(report)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 2
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


def test_waiting_outlasts_a_server_that_is_away(server: BatchServer, tmp_path: Path) -> None:
    tcva = TCVA(judge=model_at(server, max_retries=0), claims="llm", store=tmp_path / "v.sqlite")
    submit(tcva, SAMPLES, tmp_path / "sub")
    server.faults = [
        Fault("GET /v1/batches/batch_1", error(503, "away")),
        Fault("GET /v1/files/file-2/content", DROP),
    ]
    seen: list[str] = []
    report = collect(
        tcva, tmp_path / "sub", wait=0.01, told=lambda report: seen.append(report.sentence)
    )
    assert (report.scored, report.is_done) == (12, True)
    assert len(seen) == 1
    assert "round 2" in seen[0]
    server.faults = [Fault("GET /v1/batches/batch_1", error(503, "away"))]


def test_a_server_without_batches_says_so(server: BatchServer, tmp_path: Path) -> None:
    server.faults = [Fault("POST /v1/files", error(404, "no page"))]
    tcva = TCVA(judge=model_at(server), store=tmp_path / "v.sqlite")
    with pytest.raises(JudgeError, match="has no files and batches") as raised:
        submit(tcva, SAMPLES, tmp_path / "sub")
    assert raised.value.reason == "no_batches"


@pytest.mark.parametrize(("verdicts", "calls"), [("written", 2), ("yes_no", 30)])
def test_all_requests_of_a_turn_go_into_one_batch(
    verdicts: Any, calls: int, tmp_path: Path
) -> None:
    """30 claims: two calls for written verdicts, thirty for yes or no."""
    text = " ".join(f"Room number {n} opens at nine." for n in range(1, 31))
    sample = Sample(id="long", response=text, contexts=[text])
    with BatchServer(one_word, models=("m",)) as server:
        tcva = TCVA(judge=model_at(server), verdicts=verdicts, store=tmp_path / "v.sqlite")
        report = submit(tcva, [sample], tmp_path / "sub")
        assert [batch.requests for batch in report.under_way] == [calls]
        collected(tcva, tmp_path / "sub")
        result = tcva.evaluate(sample)
        live = TCVA(judge=model_at(server), verdicts=verdicts, share=False).evaluate(sample)
    assert result.assessment.from_store
    assert result.unscored is None
    assert len(result.claims) == 30
    assert (result.claims, result.score) == (live.claims, live.score)
    assert live.usage.calls == calls
