"""Provider batches against a scripted server: who is accounted for, and what was asked twice.

Run: python -m benchmarks.provider_batches
1 000 samples in four batches: 5 % of the lines fail, one batch expires in its middle, and one request
is answered twice with other verdicts. A command that is killed between any two steps, and a download
that stalls, are in tests/batches.
"""

import json
import tempfile
from pathlib import Path
from typing import Final

from tcva_adapters import TCVA, Sample
from tcva_adapters.batches import collect, submit
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.batch_server import BatchServer, Line
from tests.support.server import Answer, auto_judge, error

NUMBER: Final = 1000


def fate(batch: int, number: int, _: Line) -> Answer | str | None:
    """Every twentieth line of the first round fails; the second batch ends half done."""
    if batch == 2 and number > NUMBER // 8:
        return "expired"
    if batch <= 4 and number % 20 == 0:
        return (error(500, "server error"), error(429, "slow down"), "missing")[
            number // 20 % 3
        ]
    return None


def contradict(server: BatchServer) -> None:
    """Answer the first request of the third batch a second time, the other way round."""
    file = server.look("batch_3")["output_file_id"]
    name, content = server.files[file]
    line = json.loads(content.splitlines()[0])
    message = line["response"]["body"]["choices"][0]["message"]
    message["content"] = message["content"].replace('"none"', '"fully"')
    server.files[file] = (name, content + b"\n" + json.dumps(line).encode())


def main() -> None:
    contexts = [(f"Room {n} opens at nine.", "Parking is free.") for n in range(NUMBER)]
    samples = [
        Sample(
            id=str(n),
            response=f"{texts[0]} Zebras invented telephone {n}.",
            contexts=texts,
        )
        for n, texts in enumerate(contexts)
    ]
    with tempfile.TemporaryDirectory() as folder, BatchServer(auto_judge) as server:
        server.fate, server.statuses = fate, {2: "expired"}
        place, store = Path(folder) / "submission", Path(folder) / "verdicts.sqlite"
        model = OpenAICompatibleModel(
            "m", base_url=server.base_url, timeout=1.0, max_retries=0
        )
        tcva = TCVA(judge=model, store=store)
        (counts,) = submit(tcva, samples, place, batch_size=NUMBER // 4).records(
            "samples"
        )
        contradict(server)
        while counts["requests_under_way"]:
            (counts,) = collect(tcva, place).records("samples")
        before = server.count
        results = tcva.changed(share=False).evaluate_many(samples, progress=False)
        calls = server.count - before
        live = TCVA(judge=OpenAICompatibleModel("m", base_url=server.base_url))
        wanted = [each.score for each in live.evaluate_many(samples, progress=False)]
        twice = [number > 1 for number in server.answered.values()]
        figures = {
            "samples": NUMBER,
            "accounted for": counts["scored"] + counts["unscored"] + counts["failed"],
            "requests looked at by the server": sum(server.looked_at.values()),
            "answered twice, but for the contradicted one": sum(twice) - 1,
            "calls of 'evaluate' afterwards": calls,
            "scores equal to a live run": [each.score for each in results] == wanted,
        }
        print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
