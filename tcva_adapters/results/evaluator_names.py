"""What columns and readers call an evaluator: its subject, with each setting that is not the default."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NOT_IN_FILES = re.compile(r"[/\\:]")


def column_name(subject: str, details: Sequence[str]) -> str:
    """The name of columns and feedback.

    Frameworks keep one column per name, so two settings must not share one. Some also make file
    names of it, so it has no slashes and no colons.

    >>> column_name("tcva_faithfulness", ["T=0.2", "claims=llm"])
    'tcva_faithfulness(T=0.2,claims=llm)'
    """
    name = f"{subject}({','.join(details)})" if details else subject
    return _NOT_IN_FILES.sub("_", name)


def title_of(subject: str, details: Sequence[str]) -> str:
    """The name for readers.

    >>> title_of("TCVA faithfulness", ["T=0.2"])
    'TCVA faithfulness (T=0.2)'
    """
    return f"{subject} ({', '.join(details)})" if details else subject
