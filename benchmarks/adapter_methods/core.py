"""TCVA itself."""

from __future__ import annotations

from typing import Final

from benchmarks.adapter_methods import CLIENT, LOOP, Method, Run
from tcva_adapters import TCVA


def many(_: str, limit: int) -> Run:
    tcva = TCVA(judge=CLIENT, max_concurrency=limit)
    return lambda rows, _: [r.score for r in tcva.evaluate_many(rows, progress=False)]


def amany(_: str, limit: int) -> Run:
    tcva = TCVA(judge=CLIENT, max_concurrency=limit)
    return lambda rows, _: [r.score for r in LOOP.run(tcva.aevaluate_many(rows, progress=False))]


METHODS: Final = [
    Method("evaluate_many", many, is_ours=True, with_our_client=True),
    Method("aevaluate_many", amany, is_ours=True, with_our_client=True),
]
