"""Judge a Ray dataset; needs the extra ray.

python examples/ray_data.py
"""

from __future__ import annotations

import ray

from tcva_adapters.scale import judge_dataset

SETTINGS = {"criterion": "faithfulness", "judge": "lexical", "temperature": 0.5}


def main() -> None:
    """Judge a few rows with two actors, and print a line for each."""
    ds = ray.data.from_items(
        [
            {
                "id": n,
                "answer": f"Room {n} opens at {hour}.",
                "context": f"Room {n} opens at nine.",
            }
            for n, hour in enumerate(["nine", "ten", "nine", "ten"])
        ]
    )
    judged = judge_dataset(ds, SETTINGS, workers=2, rows_at_once=2)
    for row in sorted(
        judged.take_all(), key=lambda row: row["id"]
    ):  # or judged.write_parquet(...)
        print(f"{row['id']}: {row['tcva_score']:.2f}, {row['tcva_reason']}")


if __name__ == "__main__":
    # One CPU more than there are workers, for reading.
    ray.init(
        num_cpus=3,
        include_dashboard=False,
        log_to_driver=False,
        ignore_reinit_error=True,
    )
    main()
