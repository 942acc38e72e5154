"""Results of every kind come back from files, and from processes that judged nothing."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tcva_adapters import (
    CCRS,
    TCVA,
    Assessment,
    Conversation,
    Result,
    read_result,
    read_results,
    read_samples,
    write_results,
)
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.protocol import Scored, is_result
from tests.support.office import VISITED

TURNS = [("user", "When?"), ("assistant", "At nine."), ("tool", "Open at nine.")]


def results() -> list[Scored]:
    tcva = TCVA(judge="lexical", temperature="strict")
    conversation = Conversation.from_messages(TURNS * 2, id="talk")
    return [
        tcva.evaluate(VISITED),
        CCRS("qr", judge="lexical").evaluate(VISITED),
        tcva.evaluate_conversation(conversation),
    ]


RESULT = Result(Assessment.from_verdicts(["fully"]))


@pytest.mark.parametrize(("function", "arguments", "message"), [
    (write_results, ([RESULT], "out.jsonl"), "the file comes first, the results second"),
    (write_results, ("out.jsonl", RESULT), "write one result as [result]"),
    (write_results, ("out.jsonl", [1]), "results must be results or assessments, got 1"),
    (read_samples, (None,), "name a path, '-' for standard input or an open text file"),
    (read_samples, ([RESULT],), "got [Result("),
    (read_results, (5,), "to read, got 5"),
    (read_result, ("x.jsonl",), "but 'x.jsonl' (read_results reads files), as it is not JSON"),
])  # fmt: skip
def test_arguments_of_another_kind_are_named_with_the_way_out(
    function: Callable[..., object],
    arguments: tuple[object, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = UnreadableInputError if function is read_result else InvalidValueError
    with pytest.raises(wrong, match=re.escape(message)):
        function(*arguments)
    assert not [*tmp_path.iterdir()]


def test_a_file_of_every_kind_of_result_comes_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    assert write_results(path, results()) == 3
    again = read_results(path)
    assert again == results()
    assert [type(result) for result in again] == [type(result) for result in results()]


def test_an_assessment_is_scored_under_the_default_settings(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    assessment = Assessment.from_verdicts(["fully", "minor"], sample_id="a")
    write_results(path, [assessment])
    assert read_results(path) == [Result(assessment)]


def test_bad_rows_are_refused_by_their_line_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    line = results()[0].to_json()
    path.write_text(f'{line}\n{{"kind": "grade", "scoring": {{}}}}\n', encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=r"line 2: .*kind is 'grade'"):
        read_results(path)
    assert read_results(path, skip_bad=True) == results()[:1]


@pytest.mark.parametrize("result", results(), ids=lambda result: result.kind)
def test_a_process_that_judged_nothing_reads_a_result(result: Scored) -> None:
    code = (
        "import sys; from tcva_adapters import read_result; "
        "print(repr(read_result(sys.argv[1]).score))"
    )
    command = [sys.executable, "-c", code, result.to_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr(result.score)


def test_only_results_are_results() -> None:
    assert all(map(is_result, results()))
    others: list[object] = [None, {}, VISITED, Assessment.from_verdicts(["fully"]), "x"]
    assert not any(map(is_result, others))
