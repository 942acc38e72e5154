"""Several judges over one list of claims, with one verdict per claim made of theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.combining import COMBINES, Combine, Several
from tcva_adapters.judging.judge import MAX_CLAIMS, Judge
from tcva_adapters.judging.resolve import (
    JUDGING,
    MAX_CONCURRENCY,
    is_lexical,
    resolve_judge,
)
from tcva_adapters.results.settings import VerdictForm


class Panel(Several):
    """Judges that look at the same claims. It is a judge itself, wherever a judge is taken.

    Args:
        judges: Two or more: names, LLM objects or judges. Each splits the text in the same way, so
            that their verdicts can be held side by side.
        combine: ``median`` gives each claim the median level (of an even number of judges the
            stricter of the two in the middle); ``fused`` gives it the shares of the judges'
            votes, and scores count with these.
        least: How many judges must have succeeded; with fewer the sample is unscored. A judge
            that fails is left out.
        max_claims: Most claims per sample, the same for every judge.
        max_concurrency: Calls under way at once of each model that is given by name.
        verdicts: In which form the models among them are asked; see `JudgeConfig`.

    Raises:
        InvalidValueError: Fewer than two judges, two of one name, a judge that asks for claims of
            its own (``claims="llm"``), or a setting out of range.

    >>> Panel(["lexical"])
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: a panel of 1; it takes two judges or more
    """

    kind = "judges"

    def __init__(
        self,
        judges: Sequence[Any],
        *,
        combine: Combine = "median",
        least: int = 1,
        max_claims: int = MAX_CLAIMS,
        verdicts: VerdictForm = "written",
        max_concurrency: int = MAX_CONCURRENCY,
    ) -> None:
        if isinstance(judges, str) or len(judges) < 2:
            number = 1 if isinstance(judges, str) else len(judges)
            msg = f"a panel of {number}; it takes two judges or more"
            raise InvalidValueError(msg)
        if combine not in COMBINES:
            msg = f"combine={combine!r}; it is {' or '.join(COMBINES)}"
            raise InvalidValueError(msg)
        if isinstance(least, bool) or not isinstance(least, int) or not 1 <= least <= len(judges):
            msg = f"least={least!r}; it lies between 1 and the number of judges, {len(judges)}"
            raise InvalidValueError(msg)
        found = (
            judge
            if isinstance(judge, Judge)
            else _resolved(judge, max_claims, max_concurrency, verdicts)
            for judge in judges
        )
        super().__init__(tuple(found), combine, least)
        names = [judge.name for judge in self.judges]
        for judge in self.judges:
            if names.count(judge.name) > 1:
                msg = (
                    f"two judges of this panel are called {judge.name!r}; each has one vote: leave "
                    "one out, or name another judge"
                )
                raise InvalidValueError(msg)
            if getattr(judge, "claims", "split") != "split":
                msg = (
                    f"{judge.name} asks for claims of its own (claims='llm'); the judges of a "
                    "panel need one list: use claims='split'"
                )
                raise InvalidValueError(msg)

    @property
    def name(self) -> str:
        """The judges' names."""
        return f"panel({', '.join(judge.name for judge in self.judges)})"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The rule, and each judge's parameters."""
        return {
            "combine": self.combine,
            "least": self.least,
            "judges": [dict(judge.parameters) for judge in self.judges],
        }


def _resolved(judge: Any, max_claims: int, max_concurrency: int, verdicts: VerdictForm) -> Judge:
    # The lexical judge asks nobody.
    form: VerdictForm = "written" if is_lexical(judge) else verdicts
    return resolve_judge(
        judge, max_claims=max_claims, max_concurrency=max_concurrency, verdicts=form
    )


def panel_of(
    judges: Sequence[Any], combine: str, settings: Mapping[str, Any]
) -> tuple[Panel, dict[str, Any]]:
    """The judges of a panel as one, and the settings without those that it takes itself.

    Raises:
        InvalidValueError: Each judge would make claims of its own.
    """
    if settings.get("claims", "split") != "split":
        msg = (
            f"--claims {settings['claims']} gives each judge claims of its own; a --panel needs "
            "'split'"
        )
        raise InvalidValueError(msg)
    taken = {*JUDGING, "max_concurrency"} - {"claims"}
    how = {name: value for name, value in settings.items() if name in taken}
    panel = Panel(judges, combine=combine, **how)  # type: ignore[arg-type]  # checked when built
    left = {*JUDGING, "judge"}
    return panel, {name: value for name, value in settings.items() if name not in left}
