"""What a claim says otherwise than its source in the same words, and how words are read for it."""

from __future__ import annotations

from tcva_adapters.text.contrast import negation_differs, other_numbers
from tcva_adapters.text.words import tokenise

OTHER = [
    ("The trial lasted two weeks.", "The trial lasted three weeks"),
    ("The train leaves at 9:15.", "The train leaves at 9:45"),
    ("The hotel has 12 small rooms.", "The hotel has 21 rooms"),
    ("It costs $5.", "It costs $15"),
    ("It is 1.5 km away.", "It is 15 km away"),
]
NOT_OTHER = [
    ("In the 1960s things were good.", "In the 60s things were good"),
    ("It costs 1.000 euros.", "It costs 1,000 euros"),
    ("About 3 million people live there.", "3.2 million people live there"),
    ("More than 30 people work there.", "35 people work there"),
    ("The price rose by 4 euros.", "The price rose from 5 to 9 euros"),
    ("It has 12 rooms.", "It has 7 rooms upstairs and 5 rooms below"),
    ("It lasted 14 days.", "It lasted two weeks"),
    ("It opens at 9 am.", "It opens at 09:00"),
    ("It leaves at 8 pm.", "It leaves at 7"),
]
READ_ALIKE = [
    ("twenty-two", "22"),
    ("two hundred and fifty", "250"),
    ("the 3rd", "the 3"),
    ("$8m", "$8,000,000"),
    ("7:30 pm", "19:30"),
    ("a 3:1 win", "a 3:1 win"),
    ("三十八", "38"),
    ("二〇二四", "2024"),
    ("一万二千", "12000"),
]
READ_APART = [("8 m", "8,000,000"), ("twenty twelve", "32"), ("3 pm and 5", "8"), ("5 and am", "5")]


def test_another_number_in_the_place_of_a_claims() -> None:
    for pairs, expected in ((OTHER, True), (NOT_OTHER, False)):
        for claim, source in pairs:
            assert bool(other_numbers(tokenise(claim), tokenise(source))) is expected, claim


def test_equal_numbers_have_equal_keys() -> None:
    for pairs, expected in ((READ_ALIKE, True), (READ_APART, False)):
        for one, other in pairs:
            keys = [[token.key for token in tokenise(text)] for text in (one, other)]
            assert (keys[0] == keys[1]) is expected, one


def test_a_negation_ends_with_its_clause() -> None:
    claim, source = tokenise("It is safe."), tokenise("It is not cheap, but it is safe.")
    assert negation_differs(claim, source) == []
    assert negation_differs(tokenise("It is not red or safe."), claim) == ["safe"]
