"""A language model as judge: the requests about a sample, and the assessment of the replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges import prompts
from tcva_adapters.judges.base import (
    MAX_CLAIMS,
    Judge,
    blank_field,
    nothing_to_score,
    why_unscored,
)
from tcva_adapters.judges.non_claims import (
    confirm_non_claims,
    listed_non_claims,
    marked_by_judge,
)
from tcva_adapters.judges.reply import parse_claims
from tcva_adapters.judges.rounds import (
    FORGETFUL,
    Calls,
    Rounds,
    SentenceMemory,
    adrive,
    drive,
)
from tcva_adapters.judges.written import written_verdicts
from tcva_adapters.judges.yes_no import yes_no_verdicts
from tcva_adapters.models.judge_model import Identity, JudgeModel, Sampling, identity_of
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.settings import ClaimsMode, VerdictForm
from tcva_adapters.results.settings_base import Count, check
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.text.sentences import split_claims

_USUAL = {"verdicts": "written", "repeat": 0, "repeat_temperature": None}
"""Defaults of settings that are parameters only where they are changed, so that equal judgements
have equal keys."""


@dataclass(frozen=True, slots=True)
class LLMJudge(Judge):
    """A language model as judge: one call for up to 24 verdicts of a sample, or one call for each.

    Attributes:
        model: The model that answers.
        claims: ``split`` takes sentences (deterministic, one call); ``llm`` asks the model for the
            claims first (the paper's protocol, two calls).
        max_claims: Samples with more claims are unscored (``too_long``), without a call.
        verdicts: ``written`` asks for all verdicts, with evidence and reasons, in one call for up
            to 24 claims; ``yes_no`` asks for yes or no, in one call per claim, and reads the
            probability of yes from the probabilities of tokens.
        repeat: The number of this judgement among independent ones, from 0; added to the model's
            seed.
        repeat_temperature: The model's temperature in this repeat; None keeps the model's own.

    Raises:
        InvalidValueError: An unknown ``claims`` mode or form of verdicts, or ``max_claims`` below 1.
    """

    model: JudgeModel
    claims: ClaimsMode = "split"
    max_claims: int = MAX_CLAIMS
    verdicts: VerdictForm = "written"
    repeat: int = 0
    repeat_temperature: float | None = None

    def __post_init__(self) -> None:
        check(ClaimsMode, "claims", self.claims)
        check(Count, "max_claims", self.max_claims)
        check(VerdictForm, "verdicts", self.verdicts)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def prompt_version(self) -> str:
        """The version of the prompts, with the forms of verdicts and claims that are not the default."""
        return " ".join(
            [
                prompts.PROMPT_VERSION,
                *sorted({self.verdicts, self.claims} - {"written", "split"}),
            ]
        )

    @property
    def parameters(self) -> Mapping[str, object]:
        """The model's current parameters, and the settings of this judge."""
        parameters: dict[str, object] = {
            **self.model.parameters,
            "claims": self.claims,
            "max_claims": self.max_claims,
        }
        for name, usual in _USUAL.items():
            value = getattr(self, name)
            if value != usual:
                parameters[name] = value
        return parameters

    @property
    def identity(self) -> Identity:
        """The identity of the model, as the settings are part of the key; a subclass has its own."""
        return identity_of(self.model) if type(self) is LLMJudge else Identity(self)

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Call the model to judge one sample; after a failed call or a bad reply it is unscored."""
        return drive(self.rounds(sample, criterion), self.model)

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited."""
        return await adrive(self.rounds(sample, criterion), self.model)

    def rounds(
        self,
        sample: Sample,
        criterion: Criterion,
        memory: SentenceMemory = FORGETFUL,
    ) -> Rounds[Assessment]:
        """Judge a sample as a generator of requests, for callers that make the calls themselves.

        Nothing is raised: an error becomes the reason of an unscored assessment.

        Args:
            sample: The sample that is judged.
            criterion: The criterion that it is judged by.
            memory: The marks that the judge gave sentences before; by default it has none, and each
                marked sentence is asked about.
        """
        calls = Calls(
            Sampling(seed_offset=self.repeat, temperature=self.repeat_temperature),
            memory,
        )
        claims: tuple[ClaimVerdict, ...] = ()
        try:
            sentences = criterion.statements or split_claims(
                sample.field(criterion.claims) or ""
            )
            unscored = blank_field(sample, criterion, sentences)
            if unscored is None:
                claims = yield from self._claims(calls, sample, criterion, sentences)
                unscored = nothing_to_score(claims)
        except Exception as error:  # noqa: BLE001  # nothing that a reply holds ends a batch
            unscored = why_unscored(error, calls.replies)
        return Assessment(
            criterion=criterion.name,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=claims,
            unscored=unscored,
            usage=calls.usage,
            sample_id=sample.id,
            metadata=sample.metadata,
            form=self.verdicts,
        )

    def _claims(
        self,
        calls: Calls,
        sample: Sample,
        criterion: Criterion,
        sentences: Sequence[str],
    ) -> Rounds[tuple[ClaimVerdict, ...]]:
        """Ask for verdicts on the claims of a text, and add its sentences that claim nothing.

        Sentences that claim nothing by the lists of phrases are not asked about.

        Raises:
            JudgeError: There are too many claims, a call failed, or a reply cannot be used.
        """
        texts = sentences
        non_claims = {} if criterion.statements else listed_non_claims(texts)
        is_split = criterion.statements or non_claims.keys() >= {*texts}
        if self.claims == "llm" and not is_split:
            model_claims = yield from self._claims_by_model(calls, sample, criterion)
            if model_claims:
                texts = model_claims
                non_claims = listed_non_claims(model_claims)
            else:  # the judge found no claim: it has marked every sentence
                unknown = [text for text in texts if text not in non_claims]
                for text in (yield from confirm_non_claims(calls, unknown)):
                    non_claims[text] = marked_by_judge(text, prompts.NOT_A_CLAIM)

        if len(texts) > self.max_claims:
            raise JudgeError(
                f"{len(texts)} claims, more than max_claims={self.max_claims}",
                reason=Reason.TOO_LONG,
            )
        ask = written_verdicts if self.verdicts == "written" else yes_no_verdicts
        asked = [text for text in texts if text not in non_claims]
        verdicts = iter((yield from ask(calls, sample, criterion, asked)))
        return tuple(non_claims.get(text) or next(verdicts) for text in texts)

    def _claims_by_model(
        self,
        calls: Calls,
        sample: Sample,
        criterion: Criterion,
    ) -> Rounds[list[str]]:
        """Ask the model for the claims of a text.

        Raises:
            JudgeError: The call failed, or its reply holds no complete list of claims.
        """
        (reply,) = yield from calls.ask(
            [prompts.claims_request(sample, criterion, self.max_claims)]
        )
        shown = [sample.field(name) or "" for name in FIELDS]
        claims = None if reply.truncated else parse_claims(reply.text, shown)
        if claims is None:
            raise JudgeError(
                "the judge's list of claims is unreadable or cut off",
                reason=Reason.UNREADABLE_REPLY,
            )
        return [whole_characters(claim) for claim in claims]
