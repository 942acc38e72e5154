"""Several judgements of one sample as one: a panel of judges, or one judge asked several times.

Their verdicts are combined claim by claim. The additional judges of ``fuse`` are another matter: each
gives a score of its own, and `core.panel` combines the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.base import Judge, nothing_to_score
from tcva_adapters.judges.resolve import JUDGING, is_fixed, resolve_judge
from tcva_adapters.models.store_keys import key_of
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.evidence import combined_claims, usable
from tcva_adapters.results.judgement import Reason, Unscored, Usage
from tcva_adapters.results.settings_base import check
from tcva_adapters.samples.sample import Sample

Combine = Literal["median", "fused"]

REPEAT_TEMPERATURE = 0.7
"""The temperature of repeats for a model at 0, where all repeats would be the same."""

_AS_GOOD_AS_0 = 0.01
"""The highest temperature that counts as 0: RAGAS uses it in place of 0."""


class CompositeJudge:
    """Several judges of the same claims that act as one judge.

    Attributes:
        judges: The judges, which split a text in the same way.
        combine: How verdicts are combined, see `Panel`.
        least: How many judges must have succeeded, see `Panel`.
        kind: The word for the judges in messages, in the plural.
        name: The name, which holds the names of the judges.
    """

    kind: str
    name: str

    def __init__(self, judges: Sequence[Judge], combine: Combine, least: int) -> None:
        self.judges = tuple(judges)
        self.combine = combine
        self.least = least
        self.is_local = all(judge.is_local for judge in judges)
        self.prompt_version = "+".join(
            dict.fromkeys(judge.prompt_version for judge in judges)
        )
        self.parameters: Mapping[str, object] = {
            "combine": combine,
            "least": least,
            "judges": [key_of(judge)["parameters"] for judge in judges],
        }

    def check(self, criterion: Criterion) -> None:
        """Refuse a criterion that one of the judges cannot judge by."""
        for judge in self.judges:
            judge.check(criterion)

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample with every judge, and combine their verdicts."""
        return self.combined([judge.assess(sample, criterion) for judge in self.judges])

    aassess = Judge.aassess

    def combined(self, assessments: Sequence[Assessment]) -> Assessment:
        """Combine assessments of the same sample into one, which keeps them in its ``panel``.

        Args:
            assessments: One per judge. Unscored ones, and those on other claims than the first scored
                one, are left out.
        """
        counted = usable(assessments)
        silent = [a for a in assessments if a.unscored and a.failure is None]
        claims: tuple[ClaimVerdict, ...] = ()
        unscored = None
        if silent and not counted:
            claims = silent[0].claims
            unscored = silent[0].unscored
        elif len(counted) < self.least:
            unscored = self._too_few(assessments, len(counted))
        else:
            claims = combined_claims(counted, fused=self.combine == "fused")
            unscored = nothing_to_score(claims)

        first = assessments[0]
        paid = [assessment.usage for assessment in assessments if assessment.is_new]
        from_store = all(assessment.from_store for assessment in assessments)
        forms = dict.fromkeys(assessment.form for assessment in counted)
        return Assessment(
            criterion=first.criterion,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=claims,
            unscored=unscored,
            form=" and ".join(filter(None, forms)),
            usage=sum(paid, Usage()),
            sample_id=first.sample_id,
            metadata=first.metadata,
            from_store=from_store,
            shared=not paid and not from_store,
            panel=tuple(assessments),
        )

    def _too_few(self, assessments: Sequence[Assessment], n_usable: int) -> Unscored:
        """Say why too few judges gave verdicts."""
        reasons = [a.unscored for a in assessments if a.unscored is not None]
        why = "; ".join(unscored.text for unscored in reasons)
        return Unscored(
            reason=Reason.JUDGE_ERROR if n_usable or not reasons else reasons[0].reason,
            detail=f"{n_usable} of {len(assessments)} {self.kind} gave verdicts, "
            f"{self.least} required: {why or 'their claims differ'}",
            raw_reply=next((u.raw_reply for u in reasons if u.raw_reply), None),
            fatal=len(reasons) == len(assessments) and all(u.fatal for u in reasons),
        )


def single_judges(judge: Judge) -> Iterator[Judge]:
    """Yield the judges that are asked one by one: the judge itself, or those that it is made of."""
    if isinstance(judge, CompositeJudge):
        for member in judge.judges:
            yield from single_judges(member)
    else:
        yield judge


def composites_in(judge: Judge) -> Iterator[CompositeJudge]:
    """Yield the panels and repeats that a judge is made of, outermost first."""
    if isinstance(judge, CompositeJudge):
        yield judge
        for member in judge.judges:
            yield from composites_in(member)


def assessment_of(judge: Judge, answers: Iterator[Assessment]) -> Assessment:
    """Make a judge's assessment from the next answers, one for each of its `single_judges`."""
    if not isinstance(judge, CompositeJudge):
        return next(answers)
    return judge.combined([assessment_of(member, answers) for member in judge.judges])


