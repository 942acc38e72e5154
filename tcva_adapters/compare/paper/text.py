"""A set's tables as text, the paper's digits beside ours, and how many of them agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tcva_adapters.compare.paper.digits import CONFIGURATIONS, PAPER, PaperDigits
from tcva_adapters.compare.paper.reproduction import Reproduction

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

_NAMES: Final = {"tcva": "TCVA", "ragas": "RAGAS", "deepeval": "DeepEval"}
_ORIGINS: Final = {
    "paper": "the paper's choice",
    "best": "picked afterwards for the highest rho on these samples: optimistic",
    "default": "the default; not a set of the paper",
}
_PAPER: Final = "paper"

Rows = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Block:
    """One printed table.

    Attributes:
        title: Its heading.
        header: The columns' names.
        rows: Cells as text, as many per row as there are columns.
    """

    title: str
    header: tuple[str, ...]
    rows: Rows


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
    return (
        f"{found.name}: {found.samples} samples, T={found.temperature:g} ({_ORIGINS[found.chosen]})"
    )


def match(found: Reproduction) -> Match | None:
    """Our figures against the paper's; None for a set that it does not have."""
    paper = PAPER.get(found.name)
    if paper is None:
        return None
    pairs = list(_pairs(found, paper))
    equal = sum(_same(ours, theirs, paper.decimals) for ours, theirs in pairs)
    if found.temperature != paper.temperature:
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
    if found.temperature == paper.temperature:
        yield from ((value, paper.table7()[name]) for name, value in found.table7.items())
        yield from ((value, paper.table9()[name]) for name, value in found.table9.items())


def _same(ours: float, theirs: float, decimals: int) -> bool:
    return f"{ours:.{decimals}f}" == f"{theirs:.{decimals}f}"


def blocks(found: Reproduction) -> list[Block]:
    """The tables of one set, without the paper's columns where the paper has none."""
    paper = PAPER.get(found.name)
    at_t = paper if paper is not None and paper.temperature == found.temperature else None
    sevens = {name: (name, rho) for name, rho in found.table7.items()}
    nines = {key: (f"{key} {CONFIGURATIONS[key]}", rho) for key, rho in found.table9.items()}
    made = [
        _table5(found, paper),
        Block(
            "Table 7: rho by weight scheme",
            ("scheme", "rho", _PAPER),
            _beside(sevens, at_t.table7() if at_t else {}, at_t),
        ),
        _table8(found, at_t),
        Block(
            "Table 9: rho of the ablation",
            ("configuration", "rho", _PAPER),
            _beside(nines, at_t.table9() if at_t else {}, at_t),
        ),
        _fused(found),
    ]
    return [block if paper else _without_paper(block) for block in made if block.rows]


def _without_paper(block: Block) -> Block:
    kept = [i for i, name in enumerate(block.header) if name != _PAPER]
    return Block(
        block.title,
        tuple(block.header[i] for i in kept),
        [tuple(row[i] for i in kept) for row in block.rows],
    )


def _table5(found: Reproduction, paper: PaperDigits | None) -> Block:
    rhos = paper.table5() if paper else {}
    sixes = paper.table6() if paper else {}
    decimals = paper.decimals if paper else 4
    sizes = {} if paper is None else dict(zip(_NAMES, paper.n, strict=True))
    rows: Rows = []
    for name, row in found.table5.items():
        size = sizes.get(name if name in _NAMES else "tcva")
        tau, mae = sixes.get(name, (None, None))
        rows.append(
            (
                _NAMES.get(name, f"TCVA {name}"),
                f"{row.n}" if size in (None, row.n) or name not in rhos else f"{row.n} ({size})",
                f"{row.rho:.4f}",
                _digits(rhos.get(name), decimals),
                _digits(found.unrounded.get(name), 4),
                f"{row.tau:.4f}",
                _digits(tau, decimals),
                f"{row.mae:.4f}",
                _digits(mae, decimals),
            )
        )
    header = ("method", "n", "rho", _PAPER, "unrounded", "tau", _PAPER, "MAE", _PAPER)
    return Block("Tables 5 and 6: agreement with people", header, rows)


def _beside(
    ours: Mapping[str, tuple[str, float]],
    theirs: Mapping[str, float],
    paper: PaperDigits | None,
) -> Rows:
    decimals = paper.decimals if paper else 4
    return [
        (name, f"{value:.4f}", _digits(theirs.get(key), decimals))
        for key, (name, value) in ours.items()
    ]


def _table8(found: Reproduction, paper: PaperDigits | None) -> Block:
    ends = paper.table8() if paper else {}
    rows: Rows = [
        (
            _NAMES[name],
            f"{row.rho:.4f}",
            _range(row.low, row.high),
            _range(*ends[name]) if name in ends else "-",
            "",
            "",
            "",
        )
        for name, row in found.table8.items()
    ]
    if found.paired is not None:
        test = found.paired
        rows.append(
            (
                "TCVA less RAGAS",
                f"{test.delta:+.4f}",
                _range(test.low, test.high),
                "-",
                f"{test.p_paper:.4f}",
                _digits(paper.p if paper else None, 3),
                f"{test.p_two_sided:.4f}",
            )
        )
    header = ("method", "rho", "95 % interval", _PAPER, "p one-sided", _PAPER, "p two-sided")
    return Block("Table 8: bootstrap", header, rows)


def _fused(found: Reproduction) -> Block:
    rows: Rows = [
        (
            name.replace("+", " + "),
            f"{row.n}",
            f"{row.rho:.4f}",
            _range(row.low, row.high),
            f"{row.best} {row.best_rho:.4f}",
            f"{row.gain:+.4f}",
            _range(row.gain_low, row.gain_high),
            f"{row.p_two_sided:.4f}",
        )
        for name, row in found.fused.items()
    ]
    header = ("members", "n", "rho", "95 % interval", "best member", "gain", "95 % interval", "p")
    return Block("Fused scores: geometric mean, TCVA at T=0.5", header, rows)


def _digits(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"


def _range(low: float, high: float) -> str:
    return f"[{low:.3f}, {high:.3f}]"
