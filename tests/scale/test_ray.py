"""Ray: rows in, the same rows out with columns more, whatever is killed in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.csv  # type: ignore[import-untyped]  # Arrow is not typed
import pyarrow.parquet  # type: ignore[import-untyped]  # as above
import pytest

from benchmarks.ray_scale import judge_of
from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.cli.app import run
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.samples.records import Format
from tcva_adapters.scale import judge_dataset, judge_files
from tests.support.scripted import ScriptedModel

# Ray's own: deprecations in it, and files and sockets that it leaves to the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("ray"),
]

SETTINGS = {"criterion": "faithfulness", "judge": "lexical"}


def rows(number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": str(n),
            "answer": f"Room {n % 9} opens at nine. It is {'red' if n % 3 else 'blue'}.",
            "contexts": [f"Room {n % 9} opens at nine and is red.", "Nothing else."],
            "team": "a" if n % 2 else None,
            "size": n,
        }
        for n in range(number)
    ]


def write(path: Path, given: list[dict[str, Any]], *more: str) -> Path:
    lines = [*map(json.dumps, given), *more]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text("utf-8").splitlines()]


def wanted(given: list[dict[str, Any]]) -> dict[str, Result]:
    tcva = TCVA(**SETTINGS)
    found = tcva.evaluate_many([Sample.from_record(row) for row in given])
    return {str(each.sample_id): each for each in found}


def test_a_dataset_keeps_its_columns(ray: Any) -> None:
    given = rows(40)
    ds = judge_dataset(ray.data.from_items(given), SETTINGS, workers=2, rows_at_once=8)
    found = {row["id"]: row for row in ds.take_all()}
    for row, (name, result) in zip(given, wanted(given).items(), strict=True):
        judged = found[name]
        assert {key: judged[key] for key in ("answer", "team", "size")} == {
            key: row[key] for key in ("answer", "team", "size")
        }
        assert judged["tcva_score"] == result.score
        assert Result.from_json(judged["tcva_result"]) == result


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_files_in_and_files_out(kind: str, tmp_path: Path) -> None:
    given = rows(30)
    source = tmp_path / f"in.{kind}"
    if kind == "jsonl":
        write(source, given, "{broken", '{"team": 7}', '{"answer": ["no", "text"]}')
    elif kind == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(given), source)
    else:
        flat = [{**row, "contexts": json.dumps(row["contexts"])} for row in given]
        pyarrow.csv.write_csv(pyarrow.Table.from_pylist(flat), source)
    out = tmp_path / "out"
    found = judge_files(str(source), str(out), SETTINGS, output_format="jsonl", workers=1)
    judged = [row for row in read(out) if row["tcva_error"] is None]
    for row in judged:
        result = wanted(given)[str(row["id"])]
        assert (row["tcva_score"], row["tcva_passed"]) == (result.score, result.passed)
        assert Result.from_json(row["tcva_result"]).claims == result.claims
        assert int(row["size"]) == int(row["id"])
    bad = 3 if kind == "jsonl" else 0
    assert (found.rows, found.scored, found.new) == (30 + bad, 30, 30 + bad)
    assert found.unscored == ({"error": 3} if bad else {})
    again = judge_files(str(source), str(out), SETTINGS, output_format="jsonl", workers=1)
    assert (again.rows, again.new) == (30 + bad, 0)
    assert again.mean_score == found.mean_score


def test_columns_that_change_their_type_on_the_way_end_no_job(tmp_path: Path) -> None:
    given = rows(600)
    for row in given[300:]:
        row["contexts"] = row["contexts"][0]
    given[400]["size"] = "large"
    out = tmp_path / "out"
    found = judge_files(str(write(tmp_path / "in.jsonl", given)), str(out), SETTINGS, workers=1)
    assert (found.rows, found.scored, dict(found.unscored)) == (600, 599, {"error": 1})
    (bad,) = [row for row in read(out) if row["tcva_error"]]
    assert bad["id"] == "400"
    assert bad["tcva_error"] == "column 'size' holds a str, and int64 in the rows before"
    scores = {row["id"]: row["tcva_score"] for row in read(out) if row["id"] != "400"}
    known = wanted(given).items()
    assert scores == {name: each.score for name, each in known if name != "400"}


def test_a_source_is_one_however_its_path_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "in.jsonl", rows(10))
    assert judge_files("in.jsonl", "out", SETTINGS, workers=1).new == 10
    assert judge_files(str(source), "out", SETTINGS, workers=1).new == 0
    with pytest.raises(InvalidValueError, match="no source"):
        judge_files([], "out", SETTINGS)


def test_cells_that_json_has_no_place_for_are_written_all_the_same(tmp_path: Path) -> None:
    day, source = datetime(2026, 1, 1), tmp_path / "in.parquet"  # noqa: DTZ001  # as tables have it
    odd = {"day": day, "raw": b"\xff", "size": float("nan"), "more": [{"day": day}]}
    given = [{**row, **odd} for row in rows(3)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(given), source)
    kinds: tuple[Format, ...] = ("jsonl", "csv")
    for kind in kinds:
        found = judge_files(
            str(source), str(tmp_path / kind), SETTINGS, output_format=kind, workers=1
        )
        assert (found.rows, found.scored) == (3, 3)
    row = read(tmp_path / "jsonl")[0]
    assert (row["day"], row["raw"], row["size"]) == ("2026-01-01 00:00:00", "\\xff", None)
    assert row["more"] == [{"day": "2026-01-01 00:00:00"}]


def test_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", rows(10))
    out = str(tmp_path / "out")
    judge_files(str(source), out, SETTINGS, workers=1)
    strict = {**SETTINGS, "temperature": "strict"}
    with pytest.raises(InvalidValueError, match="other settings"):
        judge_files(str(source), out, strict, workers=1)
    with pytest.raises(InvalidValueError, match="other settings"):
        judge_files(str(source), out, SETTINGS, workers=1, mapping={"team": "reference"})
    more = write(tmp_path / "more.jsonl", rows(5))
    added = judge_files([str(source), str(more)], out, SETTINGS, workers=1)
    assert (added.rows, added.new) == (15, 5)
    write(source, rows(11))
    with pytest.raises(InvalidValueError, match="changed since"):
        judge_files(str(source), out, SETTINGS, workers=1)
    anew = judge_files(str(source), out, strict, workers=1, overwrite=True)
    assert (anew.rows, anew.new) == (11, 11)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InvalidValueError, match="no run of ours"):
        judge_files(str(source), str(tmp_path / "mine"), SETTINGS, workers=1, overwrite=True)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


def test_what_ray_has_no_place_for(tmp_path: Path, ray: Any) -> None:
    ds = ray.data.from_items(rows(1))
    with pytest.raises(InvalidValueError, match="SQLite files are not shared"):
        judge_dataset(ds, {**SETTINGS, "store": str(tmp_path / "store")})
    with pytest.raises(InvalidValueError, match="has room for 2"):
        judge_dataset(ds, SETTINGS, workers=3)
    model = {"base_url": "http://127.0.0.1:1/v1"}
    with pytest.raises(InvalidValueError, match="2 workers share max_concurrency=1"):
        judge_dataset(ds, {"judge": "openai:m", "model": model, "max_concurrency": 1}, workers=2)
    stored = judge_dataset(ds, SETTINGS, workers=1, node_store=tmp_path / "node.sqlite")
    assert stored.count() == 1


def test_a_wrong_key_ends_the_run(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", rows(3))
    wrong = JudgeError("the key is wrong", reason="authentication", fatal=True)
    tcva = TCVA(judge=Refusing([wrong] * 9))
    with pytest.raises(JudgeError, match="the key is wrong"):
        judge_files(str(source), str(tmp_path / "out"), tcva, workers=1)
    assert read(tmp_path / "out") == []


class Refusing(ScriptedModel):
    """A model that another process can have."""

    def __reduce__(self) -> Any:
        return Refusing, (self._answers,)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = write(tmp_path / "in.jsonl", rows(12)), tmp_path / "out"
    common = [str(source), "--ray", "-o", str(out), "--json"]
    assert run(["evaluate", "-j", "lexical", "-T", "strict", *common]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (found["rows"], found["scored"]) == (12, 12)
    strict = {row["id"]: row["tcva_score"] for row in read(out)}
    assert strict == {name: each.at("strict").score for name, each in wanted(rows(12)).items()}
    assert run(["sweep", str(out), "--ray", "-T", "0.1,0.5", "--human", "size", "--json"]) == 0
    on_ray = json.loads(capsys.readouterr().out.splitlines()[-1])
    lines = tmp_path / "judged.jsonl"
    lines.write_text("".join(f"{each.to_json()}\n" for each in wanted(rows(12)).values()))
    assert run(["sweep", str(lines), "-T", "0.1,0.5", "--human", "size", "--json"]) == 0
    here = json.loads(capsys.readouterr().out)
    assert [row["mean_score"] for row in on_ray["rows"]] == pytest.approx(
        [row["mean_score"] for row in here["rows"]], rel=1e-12
    )
    assert on_ray["rows"][0]["spearman"]["n"] == 12
    assert run(["evaluate", str(source), "--ray", "-o", str(out), "--store", "x"]) == 2
    assert "not shared between nodes" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("whom", ["driver", "worker"])
def test_the_same_rows_after_a_kill(whom: str, tmp_path: Path) -> None:
    if not Path("/proc").exists():
        pytest.skip("looks for processes in /proc")
    source, out = write(tmp_path / "in.jsonl", rows(1500)), tmp_path / "out"
    command = [sys.executable, "-m", "benchmarks.ray_scale", "run", str(source), str(out)]
    driver = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while len(read(out)) < 256 and driver.poll() is None:
        time.sleep(0.02)
    assert driver.poll() is None, "it ended before it could be killed"
    if whom == "worker":
        os.kill(judge_of(driver.pid), signal.SIGKILL)
        assert driver.wait() == 0
    else:
        driver.kill()
        driver.wait()
        assert subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    judged = read(out)
    assert Counter(row["id"] for row in judged) == Counter(str(n) for n in range(1500))
    scores = {row["id"]: row["tcva_score"] for row in judged}
    assert scores == {name: each.score for name, each in wanted(rows(1500)).items()}
