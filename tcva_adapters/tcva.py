"""TCVA: a criterion, a judge and the dial in one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from tcva_adapters.criteria import Criterion, resolve_criterion
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import Scorer, column_name, lacks
from tcva_adapters.judges.base import Judge, identity_of, verdict_key
from tcva_adapters.judges.panel import Panel, Repeats, assessment_of, single_judges
from tcva_adapters.judges.resolve import (
    DEFAULT,
    FOR_MODELS,
    JUDGING,
    KINDS,
    is_lexical,
    resolve_judge,
    tell_of_default,
)
from tcva_adapters.judges.turns import Turns
from tcva_adapters.results.assessment import Assessment, Reason, Unscored, Usage
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import (
    Profiles,
    ScoringConfig,
    TCVASettings,
    shows_settings,
    unusual,
)
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner import Question
from tcva_adapters.samples.sample import Sample


class TCVA(FromConfig, Scorer[Result]):
    """Judge samples under one criterion and score them on the dial.

    Frozen: `changed` gives a copy with other settings, and results have ``at(...)``. An additional
    judge that fails is left out, and the reason says so; without the first judge's score there is
    none.

    Args:
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        judge: ``"lexical"``, ``"openai:MODEL"``, a model object, a judge, or a `Panel` of several.
            Where none is named the lexical one judges, and warns of that (`DefaultJudgeWarning`).
        **settings: See `TCVASettings`.

    Attributes:
        criterion: The criterion.
        judge: The judge.
        scoring: The settings of the dial.
        profiles: Temperatures for samples with certain metadata; None for the same everywhere.
        members: What judges for the additional scores that are fused with the judge's.
        settings: All settings by name, checked and in their final form.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> tcva = TCVA("faithfulness", judge="lexical")
    >>> sample = Sample(response="The office opens at nine.", contexts=["The office opens at nine."])
    >>> tcva.evaluate(sample).score
    1.0
    >>> tcva.changed(temperature="strict").name
    'tcva_faithfulness(T=0.2)'
    """

    @shows_settings(TCVASettings)
    def __init__(
        self,
        criterion: Criterion | str = "faithfulness",
        *,
        judge: Any = None,
        **settings: Any,
    ) -> None:
        found = dict(TCVASettings(**settings))
        self.criterion = resolve_criterion(criterion)
        self.scoring = ScoringConfig(**{name: found[name] for name in ScoringConfig.model_fields})
        self.profiles: Profiles | None = found["profiles"]
        self.share: bool = found["share"]
        self.max_concurrency: int = found["max_concurrency"]
        how = {name: found[name] for name in (*JUDGING, "max_concurrency")}
        once: Judge = resolve_judge(DEFAULT if judge is None else judge, **how)
        once.check(self.criterion)
        self._given = _again(judge, once)
        self.judge: Judge = once if found["repeats"] == 1 else Repeats(once, found["repeats"])
        how["repeats"] = found["repeats"]
        self.members = tuple(_member(each, self.criterion, how) for each in found["fuse"])
        weights = self.scoring.fuse_weights
        if weights is not None and len(weights) != 1 + len(self.members):
            msg = f"fuse_weights={weights!r} for {1 + len(self.members)} judges"
            raise InvalidValueError(msg)
        # What another TCVA can be given: judges, which follow its criterion, and those that came
        # with a criterion of their own. Clients are shared.
        fuse = tuple(
            given if isinstance(given, TCVA) else member._given  # noqa: SLF001  # of this class
            for given, member in zip(found["fuse"], self.members, strict=True)
        )
        self.store: VerdictStore | None = VerdictStore.opened(found["store"])
        self.settings: Mapping[str, Any] = {**found, "fuse": fuse, "store": self.store}
        self._is_built = True

    def __repr__(self) -> str:
        fused = f", fuse={[m.judge.name for m in self.members]!r}" if self.members else ""
        return (
            f"TCVA({self.criterion.name!r}, judge={self.judge.name!r}, "
            f"temperature={self.scoring.temperature:g}, threshold={self.scoring.threshold:g}{fused})"
        )

    @property
    def subject(self) -> str:
        """The criterion's name."""
        return self.criterion.name

    @cached_property
    def name(self) -> str:
        """``tcva_`` and the criterion, and in brackets every setting that is not the usual one.

        >>> TCVA("correctness", judge="lexical", temperature="strict", scheme="linear").name
        'tcva_correctness(T=0.2,scheme=linear)'
        """
        return column_name(f"tcva_{self.subject}", unusual(TCVASettings, self._told()))

    @cached_property
    def title(self) -> str:
        """``TCVA`` and the criterion, and in brackets the settings that are not the usual ones."""
        details = unusual(TCVASettings, self._told(), without=("threshold",))
        return f"TCVA {self.subject}" + (f" ({', '.join(details)})" if details else "")

    @property
    def panel_judges(self) -> tuple[Judge, ...]:
        """The judges of a panel; none where a single one judges."""
        return self.judge.judges if isinstance(self.judge, Panel) else ()

    @property
    def has_panel(self) -> bool:
        """Whether a panel judges, once or in repeats."""
        judge = self.judge.judge if isinstance(self.judge, Repeats) else self.judge
        return isinstance(judge, Panel)

    @property
    def short_name(self) -> str:
        """Judge and criterion, as names of fused scorers tell them."""
        return f"{self.judge.name} {self.subject}"

    @property
    def judge_name(self) -> str:
        """The judge's name."""
        return self.judge.name

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The fields that the criterion looks at."""
        return self.criterion.required

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Further fields that a judge sees for orientation."""
        return tuple(name for name in self.criterion.shows if name not in self.required)

    @property
    def threshold(self) -> float:
        """A score passes from here on; profiles may have others."""
        return self.scoring.threshold

    @cached_property
    def is_local(self) -> bool:
        """Whether no judge is asked over a network."""
        return all(each.judge.is_local for each in (self, *self.members))

    @property
    def fingerprint(self) -> str:
        """Everything that can change a score, as a text that is equal where it is equal."""
        judged = (
            (
                each.criterion.fingerprint,
                each.judge.name,
                each.judge.prompt_version,
                sorted(each.judge.parameters.items()),
            )
            for each in (self, *self.members)
        )
        return f"tcva {self.subject} {self.scoring!r} {self.profiles!r} {list(judged)!r}"

    @property
    def arguments(self) -> Mapping[str, Any]:
        """Criterion, judge and settings."""
        return {"criterion": self.criterion, "judge": self._given, **self.settings}

    def result(self, assessment: Assessment) -> Result:
        """An assessment under this object's settings, or those of the profile it falls under."""
        if self.profiles is None:
            return Result(assessment, self.scoring)
        return Result(assessment, self.scoring.for_profile(self.profiles, assessment.metadata))

    def unscored(self, reason: Reason, detail: str, sample: Sample | None = None) -> Result:
        """The result of what cannot be judged; see `Scorer.unscored`."""
        why = Unscored(reason=reason, detail=detail)
        return self.result(_unscored(why, self.judge, self.criterion, sample))

    def key(self, sample: Sample) -> str:
        """The store key of a sample: everything that can change its verdicts, nothing else."""
        return _JudgeQuestion(self.judge, self.criterion, sample).key

    def questions(self, sample: Sample) -> list[Question[Any]]:
        """One for each judge: the panel's or repeats one by one, then those of additional scores."""
        questions: list[Question[Any]] = []
        for each in (self, *self.members):
            if each.missing(sample):
                if each is self:
                    break
                continue
            if each._given is None:  # noqa: SLF001  # of this class
                tell_of_default()
            asked = single_judges(each.judge)
            questions += [_JudgeQuestion(judge, each.criterion, sample) for judge in asked]
        return questions

    def answered(self, sample: Sample, answers: Sequence[Assessment]) -> Result:
        """The first judge's assessment, with those of additional judges in it."""
        left = iter(answers)
        assessment = self._assessment(sample, left)
        if self.members and answers:
            members = tuple(each._assessment(sample, left) for each in self.members)  # noqa: SLF001  # of this class
            assessment = assessment.model_copy(update={"members": members})
        return self.result(assessment)

    def _assessment(self, sample: Sample, answers: Iterator[Assessment]) -> Assessment:
        """The assessment by this judge alone; takes as many answers as it was asked questions."""
        missing = self.missing(sample)
        if missing:
            detail = lacks("the sample", missing, self.subject)
            why = Unscored(reason=Reason.MISSING_FIELD, detail=detail)
            return _unscored(why, self.judge, self.criterion, sample)
        return assessment_of(self.judge, answers)

    def _told(self) -> Mapping[str, Any]:
        """The settings as names tell them: a judge that came ready-made has its own."""
        own = {name: self.judge.parameters.get(name) for name in JUDGING}
        judging = {name: value for name, value in own.items() if value is not None}
        return {**self.settings, **judging, "fuse": self.members}


