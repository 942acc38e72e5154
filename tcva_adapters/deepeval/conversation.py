"""TCVA on whole conversations in DeepEval."""

from __future__ import annotations

from typing import Any, ClassVar

from deepeval.metrics import BaseConversationalMetric
from deepeval.test_case import ConversationalTestCase

from tcva_adapters._adapter.conversation import OfConversations
from tcva_adapters.deepeval import evaluator
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.tcva import TCVA


def _conversation_of(test_case: ConversationalTestCase) -> Conversation:
    messages: list[dict[str, Any]] = []
    for turn in test_case.turns:
        contexts = evaluator.texts_of(turn.retrieval_context)
        calls = [
            {"args": call.input_parameters, "output": call.output}
            for call in turn.tools_called or ()
        ]
        about = {"retrieval_context": contexts, "tools_called": calls}
        messages.append(
            {
                "role": turn.role,
                "content": turn.content,
                **about,
            }
        )
    return Conversation.from_messages(
        messages,
        contexts=evaluator.texts_of(test_case.context),
        reference=test_case.expected_outcome,
        id=test_case.name,
        metadata=evaluator.metadata_of(test_case),
    )


class TCVAConversationalMetric(  # type: ignore[misc,no-untyped-call,override]  # as for `ScorerMetric`
    evaluator.TCVAArguments,
    evaluator.OfScorer[ConversationResult],
    BaseConversationalMetric,
):
    """Judges every answer of a conversation and scores the claims of all together.

    It goes wherever ``TurnFaithfulnessMetric`` goes: ``evaluate``, ``assert_test``, ``deepeval test
    run``. A turn is a question of the user and the model's last text (or texts in a row) before the next; its
    contexts are the ``retrieval_context`` and the outputs of ``tools_called`` since the question,
    or, for a turn that has none, the ``context`` of the test case. A turn costs one call, a turn
    that was judged before none. ``expected_outcome`` is the reference answer of the last turn.

    Args:
        criterion: As for `TCVAMetric`.
        threshold: As for `TCVAMetric`.
        temperature: As for `TCVAMetric`.
        model: As for `TCVAMetric`.
        **settings: As for `TCVAMetric`.

    Raises:
        InvalidValueError: As for `TCVAMetric`.
        MissingDependencyError: The judge's package is not installed.
        DeepEvalError: DeepEval chooses the provider, and its API key is missing.

    >>> from deepeval.test_case import Turn
    >>> opens = "The office opens at nine."
    >>> turns = [Turn(role="user", content="When does the office open?"),
    ...          Turn(role="assistant", content=opens, retrieval_context=[opens])]
    >>> metric = TCVAConversationalMetric(model="lexical")
    >>> metric.measure(ConversationalTestCase(turns=turns)), len(metric.result.turns)
    (1.0, 1)
    """

    _scorer: TCVA
    reads = ConversationalTestCase
    called: ClassVar = {
        **evaluator.ScorerMetric.called,
        "reference": "expected_outcome",
    }
    sample_of = staticmethod(_conversation_of)

    @property
    def judging(self) -> OfConversations:
        """What judges a conversation."""
        return OfConversations(self._scorer)
