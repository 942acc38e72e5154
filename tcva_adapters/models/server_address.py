"""Addresses of servers: split, shown and told apart without their secrets."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.models.secrets import SECRET_NAME

_USUAL = frozenset(
    {"accept", "accept-encoding", "connection", "content-type", "user-agent"}
)
"""Headers that packages set by themselves."""

_HOST = re.compile(r"\w[\w-]*(?:\.[\w-]+)*\.?|[\da-f.]*:[\da-f:.]*")


def split_url(url: str) -> tuple[str, str]:
    """Split user and password off the address of a server.

    Raises:
        InvalidValueError: It is no address, or has a query; the message holds no password.

    >>> split_url("https://me:secret@host:8000/v1")
    ('https://host:8000/v1', 'me:secret')
    """
    try:
        parts = urlsplit(url)
        is_address = (
            parts.scheme in ("http", "https")
            and parts.port != 0
            and not parts.query
            and _HOST.fullmatch(parts.hostname or "")
            and "@" not in parts.path
        )
    except ValueError:  # a port out of range, brackets that do not match
        is_address = False
    if not is_address or " " in url or not url.isprintable():
        raise InvalidValueError(
            f"base_url must look like https://host/v1, without a query, got {shown_url(url)!r}"
        )
    userinfo, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl(), userinfo


def shown_url(url: str) -> str:
    """Strip credentials, query and closing slash off an address, which may be malformed.

    >>> shown_url("me:secret@host/v1/?key=x")
    'host/v1'
    """
    scheme, mark, rest = url.rpartition("://")
    place = rest.rpartition("@")[2]  # first: passwords hold anything
    return f"{scheme}{mark}{place.partition('?')[0].partition('#')[0]}".rstrip("/")


def server_of(client: object, url: str) -> str:
    """Host and path of a server, with a digest of what a client sends it in query and headers.

    All headers that the user sets count, since a gateway may route by them, but no keys in the query.
    Keys in the path have to be masked by the caller. Empty without a host.

    >>> server_of(None, "https://me:secret@host/v1/?key=x"), server_of(None, "https://host/?a=1")
    ('host/v1', 'host?5499f31dbd916e5a')
    """
    # The properties of openai's clients hold more than what the user sends.
    query: list[tuple[str, object]] = [
        *parse_qsl(url.rpartition("@")[2].rstrip("/").partition("?")[2])
    ]
    query += _first(client, "_custom_query", "default_query")
    sent = [pair for pair in query if not SECRET_NAME.search(pair[0])]
    sent += _first(client, "_custom_headers", "default_headers", "headers")
    sent += _first(getattr(client, "_client", None), "headers")
    parts = sorted(
        (n.lower(), str(value)) for n, value in sent if n.lower() not in _USUAL
    )
    place = shown_url(url).partition("://")[2]
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    return f"{place}?{digest}" if place and parts else place


def _first(holder: object, *names: str) -> list[tuple[str, object]]:
    """The items of the first of these attributes that exists; none if it is no mapping."""
    values = next(
        (getattr(holder, name) for name in names if hasattr(holder, name)), None
    )
    return [*values.items()] if isinstance(values, Mapping) else []


def basic(userinfo: str) -> str:
    """Encode user and password of an address for the header of a request.

    >>> basic("me:p%40ss")
    'bWU6cEBzcw=='
    """
    user, _, password = userinfo.partition(":")
    return base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
