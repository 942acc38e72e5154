"""The paper's stored verdicts, which are not part of the project: tests skip without them."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters.core.verdicts import FloatArray, count_levels

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("TCVA_PAPER_DATA", ROOT.parent / "shared/data/tcva_paper"))

REASON = f"no paper data in {FOLDER} (set TCVA_PAPER_DATA)"
needs_paper_data = pytest.mark.skipif(not FOLDER.is_dir(), reason=REASON)


def load(name: str) -> list[dict[str, Any]]:
    records = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(records, list)
    return records


def judged(name: str) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    """Level counts, human scores and stored scores by temperature, of samples with verdicts."""
    records = [r for r in load(f"{name}_tcva_scores") if r["verdicts"]]
    counts = np.array(
        [count_levels(v["verdict"] for v in r["verdicts"]) for r in records],
        dtype=np.float64,
    )
    human = np.array([r["human_score"] for r in records])
    keys = list(records[0]["tcva_scores"])
    return (
        counts,
        human,
        {k: np.array([r["tcva_scores"][k] for r in records]) for k in keys},
    )
