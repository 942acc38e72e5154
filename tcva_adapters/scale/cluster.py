"""Judge on Ray, by actors that hold a judge: a dataset, or files into a folder of parts.

A part is a chunk of rows of one file; its name says which. It appears once it is complete, and a worker
that writes it a second time (because it was taken for dead) writes the same. So a second run continues
with the parts that are missing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.frameworks import NO_TELEMETRY, REQUIREMENTS
from tcva_adapters.lazy import check as check_installed
from tcva_adapters.results.settings_base import Count, check
from tcva_adapters.samples.fields import FieldNames
from tcva_adapters.samples.file_formats import read_records
from tcva_adapters.samples.file_writing import (
    make_folder,
    open_alone,
    replacing,
    usable_path,
)
from tcva_adapters.scale.batch import (
    ADDED,
    PREFIX,
    Batch,
    judge_batch,
    judge_rows,
)
from tcva_adapters.scale.settings import ScorerLike, scorer_of, worker_settings
from tcva_adapters.tables import Column, Record, Report, Table, cell, counted, plain

ROWS_AT_ONCE = 256  # which is also what a killed worker judges again


def judge_dataset(
    ds: Any,
    settings: ScorerLike,
    *,
    workers: int | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    mapping: FieldNames | None = None,
    prefix: str = PREFIX,
) -> Any:
    """Judge the rows of a Ray dataset, and return it with the columns of `judge_batch`.

    Nothing runs until the dataset is written or taken from, as Ray has it. Each of ``workers``
    actors holds a judge, so that connections stay open. Ray starts another one when an actor, or
    its node, dies, and judges again what it had.

    ``max_concurrency`` and the model's ``requests_per_minute`` among the settings apply to the whole
    cluster: each actor gets an equal share, so together they stay within the limits.
    A `TCVA` or `CCRS` object in place of settings has its own limits in each actor.

    Args:
        ds: A ``ray.data.Dataset``; a row is a sample, other columns stay.
        settings: See `judge_batch`.
        workers: The number of actors. By default it is one for each CPU of the cluster but one if
            the judge makes no calls; with a model one for each node, but no more than
            ``max_concurrency``.
        rows_at_once: Rows of a batch.
        mapping: See `judge_batch`.
        prefix: See `judge_batch`.

    Raises:
        InvalidValueError: A setting is out of range or unknown; more workers than calls at once, or
            than there is room for; or a store among the settings.
        MissingDependencyError: Ray, or the judge's package, is not installed.
        JudgeError: No call can succeed (a wrong key); raised when it runs. What was written stays.
    """
    return _map_by_actors(
        ds,
        _Judge,
        (mapping, prefix),
        settings=settings,
        workers=workers,
        batch_format="pyarrow",
        batch_size=rows_at_once,
    )


@dataclass(slots=True)
class _Judge:
    """An actor that judges batches; it is made once, in the actor's process."""

    settings: ScorerLike
    mapping: FieldNames | None
    prefix: str

    def __call__(self, batch: Batch) -> Batch:
        return judge_batch(
            batch, settings=self.settings, mapping=self.mapping, prefix=self.prefix
        )


