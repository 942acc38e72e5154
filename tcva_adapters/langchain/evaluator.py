"""TCVAEvaluator: five-level verdicts and the dial as one step of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict, Field, PrivateAttr, SkipValidation, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python
from typing_extensions import TypedDict  # pydantic reads the other one from Python 3.12 on

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode
from tcva_adapters.langchain.adjustable import AdjustableRunnable
from tcva_adapters.langchain.checks import check_callable, check_name, check_store
from tcva_adapters.langchain.samples import sample_for
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result, Scoring
from tcva_adapters.results.scoring import GEOMETRIC, Fusion, HumanScale, Profiles
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA

_SCORING: Final = TypeAdapter(Scoring)


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
    members: list[dict[str, Any]]
    panel: list[dict[str, Any]]


class TCVAEvaluator(FromConfig, AdjustableRunnable[Any, TCVAOutput]):
    """Judges claims on five levels and scores them on the dial, as a Runnable.

    The judge's call is a child of this step's run: callbacks, tags and metadata reach it.

    Every argument is an attribute, presets and names resolved. Setting one, or copying with
    ``model_copy(update=...)``, is checked as when built, and the next judgement follows it.

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
        fuse: A further judge, or several, whose scores are fused with the first one's.
        fusion: The mean that fuses them, geometric by default.
        mapping: From scores to a human scale, for ``Result.human_score``.
        profiles: Settings for samples with certain metadata.
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
    fuse: Annotated[Any, SkipValidation] = Field(exclude=True, repr=False)
    fusion: Annotated[Fusion, SkipValidation]
    mapping: Annotated[HumanScale | None, SkipValidation]
    profiles: Annotated[Profiles | None, SkipValidation]
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
        fuse: Any = None,
        fusion: Fusion = GEOMETRIC,
        mapping: HumanScale | None = None,
        profiles: Profiles | None = None,
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
            "fusion": fusion,
            "mapping": mapping,
            "profiles": profiles,
        }
        check_store("store", store)
        check_callable("mapper", mapper)
        check_name("name", name)
        tcva = TCVA(criterion, judge=llm, store=store, fuse=fuse, **settings)
        # What is shown is what is used, and what a change of a setting builds anew from: so it
        # shares client and store. Of a judge, that is the judge itself.
        shown = {
            "llm": llm if tcva.judge is llm else getattr(tcva.judge, "model", llm),
            "fuse": tcva.fuse or None,
            "store": tcva.store,
            "criterion": tcva.criterion,
            "temperature": tcva.scoring.temperature,
            "scheme": tcva.scoring.scheme,
            "mapper": mapper,
            "name": name,
        }
        super().__init__(**{**settings, **shown})
        self._tcva = tcva

    @classmethod
    def _builder(cls) -> type[TCVAEvaluator]:
        return TCVAEvaluator

    def _shared(self) -> tuple[Any, ...]:
        return (self.llm, self.fuse, self.store, self.mapper, self._tcva)

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
        return as_output(self._tcva.evaluate(self._sample(value)))

    async def _ajudge(self, value: Any) -> TCVAOutput:
        return as_output(await self._tcva.aevaluate(self._sample(value)))

    def _sample(self, value: Any) -> Sample:
        given = value if self.mapper is None else self.mapper(value)
        return sample_for(self._tcva, given)


def as_output(result: Result) -> TCVAOutput:
    """A result as plain data; of metadata that is none, the text."""
    values = {None: "unscored", True: "pass", False: "fail"}
    return {
        "score": result.score,
        "value": values[result.passed],
        "reasoning": result.reason,
        "passed": result.passed,
        "scoring": to_jsonable_python(result.scoring),
        **to_jsonable_python(result.assessment, fallback=str),  # type: ignore[typeddict-item]  # its fields
    }


def result_of(output: Mapping[str, Any]) -> Result:
    """The result behind the output of any evaluator here, also after JSON or a checkpoint.

    From there every other setting of the dial is free: ``result_of(output).at(0.1)``.

    Raises:
        InvalidValueError: This is no such output.
    """
    try:
        scoring = _SCORING.validate_python(output["scoring"])
        fields = {name: output[name] for name in output if name in Assessment.model_fields}
        return Result(Assessment.model_validate(fields), scoring)
    except (KeyError, TypeError, ValidationError) as error:
        found = list(output) if isinstance(output, Mapping) else output
        msg = f"{found!r:.200} is no output of a TCVA evaluator, which has 'scoring' and 'claims'"
        raise InvalidValueError(msg) from error
