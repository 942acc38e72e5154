"""One base class for every error raised here, and one for every warning.

Each message names the value and what to do.
"""

from __future__ import annotations


class TCVAError(Exception):
    """Base of all errors that tcva-adapters raises on purpose."""


class InvalidValueError(TCVAError, ValueError):
    """An argument or a setting has a value that cannot be used."""


class InvalidSampleError(TCVAError, ValueError):
    """A sample lacks what its criterion needs, or a record is no sample."""


class UnreadableInputError(TCVAError, ValueError):
    """A file cannot be read as samples or assessments.

    Attributes:
        line: The line or row, counted from 1, or None where the whole file is meant.
    """

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class MissingDependencyError(TCVAError, ImportError):
    """An optional package is missing, too old, or broken by another package."""


class JudgeError(TCVAError):
    """A judge model could not be asked, or did not answer.

    Attributes:
        reason: A short machine-readable word, e.g. ``timeout`` or ``rate_limit``.
        fatal: True when it holds for every call, whatever is asked: a wrong key, no credit left,
            no such model, nobody listening.
    """

    def __init__(self, message: str, *, reason: str = "judge_error", fatal: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.fatal = fatal


class TCVAWarning(Warning):
    """Base of all warnings that tcva-adapters gives."""


class DefaultJudgeWarning(TCVAWarning, UserWarning):
    """No judge was named, so the lexical one judges; said once in a process."""


class StoreWarning(TCVAWarning, RuntimeWarning):
    """A verdict store fails, or may fail where it lies; judging goes on without it."""
