"""The settings under which an assessment is seen: the dial, and what may be joined to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tcva_adapters.core.aggregation import Floor, sweep
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.panel import Fused, fuse
from tcva_adapters.core.temperature import PAPER_BOUNDS, Bounds, check_temperature
from tcva_adapters.core.verdicts import FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError


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
            try:
                weights = tuple(float(weight) for weight in self.weights)
            except (TypeError, ValueError):
                msg = f"weights={self.weights!r}; they are one number per judge"
                raise InvalidValueError(msg) from None
            object.__setattr__(self, "weights", weights)
            self.of([[1.0] * len(self.weights)])

    def of(self, scores: FloatArray | list[list[float]]) -> Fused:
        """Fused scores of a matrix with one column per judge; nan where a judge has none."""
        return fuse(scores, weights=self.weights, temperature=self.temperature)

    def joined(self, by_judge: Sequence[FloatArray]) -> FloatArray:
        """The scores of several judges as one: what a further judge lacks is left out of the mean.

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


GEOMETRIC: Final = Fusion()
"""Equal weights and exponent 0."""


@dataclass(frozen=True, slots=True)
class HumanScale:
    """A rising line from scores to the scale of the people who labelled samples.

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


@dataclass(frozen=True, slots=True)
class Scoring:
    """The settings of the dial. They cost no call, so they may change after the judgement.

    Attributes:
        temperature: Strictness in [0.1, 1.0], low is strict.
        threshold: A score passes from here on, in [0, 1].
        scheme: Weights of the five levels.
        penalty: Dialect of the penalty for ``none`` verdicts.
        eps: The floor under weights where the exponent is not positive.
        floor: ``paper`` floors for p <= 0 only, ``always`` at every p.
        on_unscored: The score of a sample that has none of its own (a refusal, an empty context);
            None leaves it unscored. Failures of the judge never become a score.
        bounds: End points of the map from temperature to exponent.
        fusion: How the scores of several judges become one, where a sample has several.
        mapping: From the score to the scale of people, where one was fitted (`tcva calibrate`).

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised when built.
    """

    temperature: float = 0.5
    threshold: float = 0.5
    scheme: WeightScheme = WeightScheme.DEFAULT
    penalty: Penalty = "paper"
    eps: float = 1e-9
    floor: Floor = "paper"
    on_unscored: float | None = None
    bounds: Bounds = PAPER_BOUNDS
    fusion: Fusion = GEOMETRIC
    mapping: HumanScale | None = None

    def __post_init__(self) -> None:
        for name, kind in (("fusion", Fusion), ("mapping", HumanScale | None)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                wanted = getattr(kind, "__name__", "HumanScale, or None")
                msg = f"{name}={value!r}; it is a {wanted}"
                raise InvalidValueError(msg)
        temperature = check_temperature(self.temperature, self.bounds)
        object.__setattr__(self, "temperature", temperature)
        _check_share("threshold", self.threshold)
        if self.on_unscored is not None:
            _check_share("on_unscored", self.on_unscored)
        sweep([[1, 0, 0, 0, 0]], [self.temperature], **self.options)  # checks the rest

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


def _check_share(name: str, value: Any) -> None:
    number = isinstance(value, int | float | np.integer | np.floating)
    if isinstance(value, bool) or not number or not 0.0 <= value <= 1.0:
        msg = f"{name}={value!r}; it lies in [0, 1]"
        raise InvalidValueError(msg)


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

    def __post_init__(self) -> None:
        values: Any = self.values
        for settings in values.values() if isinstance(values, Mapping) else [None]:
            if not isinstance(settings, Mapping):
                msg = f"values={values!r}; they map each value of {self.by!r} to settings"
                raise InvalidValueError(msg)
            changed(Scoring(), settings)

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
    unknown = changes.keys() - Scoring.__dataclass_fields__.keys()
    if unknown:
        known = ", ".join(Scoring.__dataclass_fields__)
        msg = f"unknown setting {min(unknown)!r}; settings are {known}"
        raise InvalidValueError(msg)
    values = dict(changes)
    if "scheme" in values:
        values["scheme"] = WeightScheme.resolve(values["scheme"])
    return replace(scoring, **values)
