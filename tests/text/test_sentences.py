"""The splitter of answers into claims."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.text.sentences import pieces, split_claims

PROSE: dict[str, tuple[str, list[str]]] = {
    "plain": ("He came. She left! Who stayed? Nobody.", 4 * [""]),
    "titles": ("Dr. Smith met Mrs. Jones. St. John slept.", ["Dr. Smith met Mrs. Jones.", ""]),
    "latin": (
        "Use e.g. pears, i.e. fruit, approx. 5. Stop.",
        ["Use e.g. pears, i.e. fruit, approx. 5.", ""],
    ),
    "latin before a capital": ("Some, e.g. The Beatles, sang.", [""]),
    "country": (
        "The U.S. Senate met. He moved to the U.S. It was big.",
        ["The U.S. Senate met.", "", ""],
    ),
    "times": (
        "It opens at 5 a.m. on Monday. It shuts at 6 p.m. The end.",
        ["It opens at 5 a.m. on Monday.", "", ""],
    ),
    "numbered": (
        "See No. 5 and Fig. 2. Then Vol. II. He said no. Yes.",
        ["See No. 5 and Fig. 2.", "", "", ""],
    ),
    "number at the end": (
        "It is in Fig. 2. It shows 3.5. 4 people saw it.",
        ["It is in Fig. 2.", "", ""],
    ),
    "initials": ("J. K. Rowling wrote it. Plan B. It failed.", ["J. K. Rowling wrote it.", "", ""]),
    "company": ("Apple Inc. is big. I like Apple Inc. They know.", ["Apple Inc. is big.", "", ""]),
    "etc": (
        "Pears, plums, etc. are fruit. Also figs etc. Done.",
        ["Pears, plums, etc. are fruit.", "", ""],
    ),
    "months": (
        "He came on Jan. 5. She left in Dec. The rest stayed.",
        ["He came on Jan. 5.", "", ""],
    ),
    "short words": ("Mary sat. Tom saw the sun. Ann ran.", 3 * [""]),
    "decimals": (
        "Version v2.1.0 costs 3.5 euros. Python 3.11 is out.",
        ["Version v2.1.0 costs 3.5 euros.", ""],
    ),
    "year": ("He died in 2014. She lives.", 2 * [""]),
    "short number": ("The answer is 42. Next.", 2 * [""]),
    "addresses": (
        "See https://a.org/x.y?z=1. Write to b.c@d.co.uk! Done.",
        ["See https://a.org/x.y?z=1.", "", ""],
    ),
    "ellipsis": ("I... do not know. Wait... What? Maybe… not.", ["I... do not know.", "", "", ""]),
    "quotation": ('He said "Stop. Go home." Then he left.', ['He said "Stop. Go home."', ""]),
    "curly quotation": ("He said “Stop. Go home.” Then he left.", ["He said “Stop. Go home.”", ""]),
    "speech tag": ('"Stop!" he said. "Why?" she asked.', ['"Stop!" he said.', ""]),
    "unbalanced quote": (
        'He is 5\'10" tall. "She left. He stayed.',
        ["He is 5'10\" tall.", "", ""],
    ),
    "parenthesis": (
        "It works (see Fig. 3.) Then it stops. (Really. It does.) Yes.",
        ["It works (see Fig. 3.)", "", "", ""],
    ),
    "parenthesis inside": (
        "It works (really!) and stops (so far). Yes.",
        ["It works (really!) and stops (so far).", ""],
    ),
    "citations": (
        "The sky is blue.[1] Grass is green [2]. Snow is white. [3, 4] End.",
        ["The sky is blue.[1]", "", "Snow is white. [3, 4]", ""],
    ),
    "leading citations": ("[1] One is here. [2] Two is there.", ["[1] One is here.", ""]),
    "code span": ("Call `x. Y()` now. Then stop.", ["Call `x. Y()` now.", ""]),
    "emphasis": ("**Bold.** Next. *It ends.* Last.", ["**Bold.**", "", "*It ends.*", ""]),
    "emoji": ("Great! 🎉 Next.", ["Great!", ""]),
    "inline list": ("Steps: 1. Stir it. 2. Heat it.", ["Steps: 1. Stir it.", ""]),
    "inline list with semicolons": ("Steps: 1. Stir it; 2. Heat it.", [""]),
    "unlisted abbreviation": ("The abbr. of it is odd. Yes.", ["The abbr. of it is odd.", ""]),
    "lower case after a long word": ("The movement started. it grew.", 2 * [""]),
    "brand": ("It is good. iPhones sell.", 2 * [""]),
    "no stop": ("no final punctuation", [""]),
    "lower case": (
        "the film is good. it is long, e.g. the end. ok.",
        ["the film is good.", "", ""],
    ),
    "spanish": (
        "¿Qué tal? ¡Muy bien! El Sr. López vino de EE. UU. ayer. Sí.",
        ["¿Qué tal?", "", "El Sr. López vino de EE. UU. ayer.", ""],
    ),
    "german": ("Am 3. Oktober war es z.B. schön. Gut.", ["Am 3. Oktober war es z.B. schön.", ""]),
    "chinese": (
        "他来了。你好吗？「好的。」他说。他说：「走。去哪？」然后走了！",
        ["他来了。", "", "「好的。」他说。", "他说：「走。去哪？」", ""],
    ),
    "chinese ellipsis": ("他想……算了。好；行！", ["他想……算了。", ""]),
    "chinese with narrow stops": ("你好!我很好.你呢", ["你好!", "", ""]),
    "japanese": (
        "彼は「はい。」と言った。本当ですか？はい。",
        ["彼は「はい。」と言った。", "", ""],
    ),
    "korean": ("그는 왔다. 그녀는 갔다! 정말?", ["그는 왔다.", "", ""]),
    "hindi": ("यह एक वाक्य है। यह दूसरा है॥", ["यह एक वाक्य है।", ""]),
    "arabic": ("هل أنت بخير؟ نعم أنا بخير. شكرا.", ["هل أنت بخير؟", "", ""]),
    "tokenised": (
        "orlando city are linked with javier hernandez . madrid 's is a fan-base . the mls side are keen .",
        ["orlando city are linked with javier hernandez .", "madrid 's is a fan-base .", ""],
    ),
    "tokenised brackets": (
        "-lrb- cnn -rrb- a sunset . it is tim 's !",
        ["-lrb- cnn -rrb- a sunset .", ""],
    ),
    "tokenised quotes": (
        "`` go . '' he ran . \" stop . \" yes .",
        ["`` go . ''", "he ran .", '" stop . "', ""],
    ),
    "tokenised title": ("dr . smith is no . 5 . he left .", ["dr . smith is no . 5 .", ""]),
}

LAYOUT: dict[str, tuple[str, list[str]]] = {
    "bullets": ("- One\n* Two. With more\n• Three", ["One", "Two. With more", "Three"]),
    "continued item": (
        "- One\n  and a half\n- Two\nand so on",
        ["One and a half", "Two and so on"],
    ),
    "nested": ("1. A\n   - b\n   - c\n2. D", ["1. A", "b", "c", "2. D"]),
    "numbers": (
        "1. Do this. Now.\n2) Do that.\n(3) Stop.",
        ["1. Do this. Now.", "2) Do that.", "(3) Stop."],
    ),
    "numbers on one line": ("1. Do this. 2. Do that.", ["1. Do this.", "2. Do that."]),
    "lead-in": (
        "Fruit is good. Such as:\n\n- pears\n- plums",
        ["Fruit is good.", "Such as: - pears", "plums"],
    ),
    "lead-in only": ("Such as:", ["Such as:"]),
    "dash inside a line": ("He left. - She stayed.", ["He left.", "- She stayed."]),
    "code": (
        "Run this. \n\n```python\na = 1.\n\nB = 2.\n```\nDone. Ok.",
        ["Run this.", "```python\na = 1.\n\nB = 2.\n```", "Done.", "Ok."],
    ),
    "code with lead-in": ("Run:\n~~~\nx. Y\n~~~", ["Run:\n~~~\nx. Y\n~~~"]),
    "code without end": ("```\nx. Y\n\n- z", ["```\nx. Y\n\n- z"]),
    "code in windows lines": ("```\r\na\r\n```\r\nDone.", ["```\r\na\r\n```", "Done."]),
    "table": (
        "| a | b |\n|---|:-:|\n| 1. X | 2 |\n| 3 | 4 |\nAfter.",
        ["a: 1. X; b: 2", "a: 3; b: 4", "After."],
    ),
    "bare table": ("a | b\n--- | ---\n1 | 2\n3 | 4", ["a: 1; b: 2", "a: 3; b: 4"]),
    "table with odd cells": (
        "---\n| a | |\n|---|---|\n| 1 | 2 | 3 |\n| | 4 |\n| - | |\nb \\| c",
        ["--- a: 1; 2; 3", "4 | - | |", "a: b \\| c"],
    ),
    "table without rows": ("| a |\n|---|", ["| a | |---|"]),
    "empty first row": ("| a |\n|---|\n| |\n| 1 |", ["| a | |---| | |", "a: 1"]),
    "rows without header": ("| 1 | 2 |\n| 3 | 4 |", ["| 1 | 2 |", "| 3 | 4 |"]),
    "table under heading": ("# T\n| a |\n|---|\n| 1 |\n| 2 |", ["# T a: 1", "a: 2"]),
    "heading": (
        "# Title\n\nText here. More.\n## Sub\n- x",
        ["# Title Text here.", "More.", "## Sub - x"],
    ),
    "bold heading": ("**Title**\nText.\n**Note:** more.", ["**Title** Text.", "**Note:** more."]),
    "heading at the end": ("Text.\n\n# Title", ["Text.", "# Title"]),
    "rule": ("Text.\n\n---\n\nMore.", ["Text. ---", "More."]),
    "rule first": ("---\nText.", ["--- Text."]),
    "paragraphs": (
        "First without stop\n\nsecond here\n \nThird",
        ["First without stop", "second here", "Third"],
    ),
    "lines": (
        "Line one\nLine two, which\nis wrapped.\nLine three",
        ["Line one", "Line two, which is wrapped.", "Line three"],
    ),
    "lower-case lines": ("line one\nline two,\nwrapped", ["line one", "line two, wrapped"]),
    "letter before a line end": ("Answer: B.\nReason: none.", ["Answer: B.", "Reason: none."]),
    "title before a line end": ("He met Dr.\nSmith.", ["He met Dr. Smith."]),
    "mixed newlines": ("A\r\nB\rC\u2028D\n\r\nE", ["A", "B", "C", "D", "E"]),
    "quoted lines": ("> One. Two.\n> Three", ["> One.", "Two.", "> Three"]),
    "blanks inside": ("  A   b\tccc.\u00a0 D.  ", ["A b ccc.", "D."]),
    "only punctuation": ("... !!! ???", ["... !!! ???"]),
    "punctuation around": ("!!! Wow. ??? —", ["!!! Wow. ??? —"]),
}


TABLES = {name for name in LAYOUT if "table" in name or name == "empty first row"}


def squeezed(text: str) -> str:
    return re.sub(r"[\s\-*+•‣◦▪●○·–—]+", "", text)


@pytest.mark.parametrize(("text", "expected"), PROSE.values(), ids=PROSE.keys())
def test_sentences(text: str, expected: list[str]) -> None:
    """An expected "" stands for a claim that the length and the remaining text determine."""
    claims = split_claims(text)
    assert len(claims) == len(expected), claims
    assert [claim if want else "" for claim, want in zip(claims, expected, strict=True)] == expected
    assert " ".join(claims).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("name", LAYOUT)
def test_layout(name: str) -> None:
    text, expected = LAYOUT[name]
    assert split_claims(text) == expected
    assert name in TABLES or squeezed("".join(expected)) == squeezed(text)


@pytest.mark.parametrize("blank", ["", " ", "\n\t\r\n\u2028\u00a0"])
def test_blank_text_has_no_claims(blank: str) -> None:
    assert split_claims(blank) == []


def test_a_long_quotation_is_split() -> None:
    text = 'He said "' + "It is so. " * 40 + 'It ends." Then he left.'
    assert len(split_claims(text)) == 42


PIECES = st.sampled_from(
    [
        *"aBc1.!?…,;:\"'“”()[]`*_#|>-•~=。？「」、।؟¿¡é中あ🎉 \n\t\r\u2028\u00a0\x1c\x85",
        *(
            "Dr",
            "e.g.",
            "U.S.",
            "No",
            "The",
            "it",
            " . ",
            " 's ",
            "-rrb-",
            "''",
            "``",
            "http://a.b/c.",
        ),
        *("\n\n", "\r\n", "\n- ", "\n1. ", "\n# ", "\n```\n", "\n~~~\n", "\n|---|\n", "| a |"),
        *("**B**\n", "[1]", "3.5", ". ", "。」"),
    ]
)


@given(st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=80)))
def test_claims_are_neither_empty_nor_bare_and_drop_nothing(text: str) -> None:
    found = pieces(text)
    claims = [piece.text for piece in found]
    assert claims == split_claims(text)
    assert bool(claims) == bool(text.strip())
    assert all(claim and claim == claim.strip() for claim in claims)
    assert all("```" in c or "~~~" in c or len(c.splitlines()) == 1 for c in claims)
    if len(claims) > 1:
        assert all(any(char.isalnum() for char in claim) for claim in claims)
    stretches = [text[start:end] for _, start, end in found]
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
    *(
        ".",
        " .",
        "a.",
        "a. ",
        "word. ",
        "a! ",
        "好。",
        "。」",
        '"',
        "“",
        "「",
        "(",
        '"a',
        "[1] ",
        "`a",
    ),
    *(
        "\n",
        "a\n",
        "- a\n",
        "|",
        "|a|\n",
        "|-\n",
        "#",
        "**",
        "a:\n",
        "~",
        "```\n",
        "* ",
        " ",
        "\r\n",
    ),
    *(". '' ", ' . "', "e.g. ", "1. ", "a\t\n", ".)", "x(a.) "),
]


def test_time_grows_no_faster_than_the_text() -> None:
    """A tenth of a megabyte each: seconds would mean a quadratic pattern, whatever the machine."""
    texts = [(shape * 100_000)[:100_000] for shape in SHAPES]
    for filler in ("\t", ".", "`", "|", "-", "*", "(", " -", "- ", "[1]"):
        texts += [
            "a" + filler * 50_000 + edge + "x\n" + filler * 50_000 + "\nEnd." for edge in "a\n"
        ]
    for text in texts:
        began = time.process_time()
        split_claims(text)
        assert time.process_time() - began < 2, text[:8]
