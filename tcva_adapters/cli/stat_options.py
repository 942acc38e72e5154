"""The options of statistics.

They are `Optional[...]` instead of ``... | None`` because typer reads them at run time.
"""

from __future__ import annotations

from typing import Annotated

import typer

Objective = Annotated[
    str,
    typer.Option(
        "--objective",
        help="With --human: the measure that methods are tested by, chosen before looking: "
        "spearman, kendall, pearson or mae.",
    ),
]
