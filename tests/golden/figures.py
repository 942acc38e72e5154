"""The figures that readers take from the commands, by (set, question, figure), whatever the layout.

``figures.json`` was written once, from the commands' JSON at commit 1f8da04e, by
``python -m tests.golden.figures``. Where a command's options or JSON change, its entry of
`QUESTIONS` and its mapping change with it, never the keys. What changes on purpose gets an entry in
``changed.toml``, by a pattern of set/question/figure:

    [[moved]]
    where = "*/errors*/bin * human*"
    most = 0.01                    # by at most so much; without it, the figure is no longer offered
    why = "One line that says why."
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tcva_adapters.cli import app
from tests.support import paper
from tests.support.paper import ROOT

BEDS: Final = Path(os.environ.get("TCVA_BEDS", ROOT.parent / "shared/data/beds"))
LABELLED: Final = ("begin_wow_dev", "topical_chat", "factcheck_stance")
PAPER: Final = ("summeval", "summeval_rel")
SETS: Final = ("bundled", *PAPER, *LABELLED)
_WEIGHTS: Final = {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}
Figures = dict[str, Any]


def samples(name: str) -> list[dict[str, Any]]:
    """A set's samples with a rating (`human`) and a group (`document`); empty without its data."""
    if name == "bundled":
        return [_bundled(json.loads(line)) for line in _lines(str(files("tcva_adapters") / "data"))]
    if name in PAPER:
        records = paper.load(f"{name}_prepared") if paper.FOLDER.is_dir() else []
        kept = {"id": "id", "input": "question", "response": "answer", "contexts": "context"}
        return [
            {new: record[old] for new, old in kept.items()}
            | {"human": record["human_score"], "document": record["id"].rpartition("_")[0]}
            for record in records
        ]
    path = BEDS / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines[:150]]
    kept = {"id": "id", "input": "question", "response": "response", "contexts": "contexts"}
    return [
        {new: row[old] for new, old in kept.items()}
        | {"human": row["label"], "document": f"d{i // 3}"}
        for i, row in enumerate(rows)
    ]


def _lines(folder: str) -> list[str]:
    return (Path(folder) / "samples.jsonl").read_text(encoding="utf-8").splitlines()


def _bundled(record: dict[str, Any]) -> dict[str, Any]:
    """Its rating is the mean weight of its labelled claims."""
    weights = [_WEIGHTS[label["level"]] for label in record.pop("labels") if label["level"]]
    rated = {"human": sum(weights) / len(weights)} if weights else {}
    return record | rated | {"document": record["domain"] + record["id"][-1]}


def prepare(name: str, folder: Path) -> bool:
    """Write a set's files into a folder: samples, three systems, imported scores, judgements.

    Returns:
        False without the set's data.
    """
    rows = samples(name)
    if not rows:
        return False
    _write(folder / "samples.jsonl", rows)
    run("evaluate", str(folder / "samples.jsonl"), "-o", str(folder / "judged.jsonl"))
    few = [
        {key: value for key, value in row.items() if key != "human" or i % 3 == 0}
        for i, row in enumerate(rows)
    ]
    _write(folder / "few.jsonl", few)
    run("evaluate", str(folder / "few.jsonl"), "-o", str(folder / "few_judged.jsonl"))
    third = len(rows) // 3
    for i, system in enumerate("abc"):
        part = [row | {"id": f"q{k}"} for k, row in enumerate(rows[i::3][:third])]
        _write(folder / f"{system}_samples.jsonl", part)
        run("evaluate", str(folder / f"{system}_samples.jsonl"), "-o", f"{folder}/{system}.jsonl")
    for other in ("ragas", "deepeval") if name in PAPER else ():
        scores = [
            {"id": record["id"], other: record[f"{other}_score"]}
            for record in paper.load(f"{name}_{other}_scores")
            if record[f"{other}_score"] != -1.0
        ]
        _write(folder / f"{other}.jsonl", scores)
    return True


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def run(*arguments: str) -> Any:
    """The JSON that a command prints, or its lines of text where it prints none."""
    out, notes = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(notes):
        code = app.run(list(arguments))
    if code == 2:
        raise AssertionError(" ".join(arguments) + "\n" + notes.getvalue())
    figures_found: Any = json.loads(out.getvalue()) if "--json" in arguments else None
    return figures_found


def ends(name: str, made: dict[str, Any]) -> Figures:
    """An interval's three numbers and its n."""
    return {f"{name} {part}".strip(): made[part] for part in ("value", "low", "high", "n")}


def rows(made: dict[str, Any], table: str, *by: str) -> dict[Any, dict[str, Any]]:
    """The records of a table, by one of their values or several."""
    records = made["tables"].get(table, [])
    return {tuple(r[b] for b in by) if len(by) > 1 else r[by[0]]: r for r in records}


