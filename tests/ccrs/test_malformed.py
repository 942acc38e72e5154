"""Two hundred replies that are not what was asked for: each is a number for certain, or none."""

from __future__ import annotations

import pytest

from tcva_adapters import Sample
from tcva_adapters.ccrs import CCRS, METRICS, read_rating
from tcva_adapters.results.assessment import Reason
from tests.support.scripted import ScriptedModel

READ: dict[str, float] = {
    # The number alone, in all dresses.
    "87": 87,
    " 87\n": 87,
    "87.": 87,
    "87!": 87,
    "0": 0,
    "0.0": 0,
    "100": 100,
    "100.0": 100,
    "1": 1,
    "007": 7,
    "87.5": 87.5,
    "87.123456": 87.123456,
    "87,5": 87.5,
    "87,25": 87.25,
    "**87**": 87,
    "__87__": 87,
    "*87*": 87,
    "`87`": 87,
    "```\n87\n```": 87,
    "```json\n87\n```": 87,
    "```87```": 87,
    '"87"': 87,
    "'87'": 87,
    "“87”": 87,
    "(87)": 87,
    "[87]": 87,
    "[[87]]": 87,
    "# 87": 87,
    "## Score: 87": 87,
    "| 87 |": 87,
    "- 87": 87,
    "• 87": 87,
    "８７": 87,
    "\\boxed{87}": 87,
    "<score>87</score>": 87,
    "<answer>87</answer>": 87,
    # With its scale.
    "87/100": 87,
    "87 / 100": 87,
    "87 out of 100": 87,
    "87 of 100": 87,
    "87 von 100": 87,
    "87%": 87,
    "87 %": 87,
    "87 percent": 87,
    "87 points": 87,
    "87 pts.": 87,
    "**87**/100": 87,
    "100/100": 100,
    "0/100": 0,
    # With a name.
    "Score: 87": 87,
    "score=87": 87,
    "SCORE : 87.5": 87.5,
    "Score 87": 87,
    "Score - 87": 87,
    "Score – 87": 87,
    "Score → 87": 87,
    "Score: **87**": 87,
    "**Score:** 87": 87,
    "**Score**: **87**/100": 87,
    "Score: [87]": 87,
    "Score：87": 87,
    "Final score: 87": 87,
    "My overall rating is 87.": 87,
    "The score is 87": 87,
    "The score is 87.": 87,
    "Rating: 87 out of 100": 87,
    "Grade: 87%": 87,
    "Bewertung: 87,5": 87.5,
    "Contextual coherence: 87": 87,
    "Contextual Coherence Score: 87": 87,
    "Score (0-100): 87": 87,
    "Score (0 to 100): 87": 87,
    "On a scale of 0-100, score: 87": 87,
    "Answer: 87": 87,
    "Score: 87\n\nIn 2023 it named 3 of 4 points.": 87,
    "It names 3 of the 4 points.\n\nScore: 87": 87,
    "Score: 87\nScore: 87": 87,
    "87\n87": 87,
    "The score is 87 because one point is missing.": 87,
    "I give a score of 85 out of 100.": 85,
    "I rate this 87/100.": 87,
    "Quite good, so 87/100 it is": 87,
    # JSON in all states but broken.
    '{"score": 87}': 87,
    '{"score":87.0}': 87,
    '{"score": 8.7e1}': 87,
    '{"score": "87"}': 87,
    '{"score": "87/100"}': 87,
    '{"score": "87%"}': 87,
    '{"score": 87%}': 87,
    '{"Score": 87}': 87,
    '{"SCORE": 87}': 87,
    '{"rating": 87}': 87,
    '{"relevance_score": 87}': 87,
    '{"cc": 87}': 87,
    '{"contextual_coherence": 87}': 87,
    '{"Contextual Coherence": 87}': 87,
    '{"value": 87}': 87,
    '{"result": {"score": 87}}': 87,
    '[{"score": 87}]': 87,
    "{'score': 87}": 87,
    "{score: 87}": 87,
    '{"score": 87,}': 87,
    '{"score": 87, "reason": "3 of 4 in 2023"}': 87,
    '{"reason": "I thought of 60", "score": 87}': 87,
    '{"score": 87, "cc": 87}': 87,
    '{"score": 87, "max_score": 100}': 87,
    '```json\n{"score": 87}\n```': 87,
    'Here you are: {"score": 87}': 87,
    '{"score": 87}\nIt names 3 of 4 points.': 87,
    '{"score": 87} {"score": 87}': 87,
    # Reasoning does not count.
    "<think>50 or 60?</think>87": 87,
    '<think>{"score": 10}</think>\n{"score": 87}': 87,
    "Maybe 60.</think>87": 87,
}

