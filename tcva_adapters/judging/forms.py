"""In which forms verdicts can be asked for, and the settings of these."""

from __future__ import annotations

from typing import Final, Literal, get_args

from typing_extensions import TypedDict  # as the tables of settings are

from tcva_adapters.core.yes_no import POINTS, Shares, check_points
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import check_count

VerdictForm = Literal["written", "labels", "yes_no", "auto"]
PromptForm = Literal["full", "compact"]

VERDICT_FORMS: Final[tuple[VerdictForm, ...]] = get_args(VerdictForm)
PROMPT_FORMS: Final[tuple[PromptForm, ...]] = get_args(PromptForm)


class FormSettings(TypedDict, total=False):
    """In which form a model is asked for verdicts; meanings and defaults: `TCVASettings`."""

    verdicts: VerdictForm
    prompt: PromptForm
    samples: int
    yes_no_points: Shares


DRAWS: Final = 5
"""Draws for a claim, where a model gives no probabilities."""

USUAL: Final[FormSettings] = {
    "verdicts": "written",
    "prompt": "full",
    "samples": DRAWS,
    "yes_no_points": POINTS,
}
"""The settings where nothing else is said."""


def check_form(verdicts: VerdictForm, prompt: PromptForm, samples: int, points: Shares) -> Shares:
    """Refuse what is no form, and settings that it leaves without effect; the points as a tuple.

    Raises:
        InvalidValueError: One of these.
    """
    if verdicts not in VERDICT_FORMS:
        msg = f"verdicts={verdicts!r}; it is {' or '.join(map(repr, VERDICT_FORMS))}"
        raise InvalidValueError(msg)
    if prompt not in PROMPT_FORMS:
        msg = f"prompt={prompt!r}; it is {' or '.join(map(repr, PROMPT_FORMS))}"
        raise InvalidValueError(msg)
    if prompt != "full" and verdicts not in ("written", "auto"):
        msg = f"prompt={prompt!r} with verdicts={verdicts!r}; it is for 'written' and 'auto' alone"
        raise InvalidValueError(msg)
    check_count("samples", samples)
    points = check_points(points)
    if points != POINTS and verdicts not in ("yes_no", "auto"):
        msg = f"yes_no_points={points!r} with verdicts={verdicts!r}; they are for 'yes_no' and 'auto' alone"
        raise InvalidValueError(msg)
    if verdicts in ("written", "auto") and samples != DRAWS:
        msg = (
            f"samples={samples!r} with verdicts={verdicts!r}; answers are drawn for verdicts='labels' "
            "and 'yes_no' alone"
        )
        raise InvalidValueError(msg)
    return points
