"""TCVA in agents: judge the final answer against what the tools returned."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from pydantic import NonNegativeInt

from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.langchain.gating import gate
from tcva_adapters.langchain.results import TCVAOutput, at_gate
from tcva_adapters.langchain.samples import CRITIC
from tcva_adapters.results.settings_base import check
from tcva_adapters.serving import REFUSAL, OnFail

OnAgentFail: TypeAlias = OnFail | Literal["retry"]
"""What is done with an agent's answer that fails."""


class TCVAState(AgentState[Any]):
    """An agent's state with the evaluator's output for its last answer under ``tcva``."""

    tcva: NotRequired[TCVAOutput]


class TCVAMiddleware(AgentMiddleware[TCVAState, Any, Any]):
    """Judges an agent's answers, and decides what is served of those that fail.

    An answer is a message of the model without tool calls. Its question is the last human message,
    its contexts are the tool messages. The output is in the state's ``tcva``, which
    `result_of` reads: there ``passed`` is True, or None where the answer claims nothing (a greeting,
    a refusal), or False. If the score is too low, or no tool was used, the model is asked again; if
    the judge failed, it is not. An answer that fails in the end is replaced by `refusal`.

    A message that is replaced or flagged keeps its id, and has the marks in its
    ``response_metadata["tcva"]``. What
    ``stream_mode="messages"`` has sent while the model wrote cannot be recalled; `gate` cuts streams of
    chains. With another text, ``structured_response`` becomes None; output of a tool call
    (``ToolStrategy``) is not judged.

    Args:
        evaluator: An evaluator, also configured or wrapped.
        on_fail: ``"retry"`` asks the model again; the other ones are those of `gate`.
        max_retries: How often the model is asked again per question.
        refusal: The text in place of an answer that is refused, or of which no claim is left.

    Raises:
        InvalidValueError: An argument is of the wrong kind, or ``on_fail`` acts on claims and the
            evaluator judges none.
    """

    state_schema = TCVAState

    def __init__(
        self,
        evaluator: Runnable[Any, TCVAOutput],
        *,
        on_fail: OnAgentFail = "retry",
        max_retries: int = 1,
        refusal: str = REFUSAL,
    ) -> None:
        super().__init__()
        self.evaluator = evaluator
        self.on_fail = check(OnAgentFail, "on_fail", on_fail)
        self.max_retries = check(NonNegativeInt, "max_retries", max_retries)
        in_the_end: Any = "refuse" if on_fail == "retry" else on_fail
        self.gate = gate(evaluator, on_fail=in_the_end, refusal=refusal)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: TCVAState, runtime: object) -> Arguments | None:  # noqa: ARG002  # LangChain passes it
        """Judge the model's answer, and serve, replace or send back what it is.

        Raises:
            BelowThresholdError: The answer fails, with ``on_fail="raise"``.
        """
        if not _is_answer(state):
            return None
        return self._update(
            state, self.evaluator.invoke({"messages": state["messages"]})
        )

    @hook_config(can_jump_to=["model"])
    async def aafter_model(
        self,
        state: TCVAState,
        runtime: object,  # noqa: ARG002  # as above
    ) -> Arguments | None:
        """The same, awaited.

        Raises:
            BelowThresholdError: As for `after_model`.
        """
        if not _is_answer(state):
            return None
        return self._update(
            state, await self.evaluator.ainvoke({"messages": state["messages"]})
        )

    def _update(self, state: TCVAState, output: TCVAOutput) -> Arguments:
        decision = at_gate(self.gate.as_cited({"messages": state["messages"]}, output))
        is_retried = self.on_fail == "retry"
        if is_retried and decision["passed"] is not False:
            return {"tcva": decision}
        is_low = is_retried and decision["value"] == "fail"
        if is_low and _retries(state) < self.max_retries:
            text = f"{decision['reasoning']}\nAnswer again. Say only what your tools return."
            return {
                "tcva": decision,
                "messages": [HumanMessage(text, name=CRITIC)],
                "jump_to": "model",
            }
        read = {"messages", "structured_response"}
        value = {name: held for name, held in state.items() if name in read}
        served = self.gate.serve(value, output)
        pairs = zip(served["messages"], state["messages"], strict=True)
        return {
            **served,
            "tcva": decision,
            "messages": [after for after, before in pairs if after is not before],
        }


def _is_answer(state: TCVAState) -> bool:
    last = state["messages"][-1]
    return isinstance(last, AIMessage) and not last.tool_calls


def _retries(state: TCVAState) -> int:
    """Count how often the answer to the current question was sent back."""
    retries = 0
    for message in reversed(state["messages"]):
        if isinstance(message, HumanMessage):
            if message.name != CRITIC:
                break
            retries += 1
    return retries
