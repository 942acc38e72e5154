"""Options that say something about another one, and say nothing without it."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperCommand

from tcva_adapters.errors import InvalidValueError

_OF: Final = {
    "latency": "estimate",
    "combine": "panel",
    "figure_format": "figures",
    "missing": "results",
    "scale": "results",
    "stratify_seed": "stratify",
    "queries": "power",
    "seed": "next_",
    "by": "next_",
    "scores": "next_",
    **dict.fromkeys(
        ("human", "labels", "against", "group", "temperature", "config", "skip_bad"), "assessments"
    ),
}
"""What each of them is about, by the names of parameters. It holds in commands that have both."""


class Command(TyperCommand):
    """A command that refuses what was typed and would be ignored."""

    def invoke(self, ctx: Any) -> Any:
        """Run it.

        Raises:
            InvalidValueError: An option was typed without the one that it belongs to.
        """
        known = {parameter.name: parameter for parameter in self.params}
        for name, other in _OF.items():
            if not (name in known and other in known and _typed(ctx, name)) or _typed(ctx, other):
                continue
            lacking = known[other].opts[0]
            what = lacking if lacking.startswith("-") else "a pilot's file"
            msg = f"{known[name].opts[0]} says nothing without {what}; give {what}, too, or leave it out"
            raise InvalidValueError(msg)
        return super().invoke(ctx)


def _typed(ctx: Any, name: str) -> bool:
    # Compared by name: typer carries the enumeration in a private copy of click.
    return bool(ctx.get_parameter_source(name).name != "DEFAULT")
