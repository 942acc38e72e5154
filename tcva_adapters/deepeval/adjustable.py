"""Metrics whose settings may be changed after they were built, and are then followed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self

from deepeval.metrics import BaseMetric


class AdjustableMetric(BaseMetric):  # type: ignore[no-untyped-call]  # as __init_subclass__ is
    """Every setting is an attribute; a new value is checked as one given when the metric was built.

    Attributes:
        setting_names: Everything that the metric is built with, by the names of its parameters.
        collected: The list that results are added to; all of DeepEval's copies share it.
        name: What reports call the metric.
    """

    setting_names: ClassVar[frozenset[str]]

    # Any: DeepEval declares them narrower than it uses them.
    model: Any
    score_breakdown: Any
    _required_params: Any
    collected: list[Any]
    name: str

    @classmethod
    @abstractmethod
    def attributes_for(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes of a metric with these settings; refuses settings that cannot be used."""

    @classmethod
    @abstractmethod
    def name_for(cls, given: Mapping[str, Any]) -> str:
        """What a metric with these settings is called where it was given no name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "error" and value is None:
            # All that DeepEval does where another test case begins. If its time limit ends that
            # one before it is measured here, it would report the one before a second time.
            forget(self)
        if name not in self.setting_names:
            super().__setattr__(name, value)
            return
        given = {setting: getattr(self, setting) for setting in self.setting_names}
        if self.name == self.name_for(given):
            given["name"] = None  # it tells the settings, so it changes with them
        # All at once: where the value is refused, nothing has changed.
        vars(self).update(self.attributes_for({**given, name: value}))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Clients and stores cannot be copied, and nothing else is ever changed in place.
        copied = copy(self)
        copied.collected = [*self.collected]
        return copied

    @property
    def __name__(self) -> str:
        """What reports call the metric."""
        return self.name


def forget(metric: AdjustableMetric) -> None:
    """Drop what is left from the test case before."""
    metric.score = metric.reason = metric.success = metric.verbose_logs = None
    metric.score_breakdown = metric.evaluation_cost = None
    metric.input_tokens = metric.output_tokens = None
