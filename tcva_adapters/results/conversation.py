"""The score of a conversation: a view of the judgements of all its turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from tcva_adapters.errors import InvalidValueError, UnreadableInputError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.results.judgement import SCHEMA_VERSION, Reason, Unscored, Usage
from tcva_adapters.results.result import Result, setting_in, substitute_text
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample

_SHOWN = 3
_USUAL = ScoringConfig()
_OF_TURNS = ("claims", "members", "panel")


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
        turns: The results of the turns.

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
        metadata: Fields | None = None,
    ) -> None:
        if not turns:
            raise InvalidValueError(
                "a conversation's result must have at least one turn, got none"
            )
        object.__setattr__(self, "turns", tuple(turns))
        scoring = scoring or turns[0].scoring
        together = pool_turns([turn.assessment for turn in turns], scoring)
        own_fields = {
            "sample_id": sample_id,
            "metadata": dict(metadata or {}),
            "judged_by": {**together.judged_by, "scored": "a conversation"},
        }
        super().__init__(
            together.model_copy(update=own_fields), scoring, turns[0].certified
        )

    @property
    def usage(self) -> Usage:
        """The cost of this run; turns that a store or another evaluator supplied cost nothing."""
        return sum((turn.usage for turn in self.turns), Usage())

    @property
    def summary(self) -> str:
        """The score, the lowest turn and the turns without a score, without any text of them."""
        if self.unscored is not None or len(self.turns) == 1:
            return super().summary
        numbered = [*enumerate(self.turns, start=1)]
        least, place = min(
            (t.score or 0.0, n) for n, t in numbered if t.unscored is None
        )
        lowest = f"lowest of {len(numbered)} turns: {least:.3f} (turn {place})"
        unscored = [
            f"turn {number} ({turn.unscored.reason}{substitute_text(turn.score)})"
            for number, turn in numbered
            if turn.unscored is not None
        ]
        if len(unscored) > _SHOWN:
            unscored[_SHOWN:] = ["..."]
        parts = [super().summary, lowest]
        if unscored:
            parts.append(f"without a score: {', '.join(unscored)}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sample_id!r}, {self.reason!r})"

    def changed(self, **settings: object) -> Self:
        """Score the same judgements under other settings, given by name; no call is made.

        Raises:
            InvalidValueError: A setting is out of range, or unknown.
        """
        turns = [turn.changed(**settings) for turn in self.turns]
        return type(self)(
            turns, self.scoring.changed(**settings), self.sample_id, self.metadata
        )

    def _judged_sample(self, view: str, sample: Sample | None) -> Sample:
        if len(self.turns) > 1:
            raise InvalidValueError(
                f"{view}() is about one answer, and this conversation has {len(self.turns)}; call it on each "
                "of result.turns with the turn's sample, or judge the conversation without require_citations"
            )
        return super()._judged_sample(view, sample)

    def unscored_for(self, why: Unscored) -> Self:
        """Make a result without a score for another conversation, with this judge and settings."""
        return type(self)([self.turns[0].unscored_for(why)], self.scoring)

    def to_dict(self) -> Json:
        """Convert to JSON values: those of `Result.to_dict`, with the turns in place of the claims."""
        plain = super().to_dict()
        for name in _OF_TURNS:
            del plain[name]
        return {**plain, "turns": [turn.to_dict() for turn in self.turns]}

    @classmethod
    def from_dict(cls, plain: Fields) -> Self:
        """Read a result from the values of `to_dict`; the score is computed again.

        Raises:
            UnreadableInputError: Another layout version, or fields that do not fit.
        """
        turns = plain.get("turns")
        if not isinstance(turns, list) or not turns:
            raise UnreadableInputError(
                f"not a conversation's result of layout {SCHEMA_VERSION}: it has no turns"
            )
        return cls(
            [Result.from_dict(turn) for turn in turns],
            scoring=setting_in(plain)[0],
            sample_id=plain.get("sample_id"),
            metadata=plain.get("metadata"),
        )


def pool_turns(
    turns: Sequence[Assessment], scoring: ScoringConfig = _USUAL
) -> Assessment:
    """Pool the judgements of several turns into one, with the claims of all turns.

    Args:
        turns: An assessment of each turn, at least one. Where one failed, or was too long to
            judge, there is no score. Each additional judge, panel judge and repeat is pooled for
            itself in the same way.
        scoring: The settings of the conversation. Under ``uncontexted="fail"`` a turn that claims
            something without contexts leaves the conversation without a score, too.
    """
    if len(turns) == 1:
        return turns[0]
    reasons = {
        number: turn.unscored
        for number, turn in enumerate(turns, start=1)
        if turn.unscored is not None
    }
    lost = {number: why for number, why in reasons.items() if _loses_all(why, scoring)}
    scored = [] if lost else [turn for turn in turns if turn.unscored is None]
    claims = [claim for turn in turns for claim in turn.claims]
    first = scored[0] if scored else turns[0]
    return first.model_copy(
        update={
            "claims": () if lost else tuple(claims),
            "earlier_contexts": any(turn.earlier_contexts for turn in scored),
            "unscored": None if scored else _worst(lost or reasons),
            "marked_of_one": max(turn.marked_share for turn in turns),
            # Additional judges, panels and repeats are pooled judge by judge.
            "members": _pooled_parts(turn.members for turn in scored),
            "panel": _pooled_parts(turn.panel for turn in scored),
            "usage": sum((turn.usage for turn in turns), Usage()),
            "from_store": all(turn.from_store for turn in turns),
            "shared": not any(turn.is_new for turn in turns),
        }
    )


def _loses_all(why: Unscored, scoring: ScoringConfig) -> bool:
    """Whether one turn without a score leaves its conversation without one."""
    is_lost = why.reason.is_failure or why.reason is Reason.TOO_LONG
    return is_lost or scoring.closes(why.reason)


def _worst(reasons: Mapping[int, Unscored]) -> Unscored:
    """Choose why a conversation has no score: a fatal failure first, since no call can succeed."""
    ranks = [*Reason]  # what claims nothing comes last
    number = max(
        reasons, key=lambda n: (reasons[n].fatal, ranks.index(reasons[n].reason))
    )
    why = reasons[number]
    return why.model_copy(update={"detail": f"turn {number}: {why.detail}"})


def _pooled_parts(parts: Iterable[Sequence[Assessment]]) -> tuple[Assessment, ...]:
    return tuple(map(pool_turns, zip(*parts, strict=True)))
