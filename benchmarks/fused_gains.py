"""What fusing gains over the best member on labelled dialogues, and what a member with zeros costs.

Run: python -m benchmarks.fused_gains
The embedded judge judges two criteria, faithfulness and answer_relevancy, and their scores are fused:
by the geometric mean, by the same with all scores raised to a floor of 0.05, and by the arithmetic
mean. Reads four sets of TCVA_BEDS, or of ../shared/data/beds beside the repository. No call.
"""

from __future__ import annotations

import json
from typing import Final

import numpy as np

from benchmarks.lexical_sets import folder
from tcva_adapters import TCVA, Sample
from tcva_adapters.compare.fused import FusedRow, corrected, gain_of
from tcva_adapters.core.panel import fuse
from tcva_adapters.stats.checks import FloatArray

SETS: Final = ("topical_chat", "begin_tc_dev", "begin_cmu_dev", "begin_wow_dev")
CRITERIA: Final = ("faithfulness", "answer_relevancy")
FLOOR: Final = 0.05
ARITHMETIC: Final = 0.5


def scored(name: str) -> tuple[dict[str, FloatArray], FloatArray]:
    """The scores of both criteria, and human labels."""
    text = (folder("TCVA_BEDS", "beds") / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    samples = [
        Sample(input=r["question"], response=r["response"], contexts=r["contexts"]) for r in rows
    ]
    columns = {
        criterion: np.array(
            [
                np.nan if result.score is None else result.score
                for result in TCVA(criterion, judge="lexical").evaluate_many(samples)
            ]
        )
        for criterion in CRITERIA
    }
    return columns, np.array([row["label"] for row in rows])


def main() -> None:
    """A line per set and mean; p allows for all of them together."""
    found: dict[tuple[str, str], FusedRow] = {}
    for name in SETS:
        members, human = scored(name)
        table = np.stack(list(members.values()), axis=1)
        means = {
            "geometric": fuse(table).scores,
            f"floor {FLOOR:g}": fuse(np.maximum(table, FLOOR)).scores,
            "arithmetic": fuse(table, temperature=ARITHMETIC).scores,
        }
        for mean, scores in means.items():
            row = gain_of(scores, members, human)
            if row is not None:
                found[name, mean] = row
        zeros = ", ".join(f"{(column == 0).mean():.0%} of {who}" for who, column in members.items())
        print(f"{name}: scores of 0: {zeros}")
    for (name, mean), row in corrected(found).items():
        print(f"{name:14} {mean:10} {row.sentence}")


if __name__ == "__main__":
    main()
