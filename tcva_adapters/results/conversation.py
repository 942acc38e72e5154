"""The score of a conversation: a view of the judgements of all its turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import SCHEMA_VERSION, Assessment, Reason, Unscored, Usage
from tcva_adapters.results.result import Result, setting_in
from tcva_adapters.results.settings import ScoringConfig

_SHOWN: Final = 3
_OF_TURNS: Final = ("claims", "members", "panel")


@dataclass(frozen=True, init=False)
class ConversationResult(Result):
    """The score over the claims of all turns of a conversation, and each turn's own result.

    It is the `Result` of one assessment with the claims of all turns. A turn without a score for a
    reason of its own (it claims nothing, nothing was retrieved) adds no claims, and ``reason`` names
    it. Where a turn failed, or was too long to judge, the conversation has no score.

    Args:
        turns: A result for each turn, at least one.
        scoring: The setting of the conversation's score; by default that of the first turn.
        sample_id: The conversation's id.
        metadata: The conversation's metadata.

    Attributes:
        turns: Likewise.

    Raises:
        InvalidValueError: There is no turn.

    >>> turns = [Result(Assessment.from_verdicts(v)) for v in (["fully", "mostly"], ["partial"])]
    >>> talk = ConversationResult(turns)
    >>> talk.score == Result(Assessment.from_verdicts(["fully", "mostly", "partial"])).score
    True
    >>> round(talk.score, 3), round(talk.at("strict").score, 3)
    (0.867, 0.803)
    """

    turns: tuple[Result, ...] = ()
    kind: ClassVar[str] = "conversation"

    def __init__(
        self,
        turns: Sequence[Result],
        scoring: ScoringConfig | None = None,
        sample_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        if not turns:
            msg = "a conversation's result must have at least one turn, got none"
            raise InvalidValueError(msg)
        together = pooled([turn.assessment for turn in turns])
        about = {"sample_id": sample_id, "metadata": dict(metadata or {})}
        object.__setattr__(self, "turns", tuple(turns))
        about["judged_by"] = {**together.judged_by, "scored": "a conversation"}
        how = scoring or turns[0].scoring, turns[0].certified
        super().__init__(together.model_copy(update=about), *how)

    @property
    def usage(self) -> Usage:
        """What it cost this time: nothing for turns that a store or another evaluator had."""
        return sum((turn.usage for turn in self.turns), Usage())

    @property
    def reason(self) -> str:
        """The score in one sentence, with the lowest turn and those without a score."""
        if self.unscored is not None or len(self.turns) == 1:
            return super().reason
        numbered = [*enumerate(self.turns, start=1)]
        least, place = min((t.score or 0.0, n) for n, t in numbered if t.unscored is None)
        said = f"{super().reason}; lowest of {len(numbered)} turns: {least:.3f} (turn {place})"
        without = [f"turn {n} ({t.unscored.reason})" for n, t in numbered if t.unscored is not None]
        named = ", ".join([*without[:_SHOWN], "..."][: len(without)])
        return f"{said}; without a score: {named}" if named else said

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sample_id!r}, {self.reason!r})"

    def at(self, temperature: float | str, **changes: Any) -> ConversationResult:
        """The same judgements at another temperature, and other settings by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        turns = [turn.at(temperature, **changes) for turn in self.turns]
        scoring = self.scoring.changed(temperature=temperature, **changes)
        return ConversationResult(turns, scoring, self.sample_id, self.assessment.metadata)

    def unscored_for(self, why: Unscored) -> Self:
        """The result of another conversation that has no score, by the same judge and settings."""
        return type(self)([self.turns[0].unscored_for(why)], self.scoring)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: what `Result.to_dict` gives, with each turn's in place of the claims."""
        plain = {name: each for name, each in super().to_dict().items() if name not in _OF_TURNS}
        return {**plain, "turns": [turn.to_dict() for turn in self.turns]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The result that `to_dict` gave; the score is worked out again.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        turns = plain.get("turns")
        if not isinstance(turns, list) or not turns:
            msg = f"not a conversation's result of layout {SCHEMA_VERSION}: it has no turns"
            raise UnreadableInputError(msg)
        about = plain.get("sample_id"), plain.get("metadata")
        return cls([Result.from_dict(turn) for turn in turns], setting_in(plain)[0], *about)


def pooled(turns: Sequence[Assessment]) -> Assessment:
    """The judgements of several turns as one: its claims are those of all turns that have a score.

    Args:
        turns: One each, at least one. Where one failed, or was too long to judge, there is no score;
            the same holds, each for itself, for additional judges, a panel's judges and repeats.
    """
    if len(turns) == 1:
        return turns[0]
    why = {n: turn.unscored for n, turn in enumerate(turns, start=1) if turn.unscored is not None}
    lost = {n: w for n, w in why.items() if w.reason.is_failure or w.reason is Reason.TOO_LONG}
    scored = [] if lost else [turn for turn in turns if turn.unscored is None]
    unscored = None
    if not scored:  # a fatal failure comes first: it says that no other call can succeed
        place, unscored = max((lost or why).items(), key=lambda each: each[1].fatal)
        unscored = unscored.model_copy(update={"detail": f"turn {place}: {unscored.detail}"})
    first = scored[0] if scored else turns[0]
    return first.model_copy(
        update={
            "claims": tuple(claim for turn in scored for claim in turn.claims),
            "unscored": unscored,
            # Each judge's, of several.
            "members": tuple(map(pooled, zip(*(turn.members for turn in scored), strict=True))),
            "panel": tuple(map(pooled, zip(*(turn.panel for turn in scored), strict=True))),
            "usage": sum((turn.usage for turn in turns), Usage()),
            "from_store": all(turn.from_store for turn in turns),
            "shared": not any(turn.is_new for turn in turns),
        }
    )
