"""Addresses of servers: which can be asked, and which are on the own machine or network."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.models.openai_errors import shown_url


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
