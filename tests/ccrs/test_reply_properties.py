"""Any text at all: a number in the range or a reason, never an exception, in bounded time."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcva_adapters.ccrs import METRICS, read_rating

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
