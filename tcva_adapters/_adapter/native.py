"""One run of a framework's own metric, unmodified, on a sample."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.samples.sample import Sample


class NativeRun(ABC):
    """A metric, a sample and an LLM; an adapter's public functions are its class methods.

    Args:
        name: The metric's name.
        sample: The sample.
        llm: An LLM of the framework.

    Attributes:
        title: Of the framework.
        metrics: How its metrics are built, by name.
        llm_classes: What an LLM of the framework is.

    Raises:
        InvalidValueError: The name is unknown, or ``llm`` is not an LLM of the framework.
    """

    title: ClassVar[str]
    metrics: ClassVar[Mapping[str, Callable[..., Any]]]
    llm_classes: ClassVar[type | tuple[type, ...]]

    def __init__(
        self,
        name: str,
        sample: Sample,
        llm: Any,
    ) -> None:
        if name not in self.metrics:
            msg = f"{self.title} metric must be one of {', '.join(self.metrics)}, got {name!r}"
            raise InvalidValueError(msg)
        if not isinstance(llm, self.llm_classes):
            msg = f"llm must be a {self.title} LLM, e.g. LexicalLLM(), got {llm!r:.80}"
            raise InvalidValueError(msg)
        self.name, self.sample, self.llm = name, sample, llm

    @classmethod
    def known(cls) -> dict[str, Callable[..., Any]]:
        """The framework's own metrics that can run on a `Sample`: name to constructor."""
        return dict(cls.metrics)

    @classmethod
    def scored(
        cls,
        name: str,
        sample: Sample,
        llm: Any,
        **options: Any,
    ) -> FrameworkScore:
        """Run one of the framework's own metrics on a sample; no event loop is needed.

        Args:
            name: One of `framework_metrics`.
            sample: The sample.
            llm: An LLM of the framework; `LexicalLLM` needs no network.
            **options: What else the metric needs: ``embeddings`` for RAGAS' answer_relevancy.

        Returns:
            The score on the metric's own scale, its verdicts, and the number of calls where it is
            known. If the metric fails, ``score`` is None and ``error`` says why.

        Raises:
            InvalidValueError: The name is unknown, or the metric does not take ``llm``.
        """
        run = cls(name, sample, llm, **options)
        try:
            return run._read(run._measure())  # of this class
        except Exception as error:  # noqa: BLE001  # whatever it raises is its outcome
            return run._failed(error)  # as above

    @classmethod
    async def ascored(
        cls,
        name: str,
        sample: Sample,
        llm: Any,
        **options: Any,
    ) -> FrameworkScore:
        """`score_framework_metric`, awaited.

        Raises:
            InvalidValueError: As for `score_framework_metric`.
        """
        run = cls(name, sample, llm, **options)
        try:
            return run._read(await run._ameasure())  # of this class
        except Exception as error:  # noqa: BLE001  # as above
            return run._failed(error)  # as above

    @abstractmethod
    def _measure(self) -> Any:
        """What the metric returns."""

    @abstractmethod
    async def _ameasure(self) -> Any:
        """The same, awaited."""

    @abstractmethod
    def _read(self, returned: Any) -> FrameworkScore:
        """The score and the verdicts in it."""

    def _calls(self) -> int | None:
        """Calls of the LLM so far; None if they are not counted."""
        return None

    def _scored(
        self, score: float, verdicts: Iterable[FrameworkVerdict] = ()
    ) -> FrameworkScore:
        if math.isnan(score):
            return self._failed("the metric returned nan", verdicts)
        return FrameworkScore(self.name, score, tuple(verdicts), self._calls())

    def _failed(
        self, why: Exception | str, verdicts: Iterable[FrameworkVerdict] = ()
    ) -> FrameworkScore:
        text = why if isinstance(why, str) else f"{type(why).__name__}: {why}"
        return FrameworkScore(self.name, None, tuple(verdicts), self._calls(), text)
