"""``--group``: the same field in all commands, and what comes of it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters.cli.app import run as run_command
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.report.suite import Suite

FACTS = ("The office opens at nine.", "Parking is free for visitors.", "Dogs are not allowed.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples of twelve documents, and what the embedded judge says of them."""
    found = tmp_path_factory.mktemp("groups")
    rng = np.random.default_rng(0)
    lines = [
        {
            "id": f"s{i}",
            "response": FACTS[i % 3],
            "contexts": [FACTS[(i // 4) % 3]],
            "document": f"d{i // 4}",
            "human": float(rng.random()),
        }
        for i in range(48)
    ]
    (found / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert (
        run(found, "evaluate", "samples.jsonl", "-j", "lexical", "--no-store", "-o", "b.jsonl")[0]
        == 0
    )
    return found


def run(folder: Path, command: str, *arguments: str) -> tuple[int, str]:
    """The exit code and all that was said; files are named within the folder."""
    given = [
        str(folder / each) if each.endswith((".jsonl", "state.json", "/out")) else each
        for each in arguments
    ]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_command([command, *given])
    return code, " ".join(f"{out.getvalue()} {err.getvalue()}".split())


def test_a_gate_is_about_other_documents(folder: Path) -> None:
    asked = [
        "samples.jsonl",
        "-j",
        "lexical",
        "--no-store",
        "--min-score",
        "0.2",
        "--confidence",
        "0.9",
    ]
    assert run(folder, "evaluate", *asked)[0] == 0
    code, said = run(folder, "evaluate", *asked, "--group", "document")
    assert code == 0, said
    asked[5] = "0.6"
    code, said = run(folder, "evaluate", *asked, "--group", "document")
    assert code == 1
    assert "12 groups of samples, the largest with 4 of 48" in said


def test_a_sample_without_a_group_is_named(folder: Path) -> None:
    asked = ["samples.jsonl", "-j", "lexical", "--no-store", "--group", "user"]
    code, said = run(folder, "evaluate", *asked, "--min-score", "0.2", "--confidence", "0.9")
    assert code == 2
    assert "sample 's0' belongs to no group: 'user' is None" in said
    code, said = run(folder, "evaluate", *asked)
    assert (code, "give --confidence, --baseline, --panel or --report" in said) == (2, True)
    code, said = run(folder, "calibrate", "b.jsonl", "--human", "human", "--group", "user")
    assert (code, "'user'" in said) == (2, True)


def test_a_gate_that_is_passed_shows_its_bound_and_its_groups(folder: Path) -> None:
    asked = ["--min-score", "0.1", "--confidence", "0.9", "--group", "document"]
    code, said = run(folder, "evaluate", "samples.jsonl", "-j", "lexical", "--no-store", *asked)
    assert code == 0, said
    assert "gate passed: faithfulness: mean score 0." in said
    assert ">= 0.1; 12 groups of samples, the largest with 4 of 48" in said
    assert "worst samples" not in said


def test_statistics_say_how_many_groups_there_are(folder: Path) -> None:
    note = "12 groups of samples, the largest with 4 of 48"
    rated = ["b.jsonl", "--human", "human", "--group", "document"]
    assert "12 groups" in run(folder, "calibrate", *rated, "-B", "100")[1]
    code, said = run(folder, "validate", *rated)
    assert (code, "12 groups of samples, each counted as one" in said) == (0, True), said
    code, said = run(
        *(folder, "compare", "samples.jsonl", "--with", "none", "-j", "lexical", "--out"),
        *(f"{folder}/out", "--human", "human", "--group", "document", "-B", "100"),
    )
    assert (code, note in said) == (0, True), said
    code, said = run(folder, "sweep", "b.jsonl", "--group", "document")
    assert (code, "give human ratings, too" in said) == (2, True)


def test_a_suite_has_groups() -> None:
    suite = Suite(judge="lexical", gates="mean>=0.5@90%", group="document")
    good = [
        {"id": f"s{i}", "response": FACTS[0], "contexts": [FACTS[0]], "document": i // 20}
        for i in range(40)
    ]
    with pytest.raises(AssertionError, match=r"at least 0\.316 \(2\s+groups\) < 0\.5"):
        suite.check(good)
    with pytest.raises(InvalidSampleError, match="belongs to no group"):
        suite.check([{"response": FACTS[0], "contexts": [FACTS[0]]}])
