"""The folder of stored verdicts: joined by id, gaps counted, damage refused with the way out."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters.compare.paper.data import PaperSet, read_folder
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tests.compare import dialogue_set
from tests.compare.dialogue_set import DEEPEVAL, HUMAN, RAGAS, prepared, scored, tcva, write


def only(folder: Path) -> PaperSet:
    (found,) = read_folder(folder)
    return found


def test_a_set_is_read_as_arrays(tmp_path: Path) -> None:
    found = only(write(tmp_path))
    assert (found.name, found.ids[:2]) == ("dialogue", ("turn-0", "turn-1"))
    assert found.human.tolist() == HUMAN
    assert found.counts is not None
    # fully, mostly, partial, minor, none of "n", "fn", "ii" and the turn without a claim.
    assert found.counts[:4].tolist() == [
        [0, 0, 0, 0, 1],
        [1, 0, 0, 0, 1],
        [0, 0, 0, 2, 0],
        [0, 0, 0, 0, 0],
    ]
    assert np.isnan(found.stored[0.5]).sum() == 13
    assert found.stored[0.5][3] == 0.0
    assert found.framework_scores["ragas"].tolist() == RAGAS
    assert np.isnan(found.framework_scores["deepeval"][-1])
    assert found.samples is not None
    assert all(sample is not None and sample.contexts for sample in found.samples)
    assert found.notes == ()


def test_records_are_joined_by_id_whatever_their_order(tmp_path: Path) -> None:
    shuffled = dialogue_set.files()
    for number, kind in enumerate(("tcva_scores", "ragas_scores", "deepeval_scores")):
        random.Random(number).shuffle(shuffled[kind])
    mixed = only(write(tmp_path / "mixed", **shuffled))
    plain = only(write(tmp_path / "plain"))
    assert mixed.ids == plain.ids
    assert np.array_equal(mixed.human, plain.human)
    assert np.array_equal(mixed.counts, plain.counts)  # type: ignore[arg-type]  # both have them
    assert np.array_equal(mixed.framework_scores["ragas"], plain.framework_scores["ragas"])


def test_several_sets_come_by_name_and_missing_files_are_noted(tmp_path: Path) -> None:
    write(tmp_path, "b", ragas_scores=None, prepared=None)
    write(tmp_path, "a_rel")
    first, second = read_folder(tmp_path)
    assert (first.name, second.name) == ("a_rel", "b")
    assert second.notes == ("there is no b_prepared.json", "there is no b_ragas_scores.json")
    assert second.samples is None
    assert set(second.framework_scores) == {"deepeval"}


def test_ids_that_a_file_lacks_are_counted(tmp_path: Path) -> None:
    stranger = {"id": "turn-99", "human_score": 0.5, "ragas_score": 0.5}
    found = only(write(tmp_path, ragas_scores=[*scored("ragas", RAGAS)[3:], stranger]))
    assert len(found.ids) == 17
    assert np.isnan(found.framework_scores["ragas"]).sum() == 3
    assert "dialogue_ragas_scores.json lacks 3 of the 17 ids" in " ".join(found.notes)
    assert "dialogue_tcva_scores.json lacks 1 of the 17 ids" in " ".join(found.notes)
    assert found.samples is not None
    assert found.samples[-1] is None


def test_null_and_nan_are_no_scores(tmp_path: Path) -> None:
    scores = scored("ragas", [float("nan"), *RAGAS[1:]])  # json.dumps writes NaN
    scores[1]["ragas_score"] = None
    people = [{**record, "human_score": None} for record in prepared()[:1]]
    found = only(
        write(
            tmp_path,
            prepared=[*people, *prepared()[1:]],
            ragas_scores=scores,
            tcva_scores=[{**tcva()[0], "human_score": None}, *tcva()[1:]],
            deepeval_scores=None,
        )
    )
    assert np.isnan(found.framework_scores["ragas"][:2]).all()
    # The RAGAS file still knows what people said of the first one.
    assert found.human[0] == HUMAN[0]


def test_samples_that_nobody_judged_are_noted(tmp_path: Path) -> None:
    changed = {
        kind: [{**records[0], "human_score": None}, *records[1:]]
        for kind, records in dialogue_set.files().items()
    }
    found = only(write(tmp_path, **changed))
    assert np.isnan(found.human[0])
    assert "1 samples have no human score" in " ".join(found.notes)


def changed(records: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    return [records[0], {**records[1], **fields}, *records[2:]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tcva_scores": "[{"}, "line 1: not JSON"),
        ({"tcva_scores": "[]"}, "a list of records"),
        ({"tcva_scores": '{"a": 1}'}, "a list of records"),
        ({"tcva_scores": "[3]"}, "item 1: 3 is no record with an id"),
        ({"ragas_scores": "[" * 100_000}, "nested too deeply"),
        ({"tcva_scores": [*tcva(), tcva()[0]]}, "item 17: the id 'turn-0' occurs twice"),
        ({"tcva_scores": changed(tcva(), verdicts="fully")}, "the verdicts 'fully', no list"),
        ({"tcva_scores": changed(tcva(), verdicts=[{"verdict": "maybe"}])}, "'maybe'"),
        ({"tcva_scores": changed(tcva(), verdicts=[{"level": "none"}])}, "no field 'verdict'"),
        ({"tcva_scores": changed(tcva(), weights=[1.0])}, "1 weights for 2 verdicts"),
        ({"tcva_scores": changed(tcva(), tcva_scores={"T7": 0.5})}, "'T7'"),
        ({"tcva_scores": changed(tcva(), tcva_scores={"best": 0.5})}, "'best'"),
        ({"tcva_scores": changed(tcva(), tcva_scores={"T0.5": 1.5})}, "score T0.5 1.5"),
        ({"tcva_scores": changed(tcva(), tcva_scores=[0.5])}, "the tcva_scores [0.5]"),
        (
            {"tcva_scores": [{"id": r["id"]} for r in tcva()]},
            "neither verdicts nor tcva_scores",
        ),
        ({"ragas_scores": scored("ragas", [7.0, *RAGAS[1:]])}, "the ragas_score 7.0"),
        ({"ragas_scores": scored("ragas", [True, *RAGAS[1:]])}, "the ragas_score True"),
        ({"ragas_scores": scored("score", RAGAS)}, "has no ragas_score"),
        ({"deepeval_scores": changed(scored("deepeval", DEEPEVAL), human_score=0.9)}, "make them"),
        ({"prepared": changed(prepared(), human_score=4)}, "the human_score 4"),
        ({"prepared": changed(prepared(), context=3)}, "context"),
        ({"ragas_scores": [{"id": "x", "human_score": 1, "ragas_score": 1}]}, "no id in common"),
    ],
)
def test_damage_names_the_file_and_what_is_wrong(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    write(tmp_path, **changes)
    with pytest.raises(UnreadableInputError) as refused:
        read_folder(tmp_path)
    (kind,) = changes
    assert f"dialogue_{kind}.json" in str(refused.value)
    assert said in str(refused.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "dialogue_ragas_scores.json").write_bytes(b'[{"id": "\xff"}]')
    with pytest.raises(UnreadableInputError, match="not UTF-8: byte 0xff"):
        read_folder(tmp_path)


def test_folders_without_a_set_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="does not exist"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(UnreadableInputError, match="no scores in"):
        read_folder(tmp_path)
    write(tmp_path, tcva_scores=None, ragas_scores=None, deepeval_scores=None)
    with pytest.raises(UnreadableInputError, match="no scores in"):
        read_folder(tmp_path)
    with pytest.raises(UnreadableInputError, match="is a file"):
        read_folder(tmp_path / "dialogue_prepared.json")


def test_arrays_of_other_lengths_are_refused() -> None:
    two = np.array([0.1, 0.2])
    with pytest.raises(InvalidValueError, match="ragas has 1 entries for 2 samples"):
        PaperSet("mine", ("a", "b"), two, framework_scores={"ragas": two[:1]})
    with pytest.raises(InvalidValueError, match=r"stored T=0\.5 has 1"):
        PaperSet("mine", ("a", "b"), two, stored={0.5: two[:1]})
    with pytest.raises(InvalidValueError, match="counts has 1"):
        PaperSet("mine", ("a", "b"), two, counts=np.ones((1, 5)))
    with pytest.raises(InvalidValueError, match="the id 'a' twice"):
        PaperSet("mine", ("a", "a"), two)
