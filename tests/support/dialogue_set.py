"""A small set in the paper's layout: dialogue turns, some of them without any claim."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Records = list[dict[str, Any]]

LEVELS = {"f": "fully", "m": "mostly", "p": "partial", "i": "minor", "n": "none"}
# Verdicts of 16 turns by their first letter; "" has no claim, None failed.
VERDICTS: Sequence[str | None] = [
    "n", "fn", "ii", "", "pi", "fnp", "ppp", "", "mp", "fp", "fpn", "mmm", "ffi", "", "ff", None,
]  # fmt: skip
HUMAN = [
    0.0,
    0.1,
    0.15,
    0.2,
    0.3,
    0.25,
    0.5,
    0.4,
    0.55,
    0.6,
    0.35,
    0.8,
    0.7,
    0.9,
    1.0,
    0.95,
]
RAGAS = [0.0, 0.5, 0.0, 0.0, 0.2, 0.3, 0.3, 0.1, 0.5, 0.5, 0.6, 0.9, 0.8, 0.0, 1.0, 0.7]
DEEPEVAL = [
    0.5,
    0.0,
    1.0,
    1.0,
    0.5,
    0.3,
    0.9,
    1.0,
    0.4,
    1.0,
    0.6,
    1.0,
    0.5,
    1.0,
    0.8,
    -1,
]


def ids() -> list[str]:
    return [f"turn-{i}" for i in range(len(VERDICTS))]


def prepared() -> Records:
    return [
        {
            "id": key,
            "question": "What did you do?",
            "answer": "I went to the sea with my dog. We swam for an hour.",
            "context": ["I went to the sea with my dog." if i % 2 else "My dog swam."],
            "human_score": human,
            "metric_type": "faithfulness",
        }
        for i, (key, human) in enumerate(zip(ids(), HUMAN, strict=True))
    ]


def tcva() -> Records:
    return [
        {
            "id": key,
            "human_score": human,
            # Only what has no verdicts has stored scores: 0 for no claim, -1 for a failure.
            "tcva_scores": {}
            if letters
            else {"T0.5": -1.0 if letters is None else 0.0},
            "verdicts": [{"verdict": LEVELS[x], "reason": ""} for x in letters or ""],
        }
        for key, human, letters in zip(ids(), HUMAN, VERDICTS, strict=True)
    ]


def scored(method: str, scores: Sequence[float]) -> Records:
    return [
        {"id": key, "human_score": human, f"{method}_score": score}
        for key, human, score in zip(ids(), HUMAN, scores, strict=True)
    ]


def files() -> dict[str, Records]:
    return {
        "prepared": prepared(),
        "tcva_scores": tcva(),
        "ragas_scores": scored("ragas", RAGAS),
        "deepeval_scores": scored("deepeval", DEEPEVAL),
    }


def write(
    folder: Path, name: str = "dialogue", /, **changes: Records | str | None
) -> Path:
    """The set's files; a change replaces one, by text, or leaves it out (None)."""
    folder.mkdir(exist_ok=True)
    for kind, content in {**files(), **changes}.items():
        if content is not None:
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / f"{name}_{kind}.json").write_text(text, encoding="utf-8")
    return folder
