"""TCVA: a criterion, a judge and a temperature in one object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from tcva_adapters.criteria import Criterion, resolve_criterion
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import Scorer, lacks
from tcva_adapters.judges import resolve
from tcva_adapters.judges.base import Judge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.non_claims import FORGETFUL, SentenceMemory
from tcva_adapters.judges.panel import Repeats, assessment_of, groups_in, single_judges
from tcva_adapters.judges.rounds import Rounds, adrive, drive
from tcva_adapters.judges.unscored import blank_field
from tcva_adapters.models.protocol import Identity, identity_of
from tcva_adapters.models.store_keys import foreign_class, key_of, spec_of, verdict_key
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.evaluator_names import column_name, title_of
from tcva_adapters.results.judge_spec import PROFILES, bare
from tcva_adapters.results.reasons import Reason, Unscored
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.setting_checks import Profiles
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_model import shown, shows_settings, unusual
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import Question
from tcva_adapters.runner.sharing import SharedSentences
from tcva_adapters.samples.conversation import (
    Conversation,
    as_conversation,
    as_conversations,
)
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import split_claims


class TCVA(FromConfig, Scorer[Result]):
    """Judge samples under one criterion and score them at a temperature.

    Settings never change: `changed` returns a copy with other settings, and results have
    ``at(...)``. If an additional judge fails, its score is left out and the result's reason says
    so. If the main judge fails, the sample is unscored.

    Args:
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        judge: ``"lexical"``, ``"openai:MODEL"``, ``"nli:FOLDER"``, a model object, a judge, or a `Panel` of several.
            Without one the lexical judge is used, with a `DefaultJudgeWarning`.
        **settings: See `TCVASettings`.

    Attributes:
        criterion: The criterion.
        judge: The judge.
        scoring: Temperature, weights and what else makes the score.
        profiles: Temperatures for samples with certain metadata; None for the same everywhere.
        members: What judges for the additional scores that are fused with the judge's.
        settings: All settings by name, checked and in their final form.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or a store cannot be used with the
            judge; raised before any call.
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
        self.scoring = ScoringConfig(
            **{name: found[name] for name in ScoringConfig.model_fields}
        )
        self.profiles: Profiles | None = found["profiles"]
        self.share = found["share"]
        self.max_concurrency = found["max_concurrency"]
        self.events = found["events"]
        how = {name: found[name] for name in (*resolve.JUDGING, "max_concurrency")}
        once: Judge = resolve.resolve_judge(
            resolve.DEFAULT if judge is None else judge, **how
        )
        once.check(self.criterion)
        # What builds an equal judge under other settings, with the same client.
        is_ready = judge is once or judge is None
        named = getattr(once, "address", "lexical")
        self._given = judge if is_ready else getattr(once, "model", named)
        self.judge: Judge = (
            once if found["repeats"] == 1 else Repeats(once, found["repeats"])
        )
        how["repeats"] = found["repeats"]
        self.members = tuple(
            _member(each, self.criterion, how) for each in found["fuse"]
        )
        weights, number = self.scoring.fuse_weights, 1 + len(self.members)
        if weights is not None and len(weights) != number:
            msg = f"fuse_weights must have one weight per judge ({number}), got {weights!r}"
            raise InvalidValueError(msg)
        self._asked = [
            (
                each,
                identity_of(each)
                if hasattr(each, "identity") or not each.is_local
                else None,
            )
            for each in single_judges(self.judge)
        ]
        self.is_local = all(each.judge.is_local for each in (self, *self.members))
        asked = [pair for each in (self, *self.members) for pair in each._asked]  # noqa: SLF001  # of this class
        self.is_instant = all(identity is None for _, identity in asked)
        self.judge_name, self.subject = self.judge.name, self.criterion.name
        self.required, shows = self.criterion.required, self.criterion.shows
        self.shown = tuple(name for name in shows if name not in self.required)
        self.threshold = self.scoring.threshold
        # A judge that came ready-made has settings of its own.
        own = {name: self.judge.parameters.get(name) for name in resolve.JUDGING}
        named = {
            **found,
            **{name: value for name, value in own.items() if value is not None},
        }
        named["fuse"] = tuple(f"{m.judge_name} {m.subject}" for m in self.members)
        details = unusual(TCVASettings, named)
        self.name = column_name(f"tcva_{self.subject}", details)
        self.title = title_of(f"TCVA {self.subject}", details)
        # What another TCVA can be given: judges, which follow its criterion, and those that came
        # with a criterion of their own. Clients are shared.
        found["fuse"] = tuple(
            given if isinstance(given, TCVA) else member._given  # noqa: SLF001  # of this class
            for given, member in zip(found["fuse"], self.members, strict=True)
        )
        # Last, when all settings are known to be good: opening a store makes its file.
        for single, _ in asked:
            key_of(single, is_stored=found["store"] is not None)
        found["store"] = self.store = VerdictStore.opened(found["store"])
        self.settings: Mapping[str, Any] = found
        self.arguments = {
            "criterion": self.criterion,
            "judge": self._given,
            **found,
        }
        self._is_built = True

    def __repr__(self) -> str:
        fused = (
            f", fuse={[m.judge.name for m in self.members]!r}" if self.members else ""
        )
        return (
            f"TCVA({self.criterion.name!r}, judge={self.judge.name!r}, "
            f"temperature={self.scoring.temperature:g}, threshold={self.scoring.threshold:g}{fused})"
        )

    @property
    def fingerprint(self) -> str:
        """Everything that can change a score, as a text that is equal where it is equal."""
        judged = [each.key(Sample()) for each in (self, *self.members)]
        parts = [
            self.subject,
            self.scoring,
            self.profiles,
            judged,
            self.settings["guarantee"],
        ]
        return f"tcva {parts!r}"

    def judged_by(self) -> dict[str, Any]:
        """What criterion and judges are known by now, as JSON values, additional judges included.

        Of several judges the parts of each begin with its number.
        """
        scorers = (self, *self.members)
        groups = [group for each in scorers for group in groups_in(each.judge)]
        found = {
            "criterion": self.subject,
            "texts of the criterion": self.criterion.fingerprint,
            "judge": bare(self.judge_name),
            "prompt_version": "+".join(
                dict.fromkeys(s.judge.prompt_version for s in scorers)
            ),
            "fused": bare(
                "+".join(f"{m.subject} by {m.judge_name}" for m in self.members)
            ),
            "combine": "+".join(group.combine for group in groups) or None,
            "least": "+".join(str(group.least) for group in groups) or None,
            "class of the panel": "+".join(filter(None, map(foreign_class, groups)))
            or None,
            PROFILES: self.profiles and shown(self.profiles),
        }
        judges = [judge for each in scorers for judge, _ in each._asked]  # noqa: SLF001  # of this class
        for number, judge in enumerate(judges, start=1):
            spec = spec_of(judge)
            parts = {"judge": spec.name, **spec.parts}
            prefix = f"judge {number}: " if len(judges) > 1 else ""
            found |= {f"{prefix}{part}": value for part, value in parts.items()}
        return found

    def result(self, assessment: Assessment) -> Result:
        """An assessment under this object's settings, or those of the profile it falls under.

        One that was read back is known by its own judges.

        Warns:
            GuaranteeWarning: The guarantee of the settings is lost, or cannot be checked.
        """
        judged_by = assessment.judged_by or self.judged_by()
        judged = assessment.model_copy(update={"judged_by": judged_by})
        scoring = self.scoring.for_profile(self.profiles, assessment.metadata)
        return Result(judged, scoring, self.settings["guarantee"]).warned()

    def evaluate_conversation(
        self, conversation: Conversation | Iterable[Any]
    ) -> ConversationResult:
        """Judge every turn of a conversation, and score the claims of all of them together.

        A turn takes what a sample takes, one call for usual answers. Turns that were judged before
        (of a conversation that has grown, say) take none, as long as judgements are remembered or
        stored.

        Args:
            conversation: A `Conversation`, or the messages of one; see `Conversation.from_messages`.

        Raises:
            InvalidSampleError: No question in the messages has an answer, or something is none.
                Every later failure gives an unscored result.

        >>> talk = [("user", "When?"), ("tool", "We open at nine."), ("assistant", "We open at nine.")]
        >>> TCVA(judge="lexical").evaluate_conversation(talk).score
        1.0
        """
        return self.evaluate_conversations(
            [as_conversation(conversation)], progress=False
        )[0]

    async def aevaluate_conversation(
        self, conversation: Conversation | Iterable[Any]
    ) -> ConversationResult:
        """The same, awaited."""
        conversations = [as_conversation(conversation)]
        return (await self.aevaluate_conversations(conversations, progress=False))[0]

    def evaluate_conversations(
        self,
        conversations: Iterable[Conversation | Iterable[Any]],
        *,
        progress: bool | None = None,
    ) -> list[ConversationResult]:
        """Judge many conversations, their turns at the same time; one result each, in order.

        Args:
            conversations: What to judge.
            progress: As for `evaluate_many`; turns are counted.

        Raises:
            InvalidSampleError: As for `evaluate_conversation`, or this is one conversation.
        """
        given = as_conversations(conversations)
        turns = [turn for each in given for turn in each.turns]
        results = iter(self.quiet.evaluate_many(turns, progress=progress))
        return [self._whole(each, results) for each in given]

    async def aevaluate_conversations(
        self,
        conversations: Iterable[Conversation | Iterable[Any]],
        *,
        progress: bool | None = None,
    ) -> list[ConversationResult]:
        """The same, awaited."""
        given = as_conversations(conversations)
        turns = [turn for each in given for turn in each.turns]
        results = iter(await self.quiet.aevaluate_many(turns, progress=progress))
        return [self._whole(each, results) for each in given]

    def _whole(
        self, conversation: Conversation, results: Iterator[Result]
    ) -> ConversationResult:
        turns = islice(results, len(conversation.turns))
        return self.emit_result(self.of_turns(conversation, turns))

    def of_turns(
        self, conversation: Conversation, results: Iterable[Result]
    ) -> ConversationResult:
        """The result of a conversation whose turns have these results."""
        scoring = self.scoring.for_profile(self.profiles, conversation.metadata)
        about = conversation.id, conversation.metadata
        return ConversationResult([*results], scoring, *about).warned()

    def unscored(
        self,
        reason: Reason,
        detail: str,
        sample: Sample | None = None,
    ) -> Result:
        """The result of what cannot be judged; see `Scorer.unscored`."""
        why = Unscored(reason=reason, detail=detail)
        return self.result(_unscored(why, self.judge, self.criterion, sample))

    def key(self, sample: Sample) -> str:
        """The store key of a sample: everything that can change its verdicts, nothing else."""
        return _JudgeQuestion(self.judge, None, self.criterion, sample).key

    def questions(self, sample: Sample) -> list[Question]:
        """One for each judge: the panel's or repeats one by one, then those of additional scores."""
        questions: list[Question] = []
        sample = self._in_context(sample)
        if self.missing(sample):
            return questions
        for each in (self, *self.members):
            if each is not self and each.missing(sample):
                continue
            if each._given is None:  # noqa: SLF001  # of this class
                resolve.tell_of_default()
            for judge, identity in each._asked:  # noqa: SLF001  # of this class
                sentences = SharedSentences(
                    judge, identity if self.share else None, self.store
                )
                questions.append(
                    _JudgeQuestion(judge, identity, each.criterion, sample, sentences)
                )
        return questions

    def result_of(self, sample: Sample, answers: Sequence[Assessment]) -> Result:
        """The first judge's assessment, with those of additional judges in it."""
        contexts = sample.contexts
        sample = self._in_context(sample)
        if not answers:
            return self.result(self._lacking(sample))
        left = iter(answers)
        is_one = len(self._asked) == 1
        assessment = next(left) if is_one else assessment_of(self.judge, left)
        if self.members:
            members = [
                each._lacking(sample)  # noqa: SLF001  # of this class
                if each.missing(sample)
                else assessment_of(each.judge, left)
                for each in self.members
            ]
            assessment = assessment.model_copy(update={"members": tuple(members)})
        if assessment.verdicts and sample.contexts != contexts:
            assessment = assessment.model_copy(update={"earlier_contexts": True})
        return self.result(assessment)

    def _in_context(self, sample: Sample) -> Sample:
        """A sample as it is judged: under ``earlier``, with contexts of earlier turns for want of own.

        A text that claims nothing needs none.
        """
        contexts = sample.contexts
        if (
            self.scoring.uncontexted == "earlier"
            and not "".join(contexts or ()).strip()
        ):
            contexts = sample.earlier_contexts or contexts
        if contexts is None and "contexts" in self.required:
            sentences = split_claims(sample.field(self.criterion.claims) or "")
            is_silent = (
                sentences and blank_field(sample, self.criterion, sentences) is None
            )
            # Who says what becomes of answers without contexts expects them.
            contexts = () if is_silent or self.scoring.uncontexted else None
        is_same = contexts is sample.contexts
        return sample if is_same else sample.model_copy(update={"contexts": contexts})

    def missing(self, sample: Sample) -> tuple[str, ...]:
        """The required fields that a sample does not have."""
        return super().missing(self._in_context(sample))

    def _lacking(self, sample: Sample) -> Assessment:
        detail = lacks("the sample", self.missing(sample), self.subject)
        why = Unscored(reason=Reason.MISSING_FIELD, detail=detail)
        return _unscored(why, self.judge, self.criterion, sample)


