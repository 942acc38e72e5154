"""Keeps the frameworks quiet in every test, doctests in the package included."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from hypothesis import settings

import tests.support.quiet  # noqa: F401  # imported for its effect
from tcva_adapters import clear_shared

# This folder can only be imported beside Inspect, which `make test-harness` installs.
collect_ignore = [] if find_spec("inspect_ai") else ["tcva_adapters/inspect_ai"]

# Collection makes objects that all stay: to look through them again and again takes over a third of its time.
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that shuffles the tests."""
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="Run the tests in a random order."
    )


@pytest.hookimpl(
    trylast=True
)  # pytest itself puts tests with the same parameters together
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Shuffle the tests; xdist's workers get the same seed, and so the same order."""
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)  # noqa: S311  # no secret


def pytest_collection_finish() -> None:
    """Collect garbage of the tests alone."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _nothing_shared_before() -> None:
    """Judgements that an earlier test shared are not asked for again."""
    clear_shared()


# How long an example takes says more about the machine than about the code. `make test-all` takes
# the profile `deep`.
settings.register_profile("quick", deadline=None, max_examples=15, derandomize=True)
settings.register_profile("deep", deadline=None, max_examples=100)
settings.load_profile("quick")


@pytest.fixture(autouse=True)
def _a_loop_of_its_own() -> Iterator[None]:
    """LlamaIndex and DeepEval run on the thread's event loop and leave it open; this closes it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
