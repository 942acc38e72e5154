"""A folder of parts: whose it is, and what is in its parts."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.scale.engine import workers_of_cluster
from tcva_adapters.scale.folder import Folder


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_parts_of_some_megabytes_are_read(kind: str, tmp_path: Path) -> None:
    """With line feeds in cells, a long row, and columns that are of another type further down."""
    rows = [
        {
            "id": n,
            "day": "2026-01-01" if n < 600 else "unknown",
            "size": n if n < 600 else n + 0.5,
            "text": 'It opens at nine.\nIt is "red".\n' * (60_000 if n == 17 else 60),
            "tcva_score": None if n == 3 else 0.5,
        }
        for n in range(800)
    ]
    with (tmp_path / f"part.{kind}").open("w", newline="", encoding="utf-8") as file:
        if kind == "jsonl":
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
        else:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    (found,) = Folder(str(tmp_path), kind).columns(["id", "tcva_score"])  # type: ignore[arg-type]  # a parameter
    assert found == [[*range(800)], [None if n == 3 else 0.5 for n in range(800)]]


def test_rows_of_another_mapping_are_not_mixed_in(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("{}\n")

    def claim(column: str) -> None:
        settings = {"fingerprint": "f", "prefix": "tcva_", "mapping": {column: "response"}}
        Folder(str(tmp_path / "out"), "jsonl").claim(settings, [str(source)], overwrite=False)

    claim("mine")
    claim("mine")
    with pytest.raises(InvalidValueError, match="other settings"):
        claim("another")


@pytest.mark.parametrize(("num_cpus", "says"), [(0, "above 0"), (16, "at least 18")])
def test_workers_that_no_cluster_has_room_for(num_cpus: float, says: str) -> None:
    ray = SimpleNamespace(cluster_resources=lambda: {"CPU": 8})
    assert workers_of_cluster(ray, 3) == 2
    with pytest.raises(InvalidValueError, match=says):
        workers_of_cluster(ray, num_cpus)
