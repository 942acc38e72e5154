"""Turn responses of query and chat engines into the arguments of ``evaluate``."""

from __future__ import annotations

from typing import Any, TypeGuard

from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import StreamingAgentChatResponse

from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.errors import InvalidValueError


def read_response(response: object) -> Arguments:
    """Return the arguments of ``evaluate`` that a response holds; read a stream to its end.

    Args:
        response: What an engine returns, or a text. A stream is read to its end; its text
            stays readable afterwards.

    Raises:
        InvalidValueError: It is not a response, or an asynchronous stream.
    """
    if isinstance(response, AsyncStreamingResponse) or _is_async_chat(response):
        raise InvalidValueError(
            f"{type(response).__name__} is asynchronous; use await aevaluate_response(...) instead"
        )
    return _fields(response)


async def aread_response(response: object) -> Arguments:
    """The same, awaited; reads asynchronous streams, too.

    Raises:
        InvalidValueError: It is not a response.
    """
    if isinstance(response, AsyncStreamingResponse):
        response = await response.get_response()
    if _is_async_chat(response):
        async for _ in response.async_response_gen():
            pass  # the response gathers its text
    return _fields(response)


def _fields(response: Any) -> Arguments:
    if response is None or isinstance(response, str):
        return {"response": response}
    is_empty = isinstance(response, PydanticResponse) and response.response is None
    if isinstance(response, StreamingResponse | PydanticResponse) and not is_empty:
        response = response.get_response()
    if _is_unread_chat(response) and response.chat_stream is not None:
        for _ in response.response_gen:
            pass  # as above
    if not (hasattr(response, "response") and hasattr(response, "source_nodes")):
        raise InvalidValueError(
            "response must be what a query engine or a chat engine returns, an object with "
            "response and source_nodes, or a string (evaluate(...) takes text and contexts), "
            f"got {response!r:.80}"
        )
    # Without its metadata.
    nodes = response.source_nodes
    return {
        "response": response.response,
        "contexts": [node.get_content() for node in nodes],
        "context_ids": [node.node_id for node in nodes],
    }


def _is_unread_chat(response: object) -> TypeGuard[StreamingAgentChatResponse]:
    return isinstance(response, StreamingAgentChatResponse) and not response.response


def _is_async_chat(response: object) -> TypeGuard[StreamingAgentChatResponse]:
    return _is_unread_chat(response) and response.achat_stream is not None
