"""Tables 5 to 9: the paper's own digits from its data, and a set that the paper does not have."""

import json
import math
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.paper.__main__ import main
from benchmarks.paper.data import read_folder
from benchmarks.paper.reproduction import reproduce
from benchmarks.paper.tables import bootstrapped
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.tables import Report
from tests.support import dialogue_set
from tests.support.dialogue_set import DEEPEVAL, HUMAN, RAGAS, VERDICTS, write
from tests.support.paper import FOLDER, needs_paper_data

stats = pytest.importorskip("scipy.stats", reason="the extra stats")

WEIGHTS = {"f": 1.0, "m": 0.9, "p": 0.7, "i": 0.3, "n": 0.0}


def at_half(letters: str) -> float:
    """TCVA at T=0.5 by hand: exponent 1 is the mean, and the penalty's exponent is 1 as well."""
    shares = sum(WEIGHTS[x] for x in letters) / len(letters)
    return round(shares * (1 - letters.count("n") / len(letters)), 4)


@cache
def paper_report() -> Report:
    return reproduce(FOLDER)


def rows(report: Report, title: str, key: str = "method") -> dict[str, dict[str, Any]]:
    """The records of a table by their row; for several sets the last one's."""
    return {record[key]: record for record in report.records(title)}


@pytest.mark.slow
@needs_paper_data
def test_every_figure_is_the_papers() -> None:
    report = paper_report()
    # 7 of Table 5, 2 each for the 3 rows of Table 6, 4 of Table 7, 4 of Table 9.
    assert [(one["equal"], one["of"]) for one in report.records("sets")] == [
        (21, 21)
    ] * 2
    assert all(one["table_8_within"] < 0.01 for one in report.records("sets"))
    assert all(one["n"] == one["n_paper"] for one in report.records("Table 5"))
    for one in report.records("Table 8, difference"):
        assert one["difference_low"] < 0 < one["difference_high"]
        assert one["p"] > 0.3


@pytest.mark.slow
@needs_paper_data
def test_fused_scores_agree_better_than_their_members() -> None:
    found = {
        (one["set"], one["members"]): one
        for one in paper_report().records("fused scores")
    }
    assert found["summeval", "tcva + ragas"]["rho"] >= 0.713
    assert found["summeval", "tcva + lexical"]["rho"] >= 0.70
    assert found["summeval_rel", "tcva + ragas"]["rho"] >= 0.585
    for row in found.values():
        assert row["gain"] == pytest.approx(row["rho"] - row["member_rho"], abs=1e-12)
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]
        assert row["p"] <= row["p_corrected"]


def test_another_set_is_measured_at_one_half(tmp_path: Path) -> None:
    report = reproduce(write(tmp_path), resamples=200)
    (about,) = report.records("sets")
    assert (about["T"], about["choice"], about["samples"]) == (0.5, "default", 16)
    scored = [i for i, letters in enumerate(VERDICTS) if letters]
    human = [HUMAN[i] for i in scored]
    scores = [at_half(VERDICTS[i] or "") for i in scored]
    five, six = rows(report, "Table 5"), rows(report, "Table 6")
    rho = stats.spearmanr(scores, human).statistic
    assert (five["T=0.5"]["n"], five["T=0.5"]["rho"]) == (
        12,
        pytest.approx(rho, abs=1e-12),
    )
    assert "rho_paper" not in five["T=0.5"]
    tau = stats.kendalltau(scores, human).statistic
    assert six["T=0.5"]["tau"] == pytest.approx(tau, abs=1e-12)
    errors = [abs(a - b) for a, b in zip(scores, human, strict=True)]
    assert six["T=0.5"]["mae"] == pytest.approx(sum(errors) / 12, abs=1e-12)
    whole = stats.spearmanr(RAGAS, HUMAN).statistic
    assert five["ragas"]["rho"] == pytest.approx(whole, abs=1e-12)
    assert five["deepeval"]["n"] == 15  # one failed
    expected = stats.spearmanr(DEEPEVAL[:-1], HUMAN[:-1]).statistic
    assert five["deepeval"]["rho"] == pytest.approx(expected, abs=1e-12)
    # The paired test stands on the 12 that both have scored; 12 are too few for an interval.
    pair = rows(report, "Table 8, difference")["TCVA minus RAGAS"]
    common = stats.spearmanr([RAGAS[i] for i in scored], human).statistic
    assert (pair["n"], pair["difference"]) == (
        12,
        pytest.approx(rho - common, abs=1e-12),
    )
    assert pair["difference_low"] is None
    assert "samples, got 16" in rows(report, "Table 8")["ragas"]["reason"]
    # Configuration D: fully and mostly are 1, all else 0; then share squared (mean x penalty).
    shares = [
        sum(x in "fm" for x in VERDICTS[i] or "") / len(VERDICTS[i] or "")
        for i in scored
    ]
    nine = rows(report, "Table 9")
    expected = stats.spearmanr(
        [round(share**2, 4) for share in shares], human
    ).statistic
    assert nine["D binary"]["rho"] == pytest.approx(expected, abs=1e-12)
    assert nine["A full"]["rho"] == rows(report, "Table 7")["default"]["rho"]
    assert nine["A full"]["rho"] == five["T=0.5"]["rho"]
    fused = rows(report, "fused scores", "members")
    assert [*fused] == ["tcva + ragas", "tcva + lexical", "tcva + ragas + lexical"]
    assert fused["tcva + ragas"]["n"] == 12


