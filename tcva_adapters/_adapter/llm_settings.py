"""The settings that identify an LLM object of a framework: all that can change its replies."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from pydantic import SecretStr
from pydantic_core import to_jsonable_python

from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.criteria import fingerprint_of
from tcva_adapters.models.secrets import SECRET_NAME
from tcva_adapters.results.judge_spec import SAMPLING, UNKNOWN
from tcva_adapters.samples.contexts import value_of
from tcva_adapters.samples.fields import Fields

Setting: TypeAlias = bool | float | str | list[str]
"""The value of a setting that is recorded unchanged."""

SETTINGS = (
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "num_predict",
    "num_ctx",
    "context_window",
    "top_p",
    "top_k",
    "n",
    "seed",
    "stop",
    "reasoning_effort",
    "frequency_penalty",
    "presence_penalty",
    "system_prompt",
)
"""Names that LLM classes give to settings that can change a reply. Only listed settings are recorded
unchanged, because a class may store a key under any name."""

_ARGUMENTS = (
    "kwargs",
    "model_kwargs",
    "additional_kwargs",
    "generation_kwargs",
    "model_args",
    "extra_body",
)
"""Names that LLM classes give to a mapping of further arguments of a call. It contains
those for which the class has no attribute."""

_NO_PART = re.compile(
    # The address covers these, and mappings of arguments are read by their entries.
    r"provider|client|async_client|root_client|root_async_client|base_url|openai_api_base|api_base"
    r"|azure_endpoint|default_query|default_headers|kwargs|\w+_kwargs|model_args|extra_body"
    # Transport, tracing, caches, prices, and parts of a reply besides its text.
    r"|name|cache|verbose|callbacks|callback_manager|tags|metadata|profile|rate_limiter|tokenizer"
    r"|custom_get_token_ids|tiktoken_model_name|timeout|request_timeout|max_retries|run_config"
    r"|stream_chunk_timeout|streaming|stream_usage|disable_streaming|batch_size|reuse_client"
    r"|organization|openai_organization|openai_proxy|http_socket_options|logprobs|top_logprobs"
    r"|include_response_headers|prompt_cache_options|cost_per_input_token|cost_per_output_token"
    r"|azure_ad_\w+|validate_base_url"
    # LlamaIndex uses these for its own prompts only.
    r"|system_prompt|query_wrapper_prompt|output_parser|pydantic_program_mode"
)
"""Fields that change no reply, or are covered elsewhere. Any other field counts."""

_VENDORS = re.compile(r"(langchain|llama_index|ragas|deepeval|tcva_adapters)\w*\.")
"""Modules of classes whose settings determine all that they send."""

MODEL_NAMES = ("model_name", "model", "model_id")
"""Names that LLM classes give to the model's name."""


def named_settings(
    holders: Iterable[object], names: Iterable[str]
) -> dict[str, Setting]:
    """Read settings that are texts, numbers, truth values or lists of texts.

    Args:
        holders: Objects or mappings; a later one replaces what an earlier one has.
        names: The names of the settings.
    """
    settings = {}
    for holder in holders:
        for name in names:
            value = value_of(holder, name)
            is_texts = isinstance(value, list) and all(
                isinstance(text, str) for text in value
            )
            if is_texts or isinstance(value, int | float | str):
                settings[name] = value
    return settings


def further_arguments(llm: object, holders: Iterable[object]) -> Arguments:
    """Merge the mappings of further arguments that an LLM and its holders have.

    Args:
        llm: The LLM.
        holders: The objects or mappings with its settings, as for `named_settings`.
    """
    mappings = _mappings_of(llm)
    mappings += [holder for holder in holders if isinstance(holder, Mapping)]
    for mapping in [*mappings]:
        mappings += _mappings_of(mapping)
    return {name: value for mapping in mappings for name, value in mapping.items()}


def recorded_names(llm: object) -> list[str]:
    """Return the names of settings that are recorded for an LLM even if it has no value for them."""
    names = [name for name in SAMPLING if _mappings_of(llm) or hasattr(llm, name)]
    return [*names, "max_tokens"] if hasattr(llm, "num_predict") else names


def further_digests(
    llm: object, arguments: Arguments, recorded: Iterable[str]
) -> dict[str, str]:
    """Return digests of everything else that can change a reply of an LLM.

    Args:
        llm: The LLM.
        arguments: Its further arguments.
        recorded: Names of settings that are recorded unchanged.
    """
    values = {
        **_changed_fields(llm),
        **arguments,
        # DeepEval's classes take it as a keyword that their signatures do not name.
        "async_http_client": getattr(llm, "async_http_client", None),
    }
    digests = {
        name: _digest(value)
        for name, value in values.items()
        if not (
            name in recorded or _NO_PART.fullmatch(name) or SECRET_NAME.search(name)
        )
    }
    if not _VENDORS.match(type(llm).__module__):
        digests["class of the LLM"] = _digest(
            type(llm)
        )  # a user's class may change what it inherits
    return {name: digest for name, digest in digests.items() if digest is not None}


def _mappings_of(holder: object) -> list[Fields]:
    values = [value_of(holder, name) for name in _ARGUMENTS]
    return [value for value in values if isinstance(value, Mapping)]


def _changed_fields(llm: object) -> Arguments:
    """Return the fields of an LLM that differ from the defaults of its class.

    The fields are those of a pydantic class, else the arguments of the constructor; a value that
    the LLM stores under another name is unknown.
    """
    kind = type(llm)
    declared = getattr(kind, "model_fields", None) or inspect.signature(kind).parameters
    values = {
        name: getattr(llm, name, UNKNOWN)
        for name in declared
        if name not in MODEL_NAMES
    }
    return {
        name: value
        for name, value in values.items()
        if repr(value) != repr(declared[name].default)
    }


def _digest(value: object) -> str | None:
    """Return a digest of a value; None if it is empty or a secret, ``unknown`` for other objects."""
    try:
        plain = to_jsonable_python(value, fallback=_qualified_name)
        digest = fingerprint_of({"value": plain})
    except (TypeError, ValueError):  # an object, or nothing that JSON can hold
        return UNKNOWN
    if plain in (None, [], {}) or isinstance(value, SecretStr):
        return None
    return UNKNOWN if plain == UNKNOWN else f"digest {digest}"


def _qualified_name(value: object) -> str | None:
    """Return the name of a function or a class of a module; None for LlamaIndex's own defaults.

    Raises:
        TypeError: It is another object.
    """
    module = getattr(value, "__module__", "")
    name = getattr(value, "__qualname__", "<object>")
    if "<" in name:
        raise TypeError(name)
    return None if module.startswith("llama_index.core.") else f"{module}.{name}"