def interval(name: str, row: dict[str, Any], key: str, n: str = "n") -> Figures:
    """The same of a record, whose ends stand beside the value."""
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    parts = {"value": row[key], "low": low, "high": high, "n": row[n]}
    return {f"{name} {part}".strip(): value for part, value in parts.items()}


def evaluate(made: dict[str, Any]) -> Figures:
    """Means, rates, levels, and the bound of a gate on the mean."""
    (row,) = made["tables"]["methods"]
    found: Figures = {"mean_score": row["mean"]}
    found |= {name: row[name] for name in ("samples", "scored", "coverage", "pass_rate")}
    (levels,) = made["tables"]["levels"]
    bound = rows(made, "gates", "figure")["mean"]["reached"]
    found |= levels
    return found | {"gate mean score": bound, "gate judged": 1.0}


def ccrs(made: dict[str, Any]) -> Figures:
    """Means and agreement of the metrics that rated anything."""
    found: Figures = {}
    agreement = rows(made, "agreement", "method")
    for name, row in rows(made, "methods", "method").items():
        found |= {f"{name} mean": row["mean"], f"{name} scored": row["scored"]}
        if row["scored"]:
            found |= interval(f"{name} spearman", agreement[name], "spearman")
            found[f"{name} p_holm"] = agreement[name]["p_corrected"]
    return found


def sweep(made: dict[str, Any]) -> Figures:
    """The curve of the default scheme, agreement at each T, and the ablation."""
    found: Figures = {}
    for row in made["tables"]["temperatures"]:
        if row["setting"] == "default":
            name = f"T={row['T']}"
            found |= {f"{name} mean": row["mean"], f"{name} scored": row["n"]}
            found |= _spearman(name, row)
    for row in made["tables"]["ablation"][:4]:
        found |= {f"{row['setting']} mean": row["mean"]} | _spearman(row["setting"], row)
    return found


def _spearman(name: str, row: dict[str, Any]) -> Figures:
    keys = {"value": "spearman", "low": "spearman_low", "high": "spearman_high", "n": "rated"}
    return {f"{name} spearman {part}": row[key] for part, key in keys.items()}


def calibrate(made: dict[str, Any]) -> Figures:
    """What is chosen, what is recommended, and the gain of choosing."""
    in_use, best, unseen = made["tables"]["settings"]
    gain = made["tables"]["gain"][0]
    found = {"n": gain["n"], "candidates": int(best["measured"].split()[2].rstrip(","))}
    found |= {"in_sample": best["spearman"], "out_of_fold": unseen["spearman"]}
    found |= {"before": in_use["spearman"], "detectable": gain["detectable"]}
    found |= {"gain value": gain["gain"], "gain low": gain["gain_low"]}
    found |= {"gain high": gain["gain_high"]}
    found["recommended T"] = made["settings"]["recommended"]["temperature"]
    return found | {"chosen T": float(best["setting"].split(",")[0][2:])}


def record_ends(name: str, record: dict[str, Any], key: str) -> Figures:
    """The same of a record's interval."""
    ends = {"value": key, "low": f"{key}_low", "high": f"{key}_high"}
    return {f"{name} {end}": record.get(of) for end, of in ends.items()} | {
        f"{name} n": record["n"]
    }


def errors(made: dict[str, Any]) -> Figures:
    """Mean error, calibration by bins, precision and recall, the largest error."""
    tables = made["tables"]
    (row,) = tables["errors"]
    found = {"n": row["n"]} | record_ends("error", row, "error") | record_ends("size", row, "size")
    for i, part in enumerate(tables["bins"]):
        found |= {f"bin {i} {name}": part[name] for name in ("low", "high", "score")}
        found |= record_ends(f"bin {i} human", part, "rating")
    decisions = {each["figure"]: each for each in tables["decisions"]}
    for name, figure in (
        ("pass_precision", "precision"),
        ("pass_recall", "recall"),
        ("base_rate", "rating passes"),
        ("agreement", "same decision"),
    ):
        found |= record_ends(name, decisions[figure], "value")
    found["kappa"] = decisions["kappa"]["value"]
    return found | {"largest error": abs(tables["largest errors"][0]["error"])}


def estimate(made: dict[str, Any]) -> Figures:
    """The mean rating of all samples from a third of their ratings, and the ratings' own mean."""
    row = made["tables"]["mean rating"][0]
    row["n"] = row["ratings"]
    found = {name: row[name] for name in ("samples", "ratings", "judge")}
    return found | record_ends("estimate", row, "estimate") | record_ends("alone", row, "alone")


def plan(made: dict[str, Any]) -> Figures:
    """How many labels a width takes."""
    tables = made["tables"]
    needed = next((row["spearman"] for row in tables["labels"] if row["width"] == 0.1), None)
    return {"n": tables["agreement"][0]["n"], "needed for width": needed}


