"""The paper's tables from a folder of its stored verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from tcva_adapters.compare.fused import corrected
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.paper.data import read_folder
from tcva_adapters.compare.paper.reproduction import RESAMPLES, Reproduction, reproduce_set
from tcva_adapters.compare.paper.text import FOOTNOTES, match, tables, title
from tcva_adapters.printing import Part, Tabular, counted


@dataclass(frozen=True)
class PaperReport(Tabular):
    """The tables of several sets.

    Attributes:
        sets: By name.
    """

    sets: tuple[Reproduction, ...]

    @property
    def sentence(self) -> str:
        """How many figures equal the paper's; for other data, where rho is highest."""
        found = [agreed for agreed in map(match, self.sets) if agreed is not None]
        if found:
            equal, of = sum(m.equal for m in found), sum(m.figures for m in found)
            sets = counted(len(found), "set")
            return f"{equal} of {of} figures of Tables 5, 6, 7 and 9 equal the paper's, in {sets}"
        return f"The paper has none of {', '.join(one.name for one in self.sets)} to compare with"

    def records(self) -> list[dict[str, Any]]:
        """The rows of Tables 5 and 6 of every set."""
        return [
            {"set": one.name, "method": name, **jsonable(row)}
            for one in self.sets
            for name, row in one.table5.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """The tables of each set as JSON has them; None where a figure is not defined."""
        return {"sentence": self.sentence, "sets": {one.name: one.to_dict() for one in self.sets}}

    def notes(self) -> Iterator[str]:
        """What has to be known about each set, its T first."""
        for one in self.sets:
            yield title(one)
            yield from (f"{one.name}: {note}" for note in one.notes)

    def brief(self) -> Iterator[Part]:
        """The first table of each set, and how many of its figures are the paper's."""
        for one in self.sets:
            yield from self._set(one, most=1)
        yield "more (Tables 7 to 9, fused scores, footnotes): --all, or show(full=True)"

    def parts(self) -> Iterator[Part]:
        """What ``tcva reproduce --all`` prints."""
        for one in self.sets:
            yield from self._set(one)
        yield from (f"{i}. {footnote}" for i, footnote in enumerate(FOOTNOTES, start=1))

    def _set(self, one: Reproduction, most: int | None = None) -> Iterator[Part]:
        yield title(one)
        for heading, table in islice(tables(one).items(), most):
            yield f"\n{heading}"
            yield table
        agreed = match(one)
        yield "" if agreed is None else f"\n{agreed.text}"
        yield from (f"note: {note}" for note in one.notes)
        yield ""


def reproduce(
    folder: str | Path,
    *,
    n_boot: int = RESAMPLES,
    seed: int = 0,
    best: bool = False,
    count_empty: bool = False,
    lexical: bool = True,
) -> PaperReport:
    """Tables 5 to 9 of the TCVA paper beside its own digits, and fused scores. No call of a model.

    Args:
        folder: Of ``NAME_tcva_scores.json``, ``NAME_prepared.json`` and so on; see `read_folder`.
        n_boot: Resamples for each interval.
        seed: Of the resampling; the same seed gives the same figures.
        best: Pick each set's T afterwards, for the highest rho, as the paper did for its own sets.
        count_empty: Count a sample without verdicts with the score stored for it (0), in Tables 5,
            6 and 8, as the paper does for USR.
        lexical: Judge the samples with the embedded lexical judge too, for fused scores.

    Raises:
        UnreadableInputError: As for `read_folder`.
        InvalidValueError: ``n_boot`` is too small.
    """
    options: dict[str, Any] = {"n_boot": n_boot, "seed": seed, "best": best}
    options |= {"count_empty": count_empty, "lexical": lexical}
    return PaperReport(_corrected([reproduce_set(one, **options) for one in read_folder(folder)]))


def _corrected(sets: Sequence[Reproduction]) -> tuple[Reproduction, ...]:
    """With the gains of fused scores corrected over the combinations of all sets together."""
    rows = corrected(
        {(number, name): row for number, one in enumerate(sets) for name, row in one.fused.items()}
    )
    return tuple(
        replace(one, fused={name: rows[number, name] for name in one.fused})
        for number, one in enumerate(sets)
    )
