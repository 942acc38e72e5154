"""What `tcva evaluate --panel` adds to its output: agreement, and where a person should look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from tcva_adapters.compare.agreement import disputed, panel_agreement
from tcva_adapters.errors import MissingDependencyError
from tcva_adapters.results.assessment import Assessment

_SHOWN: Final = 3
_CLAIM_WIDTH: Final = 60


def panel_figures(assessments: Sequence[Assessment]) -> dict[str, Any]:
    """Agreement and disputes as plain values; ``{"error": ...}`` without the package for it."""
    try:
        agreement = panel_agreement(assessments).to_dict()
    except MissingDependencyError as error:
        agreement = {"error": str(error)}
    disputes = [
        {
            "sample": dispute.sample_id,
            "spread": dispute.spread,
            "claims": [
                {"claim": claim.claim, "verdicts": dict(claim.verdicts)} for claim in dispute.claims
            ],
        }
        for dispute in disputed(assessments)
    ]
    return {"agreement": agreement, "disputed": disputes}


def print_panel(console: Console, assessments: Sequence[Assessment]) -> None:
    """Agreement in a few lines, and the most disputed claims."""
    try:
        agreement = panel_agreement(assessments)
    except MissingDependencyError as error:
        console.print(f"no figures of agreement: {error}", soft_wrap=True)
    else:
        console.print(
            f"agreement on {agreement.claims} claims of {agreement.samples} samples: "
            f"Krippendorff's alpha (ordinal) {_figure(agreement.alpha)}",
            soft_wrap=True,
        )
        for pair in agreement.pairs:
            console.print(
                f"  {pair.first} and {pair.second}: weighted kappa {_figure(pair.kappa)}, "
                f"the same level on {_figure(pair.exact)} of {pair.claims}",
                soft_wrap=True,
            )
        for judge, number in agreement.failed.items():
            if number:
                console.print(f"  {judge} gave no verdicts on {number} samples that others judged")
    disputes = disputed(assessments, _SHOWN)
    if not disputes:
        return
    console.print("most disputed, to be read first:")
    table = Table(box=None, pad_edge=False)
    judges = list(disputes[0].claims[0].verdicts)
    for heading in ("sample", "claim", *judges):
        table.add_column(heading)
    for dispute in disputes:
        claim = dispute.claims[0]
        words = ["-" if v is None else v.value for v in claim.verdicts.values()]
        text = " ".join(claim.claim.split())
        short = text if len(text) <= _CLAIM_WIDTH else f"{text[: _CLAIM_WIDTH - 1]}…"
        table.add_row(dispute.sample_id or "-", short, *words)
    console.print(table)


def _figure(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{value:.3f}"
