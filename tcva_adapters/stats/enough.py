"""Whether there are enough samples for an interval, and the words that stand where there is none."""

from __future__ import annotations

from typing import Final

__all__ = ["LEAST_CLUSTERS", "LEAST_SAMPLES", "MOST_UNDEFINED", "why_no_interval"]

LEAST_SAMPLES: Final = 10
LEAST_CLUSTERS: Final = 10
# Of the resamples: where more of them have no value, those that are left are a choice of their own.
MOST_UNDEFINED: Final = 0.01


def why_no_interval(
    n: int, *, undefined: int = 0, n_boot: int = 0, clusters: int | None = None
) -> str:
    """Why no interval can be trusted here, in one sentence without a full stop.

    Args:
        n: Samples that were measured.
        undefined: Resamples without a value.
        n_boot: Resamples that were drawn; 0 where the interval is not one of resamples.
        clusters: Groups that were drawn; None where single samples were.

    Returns:
        Empty where nothing speaks against one.

    >>> why_no_interval(4)
    '4 samples: an interval needs 10'
    >>> why_no_interval(60, undefined=900, n_boot=10_000)
    '9 % of the resamples have no value (one side constant): an interval needs 1 % or less'
    >>> why_no_interval(60, clusters=5)
    '5 groups: an interval needs 10'
    >>> why_no_interval(10)
    ''
    """
    if n < LEAST_SAMPLES:
        return f"{_number(n, 'sample')}: an interval needs {LEAST_SAMPLES}"
    if clusters is not None and clusters < LEAST_CLUSTERS:
        return f"{_number(clusters, 'group')}: an interval needs {LEAST_CLUSTERS}"
    if undefined > MOST_UNDEFINED * n_boot:
        share = f"{100 * undefined / n_boot:.2g} % of the resamples have no value"
        return f"{share} (one side constant): an interval needs {100 * MOST_UNDEFINED:g} % or less"
    return ""


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