def judge_files(
    source: str | Sequence[str],
    out: str,
    settings: ScorerLike,
    *,
    address: str | None = None,
    workers: int | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    mapping: FieldNames | None = None,
) -> Report:
    """Judge files on Ray, and write their rows with the results into a folder of jsonl parts.

    Parts appear while it runs, in any order. The same call again continues a run that was killed:
    parts that exist are not judged again, and a worker that dies is replaced. A file is known by its
    content: under another name, or named twice, it is not judged again. Further files among the
    sources are added.

    Args:
        source: jsonl, json, csv or parquet files, on a disk that every node has.
        out: A folder on such a disk. For object stores, use Ray's readers and `judge_dataset`.
        settings: See `judge_batch`.
        address: See `tcva_adapters.scale.cluster.join_ray`.
        workers: See `judge_dataset`.
        rows_at_once: Rows of a part.
        mapping: See `judge_batch`.

    Returns:
        A report on the folder: the table ``rows``, with a column for each reason for no score.

    Raises:
        InvalidValueError: As for `judge_dataset`; another command is at work
            on the folder; it holds something else, or what was judged by other settings or from
            files that have changed since or are not among the sources.
        FileNotFoundError: A source is not there.
        MissingDependencyError: Ray, or the judge's package, is not installed.
        JudgeError: No call can succeed. The parts that were written stay.
    """
    size = check(Count, "rows_at_once", rows_at_once)
    folder = usable_path(out).resolve()
    names = [source] if isinstance(source, str) else source
    paths = [str(usable_path(name).resolve()) for name in names]
    columns = dict(mapping or {})
    make_folder(folder)
    with open_alone(folder / "_lock", out):
        sources = {_digest(path): path for path in paths}
        _claim(
            folder,
            {
                "mapping": columns,
                "rows": size,
                "scorer": scorer_of(settings).fingerprint,
            },
            [*sources],
        )
        ray = join_ray(address)
        context = ray.data.DataContext.get_current().copy()
        context.enable_progress_bars = False
        context.target_max_block_size = 1  # a chunk is a block: it goes to any worker
        with ray.data.DataContext.current(context):
            files = ray.data.from_items(
                [{"path": p, "name": name[:12]} for name, p in sources.items()]
            )
            chunks = files.map_batches(
                _chunks,
                batch_size=1,
                fn_args=[size],
                num_cpus=0.5,
            )
            parts = _map_by_actors(
                chunks,
                _Writer,
                (folder, columns),
                settings=settings,
                workers=workers,
                batch_format="numpy",
                batch_size=1,
            )
            sums: Counter[str] = Counter()
            for row in parts.iter_rows():
                figures = json.loads(row["figures"])
                if "fatal" in figures:
                    raise JudgeError(figures["fatal"], fatal=True)
                sums.update(figures)
    return _report(sums, out)


def _chunks(batch: Record, size: int) -> Iterator[Record]:
    """Yield the rows of a file in chunks, as JSON, with the name of their part."""
    rows = read_records(batch["path"][0])
    chunks = iter(lambda: [[row.record, row.error] for row in islice(rows, size)], [])
    for number, some in enumerate(chunks):
        yield {
            "part": [f"{batch['name'][0]}-{number:06d}.jsonl"],
            "rows": [json.dumps(some, default=str)],
        }


