"""``tcva sweep``: means, the ablation, and agreement with people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tcva_adapters import Assessment, Config
from tcva_adapters.cli.app import run
from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.collapse import ablation
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.files import read_assessments, write_assessments

RNG = np.random.default_rng(5)
COUNTS = RNG.multinomial(5, [0.3, 0.2, 0.2, 0.1, 0.2], size=30)
HUMAN = RNG.integers(0, 5, 30) / 4
HUMAN[0] = np.nan


@pytest.fixture(autouse=True)
def _in_a_folder_with_judgements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stored = []
    for row, rating in zip(COUNTS, HUMAN, strict=True):
        words = [level for level, n in zip(LEVELS, row, strict=True) for _ in range(n)]
        metadata = {} if np.isnan(rating) else {"human": float(rating)}
        stored.append(Assessment.from_verdicts(words).model_copy(update={"metadata": metadata}))
    write_assessments("judged.jsonl", [*stored, Assessment.from_verdicts([])])


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["sweep", "judged.jsonl", "--json", *arguments]) == 0
    parsed = json.loads(capsys.readouterr().out)
    assert isinstance(parsed, dict)
    return parsed


def cell(rows: list[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    (found,) = [row for row in rows if wanted.items() <= row.items()]
    return found


def test_the_ablation_is_the_cores(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "--ablation", "-T", "0.3,0.9")
    assert len(found["rows"]) == 2 * (4 + 4)
    for temperature in (0.3, 0.9):
        expected = ablation(COUNTS, temperature)
        for variant, penalty in (
            ("without_penalty", "off"),
            ("arithmetic", "paper"),
            ("binary", "paper"),
        ):
            row = cell(found["rows"], temperature=temperature, variant=variant)
            assert (row["scheme"], row["penalty"], row["scored"]) == ("default", penalty, 30)
            assert row["mean_score"] == pytest.approx(expected[variant].mean(), abs=1e-12)
        for scheme in ("linear", "aggressive", "conservative"):
            row = cell(found["rows"], temperature=temperature, scheme=scheme)
            mean = sweep(COUNTS, [temperature], scheme=scheme).mean()
            assert row["mean_score"] == pytest.approx(mean, abs=1e-12)


def test_agreement_with_people(capsys: pytest.CaptureFixture[str]) -> None:
    rows = said(capsys, "--human", "human", "-T", "0.5,0.9", "--penalty", "off")["rows"]
    known = ~np.isnan(HUMAN)
    for i, temperature in enumerate((0.5, 0.9)):
        scores = sweep(COUNTS, [0.5, 0.9], penalty="off")[:, i]
        rho = cell(rows, temperature=temperature)["spearman"]
        expected = stats.spearmanr(scores[known], HUMAN[known])[0]
        assert rho["value"] == pytest.approx(expected, abs=1e-12)
        assert rho["low"] < rho["value"] < rho["high"]
        assert (rho["n"], rho["reason"], rho["level"]) == (29, "", 0.95)


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--ablation", "--human", "human", "-T", "0.3,0.9"]
    assert run(["sweep", "judged.jsonl", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Spearman with 'human' is highest at T=0.")
    assert lines[2] == (
        "faithfulness by given: mean score over 30 of 31 assessments; penalty paper"
    )
    assert lines[3].split("  ")[-4:] == ["A full", "B no penalty", "C arithmetic", "D binary"]
    assert lines[6].split() == ["T", "default", "linear", "aggressive", "conservative"]
    assert "Spearman with 'human' over 29 assessments" in "\n".join(lines)
    assert max(map(len, lines)) <= 80


def test_ten_temperatures_are_not_cut_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", "judged.jsonl", "--penalty", "paper", "--penalty", "off"]) == 0
    printed = capsys.readouterr().out
    assert "…" not in printed
    assert printed.splitlines()[4].split("  ")[-2:] == ["default, paper", "default, off"]
    assert printed.splitlines()[-1].split()[0] == "1"


def test_one_scheme_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    rows = said(capsys, "--ablation", "--scheme", "1,.5,.5,.5,0", "-T", "0.5")["rows"]
    assert len(rows) == 5
    expected = ablation(COUNTS, 0.5, scheme=[1, 0.5, 0.5, 0.5, 0])
    row = cell(rows, variant="arithmetic", scheme="1,.5,.5,.5,0")
    assert row["mean_score"] == pytest.approx(expected["arithmetic"].mean(), abs=1e-12)


def test_a_file_sets_the_rest_of_the_dial(capsys: pytest.CaptureFixture[str]) -> None:
    Config(settings={"scheme": "linear", "penalty": "off", "eps": 0.05, "floor": "always"}).dump(
        "tcva.json"
    )
    (row,) = said(capsys, "--config", "tcva.json", "-T", "0.2")["rows"]
    expected = sweep(COUNTS, [0.2], scheme="linear", penalty="off", eps=0.05).mean()
    assert (row["scheme"], row["penalty"]) == ("linear", "off")
    assert row["mean_score"] == pytest.approx(expected, abs=1e-12)
    (typed,) = said(capsys, "--config", "tcva.json", "-T", "0.2", "--penalty", "paper")["rows"]
    assert typed["penalty"] == "paper"


def test_unusable_lines_can_be_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("judged.jsonl").read_text(encoding="utf-8")
    Path("judged.jsonl").write_text(text + "no json\n", encoding="utf-8")
    assert run(["sweep", "judged.jsonl"]) == 2
    assert "line 32" in capsys.readouterr().err
    assert run(["sweep", "judged.jsonl", "--skip-bad", "--json"]) == 0
    captured = capsys.readouterr()
    assert "skipped line 32" in captured.err
    assert json.loads(captured.out)["skipped"] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--ablation", "--penalty", "off"], "leave --penalty out"),
        (["--human", "nobody"], "no assessment has 'nobody'"),
        (["-T", "2"], "temperature 2.0 is outside"),
    ],
)
def test_wrong_use_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sweep", "judged.jsonl", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_scores_that_were_fused_are_seen_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    second = [1, 0, 0, 1, 0]
    member = Assessment.from_verdicts(["fully", "minor"]).model_copy(update={"judge": "second"})
    stored = read_assessments("judged.jsonl")
    fused = [
        each if each.unscored is not None else each.model_copy(update={"members": (member,)})
        for each in stored
    ]
    write_assessments("judged.jsonl", fused)
    found = said(capsys, "-T", "0.5,0.9", "--ablation", "--human", "human")
    assert found["fused"] == ["faithfulness by second"]
    means = {(r["variant"], r["scheme"], r["temperature"]): r["mean_score"] for r in found["rows"]}
    for temperature in (0.5, 0.9):
        # The floor of 1e-9 under fused scores is felt where one of them is 0.
        own = np.maximum(sweep(COUNTS, [temperature])[:, 0], 1e-9)
        other = sweep([second], [temperature])[0, 0]
        expected = np.sqrt(own * other).mean()
        assert means["full", "default", temperature] == pytest.approx(expected, abs=1e-12)
        bare = np.maximum(ablation(COUNTS, temperature)["without_penalty"], 1e-9)
        expected = np.sqrt(bare * ablation([second], temperature)["without_penalty"][0]).mean()
        assert means["without_penalty", "default", temperature] == pytest.approx(expected, abs=1e-9)
    assert run(["sweep", "judged.jsonl"]) == 0
    assert "faithfulness by given, fused with faithfulness by second" in capsys.readouterr().out
    write_assessments("judged.jsonl", [*fused, stored[0]])
    assert run(["sweep", "judged.jsonl"]) == 2
    assert "fused with different judges: nothing; faithfulness by second" in capsys.readouterr().err


def test_a_view_of_the_evidence_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    lowered = {"verdict": "partial", "original_verdict": "fully", "evidence_check": "not_found"}
    plain = json.loads(Assessment.from_verdicts(["fully"]).to_json())
    text = json.dumps({**plain, "claims": [{"claim": "c", **lowered}]})
    Path("judged.jsonl").write_text(f"{text}\n", encoding="utf-8")
    for view, score in {"lower": 0.7, "off": 1.0}.items():
        found = said(capsys, "-T", "0.5", "--evidence", view)
        assert found["evidence_view"] == view
        assert [row["mean_score"] for row in found["rows"]] == [score]
    assert run(["sweep", "judged.jsonl"]) == 0
    printed = capsys.readouterr().out
    assert "1 of 1 verdicts lowered: quote not found in the passages" in printed
    assert run(["sweep", "judged.jsonl", "--evidence", "off"]) == 0
    printed = capsys.readouterr().out
    assert "penalty paper, evidence off" in " ".join(printed.split())
    assert "lowered" not in printed
    assert run(["sweep", "judged.jsonl", "--evidence", "hard"]) == 2
    assert "evidence='hard'" in capsys.readouterr().err
    Path("tcva.json").write_text('{"version": 2, "settings": {"evidence": "off"}}')
    assert said(capsys, "--config", "tcva.json", "-T", "0.5")["evidence_view"] == "off"
    assert said(capsys, "-T", "0.5")["evidence_view"] == "lower"
