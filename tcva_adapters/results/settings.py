"""Settings are written once: name, default, check and meaning, in one model for each purpose.

Constructors, configuration files, default names and the options of commands read these models.
``title`` is what default names call a setting, and ``repr=False`` keeps it out of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar, cast, get_type_hints

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from tcva_adapters.core import aggregation
from tcva_adapters.core.checks import as_number, nearest
from tcva_adapters.core.panel import fuse
from tcva_adapters.core.temperature import (
    BALANCED,
    PAPER_BOUNDS,
    Bounds,
    as_temperature,
    check_temperature,
    misplaced,
)
from tcva_adapters.core.verdicts import FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError, TCVAError, of_percent
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.lazy import check as check_installed
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.evidence import DEFAULT_EVIDENCE, Evidence
from tcva_adapters.results.guarantee import Guarantee
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Checked

Function = TypeVar("Function", bound=Callable[..., Any])
ClaimsMode = Literal["split", "llm"]
VerdictForm = Literal["written", "yes_no"]
Uncontexted = Literal["skip", "fail", "earlier"]
Profiles = Mapping[str, Mapping[str, float]]
"""A metadata field with a temperature for each of its values: ``{"domain": {"medical": 0.2}}``."""

_STRICT: Final = ConfigDict(
    frozen=True,
    extra="forbid",
    strict=True,
    arbitrary_types_allowed=True,
    allow_inf_nan=False,
)


def _number(value: Any) -> float:
    number = None if isinstance(value, bool) else as_number(value)
    if number is None:
        msg = "must be a number"
        raise ValueError(msg)
    return number


def _share(value: Any) -> float:
    number = _number(value)
    if not 0.0 <= number <= 1.0:
        msg = "must be between 0 and 1"
        raise ValueError(msg)
    return number


Number = Annotated[float, BeforeValidator(_number)]
Share = Annotated[float, BeforeValidator(_share)]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


_PLAINER: Final = {
    "Input should": "must", "String should": "must", "Field required": "must have more items",
    "a valid tuple": "several numbers, e.g. 1,5", "a valid integer": "a whole number",
    "a valid string": "a string", "greater than or equal to": "at least",
    "less than or equal to": "at most", "greater than": "above",
    "an instance of VerdictStore": "a path or a VerdictStore",
}  # fmt: skip  # a table
"""Parts of pydantic's messages in plainer words."""


def check(kind: Any, name: str, value: Any) -> Any:
    """A value of a type, e.g. `Count`, in its final form.

    Raises:
        InvalidValueError: It does not fit; the message names it.
    """
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise _refusal(error, {name: value}) from None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=_STRICT)


def _refusal(error: ValidationError, given: Mapping[str, Any]) -> TCVAError:
    """The first fault: as the core says it, or the setting, what it must be, and its value."""
    first = error.errors(include_url=False)[0]
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, TCVAError):
        return raised
    name = next(
        (str(part) for part in first["loc"][:1] if part in given), next(iter(given))
    )
    why = first["msg"].removeprefix("Value error, ")
    for pydantic, plain in _PLAINER.items():
        why = why.replace(pydantic, plain)
    # What was meant as a key is not printed.
    value = type(given[name]).__name__ if name == "api_key" else f"{given[name]!r:.80}"
    hint = of_percent(given[name]) if why.endswith((" 1", "a number")) else ""
    return InvalidValueError(f"{name} {why}, got {value}{hint}")


def check_names(
    given: Collection[str],
    known: Collection[str],
    *,
    of: str,
    titles: Mapping[str | None, str] | None = None,
) -> None:
    """Refuse names that are no settings.

    Args:
        given: The names.
        known: Those that there are.
        of: Whose settings they are.
        titles: By what default names call a setting its name: ``T`` is the temperature.

    Raises:
        InvalidValueError: One of them is unknown; the message has the nearest known one.

    >>> check_names(["temprature"], ["temperature", "threshold"], of="TCVA")
    Traceback (most recent call last):
    ...
    tcva_adapters.errors.InvalidValueError: unknown setting 'temprature' of TCVA; did you mean 'temperature'? Its settings are temperature, threshold
    """
    for name in given:
        if name not in known:
            by_title = (titles or {}).get(name)
            meant = (
                f"did you mean {by_title!r}?" if by_title else nearest(name, known, "")
            )
            its = f"{meant} Its" if meant else "its"
            msg = f"unknown setting {name!r} of {of}; {its} settings are {', '.join(known)}"
            raise InvalidValueError(msg)


