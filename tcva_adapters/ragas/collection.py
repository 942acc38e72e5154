"""ScorerCollectionMetric and TCVACollectionMetric: RAGAS' newer family of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ragas.metrics.collections.base import BaseMetric

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import R, Scorer
from tcva_adapters.ragas.evaluator import OWN, OfScorer
from tcva_adapters.ragas.results import ScorerMetricResult
from tcva_adapters.ragas.samples import Row, checked_rows, sample_of
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings, shows_settings
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA


class ScorerCollectionMetric(OfScorer[R], BaseMetric):  # type: ignore[misc]  # RAGAS' own bases disagree
    """Scores with any scorer in RAGAS' newer family: ``score``, ``ascore``, batches, ``@experiment``.

    A judge that fails gives a result whose value is NaN and whose reason says why: in a batch or
    an experiment an exception would lose other rows, or its own without a trace.

    Settings do not change once it is built; `changed` gives a copy, and results have ``at(...)``.

    Args:
        scorer: What scores: a `TCVA`, a `CCRS`.
        llm: Takes the place of the scorer's judge, as for `ScorerMetric`.
        name: By default the scorer's name.

    Raises:
        InvalidValueError: ``scorer`` is no scorer, or cannot be used with such an LLM or here.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerCollectionMetric(CCRS("qr", judge="lexical"))
    >>> metric.score(user_input="Where is the car?", response="The car is at home.").value
    1.0
    """

    def __init__(self, scorer: Scorer[R], llm: Any = OWN, *, name: str | None = None) -> None:
        super().__init__(name="")
        self._begin(scorer, llm, name)

    def score(  # type: ignore[override]  # RAGAS' own metrics name their arguments too
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> ScorerMetricResult[R]:
        """Score one sample without an event loop: it also works where one is running.

        Raises:
            InvalidSampleError: A field that the scorer needs is missing, or one has a type that
                cannot be read (a ValueError).
        """
        row = Row(user_input, response, retrieved_contexts, reference)._asdict()
        return ScorerMetricResult(self.scorer.evaluate(sample_of(row)), row)

    async def ascore(  # type: ignore[override]  # likewise
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> ScorerMetricResult[R]:
        """The same, awaited.

        Raises:
            InvalidSampleError: See `score`.
        """
        row = Row(user_input, response, retrieved_contexts, reference)._asdict()
        return ScorerMetricResult(await self.scorer.aevaluate(sample_of(row)), row)

    def batch_score(  # type: ignore[override]  # a list of a subclass is another type
        self, inputs: list[dict[str, Any]]
    ) -> list[ScorerMetricResult[R]]:
        """Score many; one result per input, in order, whatever fails. Equal ones are judged once.

        An input with a field that is missing or cannot be read has a NaN with the reason.

        Raises:
            InvalidSampleError: An input is no dict, or has a field that no metric knows; raised
                before any call.
        """
        rows, read = self._read(inputs)
        samples = [each for each in read if isinstance(each, Sample)]
        return _in_order(rows, read, self.scorer.evaluate_many(samples, progress=False))

    async def abatch_score(  # type: ignore[override]  # likewise
        self, inputs: list[dict[str, Any]]
    ) -> list[ScorerMetricResult[R]]:
        """The same, awaited.

        Raises:
            InvalidSampleError: See `batch_score`.
        """
        rows, read = self._read(inputs)
        samples = [each for each in read if isinstance(each, Sample)]
        return _in_order(rows, read, await self.scorer.aevaluate_many(samples, progress=False))

    def _read(self, inputs: Iterable[Any]) -> tuple[list[dict[str, Any]], list[Sample | R]]:
        """The rows of a batch, and each as a sample or as the result of what cannot be read."""
        rows = checked_rows(inputs)
        read: list[Sample | R] = []
        for row in rows:
            try:
                read.append(sample_of(row))
            except InvalidSampleError as error:
                read.append(self.scorer.unscored(Reason.INVALID_INPUT, str(error)))
        return rows, read


def _in_order(
    rows: Sequence[dict[str, Any]], read: Sequence[Sample | R], scored: Iterable[R]
) -> list[ScorerMetricResult[R]]:
    """A result per row: that of its sample, or of columns that could not be read."""
    left = iter(scored)
    results = (next(left) if isinstance(each, Sample) else each for each in read)
    return [ScorerMetricResult(result, row) for result, row in zip(results, rows, strict=True)]


class TCVACollectionMetric(FromConfig, ScorerCollectionMetric[Result]):  # type: ignore[misc]  # as above
    """Judges claims on five levels in RAGAS' newer family, as `ScorerCollectionMetric` does.

    Args:
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object.
        name: As for `TCVAMetric`.
        criterion: As there.
        **settings: As there.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or ``llm`` cannot judge.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVACollectionMetric("lexical")
    >>> score = metric.score(response="It opens at nine.", retrieved_contexts=["It opens at nine."])
    >>> score.value, score.claims[0].verdict.value
    (1.0, 'fully')
    """

    sees_metadata: ClassVar[bool] = False
    scorer: TCVA

    @shows_settings(TCVASettings, without=("profiles",))
    def __init__(
        self,
        llm: Any,
        name: str | None = None,
        *,
        criterion: Criterion | str = "faithfulness",
        **settings: Any,
    ) -> None:
        super().__init__(self._tcva(criterion, llm, name, settings), llm, name=name)
