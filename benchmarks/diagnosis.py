"""`diagnose` beside the package ``ragchecker``, and on the bundled samples beside a reader.

Run: python -m benchmarks.diagnosis [FOLDER]
First the measures of 200 random label sets, computed by ragchecker 0.1.9 (found in FOLDER, or downloaded there by
pip without its dependencies; only its files of formulas are loaded), and by loops that follow the definitions.
What is empty is 0 in ragchecker and has no value here. Then the causes on the bundled samples, once with the
lexical judge for all criteria, once with the reader's levels in place of its faithfulness. The reader labelled
the claims of the answers against the contexts alone, so the line between right and wrong is the judge's in
both: what differs is whether a claim stands in the contexts.
"""

import importlib
import math
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tcva_adapters import TCVA, ClaimVerdict, Result, Sample
from tcva_adapters.compare import diagnose
from tcva_adapters.compare.diagnosis.causes import ClaimLabels, measures
from tcva_adapters.compare.diagnosis.joined import DIAGNOSED, diagnosis
from tcva_adapters.compare.scores.score_reader import read_scores
from tcva_adapters.data import labels_of
from tcva_adapters.demo import demo_samples
from tcva_adapters.tables import Report, Table, named_columns

RELEASE = "ragchecker==0.1.9"
NUMBER = 200

Side = list[tuple[bool, list[bool]]]
"""By claim: whether the other text supports it, and whether each passage does."""

Drawn = tuple[Side, Side, int]
"""The claims of a response, those of a reference, and the number of passages."""

Figures = Mapping[str, float | None]


def draw(rng: np.random.Generator) -> Drawn:
    """Draw labels, any matrix of them; a text may have no claims, and there may be no passages."""
    n_passages = int(rng.integers(0, 5))
    sides: list[Side] = []
    for _ in range(2):
        size = int(rng.integers(0, 7))
        right = rng.integers(0, 2, size).astype(bool).tolist()
        matrix = rng.random((size, n_passages)) < rng.random()
        sides.append([*zip(right, matrix.tolist(), strict=True)])
    return sides[0], sides[1], n_passages


def labels(side: Side, n_passages: int) -> ClaimLabels:
    """Put labels into arrays; without passages nothing is known of what they support."""
    agrees = np.array([agrees for agrees, _ in side], dtype=float)
    matrix = np.array([held for _, held in side], dtype=bool)
    matrix = matrix.reshape(len(side), n_passages)
    grounded = matrix.any(axis=1).astype(float)
    return ClaimLabels(
        agrees, grounded if n_passages else np.full(len(side), np.nan), matrix
    )


def by_arrays(drawn: Drawn) -> Figures:
    """The measures of the package, None where they have no value."""
    response, reference, n_passages = drawn
    measured = measures(
        labels(response, n_passages),
        labels(reference, n_passages),
        n_passages=n_passages,
    )
    return {
        name: None if math.isnan(value) else value for name, value in measured.items()
    }


def share(part: list[bool]) -> float | None:
    return sum(part) / len(part) if part else None


def by_loops(drawn: Drawn) -> Figures:
    """The definitions of the paper, claim by claim; None for a share of nothing."""
    response, reference, n_passages = drawn
    relevant = {n for n in range(n_passages) if any(held[n] for _, held in reference)}
    in_relevant, in_irrelevant, invented, known = [], [], [], []
    for right, held in response:
        is_relevant = any(held[n] for n in relevant)
        in_relevant.append(not right and is_relevant)
        in_irrelevant.append(not right and any(held) and not is_relevant)
        invented.append(not right and not any(held))
        known.append(right and not any(held))
    precision = share([right for right, _ in response])
    recall = share([said for said, _ in reference])
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 / (1 / precision + 1 / recall) if precision and recall else 0.0
    figures = {
        "claim_recall": share([any(held) for _, held in reference]),
        "context_precision": share(
            [n in relevant for n in range(n_passages) if reference]
        ),
        "context_utilization": share([said for said, held in reference if any(held)]),
        "noise_sensitivity_in_relevant": share(in_relevant) if reference else None,
        "noise_sensitivity_in_irrelevant": share(in_irrelevant) if reference else None,
        "hallucination": share(invented),
        "self_knowledge": share(known),
        "faithfulness": share([any(held) for _, held in response]),
    }
    if not n_passages:
        figures = dict.fromkeys(figures)
    return {"precision": precision, "recall": recall, "f1": f1, **figures}


def load_ragchecker(folder: Path) -> tuple[ModuleType, ModuleType]:
    """Load the formulas and the container of ragchecker from a folder, where pip puts it if it is not there.

    Raises:
        subprocess.CalledProcessError: pip cannot download it.
    """
    if not (folder / "ragchecker/computation.py").exists():
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--retries",
            "1",
            RELEASE,
            "--no-deps",
        ]
        subprocess.run(
            [*pip, "-d", folder], check=True, capture_output=True
        )  # our own words
        with zipfile.ZipFile(next(folder.glob("ragchecker-*.whl"))) as wheel:
            wheel.extractall(folder)
    package = ModuleType("ragchecker_formulas")  # its own __init__ imports much more
    package.__path__ = [str(folder / "ragchecker")]
    sys.modules[package.__name__] = package
    found = [
        importlib.import_module(f"{package.__name__}.{name}")
        for name in ("computation", "container")
    ]
    return found[0], found[1]


