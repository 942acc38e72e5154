"""Commands that look at judgements and scores: they print what the functions find."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from tcva_adapters import Assessment, Config, aggregate_counts, compare
from tcva_adapters.compare.calibration import choice_by_agreement
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.results.writer import write_results
from tests.cli.conftest import PASSAGE, Run, record, write

QUICKLY = "--set resamples=200"
QUICK = tuple(QUICKLY.split())


@pytest.fixture(autouse=True)
def _judgements(tcva: Run, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001  # its folder
    """Eighty answers with ratings that follow T=0.5, eighty with ratings that follow T=1."""
    monkeypatch.setattr(choice_by_agreement, "REPEATS", 3)
    counts = np.random.default_rng(3).multinomial(
        4, [0.4, 0.2, 0.2, 0.2, 0.0], size=160
    )
    plain, lenient = aggregate_counts(counts, [0.5, 1.0]).T
    stored = []
    for i, row in enumerate(counts):
        words = [level for level, n in zip(LEVELS, row, strict=True) for _ in range(n)]
        rating = float(plain[i] if i < 80 else lenient[i])
        metadata = {
            "score": rating,
            "stars": 1 + 4 * rating,
            "page": i // 3,
            "always": "pass",
            "anna": rating,
            "ben": round(rating, 1),
            "carl": round(rating),
        }
        if i % 4 == 0:
            metadata["few"] = rating
        one = Assessment.from_verdicts(words, sample_id=str(i))
        stored.append(
            one.model_copy(update={"metadata": metadata | {"part": "ab"[i < 80]}})
        )
    write_results("judged.jsonl", stored)
    write_results("lenient.jsonl", stored[80:])
    write_results("a.jsonl", stored[:80])
    renamed = [
        each.model_copy(update={"sample_id": str(i)})
        for i, each in enumerate(stored[80:])
    ]
    write_results("b.jsonl", renamed)
    write(
        "labels.jsonl",
        *({"id": str(i), "human": float(s)} for i, s in enumerate(plain)),
    )


CASES: dict[str, dict[str, Any]] = {
    "sweep judged.jsonl -T 0.2,lenient": {"temperatures": [0.2, 0.9]},
    f"sweep judged.jsonl --ablation --human score --group page {QUICKLY}":
        {"ablation": True, "human": "score", "group": "page", "resamples": 200},
    "calibrate judged.jsonl --human stars --human-scale 1,5 --by part":
        {"human": "stars", "human_scale": (1, 5), "by": "part"},
    f"calibrate judged.jsonl --human score --cost-false-pass 3 {QUICKLY}":
        {"human": "score", "cost_false_pass": 3.0, "resamples": 200},
    f"validate judged.jsonl --human few --by part --width 0.2 {QUICKLY}":
        {"human": "few", "by": ["part"], "width": 0.2, "resamples": 200},
    f"validate judged.jsonl --human labels.jsonl --set level=0.9 {QUICKLY}":
        {"human": "labels.jsonl", "level": 0.9, "resamples": 200},
    f"validate judged.jsonl --human anna,ben,carl --set epsilon=0.1 {QUICKLY}":
        {"human": "anna,ben,carl", "epsilon": 0.1, "resamples": 200},
    f"systems a.jsonl b.jsonl -T 0.5 --test tukey {QUICKLY}":
        {"temperatures": [0.5], "test": "tukey", "resamples": 200},
    f"systems a.jsonl b.jsonl --human stars --human-scale 1,5 {QUICKLY}":
        {"human": "stars", "human_scale": (1, 5), "resamples": 200},
}  # fmt: skip


@pytest.mark.parametrize("line", CASES)
def test_what_is_found(line: str, tcva: Run) -> None:
    arguments = line.split()
    found = tcva(*arguments, "--json").json
    sources = [
        each for each in arguments if each.endswith(".jsonl") and each != "labels.jsonl"
    ]
    source = sources if arguments[0] == "systems" else sources[0]
    expected = getattr(compare, arguments[0])(source, **CASES[line]).to_dict()
    assert json.loads(json.dumps(found["tables"])) == json.loads(
        json.dumps(expected["tables"])
    )
    assert found["sentence"] == expected["sentence"]
    for more in ([], ["--all"]):
        lines = tcva(*arguments, *more).out.splitlines()
        assert " ".join(lines).startswith(found["sentence"][:60])
        assert max(map(len, lines)) <= 80


def test_a_calibration_is_read_by_other_commands(tcva: Run) -> None:
    options = (
        "calibrate",
        "lenient.jsonl",
        "--human",
        "score",
        "-o",
        "new/tcva.json",
        *QUICK,
    )
    found = tcva(*options, "--json")
    temperature = found.json["settings"]["recommended"]["temperature"]
    assert temperature > 0.8
    written = Config.load("new/tcva.json").settings
    assert (written["temperature"], written["threshold"]) == (temperature, 0.5)
    assert "for --config new/tcva.json" in found.err
    write("in.jsonl", record(1))
    settings = tcva("evaluate", "in.jsonl", "--config", "new/tcva.json", "--json").json[
        "settings"
    ]
    assert settings["temperature"] == temperature
    again = tcva(*options[:4], "--config", "new/tcva.json", *QUICK, "--json").json
    assert again["tables"]["settings"][0]["setting"] == f"T={temperature:g}"


def test_what_to_rate_next_is_written_and_given_back(tcva: Run) -> None:
    start = ("validate", "judged.jsonl", "--human", "few", *QUICK)
    tcva(*start, "--next", "9", "-o", "next.jsonl", "--tables", "tables.md")
    rows = [
        json.loads(line) for line in Path("next.jsonl").read_text("utf-8").splitlines()
    ]
    assert len([row for row in rows if row["human"] is None]) == 9
    assert "agreement" in Path("tables.md").read_text(encoding="utf-8")
    write("next.jsonl", *({**row, "human": row["human"] or 0.5} for row in rows))
    found = tcva(
        "validate", "judged.jsonl", "--human", "next.jsonl", *QUICK, "--json"
    ).json
    assert found["tables"]["agreement"][0]["n"] == len(rows)


def test_reports_and_figures(tcva: Run) -> None:
    tcva(
        "report",
        "judged.jsonl",
        "--human",
        "score",
        "--title",
        "Mine",
        "-o",
        "one.html",
    )
    assert "<title>Mine" in Path("one.html").read_text(encoding="utf-8")
    tcva("report", "a.jsonl", "b.jsonl", "-o", "two.html", "--set", "max-details=0")
    rated = (
        "validate judged.jsonl --human score",
        "calibrate judged.jsonl --human score",
    )
    for command in (*rated, "systems a.jsonl b.jsonl -T 0.5"):
        done = tcva(*command.split(), *QUICK, "--report", "page.html", "--overwrite")
        assert "written: page.html: report" in done.err
    pytest.importorskip("matplotlib", reason="the extra plots")
    assert (
        "drawn/sweep.png: figure"
        in tcva("sweep", "judged.jsonl", "--figures", "drawn").err
    )


@pytest.mark.parametrize(("arguments", "sentence"), [
    ("sweep nowhere.jsonl", "nowhere.jsonl: the file does not exist"),
    ("sweep judged.jsonl --set threshhold=1", "did you mean 'threshold'?"),
    ("sweep judged.jsonl --human nope", "nope"),
    ("sweep judged.jsonl --group page", "needs human ratings"),
    ("sweep judged.jsonl --human-scale 1,5", "human_scale=(1, 5) needs human"),
    ("compare in.jsonl --with none --human-scale 1,5", "human_scale=(1, 5) needs human"),
    ("calibrate judged.jsonl", "no sample has both"),
    ("calibrate judged.jsonl --set objective=mae", "did you mean '--objective'?"),
    ("validate judged.jsonl --human a --human b", "--human is given twice; join"),
    ("validate judged.jsonl --human score --width 3", "between 0 and 1, e.g. 0.1, got 3.0"),
    ("calibrate judged.jsonl --human always", "all 160 human ratings are 1"),
    ("calibrate judged.jsonl --human stars --human-scale 5", "two numbers with a comma"),
    ("sweep judged.jsonl --set level=0.9", "unknown setting 'level' of --set"),
    ("calibrate judged.jsonl --human score -o judged.jsonl", "is also what is read"),
    ("validate judged.jsonl --human score --next 5", "--next NUMBER and --out FILE"),
    ("validate rated.csv --human human", "no scores in rated.csv; judge it first: tcva evalu"),
    ("report rated.csv", "no scores in rated.csv; judge it first: tcva evaluate rated.csv"),
    ("sweep direct.jsonl", "direct.jsonl holds CCRS results, which have no verdicts"),
    ("compare in.jsonl --with nobody", "nobody"),
    ("compare in.jsonl --fuse lexical", "no --fuse; average methods by --mean-of 'A + B'"),
    ("compare in.jsonl --fuse=lexical", "no --fuse; average methods by --mean-of 'A + B'"),
    ("compare in.jsonl --with none --gate x:mean>=1", "gate on 'x'"),
    ("compare in.jsonl --with none --reference x", "unknown method 'x'"),
    ("compare in.jsonl --with none --scores in.jsonl::nope", "nope"),
    pytest.param(
        *("compare in.jsonl --with ragas --metrics beauty", "beauty"),
        marks=pytest.mark.skipif(find_spec("ragas") is None, reason="the extra ragas"),
    ),
])  # fmt: skip
def test_wrong_use_is_one_sentence(arguments: str, sentence: str, tcva: Run) -> None:
    write("in.jsonl", record(1))
    Path("rated.csv").write_text(
        "id,response,human\na,The sky is blue.,0.5\n", encoding="utf-8"
    )
    Path("direct.jsonl").write_text('{"answers": {}, "lambda_": 1}\n', encoding="utf-8")
    done = tcva(*arguments.split(" "), code=2)
    assert sentence in done.text
    assert done.err.count("error") + done.err.count("Error") == 1


def test_a_comparison_has_a_folder_gates_and_imported_scores(tcva: Run) -> None:
    rows = [record(n, PASSAGE if n % 2 else "Zebras.", human=n % 2) for n in range(12)]
    write("in.jsonl", *rows)
    write("others.jsonl", *({"id": f"s{n}", "mine": n % 2 or -1} for n in range(12)))
    side = (
        "compare",
        "in.jsonl",
        "--with",
        "none",
        "--out",
        "side",
        "--human",
        "human",
    )
    imported = ("--scores", "others.jsonl::mine", "--set", "missing=-1", *QUICK)
    done = tcva(*side, *imported, "--gate", "tcva T=0.1:mean>=0.9", "--json", code=1)
    tables = done.json["tables"]
    assert {row["method"]: row["scored"] for row in tables["methods"]}["mine"] == 6
    assert [row["passed"] for row in tables["gates"] if row["figure"] == "mean"] == [
        False
    ]
    assert "gate failed: tcva T=0.1: mean 0.500 < 0.9" in done.text
    summary = json.loads(Path("side/summary.json").read_text(encoding="utf-8"))
    assert summary["tables"]["methods"] == tables["methods"]
    assert "side/scores.csv" in done.err
    tcva("report", "side", "--samples", "in.jsonl", "-o", "page.html")
    # The folder stands for its judgements, with the scores of others beside them.
    held = tcva("validate", "side", "--human", "human", "--json", *QUICK).json["tables"]
    assert {row["method"]: row["n"] for row in held["agreement"]} == {
        "faithfulness": 12,
        "mine": 6,
    }
    swept = tcva("sweep", "side", "-T", "0.1", "--json").json["tables"]["temperatures"]
    assert [(row["scored"], row["mean"]) for row in swept] == [(12, pytest.approx(0.5))]
    tcva("calibrate", "side", "--human", "human", *QUICK)
    cost = tcva(*side[:4], "--dry-run", "--judge", "openai:m", "--json").json
    assert cost["sentence"].startswith("About ")
    again = tcva(*side, *imported, "--set", "threshold=0.6", code=2)
    assert (
        "side holds a comparison with other samples or settings; choose" in again.text
    )
    assert json.loads(Path("side/summary.json").read_text(encoding="utf-8")) == summary
    tcva(*side, *imported)
    # A score that is missing is no 0, and a gate counts it.
    failed = tcva(*side, *imported, "--overwrite", "--gate", "mine:mean>=0.5", code=1)
    assert "6 of 12" in failed.text
    decided = ("--overwrite", "--set", "human_threshold=0.7", "--set", "epsilon=0.1")
    again = tcva(*side, *imported, *decided, "--json").json["settings"]
    assert (again["human_threshold"], again["epsilon"]) == (0.7, 0.1)
    unrated = (*side[:-2], "--overwrite", "--set", "human_threshold=0.7")
    assert "human_threshold=0.7 needs human ratings" in tcva(*unrated, code=2).text


@pytest.mark.slow
def test_the_frameworks_metrics_stand_beside(tcva: Run) -> None:
    pytest.importorskip("langchain_classic", reason="the extra langchain-classic")
    write("in.jsonl", *(record(n) for n in range(3)))
    found = tcva("compare", "in.jsonl", "--with", "langchain", "--json").json
    assert "langchain context_qa" in {
        row["method"] for row in found["tables"]["methods"]
    }
