"""However long a reply or a text is, and whatever it is made of, reading it takes its time once."""

import time
from collections.abc import Callable
from itertools import product

import pytest

from tcva_adapters import Sample
from tcva_adapters.ccrs.reply import read_rating
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.prompts import verdict_request
from tcva_adapters.judges.reply import parse_claims, parse_verdicts
from tcva_adapters.text.sentences import split_claims

BROKEN = ['[{"a" "b",', '{"a":[1 2 "x" y,', '{"verdicts":[{"claim":1,"evidence":"a "b" c","verdict":"fully"},', "["]  # fmt: skip
GARBAGE = [
    "{" * 50_000, '{"a":[' * 30_000, '"' * 200_000, "{'a" * 60_000, 'x "y {z} ' * 22_000, '{"a":"b" ' * 20_000,
    '{"a":"b" ' * 10_000, '{"' * 100_000, '\\"' * 100_000, '{"claim":1,"verdict":"fully"} ' * 6_000, "</think>" * 25_000,
    "<think>" * 25_000, 'x {"a</think>' * 15_000, "[a," * 60_000, "- " * 100_000, "\n1. a" * 40_000, '\n{"' * 60_000,
    "\n{'a': b " * 20_000, " " * 200_000, "{" + " " * 200_000, "{" + "a" * 200_000, '{"a":"' + "x" * 200_000,
    "{'a':'" + "x\\'" * 48_000, "\n".join("{'claim': 1, 'verdict': 'fully',}" for _ in range(6_000)), "9" * 200_000,
    "[9" + "9" * 200_000 + "]", '"},{"' * 40_000, '{"a":/*' * 30_000, "{//\n" * 50_000, "{“" * 100_000, "1." * 100_000,
    '{"verdicts":[' + '{"claim":1,"verdict":"fully" "x"}' * 3_000, "***" * 60_000, "claim " * 35_000,
]  # fmt: skip
REPEATED = ['"}', "'\"", '"a" b ', 'a"b ', '" a:', "(0-", "(a [b] ", " [1]", '. " ']


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@pytest.mark.slow
def test_long_and_broken_replies_are_read_quickly() -> None:
    parts = product(BROKEN, REPEATED, (2_800, 9_900))
    broken = [lead + unit * (size // len(unit)) for lead, unit, size in parts]
    for reply in [*GARBAGE, *broken]:
        begin = time.process_time()
        parse_verdicts(reply, 8)
        parse_claims(reply)
        # Two readings of 200 000 characters; a quadratic one takes minutes. Usual is 0.3 s.
        assert time.process_time() - begin < 4, reply[:12]


def test_a_reply_of_drafts_without_end_has_no_verdicts_and_says_why() -> None:
    parsed = parse_verdicts('x {"a</think>' * 5000 + '{"claim":1,"verdict":"fully"}', 1)
    assert "the reasoning in the reply does not end" in parsed.problems


SAMPLE = Sample(response="It opens at nine.", contexts=("It opens at nine.",))
STAGES: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "reply with verdicts": (lambda t: parse_verdicts(t, 8), ["1. a\n"]),
    "reply with a rating": (lambda t: read_rating(t, t), ['x {"a</think>']),
    "prompt": (lambda t: verdict_request(SAMPLE, FAITHFULNESS, [t]), ["\n", "\u0301", "< "]),
    "lexical judge": (
        lambda t: LexicalJudge().judge_claims(["It opens at nine."], [t], FAITHFULNESS),
        ["a\n", "Row 7 is 49. "],
    ),
    "claims": (split_claims, ['. " ', '"a" ']),
}


@pytest.mark.parametrize("stage", STAGES)
def test_four_times_the_text_takes_about_four_times_as_long(stage: str) -> None:
    read, units = STAGES[stage]
    for unit in units:
        small = unit * (25_000 // len(unit))
        for _ in range(3):  # another process may disturb one of the two
            once = seconds(lambda small=small: read(small))  # type: ignore[misc]  # called at once
            more = seconds(lambda small=small: read(small * 4))  # type: ignore[misc]  # called at once
            if more < max(8 * once, 0.2):
                break
        else:
            pytest.fail(f"{unit!r}: {once:.3f} s, and {more:.3f} s for four times as much")


def test_claims_of_a_long_reply_are_read_or_refused() -> None:
    assert parse_claims('{"claims":[' + '"b",' * 50_000 + '"c"]}') == [*["b"] * 50_000, "c"]
    assert parse_claims('{"claims":["a" "b' * 20_000) is None
