"""From the judges that were typed to those that judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tcva_adapters.cli.old_options import MODEL_FLAGS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.panel import panel_of
from tcva_adapters.judges.resolve import DEFAULT, MAX_CONCURRENCY, model_of_name
from tcva_adapters.printing import Notes


def named_judge(judge: str | None, notes: Notes) -> str:
    """The judge of a command; where none was named, a note says who judges."""
    if judge is None:
        notes.print(
            f"judge: {DEFAULT}, which only compares words; --judge openai:MODEL asks a model"
        )
    return DEFAULT if judge is None else judge


def asked_judges(
    names: Iterable[str], settings: Mapping[str, Any], max_concurrency: int
) -> list[Any]:
    """The judges of a command: each name, or the model that it means under these settings.

    Args:
        names: What was typed.
        settings: See `takes_model_settings`.
        max_concurrency: Calls under way at once.

    Raises:
        InvalidValueError: Settings, and no model that they could be for.
    """
    names = list(names)
    if not settings:
        return names
    made = [model_of_name(each, max_concurrency=max_concurrency, **settings) for each in names]
    # An estimate brings a key, which no flag does.
    flags = ", ".join(MODEL_FLAGS[name] for name in settings if name in MODEL_FLAGS)
    if flags and not any(made):
        msg = f"{flags}: these are for a model as judge, --judge openai:MODEL, not {names[0]!r}"
        raise InvalidValueError(msg)
    return [model or name for model, name in zip(made, names, strict=True)]


def judging_arguments(
    names: Sequence[str],
    fuse: Sequence[str],
    combine: str,
    model: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """The arguments of `TCVA`: its judge, or a panel of several, the fused ones, and the settings.

    Args:
        names: The judges of the same claims, as they were typed.
        fuse: Additional judges.
        combine: How a panel decides.
        model: See `takes_model_settings`.
        settings: The others.

    Raises:
        InvalidValueError: See `asked_judges` and `panel_of`.
    """
    at_once = settings.get("max_concurrency", MAX_CONCURRENCY)
    asked = asked_judges([*names, *fuse], model, at_once)
    first, fused = asked[0], asked[len(names) :]
    if len(names) > 1:
        first, settings = panel_of(asked[: len(names)], combine, settings)
    return {**settings, "judge": first, **({"fuse": fused} if fused else {})}