class _JudgeQuestion(Question[Assessment]):
    """One judge's verdicts on one sample."""

    def __init__(self, judge: Judge, criterion: Criterion, sample: Sample) -> None:
        self.judge: Judge = judge
        self.identity = identity_of(judge)
        self.key = verdict_key(
            sample,
            criterion,
            judge=judge.name,
            prompt_version=judge.prompt_version,
            parameters=judge.parameters,
        )
        self._criterion = criterion
        self._sample = sample

    def ask(self) -> Assessment:
        return _assessment(self.judge.assess(self._sample, self._criterion))

    async def aask(self) -> Assessment:
        return _assessment(await self.judge.aassess(self._sample, self._criterion))

    def conversation(self) -> Turns[Assessment] | None:
        if self.judge.is_local:
            return None
        # Imported here, as in `resolve_judge`.
        from tcva_adapters.judges.llm import LLMJudge  # noqa: PLC0415  # see above

        judge = self.judge
        return judge.turns(self._sample, self._criterion) if type(judge) is LLMJudge else None

    @classmethod
    def read(cls, store: VerdictStore, questions: Sequence[Self]) -> list[Assessment | None]:
        found = store.get_many(each.key for each in questions)
        return [each.ours(found[each.key]) if each.key in found else None for each in questions]

    @classmethod
    def write(cls, store: VerdictStore, answered: Sequence[tuple[Self, Assessment]]) -> None:
        store.put_many([(question.key, answer) for question, answer in answered])

    def free(self, answer: Assessment) -> Assessment:
        return self.ours(answer, usage=Usage(), shared=not answer.from_store)

    def given_up(self, why: Unscored) -> Assessment:
        return _unscored(why, self.judge, self._criterion, self._sample)

    def ours(self, answer: Assessment, **update: Any) -> Assessment:
        """Under the name of the sample that asks for it now."""
        own = {"sample_id": self._sample.id, "metadata": self._sample.metadata}
        return answer.model_copy(update={**own, **update})


