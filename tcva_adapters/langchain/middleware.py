"""TCVA in agents: judge the final answer against what the tools returned."""

from __future__ import annotations

from itertools import takewhile
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from pydantic import Field

from tcva_adapters.langchain.evaluator import check_evaluator
from tcva_adapters.langchain.results import TCVAOutput
from tcva_adapters.langchain.samples import CRITIC
from tcva_adapters.results.settings import check


class TCVAState(AgentState[Any]):
    """An agent's state with the evaluator's output for its last answer under ``tcva``."""

    tcva: NotRequired[TCVAOutput]


class TCVAMiddleware(AgentMiddleware[TCVAState, Any, Any]):
    """Judges an agent's answers, and asks the model again where an answer fails.

    An answer is a message of the model without tool calls. Its contexts are the tool messages, its
    question is the last human message. The output is in the state's ``tcva``, which `result_of`
    reads. Unscored answers (no tool was used, a refusal, a failed judge) are not sent back.

    Args:
        evaluator: An evaluator, also configured or wrapped.
        max_retries: How often the model is asked again per question; 0 only judges.

    Raises:
        InvalidValueError: `max_retries` is not a whole number from 0, or the evaluator is not one.
    """

    state_schema = TCVAState

    def __init__(self, evaluator: Runnable[Any, TCVAOutput], *, max_retries: int = 1) -> None:
        check_evaluator(evaluator)
        super().__init__()
        self.evaluator = evaluator
        self.max_retries = check(Annotated[int, Field(ge=0)], "max_retries", max_retries)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: TCVAState, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002  # LangChain passes it
        """Judge the model's answer."""
        if not _is_answer(state):
            return None
        return self._update(state, self.evaluator.invoke({"messages": state["messages"]}))

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: TCVAState, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002  # as above
        """The same, awaited."""
        if not _is_answer(state):
            return None
        return self._update(state, await self.evaluator.ainvoke({"messages": state["messages"]}))

    def _update(self, state: TCVAState, output: TCVAOutput) -> dict[str, Any]:
        if output["passed"] is not False or _retries(state) >= self.max_retries:
            return {"tcva": output}
        text = f"{output['reasoning']}\nAnswer again. Say only what the tools returned."
        critique = HumanMessage(text, name=CRITIC)
        return {"tcva": output, "messages": [critique], "jump_to": "model"}


def _is_answer(state: TCVAState) -> bool:
    last = state["messages"][-1]
    return isinstance(last, AIMessage) and not last.tool_calls and bool(last.text)


def _retries(state: TCVAState) -> int:
    """How often the current question was sent back; so it starts anew with every question."""
    asked = (each for each in reversed(state["messages"]) if isinstance(each, HumanMessage))
    return sum(1 for _ in takewhile(lambda message: message.name == CRITIC, asked))
