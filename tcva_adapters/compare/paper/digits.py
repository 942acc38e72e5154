"""What the paper prints in Tables 5 to 9 (arXiv 2604.08595), to be shown beside our figures.

The paper prints three decimals. For SummEval and SummEval-Rel the fourth one of Tables 5 to 7 and 9
is known from the result files that its authors publish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tcva_adapters.core.verdicts import SCHEMES

TEMPERATURES: Final = (0.2, 0.3, 0.5, 0.7, 0.9)
"""The rows of Table 5."""

METHODS: Final = {"tcva": "TCVA", "ragas": "RAGAS", "deepeval": "DeepEval"}
"""What tables and pictures call them."""

CONFIGURATIONS: Final[dict[str, str]] = {
    "A": "A full TCVA",
    "B": "B without penalty",
    "C": "C arithmetic mean",
    "D": "D binary verdicts",
}
"""The rows of Table 9, and what tables and pictures call them."""


@dataclass(frozen=True, slots=True)
class PaperDigits:
    """One data set's column in each of the paper's tables.

    Attributes:
        temperature: The T that Tables 6 to 9 use for TCVA, which the paper picked afterwards.
        decimals: How many decimals of Tables 5, 6, 7 and 9 are known here.
        n: Table 5, samples behind TCVA, RAGAS and DeepEval.
        rho: Table 5, in the order of `TEMPERATURES`, then RAGAS and DeepEval.
        tau: Table 6, Kendall's tau of TCVA at ``temperature``, RAGAS, DeepEval.
        mae: Table 6, the mean absolute error of the same.
        schemes: Table 7, in the order default, linear, aggressive, conservative.
        intervals: Table 8, of TCVA at ``temperature``, RAGAS, DeepEval; three decimals.
        delta: Table 8, TCVA less RAGAS; three decimals.
        p: Table 8, of that difference, one-sided; three decimals.
        ablation: Table 9, A to D.
    """

    temperature: float
    decimals: int
    n: tuple[int, int, int]
    rho: tuple[float, ...]
    tau: tuple[float, float, float]
    mae: tuple[float, float, float]
    schemes: tuple[float, float, float, float]
    intervals: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
    delta: float
    p: float
    ablation: tuple[float, float, float, float]

    def table5(self) -> dict[str, float]:
        """Spearman's rho by row, named as in the JSON output."""
        names = [*(f"T={t:g}" for t in TEMPERATURES), "ragas", "deepeval"]
        return dict(zip(names, self.rho, strict=True))

    def table6(self) -> dict[str, tuple[float, float]]:
        """Tau and MAE by row."""
        names = (f"T={self.temperature:g}", "ragas", "deepeval")
        return {n: (t, m) for n, t, m in zip(names, self.tau, self.mae, strict=True)}

    def table7(self) -> dict[str, float]:
        """Rho by weight scheme."""
        return dict(zip(SCHEMES, self.schemes, strict=True))

    def table8(self) -> dict[str, tuple[float, float]]:
        """The 95 % interval by method."""
        return dict(zip(METHODS, self.intervals, strict=True))

    def table9(self) -> dict[str, float]:
        """Rho by configuration."""
        return dict(zip(CONFIGURATIONS, self.ablation, strict=True))


PAPER: Final[Mapping[str, PaperDigits]] = {
    "summeval": PaperDigits(
        temperature=0.9,
        decimals=4,
        n=(169, 172, 171),
        rho=(0.6415, 0.6415, 0.6630, 0.6638, 0.6669, 0.6762, 0.3950),
        tau=(0.5269, 0.5346, 0.3019),
        mae=(0.3561, 0.2593, 0.3253),
        schemes=(0.6669, 0.6676, 0.6637, 0.6685),
        intervals=((0.561, 0.755), (0.571, 0.762), (0.251, 0.525)),
        delta=-0.009,
        p=0.759,
        ablation=(0.6669, 0.6104, 0.6629, 0.6148),
    ),
    "summeval_rel": PaperDigits(
        temperature=0.5,
        decimals=4,
        n=(195, 196, 196),
        rho=(0.4757, 0.4758, 0.4800, 0.4523, 0.4548, 0.4108, 0.3149),
        tau=(0.3686, 0.3326, 0.2394),
        mae=(0.2112, 0.3645, 0.3516),
        schemes=(0.4800, 0.4718, 0.4916, 0.4778),
        intervals=((0.367, 0.583), (0.286, 0.528), (0.183, 0.439)),
        delta=0.062,
        p=0.041,
        ablation=(0.4800, 0.4854, 0.4800, 0.2363),
    ),
    "usr": PaperDigits(
        temperature=0.9,
        decimals=3,
        n=(198, 198, 198),
        rho=(0.153, 0.153, 0.168, 0.173, 0.173, 0.171, -0.052),
        tau=(0.143, 0.140, -0.046),
        mae=(0.501, 0.516, 0.367),
        schemes=(0.226, 0.230, 0.226, 0.230),
        intervals=((0.035, 0.300), (0.034, 0.305), (-0.183, 0.084)),
        delta=0.002,
        p=0.480,
        ablation=(0.226, 0.221, 0.218, 0.256),
    ),
}
"""By the name of the set's files."""
