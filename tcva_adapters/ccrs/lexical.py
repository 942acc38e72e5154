"""Rate the five metrics by counting words: offline, deterministic, and no more than a baseline.

Each number grows with something that can be counted and says nothing about meaning. The settings
are round numbers that were not fitted to any data.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from statistics import fmean
from typing import ClassVar

from tcva_adapters.ccrs.metrics import Metric
from tcva_adapters.ccrs.reply import HIGHEST
from tcva_adapters.ccrs.result import MetricAnswer
from tcva_adapters.criteria import CORRECTNESS, FAITHFULNESS, Criterion
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.results.judgement import Reason, Unscored, Usage
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.words import Token, is_content, tokenise

LEXICAL_VERSION = "lexical/ccrs-3"
"""Version of the algorithm; it changes whenever a rating could change."""

_Share = float | Unscored
"""A rating in [0, 1], or why there is none."""

_CLAIMS = LexicalJudge()
_ENOUGH = 8  # different content words from which on an answer is not too thin
_AMPLE = 120  # words from which on an answer is on the long side


class LexicalRater:
    """Rate samples by counting words; the functions below say what each metric counts."""

    name = LEXICAL_VERSION
    # Coherence and correctness ask this judge.
    parameters: ClassVar = {"claims": _CLAIMS.name}
    is_local = True
    identity = None

    def rate(self, sample: Sample, metric: Metric) -> MetricAnswer:
        """Rate a sample from 0 to 100; it must have the fields that the metric needs."""
        started = time.perf_counter()
        share = _SHARES[metric.name](sample)
        usage = Usage(seconds=time.perf_counter() - started)
        if isinstance(share, Unscored):
            return MetricAnswer(unscored=share, usage=usage)
        return MetricAnswer(rating=HIGHEST * share, usage=usage)


def coherence(sample: Sample) -> _Share:
    """Rate contextual coherence: the mean support of the response's claims by the contexts."""
    return _support(sample, FAITHFULNESS)


def relevance(sample: Sample) -> _Share:
    """Rate question relevance: the share of the question's words that the response takes up.

    >>> relevance(Sample(input="Where is the red car?", response="The car is in the garage."))
    0.5
    """
    return _word_share(sample.input or "", sample.response or "", Reason.EMPTY_INPUT)


def density(sample: Sample) -> _Share:
    """Rate information density: high with few repetitions and enough words, but not too many.

    The rating is the product of three shares: of first occurrences among the content words; of
    different content words out of 8; and of 120 words in the length of the response. The last two
    are at most 1. Neither the question nor the passages count.

    >>> density(Sample(response="The tablet is taken once a day."))  # tablet, taken, day
    0.375
    """
    tokens = tokenise(sample.response or "")
    words = [token.key for token in tokens if is_content(token)]
    if not words:
        return 0.0
    different = len(set(words))
    return (
        different
        / len(words)
        * min(1.0, different / _ENOUGH)
        * min(1.0, _AMPLE / len(tokens))
    )


def correctness(sample: Sample) -> _Share:
    """Rate answer correctness: how far the response and the reference support each other.

    The rating is the harmonic mean of the two directions, so that surplus and missing content both
    lower it.
    """
    swapped = sample.model_copy(
        update={"response": sample.reference, "reference": sample.response}
    )
    of_response = _support(sample, CORRECTNESS)
    of_reference = _support(swapped, CORRECTNESS)
    if isinstance(of_response, Unscored):
        return of_response
    if isinstance(of_reference, Unscored):
        return of_reference
    total = of_response + of_reference
    return 2.0 * of_response * of_reference / total if total else 0.0


def recall(sample: Sample) -> _Share:
    """Rate information recall: the share of the reference's words that occur in the response.

    >>> recall(Sample(reference="A red car.", response="The car was blue."))
    0.5
    """
    return _word_share(
        sample.reference or "", sample.response or "", Reason.EMPTY_REFERENCE
    )


_SHARES = {
    "cc": coherence,
    "qr": relevance,
    "id": density,
    "ac": correctness,
    "ir": recall,
}


def _support(sample: Sample, criterion: Criterion) -> _Share:
    """The mean weight of the claims under the lexical judge's probabilities."""
    assessment = _CLAIMS.assess(sample, criterion)
    if assessment.unscored is not None:
        return assessment.unscored
    weights = [
        weight for claim in assessment.claims if (weight := claim.weight()) is not None
    ]
    return min(1.0, fmean(weights))


def _word_share(wanted: str, text: str, if_none: Reason) -> _Share:
    """The share of the different content words of one text that occur in another."""
    tokens = tokenise(wanted)
    # A question such as "Who are you?" has only function words, which then count.
    words = _keys(filter(is_content, tokens)) or _keys(tokens)
    if not words:
        return Unscored(reason=if_none, detail="the text has no words to compare")
    return len(words & _keys(tokenise(text))) / len(words)


def _keys(tokens: Iterable[Token]) -> set[str]:
    return {token.key for token in tokens}
