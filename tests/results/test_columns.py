"""Columns of assessments: what they show is what the assessments say, and the same is refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.compare.judged import Judged
from tcva_adapters.core.evidence import EVIDENCE
from tcva_adapters.core.verdicts import LEVELS, Verdict
from tcva_adapters.errors import InvalidSampleError, TCVAError, UnreadableInputError
from tcva_adapters.results import level_table
from tcva_adapters.results.assessment import (
    Assessment,
    ClaimVerdict,
    EvidenceCheck,
    Reason,
    Unscored,
)
from tcva_adapters.results.columns import Level, stream_columns
from tcva_adapters.results.evidence_view import under
from tcva_adapters.results.files import read_assessments, stream_assessments, write_assessments
from tcva_adapters.results.level_table import LevelTable
from tcva_adapters.results.result import Result, judged_counts

GOOD = Assessment.from_verdicts(["fully", "none"]).to_json()

shares = (
    st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5)
    .filter(lambda p: sum(p) > 0.1)
    .map(lambda p: tuple(each / sum(p) for each in p))
)
claims = st.builds(
    ClaimVerdict,
    claim=st.text(max_size=5),
    verdict=st.sampled_from(LEVELS),
    evidence_check=st.none() | st.sampled_from(EvidenceCheck),
    original_verdict=st.none() | st.sampled_from(LEVELS),
    probabilities=st.none() | shares,
    original_probabilities=st.none() | shares,
)


def judgement(given: list[ClaimVerdict], judge: str, **more: Any) -> Assessment:
    unscored = None if given else Unscored(reason=Reason.NO_CLAIMS)
    said: dict[str, Any] = {"criterion": "c", "judge": judge, "prompt_version": "v", **more}
    return Assessment(claims=tuple(given), unscored=unscored, **said)


@st.composite
def files(draw: st.DrawFn) -> list[Assessment]:
    """Assessments of one kind: alone, with an additional judge, or by a panel."""
    fused, panel = draw(st.booleans()), draw(st.booleans())
    found = []
    for n in range(draw(st.integers(1, 12))):
        given = draw(st.lists(claims, max_size=4))
        more: dict[str, Any] = {"sample_id": draw(st.sampled_from([None, "a", "b", f"s{n}"]))}
        more["metadata"] = draw(st.dictionaries(st.sampled_from("xyz"), st.integers(0, 9)))
        if panel:
            more["panel"] = tuple(judgement(given, name) for name in ("p", "q"))
        if fused and given:
            more["members"] = (judgement(draw(st.lists(claims, max_size=3)), "second"),)
        found.append(judgement(given, "first", **more))
    return found


@given(made=files(), suffix=st.sampled_from(["jsonl", "json"]), small=st.booleans())
def test_a_file_shows_what_its_assessments_say(
    tmp_path_factory: pytest.TempPathFactory, made: list[Assessment], suffix: str, *, small: bool
) -> None:
    path = tmp_path_factory.mktemp("columns") / f"judged.{suffix}"
    write_assessments(path, [Result(each) if each.sample_id else each for each in made])
    assert read_assessments(path).assessments == made
    with pytest.MonkeyPatch.context() as patch:
        if small:  # blocks of two, in a file from the first one on
            patch.setattr(level_table, "BLOCK", 2)
            patch.setattr(level_table, "_ADDED", 2)
            patch.setattr(level_table, "_IN_MEMORY", 1)
        if all(each.unscored for each in made):
            with pytest.raises(InvalidSampleError, match=f"none of the {len(made)} assessments"):
                Judged.of(path)
            return
        read, listed = Judged.of(path), Judged.of(made)
        assert read.counts.tobytes() == judged_counts(made).tobytes() == listed.counts.tobytes()
        for view in EVIDENCE:
            seen = judged_counts([under(each, view) for each in made])
            assert read.under(view).counts.tobytes() == seen.tobytes()
            assert listed.under(view).counts.tobytes() == seen.tobytes()
            assert read.under(view).to_dict() == listed.under(view).to_dict()
        assert (read.to_dict(), read.names, read.scored) == (
            listed.to_dict(),
            listed.names,
            listed.scored,
        )
        assert pickle.loads(pickle.dumps(read)).counts.tobytes() == read.counts.tobytes()
        if any("x" in each.metadata for each in made):
            np.testing.assert_array_equal(read.ratings("x"), listed.ratings("x"))
            assert read.values("x", "parts") == listed.values("x", "parts")


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(GOOD), **fields})


def without(name: str) -> str:
    return json.dumps({n: value for n, value in json.loads(GOOD).items() if n != name})


def of_claim(**fields: Any) -> str:
    return changed(claims=[{"claim": "c", "verdict": "fully", **fields}])


@pytest.mark.parametrize(
    "line",
    [
        *(without(name) for name in ("criterion", "judge", "prompt_version")),
        *(changed(**{name: 3}) for name in ("criterion", "judge", "prompt_version", "claims")),
        changed(schema_version=3),
        changed(schema_version="2"),
        changed(claims=[]),
        changed(claims=[{"claim": "c", "verdict": None}]),
        changed(claims=[{"claim": "c"}]),
        changed(claims=[{"verdict": "fully"}]),
        changed(claims=[7]),
        changed(unscored={"reason": "tired"}),
        changed(unscored={}),
        changed(members=[3]),
        changed(members=[json.loads(GOOD) | {"claims": []}]),
        changed(panel=[json.loads(GOOD) | {"judge": None}]),
        changed(sample_id=4),
        of_claim(verdict="Fully"),
        of_claim(verdict="mostly true"),
        of_claim(verdict=1),
        of_claim(evidence_check="lost"),
        of_claim(original_verdict="good"),
        of_claim(probabilities=[1, 0, 0, 0]),
        of_claim(probabilities=[0.5, 0, 0, 0, 0]),
        of_claim(probabilities=[1.5, -0.5, 0, 0, 0]),
        of_claim(probabilities=["x", 0, 0, 0, 0]),
        GOOD.replace('"fully"', "NaN"),
        '{"kind": "ccrs", "answers": {}}',
        '{"question": "Who?", "answer": "Ada."}',
        "[1]",
        "3",
        "nothing",
        GOOD[:-9],
    ],
)
def test_what_no_assessment_is_is_refused_in_the_same_words(tmp_path: Path, line: str) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(f"{GOOD}\n{line}\n{GOOD}\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="line 2: ") as wanted:
        read_assessments(path)
    with pytest.raises(UnreadableInputError) as found:
        Judged.of(path)
    assert (str(found.value), found.value.line) == (str(wanted.value), 2)
    skipped = Judged.of(path, skip_bad=True)
    assert (len(skipped), skipped.skipped, len(skipped.notes)) == (2, 1, 1)


def test_what_is_not_looked_at_may_be_anything(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(changed(usage=None, note="of another program"), encoding="utf-8")
    assert len(Judged.of(path)) == 1
    with pytest.raises(UnreadableInputError):
        read_assessments(path)


def test_the_earlier_layout_is_read(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    claim = {"claim": "c", "verdict": "partial", "judged": "fully"}
    path.write_text(changed(schema_version=1, claims=[claim]), encoding="utf-8")
    read = Judged.of(path)
    assert read.counts.tolist() == [[[0, 0, 1, 0, 0]]]
    assert read.evidence.checks[EvidenceCheck.NOT_FOUND] == 1


def test_numbers_that_are_too_large_are_refused_where_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(changed(metadata={"x": 0}).replace('{"x": 0}', '{"x": 1e999}') + "\n")
    with pytest.raises(UnreadableInputError, match="a number too large is no JSON value"):
        read_assessments(path)
    with pytest.raises(TCVAError, match="inf is no rating"):
        Judged.of(path).ratings("x")


def test_a_file_that_changes_in_between_is_said(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(f"{GOOD}\n", encoding="utf-8")
    read = Judged.of(path)
    path.write_text(f"{GOOD}\n{GOOD}\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="1 assessments at first and 2 now"):
        _ = read.names


def test_bad_lines_of_several_files_are_counted(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(f"{GOOD}\n" + "no\n" * 50, encoding="utf-8")
    second.write_text(f"no\n{GOOD}\n", encoding="utf-8")
    read = Judged.of([first, second], skip_bad=True)
    assert (len(read), read.skipped, len(read.notes)) == (2, 51, 22)
    assert read.notes[20] == f"skipped 30 more of {first}"


def test_assessments_come_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(f"{GOOD}\nno\n{GOOD}", encoding="utf-8")
    stream = stream_assessments(path, skip_bad=True)
    assert next(stream) == Assessment.from_json(GOOD)
    assert [stream.line for _ in stream] == [3]
    assert [line for line, _ in stream.bad] == [2]


def test_levels_are_those_of_the_core() -> None:
    assert get_args(Level) == tuple(level.value for level in Verdict)


def test_a_table_may_be_read_twice_at_once() -> None:
    counts = np.arange(30.0).reshape(2, 3, 5)
    table = LevelTable.of(counts)
    first, second = table.blocks(), table.blocks()
    assert [next(first).tolist(), next(second).tolist()] == [counts.tolist()] * 2


def test_metadata_are_read_only_where_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(changed(metadata={"x": 1}), encoding="utf-8")
    (bare,), (whole,) = stream_columns(path), stream_columns(path, metadata=True)
    assert "metadata" not in bare
    assert whole["metadata"] == {"x": 1}
