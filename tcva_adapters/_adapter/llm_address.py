"""The address of the server that an LLM object of a framework sends its requests to."""

from __future__ import annotations

from collections.abc import Iterator

from tcva_adapters.models.secrets import mask
from tcva_adapters.models.server_address import server_of
from tcva_adapters.results.judge_spec import UNKNOWN

_CLIENTS = (
    "root_client",
    "client",
    "model",
    "_client",
    "root_async_client",
    "async_client",
    "_async_client",
    "_aclient",
)
"""Names that LLM classes give to their clients, which know their address best."""

_ADDRESSES = ("base_url", "openai_api_base", "api_base", "azure_endpoint")


def address_of(llm: object) -> str:
    """Return host and path of an LLM's server, see `server_of`, or ``unknown``.

    It is unknown if the synchronous and the asynchronous client have different addresses.
    """
    place = server_of(llm, _url(llm))
    addresses = {server_of(client, _url(client)) for client in _clients(llm)} or {place}
    address = addresses.pop()
    is_known = not addresses and address.startswith(place.partition("?")[0])
    return mask(address) if address and is_known else UNKNOWN


def _url(holder: object) -> str:
    return str(
        next(filter(None, (getattr(holder, name, None) for name in _ADDRESSES)), "")
    )


def _clients(holder: object, depth: int = 2) -> Iterator[object]:
    """Find the clients of an LLM, of both kinds, down to those that know an address."""
    for client in (getattr(holder, name, None) for name in _CLIENTS):
        if client is not None and not isinstance(client, str):
            inner = _clients(client, depth - 1) if depth and not _url(client) else ()
            yield from [*inner] or [client]
