"""A Ray dataset, judged: actors that hold a judge, with limits for the whole cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings import Count, check
from tcva_adapters.scale.batch import PREFIX, judge_batch
from tcva_adapters.scale.engine import ray_module, workers_of_cluster
from tcva_adapters.scale.settings import ScorerLike, scorer_of, shared_out

ROWS_AT_ONCE: Final = 512
"""Rows of a batch, which is also what a killed worker judges again."""

_UNDER_WAY: Final = 2
"""Batches in an actor whose judge waits for a server: the end of one overlaps with the next."""


def judge_dataset(
    ds: Any,
    settings: ScorerLike,
    *,
    workers: int | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    mapping: Mapping[str, str] | None = None,
    apart: Sequence[str] = (),
    prefix: str = PREFIX,
    node_store: str | Path | None = None,
    num_cpus: float = 1.0,
) -> Any:
    """Judge the rows of a Ray dataset: the dataset with the columns of `judge_batch` more.

    Nothing runs until the dataset is written or taken from, as Ray has it. Each of ``workers``
    actors holds a judge, so that connections stay open. Ray starts another one when an actor, or
    its node, dies, and judges again what it had.

    ``max_concurrency`` and the model's ``requests_per_minute`` among the settings are of the whole
    cluster: each actor has its share, so together they stay within, whichever of them is alive.
    A `TCVA` or `CCRS` object in place of settings has its own limits in each actor.

    Args:
        ds: A ``ray.data.Dataset``; a row is a sample, other columns are kept.
        settings: See `judge_batch`.
        workers: Actors; by default one for each CPU of the cluster but two with the embedded judge,
            and with a model one for each node, but no more than ``max_concurrency``.
        rows_at_once: Rows of a batch.
        mapping: See `judge_batch`.
        apart: See `judge_batch`.
        prefix: See `judge_batch`.
        node_store: Path of a verdict store on each node's own disk, which its actors share.
        num_cpus: What Ray reserves for each actor.

    Raises:
        InvalidValueError: A setting is out of range or unknown; more workers than calls at once, or
            than there is room for;
            or a store among the settings, which would be one SQLite file for all nodes.
        MissingDependencyError: Ray, or the judge's package, is not installed.
        JudgeError: When it runs: no call can succeed (a wrong key). What was written stays.
    """
    ray = ray_module()
    check(Count, "rows_at_once", rows_at_once)
    scorer = scorer_of(settings)
    if scorer.store is not None:
        msg = (
            f"store={str(scorer.store.path)!r}: SQLite files are not shared between nodes; leave it "
            "out (rows that were written are not judged again), or give node_store=PATH, a file on "
            "each node's own disk"
        )
        raise InvalidValueError(msg)
    room = workers_of_cluster(ray, num_cpus)
    if workers is None:
        workers = room
        if not scorer.is_local:
            workers = min(room, scorer.max_concurrency, sum(each["Alive"] for each in ray.nodes()))
    number = check(Count, "workers", workers)
    if number > room:
        msg = f"{number} workers, and this Ray has room for {room}; take fewer, or a lower num_cpus"
        raise InvalidValueError(msg)
    at_once = 1 if scorer.is_local else _UNDER_WAY
    return ds.map_batches(
        _Judge,
        fn_constructor_kwargs={
            "settings": shared_out(settings, number),
            "node_store": None if node_store is None else str(node_store),
            "how": {"mapping": mapping, "apart": apart, "prefix": prefix},
        },
        batch_format="pyarrow",
        batch_size=rows_at_once,
        num_cpus=num_cpus,
        compute=ray.data.ActorPoolStrategy(
            size=number,
            max_tasks_in_flight_per_actor=at_once + 1,
            max_concurrent_calls_per_actor=at_once,
            enable_true_multi_threading=at_once > 1,
        ),
        udf_modifying_row_count=False,
    )


@dataclass(slots=True)
class _Judge:
    """An actor's judge; made once where the actor lives."""

    settings: ScorerLike
    node_store: str | None
    how: Mapping[str, Any]

    def __post_init__(self) -> None:
        self.settings = scorer_of(self.settings)
        if self.node_store is not None:
            self.settings = self.settings.changed(store=self.node_store)

    def __call__(self, batch: Any) -> Any:
        return judge_batch(batch, settings=self.settings, **self.how)
