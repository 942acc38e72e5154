"""What a model behind an OpenAI-compatible server is worth as a judge, form by form, and what it costs.

Run: python -m benchmarks.local_model --form compact --base-url http://127.0.0.1:8080/v1 [--samples 24]

Judges the first samples of summeval (the paper's data, in TCVA_PAPER_DATA or the folder that
`benchmarks.lexical` names) in an order that a seed fixes, so that every form judges the same ones.
Each judged sample is a line of a file, and the same command goes on where it was stopped. Prints the
correlation with human ratings, alone and fused with the embedded judge, echoes of the prompt, verdicts
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

from benchmarks.lexical import data_folder
from tcva_adapters import TCVA, Sample
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.judging.echo import Given
from tcva_adapters.judging.reply import parse_verdicts
from tcva_adapters.models.metered import Metered
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.stats.bootstrap import interval

FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "written": {},
    "compact": {"prompt": "compact"},
    "labels": {"verdicts": "labels"},
    "yes_no": {"verdicts": "yes_no"},
    "auto": {"verdicts": "auto"},
}
TEMPERATURES: Final = (0.5, 0.9)
SEED: Final = 13


def echoes(claims: Sequence[ClaimVerdict], sample: Sample, instructions: str) -> int:
    """How many verdicts repeat the instructions."""
    given = Given(
        sample, FAITHFULNESS, [each.claim for each in claims], sample.contexts or (), instructions
    )
    return sum(given.echo(each) == "prompt" for each in claims)


def written_in(reply: ModelReply, claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    """The verdicts of a reply, before anything was left out of them."""
    found = parse_verdicts(reply.text, len(claims)).verdicts
    return [
        ClaimVerdict(
            claim=claims[number - 1].claim,
            verdict=said.label,
            evidence=said.evidence,
            reason=said.reason,
        )
        for number, said in found.items()
        if isinstance(said.label, Verdict)
    ]


def judged(tcva: TCVA, embedded: TCVA, metered: Metered, record: dict[str, Any]) -> dict[str, Any]:
    """One sample's line."""
    sample = Sample(
        id=record["id"],
        input=record["question"],
        response=record["answer"],
        contexts=tuple(record["context"]),
    )
    metered.calls.clear()
    begin = time.perf_counter()
    result = tcva.evaluate(sample)
    seconds = time.perf_counter() - begin
    calls = metered.calls
    system = calls[0].request.system
    lexical = embedded.evaluate(sample)
    every = [ClaimVerdict(claim=each.claim, verdict=None) for each in lexical.claims]
    said = [each for call in calls for each in written_in(call.reply, every)]
    return {
        "id": sample.id,
        "human": record["human_score"],
        "form": result.assessment.form,
        "why": None if result.unscored is None else result.unscored.text,
        "scores": {f"{t:g}": result.at(t).score for t in TEMPERATURES},
        "embedded": {f"{t:g}": lexical.at(t).score for t in TEMPERATURES},
        "levels": [str(each.verdict) for each in result.claims],
        "lowered": sum(each.original_verdict is not None for each in result.claims),
        "echoes_taken": echoes(result.claims, sample, system),
        "echoes_seen": echoes(said, sample, system),
        "seconds": seconds,
        "calls": [
            [call.reply.input_tokens, call.reply.cached_tokens, call.reply.output_tokens]
            for call in calls
        ],
    }


def spearman(name: str, scores: Sequence[float], human: Sequence[float]) -> str:
    found = interval("spearman", scores, human)
    return f"{name:34} {found.value:6.3f}  [{found.low:.3f}, {found.high:.3f}]"


def figures(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    scored = [row for row in rows if row["why"] is None]
    claims = sum(len(row["levels"]) for row in scored)
    yield f"scored                             {len(scored)} of {len(rows)}"
    for why in sorted({str(row["why"]) for row in rows} - {"None"}):
        yield f"  not scored                       {why[:100]}"
    for name, key in (("taken as verdicts", "echoes_taken"), ("in replies", "echoes_seen")):
        yield f"echoes of the prompt, {name:12} {sum(row[key] for row in rows)}"
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
    calls = [call for row in rows for call in row["calls"]]
    read = [sum(tokens - cached for tokens, cached, _ in row["calls"]) for row in rows]
    yield f"seconds a sample                   {mean(row['seconds'] for row in rows):.1f}"
    yield f"calls a sample                     {len(calls) / len(rows):.1f}"
    yield f"prompt tokens evaluated a sample   {mean(read):.0f}"
    later = [tokens - cached for row in rows for tokens, cached, _ in row["calls"][1:]]
    if later:
        yield f"  a call after the first           {mean(later):.0f}"
    yield f"tokens written a sample            {sum(call[2] for call in calls) / len(rows):.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--form", choices=FORMS, default="written")
    parser.add_argument("--base-url", default=os.environ.get("OPENAI_BASE_URL"), required=False)
    parser.add_argument("--model", default="local")
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--logprobs", action="store_true", help="for written verdicts")
    parser.add_argument("--out", type=Path, help="by default local_model_FORM.jsonl")
    given = parser.parse_args()
    path = given.out or Path(f"local_model_{given.form}{'_logprobs' * given.logprobs}.jsonl")
    text = (data_folder(()) / "summeval_prepared.json").read_text(encoding="utf-8")
    records = json.loads(text)
    random.Random(SEED).shuffle(records)  # no secret hangs on it
    records = records[: given.samples]
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = {row["id"]: row for row in map(json.loads, lines)}
    model = OpenAICompatibleModel(
        given.model, base_url=given.base_url, timeout=1800, logprobs=given.logprobs
    )
    metered = Metered(model)
    tcva = TCVA(judge=metered, share=False, **FORMS[given.form])
    embedded = TCVA(judge="lexical")
    with path.open("a", encoding="utf-8") as file:
        for record in records:
            if record["id"] not in rows:
                rows[record["id"]] = row = judged(tcva, embedded, metered, record)
                file.write(json.dumps(row) + "\n")
                file.flush()
    print(f"{given.form}, {model.name}: the first {len(records)} samples of seed {SEED}, {path}")
    print("\n".join(figures([rows[record["id"]] for record in records])))


if __name__ == "__main__":
    main()
