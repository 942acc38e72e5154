"""A set's tables as text, the paper's digits beside ours, and how many of them agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tcva_adapters.compare.paper.digits import CONFIGURATIONS, METHODS, PAPER, PaperDigits
from tcva_adapters.compare.paper.reproduction import Reproduction
from tcva_adapters.printing import Table, counted, figure

FOOTNOTES: Final = (
    (
        "The paper picks the best T afterwards, on the samples that it then reports: the TCVA rows of "
        "its Tables 6 to 9 are somewhat optimistic."
    ),
    (
        "The RAGAS column is RAGAS Faithfulness for every set, SummEval-Rel (relevance) included: "
        "there the row compares two different criteria. So does the lexical judge's."
    ),
    (
        "Tables 5 to 9 use scores rounded to four decimals, as they are stored; 'unrounded' is the "
        "same from the verdicts."
    ),
    (
        "The one-sided p is the paper's own: the share of resamples in which RAGAS leads by at least "
        "as much as TCVA does on all samples. Whether there is a difference, the two-sided p and the "
        "interval say. The paper's delta for SummEval, -0.009, is that of two rows with different "
        "samples; ours is on common ones."
    ),
    "The settings of the lexical judge were chosen by looking at SummEval and SummEval-Rel.",
)
"""What has to be known to read the tables; printed under them."""

_ORIGINS: Final = {
    "paper": "the paper's choice",
    "best": "picked afterwards for the highest rho on these samples: optimistic",
    "default": "the default; not a set of the paper",
}
_PAPER: Final = "paper"
_ALIGN: Final = "lr"


@dataclass(frozen=True, slots=True)
class Match:
    """How far a reproduction agrees with the paper.

    Attributes:
        figures: Figures of Tables 5, 6, 7 and 9 that the paper has too, at the same T.
        equal: How many of them are equal to all digits that are known.
        farthest: Table 8: the largest distance of an interval's end or of p; None without either.
    """

    figures: int
    equal: int
    farthest: float | None

    @property
    def text(self) -> str:
        """One sentence."""
        said = f"Tables 5, 6, 7 and 9: {self.equal} of {self.figures} figures equal the paper's"
        if self.farthest is None:
            return f"{said}."
        return f"{said}; Table 8: intervals and p within {self.farthest:.4f} of it."


def title(found: Reproduction) -> str:
    """The set, its size, and its T with where that is from."""
    size, origin = len(found.data.ids), _ORIGINS[found.chosen]
    return f"{found.name}: {size} samples, T={found.temperature:g} ({origin})"


def match(found: Reproduction) -> Match | None:
    """Our figures against the paper's; None for a set that it does not have."""
    paper = PAPER.get(found.name)
    if paper is None:
        return None
    pairs = list(_pairs(found, paper))
    digits = f".{paper.decimals}f"
    equal = sum(f"{ours:{digits}}" == f"{theirs:{digits}}" for ours, theirs in pairs)
    if found.paper is None:
        return Match(len(pairs), equal, None)
    ends = paper.table8()
    distances = [
        abs(ours - theirs)
        for name, row in found.table8.items()
        for ours, theirs in zip((row.low, row.high), ends[name], strict=True)
    ]
    if found.paired is not None:
        distances.append(abs(found.paired.p_paper - paper.p))
    return Match(len(pairs), equal, max(distances, default=None))


def _pairs(found: Reproduction, paper: PaperDigits) -> Iterator[tuple[float, float]]:
    rhos, sixes = paper.table5(), paper.table6()
    for name, row in found.table5.items():
        if name in rhos:
            yield row.rho, rhos[name]
        if name in sixes:
            yield from zip((row.tau, row.mae), sixes[name], strict=True)
    if found.paper is not None:
        yield from ((value, paper.table7()[name]) for name, value in found.table7.items())
        yield from ((value, paper.table9()[name]) for name, value in found.table9.items())


