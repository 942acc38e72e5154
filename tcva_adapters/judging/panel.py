"""Several judges over one list of claims, with one verdict per claim made of theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.judge import MAX_CLAIMS, Judge, ModelJudge
from tcva_adapters.judging.resolve import resolve_judge
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored, Usage
from tcva_adapters.results.evidence_view import combined_claim
from tcva_adapters.samples.sample import Sample

Combine = Literal["median", "fused"]

COMBINES: Final[tuple[Combine, ...]] = get_args(Combine)


class Panel:
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

    Raises:
        InvalidValueError: Fewer than two judges, two of one name, a judge that asks for claims of
            its own (``claims="llm"``), or a setting out of range.

    >>> Panel(["lexical"])
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: a panel of 1; it takes two judges or more
    """

    is_local: bool

    def __init__(
        self,
        judges: Sequence[Any],
        *,
        combine: Combine = "median",
        least: int = 1,
        max_claims: int = MAX_CLAIMS,
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
        self.judges: tuple[Judge, ...] = tuple(
            judge if isinstance(judge, Judge) else resolve_judge(judge, max_claims=max_claims)
            for judge in judges
        )
        self.combine: Combine = combine
        self.least = least
        self.is_local = all(judge.is_local for judge in self.judges)
        names = [judge.name for judge in self.judges]
        for judge in self.judges:
            if names.count(judge.name) > 1:
                msg = (
                    f"two judges of this panel are called {judge.name!r}; each has one vote: leave "
                    "one out, or name another judge"
                )
                raise InvalidValueError(msg)
            if isinstance(judge, ModelJudge) and judge.claims != "split":
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
    def prompt_version(self) -> str:
        """The judges' prompt versions."""
        return "+".join(dict.fromkeys(judge.prompt_version for judge in self.judges))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The rule, and each judge's parameters."""
        return {
            "combine": self.combine,
            "least": self.least,
            "judges": [dict(judge.parameters) for judge in self.judges],
        }

    def check(self, criterion: Criterion) -> None:
        """Refuse a criterion that one of the judges cannot judge by.

        Raises:
            InvalidValueError: See there.
        """
        for judge in self.judges:
            judge.check(criterion)

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Every judge's verdicts, combined."""
        return self.combined([judge.assess(sample, criterion) for judge in self.judges])

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same; the judges work at the same time."""
        judged = await asyncio.gather(*(j.aassess(sample, criterion) for j in self.judges))
        return self.combined(judged)

    def combined(self, judged: Sequence[Assessment]) -> Assessment:
        """One assessment made of several of the same sample; they are kept in its ``panel``.

        Args:
            judged: One per judge. Those without verdicts, or with verdicts on other claims than
                the first judge that has some, are left out.
        """
        first = next((each for each in judged if each.unscored is None), None)
        usable = [
            each
            for each in judged
            if first is not None and each.unscored is None and _texts(each) == _texts(first)
        ]
        unscored = self._unscored(judged, len(usable))
        claims: tuple[ClaimVerdict, ...] = ()
        if unscored is None:
            votes = zip(*(each.claims for each in usable), strict=True)
            claims = tuple(combined_claim(each, fused=self.combine == "fused") for each in votes)
            if not any(claim.verdict for claim in claims):
                detail = "most judges see no claim in any sentence"
                unscored = Unscored(reason=Reason.NO_CLAIMS, detail=detail)
        paid = [each.usage for each in judged if each.is_new]
        return Assessment(
            criterion=judged[0].criterion,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=claims,
            unscored=unscored,
            usage=sum(paid, Usage()),
            sample_id=judged[0].sample_id,
            metadata=judged[0].metadata,
            from_store=all(each.from_store for each in judged),
            shared=not paid and not all(each.from_store for each in judged),
            panel=tuple(judged),
        )

    def _unscored(self, judged: Sequence[Assessment], usable: int) -> Unscored | None:
        if usable >= self.least:
            return None
        reasons = [each.unscored for each in judged if each.unscored is not None]
        own = next((each for each in reasons if not each.reason.is_failure), None)
        if own is not None and usable == 0:
            return own
        said = "; ".join(r.text for r in reasons) or "other claims"
        return Unscored(
            reason=reasons[0].reason if reasons and usable == 0 else Reason.JUDGE_ERROR,
            detail=f"{usable} of {len(judged)} judges gave verdicts, {self.least} needed: {said}",
            raw_reply=next((r.raw_reply for r in reasons if r.raw_reply), None),
            fatal=len(reasons) == len(judged) and all(r.fatal for r in reasons),
        )


def _texts(assessment: Assessment) -> list[str]:
    return [claim.claim for claim in assessment.claims]


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
    panel = Panel(judges, combine=combine, max_claims=settings.get("max_claims", MAX_CLAIMS))  # type: ignore[arg-type]  # checked when built
    taken = ("claims", "max_claims", "judge")
    return panel, {name: value for name, value in settings.items() if name not in taken}
