"""TCVA in agents: judge the final answer against what the tools returned."""

from __future__ import annotations

from typing import Any, NotRequired

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from pydantic import NonNegativeInt

from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.langchain.evaluator import check_evaluator
from tcva_adapters.langchain.results import TCVAOutput, at_gate
from tcva_adapters.langchain.samples import CRITIC
from tcva_adapters.results.settings_base import check


class TCVAState(AgentState[Any]):
    """An agent's state with the evaluator's output for its last answer under ``tcva``."""

    tcva: NotRequired[TCVAOutput]


class TCVAMiddleware(AgentMiddleware[TCVAState, Any, Any]):
    """Judges an agent's answers, and asks the model again where an answer fails.

    An answer is a message of the model without tool calls. Its question is the last human message,
    its contexts are the tool messages. The output is in the state's ``tcva``, which
    `result_of` reads: there ``passed`` is True, or None where the answer claims nothing (a greeting,
    a refusal), or False. If the score is too low, or no tool was used, the model is asked again; if
    the judge failed, it is not.

    Args:
        evaluator: An evaluator, also configured or wrapped.
        max_retries: How often the model is asked again per question; 0 only judges.

    Raises:
        InvalidValueError: `max_retries` is not a whole number from 0, or the evaluator is not one.
    """

    state_schema = TCVAState

    def __init__(
        self, evaluator: Runnable[Any, TCVAOutput], *, max_retries: int = 1
    ) -> None:
        check_evaluator(evaluator)
        super().__init__()
        self.evaluator = evaluator
        self.max_retries = check(NonNegativeInt, "max_retries", max_retries)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: TCVAState, runtime: object) -> Arguments | None:  # noqa: ARG002  # LangChain passes it
        """Judge the model's answer, and send the model back if the answer fails."""
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
        """The same, awaited."""
        if not _is_answer(state):
            return None
        return self._update(
            state, await self.evaluator.ainvoke({"messages": state["messages"]})
        )

    def _update(self, state: TCVAState, output: TCVAOutput) -> Arguments:
        decision = at_gate(output)
        if decision["value"] != "fail" or _retries(state) >= self.max_retries:
            return {"tcva": decision}
        text = (
            f"{decision['reasoning']}\nAnswer again. Say only what your tools return."
        )
        return {
            "tcva": decision,
            "messages": [HumanMessage(text, name=CRITIC)],
            "jump_to": "model",
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
