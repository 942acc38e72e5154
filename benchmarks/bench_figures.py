"""The arithmetic of the measurements: ideal times, CPU above a bare client, what a prefix cache serves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median


def ideal_seconds(requests: int, delay: float, concurrency: int) -> float:
    """How long the server's pauses take where `concurrency` requests wait at once and all else is free.

    >>> ideal_seconds(500, 0.2, 32)   # 16 rounds
    3.2
    """
    return math.ceil(requests / concurrency) * delay


def cpu_above_bare(cpu: float, bare: float, *, posted: int, requests: int, samples: int) -> float:
    """Seconds of CPU a sample that a bare client does not need for the same requests.

    Args:
        cpu: Seconds of the method's process, for all its samples.
        bare: Seconds of a bare client that posted some of the same bodies.
        posted: How many bodies that were.
        requests: How many requests the method made.
        samples: How many samples it judged.

    >>> cpu_above_bare(3.0, 0.5, posted=500, requests=1000, samples=500)
    0.004
    """
    return (cpu - bare * requests / posted) / samples


def prefix_share(
    prompts: Iterable[Sequence[int]], *, block: int, least: int = 0
) -> tuple[int, int]:
    """Tokens that a prefix cache serves at most, and all tokens.

    The cache keeps whole blocks of each prompt, with all that stands before them, for ever, and has
    them when the next prompt comes.

    Args:
        prompts: The tokens of each request, in the order of arrival.
        block: Tokens in a block: 16 in vLLM, 128 with OpenAI.
        least: Shorter common beginnings count for nothing: 1024 with OpenAI.

    >>> prefix_share([[1, 2, 3, 4, 5], [1, 2, 3, 9, 9]], block=2)   # [1, 2]
    (2, 10)
    >>> prefix_share([[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]], block=2, least=5)
    (0, 10)
    """
    seen: set[int] = set()
    served = total = 0
    for tokens in prompts:
        total += len(tokens)
        chain, known, common = 0, True, 0
        for start in range(0, len(tokens) - block + 1, block):
            chain = hash((chain, *tokens[start : start + block]))
            known = known and chain in seen
            common += block * known
            seen.add(chain)
        served += common if common >= least else 0
    return served, total


def middle(values: Iterable[float]) -> float | None:
    """The median; None of nothing."""
    known = list(values)
    return median(known) if known else None


def ratio(ours: float | None, theirs: float | None) -> float | None:
    """Ours over theirs; None where one is missing or theirs is not above zero."""
    if ours is None or theirs is None or theirs <= 0:
        return None
    return ours / theirs
