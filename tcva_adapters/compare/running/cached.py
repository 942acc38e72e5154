"""Judgements of framework metrics as the verdict store caches them: JSON under a key."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.results.assessment import Usage
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.results.store import VerdictStore

LAYOUT: Final = 1
"""Version of the JSON."""

JUDGE_ERROR: Final = "judge_error"
METRIC_ERROR: Final = "metric_error"
NO_SCORE: Final = "no_score"
NOT_ASKED: Final = "not_asked"
"""Of a sample that nobody was asked about, where no call can succeed."""


@dataclass(frozen=True, slots=True)
class CachedJudgement:
    """One framework metric's judgement of one sample, with what it cost.

    Attributes:
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
        """What `from_json` reads."""
        return json.dumps({"layout": LAYOUT, **asdict(self)}, default=Usage.model_dump)

    @classmethod
    def from_json(cls, text: str) -> CachedJudgement:
        """What `to_json` wrote.

        Raises:
            ValueError: The text is nothing of the kind, e.g. because it is damaged.
        """
        try:
            record: dict[str, Any] = json.loads(text)
            if record.pop("layout") != LAYOUT:
                msg = "another layout"
                raise ValueError(msg)
            said = record.pop("score")
            verdicts = tuple(
                FrameworkVerdict(claim, word, None if level is None else Verdict(level), reason)
                for claim, word, level, reason in said.pop("verdicts")
            )
            usage = Usage.model_validate(record.pop("usage"))
            return cls(score=FrameworkScore(**said, verdicts=verdicts), usage=usage, **record)
        except (LookupError, TypeError, AttributeError) as error:
            msg = f"no cached judgement: {error}"
            raise ValueError(msg) from error


def read_cached(store: VerdictStore, keys: Iterable[str]) -> dict[str, CachedJudgement]:
    """The finished judgements under these keys; one that cannot be read counts as absent.

    Raises:
        UnreadableInputError: The store cannot be read.
    """
    found = {}
    for key, text in store.get_records(keys).items():
        try:
            found[key] = CachedJudgement.from_json(text)
        except ValueError:
            continue
    return found
