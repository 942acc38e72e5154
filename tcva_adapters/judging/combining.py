"""One assessment made of several of the same sample: what panels and repeats share."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from tcva_adapters.criteria import Criterion
from tcva_adapters.judging.judge import Judge
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason, Unscored, Usage
from tcva_adapters.results.evidence import combined_claim
from tcva_adapters.samples.sample import Sample

Combine = Literal["median", "fused"]

COMBINES: Final[tuple[Combine, ...]] = get_args(Combine)


class Several(ABC):
    """Judges of the same claims that are one judge together.

    Args:
        judges: They split a text in the same way.
        combine: See `tcva_adapters.judging.panel.Panel`.
        least: See there.
    """

    is_local: bool
    kind: str
    """What messages call its judges, in the plural."""

    def __init__(self, judges: Sequence[Judge], combine: Combine, least: int) -> None:
        self.judges: tuple[Judge, ...] = tuple(judges)
        self.combine: Combine = combine
        self.least = least
        self.is_local = all(judge.is_local for judge in self.judges)

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called, with its judges."""

    @property
    def prompt_version(self) -> str:
        """The judges' prompt versions."""
        return "+".join(dict.fromkeys(judge.prompt_version for judge in self.judges))

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """Everything else that can change a verdict."""

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
                detail = f"most {self.kind} see no claim in any sentence"
                unscored = Unscored(reason=Reason.NO_CLAIMS, detail=detail)
        paid = [each.usage for each in judged if each.is_new]
        return Assessment(
            criterion=judged[0].criterion,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=claims,
            unscored=unscored,
            form=" and ".join(dict.fromkeys(each.form for each in usable if each.form)),
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
            detail=f"{usable} of {len(judged)} {self.kind} gave verdicts, {self.least} needed: {said}",
            raw_reply=next((r.raw_reply for r in reasons if r.raw_reply), None),
            fatal=len(reasons) == len(judged) and all(r.fatal for r in reasons),
        )


def _texts(assessment: Assessment) -> list[str]:
    return [claim.claim for claim in assessment.claims]


def voices(judge: Judge) -> list[Judge]:
    """Who is asked: a judge itself, or those that it is made of, one by one."""
    if not isinstance(judge, Several):
        return [judge]
    return [voice for each in judge.judges for voice in voices(each)]


def told(judge: Judge, answers: Iterator[Assessment]) -> Assessment:
    """The judge's assessment; takes an answer for each of its `voices`."""
    if not isinstance(judge, Several):
        return next(answers)
    return judge.combined([told(each, answers) for each in judge.judges])
