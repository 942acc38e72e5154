"""CCRSMetric and CCRSCollectionMetric: the five direct metrics in both families of RAGAS."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final, Self

from langchain_core.callbacks import Callbacks
from ragas.callbacks import ChainType, new_group
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricOutputType, MetricType, MetricWithLLM, SingleTurnMetric
from ragas.metrics.collections.base import BaseMetric
from ragas.metrics.result import MetricResult
from ragas.prompt import PydanticPrompt
from ragas.run_config import RunConfig

from tcva_adapters.ccrs import CCRS, CCRSResult, ExactMatch
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, Metric, resolve_metric
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.ragas.model import calls_traced_by, lexical_or
from tcva_adapters.ragas.names import check_name
from tcva_adapters.ragas.results import COLUMNS, sample_of
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample


class CCRSScore(float):
    """A score as RAGAS takes it, a plain number, and the rating behind it; NaN without a score.

    Attributes:
        result: The rating.
    """

    result: CCRSResult

    def __new__(cls, result: CCRSResult) -> Self:
        """The number and its origin in one."""
        (metric,) = result.answers
        value = result.score(metric)
        score = super().__new__(cls, math.nan if value is None else value)
        score.result = result
        return score

    def __reduce__(self) -> tuple[type[Self], tuple[CCRSResult]]:
        return type(self), (self.result,)


class CCRSMetric(MetricWithLLM, SingleTurnMetric):
    """Rates answers with a number for one metric, in ``evaluate`` and ``aevaluate``.

    One class serves all five. Every argument is an attribute; what is set later is followed, save
    for the metric, which needs other columns.

    Args:
        metric: ``cc``, ``qr``, ``id``, ``ac`` or ``ir``, or a long name.
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default what ``evaluate(llm=...)`` is given.
        lambda_: What the exact match weighs in answer correctness.
        em: The exact match, ``strict`` or ``normalised``.
        store: A path or a `VerdictStore`.
        name: The column in the result; by default ``ccrs_`` and the metric, and in brackets what
            is not usual.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised when built.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = CCRSMetric("qr", llm="lexical")
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('ccrs_qr', ['response', 'user_input'])
    """

    llm: Any
    store: VerdictStore | None

    def __init__(
        self,
        metric: str,
        llm: Any = None,
        *,
        lambda_: float = DEFAULT_LAMBDA,
        em: ExactMatch = "strict",
        store: VerdictStore | str | Path | None = None,
        name: str | None = None,
    ) -> None:
        self._metric = resolve_metric(metric)
        self.metric, self.lambda_, self.em = self._metric.name, lambda_, em
        # Opened once; without an LLM the lexical judge shows what is wrong with the settings.
        checked = CCRS([self._metric], lambda_=lambda_, em=em, store=store)
        self.store = checked.store
        super().__init__(name=name or "", llm=llm, output_type=MetricOutputType.CONTINUOUS)
        self.required_columns = {
            MetricType.SINGLE_TURN: {COLUMNS[field] for field in self._metric.needs}
        }
        self._ccrs: CCRS | None = None
        self._built_with: Any = None
        self._built_for: tuple[Any, ...] = ()
        if llm is not None:
            _ = self.ccrs

    @property
    def name(self) -> str:
        """The column in the result; without a name given it follows the settings.

        Raises:
            InvalidValueError: The name set is no text, or blank.
        """
        return self._name or _default_name(self._metric, self.lambda_, self.em)

    @name.setter
    def name(self, name: str) -> None:
        self._name = check_name(name)

    @property
    def ccrs(self) -> CCRS:
        """The `CCRS` behind the metric, with the LLM that it has now.

        Raises:
            InvalidValueError: The LLM is nothing that can be asked for a number, a setting cannot
                be used, or another metric was set.
            JudgeError: There is no LLM.
        """
        if self.llm is None:
            msg = "the metric has no LLM; pass llm=... to the metric or to evaluate()"
            raise JudgeError(msg, fatal=True)
        if self.metric != self._metric.name:
            msg = f"the metric was changed to {self.metric!r}; build a new one with it"
            raise InvalidValueError(msg)
        settings = (self.lambda_, self.em, self.store)
        # By identity: RAGAS' LLM objects are equal where only their models differ.
        is_same = self._built_with is self.llm and self._built_for == settings
        if self._ccrs is None or not is_same:
            self._ccrs = CCRS(
                [self._metric],
                judge=lexical_or(self.llm),
                lambda_=self.lambda_,
                em=self.em,
                store=self.store,
            )
            self._built_with, self._built_for = self.llm, settings
        return self._ccrs

    def init(self, run_config: RunConfig) -> None:
        """Called by ``evaluate`` with its LLM in place, before anything is rated.

        Raises:
            InvalidValueError: The LLM is nothing that can be asked for a number.
            ValueError: There is no LLM.
        """
        super().init(run_config)
        _ = self.ccrs

    def _get_prompts(self) -> dict[str, PydanticPrompt[Any, Any]]:
        # There are none to change; RAGAS would look through all attributes, the judge included.
        return {}

    def __repr__(self) -> str:
        return f"CCRSMetric({self._metric.name!r}, name={self.name!r})"

    def single_turn_score(self, sample: SingleTurnSample, callbacks: Callbacks = None) -> float:
        """Score one sample without an event loop: it also works where one is running.

        Raises:
            InvalidSampleError: A field that the metric needs is missing (a ValueError).
            JudgeError: The judge failed.
        """
        sample = self._only_required_columns_single_turn(sample)
        metadata = {"type": ChainType.METRIC}
        run, group = new_group(self.name, sample.to_dict(), callbacks or [], metadata=metadata)
        try:
            with calls_traced_by(group):
                score = _score(self.ccrs.evaluate(sample_of(sample.to_dict())))
        except Exception as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end({"output": score})
        return score

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Callbacks) -> float:
        with calls_traced_by(callbacks):
            return _score(await self.ccrs.aevaluate(sample_of(sample.to_dict())))


class CCRSMetricResult(MetricResult):
    """A result as RAGAS' newer metrics give it, and the rating behind it.

    ``value`` is NaN where there is no score, and ``reason`` says why.

    Attributes:
        result: The rating; None where the fields could not be read.
    """

    def __init__(self, value: float, reason: str, result: CCRSResult | None) -> None:
        super().__init__(value, reason)
        self.result = result


class CCRSCollectionMetric(BaseMetric):
    """Rates answers with a number for one metric in RAGAS' newer family.

    Whatever fails gives a result whose value is NaN and whose reason says why: in a batch an
    exception would lose the other rows. Settings do not change once it is built.

    Args:
        metric: As for `CCRSMetric`.
        llm: The judge, as there.
        name: As there.
        **options: ``lambda_``, ``em``, ``store`` and ``max_concurrency``, as for `CCRS`.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised when built.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = CCRSCollectionMetric("qr", "lexical")
    >>> metric.score(user_input="Where is the car?", response="The car is at home.").value
    1.0
    """

    def __init__(self, metric: str, llm: Any, *, name: str | None = None, **options: Any) -> None:
        for option in options:
            if option not in _OPTIONS:
                known = ", ".join(_OPTIONS)
                msg = f"CCRSCollectionMetric has no option {option!r}; its options are {known}"
                raise InvalidValueError(msg)
        found = resolve_metric(metric)
        ccrs = CCRS([found], judge=lexical_or(llm), **options)
        super().__init__(name=check_name(name) or _default_name(found, ccrs.lambda_, ccrs.em))
        self.llm = llm
        self.ccrs = ccrs

    def __setattr__(self, name: str, value: Any) -> None:
        if name in {"metric", "llm", *_OPTIONS} and "ccrs" in vars(self):
            msg = f"{name}={value!r} on a built metric would not be used; build another"
            raise InvalidValueError(msg)
        super().__setattr__(name, value)

    def score(self, **fields: Any) -> CCRSMetricResult:
        """Score one sample without an event loop.

        Args:
            **fields: ``user_input``, ``response``, ``retrieved_contexts`` and ``reference``, as
                far as the metric needs them; others are left out.
        """
        sample = _readable(fields)
        if isinstance(sample, InvalidSampleError):
            return CCRSMetricResult(math.nan, f"unscored: {sample}", None)
        return _collected(self.ccrs.evaluate(sample))

    async def ascore(self, **fields: Any) -> CCRSMetricResult:
        """The same, awaited."""
        sample = _readable(fields)
        if isinstance(sample, InvalidSampleError):
            return CCRSMetricResult(math.nan, f"unscored: {sample}", None)
        return _collected(await self.ccrs.aevaluate(sample))


_OPTIONS: Final = ("lambda_", "em", "store", "max_concurrency")


def _default_name(metric: Metric, lambda_: float, em: ExactMatch) -> str:
    unusual = []
    if metric.has_exact_match and lambda_ != DEFAULT_LAMBDA:
        unusual.append(f"lambda={lambda_:g}")
    if metric.has_exact_match and em != "strict":
        unusual.append(f"em={em}")
    return f"ccrs_{metric.name}" + (f"({','.join(unusual)})" if unusual else "")


def _score(result: CCRSResult) -> CCRSScore:
    """The score, or the exception that RAGAS turns into NaN, or raises where it is told to."""
    for metric, why in result.unscored.items():
        if why.reason is Reason.MISSING_FIELD:
            raise InvalidSampleError(why.detail)
        if why.reason.is_failure:
            raise JudgeError(result.reason(metric), reason=why.reason.value, fatal=why.fatal)
    return CCRSScore(result)


def _readable(fields: dict[str, Any]) -> Sample | InvalidSampleError:
    try:
        return sample_of(fields)
    except InvalidSampleError as error:
        return error


def _collected(result: CCRSResult) -> CCRSMetricResult:
    (metric,) = result.answers
    score = result.score(metric)
    return CCRSMetricResult(math.nan if score is None else score, result.reason(metric), result)
