"""Whether the lexical judge's quote is the evidence that people annotated, and stands in the right passage.

Run: python -m benchmarks.quotes
The claims of wice_dev with annotated evidence (TCVA_BEDS, or ../shared/data/beds beside the repository) are
judged against the sentences of their source. A quote is right where one of its sentences is annotated. Then
each claim is judged against five passages: its source, and the four other sources that have most of the
claim's words, without those that share a sentence with it (parts of the same page). A quote is right where
it stands in the claim's source. Beside it: the sentence, or the passage with the sentence, that has most of
the claim's 5-grams of characters; and chance. A quote is sound where the level is above `none`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from benchmarks.lexical_sets import FOLDER, Row, character_grams
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.stats.inference import difference, estimate
from tcva_adapters.text.words import FUNCTION_WORDS, words_of

N_PASSAGES: Final = 5
GRAM: Final = 5
SHORT: Final = 30
"""Sentences with at most as many characters ("Advertisement") do not tell that sources are of one page."""


@dataclass(frozen=True)
class Outcome:
    """Whether a claim's quote is right, beside the nearest sentence by 5-grams and the chance of it."""

    label: str
    is_sound: bool
    quote: bool
    grams: bool
    chance: float


def rows_of(name: str) -> list[Row]:
    """The rows of a file of the folder; empty where it is not there."""
    path = FOLDER / f"{name}.jsonl"
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def sentences_of(row: Row) -> list[str]:
    (source,) = row["contexts"]
    return str(source).split("\n")


def nearest(claim: str, texts: Sequence[str]) -> int:
    """The index of the text that has most of the claim's 5-grams of characters; the first of equals."""
    wanted = set(character_grams(GRAM, claim))
    shared = [len(wanted.intersection(character_grams(GRAM, text))) for text in texts]
    return int(np.argmax(shared))


def annotated(rows: Iterable[Row], evidence: dict[str, Row]) -> Iterator[Outcome]:
    """Whether the quote is an annotated sentence; each sentence of a source is a context."""
    for row in rows:
        sentences = sentences_of(row)
        supporting = evidence[row["id"]]["supporting"]
        (verdict,) = LexicalJudge().judge_claims(
            [row["response"]], sentences, FAITHFULNESS
        )
        yield Outcome(
            label=row["level"],
            is_sound=verdict.verdict != Verdict.NONE,
            quote=(verdict.context or 0) - 1 in supporting,
            grams=nearest(row["response"], sentences) in supporting,
            chance=len(supporting) / len(sentences),
        )


def among_passages(rows: Sequence[Row], sources: Sequence[Row]) -> Iterator[Outcome]:
    """Whether the quote stands in the claim's own source, among five."""
    texts = list(dict.fromkeys(row["contexts"][0] for row in sources))
    words = [set(words_of(text)) for text in texts]
    long = [{line for line in text.split("\n") if len(line) > SHORT} for text in texts]
    rng = Random(0)
    for row in rows:
        own = texts.index(row["contexts"][0])
        wanted = set(words_of(row["response"])) - FUNCTION_WORDS
        others = [i for i in range(len(texts)) if not long[i] & long[own] and i != own]
        others.sort(key=lambda i: -len(wanted & words[i]))
        shown = [own, *others[: N_PASSAGES - 1]]
        rng.shuffle(shown)
        passages = [texts[i] for i in shown]
        (verdict,) = LexicalJudge().judge_claims(
            [row["response"]], passages, FAITHFULNESS
        )
        lines = [(i, line) for i in shown for line in texts[i].split("\n")]
        by_grams, _ = lines[nearest(row["response"], [line for _, line in lines])]
        yield Outcome(
            label=row["level"],
            is_sound=verdict.verdict != Verdict.NONE,
            quote=verdict.context == shown.index(own) + 1,
            grams=by_grams == own,
            chance=1 / N_PASSAGES,
        )


def print_outcomes(title: str, outcomes: Iterable[Outcome]) -> None:
    by_label: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        label = outcome.label.replace("_", " ")
        by_label[label].append(outcome)
        if outcome.is_sound:
            by_label[f"{label}, sound"].append(outcome)
            by_label["all, sound"].append(outcome)
        by_label["all"].append(outcome)
    print(f"\n{title:30}{'claims':>6}  quote               5-grams  chance")
    for label in sorted(by_label, key=lambda label: ("all" in label, label)):
        chosen = by_label[label]
        share = estimate("share", [float(outcome.quote) for outcome in chosen])
        grams, chance = np.mean([(o.grams, o.chance) for o in chosen], axis=0)
        quote = f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}]"
        print(f"{label:30}{share.n:6}  {quote}  {grams:.3f}   {chance:.3f}")
    sides = [[float(o.quote), float(o.grams)] for o in by_label["all"]]
    apart = difference("mean", *np.array(sides).T)
    ends = f"[{apart.low:+.3f}, {apart.high:+.3f}], p = {apart.p:.3f}"
    print(f"quote less 5-grams: {apart.value:+.3f} {ends}")


def main() -> None:
    rows = rows_of("wice_dev")
    evidence = {row["id"]: row for row in rows_of("wice_dev_evidence")}
    known = [row for row in rows if row["id"] in evidence]
    if not known:
        print(f"no wice_dev with its evidence in {FOLDER}; set TCVA_BEDS")
        return
    print_outcomes("is annotated evidence", annotated(known, evidence))
    print_outcomes("is in the right of 5 passages", among_passages(known, rows))


if __name__ == "__main__":
    main()
