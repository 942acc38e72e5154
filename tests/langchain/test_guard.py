"""Gate and guard in chains. Judge and generator are scripted, all else is LangChain."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda

from tcva_adapters import CCRS
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.langchain import (
    BelowThresholdError,
    ScorerEvaluator,
    TCVAEvaluator,
    gate,
    guard,
)
from tests.langchain.entry import scripted
from tests.support.scripted import verdict_json

CONTEXT = ["It opens at nine."]
GOOD, HALF, BAD = (
    verdict_json((1, word, "opens at nine")) for word in ("fully", "partial", "none")
)


def writer(*answers: str) -> tuple[Runnable[Any, Any], list[Any]]:
    """A generator with these answers, and the inputs that it saw."""
    left, seen = list(answers), []

    def write(value: Any) -> dict[str, Any]:
        seen.append(value)
        return {"answer": left.pop(0), "context": CONTEXT}

    return RunnableLambda(write), seen


def test_a_gate_hands_on_what_passes() -> None:
    value = {"answer": "It opens at nine.", "context": CONTEXT, "more": 1}
    step = gate(TCVAEvaluator(scripted(GOOD, GOOD)))
    assert step.invoke(value) is value
    assert asyncio.run(step.ainvoke(value)) is value


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_gate_stops_the_rest_and_shows_the_judgement(asynchronous: bool) -> None:
    step = gate(TCVAEvaluator(scripted(BAD)))
    value = {"answer": "It opens at ten.", "context": CONTEXT}
    with pytest.raises(BelowThresholdError, match=r"0\.000 < 0\.5") as caught:
        asyncio.run(step.ainvoke(value)) if asynchronous else step.invoke(value)
    assert caught.value.value == value
    assert caught.value.result.score == 0.0
    assert isinstance(caught.value, ValueError)


def test_the_unscored_stop_unless_allowed() -> None:
    value = {"answer": "It opens at nine.", "context": []}
    with pytest.raises(BelowThresholdError, match="empty_context"):
        gate(TCVAEvaluator("lexical")).invoke(value)
    assert gate(TCVAEvaluator("lexical"), allow_unscored=True).invoke(value) == value


def test_retry_and_fallback_of_langchains_see_the_gate() -> None:
    chain, seen = writer("It opens at ten.", "It opens at nine.")
    retried = (chain | gate(TCVAEvaluator(scripted(BAD, GOOD)))).with_retry(
        retry_if_exception_type=(BelowThresholdError,),
        stop_after_attempt=2,
        wait_exponential_jitter=False,
    )
    assert retried.invoke({})["answer"] == "It opens at nine."
    assert len(seen) == 2
    chain, _ = writer("It opens at ten.")
    fallen = (chain | gate(TCVAEvaluator(scripted(BAD)))).with_fallbacks(
        [RunnableLambda(lambda _: "Ask us.")], exceptions_to_handle=(BelowThresholdError,)
    )
    assert fallen.invoke({}) == "Ask us."


# Row 0 passes at the third attempt, row 1 never, row 2 at the second.
ROWS = [0, 1, 2]
PASSES_AT = {0: 3, 1: 9, 2: 2}


class Flaky:
    """A step whose rows fail until their attempt comes."""

    def __init__(self) -> None:
        self.attempts: Counter[int] = Counter()

    def __call__(self, row: int) -> dict[str, Any]:
        self.attempts[row] += 1
        if self.attempts[row] < PASSES_AT[row]:
            raise BelowThresholdError({}, {"reasoning": "weak"})  # type: ignore[typeddict-item]  # all that it reads
        return {"answer": f"Row {row} opens at nine.", "row": row}


def retried(step: Any) -> Any:
    return step.with_retry(
        retry_if_exception_type=(BelowThresholdError,),
        stop_after_attempt=3,
        wait_exponential_jitter=False,
    )


def batched(step: Any, *, asynchronous: bool) -> list[Any]:
    if asynchronous:
        return list(asyncio.run(step.abatch(ROWS, return_exceptions=True)))
    return list(step.batch(ROWS, return_exceptions=True))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_langchains_retry_confuses_the_rows_of_a_batch(asynchronous: bool) -> None:
    # When this fails, LangChain has fixed it: the page and the docstring of `gate` warn of it.
    found = batched(retried(RunnableLambda(Flaky())), asynchronous=asynchronous)
    assert found[1] == {"answer": "Row 0 opens at nine.", "row": 0}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_called_as_a_function_it_retries_row_by_row(asynchronous: bool) -> None:
    inner = retried(RunnableLambda(Flaky()))
    safe = RunnableLambda(inner.invoke, afunc=inner.ainvoke)
    first, rejected, last = batched(safe, asynchronous=asynchronous)
    assert (first["row"], last["row"]) == (0, 2)
    assert isinstance(rejected, BelowThresholdError)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_gate_retried_so_lets_through_what_it_accepted(asynchronous: bool) -> None:
    passage = "The office opens at nine."
    tries: Counter[int] = Counter()

    def write(row: int) -> dict[str, Any]:
        tries[row] += 1
        good = tries[row] >= PASSES_AT[row]
        answer = passage if good else f"Bananas ripen in paper bags, {row} at a time."
        return {"answer": answer, "context": [passage], "row": row}

    inner = retried(RunnableLambda(write) | gate(TCVAEvaluator("lexical")))
    safe = RunnableLambda(inner.invoke, afunc=inner.ainvoke)
    first, rejected, last = batched(safe, asynchronous=asynchronous)
    assert (first["row"], last["row"]) == (0, 2)
    assert isinstance(rejected, BelowThresholdError)
    assert rejected.value["row"] == 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_fallbacks_keep_the_rows_of_a_batch(asynchronous: bool) -> None:
    step = RunnableLambda(Flaky()).with_fallbacks(
        [RunnableLambda(lambda row: {"row": row, "fallen": True})],
        exceptions_to_handle=(BelowThresholdError,),
    )
    assert [found["row"] for found in batched(step, asynchronous=asynchronous)] == ROWS


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_guard_has_weak_answers_written_again(asynchronous: bool) -> None:
    chain, seen = writer("It opens at ten.", "It opens at nine.")
    guarded = guard(chain, TCVAEvaluator(scripted(BAD, GOOD)))
    value = {"question": "When?"}
    found = asyncio.run(guarded.ainvoke(value)) if asynchronous else guarded.invoke(value)
    assert (found["output"]["answer"], found["attempts"]) == ("It opens at nine.", 2)
    assert found["tcva"]["passed"]
    assert [s["feedback"] for s in seen] == [
        "",
        'The answer was judged too weak:\n- "It opens at ten." [none] r',
    ]


def test_the_best_attempt_is_returned_where_none_passes() -> None:
    chain, seen = writer("At ten.", "At nine or so.", "At eleven.")
    found = guard(chain, TCVAEvaluator(scripted(BAD, HALF, BAD), threshold=0.9)).invoke({})
    assert (found["output"]["answer"], found["tcva"]["score"]) == ("At nine or so.", 0.7)
    assert (found["attempts"], len(seen)) == (3, 3)
    assert not found["tcva"]["passed"]


def test_a_guard_stops_where_no_call_can_succeed() -> None:
    chain, seen = writer("At nine.", "At nine.")
    refused = JudgeError("the key is refused", fatal=True)
    found = guard(chain, TCVAEvaluator(scripted(refused))).invoke({})
    assert (found["attempts"], found["tcva"]["value"], len(seen)) == (1, "unscored", 1)


def test_the_feedback_fits_into_a_prompt_and_plain_texts_are_answers() -> None:
    prompt = PromptTemplate.from_template("{question} {feedback}")
    model = scripted("At ten.", "At nine.")
    found = guard(prompt | model, TCVAEvaluator(scripted(BAD, GOOD))).invoke(
        {"question": "When?", "context": CONTEXT}
    )
    assert found["output"].text == "At nine."
    assert "[none]" in model.prompts[1]


def test_wrong_use_is_named() -> None:
    with pytest.raises(InvalidValueError, match="max_attempts=0"):
        guard(RunnableLambda(str), TCVAEvaluator("lexical"), max_attempts=0)
    with pytest.raises(InvalidSampleError, match=r"takes a mapping.*'When"):
        guard(RunnableLambda(str), TCVAEvaluator("lexical")).invoke("When?")


@pytest.mark.parametrize(
    "clone",
    [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],  # our own bytes
    ids=["copy", "deepcopy", "pickle"],
)
def test_the_error_of_a_gate_is_kept_whole_through(clone: Callable[[Any], Any]) -> None:
    value = {"answer": "It opens at ten.", "context": CONTEXT}
    with pytest.raises(BelowThresholdError) as caught:
        gate(TCVAEvaluator(scripted(BAD))).invoke(value)
    caught.value.add_note("at the desk")
    cloned = clone(caught.value)
    assert type(cloned) is BelowThresholdError
    assert (cloned.value, cloned.output) == (value, caught.value.output)
    assert (str(cloned), cloned.__notes__) == (str(caught.value), ["at the desk"])
    assert cloned.result == caught.value.result


@pytest.mark.parametrize("attempts", ["3", 0, -1, True, None, 2.5, float("nan")])
def test_a_wrong_number_of_attempts_is_named_when_built(attempts: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"max_attempts=.*whole number from 1") as caught:
        guard(RunnableLambda(str), TCVAEvaluator("lexical"), max_attempts=attempts)
    assert f"max_attempts={attempts!r};" in str(caught.value)


@pytest.mark.parametrize("wrong", [None, "lexical", True, len])
def test_what_is_no_evaluator_or_no_chain_is_named_when_built(wrong: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"evaluator=.*a TCVAEvaluator is needed"):
        gate(wrong)
    with pytest.raises(InvalidValueError, match=r"evaluator=.*a TCVAEvaluator is needed"):
        guard(RunnableLambda(str), wrong)
    with pytest.raises(InvalidValueError, match=r"chain=.*a Runnable is needed; RunnableLambda"):
        guard(wrong, TCVAEvaluator("lexical"))
    with pytest.raises(InvalidValueError, match="allow_unscored="):
        gate(TCVAEvaluator("lexical"), allow_unscored=wrong if wrong is not True else 1)  # type: ignore[arg-type]  # the point


def test_gate_and_guard_hold_the_evaluator_that_they_were_given() -> None:
    evaluator = TCVAEvaluator(scripted(HALF))
    strict = evaluator.model_copy(update={"threshold": 0.8})
    value = {"answer": "It opens at nine.", "context": CONTEXT}
    assert gate(evaluator).invoke(value) == value
    with pytest.raises(BelowThresholdError, match=r"0\.700 < 0\.8"):
        gate(strict).invoke(value)
    chain, _ = writer("It opens at nine.")
    assert not guard(chain, strict, max_attempts=1).invoke({})["tcva"]["passed"]


def test_gate_and_guard_take_any_scorer() -> None:
    evaluator = ScorerEvaluator(CCRS("qr", judge=scripted('{"score": 40}', '{"score": 90}')))
    chain, seen = writer("It opens at ten.", "It opens at nine.")
    found = guard(chain, evaluator).invoke({"question": "When?"})
    assert (found["attempts"], found["tcva"]["score"]) == (2, 0.9)
    assert "question relevance 0.400" in seen[1]["feedback"]
    with pytest.raises(BelowThresholdError, match=r"question relevance 0\.400") as caught:
        gate(evaluator).invoke({"question": "When?", "answer": "It opens at ten."})
    assert caught.value.result.scores == {"qr": 0.4}


def test_a_guarded_chain_with_a_history_has_the_last_question_judged() -> None:
    model = scripted(GOOD)
    history = [("user", "Who?"), ("ai", "Ada."), ("user", "When?")]
    evaluator = TCVAEvaluator(model)
    found = guard(RunnableLambda(lambda _: "It opens at nine."), evaluator).invoke(
        {"messages": history, "context": CONTEXT}
    )
    assert found["tcva"]["passed"]
    assert "When?" in model.prompts[0]
    assert "Who?" not in model.prompts[0]
