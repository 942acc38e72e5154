"""TCVA through each adapter, and each framework's own metric, on the same samples.

A method is made once for an address, outside of what is measured, and then scores samples with so
many calls under way at once, through the entry point that the framework's users have. Each
framework is imported by its own module here, and by none where it is not measured.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported
from benchmarks.answering_server import statements
from tcva_adapters import Sample

Run = Callable[[Sequence[Sample], int], Sequence[Any]]
"""Scores samples with so many calls under way; a score per sample, None or NaN where there is none."""

CLIENT: Final = "openai:m"

LOOP: Final = asyncio.Runner()
"""One loop for all that is awaited here: some clients keep their connections for longer than one."""


class Method(NamedTuple):
    """One way to score.

    Attributes:
        name: What tables call it.
        make: Builds it for the server at an address (with ``/v1``) and a number of calls.
        is_ours: Whether it is TCVA.
        with_our_client: Whether its judge is asked by our client, and not by an LLM of the framework.
    """

    name: str
    make: Callable[[str, int], Run]
    is_ours: bool = False
    with_our_client: bool = False


def samples(number: int) -> list[Sample]:
    """Samples of four claims, each stated in one of three passages; no two are the same."""
    return [_sample(i) for i in range(number)]


def _sample(i: int) -> Sample:
    facts = statements(i)
    filler = (
        "The street was laid out when the old town grew beyond its walls, and most of its houses "
        "were put up by the merchants who traded on the river. Many were rebuilt after the fire. "
    )
    passages = (
        f"{filler}{facts[0]} {facts[1]} Its first owner sold timber.",
        f"{filler}{facts[2]} It holds the papers of three families.",
        f"{filler}{facts[3]} It has two gates and a pond.",
    )
    question = f"What is there to know about house {i}?"
    return Sample(id=f"s{i}", input=question, response=" ".join(facts), contexts=passages)


async def limited(
    work: Callable[[Any], Awaitable[Any]], items: Sequence[Any], limit: int
) -> list[Any]:
    """What becomes of each item, in order, with so many under way at once."""
    gate = asyncio.Semaphore(limit)

    async def one(item: Any) -> Any:
        async with gate:
            return await work(item)

    return list(await asyncio.gather(*map(one, items)))


GROUPS: Final[dict[str, Callable[[], list[Method]]]] = {
    name: lambda name=name: list(import_module(f"{__name__}.{name}").METHODS)  # type: ignore[misc]  # mypy gives a default in a lambda no type
    for name in ("core", "ragas", "deepeval", "llamaindex", "langchain")
}
"""The methods by framework; those of ours come after the framework's own that they are held against."""


def use_server(url: str) -> None:
    """Let ``openai:MODEL`` mean this server."""
    os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="none")
