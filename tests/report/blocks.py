"""What stands in the data blocks of a page."""

import json
from pathlib import Path
from typing import Any

_KINDS = ('json" id="figures', 'jsonl" id="details')
_BLOCKS = [f'<script type="application/{kind}">' for kind in _KINDS]


def blocks_of(page: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Figures and details, cut out as a browser does: up to the first end of a script."""
    text = Path(page).read_bytes().decode()
    figures, details = (
        text.split(mark, 1)[1].split("</script", 1)[0] for mark in _BLOCKS
    )
    return json.loads(figures), [
        json.loads(line) for line in details.split("\n") if line
    ]
