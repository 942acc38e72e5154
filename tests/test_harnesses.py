"""The page of other harnesses where a judge fails, too, and the commands of Inspect and promptfoo.

`make test-harness` installs them.
"""

from __future__ import annotations

import doctest
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import Result, read_result, rubric
from tests.support.connections import connections
from tests.support.scripted import ScriptedModel, verdict_json
from tests.test_docs import ELSEWHERE, FENCE, ROOT

inspect_ai = pytest.importorskip(
    "inspect_ai", reason="make test-harness installs what this page shows"
)

PAGE = ROOT / "docs/harnesses.md"
PASSAGE = "The office opens at nine. Parking costs two pounds."
pytestmark = ELSEWHERE


def judged(request: Any) -> str:
    if "lost" in request.user:
        msg = "the judge is away"
        raise OSError(msg)
    return verdict_json((1, "fully", "opens at nine"))


def blocks(kind: str) -> Iterator[str]:
    for block in FENCE.finditer(PAGE.read_text(encoding="utf-8")):
        if block["kind"] == kind:
            yield block["body"]


def test_a_failed_judgement_is_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"model": ScriptedModel(judged)}
    connections().clear()
    for block in blocks("python"):
        code = doctest.script_from_examples(block) if ">>>" in block else block
        code = code.replace('judge="lexical"', "judge=model").replace(
            '"Parking?":', '"Lost?": "It is lost.", "Parking?":'
        )
        exec(compile(code, "harnesses.md", "exec"), names)
    good, lost = names["report"].cases[:2]
    assert [len(case.scores) for case in (good, lost)] == [1, 0]
    assert [len(case.evaluator_failures) for case in (good, lost)] == [0, 1]
    scores = [sample.scores["faithfulness"] for sample in names["log"].samples[:2]]
    assert [score.reason for score in scores] == [None, "judge_error"]
    assert [math.isnan(score.value) for score in scores] == [False, True]
    errors = names["found"].result_df["tcva_faithfulness/error_message"]
    assert sum("the judge is away" in str(error) for error in errors) == 1
    graded = names["get_assert"]("It is lost.", names["about"])
    assert (graded["pass"], graded["score"]) == (False, 0.0)
    assert "the judge is away" in graded["reason"]
    assert names["evaluated"]["score"] == 1.0
    assert math.isnan(names["evaluated"]["individual_scores"][1])
    lost_row = names["evaluated"]["results"][1]
    assert lost_row["unscored"]["reason"] == "judge_error"
    assert connections() == []


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def case(name: str, answer: str, question: Any = "When?", **metadata: Any) -> Any:
    return inspect_ai.dataset.Sample(
        question, id=name, target="At nine.", metadata={"said": answer, **metadata}
    )


def log_of(folder: Path, cases: list[Any]) -> Path:
    """A log of answers that nobody has scored."""

    def replay() -> Any:
        async def solve(state: Any, _: object) -> Any:
            for found in state.metadata.pop("looked_up", []):
                state.messages.append(inspect_ai.model.ChatMessageTool(content=found))
            state.output.completion = state.metadata.pop("said")
            state.messages.append(state.output.message)
            return state

        return solve

    solver = inspect_ai.solver.solver(replay)()
    [log] = inspect_ai.eval(
        inspect_ai.Task(cases, solver=solver, name="office"),
        model="mockllm/model",
        display="none",
        log_dir=str(folder),
        log_format="json",
        score=False,
    )
    return Path(log.location.removeprefix("file://"))


def inspect_score(log: Path, criterion: str, *settings: str) -> dict[str, Any]:
    command = [str(Path(sys.executable).with_name("inspect")), "score", str(log)]
    command += ["--scorer", f"tcva_adapters/{criterion}", "--action", "append"]
    run(*command, "--overwrite", *(part for each in settings for part in ("-S", each)))
    scored: dict[str, Any] = json.loads(log.read_text(encoding="utf-8"))
    return scored


