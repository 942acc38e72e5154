"""Addresses of servers: which can be asked, which are local, and what of them nobody is to read."""

from __future__ import annotations

import base64
import ipaddress
import re
from urllib.parse import parse_qsl, unquote, urlsplit

from tcva_adapters.errors import InvalidValueError


def check_url(url: str) -> str:
    """An address as it can be asked.

    Raises:
        InvalidValueError: It is none; the message holds no password.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        is_fit = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
        if ":" in host:
            ipaddress.IPv6Address(host)
        else:
            is_fit &= re.fullmatch(r"[\w.-]+", host) is not None
            host.encode("idna")
    except ValueError:  # a port out of range, brackets that do not match, an empty label
        is_fit = False
    if not is_fit or any(sign.isspace() or not sign.isprintable() for sign in url):
        msg = f"base_url must look like https://host/v1, got {shown_url(url)!r}"
        raise InvalidValueError(msg)
    return url


def is_local(url: str) -> bool:
    """Whether an address is on the own machine or network."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        # A bare name is a machine of the own network; these endings are reserved for such.
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))


def shown_url(url: str) -> str:
    """An address without credentials, query and closing slash, also one that is none.

    >>> shown_url("https://me:secret@host:8000/v1/?key=x")
    'https://host:8000/v1'
    >>> shown_url("me:secret@host/v1")
    'host/v1'
    """
    scheme, mark, rest = url.rpartition("://")
    place = rest.rpartition("@")[2]  # first: passwords hold anything
    return f"{scheme}{mark}{place.partition('?')[0].partition('#')[0]}".rstrip("/")


def secrets_of(url: str) -> tuple[str, ...]:
    """What an address holds that nobody is to read: a password, and values of the query."""
    parts = urlsplit(url)
    userinfo, has_user, _ = parts.netloc.rpartition("@")
    values = [value for _, value in parse_qsl(parts.query)]
    if has_user:
        values += [userinfo.partition(":")[2] or userinfo, basic(userinfo).partition(" ")[2]]
    return tuple(values)


def basic(userinfo: str) -> str:
    """The header of a user and password as an address writes them.

    >>> basic("me:p%40ss")
    'Basic bWU6cEBzcw=='
    """
    user, _, password = userinfo.partition(":")
    return f"Basic {base64.b64encode(f'{unquote(user)}:{unquote(password)}'.encode()).decode()}"
