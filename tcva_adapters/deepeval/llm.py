"""A DeepEval LLM as judge model: its own client, retries and prices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from deepeval.metrics.utils import initialize_model
from deepeval.models import DeepEvalBaseLLM
from pydantic import BaseModel

from tcva_adapters._adapter.llm import LLMObject, one_text
from tcva_adapters._adapter.lookup import Arguments, count_in
from tcva_adapters._adapter.reply_objects import object_text, reply_model
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.framework_prompts import PromptedModel, Shape
from tcva_adapters.models.judge_model import JudgeModel, JudgeRequest, ModelReply
from tcva_adapters.models.store_keys import digest, key_of


def as_judge_model(llm: object) -> JudgeModel | None:
    """Wrap a DeepEval LLM as a judge model; return None for anything else."""
    return DeepEvalModel(llm) if isinstance(llm, DeepEvalBaseLLM) else None


_BY_NAME = WeakValueDictionary[str, DeepEvalBaseLLM]()


def llm_of_name(name: str | None) -> DeepEvalBaseLLM:
    """Return the LLM that DeepEval makes from a name; None leaves the choice to its settings.

    Metrics share one LLM if class, model, address, settings and key are equal.

    Raises:
        DeepEvalError: The provider's API key is missing.
    """
    llm: Any = initialize_model(name)[0]
    # The client is new each time; it has what its package took from the environment.
    key = digest(
        {**key_of(DeepEvalModel(llm)), "key": str(getattr(llm.model, "api_key", None))}
    )
    return _BY_NAME.setdefault(key, llm)


class DeepEvalModel(LLMObject):
    """Asks a DeepEval LLM, one of DeepEval's own or a class of the user's.

    DeepEval's LLMs take one text, so the instructions come first and the sample after them. They
    answer in plain text; only a class whose ``generate`` insists on a ``schema`` gets one.
    """

    framework = "deepeval"
    prompt = "deepeval"

    def _model_name(self) -> str:
        return self.llm.get_model_name() or type(self.llm).__name__

    def _holders(self) -> Sequence[object]:
        return (getattr(self.llm, "generation_kwargs", None), self.llm)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: The LLM did not answer with text.
        """
        generate = self.llm.generate
        return self._reply(
            generate(one_text(request), **_schema(generate, request)), request
        )

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface.

        Raises:
            JudgeError: As for `complete`.
        """
        generate = self.llm.a_generate
        return self._reply(
            await generate(one_text(request), **_schema(generate, request)), request
        )

    def _reply(self, answer: object, request: JudgeRequest) -> ModelReply:
        cost: object = None
        if isinstance(answer, tuple) and len(answer) == 2:
            answer, cost = answer
        if isinstance(answer, BaseModel):
            answer = object_text(answer, request)
        if not isinstance(answer, str):
            raise JudgeError(
                f"the judge must return text, got a {type(answer).__name__}",
                reason="no_reply",
            )
        # The number itself is 0 if the cost is unknown; its ``value`` is None then.
        amount = getattr(cost, "value", cost)
        return ModelReply(
            answer,
            input_tokens=count_in(cost, "input_tokens"),
            output_tokens=count_in(cost, "output_tokens"),
            cost=float(amount) if isinstance(amount, int | float) else None,
        )


def _schema(generate: Callable[..., Any], request: JudgeRequest) -> Arguments:
    parameter = inspect.signature(generate).parameters.get("schema")
    is_needed = parameter is not None and parameter.default is parameter.empty
    return {"schema": reply_model(request)} if is_needed else {}


class NamedLLM(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """A DeepEval LLM that only needs a name; DeepEval itself would cut it at a slash."""

    def __init__(self, name: str) -> None:
        self._name = name
        super().__init__(name)

    def load_model(self, *_: object, **__: object) -> DeepEvalBaseLLM:
        """Return the LLM itself: there is nothing to load."""
        return self

    def get_model_name(self) -> str:
        """The name."""
        return self._name


class BridgedLLM(NamedLLM):  # type: ignore[no-untyped-call]  # as above
    """Sends DeepEval's prompts to a judge model.

    A schema is sent too. A reply that cannot be read is an error: the prompt is not sent again.
    """

    def __init__(self, prompted: PromptedModel) -> None:
        self.prompted = prompted
        super().__init__(prompted.model.name)

    def generate(self, prompt: str, schema: Shape = None) -> Any:
        """Answer one prompt.

        Raises:
            JudgeError: No reply came, or none that holds such an object.
        """
        return self.prompted.ask(prompt, schema)

    async def a_generate(self, prompt: str, schema: Shape = None) -> Any:
        """The same, awaited.

        Raises:
            JudgeError: As for `generate`.
        """
        return await self.prompted.aask(prompt, schema)
