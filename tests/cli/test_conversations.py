"""A file of conversations through the commands, as its users find it."""

import json
from pathlib import Path
from typing import Any

from tcva_adapters import TCVA, Conversation
from tcva_adapters.compare import read_scores
from tcva_adapters.samples.reader import SampleStream
from tests.cli.conftest import PASSAGE, Run, record

TALK = [
    *(("user", "When?"), ("tool", PASSAGE), ("assistant", "The office opens at nine.")),
    *(("user", "Thanks!"), ("assistant", "You are welcome!")),
    *(
        ("user", "And parking?"),
        ("tool", PASSAGE),
        ("assistant", "Parking costs money."),
    ),
]


def test_conversations_are_groups_and_have_a_score(tcva: Run) -> None:
    said = [{"role": role, "content": text} for role, text in TALK]
    records: list[Any] = [
        {"id": f"t{n}", "messages": said, "rating": n / 9} for n in range(10)
    ]
    file = Path("talks.jsonl")
    file.write_text("\n".join(map(json.dumps, [*records, record(1, rating=1)])))
    done = tcva("evaluate", file, "--judge", "lexical", "--out", "out.jsonl", "--json")
    whole = TCVA(judge="lexical").evaluate_conversation(
        Conversation.from_messages(TALK, id="t0")
    )
    row = done.json["tables"]["conversations"][0]
    wanted = {
        "conversation": "t0",
        "turns": 3,
        "scored": 2,
        "score": whole.score,
        "passed": whole.passed,
    }
    assert row == row | wanted
    assert "conversation of several turns is a sample (10 conversations)" in done.text
    table = read_scores("out.jsonl")
    assert (len(table), table.groups[:4], table.groups[30]) == (
        31,
        ("t0", "t0", "t0", "t1"),
        31,
    )
    assert read_scores("out.jsonl", group="rating").groups[:4] == (0, 0, 0, 1 / 9)
    validated = tcva("validate", "out.jsonl", "--human", "rating").out
    assert "Intervals and tests count 11 groups, not samples." in validated
    compared = tcva("systems", "one=out.jsonl", "two=out.jsonl").out
    assert "tests count 11 groups" in compared
    tcva("report", "out.jsonl", "--samples", file, "--out", "r.html")
    tcva("compare", file, "--judge", "lexical", "--with", "none", "--out", "side")
    assert read_scores("side").groups[:4] == ("t0", "t0", "t0", "t1")
    assert [*SampleStream(Path("side") / "samples.jsonl")] == [*SampleStream(file)]


def test_two_conversations_of_one_id_are_refused(tcva: Run) -> None:
    said = [{"role": role, "content": text} for role, text in TALK]
    record = {"id": "7", "messages": said}
    Path("talks.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(record)}\n")
    done = tcva(
        "evaluate", "talks.jsonl", "--judge", "lexical", "--out", "out.jsonl", code=2
    )
    assert "talks.jsonl, line 2: '7/1' is also in line 1, as the same turn" in done.text
    assert not Path("out.jsonl").exists()
    done = tcva(
        "evaluate",
        "talks.jsonl",
        "--judge",
        "lexical",
        "--skip-bad",
        "--json",
        code=None,
    )
    assert [row["turns"] for row in done.json["tables"]["conversations"]] == [3]
