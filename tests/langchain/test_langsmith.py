"""LangSmith's `evaluate` and openevals' convention, with a server that keeps every request.

The judge is scripted; LangSmith and LangChain are real.
"""

import asyncio
import inspect
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
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
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


def feedback(
    target: Any,
    evaluators: list[Any],
    *examples: Example,
    client: Client,
    **options: Any,
) -> list[Any]:
    """By example and evaluator, whether the target and the evaluators are awaited or not."""
    options |= {"evaluators": evaluators, "upload_results": False, "client": client}
    examples = examples or (example(),)

    async def rows() -> list[Any]:
        return [row async for row in await aevaluate(target, examples, **options)]

    is_async = inspect.iscoroutinefunction(getattr(target, "afunc", target))
    found = (
        asyncio.run(rows()) if is_async else evaluate(target, data=examples, **options)
    )
    client.flush()
    return [each for row in found for each in row["evaluation_results"]["results"]]


def locally(target: Any, evaluator: Any, *examples: Example) -> list[Any]:
    return feedback(target, [evaluator], *examples, client=local_client())


# --- what is sent ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "make"),
    [(answer, create_tcva_judge), (aanswer, create_async_tcva_judge)],
)
def test_nothing_is_posted_by_it(
    target: Any, make: Any, requests: list[tuple[str, bytes]]
) -> None:
    model = judge()
    makers: list[Any] = [
        TCVARunEvaluator(TCVAEvaluator(model)),
        make(TCVAEvaluator(model)),
    ]
    found = feedback(target, makers, client=Client(auto_batch_tracing=False))
    assert [f.score for f in found] == [0.9, 0.9]
    assert SECRET in model.prompts[0]
    # An awaited target's run is posted by LangSmith itself before 0.15; the judge's name and prompt
    # are not.
    posted = b"".join(body for _, body in requests)
    assert SECRET.encode() not in posted or target is aanswer
    assert b"tcva_judge" not in posted
    assert b"<<<PASSAGE" not in posted


def test_the_recording_would_see_a_leak(requests: list[tuple[str, bytes]]) -> None:
    model = judge()

    def leaking(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"key": "own", "comment": str(model.invoke(str(inputs)).text)}

    feedback(answer, [leaking], client=Client(auto_batch_tracing=False))
    assert any(SECRET.encode() in body for _, body in requests)


@pytest.mark.parametrize("target", [
    answer, RunnableLambda(answer), aanswer, RunnableLambda(answer, afunc=aanswer),
], ids=["function", "runnable", "async function", "async runnable"])  # fmt: skip
def test_the_local_client_sends_nothing(
    target: Any, requests: list[tuple[str, bytes]]
) -> None:
    evaluator = TCVAEvaluator(judge())
    assert [f.score for f in locally(target, TCVARunEvaluator(evaluator))] == [0.9]
    assert [f.score for f in locally(target, create_tcva_judge(evaluator))] == [0.9]
    assert requests == []


