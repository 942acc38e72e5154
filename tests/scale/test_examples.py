"""The examples of other engines, each where that engine is installed."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "DO_NOT_TRACK": "true",
}
SPARK = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


@pytest.mark.parametrize(("example", "package", "says"), [
    ("multiprocessing_pool", "multiprocessing", "1-right: 1.00"),
    ("ray_data", "ray", "3: 0."),
    ("spark_map_in_pandas", "pyspark", "wrong: 0.00"),
    ("daft_udf", "daft", "right: 1.00"),
])  # fmt: skip
def test_an_example_runs(example: str, package: str, says: str) -> None:
    if find_spec(package) is None or (package == "pyspark" and which("java") is None):
        pytest.skip(f"no {package} here: `make test-ray` tries it; Spark needs java")
    command = [sys.executable, str(ROOT / "examples" / f"{example}.py")]
    env = {**os.environ, **QUIET, **SPARK, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    assert says in done.stdout
