"""Judge calls per sample, counted by a scripted HTTP server on 127.0.0.1.

Run: python -m benchmarks.judge_calls
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tcva_adapters import TCVA, Sample
from tcva_adapters.data import sample_lines
from tcva_adapters.judges.base import blank_field
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.settings import ClaimsMode
from tests.support.server import ScriptedServer, auto_judge

TEMPERATURES = [t / 100 for t in range(10, 101)]


def main() -> None:
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    tcva = TCVA(judge="lexical")
    judged = [s for s in samples if blank_field(s, tcva.criterion) is None]
    print(f"{len(judged)} samples with an answer and a context")
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(auto_judge) as server:
        store = Path(folder) / "verdicts.sqlite"
        modes: tuple[ClaimsMode, ...] = ("split", "llm")
        for claims in modes:
            model = OpenAICompatibleModel("m", base_url=server.base_url)
            tcva = TCVA(judge=model, claims=claims, store=store)
            before = server.count
            results = tcva.evaluate_many(judged)
            print(
                f"claims={claims!r}: {(server.count - before) / len(judged):.3f} calls per sample"
            )
            before = server.count
            for result in results:
                for temperature in TEMPERATURES:
                    result.at(temperature)
            print(f"  {len(TEMPERATURES)} further temperatures: {server.count - before} calls")
            again = TCVA(judge=model, claims=claims, store=store)
            again.evaluate_many(judged)
            print(f"  a second run with the store: {server.count - before} calls")


if __name__ == "__main__":
    main()
