"""The settings of metrics in DeepEval."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, InstanceOf

from tcva_adapters.results.settings_base import SettingsModel, Share


class MetricSettings(SettingsModel):
    """Settings of metrics in DeepEval, in addition to those of the scorer."""

    threshold: Share | None = Field(
        default=None,
        description="The lowest score that passes; with None, no pass or fail.",
    )
    name: Annotated[str, Field(pattern=r"\S")] | None = Field(
        default=None,
        description="The metric's name in reports; by default its criterion and settings.",
    )
    include_reason: bool = Field(
        default=True, description="Explain the score in reason; no call."
    )
    async_mode: bool = Field(
        default=True, description="Has no effect; DeepEval expects it."
    )
    strict_mode: bool = Field(
        default=False, description="Set the threshold to 1; a lower score counts as 0."
    )
    verbose_mode: bool = Field(default=False, description="Print each result.")
    flaky: bool = Field(
        default=False, description="Report the metric; it fails no test case."
    )
    # The list itself, not a copy of it, because copies of a metric share it.
    collected: InstanceOf[list[Any]] | None = Field(
        default=None, description="A list to add results to; by default a new one."
    )
