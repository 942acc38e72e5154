"""A setting of the score in words, and as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from tcva_adapters.results.settings import ScoringConfig

CHOSEN: Final = ("temperature", "scheme", "penalty")
"""What a calibration chooses."""

_DEFAULT: Final = ScoringConfig()


def described(scoring: ScoringConfig) -> str:
    """A setting in a few words: the temperature, and whatever differs from the default.

    >>> described(ScoringConfig(temperature=0.7, penalty="off"))
    'T=0.7, penalty off'
    """
    words = [scoring.place]
    for name in ("scheme", "penalty", "floor", "eps"):
        value = getattr(scoring, name)
        if value != getattr(_DEFAULT, name):
            words.append(f"{name} {getattr(value, 'short_name', value)}")
    return ", ".join(words)


def plain(scoring: ScoringConfig) -> dict[str, Any]:
    """A setting as plain values, under the names of the configuration file."""
    found = {name: getattr(scoring, name) for name in (*CHOSEN, "floor", "eps", "evidence")}
    scheme = scoring.scheme
    found["scheme"] = list(scheme.weights) if scheme.name == "custom" else scheme.name
    own: dict[str, Any] = (
        {} if scoring.bounds == _DEFAULT.bounds else {"bounds": asdict(scoring.bounds)}
    )
    if scoring.fuse_weights is not None:
        own["fuse_weights"] = list(scoring.fuse_weights)
    return found | own
