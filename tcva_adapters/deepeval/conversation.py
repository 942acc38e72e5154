"""TCVA on whole conversations in DeepEval."""

from __future__ import annotations

from typing import ClassVar

from deepeval.metrics import BaseConversationalMetric
from deepeval.test_case import ConversationalTestCase

from tcva_adapters._adapter.conversation import ConversationScorer
from tcva_adapters.deepeval.base import ScorerBase
from tcva_adapters.deepeval.evaluator import ScorerMetric, TCVAArguments
from tcva_adapters.deepeval.samples import as_conversation
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.tcva import TCVA


class TCVAConversationalMetric(  # type: ignore[misc,no-untyped-call,override]  # as for `ScorerMetric`
    TCVAArguments,
    ScorerBase[ConversationResult],
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
    test_case_class = ConversationalTestCase
    field_names: ClassVar = {
        **ScorerMetric.field_names,
        "reference": "expected_outcome",
    }
    sample_of = staticmethod(as_conversation)

    @property
    def judging(self) -> ConversationScorer:
        """The scorer on conversations."""
        return ConversationScorer(self._scorer)
