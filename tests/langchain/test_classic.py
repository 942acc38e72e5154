"""TCVAStringEvaluator where langchain-classic takes a string evaluator."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_classic.evaluation import StringEvaluator
from langchain_core.callbacks import BaseCallbackHandler

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain import TCVAEvaluator, TCVAStringEvaluator, result_of

ANSWER = "It opens at nine."


def test_it_is_a_string_evaluator_with_the_usual_keys() -> None:
    evaluator = TCVAStringEvaluator(TCVAEvaluator("lexical"))
    assert isinstance(evaluator, StringEvaluator)
    found = evaluator.evaluate_strings(prediction=ANSWER, contexts=[ANSWER], input="When?")
    assert (found["score"], found["value"]) == (1.0, "pass")
    assert "1 fully" in found["reasoning"]
    assert result_of(found).at("strict").score == 1.0
    assert evaluator.evaluation_name == "tcva_faithfulness"


def test_it_knows_what_its_criterion_needs() -> None:
    correct = TCVAStringEvaluator(TCVAEvaluator("lexical", criterion="correctness"))
    assert (correct.requires_reference, correct.requires_input) == (True, False)
    assert correct.evaluate_strings(prediction=ANSWER, reference=ANSWER)["score"] == 1.0
    recall = TCVAStringEvaluator(TCVAEvaluator("lexical", criterion="context_recall"))
    found = recall.evaluate_strings(prediction="", reference=ANSWER, contexts=[ANSWER])
    assert found["score"] == 1.0
    relevant = TCVAStringEvaluator(TCVAEvaluator("lexical", criterion="answer_relevancy"))
    assert relevant.requires_input


def test_callbacks_tags_and_metadata_reach_the_run() -> None:
    seen: list[dict[str, Any]] = []

    class Keeper(BaseCallbackHandler):
        def on_chain_start(self, *_: Any, **kwargs: Any) -> None:
            seen.append(kwargs)

    TCVAStringEvaluator(TCVAEvaluator("lexical")).evaluate_strings(
        prediction=ANSWER,
        contexts=[ANSWER],
        callbacks=[Keeper()],
        tags=["nightly"],
        metadata={"team": "docs"},
        include_run_info=True,
    )
    assert seen[0]["tags"] == ["nightly"]
    assert seen[0]["metadata"]["team"] == "docs"


def test_wrapped_evaluators_are_taken_where_their_criterion_can_be_seen() -> None:
    tagged = TCVAEvaluator("lexical").with_config(tags=["nightly"])
    evaluator = TCVAStringEvaluator(tagged)  # type: ignore[arg-type]  # it shows the evaluator's attributes
    assert evaluator.evaluate_strings(prediction=ANSWER, contexts=[ANSWER])["score"] == 1.0
    for wrong in (None, "lexical", TCVAEvaluator("lexical").with_retry()):
        with pytest.raises(InvalidValueError, match="evaluator must be a TCVAEvaluator"):
            TCVAStringEvaluator(wrong)  # type: ignore[arg-type]  # the point
