"""A rising line from scores to the human scale, and what it is worth on unseen samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcva_adapters.compare.calibration.nested import Division, Gain
from tcva_adapters.compare.calibration.objectives import Objective
from tcva_adapters.results.scoring import HumanScale
from tcva_adapters.stats.checks import FloatArray
from tcva_adapters.stats.scipy_extra import scipy_module


@dataclass(frozen=True)
class Mapped:
    """A mapping, fitted on all samples, with its errors.

    Attributes:
        scale: The line.
        mae: Mean absolute error of mapped scores, out of fold.
        mae_in_sample: The same on the samples that the line was fitted on: too good.
        mae_raw: Of the scores themselves, stretched to the human scale.
        gain: ``mae_raw - mae``.
    """

    scale: HumanScale
    mae: float
    mae_in_sample: float
    mae_raw: float
    gain: Gain


def fit_isotonic(scores: FloatArray, human: FloatArray) -> HumanScale:
    """The non-decreasing line with the least squared error (Barlow et al. 1972).

    Equal scores are averaged first. Of a run of equal values only the ends are kept, so between
    two runs the line is straight.

    Args:
        scores: Shape (N,), at least one.
        human: Shape (N,).

    Raises:
        MissingDependencyError: scipy is missing.

    >>> fit_isotonic(np.array([0.1, 0.4, 0.5, 0.9]), np.array([1.0, 3.0, 2.0, 5.0]))
    HumanScale(x=(0.1, 0.4, 0.5, 0.9), y=(1.0, 2.5, 2.5, 5.0))
    """
    optimize = scipy_module("optimize", "the isotonic mapping needs")
    x, group, size = np.unique(scores, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=human) / size
    y: FloatArray = optimize.isotonic_regression(means, weights=size.astype(np.float64)).x
    inner = np.zeros(len(y), dtype=np.bool_)
    inner[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
    return HumanScale(tuple(x[~inner].tolist()), tuple(y[~inner].tolist()))


def map_scores(
    columns: FloatArray,
    best: FloatArray,
    human: FloatArray,
    division: Division,
    human_scale: tuple[float, float],
) -> Mapped:
    """Fit on all samples, and measure on samples that neither choice nor fit has seen.

    Args:
        columns: Shape (N, repeats * folds): all scores, as the choice outside each fold sees them.
        best: Shape (N,): the scores under the setting that is recommended in the end.
        human: Shape (N,).
        division: The folds of that choice.
        human_scale: Lowest and highest rating.

    Raises:
        MissingDependencyError: scipy is missing.
    """
    low, high = human_scale
    shape = (len(human), division.drawn.repeats)
    mapped, raw = np.empty(shape), np.empty(shape)
    for i, held_out in enumerate(division.held_out.astype(np.bool_)):
        line = fit_isotonic(columns[~held_out, i], human[~held_out])
        unseen = columns[held_out, i]
        repeat = i // division.drawn.folds
        mapped[held_out, repeat] = np.interp(unseen, line.x, line.y)
        raw[held_out, repeat] = low + (high - low) * unseen
    error = Objective("mae")
    scale = fit_isotonic(best, human)
    fitted = np.interp(best, scale.x, scale.y)[:, None]
    return Mapped(
        scale=scale,
        mae=float(error.values(mapped, human).mean()),
        mae_in_sample=float(error.values(fitted, human)[0]),
        mae_raw=float(error.values(raw, human).mean()),
        gain=division.gain(error, mapped, raw, human),
    )
