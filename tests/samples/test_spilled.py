"""Lists whose items wait in a temporary file."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from tcva_adapters import Assessment, Sample
from tcva_adapters.samples.spilled import ByName, Spilled, Viewed

LARGE = [Sample(id=str(n), response=f"{n} " * 2000, metadata={"n": n}) for n in range(2000)]


def test_items_come_back_as_they_were_from_memory_and_from_a_file() -> None:
    for items in (LARGE[:3], LARGE):  # below and beyond what is held in memory
        found = Spilled(items)
        assert list(found) == items
        assert (found[0], found[-1], found[1:3]) == (items[0], items[-1], items[1:3])
        assert found == items
        assert found != items[1:]


def test_what_is_not_in_the_json_of_an_assessment_comes_back_too() -> None:
    judged = Assessment.from_verdicts(["fully", "none"], sample_id="a")
    (found,) = Spilled([judged])
    assert found == judged
    assert found.is_new == judged.is_new


def test_items_can_be_added_while_others_are_read() -> None:
    found = Spilled(LARGE[:2])
    seen = []
    for sample in Viewed(found, lambda each: each.id):
        seen.append(sample)
        if len(found) < 4:
            found.append(LARGE[len(found)])
    assert seen[:2] == ["0", "1"]
    assert found[3] == LARGE[3]


def test_threads_read_side_by_side() -> None:
    found = Spilled(LARGE)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(found.__getitem__, range(len(LARGE)))) == LARGE


@pytest.mark.parametrize("place", [2, -3])
def test_there_is_nothing_beyond_the_ends(place: int) -> None:
    with pytest.raises(IndexError):
        Spilled(["a", "b"])[place]


def test_a_copy_is_a_list_of_the_items() -> None:
    found = Spilled(["a", "b"])
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == ["a", "b"]


def test_a_name_without_anything_is_no_key() -> None:
    found = ByName({"a": 0, "b": 1}, [0, 1], lambda number: number or None)
    assert (found.get("a"), found["b"], len(found), list(found)) == (None, 1, 2, ["a", "b"])
    with pytest.raises(KeyError):
        found["a"]
