"""Native judgements kept as they come: one line of JSON each, never rewritten."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import Usage
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict

LAYOUT: Final = 1
"""Version of a line."""

JUDGE_ERROR: Final = "judge_error"
METRIC_ERROR: Final = "metric_error"
NO_SCORE: Final = "no_score"


@dataclass(frozen=True, slots=True)
class Kept:
    """One native metric's judgement of one sample, with what it cost.

    Attributes:
        key: See `Method.key`.
        sample: The id of the sample that it was made for.
        method: The method's name.
        judge: The judge's name.
        version: The framework with its version.
        score: What the metric said.
        usage: What it cost; ``seconds`` are those of the whole judgement.
        reason: Why there is no score: ``judge_error`` (a call failed, or its reply could not be
            read), ``metric_error`` (the metric itself failed), ``no_score`` (it found nothing to
            score). Empty where there is one.
    """

    key: str
    sample: str
    method: str
    judge: str
    version: str
    score: FrameworkScore
    usage: Usage
    reason: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether another try may give a score."""
        return self.reason not in ("", NO_SCORE)

    def to_json(self) -> str:
        """One line, without its end."""
        score = self.score
        return json.dumps(
            {
                "layout": LAYOUT,
                "key": self.key,
                "sample": self.sample,
                "method": self.method,
                "judge": self.judge,
                "version": self.version,
                "score": score.score,
                "error": score.error,
                "reason": self.reason,
                "metric": score.metric,
                "verdicts": [
                    {"claim": v.claim, "word": v.word, "verdict": v.verdict, "reason": v.reason}
                    for v in score.verdicts
                ],
                "metric_calls": score.calls,
                "usage": self.usage.model_dump(),
            }
        )

    @classmethod
    def from_json(cls, line: str) -> Kept:
        """What `to_json` wrote.

        Raises:
            ValueError: The line is none of these, e.g. because it was cut off.
        """
        try:
            record: dict[str, Any] = json.loads(line)
            if record["layout"] != LAYOUT:
                msg = f"layout {record['layout']!r}"
                raise ValueError(msg)
            return cls(
                **{name: str(record[name]) for name in ("key", "sample", "method", "judge")},
                version=str(record["version"]),
                score=_score(record),
                usage=Usage.model_validate(record["usage"]),
                reason=str(record["reason"]),
            )
        except (LookupError, TypeError, AttributeError) as error:
            msg = f"not a kept judgement: {error}"
            raise ValueError(msg) from error


def _score(record: Mapping[str, Any]) -> FrameworkScore:
    said = tuple(
        FrameworkVerdict(
            v["claim"],
            v["word"],
            None if v["verdict"] is None else Verdict(v["verdict"]),
            v["reason"],
        )
        for v in record["verdicts"]
    )
    score = record["score"]
    return FrameworkScore(
        record["metric"],
        None if score is None else float(score),
        said,
        record["metric_calls"],
        record["error"],
    )


class NativeLog:
    """The file of kept judgements.

    Each line is handed to the system before `put` returns, so a killed process loses nothing that
    it had finished. A line that was cut off is passed over, and the next one starts afresh. Of
    several lines with one key the last one counts.

    Args:
        path: The file; made with its folders where it does not exist.

    Attributes:
        unreadable: How many lines were passed over.

    Raises:
        UnreadableInputError: The file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable = 0
        self._kept: dict[str, Kept] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            torn = self._load()
            # Unbuffered: a line goes out in one piece, also where two runs share the file.
            self._file = path.open("ab", buffering=0)
            if torn:
                self._file.write(b"\n")
        except OSError as error:
            msg = f"{path} cannot be used: {error.strerror or error}; give another folder"
            raise UnreadableInputError(msg) from error

    def get(self, key: str) -> Kept | None:
        """The judgement under this key, a failure included; None where there is none."""
        return self._kept.get(key)

    def put(self, kept: Kept) -> None:
        """Keep a judgement."""
        self._kept[kept.key] = kept
        line = f"{kept.to_json()}\n".encode()
        while line:  # a nearly full disk takes a part, and refuses the next
            line = line[self._file.write(line) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        """The log itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def _load(self) -> bool:
        """Read what is there; returns whether the last line lacks its end."""
        if not self.path.exists():
            return False
        text = self.path.read_bytes().decode(errors="replace")
        for line in filter(str.strip, text.split("\n")):
            try:
                kept = Kept.from_json(line)
            except ValueError:
                self.unreadable += 1
            else:
                self._kept[kept.key] = kept
        return bool(text) and not text.endswith("\n")
