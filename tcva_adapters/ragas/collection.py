"""TCVACollectionMetric: five-level verdicts and the dial in RAGAS' newer family of metrics."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Self

from ragas.metrics.collections.base import BaseMetric
from ragas.metrics.result import MetricResult

from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.ragas.model import lexical_or
from tcva_adapters.ragas.names import check_name, default_name
from tcva_adapters.ragas.results import COLUMNS, TCVAJudgement, not_judged, sample_of
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_NOT_OURS: Final = ("judge", "profiles")  # samples of RAGAS carry no metadata
_OPTIONS: Final = tuple(n for n in inspect.signature(TCVA).parameters if n not in _NOT_OURS)
_FIXED: Final = frozenset({"llm", *_OPTIONS})


class TCVAMetricResult(MetricResult):
    """A result as RAGAS' newer metrics give it, and the judgement behind it.

    ``value`` is the score, NaN where there is none; ``reason`` says what it rests on or why there
    is none; ``traces`` hold what was judged and what came out. Copies, pickles, and has a hash.

    Attributes:
        result: The `Result`, with claims, verdicts, evidence, and ``at(T)`` without a call.
    """

    def __init__(self, result: Result, judged: dict[str, Any] | None = None) -> None:
        value = math.nan if result.score is None else result.score
        output = TCVAJudgement.of(result).model_dump(mode="json")
        super().__init__(value, result.reason, {"input": judged or {}, "output": output})
        self.result = result
        self._judged = judged

    def __reduce__(self) -> tuple[type[Self], tuple[Result, dict[str, Any] | None]]:
        # RAGAS' class cannot be copied: it looks its value up in objects that have none yet.
        return type(self), (self.result, self._judged)

    def __hash__(self) -> int:
        # RAGAS compares results by their values, and with plain numbers, and forgot the hash.
        return hash(self.value)

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims with verdict, evidence and reason, non-claims included."""
        return self.result.claims

    def at(self, temperature: float | str, **changes: Any) -> TCVAMetricResult:
        """The same judgement at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return TCVAMetricResult(self.result.at(temperature, **changes), self._judged)


class TCVACollectionMetric(FromConfig, BaseMetric):  # type: ignore[misc]  # RAGAS' own bases disagree
    """Judges claims on five levels in RAGAS' newer family: ``score``, ``ascore``, batches, ``@experiment``.

    A judge that fails gives a result whose value is NaN and whose reason says why: in a batch or
    an experiment an exception would lose other rows, or its own without a trace.

    Settings do not change once it is built; results have ``at(...)``.

    Args:
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object.
        name: By default as for `TCVAMetric`.
        **options: As for `TCVAMetric`, and ``max_concurrency`` for batches.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or ``llm`` cannot judge.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVACollectionMetric("lexical")
    >>> score = metric.score(response="It opens at nine.", retrieved_contexts=["It opens at nine."])
    >>> score.value, score.claims[0].verdict.value
    (1.0, 'fully')
    """

    sees_metadata: ClassVar[bool] = False

    def __init__(self, llm: Any, name: str | None = None, **options: Any) -> None:
        if "judge" in options:
            msg = "the judge of this metric is called llm; pass it as llm=..."
            raise InvalidValueError(msg)
        for option in options:
            if option not in _OPTIONS:
                known = ", ".join(_OPTIONS)
                msg = f"TCVACollectionMetric has no option {option!r}; its options are {known}"
                raise InvalidValueError(msg)
        tcva = TCVA(judge=lexical_or(llm), **options)
        super().__init__(name=check_name(name) or default_name(tcva))
        self.llm = llm
        self.tcva = tcva

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "tcva" in vars(self):
            msg = (
                f"{name}={value!r} on a built metric would not be used; build another, or see a "
                "result at other settings with result.at(...)"
            )
            raise InvalidValueError(msg)
        super().__setattr__(name, value)

    def score(  # type: ignore[override]  # RAGAS' own metrics name their arguments too
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> TCVAMetricResult:
        """Score one sample without an event loop: it also works where one is running.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing, or one has a type that
                cannot be read (a ValueError).
        """
        judged = _row(user_input, response, retrieved_contexts, reference)
        return TCVAMetricResult(self.tcva.evaluate(sample_of(judged)), judged)

    async def ascore(  # type: ignore[override]  # likewise
        self,
        user_input: str | None = None,
        response: str | None = None,
        retrieved_contexts: list[str] | None = None,
        reference: str | None = None,
    ) -> TCVAMetricResult:
        """The same, awaited.

        Raises:
            InvalidSampleError: See `score`.
        """
        judged = _row(user_input, response, retrieved_contexts, reference)
        return TCVAMetricResult(await self.tcva.aevaluate(sample_of(judged)), judged)

    def batch_score(  # type: ignore[override]  # a list of a subclass is another type
        self, inputs: list[dict[str, Any]]
    ) -> list[TCVAMetricResult]:
        """Score many; one result per input, in order, whatever fails. Equal ones are judged once.

        An input with a field that is missing or cannot be read has a NaN with the reason.

        Raises:
            InvalidSampleError: An input is no dict, or has a field that no metric knows; raised
                before any call.
        """
        batch = _Batch(inputs)
        return batch.results(self.tcva, self.tcva.evaluate_many(batch.samples, progress=False))

    async def abatch_score(  # type: ignore[override]  # likewise
        self, inputs: list[dict[str, Any]]
    ) -> list[TCVAMetricResult]:
        """The same, awaited.

        Raises:
            InvalidSampleError: See `batch_score`.
        """
        batch = _Batch(inputs)
        judged = await self.tcva.aevaluate_many(batch.samples, progress=False)
        return batch.results(self.tcva, judged)


def _row(
    user_input: str | None = None,
    response: str | None = None,
    retrieved_contexts: list[str] | None = None,
    reference: str | None = None,
) -> dict[str, Any]:
    return {
        "user_input": user_input,
        "response": response,
        "retrieved_contexts": retrieved_contexts,
        "reference": reference,
    }


class _Batch:
    """The inputs of a batch as samples, and the way back to one result per input."""

    def __init__(self, inputs: Iterable[Mapping[str, Any]]) -> None:
        self._rows = [_checked(number, row) for number, row in enumerate(inputs)]
        self._read = [_sample_or_error(row) for row in self._rows]
        self.samples = [read for read in self._read if isinstance(read, Sample)]

    def results(self, tcva: TCVA, judged: Iterable[Result]) -> list[TCVAMetricResult]:
        left: Iterator[Result] = iter(judged)
        return [
            TCVAMetricResult(
                next(left) if isinstance(read, Sample) else not_judged(tcva, read), row
            )
            for read, row in zip(self._read, self._rows, strict=True)
        ]


def _checked(number: int, row: Any) -> dict[str, Any]:
    known = ", ".join(COLUMNS.values())
    if not isinstance(row, Mapping):
        msg = f"input {number} of the batch is a {type(row).__name__}; it is a dict with {known}"
        raise InvalidSampleError(msg)
    for key in row:
        if key not in COLUMNS.values():
            msg = f"input {number} of the batch has a field {key!r}; the fields are {known}"
            raise InvalidSampleError(msg)
    return _row(**row)


def _sample_or_error(row: dict[str, Any]) -> Sample | InvalidSampleError:
    try:
        return sample_of(row)
    except InvalidSampleError as error:
        return error
