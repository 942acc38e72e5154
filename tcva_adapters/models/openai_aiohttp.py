"""aiohttp under the HTTP client of the openai package: cheaper than httpx2, with many calls above all.

Imported only where aiohttp is installed. The package has such a client itself; that one tells a
connection that was refused or broken from a timeout in a way that is lost behind it, and leaves
connections of a loop that is gone to complain by themselves.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import weakref
from collections.abc import AsyncIterator
from typing import Final

import aiohttp
import httpx2
from yarl import URL

_KEPT_OPEN: Final = 5.0
"""Seconds for which an idle connection is kept, as by httpx2: many servers close it after as long."""


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of an httpx2 client over connections of aiohttp.

    It is made inside its event loop.
    """

    def __init__(self, *, context: ssl.SSLContext | None) -> None:
        """See the class.

        Args:
            context: For connections with TLS; None where there are none.
        """
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=_KEPT_OPEN, ssl=True if context is None else context
        )
        # What is sent and how a reply is unpacked is httpx2's business.
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        )
        loop = asyncio.get_running_loop()
        weakref.finalize(self, _dropped, self._session, connector, loop, os.getpid())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the body of its response is still to be read.

        Raises:
            TransportError: As httpx2 itself raises it.
        """
        wait = request.extensions.get("timeout", {})
        try:
            response = await self._session.request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=request.headers.multi_items(),
                data=request.content or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    sock_connect=wait.get("connect"), sock_read=wait.get("read")
                ),
                server_hostname=request.extensions.get("sni_hostname"),
            )
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _as_httpx2(error, request) from error
        return httpx2.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(response, request),
            request=request,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse, request: httpx2.Request) -> None:
        self._response, self._request = response, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = self._response.content.iter_any()
        try:
            async for piece in pieces:
                yield piece
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _as_httpx2(error, self._request) from error

    async def aclose(self) -> None:
        # Its connection serves the next request if the body was read to its end, and no one else.
        self._response.release()


def _as_httpx2(error: Exception, request: httpx2.Request) -> httpx2.TransportError:
    """What httpx2 raises for the same trouble."""
    kinds: tuple[tuple[type[Exception], type[httpx2.TransportError]], ...] = (
        (aiohttp.ClientConnectorError, httpx2.ConnectError),
        (aiohttp.ConnectionTimeoutError, httpx2.ConnectTimeout),
        (TimeoutError, httpx2.ReadTimeout),
        (aiohttp.ClientResponseError, httpx2.RemoteProtocolError),
        (aiohttp.ClientError, httpx2.ReadError),
    )
    kind = next(meant for cls, meant in kinds if isinstance(error, cls))
    return kind(str(error), request=request)


def _dropped(
    session: aiohttp.ClientSession,
    connector: aiohttp.TCPConnector,
    loop: asyncio.AbstractEventLoop,
    process: int,
) -> None:
    """Close quietly what nobody has closed: its loop ended without its generators, or idles.

    The connections of a parent process are left alone: closing may write to what it reads.
    """
    if session.closed or loop.is_running() or process != os.getpid():
        return
    session.detach()
    if loop.is_closed():  # there is nothing left to wait for
        for _ in connector.close().__await__():
            pass
    else:
        closing = _closed(connector)
        try:
            loop.run_until_complete(closing)
        except RuntimeError:  # another loop runs in this thread
            closing.close()


async def _closed(connector: aiohttp.TCPConnector) -> None:
    await connector.close()
