"""The settings that a calibration chooses from, and the scores under each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

import numpy as np

from tcva_adapters.core.aggregation import DEFAULT_EPS, Floor, Penalty, SchemeLike, check_eps, sweep
from tcva_adapters.core.temperature import PAPER_BOUNDS
from tcva_adapters.core.verdicts import FloatArray, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import ScoringConfig

DEFAULT: Final = ScoringConfig()

_CHOSEN: Final = ("temperature", "scheme", "penalty", "floor", "eps", "threshold")


def temperature_grid(step: float = 0.05) -> list[float]:
    """Temperatures from 0.1 to 1.0, this far apart; 1.0 is always among them.

    Raises:
        InvalidValueError: The step is not above 0 and at most 0.9.

    >>> temperature_grid(0.25)
    [0.1, 0.35, 0.6, 0.85, 1.0]
    """
    low, high = PAPER_BOUNDS.t_min, PAPER_BOUNDS.t_max
    if not 1e-4 <= step <= high - low:
        msg = f"the step between temperatures is {step!r}; it lies between 0.0001 and 0.9"
        raise InvalidValueError(msg)
    inner = low + step * np.arange(int((high - low) / step + 1e-9) + 1)
    return sorted({*np.round(inner, 10).tolist(), high})


@dataclass(frozen=True)
class Grid:
    """The settings that a calibration chooses from; None is the baseline's own.

    Attributes:
        temperatures: None is `temperature_grid`.
        schemes: Weight schemes.
        penalties: Penalty dialects.
        floors: Floors.
        eps: Least weights. One above the default is combined with the floor ``always`` alone.
        thresholds: A score passes from here on.
    """

    temperatures: Sequence[float | str] | None = None
    schemes: Sequence[SchemeLike] | None = None
    penalties: Sequence[Penalty] | None = None
    floors: Sequence[Floor] | None = None
    eps: Sequence[float] | None = None
    thresholds: Sequence[float] | None = None

    def candidates(self, baseline: ScoringConfig) -> list[ScoringConfig]:
        """Every combination, and the baseline, each once, those closest to the baseline first.

        What is not chosen here is the baseline's: the fusion of several judges, say, or the view of
        the evidence. That one says what counts as a verdict, which is no matter of taste.

        Keeping the baseline is always possible. Among candidates that agree with human ratings
        equally well the first one wins, so settings change only for a reason.

        Raises:
            InvalidValueError: A setting is out of range or unknown, or an ``eps`` above the default
                is to be chosen from and the floor ``always`` is not.
        """
        temperatures = temperature_grid() if self.temperatures is None else self.temperatures
        others = (self.schemes, self.penalties, self.floors, self.eps, self.thresholds)
        choices: list[Any] = [
            given or [getattr(baseline, name)]
            for name, given in zip(_CHOSEN[1:], others, strict=True)
        ]
        combinations = [
            dict(zip(_CHOSEN, combination, strict=True))
            for combination in product(temperatures, *choices)
        ]
        if "always" in choices[_CHOSEN.index("floor") - 1]:
            combinations = [
                each
                for each in combinations
                if each["floor"] != "paper" or check_eps(each["eps"]) <= DEFAULT_EPS
            ]
        every = [baseline.changed(**each) for each in combinations]

        def distance(scoring: ScoringConfig) -> tuple[int, float, float]:
            return (
                sum(getattr(scoring, name) != getattr(baseline, name) for name in _CHOSEN[1:]),
                round(abs(scoring.temperature - baseline.temperature), 9),
                abs(scoring.threshold - baseline.threshold),
            )

        return sorted(dict.fromkeys([baseline, *every]), key=distance)


def score_matrix(counts: FloatArray, settings: Sequence[ScoringConfig]) -> FloatArray:
    """The scores under each setting, fused where there are several judges.

    Args:
        counts: Shape (N, J, 5).
        settings: With one fusion.

    Returns:
        Shape (N, settings); nan where the first judge has no verdicts.
    """
    scores = np.empty((len(counts), len(settings)))
    together: dict[tuple[Any, ...], list[int]] = {}
    for j, scoring in enumerate(settings):
        together.setdefault(tuple(scoring.options.values()), []).append(j)
    for columns in together.values():
        grid = [settings[j].temperature for j in columns]
        first = settings[columns[0]]
        judges = [sweep(rows, grid, **first.options) for rows in counts.swapaxes(0, 1)]
        scores[:, columns] = first.joined(judges)
    return scores


def describe(scoring: ScoringConfig) -> str:
    """A setting in a few words: the temperature, and whatever differs from the default.

    >>> describe(ScoringConfig(temperature=0.7, penalty="off"))
    'T=0.7, penalty off'
    """
    words = [f"T={scoring.temperature:g}"]
    for name in _CHOSEN[1:]:
        value = getattr(scoring, name)
        if value != getattr(DEFAULT, name):
            words.append(f"{name} {scheme_text(value) if name == 'scheme' else value}")
    if scoring.bounds != DEFAULT.bounds:
        words.append(f"p {scoring.bounds.short_name}")
    if scoring.evidence != DEFAULT.evidence:
        words.append(f"evidence {scoring.evidence}")
    return ", ".join(words)


def scheme_text(scheme: WeightScheme) -> str:
    """The scheme's name, or its numbers where it has none of its own."""
    return ",".join(f"{w:g}" for w in scheme.weights) if scheme.name == "custom" else scheme.name


def as_settings(scoring: ScoringConfig) -> dict[str, Any]:
    """A setting as plain JSON values, under the names of the configuration file."""
    scheme = scoring.scheme
    weights = list(scheme.weights) if scheme.name == "custom" else scheme.name
    names = (*_CHOSEN, "evidence")
    ends = {} if scoring.bounds == DEFAULT.bounds else {"bounds": asdict(scoring.bounds)}
    return {name: getattr(scoring, name) for name in names} | {"scheme": weights} | ends
