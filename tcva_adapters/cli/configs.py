"""The settings that commands take by ``--set`` next to those of judges and scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tcva_adapters.results.settings_base import (
    Count,
    NonNegative,
    Number,
    Positive,
    SettingsModel,
    by_name,
)

_Inner = Annotated[Number, Field(gt=0, lt=1)]
"""A share that is neither none nor all."""


class PanelConfig(SettingsModel):
    """Settings of how several judges of the same claims decide."""

    combine: Literal["median", "fused"] = Field(
        default="median",
        description="median: the median level counts; fused: the shares of the levels.",
    )


class DrawsConfig(SettingsModel):
    """Settings of the random draws for intervals and tests."""

    resamples: Count = Field(
        default=10_000, description="Resamples of an interval or a test."
    )
    seed: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Seed of the resamples."
    )


class AnalysisConfig(DrawsConfig):
    """Settings of the intervals and tests of an analysis."""

    level: _Inner = Field(default=0.95, description="Confidence level of intervals.")


class CalibrationConfig(AnalysisConfig):
    """Settings of a calibration, with fewer resamples because each takes longer."""

    resamples: Count = Field(default=2000, description="Resamples of an interval.")


class RatersConfig(DrawsConfig):
    """Settings of a comparison with several raters."""

    epsilon: _Inner = Field(
        default=0.2,
        description="What a method may lack to stand in for a rater (0.2 for experts).",
    )


class ValidationConfig(AnalysisConfig, RatersConfig):
    """Settings of a validation."""


class ComparisonConfig(RatersConfig):
    """Settings of a comparison of methods."""

    objective: Literal["spearman", "kendall", "pearson", "mae"] = Field(
        default="spearman",
        description="Measure of agreement with the ratings that methods are tested by.",
    )
    margin: _Inner | None = Field(
        default=None, description="Methods that differ by less count as equivalent."
    )
    human_threshold: Number | None = Field(
        default=None,
        description="Lowest rating that passes; by default the middle of the scale.",
    )
    confidence: _Inner | None = Field(
        default=None,
        description="Confidence of a limit on false passes; by default 0.95.",
    )
    pass_from: Annotated[
        Mapping[str, Number] | None, by_name("pass_from=ragas faithfulness=0.8")
    ] = Field(default=None, description="Scores from which samples pass, by method.")
    metric_timeout: Positive = Field(
        default=900.0,
        description="Seconds after which a framework metric stops on a sample.",
    )


class ImportConfig(SettingsModel):
    """Settings for reading imported scores."""

    missing: Number | None = Field(
        default=None, description="A number that stands for no score, e.g. -1."
    )
    scale: tuple[Number, Number] = Field(
        default=(0.0, 1.0), description="The lowest and the highest possible score."
    )


class PageConfig(SettingsModel):
    """Settings of a report's page."""

    max_details: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="Samples whose texts the page holds; by default 10 000, or 16 MB.",
    )


class CompositeConfig(SettingsModel):
    """Settings that combine several direct metrics into one score."""

    weights: Annotated[
        Mapping[str, NonNegative] | None, by_name("weights=cc=0.5,qr=0.5")
    ] = Field(
        default=None,
        description="By metric, summing to 1: their mean is the composite.",
    )

    @model_validator(mode="after")
    def _sum_to_1(self) -> Self:
        if self.weights is not None and abs(sum(self.weights.values()) - 1.0) > 1e-9:
            raise ValueError("they should sum to 1")
        return self
