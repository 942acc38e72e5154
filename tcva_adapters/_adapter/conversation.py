"""Judge conversations where an adapter judges samples."""

from __future__ import annotations

from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.results.judgement import Reason
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA


class ConversationScorer:
    """A `TCVA` that judges conversations, with the methods that a scorer has for samples.

    Args:
        tcva: The `TCVA`.

    Attributes:
        subject: The subject of the `TCVA`.
        evaluate: Judges a conversation.
        aevaluate: The same, awaited.
    """

    def __init__(self, tcva: TCVA) -> None:
        self._tcva = tcva
        self.subject = tcva.subject
        self.evaluate = tcva.evaluate_conversation
        self.aevaluate = tcva.aevaluate_conversation
        self.emit_result = tcva.emit_result

    def missing(self, conversation: Conversation) -> tuple[str, ...]:
        """Return the required fields that some turn needs and no turn has."""
        needed = {
            name for turn in conversation.turns for name in self._tcva.missing(turn)
        }
        return tuple(
            name
            for name in self._tcva.required
            if name in needed
            and all(getattr(turn, name) is None for turn in conversation.turns)
        )

    def unscored(
        self,
        reason: Reason,
        detail: str,
        conversation: Conversation | None = None,
    ) -> ConversationResult:
        """Return the result of a conversation that cannot be judged, or cannot be read."""
        sample = None
        if conversation is not None:
            sample = Sample(id=conversation.id, metadata=conversation.metadata)
        turn = self._tcva.unscored(reason, detail, sample)
        return ConversationResult(
            [turn],
            None,
            turn.sample_id,
            turn.metadata,
        )
