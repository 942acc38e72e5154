"""Writes `rated.jsonl`: each labelled claim of the bundled samples as an answer with a rating.

    python examples/rated_claims.py
    tcva compare rated.jsonl --with none --human human --group document

`human` is the weight of the reader's level, `half` the same for a random half of the answers, and
`document` the sample that the claim is from.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parent / "data" / "samples.jsonl"
RATINGS = {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}


def rated_claims() -> Iterator[dict[str, Any]]:
    """The answers, in the order of the samples."""
    random.seed(0)
    for line in SAMPLES.read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        for number, label in enumerate(sample.pop("labels")):
            if label["level"]:
                rating = RATINGS[label["level"]]
                claim = {"id": f"{sample['id']}/{number}", "response": label["claim"]}
                is_rated = random.random() < 0.5  # noqa: S311  # no secret
                human = {"human": rating, "half": rating if is_rated else None}
                yield sample | claim | {"document": sample["id"]} | human


if __name__ == "__main__":
    lines = (json.dumps(claim) for claim in rated_claims())
    Path("rated.jsonl").write_text("\n".join(lines), encoding="utf-8")
