"""The reference library's ``score_agg``, digit for digit, for suites that call it.

It follows eval-ai-library 0.8.2, which differs from the paper: its penalty is ramped in with the
number of scores, its result is rounded to four decimals, and no score at all gives 0.

That library's documentation page describes neither. Its exponents (p(0.3) = -2.5, p(0.7) = 4.6) do not
lie on the line from (0.1, -8) to (1.0, 12.25), and its worked scores for 1, 0.9, 0.7, 0 (0.05 at
T = 0.1, 0.62 at 0.5, 0.95 at 1.0) follow from none of the formulas: the code gives 0.0, 0.5239 and
0.8184.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from tcva_adapters.core.aggregation import TINY_EXPONENT
from tcva_adapters.core.checks import as_list, as_number, check_within
from tcva_adapters.core.temperature import PAPER_BOUNDS, exponent_within
from tcva_adapters.errors import InvalidValueError

_FULL_RAMP = 4.0
_DECIMALS = 4


def score_agg(
    scores: Sequence[float],
    temperature: float = 0.5,
    penalty: float = 0.1,  # noqa: ARG001  # it has no effect in the library either
    eps_for_neg_p: float = 1e-9,
) -> float:
    """Compute the score that eval-ai-library 0.8.2 returns for the same arguments.

    Args:
        scores: Weights of verdicts; a weight of 0 counts as a ``none``.
        temperature: Clamped to [0.1, 1.0] for the exponent, used as it is for the penalty.
        penalty: Without effect, as in the library; accepted so that calls fit.
        eps_for_neg_p: Stands in for weights of 0 where the exponent is negative.

    Returns:
        A score rounded to four decimals; 0.0 for no scores.

    Raises:
        InvalidValueError: Numbers that cannot be used.

    >>> score_agg([1.0, 0.9, 0.7, 0.0])
    0.5239
    """
    values = as_list("scores", scores)
    known = [
        number
        for value in values
        if (number := as_number(value)) is not None and 0.0 <= number < math.inf
    ]
    if len(known) < len(values):
        raise InvalidValueError(
            f"scores must be finite numbers of 0 or more, got {values!r}"
        )
    if not known:
        return 0.0
    bounds = PAPER_BOUNDS
    most = sys.float_info.max
    value = check_within(
        "temperature",
        temperature,
        low=-most,
        high=most,
        wanted="a finite number",
    )
    least = check_within(
        "eps_for_neg_p",
        eps_for_neg_p,
        low=math.nextafter(0.0, 1.0),
        high=most,
        wanted="a finite number above 0",
    )
    p = exponent_within(max(bounds.t_min, min(bounds.t_max, value)), bounds)
    # In the order in which the library does it: equality to the last digit is the point.
    positive = [s or least for s in known] if p < TINY_EXPONENT else known
    try:
        if abs(p) < TINY_EXPONENT:
            mean = math.exp(sum(map(math.log, positive)) / len(positive))
        else:
            mean = (sum(s**p for s in positive) / len(positive)) ** (1.0 / p)
        alpha = (1.5 - value) * min(1.0, (len(known) - 1) / _FULL_RAMP)
        penalised: float = mean * (1.0 - known.count(0.0) / len(known)) ** alpha
        return round(penalised, _DECIMALS)
    except (OverflowError, ZeroDivisionError):
        raise InvalidValueError(
            f"the power mean of {known!r} with exponent {p:g} is too large for a float"
        ) from None
