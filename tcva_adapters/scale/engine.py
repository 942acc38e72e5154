"""Ray, once it is seen to be there: how it is joined, and without its telemetry."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.frameworks import NO_TELEMETRY, REQUIREMENTS
from tcva_adapters.lazy import check

LOCAL: Final = "local"
"""The address of a Ray that is started here, for this run alone."""


def ray_module() -> Any:
    """The package.

    Raises:
        MissingDependencyError: It is not installed, or too old.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", NO_TELEMETRY["RAY_USAGE_STATS_ENABLED"])
    check(REQUIREMENTS["ray"])
    import ray  # noqa: PLC0415  # an extra, and looked for in the line above

    return ray


IO_CPUS: Final = 2
"""Of Ray's CPUs, those that reading, skipping and writing take at most."""


def workers_of_cluster(ray: Any, num_cpus: float) -> int:
    """How many workers there is room for beside those that read and write.

    Args:
        ray: The package, joined to a cluster.
        num_cpus: What each of them reserves.

    Raises:
        InvalidValueError: There is room for none: Ray would wait for it for ever.
    """
    if not num_cpus > 0:
        msg = f"num_cpus={num_cpus!r}; it is a number above 0"
        raise InvalidValueError(msg)
    cpus = ray.cluster_resources().get("CPU", 0)
    room = int((cpus - IO_CPUS) / num_cpus)
    if room < 1:
        msg = (
            f"this Ray has {cpus:g} CPUs; {IO_CPUS} read and write and a worker reserves {num_cpus:g}, "
            f"so it takes at least {IO_CPUS + num_cpus:g}"
        )
        raise InvalidValueError(msg)
    return room


@contextmanager
def joined(address: str | None) -> Iterator[None]:
    """A Ray around the block: the one that is running, one at an address, or one started here.

    Args:
        address: ``auto`` or ``host:port`` joins a cluster, ``local`` starts one on this machine;
            None takes what this process has joined, else RAY_ADDRESS, else starts one.

    Raises:
        InvalidValueError: There is no cluster there.
        MissingDependencyError: Ray is not installed.
    """
    ray = ray_module()
    if ray.is_initialized() and address is None:
        yield
        return
    here = address == LOCAL or (address is None and not os.environ.get("RAY_ADDRESS"))
    how: dict[str, Any] = {}
    if here:
        # Ray's CPUs are places: two more than there are, so that all can judge while others read.
        how = {"include_dashboard": False, "num_cpus": (os.cpu_count() or 1) + IO_CPUS}
    try:
        ray.init(address, logging_level=logging.WARNING, log_to_driver=False, **how)
        logging.getLogger("ray.data").setLevel(logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        msg = f"no Ray cluster at {address!r}: {error}; 'ray status' shows one that is running"
        raise InvalidValueError(msg) from error
    try:
        yield
    finally:
        ray.shutdown()
