"""A folder of parts as one file of judgements, for what looks at such files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.samples.records import Format
from tcva_adapters.scale.batch import PREFIX
from tcva_adapters.scale.engine import joined, ray_module

_UNUSED: Final = frozenset({"evidence", "reason", "passage", "usage", "raw_reply", "scoring"})
"""Entries that make up most of a result, and that no figure is made of."""


@contextmanager
def judged_lines(
    folder: str, *, address: str | None = None, prefix: str = PREFIX
) -> Iterator[Path]:
    """A file of judgements, as ``tcva evaluate --out`` writes it, while the block runs.

    The parts are read on Ray, and of each result comes what scores are made of: verdicts,
    probabilities, what became of quotes, id and metadata. Texts of claims, quotes and reasons stay;
    numbers in place of the claims' say which judges of a panel looked at the same ones.

    Args:
        folder: That `judge_files` wrote.
        address: See `tcva_adapters.scale.engine.joined`.
        prefix: Of its columns.

    Raises:
        UnreadableInputError: It is no such folder, or has no judgement of a claim.
        InvalidValueError: There is no cluster.
        MissingDependencyError: Ray is not installed.
    """
    with joined(address), TemporaryDirectory(prefix="tcva-") as here:
        ray = ray_module()
        # Arrow comes with Ray.
        from tcva_adapters.scale.folder import Folder  # noqa: PLC0415  # see above
        from tcva_adapters.scale.rows import read_rows  # noqa: PLC0415  # as above

        parts = Folder(folder, "jsonl")
        kind: Format | None = parts.written_as()
        if kind is None:
            msg = f"{folder} is no folder that 'tcva evaluate --ray' wrote; name one"
            raise UnreadableInputError(msg)
        context = ray.data.DataContext.get_current().copy()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        column = f"{prefix}result"
        with ray.data.DataContext.current(context):
            ds = read_rows(parts.paths(), kind, f"{prefix}unread", {}, parts.files)
            ds = ds.map_batches(
                slimmed, batch_format="pyarrow", fn_kwargs={"column": column}, num_cpus=1
            )
            file = Path(here, "judged.jsonl")
            with file.open("w", encoding="utf-8") as stream:
                for batch in ds.iter_batches(batch_size=None, batch_format="pyarrow"):
                    stream.writelines(f"{line}\n" for line in batch.column(column).to_pylist())
        yield file


def slimmed(batch: Any, *, column: str) -> Any:
    """Of an Arrow table the results alone, without what no figure is made of."""
    import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415  # the batch is one of its tables

    results = (json.loads(text) for text in batch.column(column).to_pylist() if text)
    lines = [json.dumps(_slim(result, {}), ensure_ascii=False) for result in results]
    return pa.table({column: pa.array(lines, type=pa.string())})


def _slim(result: Any, texts: dict[str, str]) -> Any:
    """A result, its members and panel without their texts; metadata is the user's and stays.

    Args:
        result: As JSON values.
        texts: What stands for each text of a claim; more are added.
    """
    found = {name: value for name, value in result.items() if name not in _UNUSED}
    for name in ("members", "panel"):
        found[name] = [_slim(each, texts) for each in found.get(name) or ()]
    found["claims"] = [
        {
            **{n: value for n, value in claim.items() if n not in _UNUSED},
            "claim": texts.setdefault(claim["claim"], str(len(texts))),
        }
        for claim in found.get("claims") or ()
    ]
    if found.get("unscored"):
        found["unscored"] = {"reason": found["unscored"]["reason"], "detail": ""}
    return found
