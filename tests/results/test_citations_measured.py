"""Each form of mark is read and held against its passage, on sentences of the set that the benchmark uses."""

from collections import Counter
from random import Random

import pytest

from benchmarks.citations import EXPECTED, FORMS, N_PASSAGES, outcomes, sources


def test_each_class_is_recalled_in_all_forms() -> None:
    usable = [(source, source.sentences) for source in sources() if source.sentences]
    if not usable:
        pytest.skip("wice_dev is not here; TCVA_BEDS names its folder")
    rng = Random(2)
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for form in FORMS * 4:
        drawn = rng.sample(usable, N_PASSAGES)
        chosen = [(source, rng.choice(claims)) for source, claims in drawn]
        for name, outcome, is_sound in outcomes(chosen, form, rng):
            if is_sound or name == "broken":
                totals[name] += 1
                counts[name] += outcome == EXPECTED[name].value
    for name, total in totals.items():
        assert total >= 40
        assert counts[name] / total >= 0.95, name
