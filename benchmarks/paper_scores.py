"""The paper's stored scores, recomputed from its stored verdicts.

Run: python -m benchmarks.paper_scores FOLDER
FOLDER holds `<set>_tcva_scores.json` files as the paper's reference library publishes them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from tcva_adapters.core.aggregation import sweep
from tcva_adapters.core.verdicts import count_levels


def main() -> None:
    for path in sorted(Path(sys.argv[1]).glob("*_tcva_scores.json")):
        records = [r for r in json.loads(path.read_text(encoding="utf-8")) if r["verdicts"]]
        counts = np.array([count_levels(v["verdict"] for v in r["verdicts"]) for r in records])
        keys = list(records[0]["tcva_scores"])
        stored = np.array([[r["tcva_scores"][key] for key in keys] for r in records])
        ours = sweep(counts, [float(key.removeprefix("T")) for key in keys])
        differs = ours.round(4) != stored
        ties = np.abs(ours * 1e4 % 1 - 0.5) < 1e-6
        print(
            f"{path.name}: {len(records)} samples at {', '.join(keys)}; largest difference "
            f"{np.abs(ours - stored).max():.3g} (target <= 5e-5); after rounding to 4 decimals "
            f"{int((differs & ~ties).sum())} differ beside {int((differs & ties).sum())} ties "
            "of the last digit (target 0)"
        )


if __name__ == "__main__":
    main()
