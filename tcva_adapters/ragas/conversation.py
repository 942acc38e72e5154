"""TCVA on whole conversations in RAGAS."""

from __future__ import annotations

from langchain_core.callbacks import Callbacks
from ragas.dataset_schema import MultiTurnSample
from ragas.metrics.base import MetricType, MultiTurnMetric

from tcva_adapters._adapter.conversation import ConversationScorer
from tcva_adapters.evaluator import Scorer
from tcva_adapters.ragas.evaluator import EvaluateMetric, TCVAArguments
from tcva_adapters.ragas.samples import as_conversation
from tcva_adapters.results.conversation import ConversationResult
from tcva_adapters.samples.conversation import Conversation


class TCVAMultiTurnMetric(
    TCVAArguments[ConversationResult],
    EvaluateMetric[ConversationResult],
    MultiTurnMetric,
):
    """Judges every answer of a conversation and scores the claims of all together.

    It works in ``evaluate`` and ``aevaluate`` on datasets of ``MultiTurnSample``. A turn is a
    question of the user and the model's last text (or texts in a row) before the next; its contexts are the
    tool messages between them. A turn costs one call, a turn that was judged before none.
    ``reference`` is the reference answer of the last turn.

    Args:
        name: As for `TCVAMetric`.
        llm: As for `TCVAMetric`.
        criterion: As for `TCVAMetric`.
        **settings: As for `TCVAMetric`.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.

    >>> from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
    >>> opens = "The office opens at nine."
    >>> talk = [HumanMessage(content="When does the office open?"),
    ...         AIMessage(content="", tool_calls=[ToolCall(name="search", args={})]),
    ...         ToolMessage(content=opens), AIMessage(content=opens)]
    >>> metric = TCVAMultiTurnMetric(llm="lexical")
    >>> score = metric.multi_turn_score(MultiTurnSample(user_input=talk))
    >>> score, len(score.result.turns)
    (1.0, 1)
    """

    def _use(self, scorer: Scorer[ConversationResult], llm: object) -> None:
        super()._use(scorer, llm)
        reference = (
            "reference" if "reference" in scorer.required else "reference:optional"
        )
        self._required_columns = {MetricType.MULTI_TURN: {"user_input", reference}}

    def multi_turn_score(
        self, sample: MultiTurnSample, callbacks: Callbacks = None
    ) -> float:
        """Score one conversation. It needs no event loop and also works inside a running one.

        Raises:
            InvalidSampleError: No question has an answer, or no turn has a field that the criterion
                needs (a ValueError).
            JudgeError: The judge failed on a turn.
        """
        return self._score(
            self._only_required_columns_multi_turn(sample), callbacks or []
        )

    async def _multi_turn_ascore(
        self, sample: MultiTurnSample, callbacks: Callbacks
    ) -> float:
        return await self._ascore(sample, callbacks)

    def _judging(self) -> ConversationScorer:
        return ConversationScorer(self.scorer)

    def _read(self, row: MultiTurnSample) -> Conversation:
        return as_conversation(self._judging(), row)