def test_samples_without_verdicts_are_left_out_unless_counted(tmp_path: Path) -> None:
    # Under this name the paper's digits stand beside.
    folder = write(tmp_path, "usr")
    left_out = reproduce(folder, resamples=50, lexical=False)
    counted = reproduce(folder, resamples=50, lexical=False, count_empty=True)
    # Three turns have no claim and a stored 0; the failed one has no score either way.
    assert rows(left_out, "Table 5")["T=0.5"]["n"] == 12
    row = rows(counted, "Table 5")["T=0.5"]
    scores = [0.0 if not v else at_half(v) for v in VERDICTS[:-1]]
    rho = stats.spearmanr(scores, HUMAN[:-1]).statistic
    assert (row["n"], row["n_paper"], row["rho_paper"]) == (15, 198, 0.168)
    assert row["rho"] == pytest.approx(rho, abs=1e-12)
    for title in ("Table 7", "Table 9", "fused scores"):  # these need verdicts
        assert counted.records(title) == left_out.records(title)


def test_what_is_missing_leaves_its_rows_out(tmp_path: Path) -> None:
    report = reproduce(write(tmp_path, prepared=None, ragas_scores=None), resamples=50)
    assert [*rows(report, "Table 8")] == ["tcva", "deepeval"]
    assert report.records("Table 8, difference") == report.records("fused scores") == []
    assert "dialogue: there is no dialogue_ragas_scores.json" in report.notes
    # A method that gives everyone the same score ranks nobody.
    same = write(
        tmp_path / "same", ragas_scores=dialogue_set.scored("ragas", [1.0] * 16)
    )
    row = rows(reproduce(same, resamples=50, lexical=False), "Table 5")["ragas"]
    assert (row["rho"], row["n"]) == (None, 16)


