"""The settings of a model behind the OpenAI API, each with its default, check and meaning."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

from typing_extensions import TypedDict  # as the tables of scorers are

from tcva_adapters.core.checks import as_number
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.models.openai_errors import shown_url
from tcva_adapters.results.settings import (
    Setting,
    check_count,
    check_kind,
    whole_number,
)


def _number(what: str, least: float, most: float = math.inf) -> Callable[[str, Any], Any]:
    """A check: a finite number from ``least`` to ``most``; an open lower end is above 0."""

    def check(name: str, value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        number = as_number(value) if is_number else None
        if number is None or not math.isfinite(number) or not least <= number <= most:
            msg = f"{name}={value!r}; it is {what}"
            raise InvalidValueError(msg)
        return value

    return check


def _or_none(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda name, value: None if value is None else check(name, value)


def _check_key(name: str, key: Any) -> Any:
    if key is not None and not isinstance(key, str):
        msg = f"{name} is a {type(key).__name__}; it is None or a str"  # the value stays unsaid
        raise InvalidValueError(msg)
    return key


def _check_prices(name: str, prices: Any) -> tuple[float, float] | None:
    if prices is None:
        return None
    price = _number("a price of 0 or more", 0.0)
    if not isinstance(prices, list | tuple) or len(prices) != 2:
        msg = (
            f"{name}={prices!r}; it is two numbers, the price per million input tokens and per "
            "million output tokens"
        )
        raise InvalidValueError(msg)
    return price(f"{name}[0]", prices[0]), price(f"{name}[1]", prices[1])


class ModelSettings(TypedDict, total=False):
    """How a model is asked. Those of a call's time and rate are options of the commands."""

    base_url: Annotated[
        str | None,
        Setting(None, "The server's address; OPENAI_BASE_URL, else OpenAI's.", check_kind(str)),
    ]
    api_key: Annotated[
        str | None,
        Setting(
            None,
            "The key; OPENAI_API_KEY. A server on the own machine or network needs none.",
            _check_key,
        ),
    ]
    temperature: Annotated[
        float | None,
        Setting(
            0.0,
            "0 to 2; None leaves it to the server.",
            _or_none(_number("None or a number from 0 to 2", 0.0, 2.0)),
        ),
    ]
    seed: Annotated[
        int | None,
        Setting(0, "None sends none.", _or_none(whole_number("None or a whole number", -math.inf))),
    ]
    max_tokens: Annotated[int, Setting(4096, "Limit of a reply's length.", check_count)]
    timeout: Annotated[
        float,
        Setting(
            300.0,
            "Seconds for one call of the judge, its repeated requests and pauses included.",
            _number("a number of seconds above 0", math.ulp(0.0)),
        ),
    ]
    max_retries: Annotated[
        int,
        Setting(
            5,
            "How often a failed request is repeated, as long as there is time.",
            whole_number("a whole number from 0 up", 0),
        ),
    ]
    max_concurrency: Annotated[
        int,
        Setting(8, "Calls under way at once, over all threads and event loops.", check_count),
    ]
    requests_per_minute: Annotated[
        float | None,
        Setting(
            None,
            "Calls of the judge are spaced evenly to so many per minute.",
            _or_none(_number("None or a number above 0", math.ulp(0.0))),
        ),
    ]
    prices: Annotated[
        tuple[float, float] | None,
        Setting(
            None,
            "The judge's price per million input tokens and per million output tokens, to fill in "
            "costs.",
            _check_prices,
        ),
    ]


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
