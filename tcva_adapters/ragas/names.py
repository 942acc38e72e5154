"""What a metric is called where RAGAS makes a column of its name."""

from __future__ import annotations

import re
from typing import Any, Final

from tcva_adapters.core.verdicts import SCHEMES, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.judge import MAX_CLAIMS
from tcva_adapters.results.scoring import Fusion, Scoring
from tcva_adapters.tcva import TCVA

_DIAL: Final = (
    "temperature",
    "threshold",
    "scheme",
    "penalty",
    "eps",
    "floor",
    "on_unscored",
    "fusion",
)
_NOT_IN_FILES: Final = re.compile(r"[/\\:]")
_LABELS: Final = {"temperature": "T"}
_JUDGING: Final = {"claims": "split", "max_claims": MAX_CLAIMS}


def default_name(tcva: TCVA) -> str:
    """``tcva_`` and the criterion, and in brackets every setting that is not the usual one.

    RAGAS keeps one column per name, so two settings must not share one.

    >>> default_name(TCVA()), default_name(TCVA("correctness", temperature="strict", claims="split"))
    ('tcva_faithfulness', 'tcva_correctness(T=0.2)')
    """
    usual = {name: getattr(Scoring(), name) for name in _DIAL} | _JUDGING
    own = {name: getattr(tcva.scoring, name) for name in _DIAL}
    own |= {name: tcva.judge.parameters.get(name, _JUDGING[name]) for name in _JUDGING}
    changed = [name for name in usual if _text(own[name]) != _text(usual[name])]
    parts = [f"{_LABELS.get(name, name)}={_text(own[name])}" for name in changed]
    parts += [f"fuse={_text(each.judge.name)} {each.criterion.name}" for each in tcva.members]
    return f"tcva_{tcva.criterion.name}" + (f"({','.join(parts)})" if parts else "")


def _text(value: Any) -> str:
    if isinstance(value, WeightScheme):
        published = (name for name, it in SCHEMES.items() if it.weights == value.weights)
        # RAGAS also makes file names of it: no slashes, no colons.
        return next(published, "_".join(f"{weight:g}" for weight in value.weights))
    if isinstance(value, Fusion):
        mean = "geometric" if value.temperature is None else f"T={value.temperature:g}"
        return " ".join([mean, *(f"{weight:g}" for weight in value.weights or ())])
    return _NOT_IN_FILES.sub("_", str(value))


def check_name(name: Any) -> str:
    """A name that was given; empty where none was.

    Raises:
        InvalidValueError: It is no text, or a blank one.
    """
    if name is None or name == "":
        return ""
    if not isinstance(name, str) or not name.strip():
        msg = f"name={name!r}; a column's name is a text, and None gives it the usual one"
        raise InvalidValueError(msg)
    return name
