"""The page of other harnesses where a judge fails, too: `make test-harness` installs them."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from tests.support.connections import connections
from tests.support.scripted import ScriptedModel, verdict_json
from tests.test_docs import ELSEWHERE, FENCE, ROOT


def judged(request: Any) -> str:
    if "lost" in request.user:
        msg = "the judge is away"
        raise OSError(msg)
    return verdict_json((1, "fully", "opens at nine"))


@ELSEWHERE
def test_a_failed_judgement_is_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"model": ScriptedModel(judged)}
    connections().clear()
    for block in FENCE.finditer(
        (ROOT / "docs/harnesses.md").read_text(encoding="utf-8")
    ):
        code = block["body"]
        code = doctest.script_from_examples(code) if ">>>" in code else code
        code = code.replace('judge="lexical"', "judge=model").replace(
            '"Parking?":', '"Lost?": "It is lost.", "Parking?":'
        )
        exec(compile(code, "harnesses.md", "exec"), names)
    good, lost = names["report"].cases[:2]
    assert [len(case.scores) for case in (good, lost)] == [1, 0]
    assert [len(case.evaluator_failures) for case in (good, lost)] == [0, 1]
    scores = [sample.scores["faithfulness"] for sample in names["log"].samples[:2]]
    assert [score.reason for score in scores] == [None, "judge_error"]
    errors = names["found"].result_df["tcva_faithfulness/error_message"]
    assert sum("the judge is away" in str(error) for error in errors) == 1
    assert connections() == []
