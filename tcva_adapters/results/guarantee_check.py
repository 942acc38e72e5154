"""Whether a guarantee holds for a score: for its judge, its threshold and its other settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from tcva_adapters.results.guarantee import Guarantee
from tcva_adapters.results.judge_spec import UNKNOWN
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.settings_model import shown

_WAY_OUT = (
    "pass the judge as 'openai:MODEL', or as an LLM object that has base_url, temperature, seed and "
    "max_tokens; judge and calibrate again what was certified without these"
)

_EDITED = "The guarantee is lost: its certificate was edited after it was made; calibrate again"


class GuaranteeCheck(NamedTuple):
    """Whether a guarantee holds for a score.

    Attributes:
        state: ``lost`` where the score differs from what was certified; ``cannot be checked`` where
            it does not, as far as is known; else ``holds``.
        text: What is guaranteed, what differs, or what is unknown, with the way out.
    """

    state: Literal["holds", "lost", "cannot be checked"]
    text: str


def checked(
    guarantee: Guarantee,
    judged_by: Mapping[str, object],
    scoring: ScoringConfig,
    failed: str = "",
) -> GuaranteeCheck:
    """Whether a guarantee holds for a score.

    Args:
        guarantee: What was certified. Of a file of an earlier version, only the setting is known; an
            edited one proves nothing.
        judged_by: What the judges of the score are known by.
        scoring: Its setting.
        failed: Which of several judges it is made without, as a text; empty where all are in it.
    """
    if guarantee.digest not in (None, guarantee.digest_now):
        return GuaranteeCheck("lost", _EDITED)
    certified = {**dict(ScoringConfig(**guarantee.setting)), **guarantee.judged_by}
    used = {**dict(scoring), **judged_by}
    missing = None if guarantee.judged_by else UNKNOWN
    differs = [failed] if failed else []
    unknown = [] if guarantee.digest else ["digest of the certificate"]
    for name in {**certified, **used}:
        wanted, value = certified.get(name, missing), used.get(name)
        # An answer without contexts passes under none of the others.
        if name == "uncontexted" and "earlier" not in (wanted, value):
            continue
        if UNKNOWN in (wanted, value):
            unknown.append(name)
        elif value != wanted:
            differs.append(f"{name} {shown(value)} instead of {shown(wanted)}")
    if differs:
        return GuaranteeCheck("lost", f"The guarantee is lost: {'; '.join(differs)}")
    if unknown:
        text = (
            f"The guarantee cannot be checked: {', '.join(unknown)} unknown; {_WAY_OUT}"
        )
        return GuaranteeCheck("cannot be checked", text)
    return GuaranteeCheck(
        "holds", f"Guarantee of {guarantee.date}: {guarantee.sentence}"
    )
