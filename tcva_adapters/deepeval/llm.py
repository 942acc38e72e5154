"""A DeepEval LLM as judge model: its own client, retries and prices."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final
from weakref import WeakValueDictionary

from deepeval.metrics.utils import initialize_model
from deepeval.models import DeepEvalBaseLLM
from deepeval.models.utils import EvaluationCost
from pydantic import BaseModel, SecretStr, create_model

from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.base import digest
from tcva_adapters.models.call_errors import judge_errors
from tcva_adapters.models.openai_reply import token_logprobs
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel, ModelReply
from tcva_adapters.models.request import ONE_WORD, JudgeRequest, one_word_of
from tcva_adapters.sharing import Identity

_PARAMETERS: Final = ("temperature", "max_tokens", "top_p", "top_k", "seed", "reasoning_effort")
"""What LLM classes call the settings that can change a reply. A list of what is taken, not of what
is left out: a class may keep a key under any name."""


def as_judge_model(llm: object) -> JudgeModel | None:
    """A DeepEval LLM as judge model; None for anything else."""
    return DeepEvalModel(llm) if isinstance(llm, DeepEvalBaseLLM) else None


_BY_NAME: Final = WeakValueDictionary[int, DeepEvalBaseLLM]()
"""LLMs that no user holds: DeepEval made each for one metric, from a name and its own settings."""


def llm_of_name(name: str | None) -> DeepEvalBaseLLM:
    """The LLM that DeepEval makes from a name; None leaves the choice to its settings.

    Raises:
        DeepEvalError: Its provider has no key.
    """
    llm: Any = initialize_model(name)[0]
    _BY_NAME[id(llm)] = llm
    return llm  # type: ignore[no-any-return]  # None is for another mode of DeepEval's metrics


def _made_of(llm: Any) -> tuple[str, str]:
    """The LLM's class, and a digest of its model, address, settings and key."""
    held = {name: value for name, value in vars(llm).items() if name != "model"}
    # The client is another one each time; it knows what its package took from the environment.
    held |= {f"client {name}": getattr(llm.model, name, None) for name in ("base_url", "api_key")}
    # An object that does not say what it is made of is equal to nothing but itself.
    parts = {
        name: repr(value.get_secret_value() if isinstance(value, SecretStr) else value)
        for name, value in held.items()
    }
    return type(llm).__qualname__, digest(parts)


@dataclass(frozen=True, slots=True)
class DeepEvalModel:
    """Asks a DeepEval LLM, one of DeepEval's own or a class of the user's.

    DeepEval's LLMs take one text, so the instructions come first and the sample after them. They
    answer in plain text; only a class whose ``generate`` insists on a ``schema`` gets one.

    Attributes:
        llm: The LLM; its own retries and timeouts stay in force.
    """

    llm: DeepEvalBaseLLM = field(repr=False)

    @property
    def name(self) -> str:
        """``deepeval:`` and what the LLM calls itself."""
        return f"deepeval:{self.llm.get_model_name() or type(self.llm).__name__}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The LLM's class and the settings that can change a reply; no secrets."""
        given = getattr(self.llm, "generation_kwargs", None)
        extra = given if isinstance(given, Mapping) else {}
        settings = {key: extra.get(key, getattr(self.llm, key, None)) for key in _PARAMETERS}
        plain = {k: v for k, v in settings.items() if isinstance(v, bool | int | float | str)}
        return {"class": type(self.llm).__name__, **plain}

    @property
    def identity(self) -> Identity:
        """The same LLM object is the same judge; so are those made from a name that are equal."""
        return Identity(self.llm, _made_of(self.llm) if id(self.llm) in _BY_NAME else None)

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request.

        Raises:
            JudgeError: The LLM raised, or answered with something else than text.
        """
        with judge_errors():
            if wanted := self._alternatives(request):
                raw: Any = self.llm
                return _raw_reply(*raw.generate_raw_response(_prompt(request), wanted))
            ask = self.llm.generate
            return _reply(ask(_prompt(request), **_schema(ask, request)), request)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Answer one request through the LLM's asynchronous interface.

        Raises:
            JudgeError: The LLM raised, or answered with something else than text.
        """
        with judge_errors():
            if wanted := self._alternatives(request):
                raw: Any = self.llm
                return _raw_reply(*await raw.a_generate_raw_response(_prompt(request), wanted))
            ask = self.llm.a_generate
            return _reply(await ask(_prompt(request), **_schema(ask, request)), request)

    def _alternatives(self, request: JudgeRequest) -> int:
        """Alternatives of each token to ask for; 0 for none, or where the LLM cannot be asked."""
        wanted = None if request.sampling is None else request.sampling.top_logprobs
        if wanted is None or not hasattr(self.llm, "generate_raw_response"):
            return 0
        knows: Any = getattr(self.llm, "supports_log_probs", lambda: None)
        return 0 if knows() is False else wanted  # None is a model that DeepEval does not know


