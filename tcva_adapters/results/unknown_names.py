"""Unknown names are refused, with the nearest name that there is."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tcva_adapters.core.checks import nearest
from tcva_adapters.errors import InvalidValueError


def check_names(
    names: Collection[str],
    known: Collection[str],
    *,
    owner: str,
    titles: Mapping[str | None, str] | None = None,
) -> None:
    """Refuse names that are no settings.

    Args:
        names: The names.
        known: Those that there are.
        owner: Whose settings they are.
        titles: By what default names call a setting its name: ``T`` is the temperature.

    Raises:
        InvalidValueError: One of them is unknown; the message has the nearest known one.

    >>> check_names(["temprature"], ["temperature", "threshold"], owner="TCVA")
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: unknown setting 'temprature' of TCVA; did you mean 'temperature'? Its settings are temperature, threshold
    """
    for name in names:
        if name in known:
            continue
        by_title = (titles or {}).get(name)
        hint = f"did you mean {by_title!r}?" if by_title else nearest(name, known, "")
        its = f"{hint} Its" if hint else "its"
        raise InvalidValueError(
            f"unknown setting {name!r} of {owner}; {its} settings are {', '.join(known)}"
        )
