"""A share that is written in percent: the error says how it is written."""

import json
from pathlib import Path

import numpy as np
import pytest

from tcva_adapters import TCVA, flip_temperature
from tcva_adapters.ccrs.result import CCRSResult, MetricAnswer
from tcva_adapters.compare import ScoreTable, comparison
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.guarantee import Limits
from tests.cli.conftest import Run, record

pytest.importorskip("scipy", reason="the extra stats")

RATED = ["judged.jsonl", "--human", "human"]
COMPARED = ["in.jsonl", "--judge", "lexical", "--with", "none", "--human", "human"]


@pytest.fixture
def _judged(tcva: Run) -> None:
    lines = [json.dumps(record(n, human=n % 2)) for n in range(4)]
    Path("in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    tcva("evaluate", "in.jsonl", "--judge", "lexical", "--out", "judged.jsonl")


@pytest.mark.usefixtures("_judged")
@pytest.mark.parametrize("percent", ["80", "80%"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["calibrate", *RATED, "--max-false-pass"],
        ["calibrate", *RATED, "--max-false-pass=0.1", "--min-true-pass"],
        ["calibrate", *RATED, "--max-false-pass=0.1", "--confidence"],
        ["calibrate", *RATED, "--human-threshold"],
        ["validate", *RATED, "--human-threshold"],
        ["validate", *RATED, "--width"],
        ["compare", *COMPARED, "--max-false-pass"],
        ["compare", *COMPARED, "--set", "margin="],
        ["compare", *COMPARED, "--max-false-pass=0.1", "--set", "confidence="],
        ["evaluate", "in.jsonl", "--set", "threshold="],
        ["evaluate", "in.jsonl", "--set", "on_unscored="],
        ["evaluate", "in.jsonl", "--gate", "pass_rate>="],
        ["evaluate", "in.jsonl", "--gate", "coverage >= "],
        ["systems", "judged.jsonl", "--alpha"],
    ],
    ids=lambda arguments: " ".join((arguments[0], *arguments[-2:])),
)
def test_the_error_says_how_percent_are_written(
    arguments: list[str], percent: str, tcva: Run
) -> None:
    *first, last = arguments
    whole = [*first, last + percent] if last.endswith("=") else [*first, last, percent]
    whole = [*first, last + percent] if ">=" in last else whole
    said = tcva(*whole, code=2).text.strip()
    assert said.removesuffix(".").endswith("; for 80 % write 0.8")


def test_in_python() -> None:
    hint = "; for 95 % write 0.95$"
    table = ScoreTable(("a",), ("m",), np.array([[0.5]]))
    rated = CCRSResult(
        judge="j", prompt_version="1", answers={"qr": MetricAnswer(rating=80)}
    )
    for call in (
        lambda: TCVA(judge="lexical", threshold="95%"),
        lambda: rated.at(threshold=95),
        lambda: Limits(max_false_pass=95),
        lambda: Limits(max_false_pass="95%"),  # type: ignore[arg-type]  # the mistake
        lambda: comparison(table, margin=95),
        lambda: flip_temperature(["fully"], threshold=95),
    ):
        with pytest.raises(InvalidValueError, match=hint):
            call()
