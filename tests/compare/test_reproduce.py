"""Tables 5 to 9: the paper's own digits from its data, and a set that the paper does not have."""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters.compare.paper.data import PaperSet, read_folder
from tcva_adapters.compare.paper.digits import PAPER
from tcva_adapters.compare.paper.fused import fused, lexical_scores
from tcva_adapters.compare.paper.reproduction import Reproduction, choose_temperature, reproduce_set
from tcva_adapters.compare.paper.tables import Agreement
from tcva_adapters.compare.paper.text import FOOTNOTES, match, tables, title
from tcva_adapters.errors import InvalidValueError
from tests.compare.dialogue_set import DEEPEVAL, HUMAN, RAGAS, VERDICTS, write
from tests.support.paper import FOLDER, needs_paper_data

stats = pytest.importorskip("scipy.stats", reason="the extra stats")

SETS = ["summeval", "summeval_rel"]
WORTH = {"f": 1.0, "m": 0.9, "p": 0.7, "i": 0.3, "n": 0.0}


def at_half(letters: str) -> float:
    """TCVA at T=0.5 by hand: exponent 1 is the mean, and the penalty's exponent is 1 as well."""
    shares = sum(WORTH[x] for x in letters) / len(letters)
    return round(shares * (1 - letters.count("n") / len(letters)), 4)


@cache
def paper_data() -> dict[str, PaperSet]:
    return {one.name: one for one in read_folder(FOLDER)}


@cache
def paper_tables(name: str) -> Reproduction:
    return reproduce_set(paper_data()[name])


@pytest.fixture
def dialogue(tmp_path: Path) -> PaperSet:
    (found,) = read_folder(write(tmp_path))
    return found


@needs_paper_data
@pytest.mark.parametrize("name", SETS)
def test_every_figure_of_tables_5_6_7_and_9_is_the_papers(name: str) -> None:
    found, paper = paper_tables(name), PAPER[name]
    assert found.chosen == "paper"
    assert {k: round(r.rho, 4) for k, r in found.table5.items()} == paper.table5()
    for row, expected in paper.table6().items():
        assert (round(found.table5[row].tau, 4), round(found.table5[row].mae, 4)) == expected
    assert {k: round(v, 4) for k, v in found.table7.items()} == paper.table7()
    assert {k: round(v, 4) for k, v in found.table9.items()} == paper.table9()
    sizes = [found.table5[row].n for row in ("T=0.5", "ragas", "deepeval")]
    assert sizes == list(paper.n)


@needs_paper_data
@pytest.mark.parametrize("name", SETS)
def test_table_8_is_within_a_hundredth(name: str) -> None:
    found, paper = paper_tables(name), PAPER[name]
    for method, (low, high) in paper.table8().items():
        assert found.table8[method].low == pytest.approx(low, abs=0.01)
        assert found.table8[method].high == pytest.approx(high, abs=0.01)
    assert found.paired is not None
    assert found.paired.p_paper == pytest.approx(paper.p, abs=0.01)
    # Neither difference is one that the data could tell from none.
    assert found.paired.p_two_sided > 0.3
    assert found.paired.low < 0 < found.paired.high


@needs_paper_data
def test_the_whole_agreement_is_counted() -> None:
    # 7 of Table 5, 2 each for the 3 rows of Table 6, 4 of Table 7, 4 of Table 9.
    for name in SETS:
        agreed = match(paper_tables(name))
        assert agreed is not None
        assert (agreed.figures, agreed.equal) == (21, 21)
        assert agreed.farthest is not None
        assert agreed.farthest < 0.01


@needs_paper_data
def test_unrounded_scores_stand_beside() -> None:
    # Rounding makes ties of strict scores; from T=0.5 on it changes no digit.
    rhos = [round(v, 4) for v in paper_tables("summeval").unrounded.values()]
    assert rhos == [0.6678, 0.6678, 0.6630, 0.6638, 0.6669]
    rhos = [round(v, 4) for v in paper_tables("summeval_rel").unrounded.values()]
    assert rhos == [0.4771, 0.4771, 0.4800, 0.4523, 0.4548]


@needs_paper_data
@pytest.mark.parametrize(
    ("name", "with_ragas", "with_lexical"),
    [("summeval", 0.713, 0.70), ("summeval_rel", 0.585, 0.56)],
)
def test_fused_scores_agree_better_than_their_members(
    name: str, with_ragas: float, with_lexical: float
) -> None:
    rows = paper_tables(name).fused
    assert rows["tcva+ragas"].rho >= with_ragas
    assert rows["tcva+lexical"].rho >= with_lexical
    for row in rows.values():
        assert row.gain == pytest.approx(row.rho - row.best_rho, abs=1e-12)
        assert row.gain > 0
        assert row.gain_low <= row.gain <= row.gain_high
        assert row.low <= row.rho <= row.high