class _JudgeQuestion(Question):
    """One judge's verdicts on one sample."""

    answered_by = Assessment

    def __init__(
        self,
        judge: Judge,
        identity: Identity | None,
        criterion: Criterion,
        sample: Sample,
        sentences: SentenceMemory = FORGETFUL,
    ) -> None:
        self.judge = judge
        self.identity = identity
        # Another framework's evaluators may have asked the same judge.
        self.sample_fields = {
            "sample_id": sample.id,
            "metadata": sample.metadata,
            "judge": judge.name,
        }
        version = judge.prompt_version
        self.key = verdict_key(
            sample, criterion, prompt_version=version, **key_of(judge)
        )
        self._criterion = criterion
        self._sample = sample
        self._sentences = sentences

    def ask(self) -> Assessment:
        if type(self.judge) is LLMJudge:  # a subclass may do more
            return drive(self.rounds(), self.judge.model)
        return _checked(self.judge.assess(self._sample, self._criterion))

    async def aask(self) -> Assessment:
        if type(self.judge) is LLMJudge:
            return await adrive(self.rounds(), self.judge.model)
        return _checked(await self.judge.aassess(self._sample, self._criterion))

    def rounds(self) -> Rounds[Assessment]:
        rounds: Rounds[Assessment] = self.judge.rounds(
            self._sample, self._criterion, self._sentences
        )
        return rounds

    def failed_answer(self, why: Unscored) -> Assessment:
        return _unscored(why, self.judge, self._criterion, self._sample)


