"""The same verdicts at two and three levels, the frameworks' own formulas, and the way back.

All functions take existing verdicts. They show what the five levels add, or apply a temperature to
verdicts that another framework was paid for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.aggregation import (
    Plan,
    SchemeLike,
    check_counts,
    make_plan,
)
from tcva_adapters.core.checks import as_list
from tcva_adapters.core.verdicts import FloatArray, Verdict, WeightScheme
from tcva_adapters.errors import InvalidValueError


def binary_counts(counts: npt.ArrayLike) -> FloatArray:
    """Counts at two levels: fully and mostly become fully, everything else ``none``.

    >>> binary_counts([[2, 1, 1, 0, 1]]).tolist()
    [[3.0, 0.0, 0.0, 0.0, 2.0]]
    """
    rows = check_counts(counts)
    collapsed = np.zeros_like(rows)
    collapsed[:, [0, 4]] = np.add.reduceat(rows, [0, 2], axis=1)
    return collapsed


def ablation_plans(
    temperatures: Iterable[float | str],
    *,
    scheme: SchemeLike = WeightScheme.DEFAULT,
    **options: Any,
) -> dict[str, Plan]:
    """Make the plans of the method with parts taken out (paper, section 4.6), by their names.

    ``full`` is the whole method (A), ``without_penalty`` B, ``arithmetic`` has the arithmetic mean
    in place of the power mean (C) and ``binary`` is for two levels in place of five
    (D, `binary_counts`); the penalty stays in both.

    Args:
        temperatures: For the power mean and for the penalty.
        scheme: As for ``aggregate_counts``.
        options: Likewise ``eps``, ``floor`` and ``bounds``.

    Raises:
        InvalidValueError: As for ``aggregate_counts``.

    >>> [plan.exponents for plan in ablation_plans([0.1]).values()]
    [[-8.0], [-8.0], [1.0], [-8.0]]
    """
    grid = as_list("temperatures", temperatures)
    full = make_plan(grid, scheme=scheme, **options)
    return {
        "full": full,
        "without_penalty": replace(full, penalty="off"),
        "arithmetic": replace(full, exponents=[1.0] * len(grid)),
        "binary": make_plan(grid, **options),
    }


def from_deepeval(verdicts: Iterable[str]) -> list[Verdict]:
    """Convert DeepEval's verdicts to levels: yes to fully, borderline (idk) to partial, no to none.

    Raises:
        InvalidValueError: A verdict is another word.

    >>> from_deepeval(["yes", "idk"])
    [<Verdict.FULLY: 'fully'>, <Verdict.PARTIAL: 'partial'>]
    """
    levels = []
    for verdict in as_list("verdicts", verdicts):
        level = _DEEPEVAL.get(str(verdict).strip().lower())
        if level is None:
            raise InvalidValueError(
                f"a DeepEval verdict must be one of {', '.join(_DEEPEVAL)}, got {verdict!r}"
            )
        levels.append(level)
    return levels


_DEEPEVAL = {
    "yes": Verdict.FULLY,
    "borderline": Verdict.PARTIAL,
    "idk": Verdict.PARTIAL,
    "no": Verdict.NONE,
}
