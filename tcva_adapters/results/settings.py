"""The models of settings: name, default, check and meaning of each setting, written once.

Constructors, configuration files, default names and the options of commands read these models.
``title`` is a setting's name in default names, and ``repr=False`` leaves it out of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
)

from tcva_adapters.results.guarantee import AnyGuarantee
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.settings_base import (
    Count,
    NonNegative,
    Number,
    Positive,
    Profiles,
    SettingsModel,
    as_events,
    as_items,
    as_profiles,
)
from tcva_adapters.results.store import VerdictStore

ClaimsMode = Literal["split", "llm"]
VerdictForm = Literal["written", "yes_no"]


class RunConfig(SettingsModel):
    """How any judge is asked."""

    store: VerdictStore | str | Path | None = Field(
        default=None,
        repr=False,
        description="A path or a VerdictStore. Verdicts that are in it cost no call.",
    )
    share: bool = Field(
        default=True,
        repr=False,
        description="Share judgements with other evaluators in this process that use the same "
        "judge.",
    )
    max_concurrency: Count = Field(
        default=8,
        repr=False,
        description="How many judgements run at the same time.",
    )
    events: Annotated[Literal[False, True, "texts"], AfterValidator(as_events)] = Field(
        default=False,
        repr=False,
        description="Emit results as OpenTelemetry events; texts: with the claims they quote.",
    )


class JudgeConfig(RunConfig):
    """How claims are made and judged."""

    claims: ClaimsMode = Field(
        default="split",
        description="How claims are found: split (sentences, one call) or llm (the judge lists "
        "them, two calls).",
    )
    max_claims: Count = Field(
        default=240,
        description="A sample with more claims is unscored, without a call.",
    )
    verdicts: VerdictForm = Field(
        default="written",
        description="How the judge answers: written (level, evidence and reason of all claims in "
        "one call) or yes_no (the probability of yes for each claim, from token probabilities).",
    )
    repeats: Count = Field(
        default=1,
        description="How often a model judges each sample independently; the spread is reported.",
    )
    streamed: bool = Field(
        default=False,
        description="Ask a model about each sentence in a request of its own, as a stream of the "
        "answer does.",
    )
    fuse: Annotated[tuple[object, ...], BeforeValidator(as_items)] = Field(
        default=(),
        description="One or more additional judges, whose scores are fused with the main judge's. "
        "lexical costs no call; a TCVA judges by its own criterion.",
    )


class TCVASettings(JudgeConfig, ScoringConfig):
    """All settings of `TCVA`, and of every drop-in."""

    profiles: Annotated[Profiles | None, BeforeValidator(as_profiles)] = Field(
        default=None,
        description="Other temperatures for samples with certain metadata: {field: {value: T}}.",
    )
    guarantee: AnyGuarantee | None = Field(
        default=None,
        repr=False,
        description="What was certified of the settings; from_config takes it from the file.",
    )


class ModelConfig(SettingsModel):
    """How a model behind the OpenAI API is asked."""

    base_url: str | None = Field(
        default=None,
        description="Address of the server; by default OPENAI_BASE_URL or OpenAI.",
    )
    api_key: str | None = Field(
        default=None,
        repr=False,
        description="API key; by default OPENAI_API_KEY. A server on plain http needs none.",
    )
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = Field(
        default=0.0,
        description="Sampling temperature, 0 to 2; None uses the server's default.",
    )
    seed: int | None = Field(
        default=0, description="Seed of sampling; None sends none."
    )
    max_tokens: Count = Field(default=4096, description="Longest reply, in tokens.")
    timeout: Positive = Field(
        default=300.0,
        description="Seconds for one call of the judge, retries and pauses included.",
    )
    max_retries: Annotated[int, Field(ge=0)] = Field(
        default=5,
        description="How often a failed request is repeated within the timeout.",
    )
    max_concurrency: Count = Field(
        default=8,
        description="Calls at the same time, over all threads and event loops.",
    )
    requests_per_minute: Positive | None = Field(
        default=None, description="Calls per minute at most, spaced evenly."
    )
    prices: tuple[NonNegative, NonNegative] | None = Field(
        default=None,
        strict=False,
        description="Prices of a million input tokens and a million output tokens, for costs.",
    )
