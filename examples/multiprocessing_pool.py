"""Judge batches of rows in a plain pool of processes.

python examples/multiprocessing_pool.py
"""

from __future__ import annotations

from functools import partial
from multiprocessing import get_context

import numpy as np

from tcva_adapters.scale import judge_batch

SETTINGS = {"criterion": "faithfulness", "judge": "lexical", "temperature": 0.5}


def main() -> None:
    """Judge two batches in two processes, and print a line for each row."""
    batches = [
        {
            "id": np.array([f"{n}-{answer}" for answer in ("right", "wrong")]),
            "answer": np.array(
                [f"Room {n} opens at nine.", "The garden is closed in winter."]
            ),
            "context": np.array([f"Room {n} opens at nine."] * 2),
        }
        for n in range(2)
    ]
    with get_context("spawn").Pool(2) as pool:
        for judged in pool.imap(partial(judge_batch, settings=SETTINGS), batches):
            for name, score in zip(judged["id"], judged["tcva_score"], strict=True):
                print(f"{name}: {score:.2f}")


if __name__ == "__main__":
    main()
