"""Measures of how a ranked list of passages was used, named as in information retrieval."""

from __future__ import annotations

from tcva_adapters.stats.checks import BoolArray, IntArray

CUTOFFS = (1, 3, 5)
"""The numbers of first passages of which the precision is measured."""


def passage_measures(used: BoolArray, characters: IntArray) -> dict[str, float]:
    """Measure how the ranked passages of one sample were used.

    Args:
        used: Whether each passage is used, shape (N,), the first of the list first.
        characters: The length of each, likewise.

    Returns:
        ``passages used``, a share, the precision of the whole list; ``characters not used``, a share;
        ``precision at k`` for each of `CUTOFFS`, the share of the first k passages that are used; and
        ``reciprocal rank``, one divided by the rank of the first used passage, or 0 if there is none
        (Voorhees, TREC-8, 1999). What is not defined is left out: all for an empty list, the precision at
        more passages than there are, a share of no characters.

    >>> import numpy as np
    >>> passage_measures(np.array([False, True]), np.array([30, 10]))
    {'precision at 1': 0.0, 'reciprocal rank': 0.5, 'passages used': 0.5, 'characters not used': 0.75}
    """
    n = len(used)
    measures = {f"precision at {k}": used[:k].mean() for k in CUTOFFS if k <= n}
    if n:
        measures["reciprocal rank"] = used.any() / (1 + used.argmax())
        measures["passages used"] = used.mean()
    if characters.any():
        measures["characters not used"] = characters[~used].sum() / characters.sum()
    return {name: float(value) for name, value in measures.items()}
