"""Evaluators as one step of a chain: of any scorer, and of TCVA with its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.base import RunnableBinding
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.configurable import DynamicRunnable
from pydantic import ConfigDict, Field, SkipValidation, create_model
from typing_extensions import TypedDict  # pydantic reads the other ones from 3.12 on

from tcva_adapters._adapter.evaluator import check_scorer, check_settings, require
from tcva_adapters._adapter.results import with_views
from tcva_adapters.criteria import Criterion
from tcva_adapters.evaluator import AnyScorer, Frozen
from tcva_adapters.langchain.results import TCVAOutput, as_output
from tcva_adapters.langchain.samples import as_sample, sample_for
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.results.settings_base import check, shows_settings
from tcva_adapters.samples.fields import Fields
from tcva_adapters.tcva import TCVA

NAME = Annotated[str, Field(min_length=1)] | None
Mapper = Callable[..., Any] | None


class TCVAInput(TypedDict, total=False):
    """The fields of a sample; the field names of LangChain's own chains are read as well."""

    input: str
    response: str
    contexts: list[Any]
    reference: str


class ScorerEvaluator(Frozen, RunnableSerializable[Any, TCVAOutput]):
    """Scores the output of the previous step, as a Runnable.

    The judge's call is a child of this step's run, so callbacks, tags and metadata reach it.

    An evaluator is frozen. ``model_copy(update=...)`` returns a changed copy, and
    ``configurable_fields`` lets a run set a field.

    Args:
        scorer: A `TCVA` or a `CCRS` with its judge.
        mapper: A function that turns the output of the previous step into a `Sample` or a mapping
            with known field names.
        name: The run's name in traces.
        **fields: The fields of a subclass.

    Raises:
        InvalidValueError: An argument is of the wrong kind.

    >>> from tcva_adapters import CCRS
    >>> evaluator = ScorerEvaluator(CCRS("qr", judge="lexical"))
    >>> seen = evaluator.invoke({"question": "Where is the car?", "answer": "The car is at home."})
    >>> seen["score"], seen["value"]
    (1.0, 'pass')
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    changes: ClassVar = "use model_copy(update={{{name!r}: ...}}), which returns a copy"
    _is_built: ClassVar = True  # type: ignore[misc]  # from the start: pydantic sets nothing
    _derived: ClassVar[tuple[str, ...]] = ()

    scorer: Annotated[AnyScorer, SkipValidation] = Field(exclude=True)
    mapper: Annotated[Mapper, SkipValidation] = Field(exclude=True)

    def __init__(
        self,
        scorer: AnyScorer,
        *,
        mapper: Mapper = None,
        name: str | None = None,
        **fields: Any,
    ) -> None:
        check_scorer(self, scorer)
        _check_step(mapper, name)
        fields.update(scorer=scorer, mapper=mapper, name=name)
        super().__init__(**fields)

    @property
    def InputType(self) -> type[TCVAInput]:  # noqa: N802  # LangChain's name for it
        """The type that schemas and tools show; `invoke` also reads other field names."""
        return TCVAInput

    def invoke(
        self,
        input: Any,  # noqa: A002  # LangChain's name for it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> TCVAOutput:
        """Judge the output of the previous step; see `TCVAInput` for the fields.

        Raises:
            InvalidSampleError: The input cannot be read, or lacks a field that the criterion needs
                (a ValueError). A later failure does not raise: the output is unscored and has the
                reason.
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
        return as_output(self._judging().evaluate(self._read_input(value)))

    async def _ajudge(self, value: Any) -> TCVAOutput:
        result = await self._judging().aevaluate(self._read_input(value))
        return as_output(await with_views(result))

    def _read_input(self, value: Any) -> Any:
        return self._read(self.mapper(value) if self.mapper else value)

    def _judging(self) -> Any:
        """The scorer; a subclass judges conversations."""
        return self.scorer

    def _read(self, value: Any) -> Any:
        return sample_for(self.scorer, value, as_sample)

    def model_copy(
        self,
        *,
        update: Fields | None = None,
        deep: bool = False,  # noqa: ARG002  # both share judge and store
    ) -> Self:
        """A copy with the fields of `update` changed; it shares judge and store.

        Raises:
            InvalidValueError: A value is out of range, or a field unknown.
        """
        fields = {
            name: vars(self)[name] for name in vars(self) if name not in self._derived
        }
        check_settings(
            self, update or {}, fields, judge="llm" if "llm" in fields else "scorer"
        )
        return type(self)(**{**fields, **(update or {})})

    def copy(self, **options: Any) -> Self:
        """Pydantic's older name of `model_copy`."""
        return self.model_copy(**options)

    def __copy__(self) -> Self:
        """The same object: it is frozen."""
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """The same object; clients and stores cannot be copied."""
        return self


