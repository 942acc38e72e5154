"""Settings from a file and additional judges, on the command line."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from tcva_adapters import Config
from tcva_adapters.cli.app import run
from tcva_adapters.core.temperature import Bounds
from tests.support.scripted import verdict_json
from tests.support.server import ScriptedServer, auto_judge

RECORD = {
    "id": "a",
    "question": "When?",
    "answer": "It opens at nine. Parking costs five euros.",
    "contexts": ["The office opens at nine. Parking is free for visitors."],
}


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(json.dumps(RECORD), encoding="utf-8")
    Config(settings={"temperature": 0.9, "penalty": "off"}).dump("tcva.json")


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert run(["evaluate", "in.jsonl", "--json", *arguments]) == 0
    parsed = json.loads(capsys.readouterr().out)
    assert isinstance(parsed, dict)
    return parsed


def test_a_file_sets_the_dial(capsys: pytest.CaptureFixture[str]) -> None:
    said = figures(capsys, "--config", "tcva.json")
    assert (said["temperature"], said["penalty"], said["scheme"]) == (0.9, "off", "default")


def test_what_is_typed_wins_even_where_it_is_the_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = figures(capsys, "--config", "tcva.json", "-T", "0.5")
    assert (said["temperature"], said["penalty"]) == (0.5, "off")


def test_an_end_of_the_exponents_that_is_not_typed_is_the_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Config(settings={"temperature": 0.3, "bounds": Bounds(-6.0, 4.0)}).dump("tcva.json")
    for typed, place in (
        ([], "T=0.3, p=-6..4"),
        (["--p-min", "-2"], "T=0.3, p=-2..4"),
        (["--p-min", "-8", "--p-max", "12.25"], "T=0.3 "),
    ):
        assert f"at {place}" in str(figures(capsys, "--config", "tcva.json", *typed)["sentence"])


def test_a_name_is_a_temperature_and_exponents_have_bounds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["evaluate", "in.jsonl", "--judge", "lexical", "-T", "strict", "--p-max", "8"]) == 0
    assert "T=0.2, p=-8..8, default weights" in " ".join(capsys.readouterr().out.split())
    assert run(["evaluate", "in.jsonl", "--judge", "lexical", "--p-min", "13"]) == 2
    assert "p_min=13.0 must lie below p_max=12.25" in capsys.readouterr().err


def test_profiles_follow_the_metadata(capsys: pytest.CaptureFixture[str]) -> None:
    Config(profiles={"domain": {"medical": "strict"}}).dump("tcva.json")
    records = [{**RECORD, "id": "b", "domain": "medical"}, {**RECORD, "domain": "chat"}]
    Path("in.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    one = {}
    for temperature in ("0.2", "0.5"):
        one[temperature] = figures(capsys, "-T", temperature)["mean_score"]
    assert isinstance(one["0.2"], float)
    assert isinstance(one["0.5"], float)
    mean = figures(capsys, "--config", "tcva.json")["mean_score"]
    assert mean == pytest.approx((one["0.2"] + one["0.5"]) / 2, abs=1e-12)
    assert one["0.2"] < one["0.5"]


def test_a_bad_file_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tcva.json").write_text('{"settings": {"temprature": 1}}')
    assert run(["evaluate", "in.jsonl", "--config", "tcva.json"]) == 2
    assert "unknown setting 'temprature'" in capsys.readouterr().err


def test_the_lexical_judge_joins_a_model_at_no_call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        alone = figures(capsys, "--judge", "openai:m", "--no-store")
        before = server.count
        gc.collect()  # a judge that is still there would share what it has
        fused = figures(
            capsys, "--judge", "openai:m", "--fuse", "lexical", "--no-store", "-o", "out.jsonl"
        )
        assert server.count - before == before == 1
    assert fused["mean_score"] != alone["mean_score"]
    kept = json.loads(Path("out.jsonl").read_text(encoding="utf-8"))
    assert [member["judge"].split("/")[0] for member in kept["members"]] == ["lexical"]


def test_a_panel_shows_its_agreement_and_what_to_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(
        lambda _body, _n: verdict_json((1, "minor", "opens at nine"), (2, "none", ""))
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        arguments = ["--judge", "openai:m", "--panel", "lexical", "--no-store"]
        panel = figures(capsys, *arguments)["panel"]
        assert run(["evaluate", "in.jsonl", *arguments]) == 0
    assert isinstance(panel, dict)
    (pair,) = panel["agreement"]["pairs"]
    assert (pair["second"], pair["claims"]) == ("lexical/3", 2)
    assert panel["disputed"][0]["sample"] == "a"
    shown = capsys.readouterr().out
    assert "Krippendorff's alpha" in shown
    assert "most disputed" in shown


def test_a_panel_needs_one_claim_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "in.jsonl", "--panel", "lexical", "--claims", "llm"]) == 2
    assert "use claims='split'" in capsys.readouterr().err
    assert run(["evaluate", "in.jsonl", "--panel", "lexical"]) == 2
    assert "each has one vote" in capsys.readouterr().err


def test_further_judges_and_profiles_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Config(profiles={"domain": {"medical": 0.2}}).dump("profiles.json")
    arguments = ["evaluate", "in.jsonl", "--fuse", "lexical", "--config", "profiles.json"]
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert "fused with faithfulness by lexical/" in out
    assert "other temperatures by 'domain': medical" in out
    assert run([*arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    (judge,) = figures["fused"]
    assert (judge["criterion"], judge["left_out"]) == ("faithfulness", 0)
    assert figures["profiles"] == {"by": "domain", "values": ["medical"]}