def _assessment(answer: Any) -> Assessment:
    if not isinstance(answer, Assessment):
        msg = f"the judge returned {type(answer).__name__}; it must return an Assessment"
        raise JudgeError(msg)
    return answer


def _unscored(
    why: Unscored, judge: Judge, criterion: Criterion, sample: Sample | None
) -> Assessment:
    return Assessment(
        criterion=criterion.name,
        judge=judge.name,
        prompt_version=judge.prompt_version,
        unscored=why,
        sample_id=None if sample is None else sample.id,
        metadata={} if sample is None else sample.metadata,
    )


def _again(given: Any, judge: Judge) -> Any:
    """What builds an equal judge under other settings, with the same client."""
    if given is judge or given is None:
        return given
    return getattr(judge, "model", "lexical")


def _member(given: Any, criterion: Criterion, how: Mapping[str, Any]) -> TCVA:
    """Who judges for one of the fused scores: under the settings of the one that it joins.

    Raises:
        InvalidValueError: It is fused already, or nothing that can judge.
    """
    if given is None:
        msg = f"fuse=... holds None; an additional judge is {KINDS}"
        raise InvalidValueError(msg)
    if not isinstance(given, TCVA):
        names = {"repeats"} if isinstance(given, Judge) else {*how}
        if is_lexical(given):
            names -= {*FOR_MODELS}  # it splits sentences, whoever else is asked for claims
        if is_lexical(given) or getattr(given, "is_local", False):
            names -= {"repeats"}  # it says the same each time
        settings = {name: how[name] for name in names}
        return TCVA(criterion, judge=given, **settings)
    if given.members:
        msg = f"{given!r} is fused already; list all the judges in one fuse=[...]"
        raise InvalidValueError(msg)
    return given
