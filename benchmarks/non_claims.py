"""Sentences that claim nothing: how many are believed, and what a text wins that asks to be one.

Run: python -m benchmarks.non_claims
The judge is scripted: it marks every sentence but one fact, and obeys a pleading text in the first
request, or also where it sees the sentence alone.
"""

from collections import Counter

from tcva_adapters import Verdict
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims
from tests.judges.polite import (
    CLAIMING_NOTHING,
    COURTESIES,
    FALSE_CLAIMS,
    FURTHER,
    MIXED,
    MORE,
    OPENINGS_AND_CLOSINGS,
    PLEADING,
    PRESUPPOSING,
    REFUSALS,
    STANDARD_REFUSALS,
    STATEMENTS,
    UNDECIDED,
)
from tests.judges.test_non_claims import FACT, PADDING, judged, marking, of_kind


def print_believed() -> None:
    """Marked sentences beside a supported claim."""
    print(
        "sentences                 n  believed  by lists  by the judge  score 1.0  unscored"
    )
    kinds = {
        "openings and closings": OPENINGS_AND_CLOSINGS,
        "refusals": REFUSALS,
        "in 8 more languages": MORE,
        "40 more in 8 languages": FURTHER,
        "refusals of prompts": STANDARD_REFUSALS,
        "courtesies of chats": COURTESIES,
        "near to statements": CLAIMING_NOTHING,
    }
    for name, sentences in kinds.items():
        counts: Counter[str] = Counter()
        for sentence in sentences:

            def mark(claim: str, kind: str = of_kind(sentence)) -> str | None:
                return None if claim == FACT else kind

            result = judged(f"{FACT}\n\n{sentence}", marking(mark))
            marked = [claim for claim in result.claims if claim.verdict is None]
            counts["believed"] += bool(marked)
            counts["list"] += all(non_claim_kind(claim.claim) for claim in marked)
            counts["judge"] += any(claim.marked_by_judge for claim in marked)
            counts["right"] += result.score == 1.0
            counts["unscored"] += result.unscored is not None
        print(
            f"{name:22} {len(sentences):4} {counts['believed']:9} {counts['list']:9} "
            f"{counts['judge']:13} {counts['right']:10} {counts['unscored']:9}"
        )


def print_statements() -> None:
    """True claims that look polite, or like refusals."""
    taken = sum(all(map(non_claim_kind, split_claims(text))) for text in STATEMENTS)
    print(
        f"\n{taken} of {len(STATEMENTS)} statements are taken for no claim by the lists"
    )
    mixed = sum(all(map(non_claim_kind, split_claims(text))) for text in MIXED)
    print(f"{mixed} of {len(MIXED)} refusals that go on to claim something")
    presupposing = (*PRESUPPOSING, *UNDECIDED)
    taken = sum(all(map(non_claim_kind, split_claims(text))) for text in presupposing)
    print(
        f"{taken} of {len(presupposing)} refusals and offers that take something for granted"
    )


def print_padding() -> None:
    """False claims among listed courtesies, of which the judge says twice that they are no claims."""
    model = marking(lambda claim: None if claim == FACT else "not_a_claim")
    padded = [
        "\n\n".join((*padding, claim, *padding))
        for padding in PADDING
        for claim in FALSE_CLAIMS
    ]
    passed = sum(judged(text, model).passed is not False for text in padded)
    print(
        f"{passed} of {len(padded)} claims among courtesies pass a gate where the judge obeys twice"
    )


def print_pleading() -> None:
    """False claims that ask to be none, behind a supported claim.

    Sentences that only plead, and claim nothing themselves, do not count where the judge obeys.
    """
    print(
        "\nthe judge obeys           n  claim escapes  mean score  pass at T=0.5  and pass a gate  marks shown"
    )
    for name, is_twice in (
        ("in no request", None),
        ("in the first request", False),
        ("in both", True),
    ):
        counts: Counter[str] = Counter()
        total = 0.0
        for claim, text in PLEADING:

            def mark(sentence: str, obeys: bool = is_twice is not None) -> str | None:
                return "not_a_claim" if obeys and sentence != FACT else None

            def asserts(
                sentence: str, claim: str = claim, obeys: bool = is_twice is True
            ) -> str:
                return "yes" if claim in sentence and not obeys else "no"

            result = judged(f"{FACT} {text}", marking(mark, asserts))
            score = result.score or 0.0
            total += score
            is_none = any(
                c.verdict is Verdict.NONE and claim in c.claim for c in result.claims
            )
            counts["escaped"] += not is_none
            counts["passed"] += score >= result.scoring.threshold
            counts["gate"] += bool(result.passed)
            counts["shown"] += any(
                c.marked_by_judge and claim in c.claim for c in result.claims
            )
        n = len(PLEADING)
        print(
            f"{name:22} {n:4} {counts['escaped']:14} {total / n:11.3f} {counts['passed']:14} "
            f"{counts['gate']:16} {counts['shown']:12}"
        )


if __name__ == "__main__":
    print_believed()
    print_statements()
    print_padding()
    print_pleading()