def compare(made: dict[str, Any]) -> Figures:
    """Means, agreement, tests against the best method, and pairs."""
    methods = rows(made, "methods", "method")
    lacking = made["tables"].get("unscored", [])
    first = next(iter(methods))
    own = sum(row["n"] for row in lacking if row["method"].startswith("tcva"))
    found: Figures = {"samples": methods[first]["n"] + own}
    common = re.search(r"all have scored (\d+) samples", " ".join(made["notes"]))
    found["common"] = int(common[1]) if common else methods[first]["n"]
    names = {"scored": "n", "mean": "mean", "pass_rate": "pass", "mean_common": "mean_common"}
    for name, row in methods.items():
        for old, key in {**names, "at_zero": "at_0", "at_one": "at_1"}.items():
            found[f"{name} {old}"] = row[key]
    for (name, measure), row in rows(made, "human ratings", "method", "measure").items():
        if measure in ("spearman", "mae"):
            found |= interval(f"{name} {measure}", row, "agreement")
    for row in made["tables"]["differences"]:
        name = f"{row['method']} against {row['reference']}"
        low, high = row["difference_low"], row["difference_high"]
        parts = {"delta": row["difference"], "low": low, "high": high, "p_two_sided": row["p"]}
        for part, value in {**parts, "n": row["n"], "p_holm": row["p_holm"]}.items():
            found[f"{name} {part}"] = value
    for row in made["tables"]["pairs"]:
        name = f"{row['first']} and {row['second']}"
        found |= {f"{name} spearman": row["rho"], f"{name} n": row["n"]}
        found[f"{name} kappa"] = row["kappa"]
    return found


def systems(made: dict[str, Any]) -> Figures:
    """Means, p of the pairs, discriminative power, ASL, correlations of metrics."""
    tables = made["tables"]
    found: Figures = {}
    for row in tables["scores"]:
        for name in ("n", "mean", "variance", "ties"):
            found[f"{row['metric']} {row['system']} {name}"] = row[name]
    for pair in tables["pairs"]:
        for name in ("difference", "p_tukey", "p_studentised"):
            found[f"{pair['metric']} {pair['first']}-{pair['second']} {name}"] = pair[name]
    for row in tables["metrics"]:
        found["queries"] = row["queries"]
        found[f"{row['metric']} discriminative power"] = row["discriminative_power"]
        found |= {f"{row['metric']} asl {i}": value for i, value in enumerate(row["asl"])}
    others = [row["spearman"] for row in tables["correlations"]]
    return found | {f"correlation {i}": value for i, value in enumerate([1.0, *others])}


RATED: Final = ("--human", "human")
QUESTIONS: Final[dict[str, tuple[Callable[[dict[str, Any]], Figures], tuple[str, ...]]]] = {
    "evaluate": (
        evaluate,
        (
            "evaluate",
            "{}/samples.jsonl",
            "--gate",
            "mean>=0.1@95%",
        ),
    ),
    "ccrs": (ccrs, ("evaluate", "{}/samples.jsonl", "--ccrs", "cc,qr,id", *RATED)),
    "sweep": (
        sweep,
        ("sweep", "{}/judged.jsonl", "--ablation", *RATED, "--group", "document"),
    ),
    "calibrate": (calibrate, ("calibrate", "{}/judged.jsonl", *RATED, "--group", "document")),
    "errors": (errors, ("validate", "{}/judged.jsonl", *RATED, "--group", "document")),
    "errors alone": (errors, ("validate", "{}/judged.jsonl", *RATED)),
    "estimate": (estimate, ("validate", "{}/few_judged.jsonl", *RATED)),
    "plan": (plan, ("validate", "{}/judged.jsonl", *RATED, "--width", "0.1")),
    "compare": (
        compare,
        ("compare", "{}/samples.jsonl", "--with", "none", *RATED, "--human-scale", "0,1"),
    ),
    "systems": (
        systems,
        (
            "systems",
            *(f"{s}={{}}/{s}.jsonl" for s in "abc"),
            "-T",
            "0.1,0.5",
            "--set",
            "resamples=2000",
        ),
    ),
}
"""Each question with the mapping of the command's JSON, and its arguments ({} is the folder)."""


def figures(question: str, name: str, folder: Path) -> Figures:
    """Today's figures of a question on a set that was prepared in the folder."""
    mapping, arguments = QUESTIONS[question]
    given = [argument.format(folder) for argument in arguments]
    if question == "compare":
        given += ["-T", "0.2,0.5", "-o", str(folder / "compared")]
        for other in ("ragas", "deepeval") if name in PAPER else ():
            given += ["--scores", f"{folder}/{other}.jsonl"]
    return mapping(run(*given, "--json"))


def write() -> None:  # pragma: no cover  # run once
    """Write ``figures.json`` from today's commands."""
    kept: dict[str, dict[str, Figures]] = {}
    with TemporaryDirectory() as made:
        for name in SETS:
            folder = Path(made) / name
            folder.mkdir()
            assert prepare(name, folder)
            kept[name] = {question: figures(question, name, folder) for question in QUESTIONS}
    text = json.dumps(kept, indent=0, allow_nan=True)
    (Path(__file__).parent / "figures.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
