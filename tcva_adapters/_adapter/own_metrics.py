"""One run of a framework's own metric, unmodified, on a sample."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeAlias

from tcva_adapters._adapter.evaluator import require
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample

Metrics: TypeAlias = Mapping[str, Callable[..., Any]]
"""The constructors of a framework's metrics by name."""


class MetricRun(ABC):
    """A framework's metric that is about to judge a sample.

    Args:
        name: The metric's name.
        sample: The sample.
        llm: An LLM of the framework.

    Attributes:
        title: The framework's name.
        metrics: The constructors of its metrics by name.
        llm_classes: The classes of its LLMs.
        llm_kind: The name of these in messages.
        metric: The metric, built with the LLM.
        calls: Calls of the LLM so far; None if they are not counted.

    Raises:
        InvalidValueError: The name is unknown, or ``llm`` is not an LLM of the framework.
    """

    title: ClassVar[str]
    metrics: ClassVar[Metrics]
    llm_classes: ClassVar[type]
    llm_kind: ClassVar[str]

    def __init__(self, name: str, sample: Sample, llm: object) -> None:
        if name not in self.metrics:
            raise InvalidValueError(
                f"{self.title} metric must be one of {', '.join(self.metrics)}, got {name!r}"
            )
        require(
            isinstance(llm, self.llm_classes),
            "llm",
            llm,
            self.llm_kind,
        )
        self.name = name
        self.sample = sample
        self.metric = self._build(llm)

    @property
    def calls(self) -> int | None:
        return None

    async def score(self) -> FrameworkScore:
        """Run the metric; an exception becomes the error of the returned score."""
        try:
            return self._read(await self._measure())
        except Exception as error:  # noqa: BLE001  # see above
            return self._without_score(error)

    def _build(self, llm: Any) -> Any:
        """Build the metric with an LLM."""
        return self.metrics[self.name](llm=llm)

    @abstractmethod
    async def _measure(self) -> Any:
        """Run the metric, and return what it returns."""

    @abstractmethod
    def _read(self, returned: Any) -> FrameworkScore:
        """Read the score and the verdicts from what the metric returned."""

    def _with_score(
        self, score: float, verdicts: Iterable[FrameworkVerdict]
    ) -> FrameworkScore:
        number = float(score)
        is_score = math.isfinite(number)
        return FrameworkScore(
            metric=self.name,
            score=number if is_score else None,
            verdicts=tuple(verdicts),
            calls=self.calls,
            error="" if is_score else f"the metric returned {number:g}",
        )

    def _without_score(self, error: Exception | str) -> FrameworkScore:
        text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        return FrameworkScore(
            self.name,
            None,
            calls=self.calls,
            error=text,
        )
