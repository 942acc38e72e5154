"""Judge models made of frameworks' LLM objects."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, SecretStr, create_model
from pydantic_core import to_jsonable_python

from tcva_adapters.criteria import fingerprint_of
from tcva_adapters.models.protocol import Identity, JudgeRequest, closed_object
from tcva_adapters.models.secrets import SECRET_NAME, mask, server_of
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
    *("kwargs", "model_kwargs", "additional_kwargs", "generation_kwargs"),
    *("model_args", "extra_body"),
)
"""What LLM classes call a mapping of further arguments of a call. A class that has one names there
what it has no attribute for."""

_CLIENTS: Final = (
    *("root_client", "client", "model", "_client"),
    *("root_async_client", "async_client", "_async_client", "_aclient"),
)
"""What LLM classes call their clients, which know their address best."""

_ADDRESSES: Final = ("base_url", "openai_api_base", "api_base", "azure_endpoint")

_NO_PART: Final = re.compile(
    # The address tells these, and mappings of arguments are looked into.
    r"provider|client|async_client|root_client|root_async_client|base_url|openai_api_base|api_base"
    r"|azure_endpoint|default_query|default_headers|kwargs|\w+_kwargs|model_args|extra_body"
    # Transport, tracing, caches, prices, and what a reply tells besides its text.
    r"|name|cache|verbose|callbacks|callback_manager|tags|metadata|profile|rate_limiter|tokenizer"
    r"|custom_get_token_ids|tiktoken_model_name|timeout|request_timeout|max_retries|run_config"
    r"|stream_chunk_timeout|streaming|stream_usage|disable_streaming|batch_size|reuse_client"
    r"|organization|openai_organization|openai_proxy|http_socket_options|logprobs|top_logprobs"
    r"|include_response_headers|prompt_cache_options|cost_per_input_token|cost_per_output_token"
    r"|azure_ad_\w+|validate_base_url"
    # LlamaIndex has these for its own prompts alone.
    r"|system_prompt|query_wrapper_prompt|output_parser|pydantic_program_mode"
)
"""Fields that change no reply, or are told elsewhere. A list of what is left out: any other one
counts."""

_VENDORS: Final = re.compile(
    r"(langchain|llama_index|ragas|deepeval|tcva_adapters)\w*\."
)
"""Modules of classes whose settings tell all that they send."""

_MODELS: Final = ("model_name", "model", "model_id")
"""What LLM classes call the model's name."""

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
        prompt: The form in which a prompt is sent: ``messages`` (instructions and sample as two of
            them), or a name for another one.
        llm: The same.
        name: The framework's name, and the model's, or that of its class where it has none.
    """

    framework: ClassVar[str]
    settings: ClassVar[Sequence[str]] = SETTINGS
    prompt = "messages"

    def __init__(self, llm: Any) -> None:
        self.llm = llm

    @property
    def name(self) -> str:
        """The framework and the model's name, as it is now."""
        return f"{self.framework}:{self._model_name()}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The settings that can change a reply, as they are now; no secrets."""
        found: dict[str, Any] = {}
        for holder, name in product(reversed(self._holders()), self.settings):
            value = (
                holder.get(name)
                if isinstance(holder, Mapping)
                else getattr(holder, name, None)
            )
            is_texts = isinstance(value, list) and all(
                isinstance(each, str) for each in value
            )
            if is_texts or isinstance(value, bool | int | float | str):
                found[name] = value
        return found

    def known(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters with what else the LLM is known by, as it is now; None is not sent.

        That is all that it sends, or that changes what it sends: settings as they are, anything
        else as a digest, and ``unknown`` for what has none. Of the classes that wrap the model, only
        those of the user count.
        """
        core = self._core()
        values = [getattr(core, name, None) for name in _ARGUMENTS]
        arguments = [each for each in values if isinstance(each, Mapping)]
        told = [name for name in SAMPLING if arguments or hasattr(core, name)]
        told += ["max_tokens"] if hasattr(core, "num_predict") else []
        known = {**dict.fromkeys(told), **parameters}
        arguments += [
            each for each in reversed(self._holders()) if isinstance(each, Mapping)
        ]
        inner = [each.get(name) for each in arguments for name in _ARGUMENTS]
        arguments += [each for each in inner if isinstance(each, Mapping)]
        given = {name: value for each in arguments for name, value in each.items()}
        known |= {name: given.pop(name) for name in self.settings if name in given}
        kind = type(core)
        if not _VENDORS.match(kind.__module__):
            known["class of the LLM"] = _digest(kind)  # it may change what it inherits
        # DeepEval's classes take it as a keyword that their signatures do not name.
        given["async_http_client"] = getattr(core, "async_http_client", None)
        for name, value in {**_fields(core), **given}.items():
            is_told = (
                name in known or _NO_PART.fullmatch(name) or SECRET_NAME.search(name)
            )
            if not is_told and (digest := _digest(value)):
                known[name] = digest
        return {**known, "address": self._address()}

    def _address(self) -> str:
        """Host and path of its server, or that nobody knows them; see `server_of`.

        Nobody does where a synchronous and an asynchronous client have different ones.
        """
        core = self._core()
        own = server_of(core, _url(core))
        address, *others = {server_of(each, _url(each)) for each in _clients(core)} or {
            own
        }
        is_same = not others and address.startswith(own.partition("?")[0])
        return mask(address) if address and is_same else UNKNOWN

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
        names = (getattr(core, name, None) for name in _MODELS)
        named = (name for name in names if isinstance(name, str) and name)
        return next(named, type(core).__name__)


def _fields(llm: Any) -> dict[str, Any]:
    """The fields of an LLM that differ from the defaults of its class.

    Those of pydantic's classes, else the arguments of the constructor; unknown is what it keeps
    under another name.
    """
    kind = type(llm)
    declared = getattr(kind, "model_fields", None) or inspect.signature(kind).parameters
    values = {
        name: getattr(llm, name, UNKNOWN) for name in declared if name not in _MODELS
    }
    return {
        name: v for name, v in values.items() if repr(v) != repr(declared[name].default)
    }


def _digest(value: Any) -> str | None:
    """A value as a short text that tells no secret; None for nothing, and ``unknown`` for objects."""
    try:
        plain = to_jsonable_python(value, fallback=_name)
        digest = fingerprint_of({"value": plain})
    except (TypeError, ValueError):  # an object, or nothing that JSON can hold
        return UNKNOWN
    if plain in (None, [], {}) or isinstance(value, SecretStr):
        return None
    return UNKNOWN if plain == UNKNOWN else f"digest {digest}"


def _name(value: Any) -> str | None:
    """What functions and classes of modules are called; None for those of LlamaIndex by default.

    Raises:
        TypeError: It is another object.
    """
    module, name = (
        getattr(value, part, "<object>") for part in ("__module__", "__qualname__")
    )
    if "<" in name:
        raise TypeError(name)
    return None if module.startswith("llama_index.core.") else f"{module}.{name}"


def _url(holder: Any) -> str:
    urls = (getattr(holder, name, None) for name in _ADDRESSES)
    return str(next(filter(None, urls), ""))


def _clients(holder: Any, depth: int = 2) -> Iterator[Any]:
    """The clients of an LLM, synchronous and asynchronous ones, down to those that know an address."""
    for client in (getattr(holder, name, None) for name in _CLIENTS):
        if client is not None and not isinstance(client, str):
            inner = _clients(client, depth - 1) if depth and not _url(client) else ()
            yield from [*inner] or [client]


def takes_logprobs(kind: type) -> bool:
    """Whether LLMs of a pydantic class can be asked for token probabilities with a call."""
    return bool(
        getattr(kind, "model_fields", {}).keys() >= {"logprobs", "top_logprobs"}
    )


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


def reply_model(
    request: JudgeRequest, base: type[AnyObject] = AnyObject
) -> type[AnyObject]:
    """The class of the objects that a request asks for; it is the same for equal requests."""
    return _reply_model(
        base,
        request.schema_name,
        json.dumps(request.schema) if request.schema else _ONE_WORD,
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
