"""Files of figures: by suffix, the same bytes again, nobody else's replaced, no pyplot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample, plots
from tcva_adapters.ccrs import CCRS, summarise_ccrs
from tcva_adapters.cli.app import run
from tcva_adapters.compare import Evaluation, compare_systems, sweep
from tcva_adapters.errors import InvalidValueError
from tests.compare.test_systems import table as systems_table
from tests.plots.examples import EXAMPLES, counts, rated_comparison

PASSAGE = "The office opens at nine. Parking is free for visitors."
SAMPLES = [
    Sample(id="a", input="When?", response="It opens at nine. It is free.", contexts=(PASSAGE,)),
    Sample(id="b", input="When?", response="Parking costs money.", contexts=(PASSAGE,)),
    Sample(id="c", input="When?", response="", contexts=(PASSAGE,)),
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "SVG"])
def test_the_same_figure_gives_the_same_bytes(suffix: str) -> None:
    figures = [
        plots.scatter({"a": [0.1, 0.2], "b$": [0.3, 0.4]}, human=[0.5, 1.0]) for _ in range(2)
    ]
    one = plots.write(figures[0], f"new/one.{suffix}")
    first = one.read_bytes()
    assert plots.write(figures[1], f"two.{suffix}").read_bytes() == first
    assert plots.write(figures[0], one) == one  # replaces its own
    assert b"20" + b"26-" not in first


def test_text_stays_text_in_vector_files() -> None:
    figure = plots.sweep_curve(counts(20))
    svg = plots.write(figure, "sweep.svg").read_text(encoding="utf-8")
    assert "temperature T (low is strict)</text>" in svg
    pdf = plots.write(figure, "sweep.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_files_of_others_are_left_alone(suffix: str) -> None:
    path = Path(f"x.{suffix}")
    path.write_bytes(b"mine")
    figure = plots.flips(counts(9))
    with pytest.raises(InvalidValueError, match="written by something else"):
        plots.write(figure, path)
    assert path.read_bytes() == b"mine"
    assert plots.write(figure, path, overwrite=True).stat().st_size > 1000
    with pytest.raises(InvalidValueError, match=r"x\.jpg is no format of figures; they are png"):
        plots.write(figure, "x.jpg")


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


@pytest.mark.slow
def test_every_report_has_its_figures() -> None:
    drawn = plots.save(rated_comparison(), "all")
    assert names(drawn)[:4] == ["sweep.png", "flips.png", "histograms.png", "correlations.png"]
    assert {"scatter-ragas-faithfulness.png", "decisions-langchain-context_qa.png"} < set(
        names(drawn)
    )
    assert names(drawn)[-2:] == ["agreement.png", "reliability.png"]
    assert names(plots.save(sweep(counts(9)), "s", suffix="svg")) == ["sweep.svg"]
    tcva = TCVA(judge="lexical")
    evaluated = Evaluation.of(tcva, tcva.evaluate_many(SAMPLES))
    assert names(plots.save(evaluated, "e", suffix=".pdf")) == ["sweep.pdf", "flips.pdf"]
    rated = summarise_ccrs(CCRS(["qr", "ir"], judge="lexical").evaluate_many(SAMPLES))
    assert names(plots.save(rated, "c")) == ["histograms.png", "correlations.png"]
    found = compare_systems(systems_table(n=10), permutations=20)
    assert names(plots.save(found, "y"))[:5] == [
        "asl.png",
        "histograms.png",
        "scores-f-T=0.1.png",
        "scores-f-T=0.9.png",
        "scores-qr.png",
    ]
    with pytest.raises(InvalidValueError, match="'dict' has no figures"):
        plots.save({}, "x")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(InvalidValueError, match="gif is no format"):
        plots.save(found, "x", suffix="gif")
    Path("file").write_text("")
    with pytest.raises(InvalidValueError, match="cannot write figures to file"):
        plots.save(found, "file/x")


def test_a_notebook_shows_a_figure_by_itself() -> None:
    figure: Any = plots.flips(counts(9))
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.slow
def test_pyplot_is_not_touched() -> None:
    script = (
        "import sys; from tcva_adapters import plots; assert 'matplotlib' not in sys.modules;"
        "plots.write(plots.flips([[1, 0, 0, 0, 1]]), 'x.svg'); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_without_matplotlib_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from tcva_adapters.cli.app import run\n"
        "assert run(['sweep', 'judged.jsonl', '--figures', 'x']) == 2\n"
        "from tcva_adapters import plots, errors\n"
        "try: plots.flips\n"
        "except errors.MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "pip install 'tcva-adapters[plots]'" in done.stdout
    assert "pip install 'tcva-adapters[plots]'" in done.stderr.replace("\n", " ")


@pytest.mark.slow
def test_commands_draw(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", str(EXAMPLES), "-j", "lexical", "-o", "judged.jsonl"]) == 0
    assert run(["sweep", "judged.jsonl", "--figures", "one"]) == 0
    assert "written: one/sweep.png" in capsys.readouterr().err
    arguments = ["--figures", "two", "--figure-format", "svg"]
    assert run(["ccrs", str(EXAMPLES), "-j", "lexical", "-m", "qr,ir", *arguments]) == 0
    assert {path.name for path in Path("two").iterdir()} == {"histograms.svg", "correlations.svg"}
    side = ["compare", str(EXAMPLES), "-j", "lexical", "--with", "none", "-o", "side"]
    assert run([*side, "--figures", "three"]) == 0
    assert len(list(Path("three").iterdir())) == 4
    capsys.readouterr()
    assert run([*side, "--figures", "three", "--figure-format", "gif"]) == 2
    assert "gif is no format of figures" in capsys.readouterr().err
