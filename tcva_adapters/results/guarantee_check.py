"""Whether a guarantee holds for a score: for its judge, its threshold and its other settings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from tcva_adapters.errors import GuaranteeWarning
from tcva_adapters.results.guarantee import Guarantee
from tcva_adapters.results.judged_by import UNKNOWN
from tcva_adapters.results.settings import ScoringConfig, shown

_WAY_OUT: Final = (
    "pass the judge as 'openai:MODEL', or as an LLM object that has base_url, temperature, seed and "
    "max_tokens; judge and calibrate again what was certified without these"
)


class GuaranteeCheck(NamedTuple):
    """Whether a guarantee holds for a score.

    Attributes:
        state: ``lost`` where the score differs from what was certified; ``cannot be checked`` where
            it does not, as far as is known; else ``holds``.
        text: What is guaranteed, what differs, or what is unknown, with the way out.
    """

    state: Literal["holds", "lost", "cannot be checked"]
    text: str


def setting_parts(scoring: ScoringConfig) -> dict[str, Any]:
    """A setting by name, as values that are equal for equal settings.

    >>> setting_parts(ScoringConfig(scheme="linear"))["scheme"]
    'linear'
    """
    return {name: v if isinstance(v, float) else shown(v) for name, v in scoring}


def checked(guarantee: Guarantee, used: Mapping[str, Any]) -> GuaranteeCheck:
    """Whether a guarantee holds for a score.

    Args:
        guarantee: What was certified. Of a file of an earlier version, only its setting is known.
        used: What made the score: the parts of its setting, and what its judges are known by.
    """
    certified = {**setting_parts(ScoringConfig(**guarantee.setting)), **guarantee.judged_by}
    missing = None if guarantee.judged_by else UNKNOWN
    pairs = {name: (certified.get(name, missing), used.get(name)) for name in {**certified, **used}}
    unknown = [name for name, pair in pairs.items() if UNKNOWN in pair]
    differs = [
        f"{name} {value} instead of {wanted}"
        for name, (wanted, value) in pairs.items()
        if value != wanted and name not in unknown
    ]
    if differs:
        return GuaranteeCheck("lost", f"The guarantee is lost: {'; '.join(differs)}")
    if unknown:
        text = f"The guarantee cannot be checked: {', '.join(unknown)} unknown; {_WAY_OUT}"
        return GuaranteeCheck("cannot be checked", text)
    return GuaranteeCheck("holds", f"Guarantee of {guarantee.date}: {guarantee.said}")


def warn_once(guarantee: Guarantee, check: GuaranteeCheck) -> None:
    """Warn, once in a run, where a guarantee is not known to hold."""
    if check.state != "holds" and check.text not in guarantee.warned_of:
        guarantee.warned_of.add(check.text)
        warnings.warn(check.text, GuaranteeWarning, stacklevel=3)
