"""What carries a result through a framework, and whose result is meant."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Self

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict


class Carrier:
    """A score in a framework's own kind of object, and the result behind it.

    Attributes:
        result: Of a `TCVA` a `Result`; every kind has settings of its own, hence Any.
    """

    result: Any

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with verdict, evidence and reason, non-claims included."""
        found: tuple[ClaimVerdict, ...] = self.result.claims
        return found

    def at(self, *temperature: float | str, **changes: Any) -> Self:
        """The same judgement under other settings, as ``at`` of its result takes them. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return self._carrying(self.result.at(*temperature, **changes))

    @abstractmethod
    def _carrying(self, result: Any) -> Self:
        """The same for another result."""


def chosen(wanted: str | None, ours: Sequence[str], others: Iterable[str], *, argument: str) -> str:
    """Which of the metrics of an evaluation is meant.

    Args:
        wanted: The name that was passed; None for the only one.
        ours: The names of those whose results can be read.
        others: The other names in the evaluation.
        argument: What passes a name.

    Raises:
        InvalidValueError: There is none of ours, or none of this name; or several, and no name.

    >>> chosen(None, ["tcva_faithfulness"], [], argument="metric")
    'tcva_faithfulness'
    """
    if wanted in ours or (wanted is None and len(ours) == 1):
        return wanted or ours[0]
    known = ", ".join(map(repr, ours))
    if not ours:
        msg = f"no metric of tcva-adapters in the evaluation; it has {', '.join(others) or 'none'}"
    elif wanted is None:
        msg = (
            f"the evaluation has several metrics of tcva-adapters; pass {argument}=, one of {known}"
        )
    else:
        msg = f"{argument}={wanted!r} is no metric of tcva-adapters in the evaluation; there are {known}"
    raise InvalidValueError(msg)
