"""What comparisons and reports of files hold: numbers, and no samples or judgements."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Assessment, Sample
from tcva_adapters.compare import compare
from tcva_adapters.compare.running.rows import Joined, Rows
from tcva_adapters.compare.table import Row, ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report.sources import Reading, content_of
from tcva_adapters.results.files import write_assessments
from tcva_adapters.sharing import clear_shared

NUMBER = 300


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "samples.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for n in range(NUMBER):
            said = f"Door {n} opens at nine."
            record = {"question": "When?", "answer": said, "contexts": [said], "floor": n % 3}
            file.write(json.dumps(record | ({} if n % 5 else {"id": f"s{n}"})) + "\n")
    return path


def held_by(make: Callable[[], Any]) -> tuple[Any, int]:
    """What is made, and how many more samples and assessments there are then."""

    def number() -> int:
        clear_shared()
        gc.collect()
        return sum(isinstance(each, Sample | Assessment) for each in gc.get_objects())

    before = number()
    found = make()
    return found, number() - before


def test_a_comparison_of_a_file_holds_neither_samples_nor_judgements(source: Path) -> None:
    settings = {"judge": "lexical"}
    found, held = held_by(lambda: compare(source, settings, frameworks="none", n_boot=10))
    assert held < 10
    assert [sample.id for sample in found.samples][:2] == ["s0", "row-2"]
    assert len(found.results) == NUMBER
    assert found.results[7].sample_id == "row-8"
    listed = compare([*found.samples], settings, frameworks="none", n_boot=10)
    assert found.settings == listed.settings
    columns = [(row.sample, row.method, row.score, row.calls) for row in found.rows]
    assert columns == [(row.sample, row.method, row.score, row.calls) for row in listed.rows]


def test_a_report_of_files_holds_neither_samples_nor_judgements(
    source: Path, tmp_path: Path
) -> None:
    judged = tmp_path / "judged.jsonl"
    samples = [Sample(id=f"s{n}", response="Nine.", contexts=["Nine."]) for n in range(NUMBER)]
    write_assessments(judged, TCVA(judge="lexical").evaluate_many(samples))
    del samples
    content, held = held_by(lambda: content_of(judged, Reading(samples=source)))
    assert held < 10
    assert content.samples[5].response == "Door 5 opens at nine."
    assert content.runs[0].assessments["s5"].sample_id == "s5"
    saved = compare(source, {"judge": "lexical"}, frameworks="none", n_boot=10)
    saved.save(tmp_path / "side")
    del saved
    content, held = held_by(lambda: content_of(tmp_path / "side", Reading()))
    assert held < 10
    assert content.samples[1].id == "row-2"


def test_rows_are_columns_that_read_like_rows() -> None:
    rows = Rows(["a", "b"], ["ours", "theirs"])
    put = Row("a", "theirs", None, "judge_error: late", 0, None, 7, 0.5)
    rows.put(0, 1, put)
    whole = Row("b", "ours", 0.25, calls=2, input_tokens=0, output_tokens=3, seconds=0.0)
    rows.put(1, 0, whole)
    assert list(rows) == [Row("a", "ours", None), put, whole, Row("b", "theirs", None)]
    more = Row("c", "ours", 1.0)
    joined = Joined(rows, (), [more])
    assert (len(joined), joined[4], joined[-2], list(joined)[1]) == (5, more, rows[3], put)


def test_a_table_names_the_first_row_that_comes_twice() -> None:
    rows = [Row(s, m, 0.5) for s, m in (("a", "x"), ("b", "x"), ("b", "y"), ("b", "x"), ("a", "x"))]
    with pytest.raises(InvalidValueError, match="sample 'b' and method 'x'"):
        ScoreTable.of(rows)
    assert ScoreTable.of([]).scores.shape == (0, 0)
