"""Files as the frameworks write them: the same sample from each, to the last character."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.compare.existing.imports import import_scores
from tcva_adapters.samples.files import read_samples
from tests.support.formats import WRITERS, plain

SAMPLES = [
    Sample(
        input='Who wrote "Notes"?',
        response="It's Ada;\nshe wrote them, in 1843.",
        contexts=[
            "It's Ada who wrote them.",
            'They are called "Notes".',
            "Both ' and \" here, [1], {x}, ...",
            "A line\nbreak, a \\ backslash, \\n, \ttab, caf\u00e9 \u6f22 \U0001f600 \u2028 \x07",
            "",
        ],
    ),
    Sample(input="When?", response="In 1843.", contexts=["[1] The notes are of 1843."]),
    Sample(input="Where?", response="In London.", contexts=["['quoted']", "word " * 400]),
]


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_samples_and_verdicts(tmp_path: Path, name: str) -> None:
    file, write = WRITERS[name]
    write(tmp_path / file, SAMPLES)
    found = read_samples(tmp_path / file).samples
    assert [(s.input, s.response, s.contexts) for s in found] == [
        (s.input, s.response, s.contexts) for s in SAMPLES
    ]
    plain(tmp_path / "plain.jsonl", SAMPLES)
    tcva = TCVA(judge="lexical")
    wanted = tcva.evaluate_many(read_samples(tmp_path / "plain.jsonl").samples)
    assert [r.claims for r in tcva.evaluate_many(found)] == [r.claims for r in wanted]


@pytest.mark.parametrize("name", [name for name in WRITERS if name.startswith("RAGAS to")])
def test_scores_of_these_files_find_their_samples(tmp_path: Path, name: str) -> None:
    """The same answer to the same question twice: only the contexts tell which is meant."""
    twins = [*SAMPLES, SAMPLES[0].model_copy(update={"contexts": ("Something else.",)})]
    file, write = WRITERS[name]
    write(tmp_path / file, twins)
    imported = import_scores(str(tmp_path / file), twins)
    assert {row.sample for row in imported.rows} == {"row-1", "row-2", "row-3", "row-4"}
    assert imported.unmatched == ()


def test_a_reference_of_a_run_and_of_an_example(tmp_path: Path) -> None:
    file, write = WRITERS["LangSmith runs, dotted csv"]
    write(tmp_path / file, SAMPLES)
    assert {s.reference for s in read_samples(tmp_path / file).samples} == {"Something else."}
