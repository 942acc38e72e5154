"""Stretches of a text: they add up to it, and what is left of it is unchanged."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcva_adapters.text.sentences import split_claims
from tcva_adapters.text.stretches import kept_spans, stretches, without
from tests.support.markdown import faults

BLOCKS = (
    "The fee is 5 EUR. It was 4 EUR before. Ask us!",
    "Prices:",
    "# Fees",
    "## Opening hours",
    "**Contact**",
    "- Basic costs 5.\n- Plus costs 9.\n  - Plus has cake.\n- Free costs 0.",
    "1. Stir it.\n2. Heat it.\r\n3. Serve it.",
    "| Plan | Price |\n|---|---|\n| Basic | 5 |\n| - | - |\n| Plus | 9 |",
    "```python\nprint('a. b.')\n\nx = 1\n```",
    "> Quoted is this. And that.\n> And more.",
    "1. Basic costs 5.\n    - It has tea.\n\n    It is new.\n2. Plus costs 9.",
    "**The fee is 5. It was 4. Ask us.**",
    "المكتب مفتوح من التاسعة. الدخول مجاني.",
    "オフィスは九時に開く。入場は無料です。",
    "It is free. 👍 Come by! 🎉",
    "---",
    "Hello!",
)
GAPS = ("\n\n", "\r\n\r\n", "\n\n\n")


def texts_of(gaps: Sequence[str]) -> st.SearchStrategy[str]:
    """Texts made of the blocks, with some gaps between them."""
    blocks = st.tuples(st.sampled_from(BLOCKS), st.sampled_from(gaps))
    return st.lists(blocks.map("".join), max_size=7).map("".join)


texts = texts_of((*GAPS, "\n")) | st.text(
    st.sampled_from("aB1 .:|-#*>`\n\r\u2028。"), max_size=60
)


@settings(max_examples=400)
@given(text=texts)
def test_stretches_add_up_and_their_claims_are_those_of_the_split(text: str) -> None:
    parts = stretches(text)
    starts = [part.start for part in parts]
    assert starts[:1] == [0][: len(parts)]
    assert starts == sorted(starts)
    for part, stop in zip(parts, [*starts[1:], len(text)], strict=False):
        assert part.start <= part.body < part.end <= stop
        assert not text[part.start : part.body].strip()
        assert not text[part.end : stop].strip()
    claims = [part.claim for part in parts if part.kind == "claim"]
    assert claims == split_claims(text)


@settings(max_examples=400)
@given(text=texts_of(GAPS), data=st.data())
def test_what_is_left_is_markdown_as_it_was(text: str, data: st.DataObject) -> None:
    pytest.importorskip("markdown_it", reason="rich brings it")
    n_claims = len(split_claims(text))
    stays = data.draw(st.lists(st.booleans(), min_size=n_claims, max_size=n_claims))
    if any(stays):
        assert not faults(text, stays)


@settings(max_examples=400)
@given(text=texts, data=st.data())
def test_what_is_left_is_unchanged_and_in_order(text: str, data: st.DataObject) -> None:
    parts = stretches(text)
    claims = [part for part in parts if part.kind == "claim"]
    flags = st.lists(st.booleans(), min_size=len(claims), max_size=len(claims))
    stays = data.draw(flags)
    spans = kept_spans(text, parts, stays)
    ends = [0, *(end for _, end in spans)]
    assert all(end <= start for end, (start, _) in zip(ends, spans, strict=False))
    for claim, stay in zip(claims, stays, strict=True):
        for place in range(claim.mark, claim.end):
            if text[place].isalnum():
                assert any(a <= place < b for a, b in spans) == stay
    assert without(text, parts, [True] * len(claims)) == text


@settings(max_examples=400)
@given(text=texts, data=st.data())
def test_what_is_left_of_the_beginning_is_the_beginning_of_what_is_left(
    text: str, data: st.DataObject
) -> None:
    parts = stretches(text)
    places = [place for place, part in enumerate(parts) if part.kind == "claim"]
    flags = st.lists(st.booleans(), min_size=len(places), max_size=len(places))
    stays = data.draw(flags)
    whole = without(text, parts, stays)
    for number, place in enumerate(places, start=1):
        behind = place + 1
        head = parts[:behind]
        left = without(text[: head[-1].end], head, stays[:number])
        assert whole.startswith(left)


SHAPES = (
    *("---\n", "# # #\n", "Prices:\n", "**a. ", "- A is.\n", ": ", "a:\nb\n", "> ", "> a. b.\n", "***"),
    *(" ", "\n", "a | b\n", "|-\n", "a b\n", "  - a\n", "1. ", "a.** b.** **"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_no_faster_than_the_text(shape: str) -> None:
    """A tenth of a megabyte each: seconds would mean that it grows with the square."""
    text = (shape * 100_000)[:100_000]
    for answer in (f"{text}B is.", f"A is. {text}\nB is:\n- C is."):
        began = time.process_time()
        parts = stretches(answer)
        n_claims = sum(part.kind == "claim" for part in parts)
        kept_spans(answer, parts, [number % 2 == 0 for number in range(n_claims)])
        assert time.process_time() - began < 2


PLAIN = "Prices:\n1. Basic costs 5.\n2. Plus costs 9.\n\nAsk us. We answer.\nSoon."
TABLE = (
    "# Fees\n\n| Plan | Price |\n|---|---|\n| Basic | 5 |\n| Plus | 9 |\n\nThat is all."
)


@pytest.mark.parametrize(
    ("text", "stays", "left"),
    [
        (PLAIN, "10111", "Prices:\n1. Basic costs 5.\n\nAsk us. We answer.\nSoon."),
        (PLAIN, "00111", "Ask us. We answer.\nSoon."),
        (PLAIN, "11011", "Prices:\n1. Basic costs 5.\n2. Plus costs 9.\n\nWe answer.\nSoon."),
        (PLAIN, "11101", "Prices:\n1. Basic costs 5.\n2. Plus costs 9.\n\nAsk us.\nSoon."),
        (PLAIN, "11000", "Prices:\n1. Basic costs 5.\n2. Plus costs 9."),
        (PLAIN, "00000", ""),
        (TABLE, "101", "# Fees\n\n| Plan | Price |\n|---|---|\n| Basic | 5 |\n\nThat is all."),
        (TABLE, "011", "# Fees\n\n| Plan | Price |\n|---|---|\n| Plus | 9 |\n\nThat is all."),
        (TABLE, "001", "# Fees\n\nThat is all."),
        ("A is.\n```\ncode\n```\nC is.", "101", "A is.\n\nC is."),
        ("## One\n\nA is.\n\n## Two\n\nB is.\n", "01", "## Two\n\nB is.\n"),
        ("- A is.\n\n- B is.\n- C is.\n", "101", "- A is.\n\n- C is.\n"),
        ("| A | B |\n|---|---|\n| C | D |\n- E is.", "01", "- E is."),
        ("Steps:\n1. A is.\n2. B is.", "01", "Steps:\n\n2. B is."),
        ("It is.\n1. A is.\n2. B is.", "101", "It is.\n\n2. B is."),
        ("1. A is.\n    - B is.\n    - C is.", "011", "1.  - B is.\n    - C is."),
        ("- A is.\n  - B is.\n    - C is.", "001", "- - - C is."),
        ("- A is.\n  - B is.\n- C is.", "001", "- C is."),
        ("1. A is.\n\n   B is.", "01", "1. B is."),
        ("> A is. B is.\n> C is.", "011", "> B is.\n> C is."),
        ("> A is. B is.\n> C is.", "001", "> C is."),
        ("---\n\n1. A is.\n    - B is.", "01", "---\n\n1.  - B is."),
        ("**A is. B is. C is.**", "011", "B is. C is."),
        ("**A is. B is. C is.**", "110", "**A is. B is.**"),
        ("**A is. B is.** C is.", "101", "**A is.** C is."),
        ("***A is. B is.*** C is.", "011", "B is. C is."),
        ("2**3 is 8. And 3**2 is 9.", "01", "And 3**2 is 9."),
        ("Pass `**all` on. Or pass **none** of `**it`. So it is **.", "011", "Or pass **none** of `**it`. So it is **."),
    ],
)  # fmt: skip
def test_lines_vanish_and_paragraphs_never_run_together(
    text: str, stays: str, left: str
) -> None:
    assert without(text, stretches(text), [stay == "1" for stay in stays]) == left
