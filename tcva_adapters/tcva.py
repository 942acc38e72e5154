"""TCVA: a criterion, a judge and a temperature in one object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from tcva_adapters.criteria import Criterion, resolve_criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer, lacks
from tcva_adapters.judges import resolve
from tcva_adapters.judges.base import Judge, blank_field
from tcva_adapters.judges.panel import (
    Repeats,
    assessment_of,
    composites_in,
    single_judges,
)
from tcva_adapters.judges.parts import joined, parts_of
from tcva_adapters.models.store_keys import (
    foreign_class,
    key_of,
    sha256_of,
    spec_of,
    split_of,
    verdict_key,
)
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.judge_spec import PROFILES, bare
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.setting_names import (
    column_name,
    title_of,
    unusual,
    value_text,
)
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_base import shows_settings
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import (
    Question,
    VerdictQuestion,
    judge_identity,
    unscored_assessment,
)
from tcva_adapters.samples.conversation import (
    Conversation,
    as_conversation,
    as_conversations,
)
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json
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
        judge: ``"lexical"``, ``"openai:MODEL"``, ``"nli:FOLDER"``, a model object, a judge, or a
            `Panel` of several. Without one the lexical judge is used, with a `DefaultJudgeWarning`.
        **settings: See `TCVASettings`.

    Attributes:
        criterion: The criterion.
        judge: The judge.
        scoring: Temperature, weights and all other settings of the score.
        profiles: Temperatures for samples with certain metadata; None for the same everywhere.
        members: A `TCVA` for each additional judge, whose scores are fused with the judge's.
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
        judge: object = None,
        **settings: Any,
    ) -> None:
        checked = TCVASettings(**settings)
        values = dict(checked)
        self.criterion = resolve_criterion(criterion)
        self.scoring = ScoringConfig(
            **{name: values[name] for name in ScoringConfig.model_fields}
        )
        self.subject = self.criterion.name
        self.profiles = checked.profiles
        self.threshold = checked.threshold
        self.share = checked.share
        self.max_concurrency = checked.max_concurrency
        self.events = checked.events

        single = resolve.resolve_judge(
            resolve.DEFAULT if judge is None else judge,
            claims=checked.claims,
            max_claims=checked.max_claims,
            verdicts=checked.verdicts,
            max_concurrency=checked.max_concurrency,
        )
        single.check(self.criterion)
        self._source = judge
        if judge is not None and judge is not single:
            name = getattr(single, "address", resolve.DEFAULT)
            self._source = getattr(single, "model", name)
        self.judge: Judge = single
        if checked.repeats > 1:
            self.judge = Repeats(single, checked.repeats)
        self.members = tuple(
            _member(judge, self.criterion, checked) for judge in checked.fuse
        )
        weights = self.scoring.fuse_weights
        number = 1 + len(self.members)
        if weights is not None and len(weights) != number:
            raise InvalidValueError(
                f"fuse_weights must have one weight per judge ({number}), got {weights!r}"
            )

        # The judges that are asked, with their identities, which never change.
        self._asked = [
            (judge, judge_identity(judge)) for judge in single_judges(self.judge)
        ]
        self._judges = [judge for judge, _ in self._asked]
        for member in self.members:
            self._judges += member._judges  # noqa: SLF001  # of this class
        self.is_local = all(judge.is_local for judge in self._judges)
        self.is_instant = not any(map(judge_identity, self._judges))
        if checked.streamed:
            self._check_streamed()
        self.required = self.criterion.required
        self.shown = tuple(
            name for name in self.criterion.shows if name not in self.required
        )
        self.judge_name = self.judge.name
        named = {
            **values,
            "fuse": tuple(f"{m.judge_name} {m.subject}" for m in self.members),
        }
        # A judge that came ready-made has settings of its own.
        for name in resolve.JUDGING:
            if (value := self.judge.parameters.get(name)) is not None:
                named[name] = value
        details = unusual(TCVASettings, named)
        self.name = column_name(f"tcva_{self.subject}", details)
        self.title = title_of(f"TCVA {self.subject}", details)

        # Opening a store makes its file, so this is done once all settings are known to be good.
        for single_judge in self._judges:
            key_of(single_judge, is_stored=checked.store is not None)
        self.store = VerdictStore.opened(checked.store)
        self.settings: Fields = {
            **values,
            "store": self.store,
            # Another TCVA can be given these: judges, which follow its criterion, and TCVA objects,
            # which keep their own. Clients are shared.
            "fuse": tuple(
                judge if isinstance(judge, TCVA) else member._source  # noqa: SLF001  # of this class
                for judge, member in zip(checked.fuse, self.members, strict=True)
            ),
        }
        self.arguments = {
            "criterion": self.criterion,
            # What builds an equal judge under other settings, with the same client.
            "judge": self._source,
            **self.settings,
        }
        self._is_built = True

    def __repr__(self) -> str:
        names = [member.judge.name for member in self.members]
        fused = f", fuse={names!r}" if names else ""
        return (
            f"TCVA({self.criterion.name!r}, judge={self.judge.name!r}, "
            f"temperature={self.scoring.temperature:g}, threshold={self.scoring.threshold:g}{fused})"
        )

    @property
    def streamed(self) -> bool:
        """Whether a model is asked about each sentence in a request of its own."""
        return self.settings["streamed"] is True

    def _check_streamed(self) -> None:
        """Refuse a judge or criterion for which ``streamed=True`` means nothing."""
        why = self.not_in_parts()
        if self.is_local:
            why = f"{self.judge.name} makes no requests; leave it out"
        if why:
            raise InvalidValueError(
                f"streamed=True asks about sentences one by one, and {why}"
            )

    def not_in_parts(self) -> str | None:
        """Say why answers cannot be judged sentence by sentence; None where they can."""
        if getattr(self._judges[0], "claims", "split") != "split":
            return "claims='llm' finds claims of its own in the whole; use 'split'"
        if self.criterion.statements or self.criterion.claims != "response":
            return f"{self.subject!r} does not judge those of the response; use 'faithfulness'"
        return None

    @property
    def fingerprint(self) -> str:
        """A text of everything that can change a score, equal where all of it is equal."""
        judged = [scorer.key(Sample()) for scorer in (self, *self.members)]
        parts = [
            self.subject,
            self.scoring,
            self.profiles,
            judged,
            self.settings["guarantee"],
        ]
        return f"tcva {parts!r}"

    def judged_by(self) -> Json:
        """Describe the criterion and the judges, additional ones included, as JSON values.

        The judges' parameters are those of now. With several judges, the names of each one's parts
        begin with its number.
        """
        parts = {**self._known}
        for number, judge in enumerate(self._judges, start=1):
            prefix = f"judge {number}: " if len(self._judges) > 1 else ""
            for part, value in spec_of(judge).items():
                parts[f"{prefix}{part}"] = value
        return parts

    @cached_property
    def _known(self) -> Json:
        """The parts of `judged_by` that never change."""
        scorers = (self, *self.members)
        groups = [group for scorer in scorers for group in composites_in(scorer.judge)]
        classes = filter(None, map(foreign_class, map(type, groups)))
        versions = dict.fromkeys(scorer.judge.prompt_version for scorer in scorers)
        fused = [f"{m.subject} by {m.judge_name}" for m in self.members]
        return {
            "criterion": self.subject,
            "texts of the criterion": self.criterion.fingerprint,
            "judge": bare(self.judge_name),
            "prompt_version": "+".join(versions),
            "fused": bare("+".join(fused)),
            "combine": "+".join(group.combine for group in groups) or None,
            "least": "+".join(str(group.least) for group in groups) or None,
            "class of the panel": "+".join(classes) or None,
            PROFILES: self.profiles and value_text(self.profiles),
            **split_of(self.criterion, self.judge),
            **({"streamed": True} if self.streamed else {}),
        }

    def result(self, assessment: Assessment, sample: Sample | None = None) -> Result:
        """Score an assessment under this object's settings, or those of the profile it falls under.

        An assessment that was read back keeps the description of its own judges.

        Args:
            assessment: The assessment.
            sample: The sample that was judged, from which the result can cut.

        Warns:
            GuaranteeWarning: The guarantee of the settings is lost, or cannot be checked.
        """
        judged_by = assessment.judged_by or self.judged_by()
        judged = assessment.model_copy(update={"judged_by": judged_by})
        scoring = self.scoring.for_profile(self.profiles, assessment.metadata)
        guarantee = self.settings["guarantee"]
        return Result(judged, scoring, guarantee, sample).warn_if_lost()

    def evaluate_conversation(
        self, conversation: Conversation | Iterable[object]
    ) -> ConversationResult:
        """Judge every turn of a conversation, and score the claims of all of them together.

        A turn takes as many calls as a sample, which is one for usual answers. Turns that were judged
        before (of a conversation that has grown, say) take none, as long as judgements are remembered
        or stored.

        Args:
            conversation: A `Conversation`, or the messages of one; see `Conversation.from_messages`.

        Raises:
            InvalidSampleError: No question in the messages has an answer, or something in them is no
                message. Every later failure gives an unscored result.

        >>> talk = [("user", "When?"), ("tool", "We open at nine."), ("assistant", "We open at nine.")]
        >>> TCVA(judge="lexical").evaluate_conversation(talk).score
        1.0
        """
        return self.evaluate_conversations(
            [as_conversation(conversation)], progress=False
        )[0]

    async def aevaluate_conversation(
        self, conversation: Conversation | Iterable[object]
    ) -> ConversationResult:
        """The same, awaited."""
        conversations = [as_conversation(conversation)]
        return (await self.aevaluate_conversations(conversations, progress=False))[0]

    def evaluate_conversations(
        self,
        conversations: Iterable[Conversation | Iterable[object]],
        *,
        progress: bool | None = None,
    ) -> list[ConversationResult]:
        """Judge many conversations, their turns at the same time; one result each, in order.

        Args:
            conversations: The conversations to judge.
            progress: As for `evaluate_many`; turns are counted.

        Raises:
            InvalidSampleError: As for `evaluate_conversation`, or a single conversation is given.
        """
        checked = as_conversations(conversations)
        turns = [turn for conversation in checked for turn in conversation.turns]
        results = self.quiet.evaluate_many(turns, progress=progress)
        return self._conversation_results(checked, results)

    async def aevaluate_conversations(
        self,
        conversations: Iterable[Conversation | Iterable[object]],
        *,
        progress: bool | None = None,
    ) -> list[ConversationResult]:
        """The same, awaited."""
        checked = as_conversations(conversations)
        turns = [turn for conversation in checked for turn in conversation.turns]
        results = await self.quiet.aevaluate_many(turns, progress=progress)
        return self._conversation_results(checked, results)

    def _conversation_results(
        self, conversations: Iterable[Conversation], results: Iterable[Result]
    ) -> list[ConversationResult]:
        left = iter(results)
        return [
            self.emit_result(
                self.of_turns(conversation, islice(left, len(conversation.turns)))
            )
            for conversation in conversations
        ]

    def of_turns(
        self, conversation: Conversation, results: Iterable[Result]
    ) -> ConversationResult:
        """Make the result of a conversation from the results of its turns."""
        scoring = self.scoring.for_profile(self.profiles, conversation.metadata)
        return ConversationResult(
            [*results], scoring, conversation.id, conversation.metadata
        ).warn_if_lost()

    def unscored(
        self, reason: Reason, detail: str, sample: Sample | None = None
    ) -> Result:
        """Make the result of a sample that cannot be judged; see `Scorer.unscored`."""
        why = Unscored(reason=reason, detail=detail)
        return self.result(
            unscored_assessment(why, self.judge, self.criterion, sample or Sample()),
            sample,
        )

    def key(self, sample: Sample) -> str:
        """The store key of a sample, made from everything that can change its verdicts, and nothing else."""
        key = verdict_key(sample, self.criterion, self.judge)
        return sha256_of(f"{key} streamed") if self.streamed else key

    def questions(self, sample: Sample) -> list[Question]:
        """One question for each judge: those of a panel or of repeats one by one, then additional ones.

        Warns once in a process where no judge was named.
        """
        sample = self._in_context(sample)
        if super().missing(sample):
            return []
        questions: list[Question] = []
        for scorer in (self, *self.members):
            if scorer is not self and scorer.missing(sample):
                continue
            if scorer._source is None:  # noqa: SLF001  # of this class
                resolve.warn_of_default_judge()
            parts = scorer._parts(sample)  # noqa: SLF001  # likewise
            questions += [
                VerdictQuestion(
                    judge,
                    scorer.criterion,
                    part,
                    identity=identity,
                    share=self.share,
                    store=self.store,
                )
                for judge, identity in scorer._asked  # noqa: SLF001  # likewise
                for part, _ in parts
            ]
        return questions

    def result_of(self, sample: Sample, answers: Sequence[Assessment]) -> Result:
        """Make the result from the main judge's assessment, with those of additional judges in it."""
        contexts = sample.contexts
        sample = self._in_context(sample)
        if not answers:
            return self.result(self._lacking(sample), sample)
        left = iter(answers)
        assessment = self._assessment(sample, left)
        if self.members:
            members = [
                member._lacking(sample)  # noqa: SLF001  # of this class
                if member.missing(sample)
                else member._assessment(sample, left)  # noqa: SLF001  # likewise
                for member in self.members
            ]
            assessment = assessment.model_copy(update={"members": tuple(members)})
        if assessment.verdicts and sample.contexts != contexts:
            assessment = assessment.model_copy(update={"earlier_contexts": True})
        return self.result(assessment, sample)

    def _parts(self, sample: Sample) -> list[tuple[Sample, slice]]:
        """What a judge is asked about: the sample, or each of its sentences; see `parts_of`."""
        if not self.streamed:
            return [(sample, slice(None))]
        return parts_of(sample, self.settings["max_claims"])

    def _assessment(self, sample: Sample, answers: Iterator[Assessment]) -> Assessment:
        """Make the assessment of a sample from the next answers, one for each judge and part."""
        own = [own for _, own in self._parts(sample)]
        whole = (joined([*islice(answers, len(own))], own) for _ in self._asked)
        return assessment_of(self.judge, answers if len(own) == 1 else whole)

    def _in_context(self, sample: Sample) -> Sample:
        """The sample as it is judged: if it lacks contexts, it may get those of earlier turns.

        It gets them under ``uncontexted="earlier"``. A text that claims nothing needs no contexts.
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
            # A setting for answers without contexts says that they are expected.
            contexts = () if is_silent or self.scoring.uncontexted else None
        is_same = contexts is sample.contexts
        changes = {"contexts": contexts, "context_ids": ()}
        return sample if is_same else sample.model_copy(update=changes)

    def missing(self, sample: Sample) -> tuple[str, ...]:
        """The required fields that a sample does not have."""
        return super().missing(self._in_context(sample))

    def _lacking(self, sample: Sample) -> Assessment:
        detail = lacks("the sample", self.missing(sample), self.subject)
        why = Unscored(reason=Reason.MISSING_FIELD, detail=detail)
        return unscored_assessment(why, self.judge, self.criterion, sample)


def _member(judge: object, criterion: Criterion, settings: TCVASettings) -> TCVA:
    """Make the TCVA of an additional judge, under the settings of the TCVA that it joins.

    Raises:
        InvalidValueError: It is a TCVA with additional judges of its own, or cannot judge.
    """
    if judge is None:
        raise InvalidValueError(
            f"fuse must not contain None; an additional judge is {resolve.KINDS}"
        )
    if isinstance(judge, TCVA):
        if judge.members:
            raise InvalidValueError(
                f"{judge!r} already has additional judges; list all judges in one fuse=[...]"
            )
        return judge
    if resolve.is_fixed(judge) or getattr(judge, "is_local", False):
        # Such a judge follows no setting, and always gives the same verdicts.
        return TCVA(criterion, judge=judge)
    if isinstance(judge, Judge):
        return TCVA(
            criterion,
            judge=judge,
            repeats=settings.repeats,
            streamed=settings.streamed,
        )
    return TCVA(
        criterion,
        judge=judge,
        claims=settings.claims,
        max_claims=settings.max_claims,
        verdicts=settings.verdicts,
        max_concurrency=settings.max_concurrency,
        repeats=settings.repeats,
        streamed=settings.streamed,
    )
