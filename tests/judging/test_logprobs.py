"""From token probabilities to level probabilities; every figure is derived by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.judging.logprobs import level_probabilities
from tcva_adapters.models.protocol import ModelReply, TokenLogprob


def token(text: str, **top: float) -> TokenLogprob:
    """A token whose alternatives are given as probabilities."""
    others = tuple((t, math.log(p)) for t, p in top.items())
    return TokenLogprob(text, math.log(top.get(text, 0.01)), others)


def reply_of(*tokens: TokenLogprob, text: str | None = None) -> ModelReply:
    joined = "".join(one.token for one in tokens)
    return ModelReply(joined if text is None else text, token_logprobs=tokens)


def at_verdict(**top: float) -> tuple[float, ...] | None:
    first = next(iter(top))
    return level_probabilities(reply_of(token('{"v":"'), token(first, **top), token('"}')), 6)


def test_alternatives_are_summed_by_level_and_renormalised() -> None:
    # fully .4 + .2 ("f"), mostly .1, none .1, "Sure" names nothing: .8 in all.
    p = at_verdict(fully=0.4, f=0.2, mostly=0.1, none=0.1, Sure=0.2)
    assert p == pytest.approx((0.75, 0.125, 0.0, 0.0, 0.125), abs=1e-12)


def test_every_level_has_its_beginning() -> None:
    p = at_verdict(ful=0.1, mo=0.2, part=0.3, mi=0.15, no=0.25)
    assert p == pytest.approx((0.1, 0.2, 0.3, 0.15, 0.25), abs=1e-12)


def test_an_m_alone_is_shared_by_mostly_and_minor() -> None:
    # mostly .3 + .2 / 2, minor .2 / 2, none .5: already 1 in all.
    p = at_verdict(mostly=0.3, m=0.2, none=0.5)
    assert p == pytest.approx((0.0, 0.4, 0.0, 0.1, 0.5), abs=1e-12)


@pytest.mark.parametrize("word", [" Fully", '"fully', 'FULLY"', 'fully",', ' "f'])
def test_quotes_blanks_and_case_do_not_matter(word: str) -> None:
    reply = reply_of(token(word, **{word: 0.5, "none": 0.5}))
    start = next(i for i, char in enumerate(word) if char.isalpha())
    assert level_probabilities(reply, start) == pytest.approx((0.5, 0, 0, 0, 0.5), abs=1e-12)


def test_the_longer_word_of_partial_counts() -> None:
    assert at_verdict(partially=0.6, partial=0.2, p=0.2) == pytest.approx((0, 0, 1, 0, 0))


@pytest.mark.parametrize("word", ["fullyx", "no way", "nonesuch", '"', " ", "5", "z"])
def test_words_that_name_no_level_count_for_none(word: str) -> None:
    reply = reply_of(token("none", none=0.25, **{word: 0.75}))
    assert level_probabilities(reply, 0) == (0.0, 0.0, 0.0, 0.0, 1.0)


def test_a_token_beyond_its_own_alternatives_counts_too() -> None:
    # "none" was drawn at .1 although only "fully" at .3 is listed: .75 and .25 of .4.
    chosen = TokenLogprob("none", math.log(0.1), (("fully", math.log(0.3)),))
    assert level_probabilities(reply_of(chosen), 0) == pytest.approx((0.75, 0, 0, 0, 0.25))


def test_the_token_is_found_where_it_covers_the_place() -> None:
    reply = reply_of(token("none", none=1.0), token(" and "), token(' "fully', fully=1.0))
    assert level_probabilities(reply, 0) == (0, 0, 0, 0, 1)
    assert level_probabilities(reply, 11) == (1, 0, 0, 0, 0)


def test_tokens_that_split_a_character_do_not_shift_the_place() -> None:
    # The arrow comes as two tokens that are spelt as bytes: six characters of text become more.
    tokens = (token("none "), token(r"\xe2\x86"), token(r"\x92"), token(" "), token("none", none=1))
    reply = reply_of(*tokens, text="none \u2192 none")
    assert level_probabilities(reply, 7) == (0, 0, 0, 0, 1)
    assert level_probabilities(reply, 0) is None  # that one has no alternatives


@pytest.mark.parametrize(
    "reply",
    [
        ModelReply("none"),
        ModelReply("none", token_logprobs=()),
        reply_of(TokenLogprob("none", -0.1)),
        reply_of(token("none", Sure=1.0), text="other"),
        reply_of(TokenLogprob("none", -9999.0, (("fully", -9999.0),))),
        reply_of(TokenLogprob("none", 0.0, (("none", 0.0), ("fully", 0.0)))),
    ],
)
def test_nothing_to_go_by_gives_none(reply: ModelReply) -> None:
    assert level_probabilities(reply, 0) is None


@pytest.mark.parametrize("start", [-1, 4, 99])
def test_a_place_outside_the_text_gives_none(start: int) -> None:
    assert level_probabilities(reply_of(token("none", none=1.0)), start) is None


@given(
    st.dictionaries(
        st.sampled_from(["fully", "mostly", "m", "partial", "minor", "none", "x"]),
        st.floats(1e-6, 1.0),
        min_size=1,
    )
)
def test_probabilities_sum_to_one_or_are_absent(top: dict[str, float]) -> None:
    total = max(sum(top.values()), 1.0)
    shares = {word: share / total for word, share in top.items()}
    p = level_probabilities(reply_of(token(next(iter(top)), **shares)), 0)
    if p is None:
        assert set(top) == {"x"}
    else:
        assert sum(p) == pytest.approx(1.0, abs=1e-12)
        assert min(p) >= 0.0
