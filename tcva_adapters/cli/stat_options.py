"""The options of statistics.

They are `Optional[...]` instead of ``... | None`` because typer reads them at run time.
"""

from __future__ import annotations

from typing import Annotated, Optional

import typer

Equivalence = Annotated[
    Optional[float],
    typer.Option(
        "--equivalence",
        help="With --human: a difference by the objective that would matter; tests whether methods "
        "are as good as the reference, up to that.",
    ),
]
Objective = Annotated[
    str,
    typer.Option(
        "--objective",
        help="With --human: the measure that methods are tested by, chosen before looking: "
        "spearman, kendall, pearson or mae.",
    ),
]
