"""What TCVAEvaluator makes of a sample in a chain, and its output. The model is scripted."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableBranch, RunnablePassthrough

from tcva_adapters import TCVA
from tcva_adapters.criteria import rubric
from tcva_adapters.langchain import TCVAEvaluator
from tests.langchain.entry import scripted
from tests.langchain.office import RECORD
from tests.support.office import SAMPLE, TWO
from tests.support.scripted import ScriptedModel, verdict_json


def test_it_scores_as_tcva_does_to_the_last_bit() -> None:
    output = TCVAEvaluator(scripted(TWO)).invoke(RECORD)
    expected = TCVA(judge=ScriptedModel([TWO])).evaluate(SAMPLE)
    # The mean of 1 and 0.3.
    assert output["score"] == expected.score == pytest.approx(0.65, abs=1e-12)
    assert (output["value"], output["passed"]) == ("pass", True)
    assert output["reasoning"] == expected.reason
    assert [claim["verdict"] for claim in output["claims"]] == ["fully", "minor"]
    assert output["claims"][0]["evidence"] == "opens at nine"
    assert output["usage"]["calls"] == 1
    assert (output["usage"]["input_tokens"], output["usage"]["output_tokens"]) == (10, 5)


def test_every_criterion_can_be_chosen() -> None:
    polite = rubric("tone", ["Is polite."])
    output = TCVAEvaluator(scripted(verdict_json((1, "mostly", ""))), criterion=polite).invoke(
        AIMessage("Gladly!")
    )
    assert (output["criterion"], output["score"]) == ("tone", 0.9)
    right = TCVAEvaluator("lexical", criterion="correctness").invoke(
        {"answer": "It opens at nine.", "ground_truth": "It opens at nine."}
    )
    assert right["score"] == 1.0


def test_a_mapper_reads_any_other_shape() -> None:
    evaluator = TCVAEvaluator(
        "lexical", mapper=lambda pair: {"response": pair[0], "contexts": pair[1].splitlines()}
    )
    assert (
        evaluator.invoke(("It opens at nine.", "It opens at nine.\nSundays: no."))["score"] == 1.0
    )


def test_branches_and_tools_and_schemas() -> None:
    chain = RunnablePassthrough.assign(tcva=TCVAEvaluator(scripted(TWO), threshold=0.9)) | (
        RunnableBranch((lambda x: x["tcva"]["passed"], lambda x: x["answer"]), lambda _: "Ask us.")
    )
    assert chain.invoke(RECORD) == "Ask us."
    evaluator = TCVAEvaluator("lexical")
    fields = evaluator.get_input_jsonschema()["$defs"]["TCVAInput"]["properties"]
    assert set(fields) == {"input", "response", "contexts", "reference"}
    assert "score" in evaluator.get_output_jsonschema()["$defs"]["TCVAOutput"]["properties"]


def test_metadata_that_is_no_json_does_not_cost_the_judgement() -> None:
    sample = SAMPLE.model_copy(update={"metadata": {"client": object(), "when": {1}}})
    output = TCVAEvaluator(scripted(TWO)).invoke(sample)
    assert output["score"] == pytest.approx(0.65, abs=1e-12)
    assert json.loads(json.dumps(output["metadata"]))["when"] == [1]


def test_nothing_of_the_llm_is_shown_in_the_repr_or_the_output() -> None:
    evaluator = TCVAEvaluator(scripted(TWO))
    shown = f"{evaluator!r} {json.dumps(evaluator.invoke(RECORD))} {evaluator.model_dump_json()}"
    assert "never-shown" not in shown
