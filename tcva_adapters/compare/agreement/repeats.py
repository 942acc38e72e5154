"""Measure the judge's noise by repeats of a judgement."""

from __future__ import annotations

import math

import numpy as np

from tcva_adapters.compare.agreement.panels import results_of_main
from tcva_adapters.compare.scores.score_reader import Source, read_scores
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.stats.describe import mean
from tcva_adapters.stats.raters import variance_components
from tcva_adapters.tables import Report, Table, cell, counted, named_columns


def repeat_report(source: ScoreTable | Source) -> Report:
    """Report the variance by judge and by sample, and the flips of decisions, over repeats.

    Args:
        source: Results of a `TCVA` with ``repeats``, or a table with them.

    Returns:
        One table ``repeats`` with one record: over the samples with two or more scored repeats, the
        number that ``flip`` at the threshold, the mean share of pairs of repeats that ``disagree``,
        the number whose repeats are the ``same`` word for word, the standard deviations
        ``judge_sd`` (within a sample) and ``sample_sd`` (between samples), the ``standard_error``
        of the mean, and what it would be with ``one_repeat_more`` or with as many judgements of
        ``more_samples``.

    Raises:
        InvalidValueError: No sample was judged several times.
    """
    results = results_of_main(read_scores(source))
    repeats_by_sample = [result.repeats if result else () for result in results]
    most = max(map(len, repeats_by_sample), default=0)
    if not most:
        raise InvalidValueError(
            "no sample was judged several times; judge with repeats=3 (--set repeats=3)"
        )

    scores = np.full((len(results), most), np.nan)
    disagreements = []
    flips = []
    same = 0
    for row, repeats in zip(scores, repeats_by_sample, strict=True):
        scored = [repeat for repeat in repeats if repeat.score is not None]
        number = len(scored)
        passing = sum(bool(repeat.passed) for repeat in scored)
        if number < 2:
            continue
        row[:number] = [repeat.score for repeat in scored]
        flips.append(0 < passing < number)
        disagreements.append(2 * passing * (number - passing) / (number * (number - 1)))
        same += len({repeat.claims for repeat in repeats}) == 1

    samples = len(disagreements)
    variance = variance_components(scores)
    more_repeats = variance.repeats + 1
    record = {
        "samples": samples,
        "repeats": most,
        "flip": sum(flips),
        "flip_rate": mean(np.array(flips)),
        "disagree": mean(np.array(disagreements)),
        "same": same,
        "judge_sd": math.sqrt(variance.judge),
        "sample_sd": math.sqrt(variance.sample),
        "standard_error": variance.standard_error,
        "one_repeat_more": variance.error_with(variance.samples, more_repeats),
        "more_samples": variance.error_with(
            variance.samples * more_repeats / variance.repeats, variance.repeats
        ),
    }
    sentence = (
        f"In {most} repeats, the decision flips on {sum(flips)} of {counted(samples, 'sample')}. The "
        f"judge's standard deviation of a score is {cell(record['judge_sd'], 'score')}."
    )
    if not samples:
        sentence = "No sample has two repeats with a score."
    notes = []
    if same == samples > 0:
        notes.append(
            "All repeats are identical: the model ignores temperature and seed, or a cache answers. "
            "They say nothing about the judge's noise."
        )
    return Report(
        sentence,
        [
            Table(
                "repeats",
                named_columns(
                    samples="int",
                    repeats="int",
                    flip="int",
                    disagree="share",
                    same="int",
                    judge_sd="score",
                    sample_sd="score",
                    standard_error="score",
                    one_repeat_more="score",
                    more_samples="score",
                ),
                [record],
            )
        ],
        notes,
    )
