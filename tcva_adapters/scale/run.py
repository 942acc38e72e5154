"""Files of samples, judged on Ray into a folder of parts; a second run goes on from what is there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.printing import Part, Tabular, counted, figure
from tcva_adapters.samples.output import usable_path
from tcva_adapters.samples.records import Format, format_of
from tcva_adapters.scale.batch import PREFIX
from tcva_adapters.scale.dataset import ROWS_AT_ONCE, judge_dataset
from tcva_adapters.scale.engine import joined, ray_module
from tcva_adapters.scale.settings import ScorerLike, scorer_of

if TYPE_CHECKING:
    from tcva_adapters.scale.folder import Folder

_BLOCK: Final = 1 << 20
"""Bytes of a block: small enough that a few thousand rows keep several workers busy."""

_FILTER_MEMORY: Final = 64 << 20
"""Bytes that Ray reserves for an actor that skips rows; it takes more where there are more."""


@dataclass(frozen=True, slots=True, repr=False)
class Judged(Tabular):
    """What is in a folder of parts.

    Attributes:
        folder: The folder.
        rows: How many rows there are.
        scored: How many of them have a score.
        mean_score: Of those; None where there are none.
        passed: How many reach the threshold.
        unscored: How many have no score, by reason; rows that are no samples are ``error``.
        new: Rows that this run added.
        written_as: The format of the parts.
    """

    folder: str
    rows: int
    scored: int
    mean_score: float | None
    passed: int
    unscored: Mapping[str, int]
    new: int
    written_as: str

    @property
    def sentence(self) -> str:
        """How many rows pass, and the mean."""
        return (
            f"{self.passed} of {counted(self.scored, 'scored row')} pass, mean "
            f"{figure(self.mean_score)}; {counted(self.rows, 'row')} in all, {self.new} of them new"
        )

    def records(self) -> list[dict[str, Any]]:
        """The figures as one row."""
        return [asdict(self)]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"sentence": self.sentence, **asdict(self)}

    def parts(self) -> Iterator[Part]:
        """Why rows have no score."""
        if self.unscored:
            yield "without a score: " + ", ".join(f"{n} {why}" for why, n in self.unscored.items())


def judge_files(
    source: str | Sequence[str],
    out: str,
    settings: ScorerLike,
    *,
    address: str | None = None,
    mapping: Mapping[str, str] | None = None,
    input_format: Format | None = None,
    output_format: Format | None = None,
    overwrite: bool = False,
    prefix: str = PREFIX,
    progress: bool = False,
    rows_at_once: int = ROWS_AT_ONCE,
    **how: Any,
) -> Judged:
    """Judge files on Ray, and write the rows with what was found into a folder of parts.

    Parts appear while it runs, in no certain order. With each, Ray notes which rows are in it, and
    a part that a killed worker or a killed run left half done is taken back. So the same call goes on
    where it was: a row is judged again only if its part was not finished. Further files among the
    sources are added; a file that has changed since, or other settings, are refused.

    Args:
        source: jsonl, csv or parquet files or a folder of them, all of one format, where every node
            finds them.
        out: A folder, likewise.
        settings: See `judge_batch`.
        address: See `tcva_adapters.scale.engine.joined`.
        mapping: See `judge_batch`.
        input_format: By default by the name of the first file.
        output_format: parquet, jsonl or csv; by default that of the input.
        overwrite: Empty a folder that an earlier run with other settings or files wrote.
        prefix: See `judge_batch`.
        progress: Show Ray's bars.
        rows_at_once: See `judge_dataset`: also the rows of a part.
        how: Further arguments of `judge_dataset`.

    Raises:
        InvalidValueError: As for `judge_dataset`; there is no cluster; the formats or the folder
            cannot be used; or it was written by other settings.
        UnreadableInputError: A source is not there.
        MissingDependencyError: Ray, or the judge's package, is not installed.
        JudgeError: No call can succeed. The parts that were written stay.
    """
    paths = [_whole_path(each) for each in ([source] if isinstance(source, str) else source)]
    if not paths:
        msg = "there is no source; name a file, or a folder of files"
        raise InvalidValueError(msg)
    kind = format_of(paths[0], input_format)
    written_as = _writable(output_format or kind)
    scorer = scorer_of(settings)
    with joined(address):
        ray = ray_module()
        # Arrow comes with Ray.
        from tcva_adapters.scale.folder import Folder  # noqa: PLC0415  # see above
        from tcva_adapters.scale.rows import LIGHT, ROW_HASH, Parts, read_rows  # noqa: PLC0415  # as above

        folder = Folder(out, written_as)
        own = {"fingerprint": scorer.fingerprint, "prefix": prefix, "mapping": dict(mapping or {})}
        folder.claim(own, paths, overwrite=overwrite)
        before = folder.rows()
        context = ray.data.DataContext.get_current().copy()
        context.enable_progress_bars = progress
        context.target_max_block_size = _BLOCK
        context.checkpoint_config = folder.checkpoint(ROW_HASH, _FILTER_MEMORY)
        with ray.data.DataContext.current(context):
            ds = read_rows(paths, kind, f"{prefix}error", mapping or {})
            how |= {"mapping": mapping, "prefix": prefix, "rows_at_once": rows_at_once}
            judged = judge_dataset(ds, settings, apart=[ROW_HASH], **how)
            try:
                parts = Parts(folder.path, folder.kind, folder.files)
                judged.write_datasink(parts, ray_remote_args=LIGHT)
            except ray.exceptions.RayError as error:
                raise _said(error) from error
        return _summed_up(folder, prefix, before)


def _whole_path(address: str) -> str:
    """A path as every process and every run means it; addresses are such already."""
    return address if "://" in address else str(usable_path(address).resolve())


def _writable(kind: Format) -> Format:
    if kind == "json":
        msg = "a json file is one list and cannot be read or written in parts; take jsonl"
        raise InvalidValueError(msg)
    return kind


_OURS: Final = re.compile(
    r"^tcva_adapters\.errors\.(JudgeError|InvalidValueError): (.*)$", re.MULTILINE
)


def _said(error: Exception) -> Exception:
    """The error of ours that a worker raised, or Ray's own, which hands causes on as text alone."""
    found = _OURS.search(str(error))
    if found is None:
        return error
    kind, text = found.groups()
    return JudgeError(text, fatal=True) if kind == "JudgeError" else InvalidValueError(text)


def _summed_up(folder: Folder, prefix: str, before: int) -> Judged:
    rows = scored = passed = 0
    total = 0.0
    reasons: Counter[str] = Counter()
    for columns in folder.columns([f"{prefix}{n}" for n in ("score", "passed", "unscored")]):
        scores, passes, why = columns
        rows += len(scores)
        scored += sum(score is not None for score in scores)
        total += sum(score for score in scores if score is not None)
        passed += sum(flag is True for flag in passes)
        reasons.update(
            reason or "error" for score, reason in zip(scores, why, strict=True) if score is None
        )
    mean = total / scored if scored else None
    return Judged(
        folder=folder.path,
        rows=rows,
        scored=scored,
        mean_score=mean,
        passed=passed,
        unscored=dict(reasons.most_common()),
        new=rows - before,
        written_as=folder.kind,
    )
