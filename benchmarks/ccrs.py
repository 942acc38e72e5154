"""CCRS: judge calls per sample, replies that the parser is tested with, lexical metrics and human ratings.

Run: python -m benchmarks.ccrs [folder of the paper's data]
The folder defaults to TCVA_PAPER_DATA, or ../shared/data/tcva_paper beside the repository.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from scipy.stats import spearmanr

from tcva_adapters import Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.ccrs.entries import SAMPLES, judge
from tests.ccrs.test_reply import READ, UNREAD
from tests.support.server import Body, ScriptedServer

ROOT: Final = Path(__file__).resolve().parent.parent
SETS: Final = ("summeval", "summeval_rel")
COMPARABLE: Final = ("cc", "id")
"""The sets have no reference answers, and one question for all their articles."""


def main() -> None:
    calls_per_sample()
    numbers = sum(map(len, READ.values()))
    print(f"{numbers + len(UNREAD)} replies: {numbers} numbers, {len(UNREAD)} without one")
    given = sys.argv[1:] or [os.environ.get("TCVA_PAPER_DATA", "")]
    folder = Path(given[0] or ROOT.parent / "shared/data/tcva_paper")
    if not folder.is_dir():
        print(f"no paper data in {folder}: no correlations")
        return
    for name in SETS:
        correlate(name, json.loads((folder / f"{name}_prepared.json").read_text(encoding="utf-8")))


def calls_per_sample() -> None:
    def script(body: Body, _n: int) -> str:
        return judge("\n\n".join(message["content"] for message in body["messages"]))

    usable = [sample for sample in SAMPLES if sample.id != "mute"]
    with ScriptedServer(script) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url)
        CCRS(judge=model).evaluate_many(usable)
        print(f"five metrics: {server.count / len(usable):g} calls per sample")


def correlate(name: str, records: list[dict[str, object]]) -> None:
    samples = [Sample.from_record(record) for record in records]
    results = CCRS(COMPARABLE, judge="lexical").evaluate_many(samples, progress=False)
    for metric in COMPARABLE:
        pairs = [
            (score, record["human_score"])
            for result, record in zip(results, records, strict=True)
            if (score := result.scores[metric]) is not None
        ]
        rho = spearmanr(*zip(*pairs, strict=True)).statistic
        print(f"{name} {metric}: rho {rho:.3f} with human ratings ({len(pairs)} samples)")


if __name__ == "__main__":
    main()
