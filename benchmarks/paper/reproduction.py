"""The paper's tables from a folder of its stored verdicts, compared with its own digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.paper import tables
from benchmarks.paper.data import read_folder
from benchmarks.paper.digits import PAPER, TEMPERATURES
from tcva_adapters.core.temperature import BALANCED
from tcva_adapters.stats.holm import correct_p
from tcva_adapters.tables import Column, Kind, Record, Records, Report, Table, counted

RESAMPLES: Final = 10_000
"""As many as the paper draws for Table 8."""

_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(
        ("set", "method", "members", "best_member", "T", "choice", "reason"), "text"
    ),
    **dict.fromkeys(("n", "n_paper", "samples", "equal", "of"), "int"),
    **dict.fromkeys(("p", "p_one_sided", "p_one_sided_paper", "p_corrected"), "p"),
    **dict.fromkeys(("difference", "gain"), "signed"),
    "rho": "interval",
}
_TABLES: Final = {
    "sets": "set samples T choice equal of table_8_within",
    "Table 5": "set method n n_paper rho rho_paper unrounded",
    "Table 6": "set method tau tau_paper mae mae_paper",
    "Table 7": "set method rho rho_paper",
    "Table 8": "set method n rho rho_low_paper rho_high_paper reason",
    "Table 8, difference": "set method n difference p p_one_sided p_one_sided_paper",
    "Table 9": "set method rho rho_paper",
    "fused scores": "set members n rho best_member gain p_corrected",
}
_NOTES: Final = (
    "rho is computed from scores rounded to four decimals, as the paper's are; unrounded is not.",
    "RAGAS is RAGAS Faithfulness in every set, also where people rated relevance.",
    (
        "p one sided is the paper's test: the share of resamples in which RAGAS beats TCVA by as much "
        "as TCVA beats RAGAS on all samples."
    ),
    "The paper chose T on the samples that it reports, so its figures are optimistic.",
    "Fused scores are geometric means with TCVA at T=0.5; p corrected: Holm, for all sets together.",
    "The lexical judge's settings were chosen on SummEval and SummEval-Rel.",
)


def reproduce(
    folder: str | Path,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    best: bool = False,
    count_empty: bool = False,
    lexical: bool = True,
) -> Report:
    """Tables 5 to 9 of the TCVA paper next to its own digits, and fused scores. No call of a model.

    Args:
        folder: Of ``NAME_tcva_scores.json``, ``NAME_prepared.json`` and so on; see `read_folder`.
        resamples: Resamples for each interval.
        seed: Of the resampling; the same seed gives the same figures.
        best: Pick each set's T afterwards, for the highest rho, as the paper did for its own sets.
        count_empty: Count a sample without verdicts with the score stored for it (0), in Tables 5,
            6 and 8, as the paper does for USR.
        lexical: Judge the samples with the embedded lexical judge too, for fused scores.

    Returns:
        The tables ``sets``, ``Table 5`` to ``Table 9`` and ``fused scores``, each with a column
        ``set``. Rows whose files are missing are left out; the notes say so.

    Raises:
        UnreadableInputError: As for `read_folder`.
        InvalidValueError: ``resamples`` is too small.
    """
    drawn: dict[str, Any] = {"resamples": resamples, "seed": seed}
    records: dict[str, list[Record]] = {title: [] for title in _TABLES}
    notes = list(_NOTES)
    for name, table in read_folder(folder, lexical=lexical).items():
        paper = PAPER.get(name)
        rows = tables.tables_5_and_6(table, count_empty=count_empty)
        temperature, choice = (
            (paper.temperature, "the paper's") if paper else (BALANCED, "default")
        )
        if best:
            rhos = {t: rows["Table 5"][f"T={t:g}"]["rho"] for t in TEMPERATURES}
            temperature = max(rhos, key=lambda t: np.nan_to_num(rhos[t], nan=-2.0))
            choice = "best here"
        rows |= tables.table_8(table, temperature, count_empty=count_empty, **drawn)
        rows |= tables.tables_7_and_9(table, temperature) | {
            "fused scores": tables.fused(table, **drawn)
        }
        printed = paper.rows(temperature) if paper else {}
        for title, of in rows.items():
            key, digits = _TABLES[title].split()[1], printed.get(title, {})
            for row, figures in of.items():
                records[title].append(
                    {"set": name, key: row, **figures, **digits.get(row, {})}
                )
        about = {"set": name, "samples": len(table), "T": temperature, "choice": choice}
        records["sets"].append(about | (_match(records, name) if paper else {}))
        notes += [
            f"{name}: {note}" for note in (*table.notes, tables.empty_note(table))
        ]
    correct_p(records["fused scores"])
    settings = {**drawn, "best": best, "count_empty": count_empty, "lexical": lexical}
    return Report(_sentence(records["sets"]), _tables(records), notes, settings)


def _match(records: dict[str, list[Record]], name: str) -> dict[str, float | None]:
    """How many of a set's figures equal the paper's to all digits, and the distance in Table 8."""
    pairs: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for title, rows in records.items():
        for record in (row for row in rows if row["set"] == name):
            for key in [
                key for key in record if key.endswith("_paper") and key != "n_paper"
            ]:
                pair = record[key.removesuffix("_paper")], record[key]
                pairs[title.startswith("Table 8")].append(pair)
    digits = f".{PAPER[name].decimals}f"
    return {
        "equal": sum(
            f"{ours:{digits}}" == f"{theirs:{digits}}" for ours, theirs in pairs[False]
        ),
        "of": len(pairs[False]),
        "table_8_within": max(
            (abs(ours - theirs) for ours, theirs in pairs[True]), default=None
        ),
    }


def _sentence(sets: Records) -> str:
    known = [record for record in sets if "of" in record]
    equal, of = (sum(record[name] for record in known) for name in ("equal", "of"))
    if not of:
        return f"The paper has no figures for {', '.join(one['set'] for one in sets)}."
    within = max(record["table_8_within"] or 0.0 for record in known)
    said = f"{equal} of {of} figures of Tables 5, 6, 7 and 9 equal the paper's"
    return f"{said}, in {counted(len(known), 'set')}. Those of Table 8 differ by at most {within:.4f}."


class _FourDigits(Column):
    """A column whose scores have four digits behind the point, as the paper's result files have."""

    def cell(self, record: Record) -> str:
        number, *interval = super().cell(record).split(" ", 1)
        if self.kind in {"score", "interval", "signed"} and number != "-":
            sign = "+" if self.kind == "signed" else ""
            number = f"{record[self.name]:{sign}z.4f}"
        return " ".join([number, *interval])


def _tables(records: dict[str, list[Record]]) -> list[Table]:
    """Columns of the paper's figures only where there are some."""
    made = []
    for title, names in _TABLES.items():
        known = {
            name for record in records[title] for name, of in record.items() if of != ""
        }
        columns = [
            _FourDigits(n, _KINDS.get(n, "score")) for n in names.split() if n in known
        ]
        made.append(
            Table(
                title, columns, records[title], detail=title not in ("sets", "Table 5")
            )
        )
    return made
