"""Tokens of recorded requests and of their replies, counted by one tokenizer for all methods.

It is OpenAI's cl100k_base, whose file LlamaIndex's package brings along, so that nothing is fetched.
Other models cut texts otherwise; between methods that matters little.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.bench_figures import prefix_share

VLLM_BLOCK: Final = 16
"""Tokens in a block of vLLM's prefix cache, as it is set."""
OPENAI_STEP: Final = 128
OPENAI_LEAST: Final = 1024
"""OpenAI's cache: prompts of 1024 tokens and more, in steps of 128."""


@cache
def _encoder() -> Callable[[str], list[int]]:
    package = find_spec("llama_index.core")
    assert package is not None  # it is one of those that are measured
    assert package.origin is not None  # it is a package in files
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(package.origin).parent / "_static/tiktoken_cache")
    import tiktoken  # noqa: PLC0415  # it reads the variable when it loads an encoding

    return tiktoken.get_encoding("cl100k_base").encode_ordinary


def tokens(text: str) -> list[int]:
    """The numbers of a text's tokens."""
    return _encoder()(text)


def prompt_text(body: dict[str, Any]) -> str:
    """What a model reads of a request: tools, then messages, each under its role."""
    parts = [json.dumps(tool) for tool in body.get("tools", ())]
    for message in body["messages"]:
        content = message.get("content") or ""
        said = content if isinstance(content, str) else "".join(c["text"] for c in content)
        parts.append(f"{message['role']}\n{said}")
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of a method, a sample.

    Attributes:
        prompt: Of messages and tools.
        schema: Of a reply's JSON schema: providers add it to the prompt, local servers do not.
        completion: Of the scripted replies.
        blocks: Share of `prompt` that a cache of 16-token blocks serves at most.
        steps: The same by OpenAI's rule, of prompt and schema, which stands before it: 1024 tokens
            at least, in steps of 128.
        own: As `blocks`, from requests about the same sample alone.
    """

    prompt: float
    schema: float
    completion: float
    blocks: float
    steps: float
    own: float


def count(
    bodies: Iterable[bytes],
    *,
    samples: int,
    answer: Callable[[dict[str, Any]], str],
    about: Callable[[str], int | None],
) -> TokenCount:
    """The tokens of one run.

    Args:
        bodies: Its requests, in the order of arrival.
        samples: How many samples they were about.
        answer: What the server replied.
        about: The sample that a prompt is about; None where it names none.
    """
    prompts: list[Sequence[int]] = []
    by_sample: dict[int, list[Sequence[int]]] = defaultdict(list)
    schemas: list[list[int]] = []
    completion = 0
    for raw in bodies:
        body = json.loads(raw)
        text = prompt_text(body)
        prompts.append(tokens(text))
        number = about(text)
        if number is not None:
            by_sample[number].append(prompts[-1])
        form = body.get("response_format", {}).get("json_schema")
        schemas.append(tokens(json.dumps(form["schema"])) if form else [])
        completion += len(tokens(answer(body)))
    blocks, total = prefix_share(prompts, block=VLLM_BLOCK)
    steps, with_schemas = prefix_share(
        ([*schema, *prompt] for schema, prompt in zip(schemas, prompts, strict=True)),
        block=OPENAI_STEP,
        least=OPENAI_LEAST,
    )
    own = sum(prefix_share(each, block=VLLM_BLOCK)[0] for each in by_sample.values())
    return TokenCount(
        prompt=total / samples,
        schema=sum(map(len, schemas)) / samples,
        completion=completion / samples,
        blocks=blocks / total,
        steps=steps / with_schemas,
        own=own / total,
    )
