"""The command line through its own entry: exit codes, files, one clear sentence per mistake."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tcva_adapters import Assessment
from tcva_adapters.cli.app import run
from tests.support.server import Body, ScriptedServer, auto_judge

PASSAGE = "The office opens at nine. Parking is free for visitors."


def record(number: int, response: str = "The office opens at nine.") -> dict[str, object]:
    return {"id": f"s{number}", "question": "When?", "answer": response, "contexts": [PASSAGE]}


def write(path: Path, *records: object) -> str:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return str(path)


def figures(text: str) -> dict[str, object]:
    parsed = json.loads(text)
    assert isinstance(parsed, dict)
    return parsed


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize("command", ["evaluate", "ccrs"])
@pytest.mark.parametrize("name", ["out.csv", "out.json", "out.txt", "out.jsonl.gz"])
def test_no_jsonl_is_written_under_the_name_of_another_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1))
    said = failing([command, samples, "-o", name], capsys)
    assert f"cannot write {name}" in said
    assert "name a file that ends in .jsonl" in said
    assert {path.name for path in tmp_path.iterdir()} == {"in.jsonl"}


def test_a_csv_of_ragas_gives_the_figures_of_jsonl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passages = ["It's closed.", "The office opens at nine."]
    own = record(1) | {"contexts": passages}
    with Path("saved.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "user_input", "response", "retrieved_contexts"])
        rows.writerow(["s1", "When?", own["answer"], str(passages)])
    judged = []
    for source in (write(tmp_path / "in.jsonl", own), "saved.csv"):
        assert run(["evaluate", source, "-o", "-"]) == 0
        judged.append(Assessment.from_json(capsys.readouterr().out))
    assert judged[0] == judged[1]
    assert judged[0].claims[0].passage == 2


def test_a_map_that_no_row_has_names_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1) | {"outputs": {"text": "x"}})
    said = failing(["evaluate", samples, "--map", "outputs.txt=response"], capsys)
    assert "no column 'outputs.txt'; columns are 'id', 'question'" in said
    assert "'outputs.text'" in said


def test_evaluate_writes_assessments_that_sweep_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1), record(2, "Parking costs five euros."))
    assert run(["evaluate", samples, "--out", "judged.jsonl", "--json"]) == 0
    first = figures(capsys.readouterr().out)
    assert (first["samples"], first["scored"], first["skipped"]) == (2, 2, 0)

    lines = (tmp_path / "judged.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["sample_id"] for line in lines] == ["s1", "s2"]

    assert (
        run(
            [
                "sweep",
                "judged.jsonl",
                "-T",
                "0.5,1.0",
                "--penalty",
                "paper",
                "--penalty",
                "off",
                "--json",
            ]
        )
        == 0
    )
    rows = figures(capsys.readouterr().out)["rows"]
    assert isinstance(rows, list)
    assert [(r["temperature"], r["penalty"]) for r in rows] == [
        (0.5, "paper"),
        (1.0, "paper"),
        (0.5, "off"),
        (1.0, "off"),
    ]
    assert rows[0]["mean_score"] == pytest.approx(first["mean_score"], abs=1e-12)
    assert rows[2]["mean_score"] >= rows[0]["mean_score"]


def test_assessments_can_go_through_a_pipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(record(1)) + "\n"))
    assert run(["evaluate", "-", "--out", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["sample_id"] == "s1"
    assert "lexical" in err
    assert list(tmp_path.iterdir()) == []  # no store for the local judge


def test_evaluate_says_that_the_lexical_judge_is_lexical(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["evaluate", write(tmp_path / "in.jsonl", record(1))]) == 0
    assert "compares words" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        (["--min-score", "0.99"], 0),
        (["--min-pass-rate", "1"], 0),
        (["--min-coverage", "1"], 1),
        (["--min-score", "0.2", "--min-coverage", "0.6"], 0),
    ],
)
def test_gates_pass_and_fail(
    gate: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = {**record(3), "contexts": []}
    samples = write(tmp_path / "in.jsonl", record(1), record(2), empty)  # coverage 2/3, both 1.0
    assert run(["evaluate", samples, *gate]) == code
    assert ("gate failed: faithfulness: coverage 0.667 < 1" in capsys.readouterr().err) is (
        code == 1
    )


def test_a_low_mean_score_fails_its_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1, "Zebras invented the telephone in 1850."))
    assert run(["evaluate", samples, "--min-score", "0.9"]) == 1
    assert "gate failed: faithfulness: mean score" in capsys.readouterr().err


def failing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-T", "7"], "7"),
        (["-T", "harsh"], "harsh"),
        (["--scheme", "steep"], "steep"),
        (["--scheme", "0,1,0,0,0"], "mostly"),
        (["--scheme", "1,2"], "five|5"),
        (["--scheme", "a,b,c,d,e"], "a,b,c,d,e"),
        (["--penalty", "double"], "double"),
        (["--floor", "never"], "never"),
        (["--criterion", "beauty"], "beauty"),
        (["--judge", "oracle"], "oracle"),
        (["--judge", "openai:m"], "OPENAI_API_KEY"),
        (["--claims", "words"], "words"),
        (["--max-claims", "0"], "max_claims=0"),
        (["--min-score", "3"], "mean score is 3"),
        (["--map", "answer"], "'answer'"),
        (["--out", "-", "--json"], "standard output"),
        (["--no-such-option"], "no-such-option"),
    ],
)
def test_wrong_options_are_one_sentence(
    arguments: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1))
    err = failing(["evaluate", samples, *arguments], capsys)
    assert any(part in err for part in named.split("|"))


def test_a_missing_field_names_the_line_and_the_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = {"id": "s2", "answer": "It opens at nine."}
    samples = write(tmp_path / "in.jsonl", record(1), lacking)
    err = failing(["evaluate", samples], capsys)
    assert "line 2" in err
    assert "contexts" in err
    assert run(["evaluate", samples, "--skip-bad", "--json"]) == 0
    out, err = capsys.readouterr()
    assert figures(out)["skipped"] == 1
    assert "skipped line 2" in err


def test_half_written_jsonl_names_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(record(1)) + "\n" + '{"id": "s2", "ans', encoding="utf-8")
    assert "line 2" in failing(["evaluate", str(path)], capsys)
    assert run(["evaluate", str(path), "--skip-bad", "--json"]) == 0
    assert figures(capsys.readouterr().out)["samples"] == 1


def test_users_own_field_names_are_mapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"bot_said": "The office opens at nine.", "found": [PASSAGE]}
    samples = write(tmp_path / "in.jsonl", own)
    arguments = ["evaluate", samples, "--map", "bot_said=response", "--map", "found=contexts"]
    assert run([*arguments, "--json"]) == 0
    assert figures(capsys.readouterr().out)["mean_score"] == 1.0


@pytest.mark.parametrize(
    "record_",
    [{**record(1), "answer": " "}, {**record(1), "contexts": []}],
    ids=["empty answer", "no context"],
)
def test_when_nothing_can_be_scored_the_reason_is_said(
    record_: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    err = failing(["evaluate", write(tmp_path / "in.jsonl", record_)], capsys)
    assert "no sample has a score" in err


def test_a_missing_file_and_debug(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nowhere.jsonl" in failing(["evaluate", "nowhere.jsonl"], capsys)
    assert run(["evaluate", str(tmp_path / "nowhere.jsonl"), "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_model_judge_keeps_its_verdicts_by_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1), record(2, "Parking is free for visitors."))
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for expected in (2, 0):
            assert run(["evaluate", samples, "--judge", "openai:m", "--json"]) == 0
            usage = figures(capsys.readouterr().out)["usage"]
            assert isinstance(usage, dict)
            assert usage["calls"] == expected
        assert server.count == 2
    assert (tmp_path / ".tcva" / "verdicts.sqlite").exists()


def test_an_unknown_model_ends_with_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = write(tmp_path / "in.jsonl", *(record(i, f"Note {i} is here.") for i in range(30)))
    with ScriptedServer(
        lambda body, n: (404, {"error": {"code": "model_not_found", "message": "no such model"}})
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        err = failing(["evaluate", samples, "--judge", "openai:nonesuch", "--no-store"], capsys)
        assert "nonesuch" in err
        assert server.count <= 16  # those under way when the first answer came, not all 30


def test_a_gate_does_not_pass_over_failed_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1), record(2, "Parking is free for visitors."))

    def script(body: Body, n: int) -> str:
        return (
            auto_judge(body, n) if "office" in str(body["messages"][-1]).split("CLAIM")[1] else "?"
        )

    with ScriptedServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        arguments = ["evaluate", samples, "--judge", "openai:m", "--no-store", "--min-score", "0"]
        assert run([*arguments, "--min-pass-rate", "0.1"]) == 1
        assert "because the judge or the\n  metric failed" in capsys.readouterr().err
        assert run([*arguments, "--min-coverage", "0.5"]) == 0


def test_the_samples_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1))
    assert "choose another" in failing(["evaluate", samples, "--out", samples], capsys)


def test_out_is_tried_before_anything_is_paid_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = write(tmp_path / "in.jsonl", record(1))
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        arguments = ["evaluate", samples, "--judge", "openai:m", "--no-store"]
        failing([*arguments, "--out", "/proc/nowhere/out.jsonl"], capsys)
        assert server.count == 0


def test_sweep_refuses_a_mixture_of_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = [Assessment.from_verdicts(["fully"], judge=name).to_json() for name in ("a", "b")]
    (tmp_path / "mixed.jsonl").write_text("\n".join(kinds) + "\n", encoding="utf-8")
    assert "faithfulness by a; faithfulness by b" in failing(["sweep", "mixed.jsonl"], capsys)
