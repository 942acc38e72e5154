"""The exact match: strict as in the source, normalised by choice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.ccrs import exact_match

CASES = [
    ("Paris", "Paris", True, True),
    ("Paris.", "paris", False, True),
    ("The  Nile", "nile", False, True),
    ("an apple", "apple", False, True),
    ("Paris ", "Paris", False, True),
    ("state-of-the-art", "stateoftheart", False, True),
    ("anthem", "them", False, False),
    ("Paris, France", "Paris", False, False),
    ("10.5", "105", False, True),  # the price of looking past punctuation
    ("", "", False, False),  # an empty response is no answer
    (" ", " ", False, False),
    ("The", "a", False, False),  # nothing is left of either, which is no match
    ("The", "The", True, True),
    ("STRASSE", "straße", False, True),
]


def test_exact_match() -> None:
    for one, other, strict, normalised in CASES:
        found = (exact_match(one, other), exact_match(one, other, "normalised"))
        assert found == (strict, normalised), (one, other)


@given(st.text(), st.text())
def test_strict_is_equality_and_normalised_never_refuses_what_it_accepts(a: str, b: str) -> None:
    assert exact_match(a, b) == (a == b and bool(a.strip()))
    assert exact_match(a, b, "normalised") == exact_match(b, a, "normalised")
    if exact_match(a, b):
        assert exact_match(a, b, "normalised")
