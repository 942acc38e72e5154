"""The identity of a judge, whatever class wraps its model."""

from __future__ import annotations

import re

from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json

UNKNOWN = "unknown"
PROFILES = "profiles"
"""The name of the profiles in `TCVA.judged_by`; no verdict depends on them."""

SAMPLING = ("temperature", "seed", "max_tokens")
"""The parameters that every model gives besides its address; all others are further arguments."""

_ALIASES = {
    "server": "address",
    "temperature": "sampling temperature",
    "max_completion_tokens": "max_tokens",
    "num_predict": "max_tokens",
}
"""Parameters of models, with their names in `judge_parts`."""

_PARTS = ("address", "sampling temperature", "seed", "max_tokens")

_DRAWN = ("repeat_temperature", "verdicts")
"""Parameters of a judge that may draw replies at another temperature than the model's."""

_WRAPPERS = re.compile(
    rf"\b(openai|{'|'.join(FRAMEWORKS)}):| \((Azure|Local Model|Ollama)\)"
)
"""The parts of judges' names that name the class that wraps a model."""


def bare(name: str) -> str:
    """Take the names of the classes that wrap its models out of a judge's name.

    >>> bare("openai:gpt-4.1-mini"), bare("panel(langchain:gpt-4.1-mini, lexical/6)")
    ('gpt-4.1-mini', 'panel(gpt-4.1-mini, lexical/6)')
    """
    return _WRAPPERS.sub("", name)


def judge_parts(parameters: Fields) -> Json:
    """Name what can change a judge's verdicts besides its name, whatever class wraps its model.

    It holds no secret: no key, and only digests of an address's query and of further arguments.

    Args:
        parameters: The judge's parameters. None means not sent, a missing one unknown.

    Returns:
        JSON values: ``address`` (host and path of the server, with a digest of the query and headers of
        each request; empty for a judge that computes in this process), ``sampling temperature``,
        ``seed``, ``max_tokens`` and further arguments. A missing part is not sent; each of the first
        four is ``unknown`` where the judge does not give it.

    >>> judge_parts({"server": "host/v1", "temperature": 0, "seed": None, "top_p": 0.1})
    {'address': 'host/v1', 'sampling temperature': 0, 'max_tokens': 'unknown'}
    """
    parts: Json = dict.fromkeys(_PARTS, UNKNOWN)
    parts |= {_ALIASES.get(name, name): value for name, value in parameters.items()}
    # At temperature 0 only the likeliest token is left, unless repeats or draws of
    # yes and no have a temperature of their own. One choice is what every judge
    # asks for.
    is_greedy = parts[_PARTS[1]] == 0 and parts.keys().isdisjoint(_DRAWN)
    unused = ["top_p", "top_k"] if is_greedy else []
    unused += ["n"] if parts.get("n") == 1 else []
    return {n: v for n, v in parts.items() if v is not None and n not in unused}
