"""Files that the frameworks themselves write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcva_adapters import Sample
from tcva_adapters.compare import read_scores
from tcva_adapters.samples.files import read_samples
from tests.support.formats import WRITERS

SAMPLES = [
    Sample(
        input='Who wrote "Notes"?',
        response="It's Ada;\nshe wrote them, in 1843.",
        contexts=[
            "It's Ada who wrote them.",
            "Both ' and \" here, [1], {x}, ...",
            "A line\nbreak, a \\ backslash, \\n, \ttab, caf\u00e9 \u6f22 \U0001f600 \u2028 \x07",
            "",
        ],
    ),
    Sample(input="When?", response="In 1843.", contexts=["[1] The notes are of 1843."]),
    Sample(input="Where?", response="In London.", contexts=["['quoted']", "word " * 400]),
]


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_the_frameworks_hold_the_same_samples(tmp_path: Path, name: str) -> None:
    file, write = WRITERS[name]
    write(tmp_path / file, SAMPLES)
    found = read_samples(tmp_path / file).samples
    wanted = [(s.input, s.response, s.contexts) for s in SAMPLES]
    assert [(s.input, s.response, s.contexts) for s in found] == wanted


def test_scores_of_these_files_find_their_samples(tmp_path: Path) -> None:
    """The same answer to the same question twice: only the contexts tell which is meant."""
    twins = [*SAMPLES, SAMPLES[0].model_copy(update={"contexts": ("Something else.",)})]
    for file, write in (found for name, found in WRITERS.items() if name.startswith("RAGAS to")):
        write(tmp_path / file, twins)
        table = read_scores(tmp_path / file, samples=twins)
        assert table.samples == ("row-1", "row-2", "row-3", "row-4")
        assert "on 4 of 4 samples" in table.notes[0]