def test_inspect_scores_a_log_by_its_own_command(tmp_path: Path) -> None:
    system = inspect_ai.model.ChatMessageSystem(content="You are a guide.")
    cases = [
        case("both", f"{PASSAGE[:25]} Bring a lamp.", contexts=[PASSAGE]),
        case("refusal", "I cannot answer that question.", documents=[PASSAGE]),
        case("tool", "Parking costs two pounds.", looked_up=[PASSAGE]),
        case("bare", "It is open."),
        case("unreadable", "It is open.", contexts=7),
        case("unasked", "Parking costs two pounds.", [system], contexts=PASSAGE),
    ]
    log = log_of(tmp_path, cases)
    inspect_score(log, "faithfulness", "temperature=strict")
    scored = inspect_score(log, "correctness", "threshold=0.7")
    by_id = {sample["id"]: sample["scores"] for sample in scored["samples"]}
    strict = {name: scores["faithfulness"] for name, scores in by_id.items()}
    assert {name: score.get("reason") for name, score in strict.items()} == {
        "both": None,
        "refusal": "refusal",
        "tool": None,
        "bare": "missing_field",
        "unreadable": "invalid_input",
        "unasked": None,
    }
    assert [math.isnan(score["value"]) for score in strict.values()].count(True) == 3
    result = read_result(strict["both"]["metadata"])
    assert isinstance(result, Result)
    assert result.score == strict["both"]["value"]
    assert (result.scoring.temperature, result.passed) == (0.2, False)
    assert [claim.verdict for claim in result.claims] == ["fully", "none"]
    assert strict["tool"]["metadata"]["passed"]
    assert by_id["tool"]["correctness"]["metadata"]["scoring"]["threshold"] == 0.7
    faithfulness, correctness = scored["results"]["scores"]
    counts = [faithfulness[f"{kind}_samples"] for kind in ("scored", "unscored")]
    assert counts == [3, 3]
    assert faithfulness["params"] == {"temperature": "strict"}
    assert correctness["name"] == "correctness"


def test_a_reference_may_stand_in_the_metadata_and_a_target_comes_first() -> None:
    scorers = import_module("tcva_adapters.inspect_ai.scorers")
    output = inspect_ai.model.ModelOutput.from_content("mock", "At nine.")

    def reference_of(metadata: dict[str, str], *targets: str) -> str | None:
        state = inspect_ai.solver.TaskState(
            model="mock",
            sample_id="a",
            epoch=1,
            input="When?",
            messages=[],
            output=output,
            metadata=metadata,
        )
        target = inspect_ai.scorer.Target([*targets])
        reference: str | None = scorers.sample_of(state, target).reference
        return reference

    for name in ("reference", "ground_truth"):
        own = {name: "At ten."}
        assert reference_of(own, "") == reference_of(own) == "At ten."
        assert reference_of(own, "At nine.") == "At nine."
    assert reference_of({}, "") is None
    assert reference_of({}, "At nine.", "At 9.") == "At nine.\nAt 9."


def test_inspect_shows_what_is_wrong_with_a_setting(tmp_path: Path) -> None:
    log = log_of(tmp_path, [case("one", PASSAGE, contexts=[PASSAGE])])
    with pytest.raises(AssertionError, match="did you mean 'temperature'"):
        inspect_score(log, "faithfulness", "temprature=0.2")


def test_a_criterion_of_your_own_is_a_scorer() -> None:
    scorer_of = import_module("tcva_adapters.inspect_ai").scorer_of
    polite = scorer_of(rubric("polite", ["Is polite."]))
    registry = import_module("inspect_ai._util.registry")
    assert registry.registry_lookup("scorer", "tcva_adapters/polite") is polite


@pytest.mark.skipif(
    shutil.which("promptfoo") is None, reason="make test-harness installs it by npm"
)
def test_promptfoo_runs_the_block_of_the_page(tmp_path: Path) -> None:
    python = [*blocks("python")]
    [block] = [body for body in python if "def get_assert" in body]
    [config] = blocks("yaml")
    more = '  - vars: {question: "Parking?", contexts: ["The office opens at nine."]}\n'
    files = {
        "faithfulness.py": python[0] + block,
        "promptfooconfig.yaml": config + more,
        "app.py": f"""{python[1]}
def call_api(prompt, options, context):
    return {{"output": answers[prompt] + " Bring a lamp." * (prompt == "When?")}}
""",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    out = tmp_path / "out.json"
    # 100 stands for assertions that failed.
    done = subprocess.run(
        ["promptfoo", "eval", "--no-cache", "-o", str(out)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ
        | {
            "PROMPTFOO_PYTHON": sys.executable,
            "PROMPTFOO_CONFIG_DIR": str(tmp_path / "promptfoo"),
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
        },
    )
    assert done.returncode == 100, done.stdout + done.stderr
    rows = json.loads(out.read_text(encoding="utf-8"))["results"]["results"]
    graded = {row["vars"]["question"]: row for row in rows}
    assert {name: row["success"] for name, row in graded.items()} == {
        "When?": False,
        "Parking?": True,
    }
    [whole, *_] = graded["When?"]["gradingResult"]["componentResults"]
    assert 0 < whole["score"] < 0.5
    assert [(part["pass"], part["reason"]) for part in whole["componentResults"]] == [
        (True, "fully: The office opens at nine."),
        (False, "none: Bring a lamp."),
    ]
