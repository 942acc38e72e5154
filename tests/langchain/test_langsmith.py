"""LangSmith's `evaluate` and openevals' convention, with a server that keeps every request.

The judge is scripted; LangSmith and LangChain are real.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langsmith import Client
from langsmith.evaluation import aevaluate, evaluate
from langsmith.schemas import Example, Run
from langsmith.utils import get_env_var

from tcva_adapters import CCRS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.langchain import (
    ScorerEvaluator,
    TCVAEvaluator,
    TCVARunEvaluator,
    TCVAStringEvaluator,
    create_async_tcva_judge,
    create_tcva_judge,
    local_client,
    result_of,
)
from tests.langchain.entry import ScriptedChatModel
from tests.support.scripted import verdict_json

# LangSmith says so whenever upload_results is used.
pytestmark = pytest.mark.filterwarnings("ignore:'upload_results' parameter is in beta")

GOOD = verdict_json((1, "mostly", "opens at nine"))
SECRET = "SECRET"
ROOT = Path(__file__).resolve().parents[2]


class Recording(BaseHTTPRequestHandler):
    """Says yes to everything and keeps it."""

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.requests.append((f"{self.command} {self.path}", body))  # type: ignore[attr-defined]  # set below
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST = do_PATCH = answer  # noqa: N815  # names of the standard library

    def log_message(self, *args: Any) -> None:
        """Stay quiet."""


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bytes]]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recording)
    server.requests = []  # type: ignore[attr-defined]  # what Recording fills
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("LANGSMITH_API_KEY", "none")
    get_env_var.cache_clear()  # type: ignore[attr-defined]  # an lru_cache
    yield server.requests  # type: ignore[attr-defined]  # as above
    server.shutdown()
    server.server_close()
    thread.join()
    get_env_var.cache_clear()  # type: ignore[attr-defined]  # an lru_cache


def example(number: int = 0, **outputs: Any) -> Example:
    return Example(
        id=uuid.uuid4(),
        dataset_id=uuid.uuid4(),
        created_at=datetime.now(UTC),
        inputs={"question": f"{SECRET} {number}"},
        outputs=outputs or None,
    )


def answer(inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "answer": "It opens at nine.",
        "context": [f"It opens at nine. {inputs['question']}"],
    }


async def aanswer(inputs: dict[str, Any]) -> dict[str, Any]:
    return answer(inputs)


def judge(reply: str = GOOD) -> ScriptedChatModel:
    return ScriptedChatModel(reply=lambda _: reply)


def feedback(results: Any) -> list[Any]:
    return [found for row in results for found in row["evaluation_results"]["results"]]


async def afeedback(target: Any, examples: list[Example], **options: Any) -> list[Any]:
    results = await aevaluate(target, examples, upload_results=False, **options)
    return feedback([row async for row in results])


def test_feedback_carries_score_reason_and_verdicts() -> None:
    model = judge()
    (found,) = feedback(
        evaluate(
            answer,
            data=[example()],
            evaluators=[TCVARunEvaluator(TCVAEvaluator(model))],
            upload_results=False,
            client=local_client(),
        )
    )
    assert (found.key, found.score, found.value) == ("tcva_faithfulness", 0.9, "pass")
    assert "1 mostly" in found.comment
    result = result_of(found.metadata)
    assert result.claims[0].evidence == "opens at nine"
    assert result.at(0.1).score == pytest.approx(0.9, abs=1e-12)  # one claim: the same at every T
    assert len(model.prompts) == 1


@pytest.mark.parametrize("make", [TCVARunEvaluator, create_tcva_judge])
def test_nothing_is_posted_by_the_evaluator(make: Any, requests: list[tuple[str, bytes]]) -> None:
    model, client = judge(), Client()
    evaluator = make(TCVAEvaluator(model))
    found = feedback(
        evaluate(
            answer, data=[example()], evaluators=[evaluator], upload_results=False, client=client
        )
    )
    client.flush()
    assert [f.score for f in found] == [0.9]
    assert SECRET in model.prompts[0]
    assert {path for path, _ in requests} <= {"GET /info"}
    assert not any(SECRET.encode() in body for _, body in requests)


def test_nothing_is_posted_by_the_evaluator_in_aevaluate(
    requests: list[tuple[str, bytes]],
) -> None:
    client = Client(auto_batch_tracing=False)
    evaluator = TCVAEvaluator(judge())
    judges: list[Any] = [TCVARunEvaluator(evaluator), create_async_tcva_judge(evaluator)]
    found = asyncio.run(afeedback(aanswer, [example()], evaluators=judges, client=client))
    client.flush()
    assert [f.score for f in found] == [0.9, 0.9]
    # The target's run is posted by LangSmith itself; the judge's name and prompt are not.
    posted = b"".join(body for _, body in requests)
    assert SECRET.encode() in posted
    assert b"tcva_judge" not in posted
    assert b"<<<PASSAGE" not in posted


@pytest.mark.slow
def test_the_example_sends_nothing(requests: list[tuple[str, bytes]]) -> None:
    command = [sys.executable, str(ROOT / "examples" / "langchain_rag.py")]
    environment = {k: v for k, v in os.environ.items() if k != "LANGSMITH_TRACING"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "context_qa  strict  balanced  lenient  answer" in done.stdout
    assert "Jugglers receive it with a biscuit." in done.stdout
    assert requests == []


def test_the_recording_would_see_a_leak(requests: list[tuple[str, bytes]]) -> None:
    model, client = judge(), Client(auto_batch_tracing=False)

    def leaking(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"key": "own", "comment": str(model.invoke(str(inputs)).text)}

    feedback(
        evaluate(
            answer, data=[example()], evaluators=[leaking], upload_results=False, client=client
        )
    )
    client.flush()
    assert any(SECRET.encode() in body for _, body in requests)


@pytest.mark.parametrize("kind", ["function", "runnable", "async function", "async runnable"])
def test_with_the_local_client_nothing_is_sent_at_all(
    kind: str, requests: list[tuple[str, bytes]]
) -> None:
    client = local_client()
    evaluator = TCVAEvaluator(judge())
    options: dict[str, Any] = {"client": client}
    run_evaluator = TCVARunEvaluator(evaluator)
    judges: list[Any]
    if kind.startswith("async"):
        target: Any = RunnableLambda(answer, afunc=aanswer) if "runnable" in kind else aanswer
        judges = [run_evaluator, create_async_tcva_judge(evaluator)]
        found = asyncio.run(afeedback(target, [example()], evaluators=judges, **options))
    else:
        target = RunnableLambda(answer) if kind == "runnable" else answer
        judges = [run_evaluator, create_tcva_judge(evaluator)]
        found = feedback(
            evaluate(target, data=[example()], evaluators=judges, upload_results=False, **options)
        )
    client.flush()
    assert [f.score for f in found] == [0.9, 0.9]
    assert requests == []


def test_one_failure_is_an_error_in_the_feedback_and_the_rest_is_scored() -> None:
    def reply(prompt: str) -> str:
        if f"{SECRET} 1" in prompt:
            msg = "boom"
            raise RuntimeError(msg)
        return GOOD

    evaluator = TCVARunEvaluator(TCVAEvaluator(ScriptedChatModel(reply=reply)), key="faith")
    rows = evaluate(
        answer,
        data=[example(i) for i in range(3)],
        evaluators=[evaluator],
        upload_results=False,
        client=local_client(),
    )
    by_question = {
        (row["example"].inputs or {})["question"]: row["evaluation_results"]["results"][0]
        for row in rows
    }
    assert [by_question[f"{SECRET} {i}"].score for i in range(3)] == [0.9, None, 0.9]
    failed = by_question[f"{SECRET} 1"]
    assert (failed.key, failed.value, failed.extra) == ("faith", "unscored", {"error": True})
    assert "boom" in (failed.comment or "")


@pytest.mark.parametrize("make", [TCVARunEvaluator, create_tcva_judge])
def test_a_missing_field_is_an_error_in_the_feedback(make: Any) -> None:
    (found,) = feedback(
        evaluate(
            lambda inputs: {"answer": "It opens at nine."},
            data=[example()],
            evaluators=[make(TCVAEvaluator("lexical"))],
            upload_results=False,
            client=local_client(),
        )
    )
    assert (found.key, found.score, found.extra) == ("tcva_faithfulness", None, {"error": True})
    assert "no contexts" in found.comment


def test_the_examples_outputs_are_the_reference() -> None:
    (found,) = feedback(
        evaluate(
            answer,
            data=[example(answer="It opens at nine.")],
            evaluators=[TCVARunEvaluator(TCVAEvaluator("lexical", criterion="correctness"))],
            upload_results=False,
            client=local_client(),
        )
    )
    assert (found.key, found.score) == ("tcva_correctness", 1.0)


def test_a_mapper_reads_runs_with_names_of_their_own() -> None:
    def mapper(run: Run, example: Example | None) -> dict[str, Any]:
        assert example is not None
        return {"answer": (run.outputs or {})["said"]["final"], "context": ["It opens at nine."]}

    (found,) = feedback(
        evaluate(
            lambda inputs: {"said": {"final": "It opens at nine."}, "n": 1},
            data=[example()],
            evaluators=[TCVARunEvaluator(TCVAEvaluator("lexical"), mapper=mapper)],
            upload_results=False,
            client=local_client(),
        )
    )
    assert found.score == 1.0


def test_runs_are_judged_without_an_example() -> None:
    run = Run(
        id=uuid.uuid4(),
        name="chain",
        start_time=datetime.now(UTC),
        run_type="chain",
        trace_id=uuid.uuid4(),
        inputs={"question": "When?"},
        outputs=answer({"question": "When?"}),
    )
    evaluator = TCVARunEvaluator(TCVAEvaluator("lexical"))
    assert evaluator.evaluate_run(run).score == 1.0
    assert asyncio.run(evaluator.aevaluate_run(run)).score == 1.0
    assert evaluator.feedback_keys == ["tcva_faithfulness"]


def test_judges_follow_the_convention_of_openevals() -> None:
    given: dict[str, Any] = {
        "inputs": "When?",
        "outputs": "It opens at nine.",
        "context": ["It opens at nine."],
        "reference_outputs": "At nine.",
        "rubric": "ignored, as there",
    }
    found = create_tcva_judge(TCVAEvaluator(judge()), feedback_key="faith")(**given)
    assert (found["key"], found["score"]) == ("faith", 0.9)
    assert "1 mostly" in found["comment"]
    ajudge = create_async_tcva_judge(TCVAEvaluator(judge()))
    awaited = asyncio.run(ajudge(**given))
    assert (awaited["key"], awaited["score"]) == ("tcva_faithfulness", 0.9)
    assert result_of(awaited["metadata"]).claims[0].verdict == "mostly"
    messages = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]
    talk = create_tcva_judge(TCVAEvaluator(judge()))(
        outputs={"messages": messages}, context="It opens at nine."
    )
    assert talk["score"] == 0.9


@pytest.mark.parametrize("inputs", [None, {}, [{"role": "system", "content": "Be brief."}]])
def test_the_question_in_a_list_of_messages_is_read(inputs: Any) -> None:
    said = [
        {"role": "user", "content": "When does it open?"},
        {"role": "assistant", "content": "It opens at nine."},
    ]
    model = ScriptedChatModel(reply=lambda _: verdict_json((1, "mostly", "")))
    relevancy = create_tcva_judge(TCVAEvaluator(model, criterion="answer_relevancy"))
    assert relevancy(inputs=inputs, outputs=said)["score"] == 0.9
    assert "When does it open?" in model.prompts[0]
    named = relevancy(inputs={"question": "Where?"}, outputs=said)
    assert named["score"] == 0.9
    assert "Where?" in model.prompts[1]


def test_what_tools_returned_in_a_list_of_messages_is_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "It opens at nine.", "tool_call_id": "1"},
    ]
    answered = [*said, {"role": "assistant", "content": "It opens at nine."}]
    faithful = create_tcva_judge(TCVAEvaluator("lexical"))
    assert faithful(outputs=answered)["score"] == 1.0
    assert faithful(inputs=said, outputs="It opens at nine.")["score"] == 1.0


def test_an_answer_among_the_inputs_is_not_the_one_that_is_judged() -> None:
    judged = create_tcva_judge(TCVAEvaluator("lexical"))(
        inputs={"response": "It opens at nine.", "context": ["It opens at nine."]},
        outputs={"answer": "The moon is cheese."},
    )
    assert judged["score"] == 0.0


def run_with(inputs: dict[str, Any], outputs: dict[str, Any]) -> Run:
    return Run(
        id=uuid.uuid4(),
        name="chain",
        start_time=datetime.now(UTC),
        run_type="chain",
        trace_id=uuid.uuid4(),
        inputs=inputs,
        outputs=outputs,
    )


def test_outputs_without_a_known_name_are_an_error_that_names_them() -> None:
    inputs, outputs = {"q": "When?"}, {"final": "At nine.", "steps": 3}
    named = r"no response.*names read: response, .*outputs, .*names given: q, final, steps; mapper="
    found = TCVARunEvaluator(TCVAEvaluator("lexical")).evaluate_run(run_with(inputs, outputs))
    assert (found.score, found.extra) == (None, {"error": True})
    assert re.search(named, found.comment or "")
    judged = create_tcva_judge(TCVAEvaluator("lexical"))(inputs=inputs, outputs=outputs)
    assert re.search(named, judged["comment"])
    awaited = asyncio.run(
        create_async_tcva_judge(TCVAEvaluator("lexical"))(inputs=inputs, outputs=outputs)
    )
    assert awaited == judged
    # An evaluator that reads these names by itself is not kept from it.
    mapped = TCVAEvaluator(
        "lexical", mapper=lambda r: {"answer": r["final"], "context": ["At nine."]}
    )
    assert create_tcva_judge(mapped)(inputs=inputs, outputs=outputs)["score"] == 1.0


def test_an_earlier_answer_in_the_inputs_messages_is_not_the_one_that_is_judged() -> None:
    history = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "It opens at nine."},
        {"role": "user", "content": "And on Sundays?"},
    ]
    inputs = {"messages": history, "context": ["It opens at nine."]}
    model = judge()
    run = create_tcva_judge(TCVAEvaluator(model, share=False))
    found = run(inputs=inputs, outputs={"final": "Never.", "steps": 3})
    assert "no response" in found["comment"]
    assert run(inputs=inputs, outputs={"answer": "It opens at nine."})["score"] == 0.9
    new = {"messages": [{"role": "assistant", "content": "It opens at nine."}]}
    assert run(inputs=inputs, outputs=new)["score"] == 0.9
    assert all("And on Sundays?" in prompt for prompt in model.prompts)
    assert len(model.prompts) == 2


def test_profiles_go_by_the_examples_metadata() -> None:
    profiles = {"domain": {"medical": 0.2}}
    evaluator = TCVARunEvaluator(TCVAEvaluator("lexical", profiles=profiles))
    run = run_with({}, {"answer": "It opens at nine. It is red."})
    seen = {}
    for domain in ("medical", "chat"):
        one = example(contexts=["It opens at nine."]).model_copy(
            update={"metadata": {"domain": domain}}
        )
        found = evaluator.evaluate_run(run, one)
        seen[domain] = (found.metadata or {})["scoring"]["temperature"]
    assert seen == {"medical": 0.2, "chat": 0.5}


def test_profiles_go_by_the_metadata_in_functions_too() -> None:
    profiles = {"domain": {"medical": 0.2}}
    judged = create_tcva_judge(TCVAEvaluator("lexical", profiles=profiles))
    medical = {"domain": "medical"}
    by_hand = judged(outputs="At nine.", context=["At nine."], metadata=medical)
    assert by_hand["metadata"]["scoring"]["temperature"] == 0.2
    (found,) = feedback(
        evaluate(
            answer,
            data=[example().model_copy(update={"metadata": medical})],
            evaluators=[judged],
            upload_results=False,
            client=local_client(),
        )
    )
    assert found.metadata["scoring"]["temperature"] == 0.2


def test_a_failed_run_is_an_error_whatever_its_example_holds() -> None:
    def fails(inputs: dict[str, Any]) -> dict[str, Any]:
        msg = f"no answer to {inputs['question']}"
        raise LookupError(msg)

    (found,) = feedback(
        evaluate(
            fails,
            data=[example(reference="At nine.", contexts=["At nine."])],
            evaluators=[TCVARunEvaluator(TCVAEvaluator("lexical", criterion="context_recall"))],
            upload_results=False,
            client=local_client(),
        )
    )
    assert (found.score, found.extra) == (None, {"error": True})
    assert "the run failed" in found.comment
    assert "no answer to" in found.comment


def test_messages_that_are_none_are_an_error_in_the_feedback() -> None:
    found = create_tcva_judge(TCVAEvaluator("lexical"))(outputs={"messages": [7]})
    assert (found["score"], found["extra"]) == (None, {"error": True})
    assert "'messages', message 1: 7 is no message" in found["comment"]
    assert "\n" not in found["comment"]


def test_the_key_tells_what_is_unusual_and_is_that_of_the_scorer() -> None:
    strict, plain = (
        TCVAEvaluator("lexical", temperature=0.2, scheme="linear"),
        TCVAEvaluator("lexical"),
    )
    name = "tcva_faithfulness(T=0.2,scheme=linear)"
    assert TCVARunEvaluator(strict).feedback_keys == [name] == [strict.scorer.name]
    assert create_tcva_judge(strict)(outputs="x")["key"] == name
    assert TCVARunEvaluator(plain).key == "tcva_faithfulness"
    assert TCVARunEvaluator(ScorerEvaluator(CCRS("qr", judge="lexical"))).key == "ccrs_qr"


def test_the_key_tells_what_is_configured() -> None:
    step = TCVAEvaluator("lexical").configurable_fields(temperature=ConfigurableField(id="t"))
    strict: Any = step.with_config(configurable={"t": 0.2})
    key = "tcva_faithfulness(T=0.2)"
    assert TCVARunEvaluator(strict).key == TCVARunEvaluator(strict.bind()).key == key
    assert create_tcva_judge(strict)(outputs="x")["key"] == key
    assert TCVAStringEvaluator(strict).evaluation_name == key


def test_a_run_evaluator_is_frozen() -> None:
    evaluator: Any = TCVARunEvaluator(TCVAEvaluator("lexical"))
    for name, value in (("evaluator", TCVAEvaluator("lexical")), ("key", "faith"), ("mapper", str)):
        with pytest.raises(InvalidValueError, match=rf"{name}=.*TCVARunEvaluator.*build another"):
            setattr(evaluator, name, value)
    assert (evaluator.key, evaluator.mapper) == ("tcva_faithfulness", None)


@pytest.mark.parametrize("make", [TCVARunEvaluator, create_tcva_judge, create_async_tcva_judge])
def test_wrong_options_fail_when_built(make: Any) -> None:
    for wrong in (None, "lexical", True):
        with pytest.raises(InvalidValueError, match=r"evaluator=.*a TCVAEvaluator is needed"):
            make(wrong)
    retrying: Any = TCVAEvaluator("lexical").with_retry()
    with pytest.raises(InvalidValueError, match=r"hides its scorer; give the feedback a name"):
        make(retrying)
    name = "key" if make is TCVARunEvaluator else "feedback_key"
    make(retrying, **{name: "faith"})
    make(TCVAEvaluator("lexical").configurable_fields(threshold=ConfigurableField(id="t")))
    for wrong_name in (3, "", True, float("nan")):
        with pytest.raises(InvalidValueError, match=rf"key={wrong_name!r}; a text is needed"):
            make(TCVAEvaluator("lexical"), **{name: wrong_name})


def test_a_wrong_mapper_fails_when_built() -> None:
    with pytest.raises(InvalidValueError, match="mapper='x'"):
        TCVARunEvaluator(TCVAEvaluator("lexical"), mapper="x")  # type: ignore[arg-type]  # the point
