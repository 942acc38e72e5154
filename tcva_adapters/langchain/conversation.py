"""TCVA on whole conversations, as one step of a chain and in LangSmith."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict  # pydantic reads the other ones from 3.12 on

from tcva_adapters._adapter.conversation import ConversationScorer
from tcva_adapters.langchain.evaluator import TCVAEvaluator
from tcva_adapters.langchain.samples import as_conversation, sample_for
from tcva_adapters.samples.conversation import Conversation


class TCVAConversationInput(TypedDict, total=False):
    """The messages of a conversation, and fields that may accompany them."""

    messages: list[Any]
    contexts: list[Any]
    reference: str


class TCVAConversationEvaluator(TCVAEvaluator):
    """Judges every answer of a conversation and scores the claims of all together, as a Runnable.

    The input is a list of messages (LangChain's, dicts, pairs of a role and a text), an agent's
    state, or another mapping with ``messages``. A turn is a question of the user and the model's
    last text (or texts in a row) before the next; its contexts are the tool messages between them, or the
    ``contexts`` of the mapping. A turn costs one call, a turn that was judged before none.

    `TCVARunEvaluator`, `create_tcva_judge` and `gate` take it as they take a `TCVAEvaluator`.

    Args:
        llm: As for `TCVAEvaluator`.
        criterion: As for `TCVAEvaluator`.
        mapper: A function that turns the output of the previous step into messages, a mapping that
            holds them, or a `Conversation`.
        name: The run's name in traces.
        **settings: See `TCVASettings`.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised before any call.
        MissingDependencyError: The judge's package is not installed.
        JudgeError: The judge has no API key.

    >>> talk = [("user", "When does it open?"), ("tool", "It opens at nine."),
    ...         ("assistant", "It opens at nine."), ("user", "Thanks!"), ("assistant", "Bye!")]
    >>> seen = TCVAConversationEvaluator("lexical").invoke(talk)
    >>> seen["score"], [turn["score"] for turn in seen["turns"]]
    (1.0, [1.0, None])
    """

    if TYPE_CHECKING:
        __init__ = TCVAEvaluator.__init__

    @property
    def InputType(self) -> type[Any]:  # noqa: N802  # LangChain's name for it
        """The type that schemas and tools show; `invoke` also reads a list of messages."""
        return TCVAConversationInput

    def _judging(self) -> ConversationScorer:
        return ConversationScorer(self.scorer)

    def _read(self, value: Any) -> Conversation:
        return sample_for(self._judging(), value, as_conversation)
