"""What the evidence check makes of forged, true and real quotes, and how fast it is.

Run: python -m benchmarks.evidence
Sentences of 15 languages are judged over contexts in English, and English ones over theirs. Real quotes are
the paper's model's on summeval (TCVA_PAPER_DATA), where its verdicts are as many as the answer's sentences,
and the annotated evidence of wice's supported claims. On the labelled sets (TCVA_BEDS) each claim is shown
with a sentence of another sample, which proves nothing.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.lexical_sets import FOLDER, load, paper_file
from tcva_adapters import ClaimVerdict, Verdict
from tcva_adapters.judges.evidence_check import check_evidence
from tcva_adapters.text.quotes import Passages
from tcva_adapters.text.sentences import split_claims
from tests.judges.forged import (
    ACROSS,
    CONTRARIES,
    FILLERS,
    FORGED,
    INFERENCES,
    LANGUAGES,
    PASSAGES,
    TRUE,
)
from tests.judges.huge import huge
from tests.support import paper

Judged = tuple[Sequence[ClaimVerdict], Sequence[str]]


def claim_of(claim: str, quote: str, level: str = "fully") -> ClaimVerdict:
    return ClaimVerdict(claim=claim, verdict=Verdict.parse(level), evidence=quote)


def print_checked(name: str, judged: Iterable[Judged]) -> None:
    """How many of the quotes behind a `fully` or `mostly` were lowered, and why."""
    found: Counter[str] = Counter()
    for claims, contexts in judged:
        for given, made in zip(
            claims, check_evidence(claims, Passages(contexts)), strict=True
        ):
            if (
                given.verdict in {Verdict.FULLY, Verdict.MOSTLY}
                or given.original_verdict
            ):
                found[made.evidence_check.value if made.evidence_check else "held"] += 1
    fine = found["held"] + found["unchecked"]
    why = ", ".join(f"{number} {check}" for check, number in found.most_common())
    print(f"{name:32} {found.total() - fine:5} of {found.total():5} lowered: {why}")


def print_languages() -> None:
    """Of each language, how many true quotes were lowered or left unchecked, both ways.

    And how many quotes about something else were lowered: each sentence with the next one as quote.
    """
    print(
        "\nlanguage    claims in it: lowered, unchecked   quotes in it   other sentences, lowered"
    )
    sums: Counter[str] = Counter()
    number = 0
    for language, sentences in LANGUAGES["sentences"].items():
        pairs = sentences + LANGUAGES["figures"][language]
        own, english = ([pair[side] for pair in pairs] for side in (0, 1))
        found: Counter[str] = Counter()
        for name, claims, quotes in (
            ("claims", own, english),
            ("quotes", english, own),
            ("others", own, [*own[1:], own[0]]),
            ("English", english, [*english[1:], english[0]]),
        ):
            judged = [
                claim_of(claim, quote)
                for claim, quote in zip(claims, quotes, strict=True)
            ]
            for made in check_evidence(judged, Passages([" ".join(quotes)])):
                lowers = made.original_verdict is not None
                found[f"{name} {'lowered' if lowers else made.evidence_check}"] += 1
        sums += found
        print_language(language, found, len(pairs))
        number += len(pairs)
    print_language("all", sums, number)


def print_language(language: str, found: Counter[str], number: int) -> None:
    print(
        f"{language:12}{found['claims lowered']:21} {found['claims unchecked']:10}"
        f"{found['quotes lowered']:9} {found['quotes unchecked']:6}"
        f"{found['others lowered']:8}, in English {found['English lowered']:3} of {number:3}"
    )


def print_numbers() -> None:
    """How many claims were lowered that follow from their quote, and that contradict it."""
    tables = {"inferences": INFERENCES, "fillers": FILLERS, "contraries": CONTRARIES}
    for kind, table in tables.items():
        for name, pairs in table.items():
            judged = (
                ([claim_of(*pair)], [f"Before it. {pair[1]} Behind it."])
                for pair in pairs
            )
            print_checked(f"{kind}, {name.replace('_', ' ')}", judged)
    forms = paper.FOLDER.parent / "forms/contradicting_quotes.jsonl"
    rows = map(
        json.loads, forms.read_text("utf-8").splitlines() if forms.is_file() else ()
    )
    kinds: dict[str, list[Judged]] = {}
    for row in rows:
        judged_one = [claim_of(row["claim"], row["quote"])], [row["quote"]]
        kinds.setdefault(row["kind"], []).append(judged_one)
    for kind, judged_of_kind in kinds.items():
        print_checked(f"contradicting quotes, {kind}", judged_of_kind)


def annotated_quotes(*, joined: bool) -> Iterable[Judged]:
    """Supported claims of wice with their annotated evidence: as one quote, or by sentence."""
    file = FOLDER / "wice_dev_evidence.jsonl"
    rows = {row["id"]: row for row in load().get("wice_dev", ())}
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        evidence = json.loads(line)
        row = rows.get(evidence["id"])
        if row is not None and row["level"] == "supported":
            sentences = row["contexts"][0].split("\n")
            quotes = [sentences[at] for at in evidence["supporting"]]
            for quote in [" ... ".join(quotes)] if joined else quotes:
                yield [claim_of(row["answer"], quote)], row["contexts"]


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
            yield (
                [claim_of(claim, quote) for claim in split_claims(row["answer"])],
                contexts,
            )


def main() -> None:
    cases = {
        "forged quotes": FORGED,
        "true quotes": TRUE,
        "true, another language": ACROSS,
    }
    for name, each in cases.items():
        print_checked(
            name, (([claim_of(case.claim, case.quote)], PASSAGES) for case in each)
        )
    print_numbers()
    print_languages()
    print()
    print_checked("summeval, the paper's model", paper_quotes())
    print_checked("wice, all annotated evidence", annotated_quotes(joined=True))
    print_checked("wice, its sentences one by one", annotated_quotes(joined=False))
    for name, rows in load().items():
        print_checked(f"{name}, others' sentences", quotes_of_others(rows[:300]))
    for name, contexts, quote in huge(1_000_000):
        verdicts = [
            claim_of("The drug cures cancer.", quote + " x" * (i % 2)) for i in range(8)
        ]
        started = time.process_time()
        check_evidence(verdicts, Passages(contexts))
        print(f"a megabyte, 8 claims, {name}: {time.process_time() - started:.2f} s")


if __name__ == "__main__":
    main()
