"""The adapter through DeepEval's own entry point. The model is scripted, all else is real."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final

from deepeval.evaluate import evaluate
from deepeval.evaluate.configs import (
    AsyncConfig,
    CacheConfig,
    DisplayConfig,
    ErrorConfig,
)
from deepeval.evaluate.types import EvaluationResult
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import ConversationalTestCase, LLMTestCase

from tcva_adapters import TCVA, Conversation, Sample
from tcva_adapters.deepeval import TCVAMetric
from tests.support import server
from tests.support.scripted import in_turn, verdict_json
from tests.support.server import Answer, Body, Script

Reply = Callable[[str], str]


class ScriptedLLM(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]  # as its base class
    """A real DeepEval LLM of a user's, whose text comes from a function of the prompt."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.hangs = False
        self.temperature = 0.0
        self.api_key = "sk-never-shown-1234567890"
        self.prompts: list[str] = []
        self._lock = threading.Lock()
        super().__init__("scripted")

    def load_model(self, *_: Any, **__: Any) -> DeepEvalBaseLLM:
        return self

    def get_model_name(self) -> str:
        return "scripted"

    def generate(self, prompt: str) -> str:
        with self._lock:
            self.prompts.append(prompt)
            return self.reply(prompt)

    async def a_generate(self, prompt: str) -> str:
        if self.hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        return str(self.generate(prompt))


def scripted(*replies: str | Exception) -> ScriptedLLM:
    """An LLM that answers from a list, in order; an exception in it is raised."""
    return ScriptedLLM(in_turn(*replies))


def case_of(sample: Sample) -> LLMTestCase:
    """A sample as a test case."""
    return LLMTestCase(
        input=sample.input or "",
        actual_output=sample.response,
        expected_output=sample.reference,
        retrieval_context=None if sample.contexts is None else list(sample.contexts),
        name=sample.id,
        metadata=sample.metadata or None,
    )


def talk_of(conversation: Conversation) -> ConversationalTestCase:
    """A conversation as a test case."""
    turns: list[Any] = []
    for turn in conversation.turns:
        turns.append({"role": "user", "content": turn.input})
        answer = {"role": "assistant", "content": turn.response}
        turns.append({**answer, "retrieval_context": list(turn.contexts or ()) or None})
    return ConversationalTestCase(turns=turns, name=conversation.id)


def hanging_up(script: Script) -> Script:
    """A server that ends every connection: DeepEval never closes its clients."""

    def answer(body: Body, number: int) -> Answer:
        said = script(body, number)
        full = server.reply(said) if isinstance(said, str) else said
        assert isinstance(full, Answer)
        return replace(full, headers={**full.headers, "Connection": "close"})

    return answer


@contextmanager
def own_loop() -> Iterator[None]:
    """A loop for DeepEval, which runs on the thread's own and leaves it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        # DeepEval leaves the other test cases where they are when one of them raises.
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        asyncio.set_event_loop(None)
        loop.close()


def evaluated(
    cases: Sequence[LLMTestCase | ConversationalTestCase],
    metrics: Sequence[Any],
    *,
    asynchronous: bool = True,
    use_cache: bool = False,
    **errors: Any,
) -> EvaluationResult:
    """DeepEval's `evaluate` without its printing."""
    with own_loop() if asynchronous else nullcontext():
        return evaluate(
            test_cases=list(cases),  # type: ignore[arg-type]  # of one kind
            metrics=list(metrics),
            async_config=AsyncConfig(run_async=asynchronous),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
            cache_config=CacheConfig(write_cache=use_cache, use_cache=use_cache),
            error_config=ErrorConfig(**errors),
        )


OPENS: Final = "The office opens at nine."
PARKING: Final = "Parking is free."
SAMPLE: Final = Sample(
    input="When does the office open?",
    response=f"{OPENS} {PARKING}",
    contexts=(f"{OPENS} Parking costs two coins.",),
    reference=OPENS,
    id="one",
)
CASE: Final = case_of(SAMPLE)
HALF: Final = verdict_json((1, "fully", OPENS), (2, "none", ""))
# p(T) runs linearly from -8 at T=0.1 to 12.25 at T=1, so p(0.5) = 1. The weights 1 and 0 have the
# mean 0.5; half of the claims are none, which leaves 0.5 ** (1.5 - 0.5) of it.
HALF_AT_HALF: Final = 0.25


def tcva_of(metric: TCVAMetric) -> TCVA:
    """The scorer in the metric."""
    assert isinstance(metric.scorer, TCVA)
    return metric.scorer
