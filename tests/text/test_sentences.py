"""The splitter of answers into claims."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.text.sentences import pieces, split_claims

PROSE = [
    "He came.| She left!| Who stayed?| Nobody.",
    "Dr. Smith met Mrs. Jones.| St. John slept.",
    "Use e.g. pears, i.e. fruit, approx. 5.| Stop.",
    "The U.S. Senate met.| He moved to the U.S.| It was big.",
    "It opens at 5 a.m. on Monday.| It shuts at 6 p.m.| The end.",
    "See No. 5 and Fig. 2.| Then Vol. II.| He said no.| Yes.",
    "It is in Fig. 2.| It shows 3.5.| 4 people saw it.",
    "J. K. Rowling wrote it.| Plan B.| It failed.",
    "Pears, plums, etc. are fruit.| Also figs etc.| Done.",
    "He came on Jan. 5.| She left in Dec.| The rest stayed.",
    "Version v2.1.0 costs 3.5 euros.| Python 3.11 is out.",
    "See https://a.org/x.y?z=1.| Write to b.c@d.co.uk!| Done.",
    "I... do not know.| Wait...| What?| Maybe… not.",
    "He said “Stop. Go home.”| Then he left.",
    '"Stop!" he said.| "Why?" she asked.',
    'He is 5\'10" tall.| "She left.| He stayed.',
    "It works (see Fig. 3.)| Then it stops.| (Really. It does.)| Yes.",
    "The sky is blue.[1]| Grass is green [2].| Snow is white. [3, 4]| End.",
    "[1] One is here.| [2] Two is there.",
    "Call `x. Y()` now.| Then stop.",
    "Steps: 1. Stir it.| 2. Heat it.",
    "The movement started.| it grew.",
    "It is good.| iPhones sell.",
    "the film is good.| it is long, e.g. the end.| ok.",
    "¿Qué tal?| ¡Muy bien!| El Sr. López vino de EE. UU. ayer.| Sí.",
    "Am 3. Oktober war es z.B. schön.| Gut.",
    "他来了。|你好吗？|「好的。」他说。|他说：「走。去哪？」|然后走了！",
    "他想……算了。|好；行！",
    "彼は「はい。」と言った。|本当ですか？|はい。",
    "यह एक वाक्य है।| यह दूसरा है॥",
    "هل أنت بخير؟| نعم أنا بخير.| شكرا.",
    "orlando city are linked with javier hernandez .| madrid 's is a fan-base .| the mls side are keen .",
    "-lrb- cnn -rrb- a sunset .| it is tim 's !",
    "dr . smith is no . 5 .| he left .",
]
"""A bar stands where a sentence ends."""

LAYOUT = {
    "- One\n  and a half\n- Two\nand so on": "One and a half / Two and so on",
    "1. A\n   - b\n   - c\n2. D": "1. A / b / c / 2. D",
    "1. Do this. Now.\n2) Do that.\n(3) Stop.": "1. Do this. Now. / 2) Do that. / (3) Stop.",
    "1. Do this. 2. Do that.": "1. Do this. / 2. Do that.",
    "Fruit is good. Such as:\n\n- pears\n- plums": "Fruit is good. / Such as: - pears / plums",
    "He left. - She stayed.": "He left. / - She stayed.",
    "Run this. \n\n```python\na = 1.\n\nB = 2.\n```\nDone. Ok.": "Run this. / ```python\na = 1.\n\nB = 2.\n``` / Done. / Ok.",
    "Run:\n~~~\nx. Y\n~~~": "Run:\n~~~\nx. Y\n~~~",
    "```\nx. Y\n\n- z": "```\nx. Y\n\n- z",
    "# Title\n\nText here. More.\n## Sub\n- x": "# Title Text here. / More. / ## Sub - x",
    "**Title**\nText.\n**Note:** more.": "**Title** Text. / **Note:** more.",
    "Text.\n\n# Title": "Text. / # Title",
    "Text.\n\n---\n\nMore.": "Text. --- / More.",
    "First without stop\n\nsecond here\n \nThird": "First without stop / second here / Third",
    "Line one\nLine two, which\nis wrapped.\nLine three": "Line one / Line two, which is wrapped. / Line three",
    "Answer: B.\nReason: none.": "Answer: B. / Reason: none.",
    "He met Dr.\nSmith.": "He met Dr. Smith.",
    "A\r\nB\rC\u2028D\n\r\nE": "A / B / C / D / E",
    "> One. Two.\n> Three": "> One. / Two. / > Three",
    "  A   b\tccc.\xa0 D.  ": "A b ccc. / D.",
    "!!! Wow. ??? —": "!!! Wow. ??? —",
}
TABLES = {
    "| a | b |\n|---|:-:|\n| 1. X | 2 |\n| 3 | 4 |\nAfter.": "a: 1. X; b: 2 / a: 3; b: 4 / After.",
    "---\n| a | |\n|---|---|\n| 1 | 2 | 3 |\n| | 4 |\n| - | |\nb \\| c": "--- a: 1; 2; 3 / 4 / a: b \\| c",
    "| a |\n|---|": "| a | |---|",
    "| a |\n|---|\n| |\n| 1 |": "| a | |---| | | / a: 1",
    "| 1 | 2 |\n| 3 | 4 |": "| 1 | 2 | / | 3 | 4 |",
    "# T\n| a |\n|---|\n| 1 |\n| 2 |": "# T a: 1 / a: 2",
}


def squeezed(text: str) -> str:
    return re.sub(r"[\s\-*+•‣◦▪●○·–—]+", "", text)


def test_sentences() -> None:
    for marked in PROSE:
        sentences = [part.strip() for part in marked.split("|")]
        assert split_claims(marked.replace("|", "")) == sentences


def test_layout() -> None:
    for text, expected in (LAYOUT | TABLES).items():
        assert " / ".join(split_claims(text)) == expected
        assert text in TABLES or squeezed(expected.replace(" / ", "")) == squeezed(text)
    long = 'He said "' + "It is so. " * 40 + 'It ends." Then he left.'
    assert len(split_claims(long)) == 42


PIECES = st.sampled_from(
    [
        *"aBc1.!?…,;:\"'“”()[]`*_#|>-•~=。？「」、।؟¿¡é中あ🎉 \n\t\r\u2028\u00a0\x1c\x85",
        *("Dr", "e.g.", "U.S.", "No", "The", "it", " . ", " 's ", "-rrb-", "http://a.b/c.", "3.5"),
        *("\n\n", "\r\n", "\n- ", "\n1. ", "\n# ", "\n```\n", "\n~~~\n", "\n|---|\n", "| a |"),
        *("**B**\n", "[1]", ". ", "。」"),
    ]
)  # fmt: skip


@given(st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=80)))
def test_claims_are_neither_empty_nor_bare_and_drop_nothing(text: str) -> None:
    found = list(pieces(text))
    claims = [piece.text for piece in found]
    assert claims == split_claims(text)
    assert bool(claims) == bool(text.strip())
    assert all(claim and claim == claim.strip() for claim in claims)
    assert all("```" in c or "~~~" in c or len(c.splitlines()) == 1 for c in claims)
    if len(claims) > 1:
        assert all(any(char.isalnum() for char in claim) for claim in claims)
    stretches = [piece.source for piece in found]
    assert squeezed("".join(stretches)) == squeezed(text)
    if "|" not in text:
        assert [squeezed(claim) for claim in claims] == [squeezed(each) for each in stretches]


WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=6, max_size=9)
SENTENCES = st.builds(
    lambda words, stop: " ".join(words).capitalize() + stop,
    st.lists(WORDS, min_size=1, max_size=6),
    st.sampled_from([".", "!", "?", "..."]),
)


@given(st.lists(SENTENCES, max_size=12), st.sampled_from([" ", "\n", "\n\n", "\r\n", "  "]))
def test_sentences_are_found_again_and_do_not_split_further(
    sentences: list[str], between: str
) -> None:
    claims = split_claims(between.join(sentences))
    assert claims == sentences
    assert [split_claims(claim) for claim in claims] == [[one] for one in sentences]


SHAPES = [
    *(".", " .", "a.", "a. ", "word. ", "a! ", "好。", "。」", '"', "“", "「", "(", '"a', "[1] ", "`a"),
    *("\n", "a\n", "- a\n", "|", "|a|\n", "|-\n", "#", "**", "a:\n", "~", "```\n", "* ", " ", "\r\n"),
    *(". '' ", ' . "', "e.g. ", "1. ", "a\t\n", ".)", "x(a.) "),
]  # fmt: skip


@pytest.mark.slow
def test_time_grows_no_faster_than_the_text() -> None:
    """A tenth of a megabyte each: seconds would mean a quadratic pattern, whatever the machine."""
    texts = [(shape * 100_000)[:100_000] for shape in SHAPES]
    for filler in ("\t", "`", "|", "-", "(", "- ", "[1]"):
        texts += [
            "a" + filler * 50_000 + edge + "x\n" + filler * 50_000 + "\nEnd." for edge in "a\n"
        ]
    for text in texts:
        began = time.process_time()
        split_claims(text)
        assert time.process_time() - began < 2, text[:8]
