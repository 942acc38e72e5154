"""What the evidence check makes of forged quotes, of true ones, and of real ones; how fast; and views.

Run: python -m benchmarks.evidence [folder of the paper's data] [folder of labelled sets]
The first defaults to TCVA_PAPER_DATA, or ../shared/data/tcva_paper beside the repository, the
second to the folder beds beside it. Of each labelled set the first 300 samples are judged.
"""

from __future__ import annotations

import json
import random
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from scipy.stats import spearmanr

from benchmarks.lexical_sets import data_folder
from tcva_adapters import TCVA, Assessment, Result, Sample
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.results.assessment import ClaimVerdict, EvidenceCheck
from tcva_adapters.results.evidence import EVIDENCE, EvidenceCounts
from tcva_adapters.text.sentences import split_claims
from tests.judges.forged import ACROSS, FORGED, PASSAGES, TRUE, Case
from tests.judges.huge import huge

SAMPLES: Final = 300
PAPER_T: Final = 0.9
CLAIM: Final = "The drug cures cancer in children."
HIGH: Final = frozenset({Verdict.FULLY, Verdict.MOSTLY})

Judged = Iterator[tuple[Sequence[ClaimVerdict], Sequence[str]]]


def print_cases(name: str, cases: Sequence[Case]) -> None:
    found: Counter[EvidenceCheck | None] = Counter()
    for case in cases:
        verdict = ClaimVerdict(claim=case.claim, verdict=Verdict.FULLY, evidence=case.quote)
        [made] = check_evidence([verdict], PASSAGES)
        found[made.evidence_check] += 1
    lowered = sum(n for check, n in found.items() if check not in {None, EvidenceCheck.UNCHECKED})
    unchecked = found[EvidenceCheck.UNCHECKED]
    print(f"{name:28} {lowered:3} of {len(cases)} lowered, {unchecked} unchecked")


def print_speed() -> None:
    print(f"\na megabyte of passages, 8 claims{'':18} CPU s   memory MB (2 claims)")
    for name, passages, quote in huge(1_000_000):
        verdicts = [
            ClaimVerdict(claim=CLAIM, verdict=Verdict.FULLY, evidence=quote + " x" * (i % 2))
            for i in range(8)
        ]
        begin = time.process_time()
        check_evidence(verdicts, passages)
        seconds = time.process_time() - begin
        tracemalloc.start()
        check_evidence(verdicts[:2], passages)
        memory = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"{name:50} {seconds:5.2f}   {memory:5.0f}")


def paper_quotes(folder: Path) -> Judged:
    """The paper's model with its quotes, where its verdicts are as many as the answer's sentences."""
    samples = json.loads((folder / "summeval_prepared.json").read_text(encoding="utf-8"))
    by_id = {sample["id"]: sample for sample in samples}
    scores = json.loads((folder / "summeval_tcva_scores.json").read_text(encoding="utf-8"))
    for row in scores:
        sample = by_id[row["id"]]
        claims = split_claims(sample["answer"])
        quoted = [v for v in row["verdicts"] if v.get("support")]
        if len(claims) == len(quoted) == len(row["verdicts"]):
            verdicts = [
                ClaimVerdict(claim=claim, verdict=v["verdict"], evidence=v["support"])
                for claim, v in zip(claims, quoted, strict=True)
            ]
            yield verdicts, sample["context"]


def labelled(path: Path) -> list[dict[str, Any]]:
    lines = islice(path.read_text(encoding="utf-8").splitlines(), SAMPLES)
    return [json.loads(line) for line in lines]


def lexical_quotes(path: Path) -> Judged:
    """The embedded judge with the sentences that it quotes; by itself it is not checked."""
    tcva = TCVA("faithfulness", judge="lexical")
    for item in labelled(path):
        sample = Sample(response=item["response"], contexts=tuple(item["contexts"]))
        yield tcva.evaluate(sample).claims, sample.contexts or ()


def mismatched_quotes(path: Path) -> Judged:
    """Each claim as fully supported by a sentence of another sample."""
    rng, items = random.Random(0), labelled(path)
    for i, item in enumerate(items):
        passages = items[i - len(items) // 2]["contexts"]
        quotes = split_claims(passages[0])
        if quotes:
            quote = rng.choice(quotes)
            claims = split_claims(item["response"])
            yield (
                [ClaimVerdict(claim=c, verdict=Verdict.FULLY, evidence=quote) for c in claims],
                passages,
            )


def print_real(name: str, judged: Judged) -> None:
    found: Counter[EvidenceCheck | None] = Counter()
    verdicts = high = 0
    for claims, passages in judged:
        made = check_evidence(claims, passages)
        verdicts += sum(claim.verdict is not None for claim in claims)
        high += sum(claim.verdict in HIGH for claim in claims)
        found.update(claim.evidence_check for claim in made if _was_high(claim))
    print(f"{name:20} {verdicts:8} {high:6}" + "".join(f"{found[c]:11}" for c in EvidenceCheck))


def _was_high(claim: ClaimVerdict) -> bool:
    return claim.verdict in HIGH or claim.original_verdict is not None


def print_views(folder: Path) -> None:
    """Agreement with people of the paper's verdicts under each view, at the paper's temperature.

    Claims are not stored with these verdicts, so that only quotes that are not found are told.
    """
    texts = json.loads((folder / "summeval_prepared.json").read_text(encoding="utf-8"))
    passages = {row["id"]: row["context"] for row in texts}
    rows = json.loads((folder / "summeval_tcva_scores.json").read_text(encoding="utf-8"))
    results, human = [], []
    for row in rows:
        claims = [
            ClaimVerdict(claim="", verdict=Verdict.parse(v["verdict"]), evidence=v["support"] or "")
            for v in row["verdicts"]
        ]
        if claims:
            made = check_evidence(claims, passages[row["id"]])
            judged = Assessment.from_verdicts([claim.verdict or "none" for claim in claims])
            results.append(Result(judged.model_copy(update={"claims": made})))
            human.append(row["human_score"])
    print(f"\nsummeval (model), {len(results)} samples, T={PAPER_T:g}: Spearman with human ratings")
    for view in reversed(EVIDENCE):
        scores = [result.at(PAPER_T, evidence=view).score for result in results]
        counts = EvidenceCounts.of([result.assessment for result in results], view)
        print(f"evidence {view:7} {spearmanr(scores, human).statistic:.4f}", *counts.lines())


def main(arguments: Sequence[str]) -> None:
    print_cases("forged quotes", FORGED)
    print_cases("true quotes", TRUE)
    print_cases("true, language or words differ", ACROSS)
    print_speed()
    folder = data_folder(arguments)
    sets = Path(arguments[1]) if len(arguments) > 1 else folder.parent / "beds"
    paths = sorted(sets.glob("*.jsonl"))
    print(
        f"\n{'real quotes':20} verdicts   high" + "".join(f"{c.value:>11}" for c in EvidenceCheck)
    )
    if (folder / "summeval_prepared.json").is_file():
        print_real("summeval (model)", paper_quotes(folder))
    for path in paths:
        print_real(path.stem, lexical_quotes(path))
    if (folder / "summeval_tcva_scores.json").is_file():
        print_views(folder)
    print("\nthe same claims, each with a sentence of another sample")
    for path in paths:
        print_real(path.stem, mismatched_quotes(path))


if __name__ == "__main__":
    main(sys.argv[1:])
