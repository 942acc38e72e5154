"""Any text at all: a number in the range or a reason, never an exception, in bounded time."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcva_adapters.ccrs import METRICS, read_rating
from tcva_adapters.ccrs.reply import read_ratings

ALL = tuple(METRICS.values())

PIECES = """87 8 score Score: /100 { } " : , . - – % * [ ] | <think> </think> NaN e 0-100 （"""

pieces = st.lists(st.sampled_from([*PIECES.split(), " ", "\n", '{"score": 5}']), max_size=25).map(
    "".join
)


@given(st.one_of(st.text(), pieces))
@example("\ud800")
@example("{" * 2000)
@example("<think>" * 50)
def test_every_text_is_a_number_or_a_reason(reply: str) -> None:
    for rating in (
        read_rating(reply),
        *(read_rating(reply, metric) for metric in ALL[:2]),
        *read_ratings(reply, ALL).values(),
    ):
        if rating.value is None:
            assert rating.problem
        else:
            assert 0.0 <= rating.value <= 100.0
            assert not rating.problem


@given(st.integers(0, 100))
def test_every_whole_number_comes_through_in_every_usual_form(number: int) -> None:
    forms = ["{n}", "{n}/100", "Score: {n}", "**{n}**", '{{"score": {n}}}', "<think>5</think>{n}"]
    assert {read_rating(form.format(n=number)).value for form in forms} == {float(number)}


@given(st.dictionaries(st.sampled_from(list(METRICS)), st.integers(0, 100)))
def test_a_suite_is_read_back_and_what_it_lacks_is_told(given_: dict[str, int]) -> None:
    found = read_ratings(json.dumps(given_), ALL)
    assert {n: r.value for n, r in found.items() if r.value is not None} == given_
    for name in METRICS.keys() - given_.keys():
        assert found[name].problem


def test_a_suite_takes_long_names_and_refuses_what_is_doubtful() -> None:
    reply = json.dumps(
        {"Contextual Coherence": 90, "qr": 150, "id": [1], "ac": 0.5, "scores": {"ir": "70/100"}}
    )
    found = read_ratings(f"```json\n{reply}\n```", ALL)
    assert {name: r.value for name, r in found.items()} == {
        "cc": 90.0,
        "qr": None,
        "id": None,
        "ac": None,
        "ir": 70.0,
    }
    assert read_ratings('{"cc": 90, "qr": 8', ALL)["cc"].value is None  # cut off
    assert read_ratings('{"cc": 90} {"cc": 80, "qr": 5}', ALL)["cc"].value is None
    assert read_ratings('{"cc": 90} {"cc": 80, "qr": 5}', ALL)["qr"].value == 5.0


@pytest.mark.parametrize(
    "reply",
    [
        "*" * 100_000,
        "score " * 20_000,
        "score 8" + "*" * 100_000 + "/",
        "(0-" * 30_000,
        "87/" * 30_000,
        '{"score":' * 10_000,
        "score" + " " * 100_000 + "x",
    ],
    ids=lambda reply: repr(reply[:12]),
)
def test_long_replies_take_no_longer_than_they_are(reply: str) -> None:
    started = time.process_time()
    read_rating(reply)
    assert time.process_time() - started < 5.0  # it takes 0.2; quadratic work would take minutes
