"""Default names: the settings of an object that are not the default, as readers and columns show them.

``title`` is a setting's name in default names, and ``repr=False`` leaves it out of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from tcva_adapters.samples.fields import Fields


def unusual(model: type[BaseModel], values: Fields) -> list[str]:
    """List ``title=value``, for default names, for each setting that is not the default.

    Values that are shown alike count as equal: a published scheme and its weights as numbers.

    Args:
        model: The model of the settings.
        values: Settings by name; missing ones are left out.
    """
    return [
        f"{field.title or name}={value_text(values[name])}"
        for name, field in model.model_fields.items()
        if field.repr and name in values
        if value_text(values[name]) != value_text(field.default)
    ]


def value_text(value: object) -> str:
    """Format a setting's value for a name, by its own short form where it has one."""
    match value:
        case bool():
            return str(value)
        case int() | float():
            return f"{value:g}"
        case tuple():
            return "+".join(map(value_text, value))
        case Mapping() if any(isinstance(inner, Mapping) for inner in value.values()):
            return f"by {', '.join(value)}"
        case Mapping():
            return "+".join(f"{reason}={score}" for reason, score in value.items())
    return str(getattr(value, "short_name", value))


_NOT_IN_FILES = re.compile(r"[/\\:]")


def column_name(subject: str, details: Sequence[str]) -> str:
    """Build the name of columns and feedback.

    Frameworks keep one column per name, so two settings must not share one. Some also make file
    names of it, so it has no slashes and no colons.

    >>> column_name("tcva_faithfulness", ["T=0.2", "claims=llm"])
    'tcva_faithfulness(T=0.2,claims=llm)'
    """
    name = f"{subject}({','.join(details)})" if details else subject
    return _NOT_IN_FILES.sub("_", name)


def title_of(subject: str, details: Sequence[str]) -> str:
    """Build the name that readers see.

    >>> title_of("TCVA faithfulness", ["T=0.2"])
    'TCVA faithfulness (T=0.2)'
    """
    return f"{subject} ({', '.join(details)})" if details else subject
