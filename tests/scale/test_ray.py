"""Ray: rows in, the same rows out with columns more, whatever is killed in between."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.csv  # type: ignore[import-untyped]  # Arrow is not typed
import pyarrow.parquet  # type: ignore[import-untyped]  # as above
import pytest

from benchmarks.ray_scale import judge_of
from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.samples.file_writing import open_alone
from tcva_adapters.scale import judge_dataset, judge_files
from tests.support.scripted import ScriptedModel

# Ray's own: deprecations in it, and files and sockets that it leaves to the end of the process.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("ray")]

SETTINGS = {"criterion": "faithfulness", "judge": "lexical"}
COMMAND = [sys.executable, "-m", "benchmarks.ray_scale", "run"]


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
    return [
        json.loads(line)
        for part in parts
        for line in part.read_text("utf-8").splitlines()
    ]


def wanted(given: list[dict[str, Any]]) -> dict[str, Result]:
    found = TCVA(**SETTINGS).evaluate_many([Sample.from_record(row) for row in given])
    return {str(each.sample_id): each for each in found}


def figures(
    source: Any, out: Path, settings: Any = SETTINGS, **how: Any
) -> dict[str, Any]:
    (found,) = judge_files(source, str(out), settings, workers=1, **how).records("rows")
    return found


def test_a_dataset_keeps_its_columns(ray: Any) -> None:
    given = rows(40)
    ds = judge_dataset(ray.data.from_items(given), SETTINGS, workers=2, rows_at_once=8)
    found = {row["id"]: row for row in ds.take_all()}
    for row, (name, result) in zip(given, wanted(given).items(), strict=True):
        judged = found[name]
        assert all(judged[key] == row[key] for key in ("answer", "team", "size"))
        assert judged["tcva_score"] == result.score
        assert Result.from_json(judged["tcva_result"]) == result


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_files_in_and_parts_out(kind: str, tmp_path: Path) -> None:
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
    found = figures(str(source), out, rows_at_once=8)
    judged = [row for row in read(out) if row["tcva_error"] is None]
    for row in judged:
        result = wanted(given)[str(row["id"])]
        assert (row["tcva_score"], row["tcva_passed"]) == (result.score, result.passed)
        assert Result.from_json(row["tcva_result"]).claims == result.claims
        assert int(row["size"]) == int(row["id"])
    bad = 3 if kind == "jsonl" else 0
    assert (found["rows"], found["scored"], found["new"]) == (30 + bad, 30, 30 + bad)
    assert figures(str(source), out, rows_at_once=8) == {**found, "new": 0}


def test_another_run_is_not_mixed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, out = str(write(tmp_path / "in.jsonl", rows(10))), tmp_path / "out"
    assert figures(source, out)["new"] == 10
    assert (
        figures("in.jsonl", out)["new"] == 0
    )  # a source is one however its path is written
    with (
        open_alone(out / "_lock", out),
        pytest.raises(InvalidValueError, match="another process"),
    ):
        figures(source, out)  # a second command
    strict = {**SETTINGS, "temperature": "strict"}
    for settings, how in ((strict, {}), (SETTINGS, {"mapping": {"team": "reference"}})):
        with pytest.raises(InvalidValueError, match="other settings"):
            figures(source, out, settings, **how)
    more = str(write(tmp_path / "more.jsonl", rows(5)))
    added = figures([source, more], out)
    assert (added["rows"], added["new"]) == (15, 5)
    with pytest.raises(InvalidValueError, match="not named now; name all files"):
        figures(more, out)
    write(tmp_path / "in.jsonl", rows(11))
    with pytest.raises(InvalidValueError, match="changed since"):
        figures(source, out)
    with pytest.raises(FileNotFoundError):
        figures("nothing.jsonl", tmp_path / "new")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InvalidValueError):
        figures(more, tmp_path / "mine")


def test_a_file_is_known_by_what_it_holds(tmp_path: Path) -> None:
    source, out = write(tmp_path / "in.jsonl", rows(10)), tmp_path / "out"
    linked, hard, copied, renamed = (tmp_path / name for name in ("l.jsonl", "h", "c.ndjson", "r.jsonl"))  # fmt: skip
    assert figures(str(source), out, rows_at_once=4)["new"] == 10
    linked.symlink_to(source)
    hard.hardlink_to(source)
    copied.write_bytes(source.read_bytes())
    same = [str(source), str(linked), str(hard), str(copied), f"{tmp_path}/./in.jsonl"]
    for given in (*same, same):
        found = figures(given, out, rows_at_once=4)
        assert (found["rows"], found["new"]) == (10, 0)
    os.utime(source)
    source.rename(renamed)
    assert figures(str(renamed), out, rows_at_once=4)["new"] == 0
    assert [row["id"] for row in read(out)] == [str(n) for n in range(10)]
    sorted(out.glob("*.jsonl"))[
        1
    ].unlink()  # what is missing is judged, and nothing else
    found = figures(str(copied), out, rows_at_once=4)
    assert (found["rows"], found["new"]) == (10, 4)
    other = write(tmp_path / "r.jsonl", rows(9))
    with pytest.raises(InvalidValueError, match="changed since"):
        figures(str(other), out, rows_at_once=4)
    assert len(read(out)) == 10


def test_what_ray_has_no_place_for(tmp_path: Path, ray: Any) -> None:
    ds = ray.data.from_items(rows(1))
    with pytest.raises(InvalidValueError, match="SQLite"):
        judge_dataset(ds, {**SETTINGS, "store": str(tmp_path / "store")})
    with pytest.raises(InvalidValueError, match="3"):
        judge_dataset(ds, SETTINGS, workers=4)


def test_a_wrong_key_ends_the_run(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", rows(3))
    wrong = JudgeError("the key is wrong", reason="authentication", fatal=True)
    with pytest.raises(JudgeError, match="the key is wrong"):
        figures(str(source), tmp_path / "out", TCVA(judge=Refusing([wrong] * 9)))
    assert read(tmp_path / "out") == []


class Refusing(ScriptedModel):
    """A model that another process can have."""

    def __reduce__(self) -> Any:
        return Refusing, (self._answers,)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["kill driver", "kill worker"])
def test_every_row_is_there_once(what: str, tmp_path: Path) -> None:
    if not Path("/proc").exists():
        pytest.skip("looks for processes in /proc")
    source, out = write(tmp_path / "in.jsonl", rows(6000)), tmp_path / "out"
    command = [*COMMAND, str(source), str(out)]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while len(read(out)) < 256 and first.poll() is None:
        time.sleep(0.02)
    assert first.poll() is None, "it ended too early"
    if what == "kill worker":
        os.kill(judge_of(first.pid), signal.SIGKILL)
    else:
        first.kill()
        assert first.wait() != 0
        first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    assert first.wait() == 0
    judged = read(out)
    assert Counter(row["id"] for row in judged) == Counter(str(n) for n in range(6000))
    scores = {row["id"]: row["tcva_score"] for row in judged}
    assert scores == {name: each.score for name, each in wanted(rows(6000)).items()}