class Panel(CompositeJudge):
    """A panel of judges that judge the same claims. It can be used wherever a judge can.

    Args:
        judges: Two or more: names, LLM objects or judges. Each splits the text in the same way, so
            that their verdicts can be combined claim by claim.
        combine: ``median`` gives each claim the median level (of an even number of judges the
            stricter of the two in the middle); ``fused`` gives it the shares of the judges'
            verdicts, from which scores are computed.
        least: How many judges must have succeeded; with fewer the sample is unscored. A judge
            that fails is left out.
        settings: For judges that are given by name or as an LLM object: ``max_claims``,
            ``max_concurrency`` and ``verdicts``; see `JudgeConfig`.

    Raises:
        InvalidValueError: Fewer than two judges, two of one name, a judge that asks for claims of
            its own (``claims="llm"``), or a setting out of range.

    >>> Panel(["lexical"])
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: a panel needs at least two judges, got 1
    """

    kind = "judges"

    def __init__(
        self,
        judges: Sequence[object],
        *,
        combine: Combine = "median",
        least: int = 1,
        **settings: Any,
    ) -> None:
        number = 1 if isinstance(judges, str) else len(judges)
        if number < 2:
            raise InvalidValueError(f"a panel needs at least two judges, got {number}")
        _check_one_list(settings.get("claims", "split"), "judge")
        check(Combine, "combine", combine)
        check(Annotated[int, Field(ge=1, le=number)], "least", least)
        members = [
            judge
            if isinstance(judge, Judge)
            else resolve_judge(judge, **({} if is_fixed(judge) else settings))
            for judge in judges
        ]
        names = [member.name for member in members]
        for member in members:
            _check_one_list(getattr(member, "claims", "split"), "judge")
            if names.count(member.name) > 1:
                raise InvalidValueError(
                    f"the judges of a panel must differ, got {member.name!r} twice"
                )
        super().__init__(members, combine, least)
        self.name = f"panel({', '.join(names)})"


def with_panel(
    judges: Sequence[object],
    combine: Any,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Make a panel of judges, and return the settings of its evaluator.

    Raises:
        InvalidValueError: See `Panel`.
    """
    taken = {*JUDGING, "max_concurrency"} & settings.keys()
    panel = Panel(judges, combine=combine, **{name: settings[name] for name in taken})
    left = {name: settings[name] for name in settings if name not in JUDGING}
    return {**left, "judge": panel}


def _check_one_list(claims: str, kind: str) -> None:
    if claims != "split":
        raise InvalidValueError(
            f"claims={claims!r} cannot be used: each {kind} would find other claims; use 'split'"
        )


class Repeats(CompositeJudge):
    """Independent judgements of one judge that act as one judge, by the shares of their verdicts.

    Each repeat is a judgement of its own: it is cached under its own key and shared with no other.
    Repeat ``i``, from 0 up, adds ``i`` to the model's seed. A model whose temperature is above
    0.01 keeps it; any other is asked at `REPEAT_TEMPERATURE`. An LLM object that follows neither seed
    nor temperature is asked again as it is. Repeats show and average out the random errors of a judge,
    but not those that it always makes.

    Args:
        judge: A model as judge, or a panel with at least one.
        number: The number of judgements, from 2 up.

    Raises:
        InvalidValueError: The judge is neither a model as judge nor a panel with one, or it makes
            claims of its own (``claims="llm"``).
    """

    kind = "repeats"

    def __init__(self, judge: Judge, number: int) -> None:
        super().__init__(
            [_repeat(judge, place, number) for place in range(number)],
            combine="fused",
            least=1,
        )
        self.name = f"repeats({judge.name}, {number})"
        self.parameters = {**self.judges[0].parameters, "repeats": number}


def _repeat(judge: Judge, place: int, number: int) -> Judge:
    # Imported here, as in `resolve_judge`.
    from tcva_adapters.judges.llm import LLMJudge  # noqa: PLC0415  # see above

    if isinstance(judge, Panel) and not judge.is_local:
        return Panel(
            [
                member if member.is_local else _repeat(member, place, number)
                for member in judge.judges
            ],
            combine=judge.combine,
            least=judge.least,
        )
    if isinstance(judge, LLMJudge):
        _check_one_list(judge.claims, "repeat")
        temperature = judge.model.parameters.get("temperature")
        is_drawn = isinstance(temperature, int | float) and temperature > _AS_GOOD_AS_0
        follows = getattr(judge.model, "follows_sampling", False)
        drawn_at = REPEAT_TEMPERATURE if follows and not is_drawn else None
        return replace(judge, repeat=place, repeat_temperature=drawn_at)
    raise InvalidValueError(
        f"repeats={number} needs a model judge; {judge.name} always gives the same verdicts"
    )
