"""One base class for all errors, and one for all warnings.

Each message names the value and says what to do.
"""

from __future__ import annotations

import re

_PERCENT = re.compile(r"(\d+(?:\.\d*)?)\s*(%?)")


class TCVAError(Exception):
    """Base of all errors that tcva-adapters raises on purpose."""


class InvalidValueError(TCVAError, ValueError):
    """An argument or a setting has a value that cannot be used."""


class InvalidSampleError(TCVAError, ValueError):
    """A sample lacks what its criterion needs, or a record is no sample."""


class UnreadableInputError(TCVAError, ValueError):
    """A file cannot be read as samples or assessments.

    Attributes:
        line: The line or row, counted from 1; None where the error is about the whole file.
    """

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class MissingDependencyError(TCVAError, ImportError):
    """An optional package is missing, too old, or broken by another package."""


def install_hint(extra: str) -> str:
    """Name the command that installs an extra from a checkout, as the package is on no index.

    >>> install_hint("ragas")
    "run pip install '.[ragas]' in a checkout of tcva-adapters"
    """
    return f"run pip install '.[{extra}]' in a checkout of tcva-adapters"


def percent_hint(value: object) -> str:
    """Suggest the share for a number written in percent; an empty text for anything else.

    >>> percent_hint(80), percent_hint("2.5 %"), percent_hint(1.5)
    ('; for 80 % write 0.8', '; for 2.5 % write 0.025', '')
    """
    match = _PERCENT.fullmatch(str(value).strip())
    if match is None:
        return ""
    number = float(match[1])
    least = 0.0 if match[2] else 10.0
    return (
        f"; for {number:g} % write {number / 100:g}" if least <= number <= 100.0 else ""
    )


class JudgeError(TCVAError):
    """A call of a model judge failed.

    Attributes:
        reason: A short machine-readable word, e.g. ``timeout`` or ``rate_limit``.
        fatal: True if every call would fail: a wrong key, no credit left, no such model, no server.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "judge_error",
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.fatal = fatal


class TCVAWarning(Warning):
    """Base of all warnings that tcva-adapters gives."""


class GuaranteeWarning(TCVAWarning, UserWarning):
    """The guarantee of the settings is lost, or cannot be checked, where they are used."""


class SharedNameWarning(TCVAWarning, UserWarning):
    """Two metrics of one evaluation share a name, so a framework keeps only one of them."""


class DefaultJudgeWarning(TCVAWarning, UserWarning):
    """No judge was given, so the lexical judge is used; shown once in a process."""


class StoreWarning(TCVAWarning, RuntimeWarning):
    """A store cannot be used, or is in a place where it may fail; judging continues without it."""
