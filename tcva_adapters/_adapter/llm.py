"""Judge models made of frameworks' LLM objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, create_model
from pydantic_core import to_jsonable_python

from tcva_adapters.criteria import fingerprint_of
from tcva_adapters.models.protocol import Identity, JudgeRequest, closed_object
from tcva_adapters.models.secrets import mask, shown_url
from tcva_adapters.results.judged_by import SAMPLING, UNKNOWN

SETTINGS: Final = (
    *("temperature", "max_tokens", "max_completion_tokens", "num_predict", "num_ctx"),
    *("context_window", "top_p", "top_k", "n", "seed", "stop", "reasoning_effort"),
    *("frequency_penalty", "presence_penalty", "system_prompt"),
)
"""What LLM classes call the settings that can change a reply. A list of what is taken, not of what
is left out: a class may keep a key under any name."""

_ONE_WORD: Final = json.dumps(closed_object({"answer": {"type": "string"}}))
"""The schema for LLMs that give objects alone, where a request asks for plain text."""

_ARGUMENTS: Final = (
    *("model_kwargs", "additional_kwargs", "generation_kwargs", "model_args", "extra_body"),
)
"""What LLM classes call a mapping of further arguments of a call. A class that has one names there
what it has no attribute for."""

_CLIENTS: Final = ("root_client", "client", "model", "_client")
"""What LLM classes call their client, which knows its address best."""

_ADDRESSES: Final = ("base_url", "openai_api_base", "api_base", "azure_endpoint")

CUT_OFF: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})
"""What providers call the reason why a reply ended where it was cut off."""


class LLMObject:
    """A judge model that asks an LLM object of a framework.

    What the LLM raises passes through: `protocol.complete` makes a `JudgeError` of it for all.

    Args:
        llm: The LLM; its client, retries, callbacks and limits stay in force.

    Attributes:
        framework: Of `FRAMEWORKS`.
        settings: Which settings can change a reply.
        llm: The same.
        name: The framework's name, and the model's, or that of its class where it has none.
    """

    framework: ClassVar[str]
    settings: ClassVar[Sequence[str]] = SETTINGS

    def __init__(self, llm: Any) -> None:
        self.llm = llm
        self._class, self._settings_of = type(self._core()).__name__, self._holders()

    @property
    def name(self) -> str:
        """The framework and the model's name, as it is now."""
        return f"{self.framework}:{self._model_name()}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The LLM's class and the settings that can change a reply, as they are now; no secrets."""
        found: dict[str, Any] = {"class": self._class}
        for holder, name in product(reversed(self._settings_of), self.settings):
            value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
            is_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
            if is_texts or isinstance(value, bool | int | float | str):
                found[name] = value
        return found

    def known(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters with what else the LLM is known by, as it is now; None is not sent.

        The classes that wrap the model are no part of it.
        """
        found = [getattr(self._core(), name, None) for name in _ARGUMENTS]
        arguments = [each for each in found if isinstance(each, Mapping)]
        told = [name for name in SAMPLING if arguments or hasattr(self._core(), name)]
        known = {**dict.fromkeys(told), **parameters}
        bound = [each for each in reversed(self._holders()) if isinstance(each, Mapping)]
        given = {name: value for each in (*arguments, *bound) for name, value in each.items()}
        known |= {name: given.pop(name) for name in self.settings if name in given}
        if given:  # which may hold a secret
            plain = to_jsonable_python(given, fallback=lambda value: type(value).__name__)
            known["further arguments"] = fingerprint_of(plain)
        return {**known, "address": self._address()}

    def _address(self) -> str:
        """Host and path of its server, without credentials and query, or that nobody knows them."""
        core = self._core()
        holders = [core, *filter(None, (getattr(core, name, None) for name in _CLIENTS))]
        holders += filter(None, [getattr(each, "client", None) for each in holders])
        found = (getattr(*each, None) for each in product(reversed(holders), _ADDRESSES))
        urls = (shown_url(str(each)).partition("://")[2] for each in found)
        return mask(next(filter(None, urls), UNKNOWN))

    @property
    def identity(self) -> Identity:
        """The same LLM object is the same judge."""
        return Identity(self.llm)

    def _core(self) -> Any:
        """The LLM under what wraps it."""
        return self.llm

    def _holders(self) -> tuple[Any, ...]:
        """Where its settings are, objects or mappings; the first that has one wins."""
        return (self._core(),)

    def _model_name(self) -> str:
        core = self._core()
        names = (getattr(core, name, None) for name in ("model_name", "model", "model_id"))
        named = (name for name in names if isinstance(name, str) and name)
        return next(named, type(core).__name__)


def takes_logprobs(kind: type) -> bool:
    """Whether LLMs of a pydantic class can be asked for token probabilities with a call."""
    return bool(getattr(kind, "model_fields", {}).keys() >= {"logprobs", "top_logprobs"})


def one_text(request: JudgeRequest) -> str:
    """Instructions and sample as one text, for LLMs that take no messages."""
    return f"{request.system}\n\n{request.user}"


class AnyObject(BaseModel):
    """Any JSON object, for LLMs that answer with objects: how it is read is decided here.

    Attributes:
        reply_schema: The schema that the LLM is given, as JSON.
    """

    model_config = ConfigDict(extra="allow")
    reply_schema: ClassVar[str] = "{}"

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """The schema that the reply is to follow."""
        return dict(json.loads(cls.reply_schema))


def reply_model(request: JudgeRequest, base: type[AnyObject] = AnyObject) -> type[AnyObject]:
    """The class of the objects that a request asks for; it is the same for equal requests."""
    return _reply_model(
        base, request.schema_name, json.dumps(request.schema) if request.schema else _ONE_WORD
    )


@lru_cache(maxsize=64)
def _reply_model(base: type[AnyObject], name: str, schema: str) -> type[AnyObject]:
    made = create_model(name, __base__=base)
    made.reply_schema = schema
    return made


def object_text(answer: BaseModel, request: JudgeRequest) -> str:
    """The text in such an object: its JSON, or its one word where plain text was asked for."""
    if request.schema:
        return answer.model_dump_json()
    return str(answer.model_dump().get("answer", ""))
