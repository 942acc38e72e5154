"""Scores that were made elsewhere, given to the samples they are about instead of made again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tcva_adapters.compare.existing.deepeval import is_deepeval, read_run
from tcva_adapters.compare.existing.records import (
    SCALE,
    Existing,
    Found,
    Reading,
    format_of,
    load_json,
)
from tcva_adapters.compare.existing.tables import read_table
from tcva_adapters.compare.rows import Row
from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.samples.sample import Sample

_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A row that belongs to none of the samples.

    Attributes:
        line: Its line (csv, jsonl), row (parquet) or test case, from 1.
        name: Its id, or the start of its answer.
        why: In a few words.
    """

    line: int
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ImportedScores:
    """Imported scores on our samples.

    Attributes:
        source: Where they come from.
        kind: ``ragas``, ``deepeval``, ``langsmith``, ``scores`` (a column per method) or ``tidy``.
        methods: Names, in the order of the file.
        rows: One per method and matched sample, those without a score included.
        human: Human ratings by sample id, where the file has them.
        thresholds: By method, where the file has them (DeepEval).
        unmatched: Rows that belong to none of the samples.
        missing: Ids of samples that no row is about.
        ignored: Columns that are neither scores nor known; empty for DeepEval.
        reasons: What methods said of their scores, by sample and method (DeepEval).
    """

    source: str
    kind: str
    methods: tuple[str, ...]
    rows: tuple[Row, ...]
    human: Mapping[str, float]
    thresholds: Mapping[str, float]
    unmatched: tuple[Unmatched, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]
    reasons: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What was imported, and what was not, in a sentence or two."""
        matched = len({row.sample for row in self.rows})
        text = (
            f"{self.source} ({self.kind}): {', '.join(self.methods)} on {matched} of "
            f"{matched + len(self.missing)} samples"
        )
        if self.unmatched:
            first = "; ".join(f"{u.line}: {u.name}: {u.why}" for u in self.unmatched[:_NAMED])
            more = "; ..." if len(self.unmatched) > _NAMED else ""
            count = len(self.unmatched)
            rows = "row matches" if count == 1 else "rows match"
            text += f"; {count} {rows} no sample ({first}{more})"
        if self.ignored:
            text += f"; columns left out: {', '.join(self.ignored)}"
        return text


def import_scores(
    spec: str,
    samples: Sequence[Sample],
    ids: Sequence[str] | None = None,
    *,
    human: str | None = None,
    missing: float | None = None,
    scale: tuple[float, float] = SCALE,
    repeated: Collection[str] = (),
) -> ImportedScores:
    """Read existing results and match them to samples.

    Args:
        spec: ``PATH``, ``NAME=PATH``, or either with ``::COLUMN,COLUMN`` behind it to say which
            columns are methods. NAME replaces the name of a single method and goes before the
            names of several.
        samples: Those of the comparison.
        ids: Their names there; by default their own ids, ``row-N`` for the N-th without one.
        human: The column with the human ratings; by default ``human`` or ``human_score``.
        missing: A number that stands for no score, e.g. -1.
        scale: The ends of the file's scale; scores are mapped from there to [0, 1].
        repeated: Ids that several samples had before they were numbered: they tell no sample.

    Raises:
        UnreadableInputError: The file cannot be read, holds a score outside the scale, or a row
            could belong to several samples.
        InvalidValueError: A spec without a path, or ids that do not fit.
        MissingDependencyError: A parquet file without pyarrow.
    """
    name, path, columns = parse_spec(spec)
    reading = Reading(methods=columns, human=human, missing=missing, scale=scale)
    existing = read_existing(path, reading)
    imported = match(existing, samples, ids, repeated)
    return imported if name is None else _renamed(imported, name)


def read_existing(path: str | Path, reading: Reading | None = None) -> Existing:
    """Read results of whatever kind the content shows.

    Raises:
        UnreadableInputError: The file is missing, damaged, or none of the kinds.
        MissingDependencyError: A parquet file without pyarrow.
    """
    reading = reading or Reading()
    kind = format_of(path)
    if kind == "json":
        content = load_json(path)
        if is_deepeval(content):
            return read_run(path, content, reading)
    return read_table(path, kind, reading)


def parse_spec(spec: str) -> tuple[str | None, str, tuple[str, ...] | None]:
    """The parts of ``[NAME=]PATH[::COLUMN,...]``; an existing path with an = in it is a path.

    Raises:
        InvalidValueError: No path, or an empty name.

    >>> parse_spec("ours=scores.csv::a,b")
    ('ours', 'scores.csv', ('a', 'b'))
    """
    rest, _, listed = spec.partition("::")
    columns = tuple(c.strip() for c in listed.split(",") if c.strip()) or None
    name, equals, path = rest.partition("=")
    if not equals or Path(rest).expanduser().exists():
        name, path = "", rest
    elif not name.strip():
        msg = f"--results {spec!r} has no name before the =; write NAME=PATH or PATH"
        raise InvalidValueError(msg)
    if not path.strip():
        msg = f"--results {spec!r} names no file; write NAME=PATH or PATH"
        raise InvalidValueError(msg)
    return name.strip() or None, path, columns


def _renamed(imported: ImportedScores, name: str) -> ImportedScores:
    several = len(imported.methods) > 1
    new = {method: f"{name} {method}" if several else name for method in imported.methods}
    return replace(
        imported,
        methods=tuple(new.values()),
        rows=tuple(replace(row, method=new[row.method]) for row in imported.rows),
        thresholds={new[method]: value for method, value in imported.thresholds.items()},
        reasons={
            sample: {new[method]: reason for method, reason in said.items()}
            for sample, said in imported.reasons.items()
        },
    )


def match(
    existing: Existing,
    samples: Sequence[Sample],
    ids: Sequence[str] | None = None,
    repeated: Collection[str] = (),
) -> ImportedScores:
    """Give the rows of a file to the samples they are about.

    A row with a known id belongs to that sample, unless its answer is another one: then it comes
    from another run, and belongs to none. A row without one belongs to the sample with the same
    answer and, where both have them, the same question and contexts; runs of white space count as
    one blank.

    Args:
        existing: What was read.
        samples: Those of the comparison.
        ids: Their names there; by default their own ids, ``row-N`` for the N-th without one.
        repeated: Ids that several samples had before they were numbered.

    Raises:
        UnreadableInputError: A row fits several samples, two rows score one sample by the same
            method, or no row fits any sample.
        InvalidValueError: Ids that repeat, or as many as there are samples not.
    """
    names = _names(samples, ids)
    by_id = dict(zip(names, samples, strict=True))
    by_answer: dict[str, list[str]] = defaultdict(list)
    for name, sample in by_id.items():
        if sample.response is not None:
            by_answer[_flat(sample.response)].append(name)
    rows: list[Row] = []
    human: dict[str, float] = {}
    reasons: dict[str, Mapping[str, str]] = {}
    unmatched = list[Unmatched]()
    taken: dict[tuple[str, str], int] = {}
    for found in existing.records:
        if found.id in repeated:
            msg = (
                f"{existing.source}, {found.line}: several samples have the id {found.id!r}, so it "
                "cannot tell which of them is meant; give every sample an id of its own, in both files"
            )
            raise UnreadableInputError(msg, line=found.line)
        owner, why = _sample_of(found, existing.source, by_id, by_answer)
        if owner is None:
            unmatched.append(Unmatched(found.line, found.name, why))
            continue
        for row in found.rows:
            line = taken.setdefault((owner, row.method), found.line)
            if line != found.line:
                msg = (
                    f"{existing.source}, {line} and {found.line}: both score sample {owner!r} by "
                    f"{row.method!r}; leave one out, or give the rows an id column"
                )
                raise UnreadableInputError(msg, line=found.line)
            rows.append(replace(row, sample=owner))
        reasons[owner] = {**reasons.get(owner, {}), **found.reasons}
        if found.human is not None:
            human[owner] = found.human
    if not rows and not human:
        first = f"; the first, {unmatched[0].line}: {unmatched[0].why}" if unmatched else ""
        msg = (
            f"{existing.source}: none of its {len(existing.records)} rows matches a sample{first}; "
            "give the rows an id column with the samples' ids, or their question and answer"
        )
        raise UnreadableInputError(msg)
    seen = {row.sample for row in rows}
    return ImportedScores(
        source=existing.source,
        kind=existing.kind,
        methods=existing.methods,
        rows=tuple(rows),
        human=human,
        thresholds=existing.thresholds,
        unmatched=tuple(unmatched),
        missing=tuple(name for name in names if name not in seen),
        ignored=existing.ignored,
        reasons=reasons,
    )


def _names(samples: Sequence[Sample], ids: Sequence[str] | None) -> tuple[str, ...]:
    own = (s.id or f"row-{place}" for place, s in enumerate(samples, start=1))
    names = tuple(own if ids is None else ids)
    if len(names) != len(samples):
        msg = f"{len(names)} ids for {len(samples)} samples; give one each"
        raise InvalidValueError(msg)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"two samples have the id {twice!r}; pass ids that tell them apart"
        raise InvalidValueError(msg)
    return names


def _sample_of(
    found: Found,
    source: str,
    by_id: Mapping[str, Sample],
    by_answer: Mapping[str, Sequence[str]],
) -> tuple[str | None, str]:
    """The name of the sample that a row is about, or why there is none."""
    if found.id is not None and found.id in by_id:
        ours = by_id[found.id].response
        if found.response is None or ours is None or _flat(found.response) == _flat(ours):
            return found.id, ""
        return None, "its id is known, but its answer is another one"
    if found.response is None:
        unknown = "no answer to match by" if found.id is None else "no sample has this id"
        return None, found.unusable or unknown
    fitting = by_answer.get(_flat(found.response), ())
    if not fitting:
        return None, "no sample has this answer"
    same = [name for name in fitting if _same_text(found.input, by_id[name].input)]
    if not same:
        return None, "a sample has this answer, but to another question"
    if len(same) > 1:
        same = [n for n in same if _same_contexts(found.contexts, by_id[n].contexts)] or same
    if len(same) > 1:
        msg = (
            f"{source}, {found.line}: {found.name!r} fits the samples {', '.join(same[:_NAMED])}"
            f"{', ...' if len(same) > _NAMED else ''} alike; give the rows an id column with the "
            "samples' ids (in DeepEval: the name of the test case)"
        )
        raise UnreadableInputError(msg, line=found.line)
    return same[0], ""


def _flat(text: str) -> str:
    return " ".join(text.split())


def _same_text(found: str | None, ours: str | None) -> bool:
    """Where one of the two has no such text, it cannot tell samples apart."""
    return not found or not ours or _flat(found) == _flat(ours)


def _same_contexts(found: Sequence[str] | None, ours: Sequence[str] | None) -> bool:
    if found is None or ours is None:
        return True
    return [*map(_flat, found)] == [*map(_flat, ours)]
