"""Marks are read in every form, and out of nothing else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters.text.citations import read_marks, without_citations

MARKS = {
    "It is 5 [1].": ["1"],
    "It is 5[1].": ["1"],
    "It is 5.[1] It is 6.": ["1"],
    "It is 5 [2, 3].": ["2", "3"],
    "It is 5 [2;3].": ["2", "3"],
    "It is 5 [2-4].": ["2", "3", "4"],
    "It is 5 [3-3].": ["3"],
    "It is 5 [2–4, 7].": ["2", "3", "4", "7"],
    "It is 5 [1][2].": ["1", "2"],
    "It is 5 ([1], [2]).": ["1", "2"],
    "It is 5.[^1]": ["1"],
    "It is 5 [[1]].": ["1"],
    r"It is 5 \[1\].": ["1"],
    "It is five.¹ It is six.¹²": ["1", "12"],
    "It costs five euros¹, not six.": ["1"],
    "It is five.¹,² It": ["1", "2"],
    "It is five ¹. It is six. ² It": ["1", "2"],
    "It is 5【1†source】.": ["1"],
    "It is 5 【2】.": ["2"],
    "它是五。［１］": ["1"],
    "It is 5 [doc-7].": ["doc-7"],
    "It is 5 [Source 2].": ["Source 2"],
    "It is 5 [Doc 1, Doc 2].": ["Doc 1", "Doc 2"],
    "It is five (1). It is six (2, 3).": ["1", "2", "3"],
    "It is five.(1) It is six.(2)": ["1", "2"],
    "It is five. (1) It is six. (2)": ["1", "2"],
    "The **price** is *five*[1] or **six**.[2]": ["1", "2"],
    "It costs $5 [1] and $7 [2].": ["1", "2"],
    "- Basic is 5 [1]\n- Plus is 9 [2]": ["1", "2"],
    "It is 5.[1]\n\nSources:\n[1] prices.pdf\n[2] hours.pdf": ["1"],
    "It is 5.[^1]\n\n[^1]: prices.pdf\n[^2]: hours.pdf\n": ["1"],
    "It is 5.[1]\n\n**References**\n- [1] prices.pdf": ["1"],
    "It is 5 (Source 1).": ["Source 1"],
    "It is 5 (Sources 1 and 2).": ["Sources 1", "2"],
    "It has been so since 2016¹.": ["1"],
    "It is five <sup>2</sup>. It is six.<sup>[3]</sup>": ["2", "3"],
    "It is 5 [[1]](https://a.example/7) [[2]](/b/9).": ["1", "2"],
    "It is open for (24) hours. It is five (1). It is six (2).": ["1", "2"],
}

MARKS |= {
    "It has vitamin C[1] and vitamin B12[2].": ["1", "2"],
    "It opens at _nine_[1] or _10_ [2].": ["1", "2"],
    "It is free[0].": ["0"],
    "It took shape [1], as a set [2]. Its list [3].": ["1", "2", "3"],
    "It won't[1] and can’t[2] be Anna's[3].": ["1", "2", "3"],
    "We open [1].\n\nSource: [1]\n\nEntry is free [9].": ["1", "9"],
    "We open [1].\n\nSource: [1]\nEntry is free [9].": ["1", "9"],
    "We open [1].\n\nSources:\n\n[1] a.pdf\n\n[2] b.pdf\n\nEntry is free [9].": [
        "1",
        "9",
    ],
    "We open [1].\n\nSource: [1]\n\n1. Entry is free [9].\n2. Dogs stay out [8].": [
        "1",
        "9",
        "8",
    ],
    "Notes\n- [1] Entry is free.\n- [2] Dogs stay outside [9].": ["1", "2", "9"],
    "Sources:\n- [1] Entry is free [9].": ["1", "9"],
    "We open [1].\n\nSources:\n1. a.pdf\n2. b.pdf\nThat is all [2].": ["1", "2"],
    "We open [1].\n\nSources: [1], [2]\n": ["1"],
    "We open [1].\n\nSources:\n[1] [Prices](https://a.example)\n[2] b.pdf [pdf]": ["1"],
}

NOTHING = [
    "```python\nprices[1]\n```",
    "Call `prices[1]` or ``a [2] b``.",
    "~~~\n[1]\n",
    "The cell x[1], f(1) and y2[3][4] are zero.",
    "It is $a [1]$, $$b [2]$$, \\(c [3]\\) or \\[d [4]\\].",
    "The value lies in [0, 1].",
    "The interval [1, 5] and the vector [1, 2] are given.",
    "x = [1, 2] and [3, 4] + [5, 6].".replace(" and [3, 4] + [5, 6]", ""),
    "The matrix is [[1, 2], [3, 4]].",
    "It opened in [2019] and closed (2020).",
    "See [text](https://a.example/[1]) and [1](https://a.example).",
    "- [x] done\n- [ ] not done",
    "An area of 5 m², 10³ and sin²(x) are given, cos² as well.",
    "Do this: (1) stir, (2) heat.",
    "(1) Stir it. (2) Heat it.",
    "It follows from equation (1). It follows from step (2).",
    "There is one (1) copy.",
    "The field my_prices[3] is empty.",
    "He said [sic] that [he] left [the shop].",
    "Order [1234] was sent.",
    "(1) Stir it. (2) Heat it. (3) Serve it.",
    "It is open for (24) hours. It is five (1).",
    "An area of 5 m<sup>2</sup> and 10<sup>3</sup> are given.",
    "It is 5【4:0†source】.",
    "The mean is 5 (95% CI [2, 8]) or 7, 95 % CI: [3, 9].",
    "Scores range from [1-5], on a scale of [1, 5], between [2, 3].",
    "The first one is items[0] or items[0] + 1 here.",
    "Article 6 (9), art. 5(1)(f) and Section 12 (3) hold.",
    "It follows from § 823 (1) and §§ 3a (2).",
    "Ions are SO₄²⁻, Fe³⁺ and CrO₄²⁻.",
]


@pytest.mark.parametrize("text", MARKS)
def test_a_form_is_read(text: str) -> None:
    marks, plain = read_marks(text)
    assert [name for mark in marks for name in mark.names] == MARKS[text]
    assert len(plain) == len(text)
    for mark in marks:
        assert mark.text in text


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_is_read_where_nothing_is_cited(text: str) -> None:
    assert read_marks(text)[0] == []


@pytest.mark.parametrize(
    "mark",
    [" (1)", " (Source 1)", " (Sources 1 and 2)", " <sup>2</sup>", " [[1]](https://a.example/b)", "¹", " [3]",
     " [docs/opening-times-and-days.md]", " [opening.md]", " [a.md, b.pdf]", " [a.md][b.md]", " [doc-7]", " [faq_12]",
     " [2023-report]", " [3f2a9c1e-7b44-4d0a-9e51-0c2b6a1d8f77]", "【4:0†source】", " (1)(2)"],
)  # fmt: skip
@pytest.mark.parametrize("claim", ["It opens at nine", "It has been so since 2016"])
def test_a_mark_is_no_word_of_the_claim(claim: str, mark: str) -> None:
    for text in (f"{claim}{mark}.", f"{claim}.{mark}", f"{claim}{mark}"):
        words = without_citations(text).replace(" .", ".").strip()
        assert words in {claim, f"{claim}."}


@pytest.mark.parametrize(
    "claim",
    ["It opens at (9).", "It costs (5).", "It is open (24) hours.", "Follow step (2).", "It takes [3-years].",
     "It opens [not-on-sundays-2].", "It opens [not].", "It opens [never].", "He said so [sic].", "It opens [hours].",
     "It opens [not.md].", "It opens [9.md].", "It opens [不开-3].", "It opens [nоt-3].", "The dose is [10-mg].", "The dose is 5 [max-10mg].", "It opened [until-2019].",
     "It opens [and/or].", "It opens [non-smokers-2].", "It is 5 m² and 10².", "It is 10<sup>2</sup>.",
     "It is (2016).", "It opens [a.md] never.", "It opens (Source of 1).", "Dogs (no cats) may enter."],
)  # fmt: skip
def test_what_may_say_something_stays_in_the_claim(claim: str) -> None:
    assert without_citations(claim) == claim


def test_where_an_id_is_a_word_another_word_is_a_mark_that_names_none() -> None:
    text = "Dogs may enter [dogs]. Cats may not [cats].[birds] He [sic] said [sic]."
    code = " The `a[x]` of f[cats] and [text](https://a.example)."
    marks, _ = read_marks(text + code, ("dogs", "opening"))
    assert [mark.names for mark in marks] == [("dogs",), ("cats",), ("birds",)]
    for ids in ((), ("doc-1",)):
        assert read_marks(text, ids)[0] == []


def test_round_numbers_count_only_where_there_is_no_other_form() -> None:
    marks, _ = read_marks("It is five [1]. It is six (2).")
    assert [mark.text for mark in marks] == ["[1]"]


def test_ids_of_passages_are_marks_in_brackets() -> None:
    ids = ("hours.md", "a1b2-c3", "2019")
    marks, _ = read_marks("A [hours.md]. B [A9b9-c9; 2019]. C [other.md] [2018].", ids)
    assert [mark.names for mark in marks] == [
        ("hours.md",),
        ("A9b9-c9", "2019"),
        ("other.md",),
    ]


def test_a_pattern_replaces_the_forms() -> None:
    text = "A {{7}}. B [1]. `{{8}}` C {{x, y}}."
    marks, _ = read_marks(text, pattern=r"\{\{([^{}]+)\}\}")
    assert [mark.names for mark in marks] == [("7",), ("x, y",)]
    marks, _ = read_marks("A @doc-7. B @page-3-x. C @3.", pattern=r"@([\w-]+)")
    assert [mark.names for mark in marks] == [("doc-7",), ("page-3-x",), ("3",)]
    marks, _ = read_marks("A [3](a.pdf). [b](4)", pattern=r"\[(\d)\]\([^)]*\)")
    assert [mark.names for mark in marks] == [("3",)]
    assert read_marks("A `[3](a.pdf)`.", pattern=r"\[(\d)\]\([^)]*\)")[0] == []
    assert read_marks("A 3.", pattern=r"x*")[0] == []
    marks, _ = read_marks("A @3. B #4.", pattern=r"@(\d)|#(\d)")
    assert [mark.names for mark in marks] == [("3",), ("4",)]


@given(st.text(alphabet="[]()^12,-–.¹² \n`$\\ax†【】:*#|", max_size=200))
def test_any_text_is_read(text: str) -> None:
    marks, plain = read_marks(text, ("a", "x-1"))
    assert len(plain) == len(text)
    starts = [mark.start for mark in marks]
    assert starts == sorted(set(starts))
    for mark in marks:
        assert mark.names


@pytest.mark.parametrize(
    "piece",
    ["[1]", "[", "[[", "`", "``` ", "$", "$$", "\\(", "\\[", "[1\n", "(1)", "x[", "[1, ", "\n", "[a](",
     "\nSources:\n", "¹", "【1†", "_", "a_", "http://", "[^1]:\n", "  ", "\n#",
     "[doc-1, ", "[doc-1, doc-2]", "doc-1", "[1-2, ", "1-", "[[1]] ", "[a1b-1c, ",
     "\nSources:\n[1] a", "\nSource: [1]", "\n1. a [1", "\n[1] a", "a_a", "a_a[", "§ 1 (1)", "CI [",
     " (1)", "[a.", "[a.md,", "[a-1;", "[-1-", "at (1) ", "at [a] ", "(Source 1, ", "<sup>1", "[[1]](/a", "[docs/a-"],
)  # fmt: skip
def test_the_time_grows_with_the_length(piece: str) -> None:
    began = time.process_time()
    ids = [name for n in range(1, 20) for name in (f"doc-{n}", f"a{n}b-{n}c", f"{n}")]
    text = piece * (100_000 // len(piece))
    read_marks(text, (*ids, "hours"))
    without_citations(text)
    assert time.process_time() - began < 5.0


def test_a_list_of_ids_that_look_alike_is_read_once() -> None:
    ids = tuple(f"doc-{n}" for n in range(1, 31))
    began = time.perf_counter()
    assert read_marks(f"It is so [{', '.join(ids[:20])} and others].", ids)[0] == []
    assert read_marks(f"[{'1, ' * 20}3.5]", ("1", "2", "3"))[0] == []
    assert time.perf_counter() - began < 1.0
    marks, _ = read_marks(f"It is so [{', '.join(ids[:20])}].", ids)
    assert [mark.names for mark in marks] == [ids[:20]]


@pytest.mark.parametrize("digits", ["¹" * 4400, "7" * 4400, "1-" + "7" * 4400])
def test_a_number_of_any_length_is_no_error(digits: str) -> None:
    read_marks(f"It is five.{digits}")
    [mark] = read_marks(f"It is five @{digits}.", pattern=r"@([^.]+)")[0]
    assert mark.names[-1] in {digits, "1" * 4400}


def test_digits_of_any_script_are_read() -> None:
    for text, ids in (
        ("نفتح في التاسعة [١].", ()),
        ("हम नौ बजे [१].", ()),
        ("九時 [資料１].", ("資料１",)),
    ):
        [mark] = read_marks(text, ids)[0]
        assert mark.text in text
