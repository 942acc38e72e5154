"""A language model as judge: the turns of one judgement, and what is made of the replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.base import MAX_CLAIMS, blank_field, nothing_to_score
from tcva_adapters.judges.prompts import PROMPT_VERSION, claims_request
from tcva_adapters.judges.reply import parse_claims
from tcva_adapters.judges.turns import Calls, Turns, adrive, drive, why_unscored
from tcva_adapters.judges.written import written_verdicts
from tcva_adapters.judges.yes_no import yes_no_verdicts
from tcva_adapters.models.protocol import JudgeModel, identity_of_model
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason
from tcva_adapters.results.settings import ClaimsMode, Count, VerdictForm, check
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.sharing import Identity
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """A language model as judge: one call for all verdicts of a sample, or one for each.

    Attributes:
        model: What answers.
        claims: ``split`` takes sentences (deterministic, one call); ``llm`` asks the model for the
            claims first (the paper's protocol, two calls).
        max_claims: Samples with more claims are unscored (``too_long``), without a call.
        verdicts: ``written`` asks for all verdicts, with evidence and reasons, in one call for up
            to 24 claims; ``yes_no`` for yes or no, one call a claim, and reads how likely the model
            held yes by the probabilities of tokens.
        repeat: Which of several independent judgements it makes; added to the model's seed.
        repeat_temperature: The model's temperature for it; None leaves the model's own.

    Raises:
        InvalidValueError: An unknown ``claims`` mode or form of verdicts, or ``max_claims`` below 1.
    """

    model: JudgeModel
    claims: ClaimsMode = "split"
    max_claims: int = MAX_CLAIMS
    verdicts: VerdictForm = "written"
    repeat: int = 0
    repeat_temperature: float | None = None
    is_local = False

    def __post_init__(self) -> None:
        kinds = {"claims": ClaimsMode, "max_claims": Count, "verdicts": VerdictForm}
        for name, kind in kinds.items():
            check(kind, name, getattr(self, name))

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The model's parameters, and how claims are made."""
        # Further ones only where they differ from their default: equal judgements, equal keys.
        changed = {
            each.name: getattr(self, each.name)
            for each in fields(LLMJudge)
            if each.name != "model" and getattr(self, each.name) != each.default
        }
        own = {"claims": self.claims, "max_claims": self.max_claims, **changed}
        return {**self.model.parameters, **own}

    @property
    def prompt_version(self) -> str:
        """The version of the prompts, and the form of verdicts where it is not the usual one."""
        return PROMPT_VERSION if self.verdicts == "written" else f"{PROMPT_VERSION} {self.verdicts}"

    @property
    def identity(self) -> Identity:
        """That of the model: how claims are made is part of the key. A subclass is itself."""
        return identity_of_model(self.model) if type(self) is LLMJudge else Identity(self)

    def check(self, criterion: Criterion) -> None:
        """Any criterion will do."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample; a failed call or a bad reply becomes the reason of an unscored one."""
        return drive(self.turns(sample, criterion), self.model)

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited."""
        return await adrive(self.turns(sample, criterion), self.model)

    def turns(self, sample: Sample, criterion: Criterion) -> Turns[Assessment]:
        """A judgement without its calls, for who brings the replies; it raises nothing."""
        calls = Calls(seed_offset=self.repeat, temperature=self.repeat_temperature)
        claims: tuple[ClaimVerdict, ...] = ()
        try:
            unscored = blank_field(sample, criterion)
            if unscored is None:
                texts = yield from self._claim_texts(calls, sample, criterion)
                ask = written_verdicts if self.verdicts == "written" else yes_no_verdicts
                claims = yield from ask(calls, sample, criterion, texts)
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

    def _claim_texts(
        self, calls: Calls, sample: Sample, criterion: Criterion
    ) -> Turns[Sequence[str]]:
        text = sample.field(criterion.claims) or ""
        texts: Sequence[str] = criterion.statements or split_claims(text)
        if self.claims == "llm" and not criterion.statements:
            (reply,) = yield from calls.ask([claims_request(sample, criterion, self.max_claims)])
            shown = [sample.field(name) or "" for name in FIELDS]
            claims = None if reply.truncated else parse_claims(reply.text, shown)
            # A text that asserts something does not claim nothing.
            if claims is None or not (claims or all(map(non_claim_kind, texts))):
                detail = "the judge's list of claims could not be read, or was cut off or empty"
                raise JudgeError(detail, reason=Reason.UNREADABLE_REPLY)
            texts = [whole_characters(claim) for claim in claims]
        if len(texts) > self.max_claims:
            detail = f"{len(texts)} claims are more than max_claims={self.max_claims}"
            raise JudgeError(detail, reason=Reason.TOO_LONG)
        return texts
