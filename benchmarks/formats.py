"""The same samples in the files that frameworks and tools write, against jsonl: the same verdicts.

Run: python -m benchmarks.formats
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from tcva_adapters import TCVA, Sample
from tcva_adapters.data import sample_lines
from tcva_adapters.samples.files import read_samples
from tests.support.formats import WRITERS, plain


def main() -> None:
    records = [json.loads(line) for line in sample_lines()]
    # Sentence by sentence, so that lists are long, and in both kinds of quotes.
    samples = [
        Sample(
            id=record["id"],
            input=record["input"],
            response=record["response"],
            contexts=[part for text in record["contexts"] for part in re.split(r"(?<=\.) ", text)],
        )
        for record in records
    ]
    tcva = TCVA(judge="lexical")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.jsonl"
        plain(path, samples)
        wanted = _verdicts(tcva, path)
        total = sum(map(len, wanted))
        print(f"{len(samples)} samples, {total} verdicts from jsonl")
        for name, (file, write) in WRITERS.items():
            path = Path(folder) / file
            write(path, samples)
            found = _verdicts(tcva, path)
            same = sum(
                a == b
                for x, y in zip(found, wanted, strict=True)
                for a, b in zip(x, y, strict=True)
            )
            print(f"{name}: {same} of {total} the same")


def _verdicts(tcva: TCVA, path: Path) -> list[list[object]]:
    results = tcva.evaluate_many(read_samples(path).samples)
    return [[claim.verdict for claim in result.claims] for result in results]


if __name__ == "__main__":
    main()
