"""What a model behind an OpenAI-compatible server is worth as a judge, form by form, and what it costs.

Run: python -m benchmarks.local_model --form yes_no --base-url http://127.0.0.1:8080/v1 [--samples 24]

Judges the first samples of summeval (the paper's data, in TCVA_PAPER_DATA or the folder that
`benchmarks.lexical_sets` names) in an order that a seed fixes, so that every form judges the same ones.
Each judged sample is a line of a file, and the same command goes on where it was stopped. Prints the
correlation with human ratings, alone and fused with the embedded judge, verdicts
lowered by the evidence check, and the time and tokens of a sample.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Final

from benchmarks.lexical_sets import data_folder
from tcva_adapters import TCVA, Sample
from tcva_adapters.judges.base import VERDICT_FORMS
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.stats.inference import estimate

TEMPERATURES: Final = (0.5, 0.9)
SEED: Final = 13


def judged(tcva: TCVA, embedded: TCVA, record: dict[str, Any]) -> dict[str, Any]:
    """One sample's line."""
    sample = Sample(
        id=record["id"],
        input=record["question"],
        response=record["answer"],
        contexts=tuple(record["context"]),
    )
    begin = time.perf_counter()
    result = tcva.evaluate(sample)
    seconds = time.perf_counter() - begin
    usage = result.assessment.usage
    lexical = embedded.evaluate(sample)
    return {
        "id": sample.id,
        "human": record["human_score"],
        "form": result.assessment.form,
        "why": None if result.unscored is None else result.unscored.text,
        "scores": {f"{t:g}": result.at(t).score for t in TEMPERATURES},
        "embedded": {f"{t:g}": lexical.at(t).score for t in TEMPERATURES},
        "levels": [str(each.verdict) for each in result.claims],
        "lowered": sum(each.original_verdict is not None for each in result.claims),
        "seconds": seconds,
        "usage": [usage.calls, usage.input_tokens, usage.output_tokens],
    }


def spearman(name: str, scores: Sequence[float], human: Sequence[float]) -> str:
    found = estimate("spearman", [scores, human])
    return f"{name:34} {found.value:6.3f}  [{found.low:.3f}, {found.high:.3f}]"


def figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    scored = [row for row in rows if row["why"] is None]
    claims = sum(len(row["levels"]) for row in scored)
    yield f"scored                             {len(scored)} of {len(rows)}"
    for why in sorted({str(row["why"]) for row in rows} - {"None"}):
        yield f"  not scored                       {why[:100]}"
    lowered = sum(row["lowered"] for row in scored)
    yield f"lowered for want of evidence       {lowered} of {claims} claims"
    if len(scored) > 3:
        human = [row["human"] for row in scored]
        for t in TEMPERATURES:
            own = [row["scores"][f"{t:g}"] for row in scored]
            other = [row["embedded"][f"{t:g}"] for row in scored]
            fused = [math.sqrt(a * b) for a, b in zip(own, other, strict=True)]
            yield spearman(f"Spearman, T = {t:g}", own, human)
            yield spearman("  embedded judge", other, human)
            yield spearman("  fused (geometric mean)", fused, human)
    yield f"seconds a sample                   {mean(row['seconds'] for row in rows):.1f}"
    calls, read, written = (
        mean(column) for column in zip(*(row["usage"] for row in rows), strict=True)
    )
    yield f"calls a sample                     {calls:.1f}"
    yield f"prompt tokens a sample             {read:.0f}"
    yield f"tokens written a sample            {written:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--form", choices=VERDICT_FORMS, default="written")
    parser.add_argument("--base-url", default=os.environ.get("OPENAI_BASE_URL"), required=False)
    parser.add_argument("--model", default="local")
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--out", type=Path, help="by default local_model_FORM.jsonl")
    given = parser.parse_args()
    path = given.out or Path(f"local_model_{given.form}.jsonl")
    text = (data_folder(()) / "summeval_prepared.json").read_text(encoding="utf-8")
    records = json.loads(text)
    random.Random(SEED).shuffle(records)  # no secret hangs on it
    records = records[: given.samples]
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = {row["id"]: row for row in map(json.loads, lines)}
    model = OpenAICompatibleModel(given.model, base_url=given.base_url, timeout=1800)
    tcva = TCVA(judge=model, share=False, verdicts=given.form)
    embedded = TCVA(judge="lexical")
    with path.open("a", encoding="utf-8") as file:
        for record in records:
            if record["id"] not in rows:
                rows[record["id"]] = row = judged(tcva, embedded, record)
                file.write(json.dumps(row) + "\n")
                file.flush()
    print(f"{given.form}, {model.name}: the first {len(records)} samples of seed {SEED}, {path}")
    print("\n".join(figures([rows[record["id"]] for record in records])))


if __name__ == "__main__":
    main()