@pytest.mark.slow
def test_the_example_sends_nothing(requests: list[tuple[str, bytes]]) -> None:
    command = [sys.executable, str(ROOT / "examples" / "langchain_rag.py")]
    environment = {k: v for k, v in os.environ.items() if k != "LANGSMITH_TRACING"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "context_qa  T=0.2  T=0.5  T=0.9  answer" in done.stdout
    assert "Jugglers receive it with a biscuit." in done.stdout
    assert requests == []


# --- what is judged ----------------------------------------------------------------------------


def fails(inputs: dict[str, Any]) -> dict[str, Any]:
    msg = f"no answer to {inputs['question']}"
    raise LookupError(msg)


def test_one_failure_is_an_error_in_the_feedback_and_the_rest_is_scored() -> None:
    def reply(prompt: str) -> str:
        if f"{SECRET} 1" in prompt:
            msg = "boom"
            raise RuntimeError(msg)
        return GOOD

    evaluator = TCVARunEvaluator(
        TCVAEvaluator(ScriptedChatModel(reply=reply)), key="faith"
    )
    found = locally(answer, evaluator, *map(example, range(3)))
    assert sorted(str(f.score) for f in found) == ["0.9", "0.9", "None"]
    (failed,) = (f for f in found if f.score is None)
    assert (failed.key, failed.value, failed.extra) == (
        "faith",
        "unscored",
        {"error": True},
    )
    assert "boom" in failed.comment


@pytest.mark.parametrize("make", [TCVARunEvaluator, create_tcva_judge])
@pytest.mark.parametrize(("target", "said"), [
    (lambda _: {"answer": "At nine."}, "no contexts"),
    (lambda _: {"messages": [7]}, "messages', message 1: .*got 7"),
    (fails, "no answer|no response"),
], ids=["missing field", "no messages", "failed run"])  # fmt: skip
def test_a_run_that_cannot_be_judged_is_an_error(
    make: Any, target: Any, said: str
) -> None:
    (found,) = locally(
        target, make(TCVAEvaluator("lexical")), example(reference="At nine.")
    )
    assert (found.key, found.score, found.extra) == (
        "tcva_faithfulness",
        None,
        {"error": True},
    )
    assert re.search(said, found.comment)
    assert "\n" not in found.comment


def test_a_failed_run_is_an_error_whatever_its_example_holds() -> None:
    recall = TCVARunEvaluator(TCVAEvaluator("lexical", criterion="context_recall"))
    (found,) = locally(
        fails, recall, example(reference="At nine.", contexts=["At nine."])
    )
    assert (found.score, found.extra) == (None, {"error": True})
    assert "the run failed" in found.comment


def test_a_mapper_reads_runs_with_names_of_their_own() -> None:
    def mapper(run: Run, example: Example | None) -> dict[str, Any]:
        assert example is not None
        return {
            "answer": (run.outputs or {})["said"]["final"],
            "context": ["It opens at nine."],
        }

    evaluator = TCVARunEvaluator(TCVAEvaluator("lexical"), mapper=mapper)
    (found,) = locally(
        lambda _: {"said": {"final": "It opens at nine."}, "n": 1}, evaluator
    )
    assert found.score == 1.0


def test_functions_follow_the_convention_of_openevals() -> None:
    given: dict[str, Any] = {
        "inputs": "When?", "outputs": "It opens at nine.", "context": ["It opens at nine."],
        "reference_outputs": "At nine.", "rubric": "ignored, as there",
    }  # fmt: skip
    found = create_tcva_judge(TCVAEvaluator(judge()), feedback_key="faith")(**given)
    judging = create_async_tcva_judge(TCVAEvaluator(judge()), feedback_key="faith")
    awaited = asyncio.run(judging(**given))
    for each in (found, awaited):
        assert (each["key"], each["score"]) == ("faith", 0.9)
        assert "1 mostly" in each["comment"]
        assert result_of(each["metadata"]).claims[0].verdict == "mostly"
    messages = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "At nine."},
    ]
    given = {"outputs": {"messages": messages}, "context": "It opens at nine."}
    talk = create_tcva_judge(TCVAEvaluator(judge()))(**given)
    assert talk["score"] == 0.9


@pytest.mark.parametrize("make", [TCVARunEvaluator, create_tcva_judge])
def test_profiles_go_by_the_examples_metadata(make: Any) -> None:
    evaluator = make(TCVAEvaluator("lexical", profiles={"domain": {"medical": 0.2}}))
    for domain, temperature in (("medical", 0.2), ("chat", 0.5)):
        one = example().model_copy(update={"metadata": {"domain": domain}})
        (found,) = locally(answer, evaluator, one)
        assert found.metadata["scoring"]["temperature"] == temperature


# --- names and options -------------------------------------------------------------------------


def test_the_key_is_the_name_of_the_scorer_as_it_is_configured() -> None:
    plain = TCVAEvaluator("lexical", scheme="linear")
    step = plain.configurable_fields(temperature=ConfigurableField(id="t"))
    strict: Any = step.with_config(configurable={"t": 0.2})
    name = "tcva_faithfulness(T=0.2,scheme=linear)"
    for evaluator in (
        strict,
        strict.bind(),
        plain.model_copy(update={"temperature": 0.2}),
    ):
        assert TCVARunEvaluator(evaluator).feedback_keys == [name]
        assert create_tcva_judge(evaluator)(outputs="x")["key"] == name
        assert TCVAStringEvaluator(evaluator).evaluation_name == name
    assert (
        TCVARunEvaluator(ScorerEvaluator(CCRS("qr", judge="lexical"))).key == "ccrs_qr"
    )


@pytest.mark.parametrize(
    "make", [TCVARunEvaluator, create_tcva_judge, create_async_tcva_judge]
)
def test_wrong_options_fail_when_built(make: Any) -> None:
    for wrong in (None, "lexical", True):
        with pytest.raises(
            InvalidValueError, match="evaluator must be a TCVAEvaluator"
        ):
            make(wrong)
    retrying: Any = TCVAEvaluator("lexical").with_retry()
    with pytest.raises(InvalidValueError, match=r"(feedback_)?key= if a wrapper"):
        make(retrying)
    name = "key" if make is TCVARunEvaluator else "feedback_key"
    make(retrying, **{name: "faith"})
    make(
        TCVAEvaluator("lexical").configurable_fields(
            threshold=ConfigurableField(id="t")
        )
    )
    for wrong_name in (3, ""):
        with pytest.raises(InvalidValueError, match=rf"key must .*got {wrong_name!r}"):
            make(TCVAEvaluator("lexical"), **{name: wrong_name})
    mapper: Any = "x"
    with pytest.raises(InvalidValueError, match="mapper must be callable, got 'x'"):
        TCVARunEvaluator(TCVAEvaluator("lexical"), mapper=mapper)
