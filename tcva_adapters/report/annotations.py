"""Failed gates as annotations of GitHub Actions: lines that its runner takes for commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tcva_adapters.compare.gates import Gated, claim_lines, verdict_of
from tcva_adapters.printing import visible

MOST: Final = 10
"""Annotations of one kind that GitHub shows for a step."""

_IN_MESSAGE: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY: Final = _IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def to_annotations(gated: Gated, most: int = MOST) -> list[str]:
    """One line per failed gate, and one per worst sample as far as there is room.

    Args:
        gated: The methods and their gates.
        most: Lines in all.

    Returns:
        Lines for standard output or standard error; none where no gate failed.
    """
    lines = [_error("TCVA gate failed", gate.text) for gate in gated.failed][:most]
    for method, case in gated.worst(most - len(lines)):
        message = "\n".join((verdict_of(case, method), *claim_lines(case)))
        lines.append(_error(f"TCVA {method.name}: {case.sample}", message))
    return lines


def asked_for(flag: bool | None, environment: Mapping[str, str]) -> bool:
    """Whether to print them: as asked, and by default under GitHub Actions.

    >>> asked_for(None, {"GITHUB_ACTIONS": "true"}), asked_for(False, {"GITHUB_ACTIONS": "true"})
    (True, False)
    """
    return environment.get("GITHUB_ACTIONS") == "true" if flag is None else flag


def _error(title: str, message: str) -> str:
    return f"::error title={_escaped(title, _IN_PROPERTY)}::{_escaped(message, _IN_MESSAGE)}"


def _escaped(text: str, codes: Mapping[int, str]) -> str:
    return visible(text).translate(codes)