def _prompt(request: JudgeRequest) -> str:
    return f"{request.system}\n\n{request.user}"


def _schema(generate: Callable[..., Any], request: JudgeRequest) -> dict[str, Any]:
    parameter = inspect.signature(generate).parameters.get("schema")
    if parameter is None or parameter.default is not parameter.empty:
        return {}
    return {"schema": _model(request.schema_name, json.dumps(request.schema or ONE_WORD))}


@lru_cache(maxsize=64)
def _model(name: str, schema: str) -> type[BaseModel]:
    """The JSON schema of a reply as the model that DeepEval's LLMs take."""
    found = json.loads(schema)
    made: type[BaseModel] = _type(name, found, found.get("$defs", {}))
    return made


def _type(name: str, schema: Mapping[str, Any], defined: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _type(name, defined[name], defined)
    if schema.get("type") == "array":
        return list[_type(f"{name}_item", schema["items"], defined)]  # type: ignore[misc]  # made here
    if schema.get("type") == "string":
        return str
    if "properties" not in schema:
        return Any  # numbers are read with more care than a model would
    parts = {key: _type(key, part, defined) for key, part in schema["properties"].items()}
    fields: dict[str, Any] = {key: (part, ...) for key, part in parts.items()}
    return create_model(name, **fields)


def _raw_reply(completion: Any, cost: Any) -> ModelReply:
    """The reply of a chat completion, which DeepEval's LLMs give with token probabilities."""
    choice = completion.model_dump()["choices"][0]
    found = _reply((choice["message"]["content"], cost))
    return replace(found, token_logprobs=token_logprobs(choice.get("logprobs")))


def _reply(answer: Any, request: JudgeRequest | None = None) -> ModelReply:
    cost: Any = None
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, cost = answer
    if isinstance(answer, BaseModel):
        is_plain = request is not None and not request.schema
        answer = one_word_of(answer.model_dump()) if is_plain else answer.model_dump_json()
    if not isinstance(answer, str):
        msg = f"the judge returned a {type(answer).__name__}; a judge answers with text"
        raise JudgeError(msg, reason="no_reply")
    if isinstance(cost, EvaluationCost):
        return ModelReply(
            answer,
            input_tokens=cost.input_tokens or 0,
            output_tokens=cost.output_tokens or 0,
            # The number itself is 0 where no price is known.
            cost=float(cost) if vars(cost)["value"] is not None else None,
        )
    return ModelReply(answer, cost=float(cost) if isinstance(cost, int | float) else None)


class BridgedLLM(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Hands DeepEval's prompts to a judge model.

    Where a schema is asked for, it goes along, and a reply that cannot be read is an error: it is
    not asked for again.
    """

    def __init__(self, asked: Prompted) -> None:
        self.asked = asked
        super().__init__(asked.name)

    def load_model(self, *_: Any, **__: Any) -> DeepEvalBaseLLM:
        """There is nothing to load."""
        return self

    def get_model_name(self) -> str:
        """The judge model's name."""
        return self.asked.name

    def generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """Answer one prompt.

        Raises:
            JudgeError: No reply came, or none that holds such an object.
        """
        return self.asked.text(prompt) if schema is None else self.asked.object(prompt, schema)

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        """The same, awaited.

        Raises:
            JudgeError: As for `generate`.
        """
        if schema is None:
            return await self.asked.atext(prompt)
        return await self.asked.aobject(prompt, schema)


def from_judge_model(model: JudgeModel | Prompted) -> BridgedLLM:
    """A DeepEval LLM out of a judge model."""
    return BridgedLLM(Prompted.of(model))
