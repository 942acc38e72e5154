"""What the paper prints in Tables 5 to 9 (arXiv 2604.08595), to be compared with the figures found.

The paper prints three decimals. For SummEval and SummEval-Rel the fourth one of Tables 5 to 7 and 9
is known from the result files that its authors publish.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tcva_adapters.core.verdicts import SCHEMES

TEMPERATURES: Final = (0.2, 0.3, 0.5, 0.7, 0.9)
"""The rows of Table 5."""

CONFIGURATIONS: Final = ("A full", "B without penalty", "C arithmetic mean", "D binary")
"""The rows of Table 9."""

Rows = dict[str, dict[str, Any]]
"""Figures of a table by row and column."""


class Digits(NamedTuple):
    """One data set's column in each of the paper's tables.

    Attributes:
        temperature: The T that Tables 6 to 9 use for TCVA, which the paper picked afterwards.
        decimals: How many decimals of Tables 5, 6, 7 and 9 are known here.
        n: Table 5, samples behind TCVA, RAGAS and DeepEval.
        rho: Table 5, in the order of `TEMPERATURES`, then RAGAS and DeepEval.
        errors: Table 6, tau and mean absolute error of TCVA at ``temperature``, RAGAS, DeepEval.
        schemes: Table 7, in the order default, linear, aggressive, conservative.
        intervals: Table 8, of TCVA at ``temperature``, RAGAS, DeepEval; three decimals.
        p: Table 8, TCVA against RAGAS, one-sided; three decimals.
        ablation: Table 9, A to D.
    """

    temperature: float
    decimals: int
    n: tuple[int, int, int]
    rho: tuple[float, ...]
    errors: tuple[tuple[float, float], ...]
    schemes: tuple[float, float, float, float]
    intervals: tuple[tuple[float, float], ...]
    p: float
    ablation: tuple[float, float, float, float]

    def rows(self, temperature: float) -> dict[str, Rows]:
        """Each table's figures by row and column; Tables 7 to 9 only at the T that they use."""
        tables: dict[str, Rows] = {}
        names = [*(f"T={t:g}" for t in TEMPERATURES), "ragas", "deepeval"]
        sizes = (*[self.n[0]] * len(TEMPERATURES), *self.n[1:])
        tables["Table 5"] = {
            name: {"n_paper": n, "rho_paper": rho}
            for name, n, rho in zip(names, sizes, self.rho, strict=True)
        }
        names = [f"T={self.temperature:g}", "ragas", "deepeval"]
        tables["Table 6"] = {
            name: {"tau_paper": tau, "mae_paper": mae}
            for name, (tau, mae) in zip(names, self.errors, strict=True)
        }
        if temperature != self.temperature:
            return tables
        names = ["tcva", "ragas", "deepeval"]
        tables["Table 8"] = {
            name: {"rho_low_paper": low, "rho_high_paper": high}
            for name, (low, high) in zip(names, self.intervals, strict=True)
        }
        tables["Table 8, difference"] = {
            "TCVA minus RAGAS": {"p_one_sided_paper": self.p}
        }
        for title, rows, rhos in (
            ("Table 7", SCHEMES, self.schemes),
            ("Table 9", CONFIGURATIONS, self.ablation),
        ):
            tables[title] = {
                row: {"rho_paper": rho} for row, rho in zip(rows, rhos, strict=True)
            }
        return tables


PAPER: Final[Mapping[str, Digits]] = {
    "summeval": Digits(
        temperature=0.9,
        decimals=4,
        n=(169, 172, 171),
        rho=(0.6415, 0.6415, 0.6630, 0.6638, 0.6669, 0.6762, 0.3950),
        errors=((0.5269, 0.3561), (0.5346, 0.2593), (0.3019, 0.3253)),
        schemes=(0.6669, 0.6676, 0.6637, 0.6685),
        intervals=((0.561, 0.755), (0.571, 0.762), (0.251, 0.525)),
        p=0.759,
        ablation=(0.6669, 0.6104, 0.6629, 0.6148),
    ),
    "summeval_rel": Digits(
        temperature=0.5,
        decimals=4,
        n=(195, 196, 196),
        rho=(0.4757, 0.4758, 0.4800, 0.4523, 0.4548, 0.4108, 0.3149),
        errors=((0.3686, 0.2112), (0.3326, 0.3645), (0.2394, 0.3516)),
        schemes=(0.4800, 0.4718, 0.4916, 0.4778),
        intervals=((0.367, 0.583), (0.286, 0.528), (0.183, 0.439)),
        p=0.041,
        ablation=(0.4800, 0.4854, 0.4800, 0.2363),
    ),
    "usr": Digits(
        temperature=0.9,
        decimals=3,
        n=(198, 198, 198),
        rho=(0.153, 0.153, 0.168, 0.173, 0.173, 0.171, -0.052),
        errors=((0.143, 0.501), (0.140, 0.516), (-0.046, 0.367)),
        schemes=(0.226, 0.230, 0.226, 0.230),
        intervals=((0.035, 0.300), (0.034, 0.305), (-0.183, 0.084)),
        p=0.480,
        ablation=(0.226, 0.221, 0.218, 0.256),
    ),
}
"""By the name of the set's files."""
