"""What the evidence check makes of forged, true and real quotes, and how fast it is.

Run: python -m benchmarks.evidence
Real quotes are the paper's model's on summeval (TCVA_PAPER_DATA), where its verdicts are as many as the
answer's sentences. On the labelled sets (TCVA_BEDS) each claim is shown with a sentence of another sample,
which proves nothing.
"""

import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.lexical_sets import load, paper_file
from tcva_adapters import ClaimVerdict, Verdict
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.text.sentences import split_claims
from tests.judges.forged import ACROSS, FORGED, PASSAGES, TRUE
from tests.judges.huge import huge

Judged = tuple[Sequence[ClaimVerdict], Sequence[str]]


def claim_of(claim: str, quote: str, level: str = "fully") -> ClaimVerdict:
    return ClaimVerdict(claim=claim, verdict=Verdict.parse(level), evidence=quote)


def print_checked(name: str, judged: Iterable[Judged]) -> None:
    """How many of the quotes behind a `fully` or `mostly` were lowered, and why."""
    found: Counter[str] = Counter()
    for claims, contexts in judged:
        for given, made in zip(claims, check_evidence(claims, contexts), strict=True):
            if given.verdict in {Verdict.FULLY, Verdict.MOSTLY} or given.original_verdict:
                found[made.evidence_check.value if made.evidence_check else "held"] += 1
    fine = found["held"] + found["unchecked"]
    why = ", ".join(f"{number} {check}" for check, number in found.most_common())
    print(f"{name:32} {found.total() - fine:5} of {found.total():5} lowered: {why}")


def paper_quotes() -> Iterable[Judged]:
    contexts = {row["id"]: row for row in paper_file("summeval_prepared")}
    for row in paper_file("summeval_tcva_scores"):
        claims = split_claims(contexts[row["id"]]["answer"])
        quoted = [v for v in row["verdicts"] if v.get("support")]
        if len(claims) == len(quoted) == len(row["verdicts"]):
            pairs = zip(claims, quoted, strict=True)
            made = [claim_of(claim, v["support"], v["verdict"]) for claim, v in pairs]
            yield made, contexts[row["id"]]["context"]


def quotes_of_others(rows: Sequence[dict[str, Any]]) -> Iterable[Judged]:
    rng = random.Random(0)
    for i, row in enumerate(rows):
        contexts = rows[i - len(rows) // 2]["contexts"]
        if quotes := split_claims(contexts[0]):
            quote = rng.choice(quotes)
            yield [claim_of(claim, quote) for claim in split_claims(row["answer"])], contexts


def main() -> None:
    cases = {"forged quotes": FORGED, "true quotes": TRUE, "true, another language": ACROSS}
    for name, each in cases.items():
        print_checked(name, (([claim_of(case.claim, case.quote)], PASSAGES) for case in each))
    print_checked("summeval, the paper's model", paper_quotes())
    for name, rows in load().items():
        print_checked(f"{name}, others' sentences", quotes_of_others(rows[:300]))
    for name, contexts, quote in huge(1_000_000):
        verdicts = [claim_of("The drug cures cancer.", quote + " x" * (i % 2)) for i in range(8)]
        started = time.process_time()
        check_evidence(verdicts, contexts)
        print(f"a megabyte, 8 claims, {name}: {time.process_time() - started:.2f} s")


if __name__ == "__main__":
    main()
