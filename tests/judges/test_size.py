"""However long a reply or a text is, and whatever it is made of, reading it takes its time once."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product

import pytest

from benchmarks.megabyte import STAGES, patterns
from tcva_adapters.judges.reply import parse_claims, parse_verdicts
from tcva_adapters.models.reply_json import json_values

BROKEN = ['[{"a" "b",', '{"a":[1 2 "x" y,', '{"verdicts":[{"claim":1,"evidence":"a "b" c","verdict":"fully"},', "["]  # fmt: skip
REPEATED = ['"}', "'\"", '"a" b ', 'a"b ', '" a:', "(0-", "(a [b] ", " [1]", '. " ']


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@pytest.mark.slow
def test_the_repair_of_a_broken_reply_is_bounded() -> None:
    for lead, repeated in product(BROKEN, REPEATED):
        for size in (2_800, 9_900, 50_000):
            reply = lead + repeated * (size // len(repeated))
            # Without bounds the longest takes far more.
            assert seconds(lambda reply=reply: parse_verdicts(reply, 8)) < 5  # type: ignore[misc]  # called at once


def test_a_broken_list_of_sixty_verdicts_is_repaired() -> None:
    entry = '{"claim":%d,"evidence":"he said "no" to it","passage":1,"reason":"In "so" many words.","verdict":"partial"},'
    entries = "".join(entry % number for number in range(1, 61))
    (node,) = json_values('{"verdicts":[' + entries + "]}", 0)
    assert node.is_repaired
    assert len(node.value["verdicts"]) == 60


def test_a_reply_of_drafts_without_end_has_no_verdicts_and_says_why() -> None:
    parsed = parse_verdicts('x {"a</think>' * 5000 + '{"claim":1,"verdict":"fully"}', 1)
    assert "the block of reasoning was never closed" in parsed.problems


SUPERLINEAR = {
    "reply with verdicts": ["items"],
    "reply with a rating": ["objects and thoughts"],
    "log probabilities": ["only 'a'", "capitals"],
    "prompt, claim": ["newlines", "combining marks", "blanks between marks"],
    "lexical judge, passage": ["lines", "distinct sentences"],
    "claims of the response": ["lines", "closing quotes", "quotations", "code fences"],
}  # fmt: skip


@pytest.mark.parametrize("stage", SUPERLINEAR)
def test_four_times_the_text_takes_about_four_times_as_long(stage: str) -> None:
    small, large = patterns(25_000), patterns(100_000)
    for name in SUPERLINEAR[stage]:
        for _ in range(3):  # another process may disturb one of the two
            once = seconds(lambda name=name: STAGES[stage](small[name]))  # type: ignore[misc]  # called at once
            more = seconds(lambda name=name: STAGES[stage](large[name]))  # type: ignore[misc]  # called at once
            if more < max(8 * once, 0.2):
                break
        else:
            pytest.fail(f"{name}: {once:.3f} s, and {more:.3f} s for four times as much")


def test_claims_of_a_long_reply_are_read_or_refused() -> None:
    assert parse_claims('{"claims":[' + '"b",' * 50_000 + '"c"]}') == [*["b"] * 50_000, "c"]
    assert parse_claims('{"claims":["a" "b' * 20_000) is None
