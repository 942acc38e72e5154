from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats import resampling
from tcva_adapters.stats.checks import IntArray
from tcva_adapters.stats.resampling import leave_one_out, resample


def counts(*args: Any, **kwargs: Any) -> IntArray:
    return np.concatenate(list(resample(*args, **kwargs)))


def test_counts_are_those_of_the_generators_integers() -> None:
    drawn = np.random.Generator(np.random.PCG64(7)).integers(0, 30, (500, 30))
    expected = [np.bincount(row, minlength=30) for row in drawn]
    np.testing.assert_array_equal(counts(30, 500, seed=7), expected)


@pytest.mark.parametrize("cells", [1, 100, 10_000])
@pytest.mark.parametrize("groups", [None, [i // 3 for i in range(31)]])
def test_blocks_do_not_change_the_draws(
    cells: int, groups: list[object] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = counts(31, 203, seed=1, groups=groups)
    monkeypatch.setattr(resampling, "_CELLS", cells)
    monkeypatch.setattr(resampling, "_FEWEST", 1)
    blocks = list(resample(31, 203, seed=1, groups=groups))
    assert len(blocks[0]) == max(1, cells // 31) or len(blocks) == 1
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


def test_other_seeds_draw_otherwise() -> None:
    assert (counts(50, 20, seed=1) != counts(50, 20, seed=2)).any()


def test_groups_stay_together() -> None:
    groups = ["a", "b", "a", "c", "b", "a"]
    drawn = counts(6, 400, groups=groups)
    assert (drawn[:, 0] == drawn[:, 2]).all()
    assert (drawn[:, 0] == drawn[:, 5]).all()
    assert (drawn[:, 1] == drawn[:, 4]).all()
    # Three groups are drawn each time, of three, two and one samples.
    assert (drawn[:, [0, 1, 3]].sum(axis=1) == 3).all()
    assert set(drawn.sum(axis=1).tolist()) == {3, 4, 5, 6, 7, 8, 9}


def test_groups_of_one_are_no_groups() -> None:
    np.testing.assert_array_equal(counts(9, 50, groups=list("abcdefghi")), counts(9, 50))


def test_leaving_out() -> None:
    blocks = np.concatenate(list(leave_one_out(3, None)))
    np.testing.assert_array_equal(blocks, [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    groups = np.concatenate(list(leave_one_out(3, np.array([0, 1, 0]))))
    np.testing.assert_array_equal(groups, [[0, 1, 0], [1, 0, 1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: resample(0, 5), "n is 0; it must be a whole number from 1 up"),
        (lambda: resample(5, 0), "n_boot is 0"),
        (lambda: resample(5, 2.5), "n_boot is 2.5"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: resample(5, 5, seed=-1), "seed is -1; it must be a whole number from 0 up"),
        (lambda: resample(5, 5, seed=None), "seed is None"),  # type: ignore[arg-type]  # likewise
        (lambda: resample(3, 5, groups=["a"]), "1 groups for 3 samples"),
        (lambda: resample(2, 5, groups=["a", None]), "group 1 is None; give every sample"),
        (lambda: resample(2, 5, groups=[float("nan"), 1]), "group 0 is nan"),
        (lambda: resample(2, 5, groups=[1, []]), r"group 1 is \[\]"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        call()
