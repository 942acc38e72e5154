"""One set of the paper's data: all of its tables, and what has to be known about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from tcva_adapters.compare.fused import FusedRow
from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.compare.paper.data import PaperSet
from tcva_adapters.compare.paper.digits import PAPER, PaperDigits
from tcva_adapters.compare.paper.fused import fused, lexical_scores
from tcva_adapters.compare.paper.tables import (
    Agreement,
    Confidence,
    paper_scores,
    table5,
    table7,
    table8,
    table9,
    unrounded,
)
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.stats.bootstrap import PairedDifference
from tcva_adapters.stats.correlation import agreement

RESAMPLES: Final = 10_000
"""As many as the paper draws for Table 8."""

_PAIRED: Final = ("delta", "p_paper", "p_two_sided", "low", "high")

Chosen = Literal["paper", "best", "default"]


@dataclass(frozen=True)
class Reproduction:
    """One set's tables. A row whose file is missing is not there; ``notes`` says so.

    Attributes:
        data: The set.
        temperature: The T of Tables 6 to 9.
        chosen: Whether that T is the ``paper``'s, the ``best`` one picked afterwards, or the
            ``default`` for a set that the paper does not have.
        table5: Rows ``T=0.2`` and so on, ``ragas``, ``deepeval``; Table 6 is their tau and MAE.
        table7: Rho by weight scheme.
        table8: Intervals of ``tcva``, ``ragas``, ``deepeval``.
        paired: Table 8's test, TCVA against RAGAS on the samples that both have scored; None
            without both methods.
        table9: Rho of configurations A to D.
        unrounded: Rho by temperature, from scores as they are.
        fused: Rows ``tcva+ragas``, ``tcva+lexical``, ``tcva+ragas+lexical``; `reproduce` corrects
            their p for the combinations of all sets.
        notes: What was missing, and what has to be known about the figures.
    """

    data: PaperSet = field(compare=False, repr=False)
    temperature: float
    chosen: Chosen
    table5: dict[str, Agreement]
    table7: dict[str, float]
    table8: dict[str, Confidence]
    paired: PairedDifference | None
    table9: dict[str, float]
    unrounded: dict[str, float]
    fused: dict[str, FusedRow]
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The set's."""
        return self.data.name

    @property
    def paper(self) -> PaperDigits | None:
        """What the paper prints of it at this temperature."""
        paper = PAPER.get(self.name)
        return paper if paper and paper.temperature == self.temperature else None

    def to_dict(self) -> dict[str, Any]:
        """The tables as JSON has them; None where a figure is not defined."""
        tables = ("table5", "table7", "table8", "table9", "unrounded", "fused")
        plain: dict[str, Any] = jsonable({name: getattr(self, name) for name in tables})
        if self.paired is not None:
            pair = jsonable(self.paired)
            plain["table8"]["paired"] = {name: pair[name] for name in _PAIRED}
        return plain


def reproduce_set(
    data: PaperSet,
    *,
    n_boot: int = RESAMPLES,
    seed: int = 0,
    best: bool = False,
    count_empty: bool = False,
    lexical: bool = True,
) -> Reproduction:
    """All tables of one set.

    Args:
        data: As `read_folder` gives it.
        n_boot: Resamples for each interval.
        seed: Of the resampling; the same seed gives the same figures.
        best: Pick the T with the highest rho afterwards, as the paper did for its own sets.
        count_empty: Count a sample without verdicts with the score stored for it (0), in Tables 5,
            6 and 8, as the paper does for USR.
        lexical: Judge the samples with the embedded lexical judge too, for ``fused``.

    Raises:
        InvalidValueError: ``n_boot`` is too small.
    """
    rows = table5(data, count_empty=count_empty)
    temperature, chosen = choose_temperature(data.name, rows, best=best)
    notes = [*data.notes, *_empty_notes(data, temperature, count_empty=count_empty)]
    judged = None
    if lexical and data.counts is not None:
        judged = lexical_scores(data)
        if judged is None:
            notes.append("the lexical judge has nothing to judge; rows with it are left out")
    main, pair = table8(data, temperature, n_boot=n_boot, seed=seed, count_empty=count_empty)
    return Reproduction(
        data=data,
        temperature=temperature,
        chosen=chosen,
        table5=rows,
        table7=table7(data, temperature),
        table8=main,
        paired=pair,
        table9=table9(data, temperature),
        unrounded=unrounded(data),
        fused=fused(data, judged, n_boot=n_boot, seed=seed),
        notes=tuple(notes),
    )


def choose_temperature(
    name: str, rows: Mapping[str, Agreement], *, best: bool = False
) -> tuple[float, Chosen]:
    """The T of a set, and where it is from.

    Args:
        name: The set; the paper's own have a T of their own, any other one has 0.5.
        rows: Table 5, looked at for ``best`` alone.
        best: Take the T with the highest rho, the lowest of several.
    """
    rhos = {float(row[2:]): a.rho for row, a in rows.items() if row.startswith("T=")}
    rhos = {t: rho for t, rho in rhos.items() if math.isfinite(rho)}
    if best and rhos:
        return max(rhos, key=lambda t: rhos[t]), "best"
    if name in PAPER:
        return PAPER[name].temperature, "paper"
    return BALANCED, "default"


def _empty_notes(data: PaperSet, temperature: float, *, count_empty: bool) -> list[str]:
    """What happens to samples that have a stored score but no verdict behind it."""
    if data.counts is None:
        return []
    empty = ~data.counts.any(axis=1)
    has_score = np.zeros(len(data.ids), dtype=np.bool_)
    for scores in data.stored.values():
        has_score |= np.isfinite(scores)
    unscored, stored = int(empty.sum()), int((empty & has_score).sum())
    notes = []
    if stored and count_empty:
        notes.append(
            "samples without verdicts that count with the score stored for them, in Tables 5, 6 "
            f"and 8 alone: {stored}"
        )
    elif stored:
        rho = agreement("spearman", paper_scores(data, temperature, count_empty=True), data.human)
        notes.append(
            f"left out for want of a verdict, though a score is stored: {stored}; counted with it, "
            f"rho at T={temperature:g} is {rho.value:.4f} (n={rho.n}; --count-empty)"
        )
    if unscored > stored:
        notes.append(f"left out for want of a verdict and of a score: {unscored - stored}")
    return notes
