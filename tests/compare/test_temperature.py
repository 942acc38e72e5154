"""`sweep`: means, pass rates and flips over temperatures, the ablation, agreement with people."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment
from tcva_adapters.compare import sweep
from tcva_adapters.core import aggregation
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.writer import write_results
from tcva_adapters.stats.inference import difference
from tcva_adapters.tables import Report
from tests.support.ablation import ablation

stats = pytest.importorskip("scipy.stats", reason="the extra stats")

RNG = np.random.default_rng(8)
COUNTS: FloatArray = RNG.multinomial(6, [0.3, 0.2, 0.2, 0.1, 0.2], size=60).astype(
    float
)
HUMAN = COUNTS @ [1, 0.9, 0.7, 0.3, 0] / 6 + RNG.normal(0, 0.2, 60)
NAMES = {
    "full": "A full",
    "without_penalty": "B no penalty",
    "arithmetic": "C arithmetic",
}
NAMES["binary"] = "D binary"


def assessments() -> list[Assessment]:
    found = []
    for number, (row, rating) in enumerate(zip(COUNTS, HUMAN, strict=True)):
        words = [
            level for level, n in zip(LEVELS, row, strict=True) for _ in range(int(n))
        ]
        metadata = {"human": float(rating), "document": f"d{number // 2}"}
        one = Assessment.from_verdicts(words, sample_id=f"s{number}")
        found.append(one.model_copy(update={"metadata": metadata}))
    return [*found, Assessment.from_verdicts([], sample_id="empty")]


def rows(
    report: Report, title: str = "temperatures"
) -> dict[tuple[str, float], dict[str, Any]]:
    return {(row["setting"], row.get("T", 0.0)): row for row in report.records(title)}


def test_means_pass_rates_and_flips_are_the_cores() -> None:
    found = rows(sweep(assessments(), [0.3, 0.6, 0.9]))
    scores = aggregation.aggregate_counts(COUNTS, [0.3, 0.6, 0.9])
    passes = scores >= 0.5
    for place, temperature in enumerate((0.3, 0.6, 0.9)):
        row = found["default", temperature]
        assert row["scored"] == 60
        assert row["mean"] == pytest.approx(scores[:, place].mean(), abs=1e-12)
        assert row["pass_rate"] == passes[:, place].mean()
        flips = (passes[:, place] != passes[:, place - 1]).sum() if place else None
        assert row["flips"] == flips


@pytest.mark.parametrize(
    "scoring",
    [ScoringConfig(), ScoringConfig(scheme="linear", floor="always", bounds=(-3, 12))],
)
def test_the_ablation_and_the_schemes_are_the_cores(scoring: ScoringConfig) -> None:
    options: dict[str, Any] = {**scoring.options}
    del options["penalty"]
    found = rows(sweep(COUNTS, [0.3, 0.9], scoring=scoring, ablation=True))
    assert len(found) == 2 * (4 + 4)
    for temperature in (0.3, 0.9):
        for part, expected in ablation(COUNTS, temperature, **options).items():
            mean = found[NAMES[part], temperature]["mean"]
            assert mean == pytest.approx(expected.mean(), abs=1e-12)
        for scheme in ("default", "linear", "aggressive", "conservative"):
            given = {**options, "scheme": scheme}
            expected = aggregation.aggregate_counts(
                COUNTS, [temperature], **given
            ).mean()
            assert found[scheme, temperature]["mean"] == pytest.approx(
                expected, abs=1e-12
            )
    own = rows(sweep(COUNTS, [0.5], schemes={"mine": [1, 0.5, 0.5, 0.5, 0]}))
    expected = aggregation.aggregate_counts(
        COUNTS, [0.5], scheme=[1, 0.5, 0.5, 0.5, 0]
    ).mean()
    assert own["mine", 0.5]["mean"] == pytest.approx(expected, abs=1e-12)


def test_agreement_with_people_and_what_each_part_adds() -> None:
    report = sweep(
        assessments(), [0.3, 0.9], ablation=True, human="human", resamples=400
    )
    parts = {part: scores.round(3) for part, scores in ablation(COUNTS, 0.9).items()}
    row = rows(report)["A full", 0.9]
    rho = stats.spearmanr(parts["full"], HUMAN).statistic
    assert (row["rated"], row["spearman"]) == (60, pytest.approx(rho, abs=1e-12))
    assert row["spearman_low"] < rho < row["spearman_high"]
    binary = rows(report, "ablation")["D binary", 0.0]
    expected = stats.spearmanr(parts["binary"], HUMAN).statistic - rho
    assert binary["difference"] == pytest.approx(expected, abs=1e-12)
    assert binary["difference_low"] < binary["difference"] < binary["difference_high"]
    records = report.records("ablation")
    tested = [row for row in records if "p" in row]
    # The default weights give the scores of the first row: no difference to test.
    assert {row["setting"] for row in records if "p" not in row} == {
        "A full",
        "default",
    }
    assert records[-1]["setting"] == tested[-1]["setting"] == "conservative"
    at_least = 0.0
    for left, row in enumerate(
        sorted(tested, key=lambda row: row["p"])
    ):  # Holm by hand
        at_least = max(at_least, min(1.0, (6 - left) * row["p"]))
        assert row["p_corrected"] == pytest.approx(at_least, abs=1e-12)
    assert "p corrected" in report.text()
    # Samples that belong together count as one: intervals are of 30 documents.
    grouped = sweep(assessments(), [0.9], human="human", group="document")
    assert rows(grouped)["default", 0.9]["spearman"] == pytest.approx(rho, abs=1e-12)


def test_the_sentence_says_how_far_decisions_and_ranking_move() -> None:
    report = sweep(COUNTS, [0.3, 0.6, 0.9])
    scores = aggregation.aggregate_counts(COUNTS, [0.3, 0.6, 0.9]).round(3)
    low, high = ((scores[:, place] >= 0.5).mean() for place in (0, 2))
    wanted = f"At threshold 0.5 with default weights, the pass rate is {low:.0%}"
    assert report.sentence.replace(" %", "%") == (
        f"{wanted} at T=0.3 and {high:.0%} at T=0.9 (60 of 60 samples have a score)."
    )
    assert low + 0.3 < high
    human = HUMAN.clip(0, 1)
    rhos = [stats.spearmanr(column, human).statistic for column in scores.T]
    worst, best = int(np.argmin(rhos)), int(np.argmax(rhos))
    rated = sweep(COUNTS, [0.3, 0.6, 0.9], human=human, resamples=300)
    gap = difference(
        "spearman",
        scores[:, best],
        scores[:, worst],
        human,
        level=1 - 0.05 / 3,
        resamples=300,
    )
    at = ("0.3", "0.6", "0.9")
    ends = f"{rhos[worst]:.3f} at T={at[worst]} and {rhos[best]:.3f} at T={at[best]}"
    change = f"{gap.value:+.3f} [{gap.low:+z.2f}, {gap.high:+z.2f}]"
    assert rated.sentence.endswith(
        f" Spearman with the human ratings is {ends}: {change} between the worst and the best of 3 "
        "temperatures (n = 60)."
    )
    assert "is corrected for all pairs of" in rated.text()
    assert "Spearman" not in sweep(COUNTS, [0.5], human=human).sentence
    few = sweep(COUNTS[:40], [0.3, 0.9], human=human[:40]).sentence
    assert few.endswith("(n = 40; no interval: it needs 50 samples, got 40).")


# Table 9 of the paper, whose digits are of rounded scores: within .003 of these.
def test_fused_judges_and_lowered_verdicts_are_seen_as_such(tmp_path: Path) -> None:
    member = Assessment.from_verdicts(["fully", "minor"]).model_copy(
        update={"judge": "second"}
    )
    fused = [
        each.model_copy(update={"members": (member,)}) for each in assessments()[:-1]
    ]
    report = sweep(fused, [0.5], ablation=True)
    # The floor of 1e-9 under fused scores is felt where one of them is 0.
    for part in ("full", "without_penalty", "binary"):
        own = np.maximum(ablation(COUNTS, 0.5)[part], 1e-9)
        other = max(ablation([[1, 0, 0, 1, 0]], 0.5)[part][0], 1e-9)
        mean = rows(report)[NAMES[part], 0.5]["mean"]
        assert mean == pytest.approx(np.sqrt(own * other).mean(), abs=1e-9)
    assert "faithfulness by given, fused with faithfulness by second" in report.notes
    with pytest.raises(InvalidSampleError):
        sweep([*fused, assessments()[0]])
    lowered = {
        "verdict": "partial",
        "original_verdict": "fully",
        "evidence_check": "not_found",
    }
    plain = json.loads(Assessment.from_verdicts(["fully"]).to_json())
    path = tmp_path / "judged.jsonl"
    path.write_text(json.dumps({**plain, "claims": [{"claim": "c", **lowered}]}) + "\n")
    assert rows(sweep(path, [0.5]))["default", 0.5]["mean"] == 0.7
    off = sweep(path, [0.5], scoring=ScoringConfig(evidence="off"))
    assert rows(off)["default", 0.5]["mean"] == 1.0


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="got 2"):
        sweep(COUNTS, [2.0])
    with pytest.raises(InvalidValueError, match="temperatures must be a list, got 0"):
        sweep(COUNTS, 0.5)  # type: ignore[arg-type]  # as a user may
    with pytest.raises(InvalidValueError):
        sweep(COUNTS, [0.5], group="document")
    path = tmp_path / "judged.jsonl"
    write_results(path, assessments())
    with path.open("a", encoding="utf-8") as file:
        file.write("no json\n")
    report = sweep(path, [0.5], skip_bad=True)
    assert any("line 62" in note for note in report.notes)
    empty = sweep([[0, 0, 0, 0, 0]], [0.5])
    wanted = {"setting": "default", "T": 0.5, "scored": 0, "flips": None}
    assert rows(empty)["default", 0.5] == wanted