@needs_paper_data
def test_the_best_temperature_of_the_papers_sets_is_the_papers() -> None:
    for name in SETS:
        rows = paper_tables(name).table5
        assert choose_temperature(name, rows, best=True) == (PAPER[name].temperature, "best")


def test_another_set_is_measured_at_one_half(dialogue: PaperSet) -> None:
    found = reproduce_set(dialogue, n_boot=200)
    assert (found.temperature, found.chosen, len(found.data.ids)) == (0.5, "default", 16)

    scored = [i for i, letters in enumerate(VERDICTS) if letters]
    human = [HUMAN[i] for i in scored]
    scores = [at_half(VERDICTS[i] or "") for i in scored]
    row = found.table5["T=0.5"]
    assert row.n == 12
    assert row.rho == pytest.approx(stats.spearmanr(scores, human).statistic, abs=1e-12)
    assert row.tau == pytest.approx(stats.kendalltau(scores, human).statistic, abs=1e-12)
    errors = [abs(a - b) for a, b in zip(scores, human, strict=True)]
    assert row.mae == pytest.approx(sum(errors) / 12, abs=1e-12)

    whole = stats.spearmanr(RAGAS, HUMAN).statistic
    assert found.table5["ragas"].n == 16
    assert found.table5["ragas"].rho == pytest.approx(whole, abs=1e-12)
    assert found.table8["ragas"].rho == pytest.approx(whole, abs=1e-12)
    assert found.table5["deepeval"].n == 15  # one failed
    assert found.table5["deepeval"].rho == pytest.approx(
        stats.spearmanr(DEEPEVAL[:-1], HUMAN[:-1]).statistic, abs=1e-12
    )
    # The paired test stands on the 12 that both have scored.
    assert found.paired is not None
    common = stats.spearmanr([RAGAS[i] for i in scored], human).statistic
    assert found.paired.delta == pytest.approx(row.rho - common, abs=1e-12)

    # Configuration D: fully and mostly are 1, all else 0; then share squared (mean x penalty).
    binary = [(sum(x in "fm" for x in VERDICTS[i] or "") / len(VERDICTS[i] or "")) for i in scored]
    binary = [round(share**2, 4) for share in binary]
    expected = stats.spearmanr(binary, human).statistic
    assert found.table9["D"] == pytest.approx(expected, abs=1e-12)
    assert found.table9["A"] == found.table7["default"] == row.rho
    assert set(found.fused) == {"tcva+ragas", "tcva+lexical", "tcva+ragas+lexical"}
    assert found.fused["tcva+ragas"].n == 12


def test_samples_without_verdicts_are_left_out_unless_counted(dialogue: PaperSet) -> None:
    left_out = reproduce_set(dialogue, n_boot=100, lexical=False)
    counted = reproduce_set(dialogue, n_boot=100, lexical=False, count_empty=True)
    # Three turns have no claim and a stored 0; the failed one has no score either way.
    assert (left_out.table5["T=0.5"].n, counted.table5["T=0.5"].n) == (12, 15)
    scores = [0.0 if not v else at_half(v) for v in VERDICTS[:-1]]
    rho = stats.spearmanr(scores, HUMAN[:-1]).statistic
    assert counted.table5["T=0.5"].rho == pytest.approx(rho, abs=1e-12)
    # Schemes, ablation and fused scores need verdicts.
    assert (counted.table7, counted.table9) == (left_out.table7, left_out.table9)
    assert counted.fused == left_out.fused
    said = " ".join(left_out.notes)
    assert f"though a score is stored: 3; counted with it, rho at T=0.5 is {rho:.4f} (n=15" in said
    assert "left out for want of a verdict and of a score: 1" in said
    assert "count with the score stored for them, in Tables 5, 6 and 8 alone: 3" in " ".join(
        counted.notes
    )


def test_best_takes_the_highest_rho_and_says_so(dialogue: PaperSet) -> None:
    found = reproduce_set(dialogue, n_boot=50, best=True, lexical=False)
    rhos = {key: row.rho for key, row in found.table5.items() if key.startswith("T=")}
    assert found.chosen == "best"
    assert rhos[f"T={found.temperature:g}"] == max(rhos.values())
    assert "picked afterwards" in title(found)


def test_a_tie_of_the_best_goes_to_the_strictest() -> None:
    row = Agreement(12, 0.5, 0.4, 0.3)
    rows = {"T=0.2": dataclasses.replace(row, rho=math.nan), "T=0.3": row, "T=0.9": row}
    assert choose_temperature("mine", rows, best=True) == (0.3, "best")
    assert choose_temperature("mine", {}, best=True) == (0.5, "default")
    assert choose_temperature("usr", rows) == (0.9, "paper")


