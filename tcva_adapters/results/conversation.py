"""The score of a conversation: a view of the judgements of all its turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import (
    SCHEMA_VERSION,
    Assessment,
    ClaimVerdict,
    Reason,
    Unscored,
    Usage,
    written_out,
)
from tcva_adapters.results.protocol import json_object
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig

_SHOWN: Final = 3


@dataclass(frozen=True)
class ConversationResult:
    """The score over the claims of all turns of a conversation, and each turn's own result.

    A turn without a score for a reason of its own (it claims nothing, nothing was retrieved) adds
    no claims, and ``reason`` names it. Where a turn failed, or was too long to judge, the
    conversation has no score.

    Attributes:
        turns: A result for each turn, at least one.
        scoring: The setting of the conversation's score; by default that of the first turn.
        sample_id: The conversation's id.
        metadata: The conversation's metadata.
        whole: The claims of all turns as one result, at this setting.

    >>> turns = [Result(Assessment.from_verdicts(v)) for v in (["fully", "mostly"], ["partial"])]
    >>> talk = ConversationResult(turns)
    >>> talk.score == Result(Assessment.from_verdicts(["fully", "mostly", "partial"])).score
    True
    >>> round(talk.score, 3), round(talk.at("strict").score, 3)
    (0.867, 0.803)
    """

    turns: tuple[Result, ...]
    scoring: ScoringConfig = None  # type: ignore[assignment]  # set below where it is not given
    sample_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    whole: Result = field(init=False, repr=False, compare=False)
    kind: ClassVar[str] = "conversation"

    def __post_init__(self) -> None:
        if not self.turns:
            msg = "a conversation's result must have at least one turn, got none"
            raise InvalidValueError(msg)
        object.__setattr__(self, "turns", tuple(self.turns))
        object.__setattr__(self, "scoring", self.scoring or self.turns[0].scoring)
        together = pooled([turn.assessment for turn in self.turns])
        about = {"sample_id": self.sample_id, "metadata": self.metadata}
        whole = Result(together.model_copy(update=about), self.scoring)
        object.__setattr__(self, "whole", whole)

    @property
    def score(self) -> float | None:
        """In [0, 1]; None where a turn failed, or no turn has a score."""
        return self.whole.score

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; None where there is no score."""
        return self.whole.passed

    @property
    def unscored(self) -> Unscored | None:
        """Why there is no score of its own, and which turn is to blame."""
        return self.whole.unscored

    @property
    def assessment(self) -> Assessment:
        """The claims of all turns as one assessment."""
        return self.whole.assessment

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims of all turns that have a score, in order."""
        return self.whole.claims

    @property
    def usage(self) -> Usage:
        """What it cost this time: nothing for turns that a store or another evaluator had."""
        return sum((turn.usage for turn in self.turns), Usage())

    @property
    def breakdown(self) -> dict[str, float]:
        """Claims per level over all turns; the score is made of these."""
        return self.whole.breakdown

    @property
    def reason(self) -> str:
        """The score in one sentence, with the lowest turn and those without a score."""
        if len(self.turns) == 1:
            return self.whole.reason
        if self.unscored is not None:
            return self.whole.reason
        scores, without = [], []
        for number, turn in enumerate(self.turns, start=1):
            if turn.unscored is not None:
                without.append(f"turn {number} ({turn.unscored.reason})")
            elif turn.score is not None:
                scores.append((turn.score, number))
        least, number = min(scores)
        parts = [
            self.whole.reason,
            f"lowest of {len(self.turns)} turns: {least:.3f} (turn {number})",
        ]
        if without:
            more = f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else ""
            parts.append(f"without a score: {', '.join(without[:_SHOWN])}{more}")
        return "; ".join(parts)

    def at(self, temperature: float | str, **changes: Any) -> ConversationResult:
        """The same judgements at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        turns = tuple(turn.at(temperature, **changes) for turn in self.turns)
        scoring = self.scoring.changed(temperature=temperature, **changes)
        return ConversationResult(turns, scoring, self.sample_id, self.metadata)

    def unscored_for(self, why: Unscored) -> ConversationResult:
        """The result of another conversation that has no score, by the same judge and settings."""
        return ConversationResult((self.turns[0].unscored_for(why),), self.scoring)

    def _repr_html_(self) -> str:
        """The whole's, for a notebook."""
        return self.whole._repr_html_()

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: each turn's result, the setting, and what follows from them."""
        return {
            "kind": self.kind,
            "score": self.score,
            "passed": self.passed,
            "reason": self.reason,
            "breakdown": self.breakdown,
            "schema_version": SCHEMA_VERSION,
            "scoring": self.scoring.model_dump(mode="json"),
            "sample_id": self.sample_id,
            "metadata": written_out(self.metadata),
            "turns": [turn.to_dict() for turn in self.turns],
        }

    def to_json(self) -> str:
        """One line of JSON that `from_json` reads back to an equal result."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The result that `to_dict` gave; the score is worked out again.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        try:
            scoring = ScoringConfig(**plain["scoring"])
            turns = tuple(map(Result.from_dict, plain["turns"]))
            return cls(turns, scoring, plain["sample_id"], dict(plain["metadata"]))
        except (KeyError, TypeError, ValueError, InvalidValueError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            msg = f"not a conversation's result of layout {SCHEMA_VERSION}: {why}"
            raise UnreadableInputError(msg) from None

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The result that `to_json` wrote.

        Raises:
            UnreadableInputError: Not JSON, another layout version, or fields that do not fit.
        """
        return cls.from_dict(json_object(text, what="a conversation's result"))


def pooled(turns: Sequence[Assessment]) -> Assessment:
    """The judgements of several turns as one: its claims are those of all turns that have a score.

    Args:
        turns: One each, at least one. Where one failed, or was too long to judge, there is no score;
            the same holds, each for itself, for additional judges, a panel's judges and repeats.
    """
    numbered = [*enumerate(turns, start=1)]
    scored = [turn for turn in turns if turn.unscored is None]
    lost = [(n, turn) for n, turn in numbered if turn.failure or _is_too_long(turn)]
    unscored = _why(lost or numbered, len(turns)) if lost or not scored else None
    if unscored is not None:
        scored = []
    first = scored[0] if scored else turns[0]
    return first.model_copy(
        update={
            "claims": tuple(claim for turn in scored for claim in turn.claims),
            "unscored": unscored,
            "members": _judge_by_judge([turn.members for turn in scored]),
            "panel": _judge_by_judge([turn.panel for turn in scored]),
            "usage": sum((turn.usage for turn in turns), Usage()),
            "from_store": all(turn.from_store for turn in turns),
            "shared": not any(turn.is_new for turn in turns),
        }
    )


def _judge_by_judge(turns: Sequence[Sequence[Assessment]]) -> tuple[Assessment, ...]:
    """What each of several judges said in all turns."""
    return tuple(map(pooled, zip(*turns, strict=True)))


def _is_too_long(turn: Assessment) -> bool:
    return turn.unscored is not None and turn.unscored.reason is Reason.TOO_LONG


def _why(turns: Sequence[tuple[int, Assessment]], number: int) -> Unscored:
    """Why there is no score: that of a turn, which it names where there are several."""
    found = [(n, turn.unscored) for n, turn in turns if turn.unscored is not None]
    # A fatal failure comes first: it says that no other call can succeed.
    place, first = max(found, key=lambda each: each[1].fatal)
    if number == 1:
        return first
    more = f" (and {len(found) - 1} more turns)" if len(found) > 1 else ""
    return first.model_copy(update={"detail": f"turn {place}: {first.detail}{more}"})
