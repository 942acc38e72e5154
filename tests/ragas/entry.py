"""The adapter through RAGAS' own entry point. The model is scripted, all else is real."""

import asyncio
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from langchain_core.callbacks import Callbacks
from langchain_core.language_models import FakeListChatModel
from langchain_core.outputs import Generation, LLMResult
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel
from ragas import (
    EvaluationDataset,
    MultiTurnSample,
    RunConfig,
    SingleTurnSample,
    evaluate,
)
from ragas.dataset_schema import EvaluationResult
from ragas.llms import BaseRagasLLM
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage

from tcva_adapters import Conversation, Sample
from tests.support.office import SAMPLE

Reply = Callable[[str], str]
Model = TypeVar("Model", bound=BaseModel)


class ScriptedLLM(BaseRagasLLM):
    """A real LLM of RAGAS' older family whose text comes from a function of the prompt."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(run_config=RunConfig(max_retries=1))
        self.reply = reply
        self.model = "scripted"
        self.api_key = "sk-never-shown-1234567890"
        self.finished = True
        self.hangs = False
        self.prompts: list[str] = []
        self.callbacks: list[Callbacks] = []
        self._lock = threading.Lock()

    def generate_text(self, prompt: PromptValue, *_: Any, **given: Any) -> LLMResult:
        with self._lock:
            self.prompts.append(prompt.to_string())
            self.callbacks.append(given.get("callbacks"))
        text = self.reply(prompt.to_string())
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return LLMResult(
            generations=[[Generation(text=text)]], llm_output={"token_usage": usage}
        )

    async def agenerate_text(
        self, prompt: PromptValue, *_: Any, **given: Any
    ) -> LLMResult:
        if self.hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        return self.generate_text(prompt, **given)

    def is_finished(self, response: LLMResult) -> bool:
        del response
        return self.finished


class ScriptedInstructorLLM(InstructorBaseRagasLLM):
    """A real LLM of RAGAS' newer family, scripted likewise."""

    def __init__(self, reply: Reply, *, is_async: bool = True) -> None:
        self.reply = reply
        self.model = "scripted"
        self.is_async = is_async
        self.hangs = False
        self.prompts: list[str] = []
        self.models: list[type[BaseModel]] = []

    def generate(self, prompt: str, response_model: type[Model]) -> Model:
        self.prompts.append(prompt)
        self.models.append(response_model)
        return response_model.model_validate_json(self.reply(prompt))

    async def agenerate(self, prompt: str, response_model: type[Model]) -> Model:
        if self.hangs:
            await asyncio.Event().wait()
        return self.generate(prompt, response_model)


def dataset_of(samples: Sequence[Sample | Conversation]) -> EvaluationDataset:
    """Samples, or conversations, as RAGAS' own dataset."""
    return EvaluationDataset(samples=list(map(_row, samples)))


def _row(sample: Sample | Conversation) -> SingleTurnSample | MultiTurnSample:
    if isinstance(sample, Sample):
        return SingleTurnSample(
            user_input=sample.input,
            response=sample.response,
            retrieved_contexts=None
            if sample.contexts is None
            else list(sample.contexts),
            reference=sample.reference,
        )
    said: list[Any] = []
    call = AIMessage(content="", tool_calls=[ToolCall(name="search", args={})])
    for turn in sample.turns:
        found = [ToolMessage(content=text) for text in turn.contexts or ()]
        said += [
            HumanMessage(content=turn.input or ""),
            *([call, *found] if found else ()),
        ]
        said.append(AIMessage(content=turn.response or ""))
    return MultiTurnSample(user_input=said, reference=sample.turns[-1].reference)


COLUMN: Final = "tcva_faithfulness"
ENDS_ALL: Final[Any] = RunConfig(max_retries=1)
"""Ends every measurement at its first wait, however fast the machine is."""
ENDS_ALL.timeout = 1e-9


class Counted(FakeListChatModel):
    """A scripted model that says how many tokens it used."""

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(*args, **kwargs)
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return result.model_copy(update={"llm_output": {"token_usage": usage}})

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        del kwargs
        return self._generate(args[0])


def evaluated(
    metrics: list[Any], *samples: Sample | Conversation, **more: Any
) -> EvaluationResult:
    """What `evaluate` returns, for the one sample where no others are given."""
    given = {"run_config": RunConfig(max_retries=1), "show_progress": False, **more}
    with warnings.catch_warnings():
        # RAGAS announces the end of its main function and of its LangChain wrapper on every use.
        for ends in (r"a?evaluate\(\)", "LangchainLLMWrapper"):
            warnings.filterwarnings(
                "ignore", f"{ends} is deprecated", DeprecationWarning
            )
        data = dataset_of(samples or (SAMPLE,))
        found = evaluate(data, metrics=metrics, allow_nest_asyncio=False, **given)
    assert isinstance(found, EvaluationResult)
    return found


def turn(sample: Sample = SAMPLE) -> SingleTurnSample:
    """The sample as one of RAGAS' rows."""
    found = dataset_of([sample]).samples[0]
    assert isinstance(found, SingleTurnSample)
    return found