def test_the_paper_stands_beside_a_known_set_only(dialogue: PaperSet) -> None:
    found = reproduce_set(dialogue, n_boot=50)
    assert match(found) is None
    assert all("paper" not in table.header for table in tables(found).values())
    for name, best in (("usr", False), ("usr", True)):
        known = reproduce_set(dataclasses.replace(dialogue, name=name), n_boot=50, best=best)
        shown = list(tables(known).values())
        assert all(len(row) == len(block.header) for block in shown for row in block.rows)
        assert "0.173" in shown[0].rows[4]
        assert "12 (198)" in shown[0].rows[0]
        agreed = match(known)
        assert agreed is not None
        # At another T than the paper's, only Tables 5 and 6 can be compared.
        assert agreed.figures == (21 if known.temperature == 0.9 else 13)


def test_what_is_missing_leaves_its_rows_out(tmp_path: Path) -> None:
    (alone,) = read_folder(write(tmp_path / "a", prepared=None, ragas_scores=None))
    found = reproduce_set(alone, n_boot=50)
    assert set(found.table8) == {"tcva", "deepeval"}
    assert found.paired is None
    assert found.fused == {}
    assert "paired" not in found.to_dict()["table8"]

    (frameworks,) = read_folder(write(tmp_path / "b", tcva_scores=None))
    found = reproduce_set(frameworks, n_boot=50)
    assert set(found.table5) == {"ragas", "deepeval"}
    assert (found.table7, found.table9, found.unrounded, found.fused) == ({}, {}, {}, {})
    assert len(tables(found)) == 2


def test_verdicts_alone_are_enough(dialogue: PaperSet) -> None:
    found = reproduce_set(dataclasses.replace(dialogue, stored={}), n_boot=50, lexical=False)
    assert found.table5 == reproduce_set(dialogue, n_boot=50, lexical=False).table5
    assert "left out for want of a verdict and of a score: 4" in found.notes


def test_undefined_figures_are_none(dialogue: PaperSet) -> None:
    # A method that gives everyone the same score ranks nobody.
    same = dataclasses.replace(dialogue, framework_scores={"ragas": np.ones(16)})
    tables = reproduce_set(same, n_boot=50, lexical=False).to_dict()
    assert tables["table5"]["ragas"]["rho"] is None
    assert tables["table5"]["ragas"]["n"] == 16
    assert tables["table8"]["paired"]["delta"] is None
    assert tables["fused"]["tcva+ragas"]["best"] == "tcva"


def test_few_samples_make_no_interval(dialogue: PaperSet) -> None:
    nine = 9
    few = PaperSet(
        "few",
        dialogue.ids[:nine],
        dialogue.human[:nine],
        counts=None if dialogue.counts is None else dialogue.counts[:nine],
        framework_scores={"ragas": dialogue.framework_scores["ragas"][:nine]},
    )
    found = reproduce_set(few, n_boot=50)
    assert (found.table8, found.paired, found.fused) == ({}, None, {})
    assert found.table5["ragas"].n == nine


def test_resampling_is_seeded(dialogue: PaperSet) -> None:
    def run(seed: int) -> Reproduction:
        return reproduce_set(dialogue, n_boot=100, seed=seed, lexical=False)

    assert run(1) == run(1)
    assert run(1).paired != run(2).paired
    with pytest.raises(InvalidValueError, match="n_boot"):
        reproduce_set(dialogue, n_boot=0)


def test_lexical_scores_need_samples(dialogue: PaperSet) -> None:
    scores = lexical_scores(dialogue)
    assert scores is not None
    # Every second turn has one claim word for word and one that is not there: mean 1/2, half none.
    assert scores[1::2].tolist() == [0.25] * 8
    assert np.isfinite(scores).all()
    assert lexical_scores(dataclasses.replace(dialogue, samples=None)) is None
    nothing = dataclasses.replace(dialogue, samples=(None,) * 16)
    assert lexical_scores(nothing) is None
    assert "the lexical judge has nothing to judge" in " ".join(
        reproduce_set(nothing, n_boot=50).notes
    )


def test_a_fused_row_stands_on_common_samples(dialogue: PaperSet) -> None:
    lexical = np.linspace(0.0, 1.0, 16)
    lexical[[0, 1]] = np.nan
    rows = fused(dialogue, lexical, n_boot=50, seed=0)
    assert {name: row.n for name, row in rows.items()} == {
        "tcva+ragas": 12,
        "tcva+lexical": 10,
        "tcva+ragas+lexical": 10,
    }
    assert rows["tcva+lexical"].best in {"tcva", "lexical"}


def test_the_footnotes_say_what_the_tables_cannot() -> None:
    said = " ".join(FOOTNOTES)
    assert "picks the best T afterwards" in said
    assert "RAGAS Faithfulness for every set" in said
