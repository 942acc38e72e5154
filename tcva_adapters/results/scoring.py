"""The settings under which an assessment is seen: the dial, and what may be joined to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Final

import numpy as np
from typing_extensions import TypedDict  # pydantic reads the other one from Python 3.12 on

from tcva_adapters.core.aggregation import (
    DEFAULT_EPS,
    DEFAULT_FLOOR,
    DEFAULT_PENALTY,
    Floor,
    Penalty,
    SchemeLike,
    check_eps,
    check_floor,
    check_floored,
    check_penalty,
    score_curves,
    sweep,
)
from tcva_adapters.core.panel import Fused, fuse
from tcva_adapters.core.temperature import (
    BALANCED,
    PAPER_BOUNDS,
    Bounds,
    as_temperature,
    check_temperature,
)
from tcva_adapters.core.verdicts import FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.evidence import DEFAULT_EVIDENCE, EVIDENCE, Evidence
from tcva_adapters.results.settings import (
    Setting,
    check_names,
    check_one_of,
    check_share,
    settings_of,
)


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the scores of several judges of one sample become one.

    Attributes:
        temperature: The dial of that mean; None is the geometric mean.
        weights: One per judge, the main judge first; equal where None.

    Raises:
        InvalidValueError: A temperature out of range or weights that are no weights.

    >>> Fusion().of([[0.9, 0.4]]).scores.round(3).tolist()
    [0.6]
    """

    temperature: float | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.temperature is not None:
            object.__setattr__(self, "temperature", check_temperature(self.temperature))
        if self.weights is not None:
            weights = _numbers(self.weights)
            if weights is None:
                msg = f"weights={self.weights!r}; they are one number per judge"
                raise InvalidValueError(msg)
            object.__setattr__(self, "weights", weights)
            self.of([[1.0] * len(self.weights)])

    @property
    def short_name(self) -> str:
        """The mean, and its weights where there are some."""
        mean = "geometric" if self.temperature is None else f"T={self.temperature:g}"
        weights = "" if self.weights is None else "/".join(f"{w:g}" for w in self.weights)
        return " ".join(filter(None, (mean, weights)))

    def of(self, scores: FloatArray | list[list[float]]) -> Fused:
        """Fused scores of a matrix with one column per judge; nan where a judge has none."""
        return fuse(scores, weights=self.weights, temperature=self.temperature)

    def joined(self, by_judge: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """The scores of several judges as one: what an additional judge lacks is left out of the mean.

        Args:
            by_judge: Arrays of one shape, the main judge's first; nan where a judge has no score.

        Returns:
            Of the same shape; nan wherever the main judge has none.

        >>> GEOMETRIC.joined([np.array([0.9, 0.9, np.nan]), np.array([0.4, np.nan, 1.0])]).round(3)
        array([0.6, 0.9, nan])
        """
        main = by_judge[0]
        if len(by_judge) == 1:
            return main
        table = np.stack([scores.ravel() for scores in by_judge], axis=1)
        return np.where(np.isnan(main), np.nan, self.of(table).scores.reshape(main.shape))


def _numbers(given: Any) -> tuple[float, ...] | None:
    """Numbers as such; None where one is a text, a truth value, or too large."""
    try:
        listed = () if isinstance(given, str | bytes) else tuple(given)
        are_numbers = bool(listed) and not any(isinstance(each, str | bool) for each in listed)
        return tuple(float(each) for each in listed) if are_numbers else None
    except (TypeError, ValueError, OverflowError):
        return None


GEOMETRIC: Final = Fusion()
"""Equal weights and exponent 0."""


@dataclass(frozen=True, slots=True)
class HumanScale:
    """A rising line from scores to the scale of human ratings.

    Attributes:
        x: Scores in [0, 1], rising.
        y: Where they lie on the human scale, not falling. Between two points the line is straight,
            beyond the ends it is flat.

    Raises:
        InvalidValueError: Points that make no such line.

    >>> HumanScale((0.2, 0.8), (1.0, 4.0))(0.5)
    2.5
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        try:
            x, y = np.asarray(self.x, dtype=float), np.asarray(self.y, dtype=float)
        except (TypeError, ValueError, OverflowError):
            x = y = np.array(np.nan)
        rises = x.ndim == 1 and len(x) > 0 and x.shape == y.shape
        rises = rises and bool(np.isfinite([x, y]).all())
        if not (rises and (np.diff(x) > 0).all() and (np.diff(y) >= 0).all()):
            msg = f"x={self.x!r} with y={self.y!r} is no line that rises with x"
            raise InvalidValueError(msg)
        object.__setattr__(self, "x", tuple(x.tolist()))
        object.__setattr__(self, "y", tuple(y.tolist()))

    def __call__(self, score: float) -> float:
        """Where a score lies on the human scale."""
        return float(np.interp(score, self.x, self.y))


def _named(check: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    """A check of the core, whose messages name the setting themselves."""
    return lambda _, value: check(value)


def _check_on_unscored(name: str, value: Any) -> float | None:
    return None if value is None else check_share(name, value)


def _check_part(kind: type, wanted: str) -> Callable[[str, Any], Any]:
    def check(name: str, value: Any) -> Any:
        if not (isinstance(value, kind) or (kind is HumanScale and value is None)):
            msg = f"{name}={value!r}; it is a {wanted}"
            raise InvalidValueError(msg)
        return value

    return check


def _bounds_of(given: Any) -> Bounds:
    """Bounds as they are, or from a mapping as configuration files have it."""
    known = [field.name for field in fields(Bounds)]
    if isinstance(given, Mapping) and given and set(given) <= {*known}:
        return Bounds(**given)
    if not isinstance(given, Bounds):
        msg = f"bounds={given!r}; they are Bounds(p_min=-8, p_max=12.25), or a mapping with {', '.join(known)}"
        raise InvalidValueError(msg)
    return given


class StrictnessSettings(TypedDict, total=False):
    """How strict a score is; some drop-ins take these two by position."""

    temperature: Annotated[
        float | str,
        Setting(
            BALANCED,
            "Strictness in [0.1, 1.0], low is strict; strict, balanced, lenient; or a domain: "
            "medicine, finance, law, security, corporate, education, creative, chat.",
            _named(as_temperature),  # whether it lies within the bounds is seen beside these
            in_files=True,
            label="T",
        ),
    ]
    threshold: Annotated[
        float, Setting(0.5, "A score in [0, 1] passes from here on.", check_share, in_files=True)
    ]


class WeightSettings(TypedDict, total=False):
    """What else makes a score of verdicts."""

    scheme: Annotated[
        SchemeLike,
        Setting(
            WeightScheme.DEFAULT,
            "Weights of the five levels: default, linear, aggressive, conservative, or five "
            "numbers.",
            _named(WeightScheme.resolve),
            in_files=True,
        ),
    ]
    penalty: Annotated[
        Penalty,
        Setting(
            DEFAULT_PENALTY,
            "Penalty for none verdicts: paper, ramped, absolute or off.",
            _named(check_penalty),
            in_files=True,
        ),
    ]
    eps: Annotated[
        float,
        Setting(
            DEFAULT_EPS,
            "Floor under the weights; one above 1e-9 goes with floor always.",
            _named(check_eps),
            in_files=True,
        ),
    ]
    floor: Annotated[
        Floor,
        Setting(
            DEFAULT_FLOOR,
            "Where the floor applies: paper (at exponents up to 0), or always.",
            _named(check_floor),
            in_files=True,
        ),
    ]
    bounds: Annotated[
        Bounds,
        Setting(
            PAPER_BOUNDS,
            "The exponents of the power mean at the ends of the scale of temperatures.",
            lambda _, bounds: _bounds_of(bounds),
            in_files=True,
            label="p",
        ),
    ]
    evidence: Annotated[
        Evidence,
        Setting(
            DEFAULT_EVIDENCE,
            "What a fully or mostly counts as whose quote does not support it: lower (partial) or "
            "off (as it is).",
            check_one_of(*EVIDENCE),
            in_files=True,
        ),
    ]
    on_unscored: Annotated[
        float | None,
        Setting(
            None,
            "Score for samples that have none of their own (a refusal, an empty context); failures "
            "of the judge never become a score.",
            _check_on_unscored,
            in_files=True,
        ),
    ]
    fusion: Annotated[
        Fusion,
        Setting(GEOMETRIC, "The mean that fuses several judges.", _check_part(Fusion, "Fusion")),
    ]
    mapping: Annotated[
        HumanScale | None,
        Setting(
            None,
            "From scores to a human scale (tcva calibrate).",
            _check_part(HumanScale, "HumanScale, or None"),
            is_named=False,
        ),
    ]


class DialSettings(StrictnessSettings, WeightSettings, total=False):
    """The dial: settings that cost no call, so that they may change after the judgement."""


DIAL: Final = settings_of(DialSettings)
"""The settings of the dial by name."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The settings of the dial; `DialSettings` says what each means.

    Attributes:
        temperature: See there.
        threshold: See there.
        scheme: See there.
        penalty: See there.
        eps: See there.
        floor: See there.
        bounds: See there.
        evidence: See there.
        on_unscored: See there.
        fusion: See there.
        mapping: See there.

    Raises:
        InvalidValueError: A setting is out of range or unknown, or ``eps`` and ``floor`` do not go
            together, wherever the temperature stands: flips, sweeps and reports turn the dial over
            all of its range. Raised when built.
    """

    temperature: float = DIAL["temperature"].default
    threshold: float = DIAL["threshold"].default
    scheme: WeightScheme = DIAL["scheme"].default
    penalty: Penalty = DIAL["penalty"].default
    eps: float = DIAL["eps"].default
    floor: Floor = DIAL["floor"].default
    evidence: Evidence = DIAL["evidence"].default
    on_unscored: float | None = DIAL["on_unscored"].default
    fusion: Fusion = DIAL["fusion"].default
    mapping: HumanScale | None = DIAL["mapping"].default
    bounds: Bounds = DIAL["bounds"].default

    def __post_init__(self) -> None:
        for name, setting in DIAL.items():
            if name != "temperature":
                object.__setattr__(self, name, setting.check(name, getattr(self, name)))
        temperature = check_temperature(self.temperature, self.bounds)
        object.__setattr__(self, "temperature", temperature)
        check_floored(self.eps, self.floor, self.bounds.p_max)

    @property
    def place(self) -> str:
        """Where the dial stands, in a word: the temperature, and a view that is not the usual one.

        >>> Scoring(evidence="off").place
        'T=0.5, evidence off'
        """
        return f"T={self.temperature:g}{self.unusual_view}"

    @property
    def unusual_view(self) -> str:
        """The exponents and the view of the evidence, each where it is not the usual one.

        >>> Scoring(bounds=Bounds(p_min=-4)).unusual_view
        ', p=-4..12.25'
        """
        p = "" if self.bounds == PAPER_BOUNDS else f", p={self.bounds.short_name}"
        return p + ("" if self.evidence == DEFAULT_EVIDENCE else f", evidence {self.evidence}")

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `aggregate`, `sweep` and `flip_temperature`."""
        return {
            "scheme": self.scheme,
            "penalty": self.penalty,
            "eps": self.eps,
            "floor": self.floor,
            "bounds": self.bounds,
        }

    def single(self, counts: Sequence[float]) -> float:
        """The score of five level counts; nan where all are 0."""
        return float(sweep([counts], [self.temperature], **self.options)[0, 0])

    def curve(self, counts: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """A sample's score as a function of temperatures, whatever the temperature here is.

        Args:
            counts: Its level counts, shape (J, 5), with a row for each judge, the main one first.

        Returns:
            Takes temperatures within the bounds, shape (T,), and gives as many scores; nan
            throughout where the main judge has no verdicts.

        >>> Scoring().curve(np.array([[1.0, 1, 1, 0, 0]]))(np.array([0.1, 0.5])).round(3)
        array([0.786, 0.867])
        """
        by_judge = score_curves(counts, **self.options)
        return lambda temperatures: self.fusion.joined(by_judge(temperatures))


@dataclass(frozen=True)
class Profiles:
    """Settings that depend on a metadata field: one suite, several strictnesses.

    Attributes:
        by: The metadata field.
        values: Its values as text (``str`` of what the metadata holds), each with the settings
            that differ there.

    Raises:
        InvalidValueError: A setting is unknown, or the values are no mapping to settings.

    >>> profiles = Profiles("domain", {"medical": {"temperature": 0.2}})
    >>> profiles.scoring(Scoring(), {"domain": "medical"}).temperature
    0.2
    >>> profiles.scoring(Scoring(), {"domain": "chat"}).temperature
    0.5
    """

    by: str
    values: Mapping[str, Mapping[str, Any]]

    @property
    def short_name(self) -> str:
        """The field."""
        return f"by {self.by}"

    def __post_init__(self) -> None:
        by: Any = self.by
        if not isinstance(by, str) or not by:
            msg = f"by={by!r}; it is the name of a metadata field"
            raise InvalidValueError(msg)
        values: Any = self.values
        for settings in values.values() if isinstance(values, Mapping) else [None]:
            if not isinstance(settings, Mapping):
                msg = f"values={values!r}; they map each value of {self.by!r} to settings"
                raise InvalidValueError(msg)
            # Any eps goes with this floor; whether it goes with that of all samples shows in `check`.
            changed(Scoring(floor="always"), settings)

    def check(self, default: Scoring) -> None:
        """Nothing, if each profile's settings go with those of all other samples.

        Raises:
            InvalidValueError: An ``eps`` and a ``floor`` do not go together.
        """
        for settings in self.values.values():
            changed(default, settings)

    def scoring(self, default: Scoring, metadata: Mapping[str, Any]) -> Scoring:
        """The settings for a sample with this metadata."""
        value = metadata.get(self.by)
        settings = None if value is None else self.values.get(str(value))
        return changed(default, settings) if settings else default


def changed(scoring: Scoring, changes: Mapping[str, Any]) -> Scoring:
    """Settings with some of them changed, presets and schemes by name.

    Raises:
        InvalidValueError: A setting is out of range, or unknown.
    """
    check_names(changes, Scoring.__dataclass_fields__.keys(), of="a result")
    return replace(scoring, **changes)