def _checked(answer: Any) -> Assessment:
    if not isinstance(answer, Assessment):
        msg = (
            f"the judge returned {type(answer).__name__}; it must return an Assessment"
        )
        raise JudgeError(msg)
    return answer


def _unscored(
    why: Unscored,
    judge: Judge,
    criterion: Criterion,
    sample: Sample | None,
) -> Assessment:
    return Assessment(
        criterion=criterion.name,
        judge=judge.name,
        prompt_version=judge.prompt_version,
        unscored=why,
        sample_id=None if sample is None else sample.id,
        metadata={} if sample is None else sample.metadata,
    )


def _member(given: Any, criterion: Criterion, how: Mapping[str, Any]) -> TCVA:
    """Who judges for one of the fused scores: under the settings of the one that it joins.

    Raises:
        InvalidValueError: It is fused already, or nothing that can judge.
    """
    if given is None:
        msg = f"fuse must not contain None; an additional judge is {resolve.KINDS}"
        raise InvalidValueError(msg)
    if isinstance(given, TCVA):
        if given.members:
            msg = f"{given!r} already has additional judges; list all judges in one fuse=[...]"
            raise InvalidValueError(msg)
        return given
    if resolve.is_fixed(given) or getattr(given, "is_local", False):
        return TCVA(
            criterion, judge=given
        )  # it follows nothing, and says the same each time
    if isinstance(given, Judge):
        return TCVA(criterion, judge=given, repeats=how["repeats"])
    return TCVA(criterion, judge=given, **how)
