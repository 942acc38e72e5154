"""The HTTP client under the openai package: bounded replies, and no redirects to other places.

Imported only where the openai package is used.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final
from urllib.request import getproxies

import httpx2
import openai

LARGEST_REPLY: Final = 16_000_000
"""Bytes of a reply, unpacked: the longest replies with token probabilities take a few million."""

_MOST_REDIRECTS: Final = 5
_AS_READ: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers about how a body travelled, which a body that is read no longer has."""


class ReplyTooLargeError(openai.OpenAIError):
    """A reply has more than `LARGEST_REPLY` bytes. The openai package hands its own errors on."""


def http_client(url: str) -> httpx2.AsyncClient:
    """A client for the running event loop, over aiohttp where that is installed, which is faster.

    Args:
        url: The server's address. With a password in it, or a proxy on the way, httpx2 itself does
            the transport: aiohttp has ways of its own with both.
    """
    if "@" in url or getproxies():
        return BoundedClient()
    try:
        from tcva_adapters.models.openai_aiohttp import AiohttpTransport  # noqa: PLC0415  # it may be missing
    except ImportError:
        return BoundedClient()
    context = httpx2.create_ssl_context() if url.startswith("https") else None
    return BoundedClient(transport=AiohttpTransport(context=context))


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """An asynchronous client that reads so much and no more, and stays with its server."""

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send a request and read the reply, whatever its status.

        Redirects within the same origin (scheme, host and port) are followed; any other one is the
        reply.

        Args:
            request: What is sent.
            stream: Without meaning here: every reply is read.
            **options: As the base class takes them.

        Raises:
            ReplyTooLargeError: See there.
        """
        del stream
        options["follow_redirects"] = False
        response = await super().send(request, stream=True, **options)
        for _ in range(_MOST_REDIRECTS):
            following = response.next_request
            if following is None or _origin(following.url) != _origin(request.url):
                break
            await response.aclose()
            response = await super().send(following, stream=True, **options)
        return await _read(response)


def _origin(url: Any) -> tuple[str, str, int | None]:
    port = url.port or {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, port


async def _read(response: Any) -> Any:
    """The same response with its body, as far as it is not too large."""
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > LARGEST_REPLY:
                msg = f"the reply is larger than {LARGEST_REPLY:,} bytes"
                raise ReplyTooLargeError(msg)
            pieces.append(piece)
    finally:
        await response.aclose()
    headers = {name: value for name, value in response.headers.items() if name not in _AS_READ}
    if "content-type" in headers:
        # JSON is UTF-8. Python knows encodings that take minutes for a reply of this size.
        headers["content-type"] = headers["content-type"].partition(";")[0]
    if response.status_code == HTTPStatus.NOT_IMPLEMENTED:
        # The openai package repeats every status from 500 on, and obeys this header of its own
        # service. What is not implemented now will not be in a second either.
        headers["x-should-retry"] = "false"
    return type(response)(
        response.status_code,
        headers=headers,
        content=b"".join(pieces),
        request=response.request,
        extensions=response.extensions,
    )
