"""One small Ray for all tests here: on this machine alone, without its dashboard or telemetry."""

import os
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    found = pytest.importorskip("ray", reason="no Ray here: `make test-ray` tries it")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_AUTH_MODE"] = "disabled"
    found.init(
        "local",
        num_cpus=4,
        include_dashboard=False,
        object_store_memory=200 << 20,
        logging_level="ERROR",
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    yield found
    found.shutdown()
