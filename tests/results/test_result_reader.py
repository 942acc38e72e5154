"""Results of every kind come back from files, and from processes that judged nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from tcva_adapters import (
    CCRS,
    TCVA,
    Assessment,
    Conversation,
    Result,
    read_results,
    write_results,
)
from tcva_adapters.errors import UnreadableInputError
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
