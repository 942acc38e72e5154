"""The score of a conversation: a view of the judgements of all its turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.judgement import SCHEMA_VERSION
from tcva_adapters.results.reasons import Reason, Unscored
from tcva_adapters.results.result import Result, setting_in, substitute_text
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.usage import Usage

_SHOWN: Final = 3
_USUAL: Final = ScoringConfig()
_OF_TURNS: Final = ("claims", "members", "panel")


@dataclass(frozen=True, init=False)
class ConversationResult(Result):
    """The score over the claims of all turns of a conversation, and each turn's own result.

    It is the `Result` of one assessment with the claims of all turns. A turn without a score for a
    reason of its own (it claims nothing, nothing was retrieved) adds no claims, and ``reason`` names
    it. Where a turn failed, or was too long to judge, the conversation has no score; likewise under
    ``uncontexted="fail"`` where a turn claims something without contexts.

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
        scoring = scoring or turns[0].scoring
        together = pooled([turn.assessment for turn in turns], scoring)
        about = {"sample_id": sample_id, "metadata": dict(metadata or {})}
        object.__setattr__(self, "turns", tuple(turns))
        about["judged_by"] = {**together.judged_by, "scored": "a conversation"}
        super().__init__(together.model_copy(update=about), scoring, turns[0].certified)

    @property
    def usage(self) -> Usage:
        """What it cost this time: nothing for turns that a store or another evaluator had."""
        return sum((turn.usage for turn in self.turns), Usage())

    @property
    def summary(self) -> str:
        """The score, with the lowest turn and those that have none, without any text."""
        if self.unscored is not None or len(self.turns) == 1:
            return super().summary
        numbered = [*enumerate(self.turns, start=1)]
        least, place = min(
            (t.score or 0.0, n) for n, t in numbered if t.unscored is None
        )
        parts = [
            super().summary,
            f"lowest of {len(numbered)} turns: {least:.3f} (turn {place})",
        ]
        without = [
            f"turn {number} ({turn.unscored.reason}{substitute_text(turn.score)})"
            for number, turn in numbered
            if turn.unscored is not None
        ]
        if without:
            named = ", ".join([*without[:_SHOWN], "..."][: len(without)])
            parts.append(f"without a score: {named}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sample_id!r}, {self.reason!r})"

    def changed(self, **settings: Any) -> Self:
        """The same judgements under other settings of the score, by name. No call.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        turns = [turn.changed(**settings) for turn in self.turns]
        scoring = self.scoring.changed(**settings)
        return type(self)(turns, scoring, self.sample_id, self.metadata)

    def unscored_for(self, why: Unscored) -> Self:
        """The result of another conversation that has no score, by the same judge and settings."""
        return type(self)([self.turns[0].unscored_for(why)], self.scoring)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values: what `Result.to_dict` gives, with each turn's in place of the claims."""
        plain = {
            name: each
            for name, each in super().to_dict().items()
            if name not in _OF_TURNS
        }
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
        return cls(
            [Result.from_dict(turn) for turn in turns], setting_in(plain)[0], *about
        )


def pooled(turns: Sequence[Assessment], scoring: ScoringConfig = _USUAL) -> Assessment:
    """The judgements of several turns as one, with the claims of all turns.

    Args:
        turns: One each, at least one. Where one failed, or was too long to judge, there is no score;
            the same holds, each for itself, for additional judges, a panel's judges and repeats.
        scoring: Of the conversation. Where it closes turns that claim something without contexts,
            one of these leaves the conversation without a score, too.
    """
    if len(turns) == 1:
        return turns[0]
    why = {
        n: turn.unscored
        for n, turn in enumerate(turns, start=1)
        if turn.unscored is not None
    }
    lost = {
        number: unscored
        for number, unscored in why.items()
        if unscored.reason.is_failure
        or unscored.reason is Reason.TOO_LONG
        or scoring.closes(unscored.reason)
    }
    scored = [] if lost else [turn for turn in turns if turn.unscored is None]
    unscored = None
    if (
        not scored
    ):  # a fatal failure comes first: it says that no other call can succeed
        ranks = [*Reason]  # what claims nothing comes last
        place, unscored = max(
            (lost or why).items(),
            key=lambda each: (each[1].fatal, ranks.index(each[1].reason)),
        )
        unscored = unscored.model_copy(
            update={"detail": f"turn {place}: {unscored.detail}"}
        )
    first = scored[0] if scored else turns[0]
    return first.model_copy(
        update={
            "claims": ()
            if lost
            else tuple(claim for turn in turns for claim in turn.claims),
            "earlier_contexts": any(turn.earlier_contexts for turn in scored),
            "unscored": unscored,
            "marked_of_one": max(turn.marked_share for turn in turns),
            # Each judge's, of several.
            "members": tuple(
                map(pooled, zip(*(turn.members for turn in scored), strict=True))
            ),
            "panel": tuple(
                map(pooled, zip(*(turn.panel for turn in scored), strict=True))
            ),
            "usage": sum((turn.usage for turn in turns), Usage()),
            "from_store": all(turn.from_store for turn in turns),
            "shared": not any(turn.is_new for turn in turns),
        }
    )
