"""Two conversations of one id in a file are refused, with the lines; others are kept apart."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples.reader import SampleStream, read_samples

Record = dict[str, Any]


def whole(own: Any, *answers: str, **more: Any) -> Record:
    said = [
        ({"role": "user", "content": "Q?"}, {"role": "assistant", "content": a})
        for a in answers
    ]
    return {
        "id": own,
        "messages": [message for pair in said for message in pair],
        **more,
    }


def turn(own: Any, number: Any, answer: str, **more: Any) -> Record:
    about = {"id": f"{own}/{number}", "conversation": own, "turn": number}
    return {**about, "question": "Q?", "answer": answer, "contexts": ["C."], **more}


def as_jsonl(records: list[Record]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def as_csv(records: list[Record]) -> str:
    stream = io.StringIO()
    table = csv.DictWriter(stream, [*records[0]])
    table.writeheader()
    for record in records:
        table.writerow(
            {n: json.dumps(v) if isinstance(v, list) else v for n, v in record.items()}
        )
    return stream.getvalue()


WRITERS: dict[str, Callable[[list[Record]], str]] = {
    "jsonl": as_jsonl,
    "csv": as_csv,
    "json": json.dumps,
    "samples.json": lambda records: json.dumps({"samples": records}),
    "export.json": lambda records: json.dumps({"examples": records}),
}
APART: dict[str, tuple[list[Record], list[str]]] = {
    "whole ones": ([whole("7", "A.", "B."), whole("7#2", "C.", "D.")], ["7/1", "7/2", "7#2/1", "7#2/2"]),
    "a name within another": ([whole("7", "A.", "B."), whole("7/1", "C.", "D.")], ["7/1", "7/2", "7/1/1", "7/1/2"]),
    "rows of turns, interleaved": ([turn("7", 1, "A."), turn("8", 1, "C."), turn("7", 2, "B."), turn("8", 2, "D.")], ["7/1", "8/1", "7/2", "8/2"]),
}  # fmt: skip
REFUSED: dict[str, tuple[list[Record], int, int]] = {
    "interleaved": ([turn("7", 1, "A."), turn("7", 1, "C."), turn("7", 2, "B."), turn("7", 2, "D.")], 1, 2),
    "interleaved backwards": ([turn("7", 1, "A."), turn("7", 2, "B."), turn("7", 2, "D."), turn("7", 1, "C.")], 2, 3),
    "one after the other": ([turn("7", 1, "A."), turn("7", 2, "B."), turn("7", 1, "C.")], 1, 3),
    "one lacks a turn": ([turn("7", 2, "A."), turn("8", 1, "B."), turn("7", 2, "C.")], 1, 3),
    "a number for an id": ([turn(7, 1, "A."), turn(7, 1, "C.")], 1, 2),
    "equal rows": ([turn("7", 1, "A.")] * 2, 1, 2),
    "whole ones": ([whole("7", "A.", "B."), whole("7", "C.", "D.")], 1, 2),
    "whole ones, the second longer": ([whole("7", "A.", "B."), whole("7", "C.", "D.", "E.")], 1, 2),
    "whole ones, the first longer": ([whole("7", "A.", "B.", "C."), whole("7", "D.", "E.")], 1, 2),
    "whole ones, another between": ([whole("7", "A.", "B."), whole("8", "A.", "B."), whole("7", "C.", "D.")], 1, 3),
}  # fmt: skip


def write(folder: Path, kind: str, records: list[Record]) -> Path:
    path = folder / (f"in.{kind}" if "." not in kind else kind)
    path.write_text(WRITERS[kind](records), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(("records", "names"), APART.values(), ids=APART)
def test_whole_conversations_are_kept_apart(
    kind: str, records: list[Record], names: list[str], tmp_path: Path
) -> None:
    path = write(tmp_path, kind, records)
    assert [sample.id for sample in SampleStream(path)] == names
    assert [sample.id for sample in read_samples(path).samples] == names


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(("records", "first", "second"), REFUSED.values(), ids=REFUSED)
def test_turns_that_cannot_be_told_apart_are_refused(
    kind: str, records: list[Record], first: int, second: int, tmp_path: Path
) -> None:
    path = write(tmp_path, kind, records)
    word, header = (
        ("item", 0) if "json" in kind and kind != "jsonl" else ("line", kind == "csv")
    )
    said = f"{word} {second + header}: '[78]/[12]' is also in {word} {first + header}, as the same turn"
    for read in (read_samples, lambda source: [*SampleStream(source)]):
        with pytest.raises(UnreadableInputError, match=said):
            read(path)
    assert len(read_samples(path, skip_bad=True).bad) == len(records) - len(
        {record["id"] for record in records}
    )


def test_a_record_of_a_conversation_and_a_row_of_its_turn_are_refused() -> None:
    for records in ([whole("7", "A.", "B."), turn("7", 2, "C.")], [turn("7", 2, "C."), whole("7", "A.", "B.")]):  # fmt: skip
        with pytest.raises(
            UnreadableInputError, match="line 2: '7/2' is also in line 1"
        ):
            read_samples(io.StringIO(as_jsonl(records)))
