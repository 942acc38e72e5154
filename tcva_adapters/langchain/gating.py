"""A gate that stops answers that fail."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from tcva_adapters.errors import TCVAError
from tcva_adapters.langchain.evaluator import check_evaluator
from tcva_adapters.langchain.results import TCVAOutput, at_gate, result_of
from tcva_adapters.results.settings_base import check


class BelowThresholdError(TCVAError, ValueError):
    """An answer did not pass a gate.

    Attributes:
        value: The input of the gate.
        output: The evaluator's output for it.
    """

    def __init__(self, value: Any, output: TCVAOutput) -> None:
        super().__init__(output["reasoning"])
        self.value = value
        self.output = output

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an exception is copied and pickled with its message as only argument.
        return type(self), (self.value, self.output), vars(self)

    @property
    def result(self) -> Any:
        """The result behind the output; see `result_of`."""
        return result_of(self.output)


def gate(
    evaluator: Runnable[Any, TCVAOutput], *, allow_unscored: bool = False
) -> Runnable[Any, Any]:
    """Make a step that returns its input if it passes, and raises `BelowThresholdError` otherwise.

    An answer that claims nothing (a greeting, a refusal) passes; see `Result.nothing_to_check`. An
    answer that claims something without contexts does not pass, nor does one that could not be
    judged.

    Use it with ``with_retry(retry_if_exception_type=(BelowThresholdError,))`` or
    ``with_fallbacks(..., exceptions_to_handle=(BelowThresholdError,))`` on the chain. In ``batch``,
    LangChain's ``with_retry`` may mix up rows; ``RunnableLambda(retried.invoke,
    afunc=retried.ainvoke)`` retries each row by itself.

    Args:
        evaluator: An evaluator, also configured or wrapped.
        allow_unscored: Let all answers without a score pass: without contexts, too long to judge,
            or with a failed judge. In a conversation, the turns with a score decide.

    Returns:
        The step.

    Raises:
        InvalidValueError: An argument is of the wrong kind.
    """
    check_evaluator(evaluator)
    check(bool, "allow_unscored", allow_unscored)

    def let_through(value: Any, output: TCVAOutput) -> Any:
        decision = output if allow_unscored else at_gate(output)
        if decision["passed"] is False:
            raise BelowThresholdError(value, decision)
        return value

    def judge(value: Any, config: RunnableConfig) -> Any:
        return let_through(value, evaluator.invoke(value, config))

    async def ajudge(value: Any, config: RunnableConfig) -> Any:
        return let_through(value, await evaluator.ainvoke(value, config))

    return RunnableLambda(judge, afunc=ajudge, name="tcva_gate")
