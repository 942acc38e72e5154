"""Replies of judges, and forged and true quotes, with what was read in them when they were stored."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tcva_adapters import ClaimVerdict, Verdict
from tcva_adapters.judges.evidence_check import check_evidence
from tcva_adapters.judges.reply import parse_verdicts
from tcva_adapters.text.quotes import Passages
from tests.judges.forged import QUOTES

_FILE: Final = Path(__file__).with_name("replies.json")
REPLIES: Final[list[dict[str, Any]]] = json.loads(_FILE.read_text(encoding="utf-8"))
SAME: Final = 250
"""So many replies at least have every verdict that was read in them; others may have fewer."""


def test_no_reply_has_a_verdict_or_a_quote_that_it_did_not_have() -> None:
    same = 0
    for case in REPLIES:
        parsed = parse_verdicts(case["reply"], case["claims"]).verdicts
        found = {
            str(n): [str(verdict.label), verdict.evidence]
            for n, verdict in parsed.items()
        }
        assert found.items() <= case["verdicts"].items(), case["name"]
        same += found == case["verdicts"]
    assert same >= SAME


@pytest.mark.parametrize("kind", ["forged", "true"])
def test_quotes_are_lowered_or_not_as_before(kind: str) -> None:
    for case in QUOTES[kind]:
        verdict = ClaimVerdict(
            claim=case["claim"], verdict=Verdict.FULLY, evidence=case["quote"]
        )
        (made,) = check_evidence([verdict], Passages(QUOTES["passages"]))
        assert (made.original_verdict is not None) == case["lowered"], case["quote"]