def _digest(path: str) -> str:
    """Return the digest of a file's content, whatever its name."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _claim(folder: Path, settings: Record, sources: Sequence[str]) -> None:
    """Take a folder for this run: a new one, or that of an equal run, perhaps of fewer files.

    Raises:
        InvalidValueError: See `judge_files`.
    """
    # Readers of folders leave out what begins with an underscore.
    manifest = folder / "_tcva.json"
    if manifest.exists():
        known = json.loads(manifest.read_bytes())
        if known["settings"] != settings or not {*known["sources"]} <= {*sources}:
            raise InvalidValueError(
                f"{folder} contains results of other settings, or of files that have changed since or "
                "are not named now; name all files that were judged into it, use another folder, or "
                "empty it"
            )
    elif {*folder.iterdir()} != {folder / "_lock"}:
        raise InvalidValueError(
            f"{folder} is not empty and was not written by such a run; use a new folder"
        )
    with replacing(manifest) as stream:
        stream.write(
            json.dumps({"settings": settings, "sources": sources}, indent=2).encode()
        )


@dataclass(slots=True)
class _Writer:
    """An actor that judges chunks and writes them as parts."""

    settings: ScorerLike
    folder: Path
    mapping: FieldNames

    def __call__(self, batch: Record) -> Record:
        """Judge and write a part if it does not exist yet, and return its figures."""
        part = self.folder / batch["part"][0]
        is_new = not part.exists()
        if is_new:
            try:
                self._write(part, json.loads(batch["rows"][0]))
            except JudgeError as error:
                return {"figures": [json.dumps({"fatal": str(error)})]}
        rows = [json.loads(line) for line in part.read_bytes().splitlines()]
        figures = Counter(rows=len(rows), new=len(rows) if is_new else 0)
        for row in rows:
            score = row[f"{PREFIX}score"]
            if score is None:
                figures[row[f"{PREFIX}unscored"] or "error"] += 1
            else:
                figures["scored"] += 1
                figures["sum"] += score
            if row[f"{PREFIX}passed"]:
                figures["passed"] += 1
        return {"figures": [json.dumps(figures)]}

    def _write(self, part: Path, chunk: Sequence[tuple[Record | None, str]]) -> None:
        rows = [
            {f"{PREFIX}error": error} if error else record or {}
            for record, error in chunk
        ]
        judged = judge_rows(
            rows,
            scorer_of(self.settings),
            self.mapping,
            PREFIX,
        )
        with replacing(part) as stream:
            for row, columns in zip(rows, judged, strict=True):
                added = {PREFIX + name: columns.get(name) for name in ADDED}
                stream.write(
                    json.dumps(plain({**row, **added}), ensure_ascii=False).encode()
                    + b"\n"
                )


def _report(sums: Counter[str], out: str) -> Report:
    total = sums.pop("sum", 0)
    figures: Record = {
        name: sums.pop(name, 0) for name in ("rows", "new", "scored", "passed")
    }
    scored = figures["scored"]
    figures["mean"] = total / scored if scored else None
    figures |= sums.most_common()  # the reasons for no score
    sentence = (
        f"{figures['passed']} of {counted(scored, 'scored row')} pass, "
        f"mean {cell(figures['mean'], 'score')}; "
        f"{counted(figures['rows'], 'row')} in total, {figures['new']} new"
    )
    columns = [Column(name, "score" if name == "mean" else "int") for name in figures]
    return Report(
        sentence, [Table("rows", columns, [figures])], settings={"folder": out}
    )


def _map_by_actors(
    ds: Any,
    judge: type[_Judge | _Writer],
    arguments: tuple[object, ...],
    *,
    settings: ScorerLike,
    workers: int | None,
    batch_format: str,
    batch_size: int,
) -> Any:
    """Map a dataset by actors that hold a judge, and divide the limits of the run among them.

    Args:
        ds: The dataset.
        judge: The class of the actors.
        arguments: Arguments of its constructor, after the settings.
        settings: The settings of the scorer, for all actors together.
        workers: The number of actors; None for as many as there is room for.
        batch_format: See ``map_batches``.
        batch_size: See ``map_batches``.

    Raises:
        InvalidValueError: See `judge_dataset`.
    """
    ray = ray_module()
    scorer = scorer_of(settings)
    if scorer.store is not None:
        raise InvalidValueError(
            "store cannot be used on Ray, as nodes do not share SQLite files; leave it out"
        )
    room = int(ray.cluster_resources().get("CPU", 0)) - 1  # one reads
    if workers is None:
        nodes = sum(node["Alive"] for node in ray.nodes())
        workers = room if scorer.is_local else min(room, scorer.max_concurrency, nodes)
    if check(Count, "workers", workers) > room:
        raise InvalidValueError(
            f"workers must be at most {room} (a CPU each, one for reading), got {workers}"
        )
    return ds.map_batches(
        judge,
        fn_constructor_args=[worker_settings(settings, workers), *arguments],
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers),
        batch_format=batch_format,
        batch_size=batch_size,
    )


def ray_module() -> Any:
    """Import Ray without its telemetry.

    Raises:
        MissingDependencyError: It is not installed, or too old.
    """
    os.environ.setdefault(
        "RAY_USAGE_STATS_ENABLED", NO_TELEMETRY["RAY_USAGE_STATS_ENABLED"]
    )
    check_installed(REQUIREMENTS["ray"])
    import ray  # noqa: PLC0415  # an extra, and looked for in the line above

    return ray


def join_ray(address: str | None) -> Any:
    """Join Ray as it is running, at an address, or started here; the process stays joined.

    Args:
        address: ``auto`` or ``host:port`` joins a cluster, ``local`` starts one on this machine;
            None takes RAY_ADDRESS, else starts one. What this process has joined already counts.

    Raises:
        ConnectionError: There is no cluster there.
        MissingDependencyError: Ray is not installed.
    """
    ray = ray_module()
    if not ray.is_initialized():
        address = address or os.environ.get("RAY_ADDRESS") or "local"
        is_own = address == "local"
        ray.init(
            address,
            logging_level=logging.WARNING,
            log_to_driver=False,
            # Ray's CPUs only count places. One more than the machine has lets all judge
            # while one reads.
            num_cpus=(os.cpu_count() or 1) + 1 if is_own else None,
            include_dashboard=False if is_own else None,
        )
        logging.getLogger("ray.data").setLevel(logging.WARNING)
    return ray
