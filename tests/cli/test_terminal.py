"""What every command prints fits a terminal of 80 columns, and 40 lines unless more is asked for."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from tcva_adapters.cli.app import run
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.printing import LINES
from tcva_adapters.progress import progress_of
from tcva_adapters.samples.sample import Sample
from tests.support.lexical_server import LexicalServer
from tests.support.packages import not_imported
from tests.support.paper import FOLDER, needs_paper_data
from tests.support.server import ScriptedServer, auto_judge, later

HYPOTHESES = [
    {
        "name": "a reranker helps",
        "pairs": [["plain", "reranked"]],
        "direction": "less",
        "join": "any",
    }
]


class Said:
    """What a command said: exit code, standard output and standard error."""

    def __init__(self, *arguments: str) -> None:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.code = run(list(arguments))
        self.out, self.err = out.getvalue().splitlines(), err.getvalue().splitlines()

    @property
    def too_wide(self) -> list[str]:
        return [line for line in [*self.out, *self.err] if cell_len(line) > 80]


pytestmark = pytest.mark.usefixtures("flaky_server")


@pytest.fixture(scope="module", name="flaky_server")
def _in_a_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LexicalServer]:
    """Samples with human ratings, and what each of the commands has written about them."""
    where = tmp_path_factory.mktemp("terminal")
    with pytest.MonkeyPatch.context() as patch, LexicalServer(errors=0.2) as server:
        patch.chdir(where)
        patch.setenv("COLUMNS", "80")
        not_imported(patch)
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("OPENAI_API_KEY", "sk-local")
        samples = []
        for line in sample_lines():
            record = json.loads(line)
            levels = [label.level for label in labels_of(Sample.from_record(record)) if label.level]
            if levels:
                steps = [4 - LEVELS.index(level) for level in levels]
                record["grade"] = round(sum(steps) / (4 * len(steps)), 3)
            samples.append(json.dumps(record))
        Path("rated.jsonl").write_text("\n".join(samples), encoding="utf-8")
        Path("few.jsonl").write_text("\n".join(samples[:12]), encoding="utf-8")
        Path("h.json").write_text(json.dumps(HYPOTHESES), encoding="utf-8")
        Path("others").mkdir()
        Path("others/scores.csv").write_text("name,mark\n", encoding="utf-8")
        assert Said("evaluate", "rated.jsonl", "-o", "plain.jsonl").code == 0
        text = Path("plain.jsonl").read_text(encoding="utf-8")
        Path("reranked.jsonl").write_text(text.replace('"minor"', '"mostly"'), encoding="utf-8")
        yield server


EVALUATE = ["evaluate", "few.jsonl", "--overwrite"]
QUICK = ["--bootstrap", "50"]
CALIBRATE = ["calibrate", "plain.jsonl", "--human", "grade", "-B", "100"]
WRONG = [[*CALIBRATE, "--objective", "auc"], ["sweep", "few.jsonl"]]
SYSTEMS = ["systems", "plain.jsonl", "reranked.jsonl", "-B", "100"]
VARIANTS = [
    ["demo"],
    ["evaluate", "rated.jsonl"],
    [*EVALUATE, "-o", "judged.jsonl", "--min-score", "0.9"],
    [*EVALUATE, "-j", "openai:m", "--retries", "0", "-o", "m.jsonl"],
    [*EVALUATE, "-j", "openai:m", "--panel", "openai:n", "-o", "panel.jsonl"],
    ["sweep", "plain.jsonl"],
    ["sweep", "plain.jsonl", "--ablation", "--human", "grade"],
    ["sweep", "plain.jsonl", *("--penalty", "paper", "--penalty", "off") * 3],
    CALIBRATE,
    [*CALIBRATE, "--by", "domain", "-o", "tcva.json", "--overwrite"],
    [*CALIBRATE, "--objective", "kappa"],
    ["validate", "plain.jsonl", "--human", "grade", "--by", "domain", "--width", "0.1"],
    ["validate", "plain.jsonl", "--next", "9", "--out", "to_label.jsonl"],
    ["compare", "rated.jsonl", "--out", "side"],
    ["compare", "rated.jsonl", "--out", "rated", "--human", "grade", *QUICK],
    [
        *("compare", "few.jsonl", "--with", "none", "--out", "as-good", "--human", "grade"),
        *("--equivalence", "0.1", *QUICK),
    ],
    ["compare", "few.jsonl", "--with", "none", "--out", "alone", "-T", "strict"],
    [
        *("compare", "few.jsonl", "--with", "langchain", "--out", "fused", "--human", "grade"),
        *("--fuse", "tcva T=0.5 + langchain context_qa", *QUICK),
    ],
    ["ccrs", "rated.jsonl", "--weights", "cc=0.5,ir=0.5", "-o", "rated-ccrs.jsonl", "--overwrite"],
    ["ccrs", "few.jsonl", "-j", "openai:m", "--retries", "0", "--no-store"],
    ["evaluate", "few.jsonl", "--estimate"],
    ["batch", "submit", "few.jsonl", "-j", "lexical"],
    ["batch", "collect", "a-folder-that-nobody-has-ever-submitted-anything-into-at-all"],
    SYSTEMS,
    [*SYSTEMS, "--power", "0.05", "--hypotheses", "h.json", "-T", "0.1,0.2,0.3,0.5,0.7,0.8,0.9"],
    ["doctor"],
    ["evaluate", "nowhere.jsonl"],
    ["evaluate", "few.jsonl", "--no-such-option"],
    ["evaluate", "few.jsonl", "--judge", "a-judge-that-nobody-knows-of-at-all"],
    ["compare", "few.jsonl", "--out", "others"],
    ["nonsense"],
    *WRONG,
]


def named(arguments: list[str]) -> str:
    return " ".join(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", VARIANTS, ids=named)
def test_80_columns_and_40_lines(arguments: list[str], flaky_server: LexicalServer) -> None:
    said = Said(*arguments)
    assert said.too_wide == []
    assert said.out or said.err
    assert len(said.out) <= LINES
    if said.code == 0 and arguments[0] not in {"demo", "doctor"}:
        flaky_server.prompts.clear()  # what failed is asked again, and is to fail again
        told = Said(*arguments, "--json")
        sentence = json.loads("\n".join(told.out))["sentence"]
        assert " ".join(said.out).startswith(sentence[:70])
        assert not any(line.startswith("written") for line in [*told.out, *said.out])


LONG = [
    *(each for each in VARIANTS if each[0] in {"sweep", "calibrate", "systems"}),
    ["compare", "rated.jsonl", "--out", "rated", "--human", "grade", *QUICK],
]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [each for each in LONG if each not in WRONG], ids=named)
def test_80_columns_with_all_lines(arguments: list[str]) -> None:
    said = Said(*arguments, "--all")
    assert (said.code, said.too_wide) == (0, [])


@needs_paper_data
@pytest.mark.parametrize("more", [[], ["--all"], ["--best", "--count-empty"]])
def test_the_paper_fits(more: list[str]) -> None:
    said = Said("reproduce", str(FOLDER), "--set", "resamples=50", "--no-lexical", *more)
    assert (said.code, said.too_wide) == (0, [])
    assert "--all" in more or len(said.out) <= LINES


@pytest.mark.slow
def test_names_do_not_break_and_what_is_cut_is_announced() -> None:
    said = Said("compare", "rated.jsonl", "--out", "names")
    summary = json.loads(Path("names/summary.json").read_text(encoding="utf-8"))
    for method in summary["methods"]:
        assert any(line.startswith(f"{method['method']} ") for line in said.out)
    assert re.search(
        r"more \(all columns, \d+ pairs of methods, decisions by T\): --all", "\n".join(said.out)
    )
    everything = Said("compare", "rated.jsonl", "--out", "side", "--all")
    assert len(everything.out) > len(said.out)


def test_the_sentence_about_human_ratings_is_that_of_the_figures() -> None:
    arguments = ["compare", "rated.jsonl", "--with", "langchain", "--out", "said", "-B", "100"]
    Said(*arguments, "--metrics", "context_qa", "--human", "grade")
    found = json.loads(Path("said/summary.json").read_text(encoding="utf-8"))
    ratings = found["human_ratings"]
    rhos = {
        a["method"]: a["common"]["value"]
        for a in ratings["agreements"]
        if a["measure"] == "spearman"
    }
    best, second = sorted(rhos, key=lambda method: -rhos[method])[:2]
    (p,) = [
        test["p_holm"]
        for test in ratings["tests"]
        if test["method"] == second and test["result"]["measure"] == "spearman"
    ]
    can = "can" if p < 0.05 else "cannot"
    assert found["sentence"].startswith(
        f"{best} agrees best with human ratings: rho {rhos[best]:.2f} ("
    )
    assert f"its lead over {second} ({rhos[second]:.2f}) {can} be told" in found["sentence"]
    assert "6 of 57 have no TCVA score; the lexical judge" in found["sentence"]


def test_the_sentence_about_one_other_method_counts_decisions() -> None:
    Said("compare", "rated.jsonl", "--with", "langchain", "--metrics", "context_qa", "--out", "one")
    found = json.loads(Path("one/summary.json").read_text(encoding="utf-8"))
    (method,) = found["decisions"]["methods"]
    (counts,) = [at["counts"] for at in method["at"] if at["temperature"] == 0.5]
    assert found["sentence"].startswith(
        f"TCVA at T=0.5 and langchain context_qa decide {counts['both'] + counts['neither']} of "
        f"{counts['n']} samples alike; TCVA is the stricter one on {counts['only_second']}, the "
        f"milder one on {counts['only_first']} ("
    )


def test_strict_scores_that_print_as_0_are_counted_as_that() -> None:
    Said("compare", "rated.jsonl", "--with", "none", "--out", "strict", "-T", "0.1")
    (strict, *_) = json.loads(Path("strict/summary.json").read_text(encoding="utf-8"))["methods"]
    assert strict["at_zero"] > 0.7
    assert strict["tied"] > 0.5


def test_reasons_come_with_what_the_first_sample_says() -> None:
    said = Said("compare", "few.jsonl", "--with", "langchain", "--out", "reasons")
    methods = json.loads(Path("reasons/summary.json").read_text(encoding="utf-8"))["methods"]
    reasons = [reason for m in methods for reason in m["reasons"]]
    details = [m["details"][reason] for m in methods for reason in m["reasons"]]
    assert len(details) == len(reasons)
    assert all(details)
    assert any(line.startswith("unscored, all in scores.csv: ") for line in said.out)


def test_files_are_listed_once_with_their_sizes() -> None:
    said = Said("compare", "few.jsonl", "--with", "none", "--out", "listed")
    at = said.err.index("written:")
    listed = " ".join(said.err[at + 1 :])
    for path in Path("listed").iterdir():
        if not path.name.endswith(("-wal", "-shm")):
            assert re.search(rf"{re.escape(str(path))} \(\d+(\.\d)? k?M?B\): \w", listed)
    said = Said("evaluate", "few.jsonl", "-o", "one.jsonl", "--overwrite")
    assert re.fullmatch(r"written: one.jsonl \(\d+ kB\): .*", said.err[-1])


@pytest.mark.parametrize("wanted", [None, False, True])
def test_only_who_asks_gets_lines_and_failures_are_counted(
    wanted: bool | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.progress.INTERVAL", 0.0)
    with progress_of("judging", 2, wanted) as shown:
        shown.tick(failed=True)
    said = "judging (1 failed): 1 of 2 in 0 s, about 0 s left\n" if wanted else ""
    assert capsys.readouterr().err == said


@pytest.mark.slow
def test_a_slow_server_in_a_pipe() -> None:
    """A real process: lines while it waits, none of them on standard output."""
    start = (
        "import sys, tcva_adapters.progress as p; p.INTERVAL = 0.3\n"
        "from tcva_adapters.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    with ScriptedServer(later(0.25, auto_judge)) as server:
        ran = subprocess.run(
            [
                *(sys.executable, "-c", start, "evaluate", "few.jsonl", "--judge", "openai:m"),
                *("--no-store", "--max-concurrency", "2", "--json"),
            ],
            env={**os.environ, "OPENAI_BASE_URL": server.base_url},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    told = re.findall(r"^judging: (\d+) of 12", ran.stderr, re.MULTILINE)
    assert len(told) >= 2
    assert list(map(int, told)) == sorted(map(int, told))
    assert re.search(r"judging: \d+ of 12 in \d s, about \d+ s left", ran.stderr)
    assert json.loads(ran.stdout)["samples"] == 12
