"""The lexical judge's quotes beside annotated evidence, where the labelled set is at hand."""

import numpy as np
import pytest

from benchmarks.lexical_sets import FOLDER
from benchmarks.quotes import among_passages, annotated, nearest, rows_of

needs_sets = pytest.mark.skipif(
    not (FOLDER / "wice_dev_evidence.jsonl").exists(),
    reason=f"no wice_dev with its evidence in {FOLDER}; set TCVA_BEDS",
)


def test_the_nearest_text_has_most_of_the_grams() -> None:
    texts = ["Dogs stay outside.", "Cats stay inside.", "Cats stay inside."]
    assert nearest("The cats stay inside", texts) == 1
    assert nearest("Zebras", texts) == 0


@needs_sets
def test_quotes_are_annotated_and_in_the_right_passage() -> None:
    rows = rows_of("wice_dev")
    evidence = {row["id"]: row for row in rows_of("wice_dev_evidence")}
    some = [row for row in rows if row["id"] in evidence][:150]
    for outcomes in (annotated(some, evidence), among_passages(some, rows)):
        shown = [*outcomes]
        sound = [outcome.quote for outcome in shown if outcome.is_sound]
        assert len(shown) == len(some)
        assert np.mean(sound) >= 0.85
        assert np.mean([outcome.chance for outcome in shown]) < 0.25
