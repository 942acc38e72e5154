"""What is served of an answer that was judged: whole, cut, or refused."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest

from tcva_adapters import TCVA, Assessment, Criterion, Judge, Result, Sample
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.serving import REFUSAL, OnFail, ServedAnswer, serve

CONTEXTS = ("We open at 9. Lunch is at 12.",)
MIXED = "Hello! We open at 9. Entry is 90 EUR. Lunch is at 12."
JUDGE = TCVA(judge="lexical", threshold=0.5)


class Broken(Judge):
    """A judge whose calls fail."""

    name = prompt_version = "broken/1"

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        raise JudgeError("the server is down")


def judged(response: str, contexts: Sequence[str] = CONTEXTS) -> Result:
    return JUDGE.evaluate(Sample(response=response, contexts=contexts))


UNJUDGED = TCVA(judge=Broken()).evaluate(Sample(response=MIXED, contexts=CONTEXTS))


@pytest.mark.parametrize(
    ("result", "on_fail", "text", "failed"),
    [
        (judged(MIXED), "flag", MIXED, True),
        (judged(MIXED), "remove", "Hello! We open at 9. Lunch is at 12.", True),
        (judged(MIXED), "refuse", REFUSAL, True),
        (judged(MIXED), "raise", MIXED, True),
        (judged("We open at 9."), "refuse", "We open at 9.", False),
        (judged("Entry is 90 EUR."), "remove", REFUSAL, True),
        (judged("Hello!"), "remove", "Hello!", False),
        (judged("Hello!", ()), "refuse", "Hello!", False),
        (judged("We open at 9.", ()), "refuse", REFUSAL, True),
        (judged("We open at 9.", ()), "remove", REFUSAL, True),
        (UNJUDGED, "flag", MIXED, True),
        (UNJUDGED, "remove", REFUSAL, True),
        (UNJUDGED, "refuse", REFUSAL, True),
    ],
)
def test_what_is_served(
    result: Result, on_fail: OnFail, text: str, *, failed: bool
) -> None:
    served = serve(result, on_fail)
    assert (served.text, served.failed) == (text, failed)
    assert served.is_refused == (text == REFUSAL)


def test_marks_say_of_each_sentence_whether_it_is_supported() -> None:
    marks = serve(judged(MIXED), "flag").to_dict()["marks"]
    assert [MIXED[m["start"] : m["end"]] for m in marks] == [
        "Hello!",
        "We open at 9.",
        "Entry is 90 EUR.",
        "Lunch is at 12.",
    ]
    assert [mark["supported"] for mark in marks] == [True, True, False, True]
    assert [mark["level"] for mark in marks] == [None, "fully", "none", "fully"]


def test_sentences_that_were_not_judged_are_marked_with_the_failure() -> None:
    marks = serve(UNJUDGED, "flag").marks
    assert [mark["supported"] for mark in marks] == [True, False, False, False]
    assert "the server is down" in marks[1]["reason"]


def test_answers_without_a_score_may_be_let_through_whole() -> None:
    served = serve(UNJUDGED, "refuse", allow_unscored=True)
    assert (served.text, served.failed) == (MIXED, False)
    # Sentences that were not judged are cut all the same.
    assert serve(UNJUDGED, "remove", allow_unscored=True).is_refused


def test_a_result_that_was_read_back_takes_its_sample() -> None:
    result = judged(MIXED)
    back = Result.from_json(result.to_json())
    with pytest.raises(InvalidValueError, match="sample="):
        serve(back, "remove")
    sample = Sample(response=MIXED, contexts=CONTEXTS)
    assert serve(back, "remove", sample=sample).text == serve(result, "remove").text


def test_whole_answers_that_are_rated_can_be_refused_and_not_cut() -> None:
    tcva = TCVA("completeness", judge="lexical")
    sample = Sample(response="Nothing.", reference="We open at 9.", contexts=CONTEXTS)
    result = tcva.evaluate(sample)
    with pytest.raises(InvalidValueError, match="nothing can be cut"):
        serve(result, "remove")
    served = serve(result, "refuse")
    assert (served.text, served.marks) == (REFUSAL, [])


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="on_fail"):
        serve(judged(MIXED), "drop")  # type: ignore[arg-type]  # what the test is about


def test_a_served_answer_is_pickled() -> None:
    served = serve(judged(MIXED), "remove", refusal="No.")
    assert isinstance(served, ServedAnswer)
    assert pickle.loads(pickle.dumps(served)) == served
