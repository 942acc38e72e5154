"""Human ratings on a scale of their own: laid on the scale of scores, or refused in time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters.compare import compare
from tcva_adapters.compare.comparison import Comparison
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.sample import Sample

pytest.importorskip("scipy", reason="the extra stats")

STARS = (5, 1, 4, 2)


def samples() -> list[Sample]:
    words = ["The office opens at nine.", "Parking costs five euros.", "Dogs are not allowed here."]
    return [
        Sample(
            id=f"s{i}",
            response=f"{words[i % 3]} {words[i % 2]}",
            contexts=words[:2],
            metadata={"stars": STARS[i % 4], "ben": min(5, STARS[i % 4] + i % 2)},
        )
        for i in range(36)
    ]


def compared(human: str = "stars", of: Sequence[Sample] | None = None, **more: Any) -> Comparison:
    return compare(
        samples() if of is None else of,
        {"judge": "lexical"},
        frameworks="none",
        human=human,
        progress=False,
        **{"n_boot": 200, **more},
    )


def test_errors_are_those_of_ratings_on_the_scale_of_scores() -> None:
    found = compared(human_scale=(1, 5), objective="mae")
    assert found.table.human is not None
    assert found.table.human.tolist() == [(STARS[i % 4] - 1) / 4 for i in range(36)]
    human = found.summary.human_ratings
    assert human is not None
    errors = {a.method: a.own.value for a in human.agreements if a.measure == "mae"}
    scores = found.table.column(found.lead)
    assert errors[found.lead] == pytest.approx(np.abs(scores - found.table.human).mean(), abs=1e-12)


def test_raters_are_laid_on_it_as_well() -> None:
    plain, scaled = (compared("stars,ben", human_scale=s) for s in (None, (1, 5)))
    assert scaled.raters is not None
    assert plain.raters is not None
    assert scaled.raters.alpha.value == pytest.approx(plain.raters.alpha.value, abs=1e-12)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"objective": "mae"}, "a human rating is 5, scores lie in .0, 1.; name the scale"),
        ({"human_scale": (1, 4)}, "the rating of 's0' is 5, outside the scale from 1 to 4"),
        ({"human_scale": (5, 1)}, "--human-scale 5,1; give the lowest rating first"),
        ({"human": None, "human_scale": (1, 5)}, "give these, too"),
        ({"human": None, "group": "stars"}, "group or --group stars"),
    ],
)
def test_what_would_fail_afterwards_is_refused_before(
    more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    store = tmp_path / "verdicts.sqlite"
    with pytest.raises(InvalidValueError, match=said):
        compared(**{"store": store, **more})
    assert not store.exists()
