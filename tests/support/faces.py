"""Both faces of our client, asked the same question."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.server import Script, ScriptedServer

KEY = "sk-very-secret-0123456789"
REQUEST = JudgeRequest("be strict", "claim 1", {"type": "object"}, "verdicts")

Face = Callable[[OpenAICompatibleModel], ModelReply]


def in_sync(model: OpenAICompatibleModel) -> ModelReply:
    """Through the synchronous face."""
    return model.complete(REQUEST)


def in_async(model: OpenAICompatibleModel) -> ModelReply:
    """Through the asynchronous face, on a loop of its own."""
    return asyncio.run(model.acomplete(REQUEST))


both_faces = pytest.mark.parametrize("face", [in_sync, in_async])


@contextmanager
def serving(
    script: Script, **how: Any
) -> Iterator[tuple[ScriptedServer, OpenAICompatibleModel]]:
    """A server that answers by a script, and a model that asks it."""
    with ScriptedServer(script) as server:
        yield server, OpenAICompatibleModel("m", base_url=server.base_url, **how)
