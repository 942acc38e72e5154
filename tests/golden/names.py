"""The library's names that the golden tests call: one place to follow a name that has moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tcva_adapters import Verdict
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


def paper_figures(folder: Path) -> Mapping[str, Any]:
    """The figures of each set's tables, without fused scores."""
    report = reproduce(folder, lexical=False)
    sets: dict[str, Any] = {
        record["set"]: {key: {} for key in ("table5", "table7", "table8", "table9", "unrounded")}
        for record in report.records("sets")
    }
    for five, six in zip(report.records("Table 5"), report.records("Table 6"), strict=True):
        of, name = sets[five["set"]], five["method"]
        of["table5"][name] = {key: (five | six)[key] for key in ("n", "rho", "tau", "mae")}
        if "unrounded" in five:
            of["unrounded"][name] = five["unrounded"]
    for row in report.records("Table 7"):
        sets[row["set"]]["table7"][row["method"]] = row["rho"]
    for row in report.records("Table 9"):
        sets[row["set"]]["table9"][row["method"][0]] = row["rho"]
    for row in report.records("Table 8"):
        ends = {"rho": row["rho"], "low": row["rho_low"], "high": row["rho_high"]}
        sets[row["set"]]["table8"][row["method"]] = ends
    for row in report.records("Table 8, difference"):
        sets[row["set"]]["table8"]["paired"] = {
            "delta": row["difference"],
            "p_paper": row["p_one_sided"],
            "p_two_sided": row["p"],
            "low": row["difference_low"],
            "high": row["difference_high"],
        }
    return sets
