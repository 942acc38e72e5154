"""The options of statistics that several commands share.

They are `Optional[...]` instead of ``... | None`` because typer reads them at run time.
"""

from __future__ import annotations

from functools import wraps
from typing import Annotated, Any, Final, Optional

import typer

from tcva_adapters.cli import old_options as options
from tcva_adapters.cli import texts
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
Level = Annotated[float, typer.Option("--level", help="Of the intervals, e.g. 0.9.")]
HumanScale = Annotated[
    str, typer.Option(help="Lowest and highest rating that could be given, e.g. 1,5.")
]
GivenScale = Annotated[
    Optional[str],
    typer.Option("--human-scale", help="Lowest and highest rating that could be given, e.g. 1,5."),
]
HumanThreshold = Annotated[
    Optional[float],
    typer.Option(help="A rating passes from here on; by default the middle of the scale."),
]
Ablation = Annotated[
    bool, typer.Option("--ablation", help="TCVA with parts of the method taken out (A to D).")
]
Stratify = Annotated[
    Optional[int],
    typer.Option(help="Only so many samples, spread evenly over the human ratings."),
]
StratifySeed = Annotated[int, typer.Option(help="Which samples of a stratum are drawn.")]

_TESTED: Final[dict[str, tuple[Any, Any]]] = {
    "human_scale": (GivenScale, None),
    "objective": (Objective, "spearman"),
    "reference": (options.Reference, None),
    "equivalence": (Equivalence, None),
    "group": (Group, None),
    "ablation": (Ablation, False),
    "stratify": (Stratify, None),
    "stratify_seed": (StratifySeed, 0),
    "bootstrap": (options.Bootstrap, 10_000),
}


def takes_tests(command: options.Command) -> options.Command:
    """Gives a command the options of how methods are tested, which it gets as ``tested``."""

    @wraps(command)
    def run(*arguments: Any, **given: Any) -> None:
        tested = {name: given.pop(name) for name in _TESTED}
        tested["n_boot"] = tested.pop("bootstrap")
        if (scale := tested["human_scale"]) is not None:
            tested["human_scale"] = texts.parse_pair(scale, "--human-scale")
        command(*arguments, tested=tested, **given)

    more = options.plain_options(_TESTED)
    return options.with_options(run, command, more, without={"tested"})


def check_group(group: str | None, *looks: object, ways: str) -> None:
    """Refuse groups where nothing looks at them.

    Args:
        group: What ``--group`` says.
        looks: What was given of that which would look at them.
        ways: The options that do so.

    Raises:
        InvalidValueError: Nothing does.
    """
    if group is not None and not any(looks):
        msg = (
            f"--group {group} says what intervals and bounds are about, and none is asked for; give "
            f"{ways}, too"
        )
        raise InvalidValueError(msg)