def tables(found: Reproduction) -> dict[str, Table]:
    """The tables of one set by heading, without the paper's columns where the paper has none."""
    paper = found.paper
    sevens, nines = (paper.table7(), paper.table9()) if paper else ({}, {})
    made = {
        "Tables 5 and 6: agreement with human ratings": _table5(found, PAPER.get(found.name)),
        "Table 7: rho by weight scheme": _beside("scheme", found.table7, sevens, paper),
        "Table 8: bootstrap": _table8(found, paper),
        "Table 9: rho of the ablation": _beside("configuration", found.table9, nines, paper),
        _fused_heading(found): _fused(found),
    }
    known = found.name in PAPER
    return {
        heading: table if known else _without_paper(table)
        for heading, table in made.items()
        if table.rows
    }


def _without_paper(table: Table) -> Table:
    kept = [i for i, name in enumerate(table.header) if name != _PAPER]
    rows = [[row[i] for i in kept] for row in table.rows]
    return Table([table.header[i] for i in kept], rows, table.align)


def _table5(found: Reproduction, paper: PaperDigits | None) -> Table:
    rhos, sixes = (paper.table5(), paper.table6()) if paper else ({}, {})
    sizes = dict(zip(METHODS, paper.n, strict=True)) if paper else {}
    decimals = _decimals(paper)
    rows = []
    for name, row in found.table5.items():
        size = sizes.get(name if name in METHODS else "tcva")
        n = str(row.n) if size in (None, row.n) or name not in rhos else f"{row.n} ({size})"
        tau, mae = sixes.get(name, (None, None))
        rows.append(
            (
                METHODS.get(name, f"TCVA {name}"),
                n,
                *(figure(row.rho, 4), figure(rhos.get(name), decimals)),
                figure(found.unrounded.get(name), 4),
                *(figure(row.tau, 4), figure(tau, decimals)),
                *(figure(row.mae, 4), figure(mae, decimals)),
            )
        )
    header = ("method", "n", "rho", _PAPER, "unrounded", "tau", _PAPER, "MAE", _PAPER)
    return Table(header, rows, _ALIGN)


def _beside(
    what: str, ours: Mapping[str, float], theirs: Mapping[str, float], paper: PaperDigits | None
) -> Table:
    rows = [
        (
            CONFIGURATIONS.get(name, name),
            figure(value, 4),
            figure(theirs.get(name), _decimals(paper)),
        )
        for name, value in ours.items()
    ]
    return Table((what, "rho", _PAPER), rows, _ALIGN)


def _table8(found: Reproduction, paper: PaperDigits | None) -> Table:
    ends = paper.table8() if paper else {}
    rows = [
        (
            METHODS[name],
            figure(row.rho, 4),
            _range(row.low, row.high),
            _range(*ends[name]) if name in ends else "-",
            *("", "", ""),
        )
        for name, row in found.table8.items()
    ]
    if found.paired is not None:
        test = found.paired
        ps = (
            figure(test.p_paper, 4),
            figure(paper.p if paper else None),
            figure(test.p_two_sided, 4),
        )
        delta = figure(test.delta, 4, signed=True)
        rows.append(("TCVA less RAGAS", delta, _range(test.low, test.high), "-", *ps))
    header = ("method", "rho", "95 % interval", _PAPER, "p one-sided", _PAPER, "p two-sided")
    return Table(header, rows, _ALIGN)


def _fused_heading(found: Reproduction) -> str:
    looked_at = max((row.looked_at for row in found.fused.values()), default=0)
    return (
        "Fused scores: geometric mean, TCVA at T=0.5; p(Holm) allows for "
        f"{counted(looked_at, 'combination')}"
    )


def _fused(found: Reproduction) -> Table:
    rows = [
        (
            name.replace("+", " + "),
            str(row.n),
            figure(row.rho, 4),
            _range(row.low, row.high),
            f"{row.best} {figure(row.best_rho, 4)}",
            figure(row.gain, 4, signed=True),
            _range(row.gain_low, row.gain_high),
            *(figure(row.p_two_sided, 4), figure(row.p_holm, 4)),
        )
        for name, row in found.fused.items()
    ]
    header = ("members", "n", "rho", "95 % interval", "best member", "gain", "95 % interval")
    return Table((*header, "p", "p(Holm)"), rows, _ALIGN)


def _decimals(paper: PaperDigits | None) -> int:
    return paper.decimals if paper else 4


def _range(low: float, high: float) -> str:
    return f"[{figure(low)}, {figure(high)}]"
