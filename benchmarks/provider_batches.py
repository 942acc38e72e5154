"""Provider batches against a scripted server: who is accounted for, and what was asked twice.

1 000 samples in four batches: 5 % of the lines fail, one batch expires in its middle, one download
stalls, and one request is answered twice with other verdicts. A command that is killed between any
two steps is in tests/batches/test_kills.py.

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
from tcva_adapters.batches import collect, submit
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.tables import Report
from tests.support.batch_server import BatchServer, Fault, Line
from tests.support.server import Answer, Handler, auto_judge, error

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
        model = OpenAICompatibleModel("m", base_url=server.base_url, timeout=1.0, max_retries=0)
        tcva = TCVA(judge=model, store=Path(folder) / "verdicts.sqlite")
        began, cpu = time.perf_counter(), time.process_time()
        counts = counts_of(submit(tcva, samples, place, batch_size=NUMBER // 4))
        contradict(server)
        stalled = stall(server, tcva, place)
        while counts["requests_under_way"]:
            print(f"  {counts}")
            counts = counts_of(collect(tcva, place))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        print(counts)
        before = server.count
        results = tcva.changed(share=False).evaluate_many(samples)
        calls = server.count - before
        live = TCVA(judge=OpenAICompatibleModel("m", base_url=server.base_url))
        equal = [r.score for r in live.evaluate_many(samples)] == [r.score for r in results]
        twice = sorted(body for body, number in server.answered.items() if number > 1)
        figures = {
            "samples": len(samples),
            "accounted for": counts["scored"] + counts["unscored"] + counts["failed"],
            "requests looked at by the server": sum(server.looked_at.values()),
            "answered twice, but for the contradicted one": len(twice) - 1,
            "seconds until a stalled download ended": round(stalled, 2),
            "calls of 'evaluate' afterwards": calls,
            "scores equal to a live run": equal,
            "seconds": round(seconds, 2),
            "ms of CPU a sample, the server's included": round(1000 * cpu / len(samples), 2),
            "MB at most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
        }
        print(json.dumps(figures, indent=1))


def counts_of(report: Report) -> dict[str, int]:
    (found,) = report.records("samples")
    return found


def contradict(server: BatchServer) -> None:
    """Answer the first request of the third batch a second time, the other way round."""
    file = server.look("batch_3")["output_file_id"]
    name, content = server.files[file]
    line = json.loads(content.splitlines()[0])
    message = line["response"]["body"]["choices"][0]["message"]
    message["content"] = message["content"].replace('"none"', '"fully"')
    server.files[file] = (name, content + b"\n" + json.dumps(line).encode())


def stall(server: BatchServer, tcva: TCVA, place: Path) -> float:
    """Seconds until a command ended whose download brings a byte now and then."""

    def slowly(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        while not server.closing.wait(0.2):
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                return

    file = server.look("batch_1")["output_file_id"]
    server.faults = [Fault(f"GET /v1/files/{file}/content", Answer(write=slowly))]
    began = time.perf_counter()
    try:
        collect(tcva, place)
    except JudgeError as error:
        print(f"  {error}")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
