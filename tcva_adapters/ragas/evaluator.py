"""TCVA, and any other scorer, as metrics of RAGAS' `evaluate` and `aevaluate`."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.runnables.config import var_child_runnable_config
from ragas.callbacks import ChainType, new_group
from ragas.dataset_schema import BaseSample, SingleTurnSample
from ragas.metrics.base import (
    MetricOutputType,
    MetricType,
    MetricWithLLM,
    SingleTurnMetric,
)
from ragas.run_config import RunConfig

from tcva_adapters._adapter.results import views_of, with_views
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidSampleError, SharedNameWarning
from tcva_adapters.evaluator import Scorer
from tcva_adapters.ragas.base import ScorerBase, llm_of
from tcva_adapters.ragas.results import JUDGEMENT, score_of
from tcva_adapters.ragas.samples import COLUMNS, as_sample
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_base import shows_settings
from tcva_adapters.runner.questions import R
from tcva_adapters.tcva import TCVA


class EvaluateMetric(ScorerBase[R], MetricWithLLM):
    """The base of the metrics for `evaluate` and `aevaluate`."""

    settable = ("name", "llm")
    output_type = MetricOutputType.CONTINUOUS

    def init(self, run_config: RunConfig) -> None:
        """Begin an evaluation; RAGAS calls it with one object for all of its metrics.

        Warns:
            SharedNameWarning: Another one of these metrics has the name of this one.
        """
        super().init(run_config)
        # Scoring clears them, as one object may take part in several evaluations.
        names = vars(self)["_names"] = vars(run_config).setdefault("_tcva_names", {})
        if names.setdefault(self.name, self) is not self:
            msg = (
                f"two metrics of this evaluation are called {self.name!r}, and RAGAS keeps the "
                "scores of one alone; give each a name of its own with name=..."
            )
            warnings.warn(msg, SharedNameWarning, stacklevel=2)

    def _judging(self) -> Any:
        """The scorer; a subclass judges conversations."""
        return self.scorer

    def _read(self, row: Any) -> Any:
        """Read what is judged from RAGAS' sample."""
        return as_sample(self.scorer, row)

    def _score(self, row: BaseSample, callbacks: Callbacks) -> float:
        judging = self._judging()
        with record_judgement(judging, row, callbacks) as results:
            results.append(judging.evaluate(self._read(row)))
        return score_of(results[0])

    async def _ascore(self, row: BaseSample, callbacks: Callbacks) -> float:
        vars(self).pop("_names", {}).clear()
        judging = self._judging()
        with record_judgement(judging, row, callbacks) as results:
            result = await judging.aevaluate(self._read(row))
            results.append(result)
            await with_views(result)
        return score_of(results[0])


class ScorerMetric(EvaluateMetric[R], SingleTurnMetric):
    """Scores samples in ``evaluate`` and ``aevaluate`` with any scorer: `TCVA`, `CCRS`.

    Only ``name`` and ``llm`` can be set later; with ``llm = None`` the metric takes that of
    ``evaluate(llm=...)``. For other settings, `changed` returns a copy.

    Args:
        scorer: A `TCVA` or a `CCRS`.
        name: The column in the result; by default the scorer's name.

    Raises:
        InvalidValueError: ``scorer`` is not a scorer, or cannot be used here.

    >>> from tcva_adapters import CCRS
    >>> metric = ScorerMetric(CCRS("qr", judge="lexical", threshold=0.6))
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('ccrs_qr(threshold=0.6)', ['response', 'user_input'])
    """

    def __init__(self, scorer: Scorer[R], *, name: str | None = None) -> None:
        self._build(scorer, llm_of(scorer), name)

    def _use(self, scorer: Scorer[R], llm: object) -> None:
        super()._use(scorer, llm)
        required = {COLUMNS[name] for name in scorer.required}
        optional = {f"{COLUMNS[name]}:optional" for name in scorer.shown}
        self._required_columns = {MetricType.SINGLE_TURN: required | optional}

    def single_turn_score(
        self, sample: SingleTurnSample, callbacks: Callbacks = None
    ) -> float:
        """Score one sample. It needs no event loop and also works inside a running one.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError).
            JudgeError: The judge failed.
        """
        return self._score(
            self._only_required_columns_single_turn(sample), callbacks or []
        )

    async def _single_turn_ascore(
        self, sample: SingleTurnSample, callbacks: Callbacks
    ) -> float:
        return await self._ascore(sample, callbacks)


@contextmanager
def record_judgement(
    scorer: Any, sample: BaseSample, callbacks: Callbacks
) -> Iterator[list[Any]]:
    """Record a judgement as a run in RAGAS' traces; the result goes into the list that it yields.

    Calls of LangChain's LLMs report traces, token counts and costs to this run. A sample that lacks a
    field, or whose judgement RAGAS ends, gets its unscored result here.
    """
    run, group = new_group(
        JUDGEMENT,
        {"data": sample},
        callbacks,
        metadata={"type": ChainType.RAGAS_PROMPT},
    )
    around = var_child_runnable_config.get() or {}
    within = var_child_runnable_config.set({**around, "callbacks": group})
    results: list[Any] = []
    try:
        yield results
    except InvalidSampleError as error:
        results.append(
            scorer.emit_result(scorer.unscored(Reason.MISSING_FIELD, str(error)))
        )
        raise
    except asyncio.CancelledError:
        detail = "RAGAS ended the measurement after run_config.timeout"
        results.append(scorer.emit_result(scorer.unscored(Reason.TIMEOUT, detail)))
        raise
    finally:
        var_child_runnable_config.reset(within)
        if run.handlers:
            run.on_chain_end(
                {
                    "output": [
                        result.to_dict() | views_of(result) for result in results
                    ]
                    or {}
                }
            )


class TCVAArguments(ScorerBase[R], FromConfig):
    """Builds a metric's `TCVA` from its arguments."""

    scorer: TCVA  # type: ignore[assignment]  # its results are of conversations, too

    @shows_settings(TCVASettings, without=("profiles",))
    def __init__(
        self,
        *,
        name: str | None = None,
        llm: object = None,
        criterion: Criterion | str = "faithfulness",
        **settings: Any,
    ) -> None:
        self._build_tcva(criterion, llm, name, settings)


class TCVAMetric(TCVAArguments[Result], ScorerMetric[Result]):
    """Judges claims on five levels and scores them at a temperature, in ``evaluate`` and ``aevaluate``.

    A `ScorerMetric` that builds its `TCVA` from its arguments.

    Args:
        name: The column in the result; by default ``tcva_``, the criterion's name, and in brackets
            every setting that differs from its default: ``tcva_faithfulness(T=0.2)``.
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object; by default the LLM of ``evaluate(llm=...)``.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        **settings: See `TCVASettings`. There are no profiles, because RAGAS' samples have no metadata.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVAMetric(llm="lexical")
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('tcva_faithfulness', ['response', 'retrieved_contexts'])
    """
