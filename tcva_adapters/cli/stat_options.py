"""The options of statistics that several commands share.

They are `Optional[...]` instead of ``... | None`` because typer reads them at run time.
"""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from tcva_adapters.errors import InvalidValueError

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
Group = Annotated[
    Optional[str],
    typer.Option(
        "--group",
        help="Metadata field of what samples belong to (a document, a conversation, a user): "
        "these are drawn, not single samples.",
    ),
]
HumanScale = Annotated[
    str, typer.Option(help="Lowest and highest rating that could be given, e.g. 1,5.")
]
HumanThreshold = Annotated[
    Optional[float],
    typer.Option(help="A rating passes from here on; by default the middle of the scale."),
]


def check_group(group: str | None, *, is_used: bool) -> None:
    """Refuse groups where nothing looks at them.

    Raises:
        InvalidValueError: Nothing does.
    """
    if group is not None and not is_used:
        msg = (
            f"--group {group} says what is drawn for a bound; give --confidence or --baseline, too"
        )
        raise InvalidValueError(msg)
