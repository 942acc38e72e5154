"""Parts taken out of the method and judgements in other forms, on the same samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters import Assessment, Result
from tcva_adapters.cli.app import run
from tcva_adapters.compare import sweep
from tcva_adapters.compare.judged import Judged
from tcva_adapters.compare.views.same_samples import PARTS, parts_taken_out, ways
from tcva_adapters.core.collapse import ablation
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import LEVELS, FloatArray
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.settings import ScoringConfig
from tests.support.paper import judged as paper
from tests.support.paper import needs_paper_data

RNG = np.random.default_rng(8)
COUNTS: FloatArray = RNG.multinomial(6, [0.3, 0.2, 0.2, 0.1, 0.2], size=40).astype(float)
HUMAN = COUNTS @ [1, 0.9, 0.7, 0.3, 0] / 6 + RNG.normal(0, 0.2, 40)


def assessments(
    counts: FloatArray, form: str, judge: str = "given", names: str = "s"
) -> list[Assessment]:
    found = []
    for number, row in enumerate(counts):
        words = [level for level, n in zip(LEVELS, row, strict=True) for _ in range(int(n))]
        about: dict[str, Any] = {"form": form, "judge": judge, "sample_id": f"{names}{number}"}
        about["metadata"] = {"human": float(HUMAN[number])}
        found.append(Assessment.from_verdicts(words).model_copy(update=about))
    return found


@pytest.mark.parametrize(
    "scoring",
    [
        ScoringConfig(),
        ScoringConfig(temperature=0.3, scheme="linear", floor="always", bounds=Bounds(p_min=-3.0)),
    ],
)
def test_parts_are_the_cores(scoring: ScoringConfig) -> None:
    options = {n: v for n, v in scoring.options.items() if n != "penalty"}
    expected = ablation(COUNTS, scoring.temperature, **options)
    found = parts_taken_out(COUNTS[:, None], scoring)
    for part, name in PARTS.items():
        np.testing.assert_array_equal(found[name], expected[part])


def test_the_table_is_of_samples_that_all_have_scored() -> None:
    lacking = COUNTS.copy()
    lacking[:5] = 0
    ours, other = (
        Judged.of(assessments(COUNTS, "written")),
        Judged.of(assessments(lacking, "yes_no")),
    )
    (found,) = ways(ours, ScoringConfig(), HUMAN, ablation=False, beside=[other], n_boot=300)
    assert (found.samples, [row.name for row in found.rows]) == (35, ["written", "yes_no"])
    assert found.rows[0] == type(found.rows[0])(
        "written", found.rows[1].mean, found.rows[1].pass_rate, found.rows[0].agreement
    )
    scores = ablation(COUNTS, 0.5)["full"][5:]
    assert found.rows[0].mean == pytest.approx(scores.mean(), abs=1e-12)
    assert found.rows[0].pass_rate == (scores >= 0.5).mean()
    assert found.rows[0].agreement is not None
    rho = stats.spearmanr(scores, HUMAN[5:])[0]
    assert found.rows[0].agreement.value == pytest.approx(rho, abs=1e-12)


def test_differences_are_of_the_same_resamples() -> None:
    ours = Judged.of(assessments(COUNTS, "written"))
    (found,) = ways(
        ours, ScoringConfig(temperature=0.9), HUMAN, ablation=True, beside=[], n_boot=400, seed=4
    )
    parts = ablation(COUNTS, 0.9)
    rng = np.random.default_rng(0)
    by_hand = []
    for _ in range(400):
        drawn = rng.integers(0, 40, 40)
        one, other = (
            stats.spearmanr(scores[drawn], HUMAN[drawn])[0]
            for scores in (parts["binary"], parts["full"])
        )
        by_hand.append(one - other)
    binary = found.rows[3].difference
    assert binary is not None
    assert binary.delta == pytest.approx(
        stats.spearmanr(parts["binary"], HUMAN)[0] - stats.spearmanr(parts["full"], HUMAN)[0],
        abs=1e-12,
    )
    # Other draws, 400 each: an end of the interval has a standard error of a seventh of the spread.
    ends = np.quantile(by_hand, [0.025, 0.975])
    np.testing.assert_allclose([binary.low, binary.high], ends, atol=0.6 * np.std(by_hand))


def test_samples_are_joined_by_id_whatever_their_order() -> None:
    ours, others = assessments(COUNTS, "written"), assessments(COUNTS, "labels")[::-1]
    found = sweep(ours, [0.5], beside=[others])
    first, second = found.ways[0].rows
    assert (first.mean, first.pass_rate) == (second.mean, second.pass_rate)
    assert first.agreement is None


def test_names_tell_forms_and_judges_apart() -> None:
    ours = assessments(COUNTS, "written", "a")
    others = [assessments(COUNTS, "written", "b"), assessments(COUNTS, "", "c"), ours]
    found = sweep(ours, [0.5], beside=others)
    names = [row.name for row in found.ways[0].rows]
    assert names == ["written by a #1", "written by b", "c", "written by a #2"]


def test_what_has_nothing_in_common_is_refused() -> None:
    ours = assessments(COUNTS, "written")
    with pytest.raises(InvalidSampleError, match="they are of other samples"):
        sweep(ours, [0.5], beside=[assessments(COUNTS, "labels", names="t")])
    other = [each.model_copy(update={"criterion": "correctness"}) for each in ours]
    with pytest.raises(InvalidSampleError, match="under one criterion"):
        sweep(ours, [0.5], beside=[other])


def test_the_command_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_assessments("a.jsonl", assessments(COUNTS, "written"))
    worse = np.stack([RNG.permutation(row) for row in COUNTS])
    write_assessments("b.jsonl", assessments(worse, "compact"))
    arguments = ["sweep", "a.jsonl", "-T", "0.5", "--beside", "b.jsonl", "--human", "human"]
    assert run([*arguments]) == 0
    printed = capsys.readouterr().out
    assert "Other judgements of the same samples; T=0.5, threshold 0.5, 40 samples" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert run([*arguments, "--json", "--ablation", "--p-min", "-3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bounds"]["p_min"] == -3.0
    parts, forms = found["ways"]
    assert [row["name"] for row in parts["rows"]] == list(PARTS.values())
    assert [row["name"] for row in forms["rows"]] == ["written", "compact"]
    assert forms["rows"][1]["difference"]["delta"] < 0 < forms["rows"][0]["agreement"]["value"]


def test_a_result_has_the_form_that_it_was_judged_in() -> None:
    judged = Judged.of([Result(each) for each in assessments(COUNTS, "yes_no, 5 draws")])
    assert judged.forms == ("yes_no, 5 draws",)


# Table 9 of the paper, whose digits are of rounded scores: within .003 of these.
@needs_paper_data
@pytest.mark.parametrize(
    ("name", "temperature", "deltas"),
    [("summeval", 0.9, (-0.057, -0.004, -0.052)), ("summeval_rel", 0.5, (0.005, 0.0, -0.244))],
)
def test_the_papers_ablation(name: str, temperature: float, deltas: tuple[float, ...]) -> None:
    counts, human, _ = paper(name)
    found = sweep(counts, [temperature], ablation=True, human=human).ways[0]
    differences = [row.difference.delta for row in found.rows[1:] if row.difference is not None]
    np.testing.assert_allclose(differences, deltas, atol=0.003)
