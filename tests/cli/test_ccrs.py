"""``tcva ccrs`` through the command line's own entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from tcva_adapters.ccrs import CCRSResult
from tcva_adapters.cli.app import run
from tests.ccrs.entries import SAMPLES, judge
from tests.support import server
from tests.support.server import Body, ScriptedServer


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def samples(tmp_path: Path) -> str:
    path = tmp_path / "in.jsonl"
    lines = (json.dumps(sample.model_dump(mode="json")) for sample in SAMPLES)
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def by_prompt(body: Body, _n: int) -> str:
    return judge("\n\n".join(message["content"] for message in body["messages"]))


def figures(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    parsed = json.loads(capsys.readouterr().out)
    assert isinstance(parsed, dict)
    return parsed


def test_means_come_with_their_coverage(
    samples: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ScriptedServer(by_prompt) as local:
        monkeypatch.setenv("OPENAI_BASE_URL", local.base_url)
        asked = ["ccrs", samples, "--judge", "openai:m", "--out", "rated.jsonl", "--json"]
        assert run([*asked, "--weights", "cc=0.5,ir=0.5", "--threshold", "0.6"]) == 0
        first = figures(capsys)
        assert local.count == 20
        assert first["usage"]["calls"] == 20
        # The sample that gets no number is tried again, the others come from the store.
        assert run(["ccrs", samples, "--judge", "openai:m", "-m", "qr,ac"]) == 0
        table = capsys.readouterr().out
        assert local.count == 24  # two calls a metric for the sample without a number
        assert run(["ccrs", samples, "--judge", "openai:m", "--lambda", "0.5", "--json"]) == 0
        again = figures(capsys)
    assert first["metrics"]["cc"] == {
        "title": "contextual coherence",
        "mean": pytest.approx((0.95 + 0.70) / 2),
        "scored": 2,
        "coverage": pytest.approx(2 / 3),
        "unscored": {"unreadable_reply": 1},
        "details": {"unreadable_reply": ANY},
    }
    answer = first["metrics"]["ac"]
    assert answer["mean"] == pytest.approx((0.94 + 0.12) / 2)
    # (0.95 + 0.75) / 2 = 0.85 passes at 0.6, (0.70 + 0.30) / 2 = 0.5 does not.
    assert first["composite"] == {
        "mean": pytest.approx((0.85 + 0.5) / 2),
        "scored": 2,
        "coverage": pytest.approx(2 / 3),
        "passed": 1,
        "unscored": {"unreadable_reply": 1},
        "details": {"unreadable_reply": "no score for cc, ir"},
    }
    assert (again["served"], again["usage"]["calls"]) == (10, 10)
    # 0.5 * 1 + 0.5 * 0.80 and 0.5 * 0 + 0.5 * 0.40.
    assert again["metrics"]["ac"]["mean"] == pytest.approx((0.9 + 0.2) / 2)
    assert "one call per metric" in table
    assert "2/3" in next(line for line in table.splitlines() if "qr question relevance" in line)
    assert "4 calls, 40 + 20 tokens" in table
    lines = (tmp_path / "rated.jsonl").read_text(encoding="utf-8").splitlines()
    results = [CCRSResult.from_json(line) for line in lines]
    assert [r.sample_id for r in results] == ["good", "mute", "half"]
    assert json.loads(lines[0])["scores"]["qr"] == 0.9
    assert (tmp_path / ".tcva/verdicts.sqlite").exists()


def test_the_lexical_judge_says_what_it_is(
    samples: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ccrs", samples, "--em", "normalised", "--threshold", "0.1"]) == 0
    out = capsys.readouterr().out
    assert "the lexical judge only counts words" in " ".join(out.split())
    assert "exact match normalised, weight 0.7" in out
    assert "composite" in out
    assert not (tmp_path / ".tcva").exists()


def test_results_can_go_through_a_pipe(samples: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ccrs", samples, "--metrics", "qr", "--out", "-"]) == 0
    out, err = capsys.readouterr()
    assert [CCRSResult.from_json(line).sample_id for line in out.splitlines()] == [
        "good",
        "mute",
        "half",
    ]
    assert "lexical" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metrics", "qr,xx"], "unknown metric 'xx'"),
        (["--em", "loose"], "it should be 'strict' or 'normalised'"),
        (["--lambda", "2"], "lambda_=2.0"),
        (["--weights", "cc"], "not of the form metric=number"),
        (["--weights", "cc=0.5,qr=0.2"], "not to 1"),
        (["--weights", "cc=0.5,cc=1"], "names cc twice"),
        (["--weights", "cc=1", "--metrics", "qr"], "a weight for 'cc', which was not rated"),
        (["--threshold", "2"], "passing_threshold"),
        (["--json", "--out", "-"], "both write to standard output"),
        (["--store", "x", "--no-store"], "exclude each other"),
        (["--out", "in.jsonl"], "the file that the samples come from"),
    ],
)
def test_wrong_use_ends_before_any_work(
    samples: str, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ccrs", samples, *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_wrong_key_and_nothing_scored_end_with_an_error(
    samples: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    with ScriptedServer(server.in_turn(server.WRONG_KEY)) as local:
        monkeypatch.setenv("OPENAI_BASE_URL", local.base_url)
        assert run(["ccrs", samples, "--judge", "openai:m", "--no-store"]) == 2
    assert "Incorrect API key" in capsys.readouterr().err
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"question": "Q?"}\n', encoding="utf-8")
    assert run(["ccrs", str(bare)]) == 2
    assert "no sample has a score: 1 missing_field; the first: the" in capsys.readouterr().err


def test_lines_that_are_no_samples_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text('{"q": "Red car?", "a": "A red car."}\nnonsense\n', encoding="utf-8")
    mapping = ["--map", "q=input", "--map", "a=response"]
    assert run(["ccrs", str(path), "-m", "qr", *mapping, "--skip-bad", "--json"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["skipped"], json.loads(out)["metrics"]["qr"]["mean"]) == (1, 1.0)
    assert "skipped line 2" in err


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ccrs", "--help"]) == 0
    assert "tcva ccrs samples.jsonl" in " ".join(capsys.readouterr().out.split())
