"""A language model as judge: the calls of one judgement, and what is made of the replies."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final

from tcva_adapters.core.yes_no import POINTS, Shares
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.conversation import CannotScoreError, Conversation, why_unscored
from tcva_adapters.judging.forms import DRAWS, PromptForm, VerdictForm, check_form
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode, blank_field, nothing_to_score
from tcva_adapters.judging.labels import LabelQuestions
from tcva_adapters.judging.probe import settled_form
from tcva_adapters.judging.prompts import PROMPT_VERSION, claims_request
from tcva_adapters.judging.reply import parse_claims
from tcva_adapters.judging.written import written_verdicts
from tcva_adapters.models.proof import acomplete, complete
from tcva_adapters.models.protocol import JudgeModel, ModelReply, identity_of_model
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.models.steps import arun, run
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Reason
from tcva_adapters.results.settings import check_count
from tcva_adapters.samples.sample import Sample, whole_characters
from tcva_adapters.sharing import Identity
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims

_ALWAYS_TOLD: Final = ("claims", "max_claims")

Steps = Generator[JudgeRequest, ModelReply, Assessment]
"""A judgement without I/O: it yields what to ask and is sent what was answered."""


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A language model as judge: one call for all verdicts of a sample, or one for each.

    Attributes:
        model: What answers.
        claims: ``split`` takes sentences (deterministic, one call); ``llm`` asks the model for the
            claims first (the paper's protocol, two calls).
        max_claims: At most this many claims.
        verdicts: ``written`` asks for all in one call, ``labels`` for one of five letters a claim and
            ``yes_no`` for yes or no, one call a claim; ``auto`` is ``yes_no`` where the model gives
            probabilities of tokens, else ``written``.
        prompt: For written ones: ``full``, or ``compact`` for small models: shorter instructions, the
            same reply.
        samples: For ``labels`` and ``yes_no``: answers drawn a claim where it gives none.
        yes_no_points: For ``yes_no``: at which probabilities of a yes the levels stand; see
            `level_shares`.
        repeat: Which of several independent judgements it makes; added to the model's seed.
        repeat_temperature: The model's temperature for it; None leaves the model's own.

    Raises:
        InvalidValueError: An unknown ``claims`` mode, ``prompt`` or form of verdicts, ``max_claims``
            or ``samples`` below 1, or a setting that another one leaves without effect.
    """

    model: JudgeModel
    claims: ClaimsMode = "split"
    max_claims: int = MAX_CLAIMS
    verdicts: VerdictForm = "written"
    prompt: PromptForm = "full"
    samples: int = DRAWS
    yes_no_points: Shares = POINTS
    repeat: int = 0
    repeat_temperature: float | None = None
    is_local = False

    def __post_init__(self) -> None:
        points = check_form(self.verdicts, self.prompt, self.samples, self.yes_no_points)
        object.__setattr__(self, "yes_no_points", points)  # a list of them is the same judgement
        check_count("max_claims", self.max_claims)
        if self.claims not in ("split", "llm"):
            msg = f"claims={self.claims!r}; it is 'split' (sentences) or 'llm' (asked of the judge)"
            raise InvalidValueError(msg)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The model's parameters, and how claims are made."""
        own = {
            each.name: getattr(self, each.name)
            for each in fields(ModelJudge)
            # Further ones only where they differ from their default: equal judgements, equal keys.
            if each.name in _ALWAYS_TOLD or getattr(self, each.name) != each.default
        }
        del own["model"]
        return {**self.model.parameters, **own}

    @property
    def prompt_version(self) -> str:
        """The version of the prompts, and their forms where these are not the usual ones."""
        forms = [name for name in (self.prompt, self.verdicts) if name not in ("full", "written")]
        return " ".join([PROMPT_VERSION, *forms])

    @property
    def identity(self) -> Identity:
        """That of the model: how claims are made is part of the key. A subclass is itself."""
        return identity_of_model(self.model) if type(self) is ModelJudge else Identity(self)

    def check(self, criterion: Criterion) -> None:
        """Any criterion will do."""

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample; a failed call or a bad reply becomes the reason of an unscored one."""
        return run(self.steps(sample, criterion), partial(complete, self.model))

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited."""
        return await arun(self.steps(sample, criterion), partial(acomplete, self.model))

    def steps(self, sample: Sample, criterion: Criterion) -> Steps:
        """A judgement without its calls, for who brings the replies; it raises nothing."""
        talk = Conversation(seed_offset=self.repeat, temperature=self.repeat_temperature)
        claims: tuple[ClaimVerdict, ...] = ()
        form = ""
        try:
            unscored = blank_field(sample, criterion)
            if unscored is None:
                texts = yield from self._claim_texts(talk, sample, criterion)
                how = yield from settled_form(talk, self.model, self.verdicts, self.samples)
                form = str(how) or ("written" if self.prompt == "full" else self.prompt)
                if how.asked is None:
                    asking = written_verdicts(talk, sample, criterion, texts, self.prompt)
                else:
                    fixed = (how.asked, how.draws, self.yes_no_points)
                    asking = LabelQuestions(talk, sample, criterion, *fixed).verdicts(texts)
                claims = yield from asking
                unscored = nothing_to_score(claims)
        except Exception as error:  # noqa: BLE001  # nothing that a reply holds ends a batch
            unscored = why_unscored(error, talk.replies)
        return Assessment(
            criterion=criterion.name,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=claims,
            unscored=unscored,
            usage=talk.usage,
            sample_id=sample.id,
            metadata=sample.metadata,
            form=form,
        )

    def _claim_texts(
        self, talk: Conversation, sample: Sample, criterion: Criterion
    ) -> Generator[JudgeRequest, ModelReply, Sequence[str]]:
        if criterion.statements:
            return criterion.statements
        text = sample.field(criterion.claims) or ""
        if self.claims == "split":
            return split_claims(text)
        reply = yield from talk.ask(claims_request(sample, criterion, self.max_claims))
        claims = None if reply.truncated else parse_claims(reply.text)
        if claims == [] and any(non_claim_kind(s) is None for s in split_claims(text)):
            claims = None  # a text that asserts something does not claim nothing
        if claims is None:
            detail = "the judge's list of claims could not be read, or was cut off or empty"
            raise CannotScoreError(Reason.UNREADABLE_REPLY, detail, talk.replies)
        return [whole_characters(claim) for claim in claims]
