"""``--ray``: files judged on a cluster, into a folder of parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcva_adapters.cli.output import STDOUT, interruptible, print_report
from tcva_adapters.console import note
from tcva_adapters.errors import InvalidSampleError, InvalidValueError


def judge_on_ray(
    address: str,
    file: str,
    out: str | None,
    settings: Mapping[str, Any],
    refused: Mapping[str, Any],
    mapping: Mapping[str, str],
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Judge files on Ray, and print what is in the folder of parts.

    Args:
        address: Of the cluster, ``auto`` or ``local``.
        file: What is judged.
        out: The folder.
        settings: See `tcva_adapters.scale.settings.scorer_of`.
        refused: Options, with what was given, that are for results in this process alone.
        mapping: Your names of fields.
        overwrite: Empty a folder that other settings wrote.
        as_json: Print JSON.

    Raises:
        InvalidValueError: No folder, or an option that Ray has no place for.
        InvalidSampleError: No row has a score.
    """
    from tcva_adapters.scale.run import judge_files  # noqa: PLC0415  # Ray is an extra

    for name, value in refused.items():
        if value:
            msg = f"{name} looks at results in this process; with --ray leave it out"
            raise InvalidValueError(msg)
    if out is None or out == STDOUT:
        msg = "--ray writes a folder of parts; name it with --out"
        raise InvalidValueError(msg)
    with interruptible("the same command goes on from the parts that are written"):
        found = judge_files(
            file,
            out,
            settings,
            address=None if address == "here" else address,
            mapping=mapping,
            overwrite=overwrite,
            progress=True,
        )
    print_report(found, as_json=as_json)
    note(f"written: {found.folder}: parts in {found.written_as}")
    if found.rows and not found.scored:
        msg = f"no row has a score: {dict(found.unscored)}"
        raise InvalidSampleError(msg)