class SettingsModel(Checked):
    """Settings that are checked when they are given, and never change."""

    model_config = _STRICT

    def __init__(self, **given: Any) -> None:
        check_names(
            given,
            type(self).model_fields,
            of=type(self).__name__.removesuffix("Settings"),
        )
        try:
            BaseModel.__init__(self, **given)
        except ValidationError as error:
            raise _refusal(error, given) from None

    @classmethod
    def default(cls, name: str) -> Any:
        """The value of a setting where none is given."""
        return cls.model_fields[name].default

    @classmethod
    def type_of(cls, name: str) -> Any:
        """The type of a setting with its checks, for `check`."""
        return get_type_hints(cls, include_extras=True)[name]

    def changed(self, **changes: Any) -> Self:
        """A copy with other settings, presets and schemes by name.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        return type(self)(**{**dict(self), **changes})


def shows_settings(
    *models: type[BaseModel], without: Collection[str] = ()
) -> Callable[[Function], Function]:
    """Decorates a constructor so that its signature shows the settings in place of ``**settings``.

    `inspect`, documentation tools, and frameworks that rebuild objects from signatures see every
    setting with its default. A setting that is passed by position is refused, with the name of the
    class that was called.

    Args:
        models: Where the settings are.
        without: Settings that the function does not take.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        shown = {
            n: p for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD
        }
        for model in models:
            types = get_type_hints(model)  # without the checks, which no reader needs
            for name, field in model.model_fields.items():
                if name not in without and name not in shown:
                    shown[name] = inspect.Parameter(
                        name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=field.default,
                        annotation=types[name],
                    )
        placed = [n for n, p in shown.items() if p.kind is p.POSITIONAL_OR_KEYWORD]

        @wraps(function)
        def checked(self: Any, *values: Any, **settings: Any) -> Any:
            if surplus := values[len(placed) - 1 :]:
                first = f"only {', '.join(placed[1:])}" if placed[1:] else "nothing"
                hint = misplaced(surplus[0]) or "write all others by name"
                msg = f"{type(self).__name__} takes {first} by position, got {surplus[0]!r:.80}; {hint}"
                raise InvalidValueError(msg)
            return function(self, *values, **settings)

        checked.__signature__ = signature.replace(parameters=[*shown.values()])  # type: ignore[attr-defined]  # inspect reads it
        return cast("Function", checked)

    return decorate


def unusual(model: type[BaseModel], values: Mapping[str, Any]) -> list[str]:
    """What default names say: ``title=value`` for each setting that is not the default.

    Args:
        model: Of the settings.
        values: Settings by name; those that are missing are not said.
    """
    return [
        f"{field.title or name}={shown(values[name])}"
        for name, field in model.model_fields.items()
        if field.repr and name in values
        # What is called the same is the same: a published scheme's weights, given as numbers.
        if values[name] != field.default and shown(values[name]) != shown(field.default)
    ]


def shown(value: Any) -> str:
    """A setting's value in a name: its own short form, or that of a number."""
    if isinstance(value, tuple):
        return "+".join(map(shown, value))
    if isinstance(value, Mapping):
        is_nested = any(isinstance(inner, Mapping) for inner in value.values())
        pairs = "+".join(f"{reason}={score}" for reason, score in value.items())
        return f"by {', '.join(value)}" if is_nested else pairs
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(getattr(value, "short_name", value))


def _scheme(value: Any) -> WeightScheme:
    stored = isinstance(value, Mapping) and value.keys() == {"name", "weights"}
    return WeightScheme(**value) if stored else WeightScheme.resolve(value)


def _bounds(value: Any) -> Any:
    """Bounds from a mapping, as configuration files have them, or from their two numbers."""
    if isinstance(value, list | tuple) and len(value) == 2:
        return Bounds(*map(_number, value))
    is_of_file = (
        isinstance(value, Mapping)
        and value
        and {*value} <= {*Bounds.__dataclass_fields__}
    )
    if not (is_of_file or isinstance(value, Bounds)):
        msg = "must be two numbers, e.g. bounds=-4,12"
        raise ValueError(msg)
    return Bounds(**value) if is_of_file else value


def by_name(example: str) -> BeforeValidator:
    """Refuses what is no mapping, and says how one is typed."""

    def check(value: Any) -> Any:
        if not (value is None or isinstance(value, Mapping)):
            msg = f"must be a number for each name, e.g. {example}"
            raise ValueError(msg)
        return value

    return BeforeValidator(check)