UNREAD: tuple[str, ...] = (
    # Nothing there.
    "",
    "   \n\t",
    "\u200b",
    "N/A",
    "none",
    "null",
    "I cannot rate this.",
    "As a language model I do not give scores.",
    "eighty-seven",
    "excellent",
    "A+",
    "five stars",
    "⭐⭐⭐⭐",
    "٨٧",
    "八十七",
    "LXXXVII",
    "8⁷",
    "½",
    # Not a number in the range.
    "150",
    "101",
    "100.5",
    "-5",
    "-0.5",
    "1000",
    "9" * 5000,
    "NaN",
    "nan",
    "Infinity",
    "-inf",
    "1e2",
    "8.7e1",
    "0x57",
    "1,000",
    "87,500",
    "1.234.567",
    "Score: 150",
    "Score: -5",
    "Score: 1000",
    "200%",
    "150/100",
    '{"score": 150}',
    '{"score": -1}',
    '{"score": 1e400}',
    '{"score": NaN}',
    '{"score": Infinity}',
    '{"score": -Infinity}',
    '{"score": ' + "9" * 5000 + "}",
    '{"score": 99999999999999999999}',
    # Another scale.
    "0.87",
    "0,87",
    "1.0",
    ".87",
    "8/10",
    "4 out of 5",
    "4/5 stars",
    "87/1000",
    "Score: 0.87",
    "Score: 8/10",
    '{"score": 0.87}',
    '{"score": "8/10"}',
    # Ranges and doubts.
    "80-90",
    "80–90",
    "80 to 90",
    "between 80 and 90",
    "80 or 90",
    "80, 90",
    "80 90",
    "80/90",
    "~87",
    "≈ 87",
    ">= 87",
    "< 87",
    "87+",
    "87±5",
    "+87",
    "Score: ~87",
    "Score: 87+",
    "Score: 87-90",
    "Score: about 87",
    '{"score": 80-90}',
    '{"score": "80-90"}',
    '{"score": "about 87"}',
    "Score: 87\nScore: 90",
    "87\n90",
    "First I thought 60, then 87.",
    "Score: 87\nOn second thought: 60\nScore: 60",
    # Numbers of the text.
    "In 2023 sales rose.",
    "The response covers 87 patients.",
    "Note: 87 patients were seen",
    "1. The response is relevant.",
    "The answer to question 42 is good.",
    "Section 3 says otherwise.",
    "87% of the facts are there, 2 are not.",
    "Call 87 for help",
    "87th percentile",
    "Score87",
    "87/87/87",
    "192.168.0.1",
    "12:30",
    "2024-05-06",
    # JSON that is broken, cut off, contradicts itself, or holds something else.
    "{",
    "{}",
    "[]",
    '{"score": 87',
    '{"score": 8',
    '{"score":',
    '{"score": null}',
    '{"score": true}',
    '{"score": ""}',
    '{"score": "high"}',
    '{"score": eighty}',
    '{"score": [87, 90]}',
    '{"score": {"low": 80, "high": 90}}',
    '{"score": 87,5}',
    '{"score": 87, "score": 100}',
    '{"score": 87, "score": 60}',
    '{"score": 87} {"score": 60}',
    '{"score": 87, "reason": "he said "no""}',
    '{"relevance_score": 87, "style_score": 60}',
    '{"verdict": "fully"}',
    '{"year": 87}',
    '{"a": {"b": {"c": 87}}}',
    "[80, 90]",
    '{"score": 87/100}',
    '{"reason": "it says "score": 100"}',
    # Reasoning without an answer.
    "<think>87",
    "<think>87</think>",
    "<think>Let me see: 87 or 90",
)

REPLIES = [*READ, *UNREAD]


def test_there_are_two_hundred_and_more() -> None:
    assert len(set(REPLIES)) == len(REPLIES) >= 200
    assert len(UNREAD) >= 100


@pytest.mark.parametrize("reply", READ, ids=range(len(READ)))
def test_a_number_is_read_as_it_was_meant(reply: str) -> None:
    assert read_rating(reply, METRICS["cc"]).value == READ[reply]


@pytest.mark.parametrize("reply", UNREAD, ids=range(len(UNREAD)))
def test_what_is_no_number_for_certain_is_none(reply: str) -> None:
    rating = read_rating(reply, METRICS["cc"])
    assert rating.value is None
    assert rating.problem


@pytest.mark.parametrize("reply", UNREAD, ids=range(len(UNREAD)))
def test_a_sample_without_a_number_is_unscored_with_its_replies(reply: str) -> None:
    sample = Sample(response="It opens at nine.", contexts=("It opens at nine.",))
    model = ScriptedModel([reply, reply])
    result = CCRS("cc", judge=model).evaluate(sample)
    unscored = result.unscored_by["cc"]
    assert result.scores == {"cc": None}
    assert unscored.reason is Reason.UNREADABLE_REPLY
    assert result.answers["cc"].replies == (reply, reply)
    assert unscored.raw_reply == f"{reply}\n---\n{reply}"
    assert result.usage.calls == 2
    first, again = model.requests
    assert again.system == first.system
    assert unscored.detail in again.user


def test_one_further_call_mends_it() -> None:
    sample = Sample(response="It opens at nine.", contexts=("It opens at nine.",))
    for reply in UNREAD:
        result = CCRS("cc", judge=ScriptedModel([reply, "87"])).evaluate(sample)
        assert result.scores == {"cc": 0.87}
        assert result.answers["cc"].replies == (reply, "87")
