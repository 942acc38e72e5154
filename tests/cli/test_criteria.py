"""``tcva evaluate --criterion a,b``: several criteria in one command, each with a file of its own."""

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.runner.running import Runner
from tests.cli.conftest import PASSAGE, Run, record, write
from tests.support.server import ScriptedServer, auto_judge, error

ZEBRAS = "Zebras invented the telephone in 1850."
NAMES = ("faithfulness", "correctness", "context_recall")
SEVERAL = ("evaluate", "in.jsonl", "-c", ",".join(NAMES))
REFERENCE = "It opens at nine. Entry is 4 euros."


@pytest.fixture(autouse=True)
def _samples(tcva: Run) -> None:  # noqa: ARG001  # in its folder
    write(
        "in.jsonl",
        record(1, reference=REFERENCE, topic="a"),
        record(2, f"{PASSAGE} {ZEBRAS}", reference=REFERENCE, topic="a"),
        record(3, ZEBRAS, reference=REFERENCE, topic="b"),
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer(auto_judge, models=("m",)) as local:
        monkeypatch.setenv("OPENAI_BASE_URL", local.base_url)
        yield local


def lines(path: str) -> list[str]:
    """The results of a file without the seconds that they took."""
    text = Path(path).read_text(encoding="utf-8")
    return re.sub(r'"seconds": ?[\d.e-]+', "", text).splitlines()


def test_each_criterion_is_written_as_it_is_alone(tcva: Run) -> None:
    done = tcva(*SEVERAL, "-j", "lexical", "-o", "runs/judged.jsonl", "--json")
    means = {row["method"]: row["mean"] for row in done.json["tables"]["methods"]}
    assert (*means,) == NAMES
    for name in NAMES:
        file = f"judged.{name}.jsonl"
        assert f"written: runs/{file}: results" in done.text
        alone = tcva("evaluate", "in.jsonl", "-j", "lexical", "-c", name, "-o", file)
        assert lines(file)[0].startswith('{"source": "in.jsonl", ')
        assert [line.replace('"../in', '"in') for line in lines(f"runs/{file}")] == (
            lines(file)
        )
        assert f"mean {means[name]:.3f}" in alone.out
    assert sorted(path.name for path in Path("runs").iterdir()) == sorted(
        f"judged.{name}.jsonl" for name in NAMES
    )
    # The files are one table again, with the same figures.
    table = read_scores([f"judged.{name}.jsonl" for name in NAMES])
    assert table.methods == NAMES
    assert "lexical judge" in done.json["sentence"]
    # Without a suffix, as a single file may have none.
    tcva(*SEVERAL, "-j", "lexical", "-o", "bare")
    assert lines("bare.correctness.jsonl") == lines("judged.correctness.jsonl")
    # One criterion, also one that is named twice, has the file that was asked for.
    tcva(*SEVERAL[:3], "correctness,correctness", "-j", "lexical", "-o", "one.jsonl")
    assert lines("one.jsonl") == lines("judged.correctness.jsonl")


@pytest.mark.usefixtures("server")
def test_gates_reviews_and_views_are_of_each_criterion(tcva: Run) -> None:
    arguments = (*SEVERAL, "-j", "lexical", "--group", "topic", "--json")
    done = tcva(
        *(*arguments, "--gate", "correctness:mean>=0.9", "--gate", "coverage>=1"),
        *("--junit", "j.xml", "--report", "page.html", "--supported", "served.jsonl"),
        *("--show", "s2", "--panel", "openai:m", "--store", "none"),
        code=1,
    )
    tables = done.json["tables"]
    failed = [row["text"] for row in tables["gates"] if not row["passed"]]
    assert [text.split(":")[0] for text in failed] == ["correctness"]
    assert [f"{name}: claims of s2" in tables for name in NAMES] == [True] * 3
    assert [f"{name}: judges" in tables for name in NAMES] == [True] * 3
    xml = Path("j.xml").read_text(encoding="utf-8")
    assert [f'<testsuite name="{name}"' in xml for name in NAMES] == [True] * 3
    # What is cut is what the contexts do not support, whichever criterion comes first.
    served = Path("served.jsonl").read_text(encoding="utf-8")
    for names in ("context_recall,faithfulness", "correctness,faithfulness"):
        command = ("evaluate", "in.jsonl", "-j", "lexical", "-c", names)
        tcva(*command, "--supported", "again.jsonl")
        again = Path("again.jsonl").read_text(encoding="utf-8").splitlines()
        assert json.loads(again[1])["answer"] == PASSAGE
    assert json.loads(served.splitlines()[1])["id"] == "s2"
    refused = ("--supported", "x.jsonl", "-c", "context_recall,completeness")
    assert "--supported cuts" in tcva(*SEVERAL[:2], *refused, code=2).text


def test_a_baseline_is_read_criterion_by_criterion(tcva: Run) -> None:
    tcva(*SEVERAL, "-j", "lexical", "-o", "before.jsonl")
    write("better.jsonl", *(record(n, reference=REFERENCE) for n in (1, 2, 3)))
    arguments = ("evaluate", "better.jsonl", *SEVERAL[2:], "-j", "lexical")
    gates = ("--gate", "faithfulness:change>=0", "--gate", "context_recall:change>=0")
    done = tcva(*arguments, "--baseline", "before.jsonl", *gates, "--json")
    changes = {row["method"]: row["change"] for row in done.json["tables"]["changes"]}
    assert changes["faithfulness"] > 0 == changes["context_recall"]
    said = " ".join(done.json["notes"])
    assert [said.count(f"The mean of {name} changed from") for name in changes] == [
        1
    ] * 3
    # Neither the baseline nor the samples are written over.
    same = tcva(*arguments, "--baseline", "b.jsonl", "-o", "b.jsonl", code=2)
    assert "b.faithfulness.jsonl" in same.text
    Path("in.jsonl").rename("in.correctness.jsonl")
    over = ("evaluate", "in.correctness.jsonl", *arguments[2:], "-o", "in.jsonl")
    assert "also what is read" in tcva(*over, "--overwrite", code=2).text
    both = tcva(*arguments, "-o", "-", code=2).text
    assert "--out of faithfulness - and --out of correctness - both write to" in both


def test_what_one_criterion_needs_is_asked_for_before_any_call(
    server: ScriptedServer, tcva: Run
) -> None:
    write("in.jsonl", record(1, reference=REFERENCE), record(2))
    model = ("-j", "openai:m")
    done = tcva(*SEVERAL, *model, code=2)
    assert "line 2: sample 's2' has no reference, which correctness needs" in done.text
    ray = tcva(*SEVERAL, *model, "--ray", "local", "-o", "parts", code=2)
    assert "--criterion with several names does not work with --ray" in ray.text
    assert "unknown criterion ''" in tcva(*SEVERAL[:3], "correctness,", code=2).text
    cost = tcva(*SEVERAL, *model, "--skip-bad", "--dry-run", "--json").json
    assert [row["method"] for row in cost["tables"]["calls"]] == [*NAMES]
    assert server.count == 0
    done = tcva(*SEVERAL, *model, "--skip-bad", "--json")
    assert [row["samples"] for row in done.json["tables"]["methods"]] == [2, 2, 2]
    assert "1 line left out of all criteria, also where one alone needs" in done.text
    assert server.count == sum(row["calls"] for row in cost["tables"]["calls"]) == 3
    # The store is that of each criterion alone.
    alone = tcva("evaluate", "in.jsonl", *model, "--skip-bad", "-c", "correctness")
    assert "left out of all" not in alone.text
    assert server.count == 3


def test_a_run_continues_in_the_middle_of_a_later_criterion(
    server: ScriptedServer, tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        record(n, f"Room {n} opens.", reference=f"Room {n} is open.") for n in range(6)
    ]
    write("in.jsonl", *rows)
    options = ("--store", "none", "--set", "max_concurrency=1")
    command = (*SEVERAL, "-j", "openai:m", *options, "-o", "out.jsonl")

    two = tuple(part.replace("out.", "two.") for part in command)
    tcva(*command)
    whole = {name: lines(f"out.{name}.jsonl") for name in NAMES}
    number = server.count

    stream = Runner.stream
    taken = iter(range(100))

    def interrupted(self: Any, samples: Any) -> Any:
        for result in stream(self, samples):
            if next(taken) == 8:
                raise KeyboardInterrupt
            yield result

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "stream", interrupted)
        tcva(*two, code=130)
    assert not [*Path().glob("two.*.jsonl")]  # complete at the end of all
    asked = server.count
    done = tcva(*two)
    assert "found 6 results of an interrupted run" in done.err
    assert "found 2 results of an interrupted run" in done.err
    # A call that was under way may end after the interruption.
    assert server.count - asked - (number - 8) in {0, 1}
    assert {name: lines(f"two.{name}.jsonl") for name in NAMES} == whole
    # A criterion on which the judge fails takes nothing from the others.
    server.script = lambda body, n: (
        error(400, "no") if "reference answer" in str(body) else auto_judge(body, n)
    )
    done = tcva(*command, "--overwrite", code=3)
    assert "correctness: 0 of 6 samples judged, 6 failed" in done.text


