"""Writes the golden files, once: ``python -m tests.golden.write``. They are never written again."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def counts() -> Any:
    rng = np.random.default_rng(22)
    blocks = [
        np.eye(5) * n
        for n in (1, 3, 1e6)  # one level alone
    ] + [
        rng.integers(0, 4, (60, 5)),  # usual answers
        rng.integers(0, 30, (40, 5)),
        rng.integers(0, 3, (40, 5)) * [1, 1, 1, 0, 0] + [1, 0, 0, 0, 0],  # good ones
        rng.integers(0, 3, (40, 5)) + rng.integers(1, 40, (40, 1)) * [0, 0, 0, 0, 1],  # many none
        rng.integers(0, 3, (20, 5)) * [1, 1, 1, 1, 0] + [0, 0, 0, 1, 0],
        rng.dirichlet(np.full(5, 0.5), 40).round(6) * rng.integers(1, 9, (40, 1)),  # fractional
        rng.dirichlet([3, 1, 1, 0.3, 0.05], 20),
        rng.integers(0, 10**6, (20, 5)),
        rng.integers(0, 10**9, (10, 5)) / 8,
    ]
    found = np.concatenate(blocks).astype(float)
    return found[found.sum(axis=1) > 0]


def main() -> None:
    import_module("tests.support.quiet")
    arithmetic: Any = import_module("tests.golden.arithmetic")
    adapters: Any = import_module("tests.golden.adapters")
    names: Any = import_module("tests.golden.names")
    reply: Any = import_module("tests.judging.test_reply")
    forged: Any = import_module("tests.judging.forged")
    paper: Any = import_module("tests.support.paper")
    if list(HERE.glob("*.npz")):
        sys.exit("they are written already")
    rng = np.random.default_rng(2)
    table = rng.random((80, 3)).round(4)
    table[rng.random((80, 3)) < 0.15] = np.nan
    table[rng.random((80, 3)) < 0.08] = 0.0
    judges = rng.integers(0, 6, (40, 3, 3)).astype(float)
    temperatures = np.array([*np.linspace(0.1, 1, 46).tolist(), 0.4556, 0.45561, 0.4555])
    given = {"counts": counts(), "table": table, "judges": judges, "temperatures": temperatures}
    np.savez_compressed(HERE / "arithmetic.npz", **given, **arithmetic.computed(given))
    with redirect_stdout(StringIO()):
        made = adapters.computed()
        own = [adapters.plain(result) for result in adapters.reference()]
        for name in ("langchain", "llamaindex", "ragas", "deepeval", *adapters.FACES):
            for asynchronous in (False, True):
                there = adapters.through(name, asynchronous=asynchronous)
                assert [adapters.plain(result) for result in there] == own, name
    dump("adapters", made)
    dump(
        "replies",
        [
            {"name": case.id, "reply": case.values[0], "claims": case.values[1]}
            | {"verdicts": names.verdicts_of(*case.values[:2])}
            for case in reply.ALL
        ],
    )
    quotes = {
        kind: [
            {"claim": c.claim, "quote": c.quote}
            | {"lowered": names.is_lowered(c.claim, c.quote, forged.PASSAGES)}
            for c in cases
        ]
        for kind, cases in (("forged", forged.FORGED), ("true", forged.TRUE))
    }
    dump("quotes", {"passages": forged.PASSAGES, **quotes})
    figures = names.paper_figures(paper.FOLDER)
    dump(
        "paper",
        {
            name: {k: v for k, v in one.items() if k.startswith(("table", "unr"))}
            for name, one in figures.items()
        },
    )


def dump(name: str, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=True, indent=0)
    (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