def by_ragchecker(drawn: Drawn, formulas: ModuleType, container: ModuleType) -> Figures:
    """The measures of ragchecker."""
    response, reference, _ = drawn

    def words(values: list[bool]) -> list[str]:
        return ["Entailment" if value else "Neutral" for value in values]

    def matrix(side: Side) -> list[list[str]]:
        return [words(held) for _, held in side]

    result = container.RAGResult(
        query_id="",
        query="",
        gt_answer="",
        response="",
        answer2response=words([right for right, _ in response]),
        response2answer=words([said for said, _ in reference]),
        retrieved2response=matrix(response),
        retrieved2answer=matrix(reference),
    )
    for function in formulas.METRIC_FUNC_MAP.values():
        function(result)
    return {name: float(value) for name, value in result.metrics.items()}


def compared(folder: Path) -> Report:
    """Compare the three computations of each measure on the same random labels."""
    formulas, container = load_ragchecker(folder)
    rng = np.random.default_rng(36)
    sets = [draw(rng) for _ in range(NUMBER)]
    computed = [
        (by_arrays(drawn), by_ragchecker(drawn, formulas, container), by_loops(drawn))
        for drawn in sets
    ]
    records: list[dict[str, Any]] = []
    for name in computed[0][0]:
        rows = [[figures[name] for figures in row] for row in computed]
        known = [
            (ours, theirs, loops) for ours, theirs, loops in rows if ours is not None
        ]
        empty = [row for row in rows if row[0] is None]
        records.append(
            {
                "measure": name,
                "sets": len(known),
                "ragchecker": max(
                    abs(ours - (theirs or 0.0)) for ours, theirs, _ in known
                ),
                "loops": max(abs(ours - (loops or 0.0)) for ours, _, loops in known),
                "empty": len(empty),
                "empty_is_0": all(
                    theirs == 0.0 and loops is None for _, theirs, loops in empty
                ),
            }
        )
    largest = max(max(record["ragchecker"], record["loops"]) for record in records)
    columns = named_columns(
        measure="text",
        sets="int",
        ragchecker="text",
        loops="text",
        empty="int",
        empty_is_0="text",
    )
    return Report(
        f"On {NUMBER} random label sets no measure differs by more than {largest:.1g} from {RELEASE} or the loops.",
        [Table("largest difference", columns, records)],
        ["empty: no value here; there 0 (empty is 0: in each of these sets)"],
    )


def by_reader(result: Result) -> Result:
    """The result of a bundled sample with the reader's levels in place of the judge's."""
    sample = result.sample or Sample()
    levels = {label.claim: label.level for label in labels_of(sample)}
    contexts = sample.contexts or ()
    is_one = len(contexts) == 1

    def labelled(claim: ClaimVerdict) -> ClaimVerdict:
        update = {
            "verdict": levels.get(claim.claim),
            "probabilities": None,
            "original_verdict": None,
            "evidence_check": None,
            "evidence": contexts[0] if is_one else claim.evidence,
            "context": 1 if is_one else claim.context,
        }
        return claim.model_copy(update=update)

    claims = tuple(map(labelled, result.assessment.claims))
    if not any(claim.verdict for claim in claims):
        return result
    return Result(
        result.assessment.model_copy(update={"claims": claims, "unscored": None}),
        result.scoring,
        sample=sample,
    )


def on_bundled_samples() -> tuple[Report, Report, Report]:
    """Diagnose the bundled samples with a reference by the judge, and with the reader's levels; compare."""
    samples = [sample for sample in demo_samples() if sample.reference]
    judged = {
        criterion: TCVA(criterion, judge="lexical").evaluate_many(
            samples, progress=False
        )
        for criterion in DIAGNOSED
    }
    read = {**judged, "faithfulness": [*map(by_reader, judged["faithfulness"])]}
    causes = [
        {
            (claim.row, claim.place): cause.value
            for claim, cause in diagnosis(read_scores(results, samples=samples)).faults
            if claim.of == "response"
        }
        for results in (judged, read)
    ]
    pairs = Counter(
        (causes[1].get(key, "left out"), cause) for key, cause in causes[0].items()
    )
    total = sum(pairs.values())
    same = sum(number for (reader, judge), number in pairs.items() if reader == judge)
    records = [
        {"reader": reader, "judge": judge, "claims": number}
        for (reader, judge), number in pairs.most_common()
    ]
    columns = named_columns(reader="text", judge="text", claims="int")
    agreement = Report(
        f"The judge gives {same} of {total} claims that it calls wrong the cause that the reader's levels give.",
        [Table("causes of wrong claims", columns, records)],
    )
    return (
        diagnose(judged, samples=samples),
        diagnose(read, samples=samples),
        agreement,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        print(compared(folder))
    judge, reader, agreement = on_bundled_samples()
    print(f"\nlexical judge: {judge}\nreader's faithfulness: {reader}\n{agreement}")


if __name__ == "__main__":
    main()
