"""TCVAEvaluator: five-level verdicts and the dial as one step of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, Field, PrivateAttr, SkipValidation
from typing_extensions import TypedDict  # pydantic reads the other one from Python 3.12 on

from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.facade import TCVA
from tcva_adapters.judging.assessment import Assessment
from tcva_adapters.judging.criteria import Criterion
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode
from tcva_adapters.judging.result import Result, Scoring
from tcva_adapters.judging.store import VerdictStore
from tcva_adapters.langchain.inputs import as_sample


class TCVAInput(TypedDict, total=False):
    """The fields of a sample; the field names of LangChain's own chains are read as well."""

    input: str
    response: str
    contexts: list[Any]
    reference: str


class TCVAOutput(TypedDict):
    """A judgement as plain data, fit for JSON, checkpoints and traces; see `result_of`.

    ``score``, ``value`` (``pass``, ``fail`` or ``unscored``) and ``reasoning`` are what LangChain's
    own string evaluators return; ``scoring`` is the setting of the dial, and everything else is
    the assessment.
    """

    score: float | None
    value: str
    reasoning: str
    passed: bool | None
    scoring: dict[str, Any]
    schema_version: int
    criterion: str
    judge: str
    prompt_version: str
    claims: list[dict[str, Any]]
    unscored: dict[str, Any] | None
    usage: dict[str, Any]
    sample_id: str | None
    metadata: dict[str, Any]
    from_store: bool


class TCVAEvaluator(RunnableSerializable[Any, TCVAOutput]):
    """Judges claims on five levels and scores them on the dial, as a Runnable.

    The judge's call is a child of this step's run: callbacks, tags and metadata reach it.

    Args:
        llm: The judge: ``"lexical"``, a LangChain chat model or LLM, ``"openai:MODEL"``, or another
            framework's LLM object.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        temperature: Strictness in [0.1, 1.0], low is strict; or ``strict``, ``balanced``,
            ``lenient``.
        threshold: A score passes from here on.
        scheme: Weights of the levels: a scheme, its name, or five numbers.
        penalty: ``paper``, ``ramped``, ``absolute`` or ``off``.
        eps: Floor under the weights at exponents that are not positive.
        floor: ``paper`` or ``always``.
        on_unscored: Score for samples that have none of their own; None leaves them unscored.
        claims: ``split`` (sentences, one call) or ``llm`` (asked of the judge, two calls).
        max_claims: Most claims per sample.
        store: A path or a `VerdictStore`: judgements made before are served from it.
        mapper: Turns what the previous step passes on into a sample or a mapping with known names.
        name: The run's name in traces.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> evaluator = TCVAEvaluator("lexical")
    >>> seen = evaluator.invoke({"answer": "It opens at nine.", "context": ["It opens at nine."]})
    >>> seen["score"], seen["value"], result_of(seen).at("strict").score
    (1.0, 'pass', 1.0)
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    llm: Annotated[Any, SkipValidation] = Field(exclude=True, repr=False)
    criterion: Annotated[Criterion | str, SkipValidation]
    temperature: Annotated[float | str, SkipValidation]
    threshold: Annotated[float, SkipValidation]
    scheme: Annotated[WeightScheme | str | Sequence[float], SkipValidation]
    penalty: Annotated[Penalty, SkipValidation]
    eps: Annotated[float, SkipValidation]
    floor: Annotated[Floor, SkipValidation]
    on_unscored: Annotated[float | None, SkipValidation]
    claims: Annotated[ClaimsMode, SkipValidation]
    max_claims: Annotated[int, SkipValidation]
    store: Annotated[Any, SkipValidation] = Field(exclude=True, repr=False)
    mapper: Annotated[Callable[[Any], Any] | None, SkipValidation] = Field(exclude=True)
    _tcva: TCVA = PrivateAttr()

    def __init__(
        self,
        llm: Any = "lexical",
        *,
        criterion: Criterion | str = "faithfulness",
        temperature: float | str = 0.5,
        threshold: float = 0.5,
        scheme: WeightScheme | str | Sequence[float] = WeightScheme.DEFAULT,
        penalty: Penalty = "paper",
        eps: float = 1e-9,
        floor: Floor = "paper",
        on_unscored: float | None = None,
        claims: ClaimsMode = "split",
        max_claims: int = MAX_CLAIMS,
        store: VerdictStore | str | Path | None = None,
        mapper: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        settings: dict[str, Any] = {
            "temperature": temperature,
            "threshold": threshold,
            "scheme": scheme,
            "penalty": penalty,
            "eps": eps,
            "floor": floor,
            "on_unscored": on_unscored,
            "claims": claims,
            "max_claims": max_claims,
        }
        tcva = TCVA(criterion, judge=llm, store=store, **settings)
        fields = {
            # A change of a setting at run time builds a new evaluator: it shares client and store.
            "llm": getattr(tcva.judge, "model", llm),
            "store": tcva.store,
            "criterion": tcva.criterion,
            "mapper": mapper,
            "name": name,
        }
        super().__init__(**settings, **fields)
        self._tcva = tcva

    @property
    def InputType(self) -> type[TCVAInput]:  # noqa: N802  # LangChain's name for it
        """What schemas and tools show; more is read, see `invoke`."""
        return TCVAInput

    @property
    def criterion_name(self) -> str:
        """The criterion's name."""
        return self._tcva.criterion.name

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The fields of a sample that the criterion looks at."""
        return self._tcva.criterion.required

    def invoke(
        self,
        input: Any,  # noqa: A002  # LangChain's name for it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> TCVAOutput:
        """Judge what the previous step passes on; see `TCVAInput` for what is read.

        Raises:
            InvalidSampleError: The input cannot be read, or lacks a field that the criterion needs
                (a ValueError). What goes wrong after that is the reason of an unscored output.
        """
        return self._call_with_config(self._judge, input, config, **kwargs)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> TCVAOutput:
        """The same, awaited."""
        return await self._acall_with_config(self._ajudge, input, config, **kwargs)

    def _judge(self, value: Any) -> TCVAOutput:
        return as_output(self._tcva.evaluate(as_sample(self._mapped(value))))

    async def _ajudge(self, value: Any) -> TCVAOutput:
        return as_output(await self._tcva.aevaluate(as_sample(self._mapped(value))))

    def _mapped(self, value: Any) -> Any:
        return value if self.mapper is None else self.mapper(value)


def as_output(result: Result) -> TCVAOutput:
    """A result as plain data."""
    values = {None: "unscored", True: "pass", False: "fail"}
    scoring = asdict(result.scoring)
    scoring["scheme"]["weights"] = list(result.scoring.scheme.weights)  # as JSON has it
    return {
        "score": result.score,
        "value": values[result.passed],
        "reasoning": result.reason,
        "passed": result.passed,
        "scoring": scoring,
        **result.assessment.model_dump(mode="json"),  # type: ignore[typeddict-item]  # its fields
    }


def result_of(output: Mapping[str, Any]) -> Result:
    """The result behind the output of any evaluator here, also after JSON or a checkpoint.

    From there every other setting of the dial is free: ``result_of(output).at(0.1)``.

    Raises:
        KeyError: The mapping is no such output.
    """
    scoring = dict(output["scoring"])
    scoring["scheme"] = WeightScheme(**scoring["scheme"])
    scoring["bounds"] = Bounds(**scoring["bounds"])
    fields = {name: output[name] for name in Assessment.model_fields}
    return Result(Assessment.model_validate(fields), Scoring(**scoring))
