"""No text of a sample, in whatever field, leaves its place."""

from __future__ import annotations

import pytest

from tests.hostile.attack import attacks
from tests.hostile.corpus import TEXTS, Hostile


def test_the_corpus_names_each_text_once() -> None:
    assert len({hostile.id for hostile in TEXTS}) == len({hostile.text for hostile in TEXTS}) >= 25


@pytest.mark.slow
@pytest.mark.parametrize("hostile", TEXTS, ids=lambda hostile: hostile.id)
def test_a_text_stays_in_its_place(hostile: Hostile) -> None:
    for _, attack in attacks(hostile.text):
        attack()