if TYPE_CHECKING:
    _WithSettings = ScorerEvaluator
else:
    # LangChain configures fields, and builds an evaluator anew from all of them.
    _WithSettings = create_model(
        "_WithSettings",
        __base__=ScorerEvaluator,
        **{
            name: (
                Annotated[field.annotation, SkipValidation],
                # No dump can hold connections.
                Field(description=field.description, exclude=name in {"store", "fuse"}),
            )
            for name, field in TCVASettings.model_fields.items()
        },
    )


class TCVAEvaluator(FromConfig, _WithSettings):
    """Judges claims on five levels and scores them at a temperature, as a Runnable.

    A `ScorerEvaluator` that builds its own `TCVA`. Every setting is a field;
    ``configurable_fields`` and ``model_copy(update=...)`` check values as the constructor does.

    Args:
        llm: The judge: a LangChain chat model or LLM, ``"openai:MODEL"``, ``"lexical"``, or another
            framework's LLM object. Without one, the lexical judge is used, with a warning.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        mapper: A function that turns the output of the previous step into a `Sample` or a mapping
            with known field names.
        name: The run's name in traces.
        **settings: See `TCVASettings`.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> from tcva_adapters.langchain import result_of
    >>> evaluator = TCVAEvaluator("lexical")
    >>> seen = evaluator.invoke({"answer": "It opens at nine.", "context": ["It opens at nine."]})
    >>> seen["score"], seen["value"], result_of(seen).at("strict").score
    (1.0, 'pass', 1.0)
    """

    _derived: ClassVar = ("scorer",)

    scorer: Annotated[TCVA, SkipValidation] = Field(exclude=True)
    llm: Annotated[Any, SkipValidation] = Field(exclude=True, repr=False)
    criterion: Annotated[Criterion | str, SkipValidation]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Each setting, as an attribute."""

    @shows_settings(TCVASettings)
    def __init__(
        self,
        llm: Any = None,
        *,
        criterion: Criterion | str = "faithfulness",
        mapper: Mapper = None,
        name: str | None = None,
        **settings: Any,
    ) -> None:
        if TCVASettings.model_fields.keys() <= settings.keys():
            settings.pop(
                "scorer", None
            )  # LangChain hands in every field; this is made of others
        check_settings(self, settings, TCVASettings.model_fields)
        _check_step(mapper, name)  # before a store is opened
        tcva = TCVA(criterion, judge=llm, **settings)
        # The fields show the arguments in use, so that a copy, which is built from them,
        # shares the client.
        fields = dict(tcva.arguments)
        super().__init__(
            tcva,
            mapper=mapper,
            name=name,
            llm=fields.pop("judge"),
            **fields,
        )


def evaluator_in(
    step: object, config: RunnableConfig | None = None
) -> ScorerEvaluator | None:
    """Return the evaluator in a step, as a run configures it; None where a wrapper hides it."""
    while isinstance(step, RunnableBinding):
        config = merge_configs(step.config, config)
        step = step.bound
    if isinstance(step, DynamicRunnable):
        step = step.prepare(config)[0]
    return step if isinstance(step, ScorerEvaluator) else None


def scorer_of(evaluator: object) -> AnyScorer | None:
    """An evaluator's scorer, as it is configured; None where a wrapper hides it."""
    inner = evaluator_in(evaluator)
    return inner.scorer if inner else None


def check_evaluator(value: object) -> None:
    """Refuse what cannot be an evaluator, wrapped or not."""
    require(isinstance(value, Runnable), "evaluator", value, "a TCVAEvaluator")


def _check_step(mapper: object, name: object) -> None:
    check(Mapper, "mapper", mapper)
    check(NAME, "name", name)