def _on_unscored(value: Any) -> Any:
    """One number, or numbers by reason; failures have none."""
    if not (isinstance(value, Mapping) and value):
        return None if value is None else _share(value)
    check_names(value, [r.value for r in Reason if not r.is_failure], of="on_unscored")
    return {reason: _share(score) for reason, score in value.items()}


_OPTIONS: Final = ("scheme", "penalty", "eps", "floor", "bounds")


class ScoringConfig(SettingsModel):
    """What makes a score of verdicts: settings that cost no call, so that they may change later.

    ``eps`` and ``floor`` go together wherever the temperature stands: flips, sweeps and reports
    turn it over all of its range.

    >>> ScoringConfig(temperature="strict").temperature
    0.2
    """

    temperature: Annotated[float, BeforeValidator(as_temperature)] = Field(
        default=BALANCED,
        title="T",
        description="Strictness of the score, from 0.1 (strictest) to 1.0 (most lenient); or strict, "
        "balanced, lenient. Not the model's sampling temperature.",
    )
    threshold: Share = Field(
        default=0.5, description="A sample passes with at least this score, in [0, 1]."
    )
    scheme: Annotated[WeightScheme, BeforeValidator(_scheme)] = Field(
        default=WeightScheme.DEFAULT,
        description="Weights of the five levels: default, linear, aggressive, conservative, or "
        "five numbers.",
    )
    penalty: aggregation.Penalty = Field(
        default=aggregation.DEFAULT_PENALTY,
        description="How none verdicts are penalised: paper, ramped, absolute or off.",
    )
    eps: Annotated[float, BeforeValidator(aggregation.check_eps)] = Field(
        default=aggregation.DEFAULT_EPS,
        description="Least weight of a level in the mean; more than 1e-9 needs floor=always.",
    )
    floor: aggregation.Floor = Field(
        default=aggregation.DEFAULT_FLOOR,
        description="Where eps applies: paper (at exponents up to 0), or always.",
    )
    bounds: Annotated[Bounds, BeforeValidator(_bounds)] = Field(
        default=PAPER_BOUNDS,
        title="p",
        description="Exponents of the power mean at the lowest and the highest temperature.",
    )
    evidence: Evidence = Field(
        default=DEFAULT_EVIDENCE,
        description="The evidence check: lower (a fully or mostly without a valid quote counts as "
        "partial) or off (it counts as it is).",
    )
    on_unscored: Annotated[
        float | Mapping[str, float] | None, BeforeValidator(_on_unscored)
    ] = Field(
        default=None,
        description="Score of samples that have none (a refusal, an empty context): a number, or "
        "numbers by reason, e.g. refusal=1,empty_context=0. Failed calls never get a score.",
    )
    uncontexted: Uncontexted | None = Field(
        default=None,
        description="Answers that claim something without contexts: skip (no score), fail (they do "
        "not pass, nor does their conversation) or earlier (contexts of earlier turns count). By "
        "default skip, and fail in gates.",
    )
    fuse_weights: tuple[NonNegative, ...] | None = Field(
        default=None,
        strict=False,
        description="Weights of the judges in the fused score, the main judge first.",
    )

    def __init__(
        self, **given: Any
    ) -> None:  # not the types of the fields: presets have names
        super().__init__(**given)

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        aggregation.check_floored(self.eps, self.floor, self.bounds.p_max)
        if self.fuse_weights is not None:
            fuse(np.ones((1, len(self.fuse_weights))), weights=self.fuse_weights)
        _ = self.plan  # the temperature lies within the bounds
        return self

    def __hash__(self) -> int:  # not of all fields: scores by reason are a mapping
        return hash(self.temperature)

    def for_unscored(self, reason: Reason) -> float | None:
        """The score that ``on_unscored`` gives a sample without one of its own.

        A number for all reasons does not count where ``uncontexted="fail"`` closes the answer.

        >>> ScoringConfig(on_unscored={"refusal": 1.0}).for_unscored(Reason.REFUSAL)
        1.0
        """
        given = self.on_unscored
        if isinstance(given, Mapping):
            return given.get(reason)
        return None if reason.is_failure or self.closes(reason) else given

    def closes(self, reason: Reason) -> bool:
        """Whether answers that have no score for this reason do not pass."""
        return reason is Reason.EMPTY_CONTEXT and self.uncontexted == "fail"

    @property
    def plan(self) -> aggregation.Plan:
        """What scores at this temperature are computed with."""
        return _plan(
            self.temperature,
            self.scheme,
            self.penalty,
            self.eps,
            self.floor,
            self.bounds,
        )

    @property
    def place(self) -> str:
        """The temperature in a word, and a view that is not the usual one.

        >>> ScoringConfig(evidence="off").place
        'T=0.5, evidence off'
        """
        return f"T={self.temperature:g}{self.unusual_view}"

    @property
    def unusual_view(self) -> str:
        """The exponents and the view of the evidence, each where it is not the usual one.

        >>> ScoringConfig(bounds=Bounds(p_min=-4)).unusual_view
        ', p=-4..12.25'
        """
        p = "" if self.bounds == PAPER_BOUNDS else f", p={self.bounds.short_name}"
        return p + (
            "" if self.evidence == DEFAULT_EVIDENCE else f", evidence {self.evidence}"
        )

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `aggregate`, `aggregate_counts` and `flip_temperature`."""
        return {name: getattr(self, name) for name in _OPTIONS}

    def scores(self, counts: FloatArray) -> FloatArray:
        """The scores of rows of five level counts; nan where all are 0."""
        return aggregation.scores_of(counts, self.plan)[:, 0]

    def single(self, by_judge: Sequence[tuple[float, ...]]) -> float:
        """The score of one sample by its level counts, of the main judge first; nan without any."""
        plan = self.plan
        if len(by_judge) == 1:
            return _score(by_judge[0], plan)
        scores = [_score(counts, plan) for counts in by_judge]
        return float(self.joined(np.array([scores]).T)[0])

    def curve(self, counts: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """A sample's score as a function of temperatures, whatever the temperature here is.

        Args:
            counts: Its level counts, shape (J, 5), with a row for each judge, the main one first.

        Returns:
            Takes temperatures within the bounds, shape (T,), and gives as many scores; nan
            throughout where the main judge has no verdicts.

        >>> ScoringConfig().curve(np.array([[1.0, 1, 1, 0, 0]]))(np.array([0.1, 0.5])).round(3)
        array([0.786, 0.867])
        """
        by_judge = aggregation.score_curves(counts, **self.options)
        return lambda temperatures: self.joined(by_judge(temperatures))

    def joined(self, by_judge: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """The geometric mean of several judges' scores; what an additional judge lacks is left out.

        Args:
            by_judge: Arrays of one shape, the main judge's first; nan where a judge has no score.

        Returns:
            Of the same shape; nan wherever the main judge has none.

        >>> scores = [np.array([0.9, 0.9, np.nan]), np.array([0.4, np.nan, 1.0])]
        >>> ScoringConfig().joined(scores).round(3)
        array([0.6, 0.9, nan])
        """
        main = by_judge[0]
        if len(by_judge) == 1:
            return main
        table = np.stack([scores.ravel() for scores in by_judge], axis=1)
        fused = fuse(table, weights=self.fuse_weights).scores
        return np.where(np.isnan(main), np.nan, fused.reshape(main.shape))

    def for_profile(
        self, profiles: Profiles | None, metadata: Mapping[str, Any]
    ) -> ScoringConfig:
        """The settings for a sample with this metadata.

        >>> profiles = {"domain": {"medical": 0.2}}
        >>> ScoringConfig().for_profile(profiles, {"domain": "medical"}).temperature
        0.2
        """
        for field, temperatures in (profiles or {}).items():
            value = metadata.get(field)
            if value is not None and str(value) in temperatures:
                return self.changed(temperature=temperatures[str(value)])
        return self


@lru_cache(maxsize=256)  # few settings, and a score for each of many samples
def _plan(temperature: float, *options: Any) -> aggregation.Plan:
    return aggregation.make_plan(
        [temperature], **dict(zip(_OPTIONS, options, strict=True))
    )


@lru_cache(
    maxsize=4096
)  # samples have few claims: the same counts come again and again
def _score(counts: tuple[float, ...], plan: aggregation.Plan) -> float:
    return float(aggregation.scores_of(np.array([counts]), plan)[0, 0])


def _listed(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _with_otel(events: Any) -> Any:
    if events:
        check_installed(REQUIREMENTS["otel"])
    return events


class RunConfig(SettingsModel):
    """How any judge is asked."""

    store: VerdictStore | str | Path | None = Field(
        default=None,
        repr=False,
        description="A path or a VerdictStore. Verdicts that are in it cost no call.",
    )
    share: bool = Field(
        default=True,
        repr=False,
        description="Share judgements with other evaluators in this process that use the same "
        "judge.",
    )
    max_concurrency: Count = Field(
        default=8,
        repr=False,
        description="How many judgements run at the same time.",
    )
    events: Annotated[Literal[False, True, "texts"], AfterValidator(_with_otel)] = (
        Field(
            default=False,
            repr=False,
            description="Emit results as OpenTelemetry events; texts: with the claims they quote.",
        )
    )


class JudgeConfig(RunConfig):
    """How claims are made and judged."""

    claims: ClaimsMode = Field(
        default="split",
        description="How claims are found: split (sentences, one call) or llm (the judge lists "
        "them, two calls).",
    )
    max_claims: Count = Field(
        default=240,
        description="A sample with more claims is unscored, without a call.",
    )
    verdicts: VerdictForm = Field(
        default="written",
        description="How the judge answers: written (level, evidence and reason of all claims in "
        "one call) or yes_no (the probability of yes for each claim, from token probabilities).",
    )
    repeats: Count = Field(
        default=1,
        description="How often a model judges each sample independently; the spread is reported.",
    )
    fuse: Annotated[tuple[Any, ...], BeforeValidator(_listed)] = Field(
        default=(),
        description="One or more additional judges, whose scores are fused with the main judge's. "
        "lexical costs no call; a TCVA judges by its own criterion.",
    )


def _profiles(value: Any) -> Profiles | None:
    if value is None:
        return None
    fits = isinstance(value, Mapping) and len(value) == 1
    field, values = next(iter(value.items())) if fits else (None, None)
    if not (isinstance(field, str) and field and isinstance(values, Mapping)):
        msg = "must be temperatures by a field's values, e.g. {'domain': {'medical': 0.2}}"
        raise ValueError(msg)
    return {
        field: {str(each): _in_profile(field, each, t) for each, t in values.items()}
    }


def _in_profile(
    field: str,
    value: Any,
    temperature: Any,
    bounds: Bounds | None = None,
) -> float:
    try:
        return (
            check_temperature(temperature, bounds)
            if bounds
            else as_temperature(temperature)
        )
    except InvalidValueError as error:
        msg = f"profiles, {field}={value}: {error}"
        raise InvalidValueError(msg) from None


class TCVASettings(JudgeConfig, ScoringConfig):
    """All settings of `TCVA`, and of every drop-in."""

    profiles: Annotated[Profiles | None, BeforeValidator(_profiles)] = Field(
        default=None,
        description="Other temperatures for samples with certain metadata: {field: {value: T}}.",
    )
    guarantee: Guarantee | None = Field(
        default=None,
        repr=False,
        description="What was certified of the settings; from_config takes it from the file.",
    )

    @model_validator(mode="after")
    def _profiles_in_range(self) -> Self:
        for field, temperatures in (self.profiles or {}).items():
            for value, temperature in temperatures.items():
                _in_profile(field, value, temperature, self.bounds)
        return self


class ModelConfig(SettingsModel):
    """How a model behind the OpenAI API is asked."""

    base_url: str | None = Field(
        default=None,
        description="Address of the server; by default OPENAI_BASE_URL or OpenAI.",
    )
    api_key: str | None = Field(
        default=None,
        repr=False,
        description="API key; by default OPENAI_API_KEY. A server on plain http needs none.",
    )
    temperature: Annotated[Number, Field(ge=0, le=2)] | None = Field(
        default=0.0,
        description="Sampling temperature, 0 to 2; None uses the server's default.",
    )
    seed: int | None = Field(
        default=0, description="Seed of sampling; None sends none."
    )
    max_tokens: Count = Field(default=4096, description="Longest reply, in tokens.")
    timeout: Positive = Field(
        default=300.0,
        description="Seconds for one call of the judge, retries and pauses included.",
    )
    max_retries: Annotated[int, Field(ge=0)] = Field(
        default=5,
        description="How often a failed request is repeated within the timeout.",
    )
    max_concurrency: Count = Field(
        default=8,
        description="Calls at the same time, over all threads and event loops.",
    )
    requests_per_minute: Positive | None = Field(
        default=None, description="Calls per minute at most, spaced evenly."
    )
    prices: tuple[NonNegative, NonNegative] | None = Field(
        default=None,
        strict=False,
        description="Prices of a million input tokens and a million output tokens, for costs.",
    )
