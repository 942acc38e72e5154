"""The library's names that the golden tests call: one place to follow a name that has moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tcva_adapters import TCVA, Panel, Sample, Verdict
from tcva_adapters.compare import reproduce
from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.panel import evaluate_panel
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.judges.reply import parse_verdicts
from tcva_adapters.results.assessment import ClaimVerdict


def verdicts_of(reply: str, claims: int) -> dict[str, list[str]]:
    """What the reader of replies finds, by claim number: a level or a mark, and the quote."""
    found = parse_verdicts(reply, claims).verdicts
    return {str(n): [str(verdict.label), verdict.evidence] for n, verdict in found.items()}


def is_lowered(claim: str, quote: str, passages: Sequence[str]) -> bool:
    """Whether the evidence check lowers `fully` for this quote."""
    verdict = ClaimVerdict(claim=claim, verdict=Verdict.FULLY, evidence=quote)
    (made,) = check_evidence([verdict], passages)
    return made.original_verdict is not None


def panel_rating(*arguments: Any) -> dict[str, Any]:
    """Judges' scores on weighted criteria as one rating."""
    return evaluate_panel(*arguments).to_dict()


def library_score(scores: Sequence[float], temperature: float) -> float:
    """What the reference library would return."""
    return score_agg(scores, temperature)


def by_panel(judges: Sequence[Any], sample: Sample, combine: str, temperature: float) -> Any:
    """The result of a panel of models."""
    panel: Any = Panel
    tcva = TCVA(judge=panel(judges, combine=combine), temperature=temperature)
    return tcva.evaluate(sample)


def paper_figures(folder: Path) -> Mapping[str, Any]:
    """What `tcva reproduce --json` prints of each set, without fused scores."""
    sets: Mapping[str, Any] = reproduce(folder, lexical=False).to_dict()["sets"]
    return sets
