"""However long a reply or a text is, and whatever it is made of, reading it takes its time once."""

import time
import unicodedata
from collections.abc import Callable, Iterable
from itertools import product
from types import SimpleNamespace

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs.reply import read_rating
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.prompts import blocks_for, verdict_request
from tcva_adapters.judges.reply import parse_claims, parse_verdicts
from tcva_adapters.text import words
from tcva_adapters.text.quotes import Passages, find_quote
from tcva_adapters.text.sentences import split_claims
from tests.judges.huge import huge
from tests.support.scripted import ScriptedModel, verdict_json

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
    "prompt": (
        lambda t: verdict_request(blocks_for(SAMPLE, FAITHFULNESS), FAITHFULNESS, [t]),
        ["\n", "\u0301", "< "],
    ),
    "lexical judge": (
        lambda t: LexicalJudge().judge_claims(["It opens at nine."], [t], FAITHFULNESS),
        ["a\n", "Row 7 is 49. "],
    ),
    "claims": (split_claims, ['. " ', '"a" ']),
    "quote": (
        lambda t: find_quote(
            "a. b Row 7 is 48 or 49 ... Row 7 was 49 then", Passages([t])
        ),
        ["a b ", "Row 7 is 49. "],
    ),
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
            pytest.fail(
                f"{unit!r}: {once:.3f} s, and {more:.3f} s for four times as much"
            )


def test_claims_of_a_long_reply_are_read_or_refused() -> None:
    assert parse_claims('{"claims":[' + '"b",' * 50_000 + '"c"]}') == [
        *["b"] * 50_000,
        "c",
    ]
    assert parse_claims('{"claims":["a" "b' * 20_000) is None


def test_passages_are_prepared_once_for_all_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared: list[Iterable[str]] = []
    prepare = Passages.__init__

    def noted(self: Passages, texts: Iterable[str]) -> None:
        prepare(self, texts)
        prepared.append(texts)

    monkeypatch.setattr(Passages, "__init__", noted)
    facts = [f"Room {n} has {n + 2} windows." for n in range(60)]
    contexts = [" ".join(facts) + " It is heated." * 500] * 10
    quotes = [f"In the new house room {n} has {n + 2} windows" for n in range(60)]
    replies = [
        verdict_json(*((n + 1, "fully", quotes[start + n]) for n in range(20)))
        for start in (0, 20, 40)
    ]
    judged = TCVA(judge=ScriptedModel(replies)).evaluate(
        Sample(response=" ".join(facts), contexts=contexts)
    )
    assert len(judged.assessment.claims) == 60
    assert len(prepared) == 1


LINES = "Die Straße wurde angelegt, als die Stadt wuchs;\nsie hat 1.200 Häuser.\n\nL’été, it's -5 °C. "
TEXTS = {
    "lines": LINES,
    "one line": LINES.replace("\n", " "),
    "Chinese": "租约为期三十六个月。每月租金为1200元，包含水费。",
    "csv": "name,rooms\nhouse,1,200\n",
    "json": '{"name":"house","rooms":[1,200,-3]},',
}


@pytest.mark.parametrize("unit", TEXTS.values(), ids=TEXTS)
def test_a_long_text_is_split_in_parts_into_the_same_words(
    monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    sizes: list[int] = []

    def normalize(form: str, text: str) -> str:
        sizes.append(len(text))
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]  # as it is called

    named = {
        name: getattr(unicodedata, name)
        for name in ("category", "combining", "decimal")
    }
    monkeypatch.setattr(
        words, "unicodedata", SimpleNamespace(normalize=normalize, **named)
    )
    text = unit * (200_000 // len(unit))
    in_parts = words.split_words(text)
    assert (
        max(sizes) <= 30_000
    )  # a pattern holds the interpreter's lock until it is through
    monkeypatch.setattr(words, "_PART", len(text))
    assert in_parts == words.split_words(text)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_a_quote_is_looked_up_in_about_the_time_that_reading_its_passages_takes(
    number: int,
) -> None:
    _, passages, quote = huge(1_000_000)[number]
    for _ in range(3):  # another process may disturb one of the two
        began = time.process_time()
        held = Passages(passages)
        prepared = time.process_time() - began
        if seconds(lambda held=held: find_quote(quote, held)) < max(2 * prepared, 0.3):  # type: ignore[misc]  # called at once
            return
    pytest.fail(f"more than twice the {prepared:.2f} s of reading")


@pytest.mark.slow
def test_a_judgement_takes_a_time_that_grows_with_its_contexts() -> None:
    facts = [f"Room {n} has {n + 2} windows." for n in range(20)]
    quotes = [f"In the new house room {n} has {n + 2} windows" for n in range(20)]
    reply = verdict_json(*((n + 1, "fully", quote) for n, quote in enumerate(quotes)))

    def judge(size: int) -> float:
        contexts = [
            " ".join(facts) + " It is heated and has a view of the lake." * (size // 41)
        ]
        sample = Sample(response=" ".join(facts), contexts=contexts)
        return seconds(
            lambda: TCVA(judge=ScriptedModel([reply]), share=False).evaluate(sample)
        )

    judge(1000)
    for _ in range(3):
        once, *more = (judge(100_000 * times) for times in (1, 2, 4, 8))
        if all(
            took < 2 * times * once for took, times in zip(more, (2, 4, 8), strict=True)
        ):
            return
    pytest.fail(
        f"{once:.3f} s for 100 kB, and {more} for two, four and eight times as much"
    )