def test_conversations_are_counted_by_criterion(tcva: Run) -> None:
    said = [
        {"role": role, "content": text}
        for role, text in (
            ("user", "When?"),
            ("tool", PASSAGE),
            ("assistant", "The office opens at nine."),
        )
    ]
    write("in.jsonl", {"id": "talk", "messages": [*said, *said]})
    several = (*SEVERAL[:3], "faithfulness,answer_relevancy", "-j", "lexical")
    done = tcva(*several, "--json").json
    talks = done["tables"]["conversations"]
    assert [talk["method"] for talk in talks] == ["faithfulness", "answer_relevancy"]
    assert "pass by the score" not in json.dumps(done["notes"])
    alone = tcva(*SEVERAL[:2], "-j", "lexical").text
    assert "1 of 1 conversation pass by the score" in alone


def test_a_pipe_is_read_once(tcva: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path("in.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    done = tcva("evaluate", "-", *SEVERAL[2:], "-j", "lexical", "-o", "piped.jsonl")
    assert "faithfulness" in done.out
    tcva(*SEVERAL, "-j", "lexical", "-o", "file.jsonl")
    for name in NAMES:
        piped = [line.partition(", ")[2] for line in lines(f"piped.{name}.jsonl")]
        assert piped == [
            line.partition(", ")[2] for line in lines(f"file.{name}.jsonl")
        ]
