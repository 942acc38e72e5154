"""Six systems of Topical-Chat by two simple judges and by people: where do they order them differently?

Run: python -m benchmarks.systems
The bed has 60 dialogues with the answers of six systems in one order, called A to F here; it is read as in
benchmarks.lexical_sets. The judges are the lexical one, and the share of an answer's word 3-grams that the
fact has. Printed is the sentence of `tcva systems` with all ratings, and its table.
"""

import numpy as np

from benchmarks.lexical_sets import containment, judged, load, word_grams
from tcva_adapters.compare import ScoreTable, systems
from tcva_adapters.stats.checks import FloatArray


def table(values: FloatArray) -> ScoreTable:
    """A row for each dialogue, a column for each system."""
    by_system = values.reshape(-1, 6)
    queries = tuple(f"dialogue {number}" for number in range(len(by_system)))
    return ScoreTable(queries, tuple("ABCDEF"), by_system)


def main() -> None:
    """Print a report for each judge."""
    rows = sorted(load()["topical_chat"], key=lambda row: int(row["id"][2:]))
    people = table(np.array([row["label"] for row in rows], dtype=np.float64))
    trigrams = [containment(row, lambda text: word_grams(3, text)) for row in rows]
    for name, scores in {
        "lexical": judged(rows),
        "3-grams": np.array(trigrams),
    }.items():
        print(systems({name: table(scores), "human": people}))


if __name__ == "__main__":
    main()
