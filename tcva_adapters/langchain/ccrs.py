"""CCRSEvaluator: one of the five direct metrics as a step of a chain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict, Field, PrivateAttr, SkipValidation
from typing_extensions import TypedDict  # pydantic reads the other one from Python 3.12 on

from tcva_adapters.ccrs import CCRS, CCRSResult, ExactMatch
from tcva_adapters.ccrs.metrics import DEFAULT_LAMBDA, METRICS
from tcva_adapters.ccrs.result import check_threshold
from tcva_adapters.langchain.adjustable import AdjustableRunnable
from tcva_adapters.langchain.checks import check_callable, check_name, check_store
from tcva_adapters.langchain.evaluator import TCVAInput
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample


class CCRSOutput(TypedDict):
    """A rating as plain data: what LangChain's own string evaluators return, and the rest.

    ``value`` is ``pass``, ``fail`` or ``unscored``. ``result`` is the `CCRSResult` as a mapping,
    which ``CCRSResult.model_validate`` reads back.
    """

    score: float | None
    value: str
    reasoning: str
    passed: bool | None
    metric: str
    result: dict[str, Any]


class CCRSEvaluator(AdjustableRunnable[Any, CCRSOutput]):
    """Rates answers with a number for one metric, as a Runnable. One class serves all five.

    The judge's call is a child of this step's run: callbacks, tags and metadata reach it.

    Every argument is an attribute, names resolved. Setting one, or copying with
    ``model_copy(update=...)``, is checked as when built, and the next rating follows it.

    Args:
        metric: ``cc``, ``qr``, ``id``, ``ac`` or ``ir``, or a long name.
        llm: The judge: ``"lexical"``, a LangChain chat model or LLM, ``"openai:MODEL"``, or another
            framework's LLM object.
        threshold: A score passes from here on.
        lambda_: What the exact match weighs in answer correctness.
        em: The exact match, ``strict`` or ``normalised``.
        store: A path or a `VerdictStore`.
        mapper: Turns what the previous step passes on into a sample or a mapping with known names.
        name: The run's name in traces.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> evaluator = CCRSEvaluator("qr", "lexical")
    >>> seen = evaluator.invoke({"question": "Where is the car?", "answer": "The car is at home."})
    >>> seen["score"], seen["value"]
    (1.0, 'pass')
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    metric: Annotated[str, SkipValidation]
    llm: Annotated[Any, SkipValidation] = Field(exclude=True, repr=False)
    threshold: Annotated[float, SkipValidation]
    lambda_: Annotated[float, SkipValidation]
    em: Annotated[ExactMatch, SkipValidation]
    store: Annotated[Any, SkipValidation] = Field(exclude=True, repr=False)
    mapper: Annotated[Callable[[Any], Any] | None, SkipValidation] = Field(exclude=True)
    _ccrs: CCRS = PrivateAttr()

    def __init__(
        self,
        metric: str,
        llm: Any = "lexical",
        *,
        threshold: float = 0.5,
        lambda_: float = DEFAULT_LAMBDA,
        em: ExactMatch = "strict",
        store: VerdictStore | str | Path | None = None,
        mapper: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        check_store("store", store)
        check_callable("mapper", mapper)
        check_name("name", name)
        check_threshold(threshold)
        ccrs = CCRS([metric], judge=llm, lambda_=lambda_, em=em, store=store)
        settings: dict[str, Any] = {
            "metric": ccrs.metrics[0].name,
            # A name is resolved once, so that copies share its client.
            "llm": getattr(ccrs.rater, "model", llm) if isinstance(llm, str) else llm,
            "threshold": threshold,
            "lambda_": ccrs.lambda_,
            "em": em,
            "store": ccrs.store,
            "mapper": mapper,
            "name": name,
        }
        super().__init__(**settings)
        self._ccrs = ccrs

    @classmethod
    def _builder(cls) -> type[CCRSEvaluator]:
        return CCRSEvaluator

    def _shared(self) -> tuple[Any, ...]:
        return (self.llm, self.store, self.mapper, self._ccrs)

    @property
    def InputType(self) -> type[TCVAInput]:  # noqa: N802  # LangChain's name for it
        """What schemas and tools show; the field names of other chains are read as well."""
        return TCVAInput

    def invoke(
        self,
        input: Any,  # noqa: A002  # LangChain's name for it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> CCRSOutput:
        """Rate what the previous step passes on.

        Raises:
            InvalidSampleError: The input cannot be read, or lacks a field that the metric needs
                (a ValueError). What goes wrong after that is the reason of an unscored output.
        """
        return self._call_with_config(self._rate, input, config, **kwargs)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> CCRSOutput:
        """The same, awaited."""
        return await self._acall_with_config(self._arate, input, config, **kwargs)

    def _rate(self, value: Any) -> CCRSOutput:
        return self._output(self._ccrs.evaluate(self._sample(value)))

    async def _arate(self, value: Any) -> CCRSOutput:
        return self._output(await self._ccrs.aevaluate(self._sample(value)))

    def _sample(self, value: Any) -> Sample:
        sample = as_sample(value if self.mapper is None else self.mapper(value))
        METRICS[self.metric].require(sample)
        return sample

    def _output(self, result: CCRSResult) -> CCRSOutput:
        score = result.score(self.metric)
        passed = None if score is None else score >= self.threshold
        return {
            "score": score,
            "value": {None: "unscored", True: "pass", False: "fail"}[passed],
            "reasoning": result.reason(self.metric),
            "passed": passed,
            "metric": self.metric,
            "result": result.model_dump(mode="json", fallback=str),
        }
