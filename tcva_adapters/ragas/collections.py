"""TCVA, and any other scorer, as metrics of RAGAS' newer family."""

from __future__ import annotations

from typing import Any

from ragas.metrics.collections.base import BaseMetric

from tcva_adapters._adapter.results import with_views
from tcva_adapters.criteria import Criterion
from tcva_adapters.evaluator import Scorer
from tcva_adapters.ragas.base import ScorerBase, llm_of
from tcva_adapters.ragas.results import ScorerMetricResult
from tcva_adapters.ragas.samples import sample_of, samples_of
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_base import shows_settings
from tcva_adapters.runner.questions import R
from tcva_adapters.samples.json_values import Json
from tcva_adapters.tcva import TCVA


class ScorerCollectionMetric(ScorerBase[R], BaseMetric):  # type: ignore[misc]  # RAGAS' own bases disagree
    """Scores with any scorer in RAGAS' newer family: ``score``, ``ascore``, batches, ``@experiment``.

    If the judge fails, the value is NaN and the reason says why. An exception would lose other
    rows of a batch, and the row of an experiment.

    The metric is frozen: `changed` returns a copy, and results have ``at(...)``.

    Args:
        scorer: A `TCVA` or a `CCRS`.
        name: By default the scorer's name.

    Raises:
        InvalidValueError: ``scorer`` is not a scorer, or cannot be used here.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerCollectionMetric(CCRS("qr", judge="lexical"))
    >>> metric.score(user_input="Where is the car?", response="The car is at home.").value
    1.0
    """

    def __init__(self, scorer: Scorer[R], *, name: str | None = None) -> None:
        BaseMetric.__init__(self)
        self._build(scorer, llm_of(scorer), name)

    def score(  # type: ignore[override]  # RAGAS' own metrics name their arguments too
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> ScorerMetricResult[R]:
        """Score one sample. It needs no event loop and also works inside a running one.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing, or has a type that
                cannot be read (a ValueError).
        """
        return ScorerMetricResult(
            self.scorer.evaluate(
                sample_of(
                    self.scorer, user_input, response, retrieved_contexts, reference
                )
            )
        )

    async def ascore(  # type: ignore[override]  # as above
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
        result = await self.scorer.aevaluate(
            sample_of(self.scorer, user_input, response, retrieved_contexts, reference)
        )
        return ScorerMetricResult(await with_views(result))

    def batch_score(  # type: ignore[override]  # a list of a subclass is another type
        self, inputs: list[Json]
    ) -> list[ScorerMetricResult[R]]:
        """Score many inputs: one result each, in order, whatever fails. Equal inputs are judged once.

        If an input lacks a field, its value is NaN and its reason says so.

        Raises:
            InvalidSampleError: An input is not a dict, or a field of it has a type that cannot be
                read; raised before any call.
        """
        return list(
            map(
                ScorerMetricResult,
                self.scorer.evaluate_many(samples_of(inputs), progress=False),
            )
        )

    async def abatch_score(  # type: ignore[override]  # as above
        self, inputs: list[Json]
    ) -> list[ScorerMetricResult[R]]:
        """The same, awaited.

        Raises:
            InvalidSampleError: See `batch_score`.
        """
        results = await self.scorer.aevaluate_many(samples_of(inputs), progress=False)
        return [ScorerMetricResult(await with_views(result)) for result in results]


class TCVACollectionMetric(ScorerCollectionMetric[Result], FromConfig):  # type: ignore[misc]  # as above
    """Judges claims on five levels in RAGAS' newer family, as `ScorerCollectionMetric` does.

    Args:
        llm: The judge, as for `TCVAMetric`.
        name: As for `TCVAMetric`.
        criterion: As for `TCVAMetric`.
        **settings: As for `TCVAMetric`.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or ``llm`` cannot judge.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVACollectionMetric("lexical")
    >>> score = metric.score(response="It opens at nine.", retrieved_contexts=["It opens at nine."])
    >>> score.value, score.claims[0].verdict.value
    (1.0, 'fully')
    """

    scorer: TCVA

    @shows_settings(TCVASettings, without=("profiles",))
    def __init__(
        self,
        llm: object,
        name: str | None = None,
        *,
        criterion: Criterion | str = "faithfulness",
        **settings: Any,
    ) -> None:
        BaseMetric.__init__(self)
        self._build_tcva(criterion, llm, name, settings)
