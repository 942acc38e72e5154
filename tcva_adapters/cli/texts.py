"""How the texts of options are read: numbers, names and pairs with commas between them."""

from __future__ import annotations

from collections.abc import Iterable

from tcva_adapters.errors import InvalidValueError


def parse_scheme(text: str) -> str | list[float]:
    """A scheme's name, or its five numbers."""
    return text if "," not in text else parse_numbers(text, "--scheme")


def parse_numbers(text: str, option: str) -> list[float]:
    """Numbers with commas between them.

    Raises:
        InvalidValueError: One of them is no number.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        msg = f"{option} {text!r} is not a list of numbers with commas between them"
        raise InvalidValueError(msg) from None


def parse_renames(pairs: Iterable[str]) -> dict[str, str]:
    """``mine=ours`` pairs as a mapping.

    Raises:
        InvalidValueError: A pair without an equals sign.
    """
    renames = {}
    for pair in pairs:
        mine, found, ours = pair.partition("=")
        if not (found and mine and ours):
            msg = f"--map {pair!r} is not of the form yours=ours, e.g. my_answer=response"
            raise InvalidValueError(msg)
        renames[mine] = ours
    return renames


def parse_thresholds(pairs: Iterable[str]) -> dict[str, float]:
    """``METHOD=NUMBER`` pairs as a mapping.

    Raises:
        InvalidValueError: A pair of another form.
    """
    found = {}
    for pair in pairs:
        name, equals, number = pair.rpartition("=")
        if not equals or not name.strip():
            msg = f"--pass-from {pair!r} is not of the form METHOD=NUMBER"
            raise InvalidValueError(msg)
        found[name.strip()] = parse_numbers(number, "--pass-from")[0]
    return found


def parse_pair(text: str, option: str) -> tuple[float, float]:
    """Two numbers with a comma between them.

    Raises:
        InvalidValueError: It is something else.
    """
    numbers = parse_numbers(text, option)
    if len(numbers) != 2:
        msg = f"{option} {text!r}; it is two numbers, e.g. 1,5"
        raise InvalidValueError(msg)
    return numbers[0], numbers[1]


def parse_names(text: str) -> list[str]:
    """Names with commas between them, without the blanks around them."""
    return [part.strip() for part in text.split(",")]