def test_records_are_joined_by_id_whatever_their_order(tmp_path: Path) -> None:
    shuffled = dialogue_set.files()
    for number, kind in enumerate(("tcva_scores", "ragas_scores", "deepeval_scores")):
        random.Random(number).shuffle(shuffled[kind])
    mixed = read_folder(write(tmp_path / "mixed", **shuffled), lexical=True)["dialogue"]
    plain = read_folder(write(tmp_path / "plain"), lexical=True)["dialogue"]
    order = [mixed.samples.index(name) for name in plain.samples]
    again = mixed.select(order, plain.methods)
    for name in ("scores", "rating", "counts"):
        assert np.array_equal(
            getattr(again, name), getattr(plain, name), equal_nan=True
        )
    assert plain.counts is not None
    # fully, mostly, partial, minor, none of "fn" and of the turn without a claim.
    assert plain.counts[[1, 3], 0].tolist() == [[1, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    # Every second turn has one claim word for word, and one without a word of it: minor with .3.
    once = (1 + 0.3 * 0.3) / 2 * (1 - 0.7 / 2)
    assert plain.column("lexical")[1::2].tolist() == pytest.approx([once] * 8)


def changed(kind: str, **fields: Any) -> dict[str, Any]:
    """A file whose second record has these fields."""
    files = dialogue_set.files()
    files[kind][1] |= fields
    return {kind: files[kind]}


DAMAGE: dict[str, dict[str, Any]] = {
    "a record must be a JSON object": {"ragas_scores": "[1]"},
    "not JSON": {"tcva_scores": "{"},
    "the id is 'turn-0'": changed("prepared", id="turn-0"),
    "the id is None": changed("tcva_scores", id=None),
    "human_score .*got 1.5": changed("prepared", human_score=1.5),
    "ragas_score .*got '0.5'": changed("ragas_scores", ragas_score="0.5"),
    "no record has a field 'ragas_score'": {
        "ragas_scores": dialogue_set.scored("other", RAGAS)
    },
    "got 'perhaps'": changed("tcva_scores", verdicts=[{"verdict": "perhaps"}]),
    "verdicts are": changed("tcva_scores", verdicts=["fully"]),
    "tcva_scores {": changed("tcva_scores", tcva_scores={"warm": 0.5}),
    "no file is called": {"tcva_scores": None},
}


@pytest.mark.parametrize("said", DAMAGE)
def test_damage_is_refused(said: str, tmp_path: Path) -> None:
    write(tmp_path, **DAMAGE[said])
    with pytest.raises(UnreadableInputError, match=said):
        read_folder(tmp_path)


@pytest.mark.parametrize("is_grouped", [False, True], ids=["alone", "groups"])
def test_an_interval_of_resamples_is_that_of_a_loop_over_scipy(
    is_grouped: bool,
) -> None:
    rng = np.random.default_rng(3)
    human = np.round(rng.random(60) * 8) / 8
    scores = np.clip(np.round(human + rng.normal(0, 0.25, 60), 1), 0, 1)
    units = 20 if is_grouped else 60
    values = []
    for row in np.random.Generator(np.random.PCG64(5)).integers(0, units, (300, units)):
        places = (
            np.concatenate([3 * g + np.arange(3) for g in row]) if is_grouped else row
        )
        values.append(stats.spearmanr(scores[places], human[places]).statistic)
    shares = np.array([0.025, 0.975])
    if is_grouped:
        shares = stats.norm.cdf(math.sqrt(20 / 19) * stats.t.ppf(shares, 19))
    groups = (np.arange(60) // 3).tolist() if is_grouped else None
    found = bootstrapped(scores, human, groups, resamples=300, seed=5)
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(values, shares)), abs=1e-12
    )


def test_the_command_prints_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(write(tmp_path, "usr"))
    options = [
        "--set",
        "resamples=50",
        "--set",
        "seed=1",
        "--no-lexical",
        "--count-empty",
    ]
    expected = reproduce(folder, resamples=50, seed=1, lexical=False, count_empty=True)
    main([folder, *options, "--json"])
    assert json.loads(capsys.readouterr().out) == json.loads(
        json.dumps(expected.to_dict())
    )
    main([folder, *options])
    short = capsys.readouterr().out.splitlines()
    assert "Table 5" in short
    assert "Table 9" not in short
    main([folder, *options, "--best", "--all"])
    assert {"Table 5", "Table 9"} <= {*capsys.readouterr().out.splitlines()}


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["nowhere"], "error: nowhere: "),
    (["nowhere", "--set", "resample=5"], "did you mean 'resamples'?"),
    ([], "required: FOLDER"),
])  # fmt: skip
def test_wrong_use_of_the_command(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.slow
@needs_paper_data
def test_the_command_fits_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    quick = [str(FOLDER), "--set", "resamples=50", "--no-lexical"]
    main([*quick, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert {row["set"] for row in found["tables"]["Table 5"]} >= {
        "summeval",
        "summeval_rel",
    }
    for more in ([], ["--all"], ["--best", "--count-empty"]):
        main([*quick, *more])
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
