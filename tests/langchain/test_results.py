"""Results as LangChain and LangSmith store them, read back."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langsmith import Client
from langsmith.evaluation import EvaluationResult
from langsmith.schemas import Feedback

from tcva_adapters import CCRS, TCVA, Assessment, Result, Sample
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.langchain import (
    TCVAEvaluator,
    TCVARunEvaluator,
    create_tcva_judge,
    result_of,
)
from tcva_adapters.langchain.results import TCVAOutput, as_output
from tests.langchain.entry import run_of, scripted
from tests.support.office import TWO

SAMPLE = Sample(
    id="one",
    input="When does the office open?",
    response="The office opens at nine. Parking is free.",
    contexts=("The office opens at nine on weekdays.",),
    metadata={"team": "docs"},
)
EXPECTED = TCVA(judge=scripted(TWO), temperature=0.3, fuse="lexical").evaluate(SAMPLE)
RATED = CCRS(("qr", "cc"), judge="lexical", threshold=0.3).evaluate(SAMPLE)


def evaluator() -> TCVAEvaluator:
    return TCVAEvaluator(scripted(TWO), temperature=0.3, fuse="lexical")


def again(value: Any) -> Any:
    """As a file, a checkpoint or a server gives it back."""
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("result", [EXPECTED, RATED], ids=["tcva", "ccrs"])
def test_the_whole_result_is_carried(result: Any) -> None:
    output = as_output(result)
    assert {name: output[name] for name in result.to_dict()} == result.to_dict()  # type: ignore[literal-required]  # by name
    for stored in (output, again(output), {"metadata": output}):
        found = result_of(stored)
        assert (type(found), found, found.to_json()) == (
            type(result),
            result,
            result.to_json(),
        )


def test_the_type_of_outputs_has_all_keys_of_a_result() -> None:
    assert as_output(EXPECTED).keys() <= TCVAOutput.__annotations__.keys()


def test_a_run_of_langchains_is_read_as_object_and_as_json() -> None:
    collector = RunCollectorCallbackHandler()
    chain = RunnableLambda(lambda sample: sample) | evaluator()
    chain.invoke(SAMPLE, {"callbacks": [collector]})
    (traced,) = collector.traced_runs
    (own,) = (run for run in traced.child_runs if run.name == "TCVAEvaluator")
    for run in (
        traced,
        own,
    ):  # the chain ends with the evaluator, so both have its output
        stored = run_of({"input": "a text"}, run.outputs or {})
        for form in (run, stored, json.loads(stored.model_dump_json())):
            assert result_of(form) == EXPECTED


class KeepingClient(Client):
    """Keeps the bodies that would be posted."""

    def __init__(self) -> None:
        super().__init__(
            api_url="http://127.0.0.1", api_key="none", auto_batch_tracing=False
        )
        self.bodies: list[Any] = []

    def request_with_retries(self, *arguments: Any, **options: Any) -> Any:
        self.bodies.append(options["request_kwargs"]["data"])


def test_feedback_is_read_from_rows_and_from_what_the_server_was_sent() -> None:
    judge, outputs = evaluator(), SAMPLE.model_dump()
    run = run_of({}, outputs)
    found = TCVARunEvaluator(judge).evaluate_run(run)
    as_function = create_tcva_judge(judge)(outputs=outputs, metadata=SAMPLE.metadata)
    for form in (found, found.model_dump(), again(found.model_dump()), as_function):
        assert (result_of(form).claims, result_of(form).score) == (
            EXPECTED.claims,
            EXPECTED.score,
        )
    assert EvaluationResult(**as_function).key == found.key == judge.scorer.name
    client = KeepingClient()
    client._log_evaluation_feedback(found, run=run)
    body = json.loads(client.bodies[0])
    times = dict.fromkeys(("created_at", "modified_at"), datetime.now(UTC))
    for sent in (body, Feedback(**{**body, **times})):
        assert result_of(sent) == result_of(found)


def test_feedback_on_what_could_not_be_read_has_no_result() -> None:
    refused = create_tcva_judge(TCVAEvaluator("lexical"))(
        outputs={"final": "x", "steps": 3}
    )
    with pytest.raises(UnreadableInputError, match=r"\['key', 'score'"):
        result_of(refused)


FULL_AND_MINOR = Assessment.from_verdicts(["fully", "minor"])


@pytest.mark.parametrize(
    "value", [None, {}, {"scoring": {}}, {"scoring": 3, "claims": 3}, 7]
)
def test_values_that_are_no_output_are_named(value: Any) -> None:
    with pytest.raises(UnreadableInputError):
        result_of(value)
    broken = {**as_output(Result(FULL_AND_MINOR)), "scoring": {"temperature": 9}}
    with pytest.raises(UnreadableInputError, match="temperature"):
        result_of(broken)
