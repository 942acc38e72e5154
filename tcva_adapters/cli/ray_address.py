"""The address of a Ray cluster among the arguments of a command."""

from __future__ import annotations

import re
from typing import Final

UNNAMED: Final = "here"
"""What ``--ray`` without an address stands for."""

_ADDRESS: Final = re.compile(r"auto|local|(ray://)?[\w.-]+:\d+")


def with_address(arguments: list[str]) -> list[str]:
    """Command line arguments in which ``--ray`` has a value: typer knows no optional ones.

    >>> with_address(["evaluate", "--ray", "in.jsonl"]), with_address(["--ray", "auto", "in.jsonl"])
    (['evaluate', '--ray', 'here', 'in.jsonl'], ['--ray', 'auto', 'in.jsonl'])
    """
    found = []
    for argument, after in zip(arguments, [*arguments[1:], ""], strict=True):
        found.append(argument)
        if argument == "--ray" and not _ADDRESS.fullmatch(after):
            found.append(UNNAMED)
    return found
