"""The examples of other engines, each where that engine is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("example", "package", "says"),
    [
        ("multiprocessing_pool", "multiprocessing", "1-right: 1.00"),
        ("ray_data", "ray", "3: 0."),
        ("spark_map_in_pandas", "pyspark", "wrong: 0.00"),
        ("daft_udf", "daft", "right: 1.00"),
    ],
)
def test_an_example_runs(example: str, package: str, says: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"no {package} here: `make test-ray` tries it")
    if package == "pyspark" and which("java") is None:
        pytest.skip("Spark needs java")
    quiet = {
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled",
        "DO_NOT_TRACK": "true",  # Daft's
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{example}.py")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **quiet},
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert says in done.stdout
