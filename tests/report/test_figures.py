"""Figures: drawn of reports and tables, the same bytes again, nobody else's replaced, no pyplot."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters.compare import ScoreTable, systems
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report import save_figures
from tcva_adapters.tables import Column, Report, Table
from tests.support.reports import gate

figures = pytest.importorskip("tcva_adapters.report.figures", reason="the extra plots")
charts = pytest.importorskip("tcva_adapters.report.charts", reason="the extra plots")
RNG = np.random.default_rng(2)
LONG = "framework metric_of_a_very_long_name " * 3


def report(title: str, *records: dict[str, Any]) -> Report:
    return Report("", [Table(title, [Column(name) for name in records[0]], [*records])])


def scored() -> ScoreTable:
    names = tuple(f"s{i}" for i in range(30))
    scores = RNG.integers(0, 5, (30, 3)) / 4
    scores[0, 1] = np.nan
    ratings = np.where(RNG.random(30) < 0.8, 0.5, np.nan)
    return ScoreTable(names, ("tcva", "ragas $x", LONG), scores, ratings)


SWEPT = [
    (n, m, t) for n, m in (("default", 0.5), ("linear", 0.4)) for t in (0.1, 0.5, 0.9)
]
CORRELATED = ("a", "b", 0.5), ("a", "c", None), ("b", "c", -0.9)
REPORTS = {
    "guarantee": gate(),
    "sweep": report(
        "temperatures",
        *({"setting": n, "T": t, "mean": t * m, "pass_rate": m} for n, m, t in SWEPT),
    ),
    "agreement": report(
        "agreement",
        {
            "method": "a$",
            "n": 9,
            "spearman": 0.2,
            "spearman_low": None,
            "spearman_high": None,
        },
        {
            "method": LONG,
            "n": 40,
            "spearman": 0.6,
            "spearman_low": 0.4,
            "spearman_high": 0.8,
        },
        {
            "method": "c",
            "n": 40,
            "spearman": None,
            "spearman_low": None,
            "spearman_high": None,
        },
    ),
    "reliability": report(
        "bins",
        {"score": 0.2, "rating": 0.3, "rating_low": 0.1, "rating_high": 0.5},
        {"score": 0.8, "rating": 0.7, "rating_low": None, "rating_high": None},
    ),
    "correlations": report(
        "pairs",
        *(
            dict(zip(("first", "second", "rho"), row, strict=True))
            for row in CORRELATED
        ),
    ),
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_has_its_figure(name: str) -> None:
    ((found, draw),) = figures.figures_of(REPORTS[name])
    assert found == name
    axes = draw().axes[0]
    assert axes.get_xlabel() or name == "correlations"


def test_curves_show_the_records() -> None:
    axes = charts.draw_sweep(REPORTS["sweep"]).axes[0]
    first, second = axes.lines
    assert np.asarray(first.get_xydata()).tolist() == [
        [0.1, 0.05],
        [0.5, 0.25],
        [0.9, 0.45],
    ]
    assert (first.get_label(), second.get_label()) == ("default", "linear")
    looks = {
        (line.get_linestyle(), line.get_marker(), line.get_color())
        for line in axes.lines
    }
    assert len(looks) == 2
    best, worst = charts.draw_agreement(REPORTS["agreement"]).axes[0].get_yticklabels()
    assert best.get_text().startswith("framework")
    assert worst.get_text() == r"a\$ (n=9)"
    limit, chosen = charts.draw_guarantee(gate()).axes[0].lines[3:]
    assert (limit.get_ydata()[0], chosen.get_xdata()[0]) == (0.2, 0.7)
    for level, label in ((0.2, "chosen"), (0.5, "certified, not recommended")):
        drawn = charts.draw_guarantee(gate(level)).axes[0].lines[-1]
        assert drawn.get_label() == label
    heat = charts.draw_correlations(REPORTS["correlations"]).axes[0]
    assert [text.get_text() for text in heat.texts][:3] == ["1.00", "0.50", "-"]


def test_systems_and_tables_have_theirs() -> None:
    queries = tuple(f"q{i}" for i in range(25))
    tables = {
        m: ScoreTable(queries, tuple("abc"), RNG.random((25, 3)))
        for m in ("f T=0.1", "qr")
    }
    found = systems(tables, resamples=50)
    assert [path.name for path in save_figures(found, "y")] == [
        "asl.png",
        "correlations.png",
    ]
    axes = charts.draw_asl(found).axes[0]
    (row, _) = found.records("metrics")
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == row["asl"][::-1]
    table = scored()
    names = [path.name for path in save_figures(table, "t", format="svg")]
    assert names[0] == "scatter-ragas-x.svg"
    axes = charts.draw_scatter(table, "ragas $x", "tcva").axes[0]
    marks = sum(len(np.asarray(one.get_offsets())) for one in axes.collections)
    assert marks == len(np.unique(table.common(["ragas $x", "tcva"]).scores, axis=0))
    with pytest.raises(InvalidValueError):
        save_figures(Report("none"), "x")


@pytest.mark.parametrize(
    "kind", ["png", "svg", pytest.param("pdf", marks=pytest.mark.slow)]
)
def test_the_same_figure_gives_the_same_bytes(kind: str) -> None:
    (path,) = save_figures(REPORTS["sweep"], "one", format=kind)
    first = path.read_bytes()
    (again,) = save_figures(REPORTS["sweep"], "one", format=kind)  # replaces its own
    assert again.read_bytes() == first
    if kind == "svg":
        assert b"temperature T (low is strict)</text>" in first
    path.write_bytes(b"mine")
    with pytest.raises(InvalidValueError, match="was not written by this"):
        save_figures(REPORTS["sweep"], "one", format=kind)
    assert path.read_bytes() == b"mine"
    assert save_figures(REPORTS["sweep"], "one", format=kind, overwrite=True) == [path]


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"jpg.*png"):
        save_figures(REPORTS["sweep"], "x", format="jpg")
    Path("file").write_text("")
    with pytest.raises(InvalidValueError, match="file"):
        save_figures(REPORTS["sweep"], "file/x")
