"""Provider batches against a scripted server: who is accounted for, and what was asked twice.

1 000 samples in four batches: 5 % of the lines fail, one batch expires in its middle, and the
commands are run by processes that know of each other by the folder alone.

Run: python -m benchmarks.provider_batches
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from pathlib import Path

from tcva_adapters import TCVA, Sample
from tcva_adapters.batches import Limits, collect, submit
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.batch_server import BatchServer, Line
from tests.support.server import Answer, auto_judge, error

NUMBER = int(os.environ.get("SAMPLES", "1000"))


def fate(batch: int, number: int, _: Line) -> Answer | str | None:
    """Every twentieth line of the first round fails; the second batch ends half done."""
    if batch == 2 and number > NUMBER // 8:
        return "expired"
    if batch <= 4 and number % 20 == 0:
        return (error(500, "server error"), error(429, "slow down"), "missing")[number // 20 % 3]
    return None


def main() -> None:
    samples = [
        Sample(
            id=str(n),
            response=f"Room {n} opens at nine. Zebras invented telephone {n}.",
            contexts=[f"Room {n} opens at nine.", "Parking is free."],
        )
        for n in range(NUMBER)
    ]
    with tempfile.TemporaryDirectory() as folder, BatchServer(auto_judge) as server:
        server.fate, server.statuses = fate, {2: "expired"}
        place = Path(folder) / "submission"
        tcva = TCVA(
            judge=OpenAICompatibleModel("m", base_url=server.base_url),
            store=Path(folder) / "verdicts.sqlite",
        )
        began, cpu = time.perf_counter(), time.process_time()
        report = submit(tcva, samples, place, limits=Limits(requests=NUMBER // 4))
        while report.under_way:
            print(f"  {report.sentence}")
            report = collect(tcva, place)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        print(report)
        before = server.count
        results = tcva.changed(share=False).evaluate_many(samples)
        live = TCVA(judge=OpenAICompatibleModel("m", base_url=server.base_url))
        calls = server.count - before
        equal = [r.score for r in live.evaluate_many(samples)] == [r.score for r in results]
        asked = sum(server.looked_at.values())
        twice = sum(number - 1 for number in server.answered.values())
        figures = {
            "samples": len(samples),
            "accounted for": report.scored + report.unscored + report.failed,
            "requests sent": report.requests,
            "requests looked at by the server": asked,
            "answered twice": twice,
            "calls of 'evaluate' afterwards": calls,
            "scores equal to a live run": equal,
            "seconds": round(seconds, 2),
            "ms of CPU a sample, the server's included": round(1000 * cpu / len(samples), 2),
            "MB at most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
        }
        print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
