"""A gate that lets answers through, stops them, or takes their unsupported claims out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableSerializable,
    ensure_config,
)
from pydantic import ConfigDict, SkipValidation

from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.evaluator import Frozen
from tcva_adapters.langchain.answers import (
    require_claims,
    served_value,
)
from tcva_adapters.langchain.evaluator import (
    check_evaluator,
    evaluator_in,
)
from tcva_adapters.langchain.results import TCVAOutput, at_gate, result_of
from tcva_adapters.results.settings_base import check
from tcva_adapters.serving import (
    REFUSAL,
    OnFail,
)


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


class Gate(Frozen, RunnableSerializable[Any, Any]):
    """Judges the answer of the previous step, and passes on what may be served; see `gate`.

    Args:
        evaluator: An evaluator, also configured or wrapped.
        on_fail: See `gate`. This and the following can be configured by a run.
        refusal: See `gate`.
        allow_unscored: See `gate`.
        name: The run's name in traces.

    Raises:
        InvalidValueError: An argument is of the wrong kind, or the evaluator judges no claims.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    changes: ClassVar = "build a new one"
    _is_built: ClassVar = True  # type: ignore[misc]  # from the start: pydantic sets nothing

    evaluator: Annotated[Any, SkipValidation]
    on_fail: OnFail
    refusal: str
    allow_unscored: bool

    def __init__(
        self,
        evaluator: Runnable[Any, TCVAOutput],
        *,
        on_fail: OnFail = "raise",
        refusal: str = REFUSAL,
        allow_unscored: bool = False,
        name: str | None = "tcva_gate",
    ) -> None:
        check_evaluator(evaluator)
        check(OnFail, "on_fail", on_fail)
        check(str, "refusal", refusal)
        check(bool, "allow_unscored", allow_unscored)
        require_claims(evaluator, on_fail)
        fields: Arguments = {"evaluator": evaluator, "on_fail": on_fail}
        fields |= {"refusal": refusal, "allow_unscored": allow_unscored}
        super().__init__(**fields, name=name)

    def invoke(
        self,
        input: Any,  # noqa: A002  # LangChain's name for it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Judge an answer, and return what may be served.

        Raises:
            BelowThresholdError: It does not pass, with ``on_fail="raise"``.
            InvalidSampleError: The input cannot be read, or its answer cannot be replaced.
            InvalidValueError: There is no place for marks, with ``on_fail="flag"``.
        """
        self._check_place(input)
        return self._call_with_config(self._serve, input, config, **kwargs)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """The same, awaited."""
        self._check_place(input)
        return await self._acall_with_config(self._aserve, input, config, **kwargs)

    def _serve(self, value: Any) -> Any:
        return self._served(value, self.evaluator.invoke(value))

    async def _aserve(self, value: Any) -> Any:
        return self._served(value, await self.evaluator.ainvoke(value))

    def _served(self, value: Any, output: TCVAOutput) -> Any:
        """Return what may be served of a value that was judged."""
        if self.on_fail != "raise":
            return served_value(
                evaluator_in(self.evaluator, ensure_config()),
                value,
                output,
                self.on_fail,
                refusal=self.refusal,
                allow_unscored=self.allow_unscored,
            )
        decision = output if self.allow_unscored else at_gate(output)
        if decision["passed"] is False:
            raise BelowThresholdError(value, decision)
        return value

    def _check_place(self, value: Any) -> None:
        """Refuse to flag an answer that has no place for marks.

        Raises:
            InvalidValueError: It has none.
        """
        messages = value if isinstance(value, list | tuple) else [value]
        has_place = messages and isinstance(messages[-1], BaseMessage | Mapping)
        if self.on_fail == "flag" and not has_place:
            raise InvalidValueError(
                f"on_fail='flag' has no place for marks in a {type(value).__name__}; give the gate a "
                "dict (RunnablePassthrough.assign keeps all fields) or a message, or use "
                "on_fail='remove'"
            )


def gate(
    evaluator: Runnable[Any, TCVAOutput],
    *,
    on_fail: OnFail = "raise",
    refusal: str = REFUSAL,
    allow_unscored: bool = False,
) -> Gate:
    """Make a step that returns its input if its answer passes, and decides what is served if not.

    An answer that claims nothing (a greeting, a refusal) passes; see
    `Result.nothing_to_check`. An answer that claims something without contexts does not pass, nor does
    one that could not be judged.

    The input is a dict with the fields that the evaluator reads, messages, an agent's state, a message
    or a text. Other than with ``"raise"``, a copy is returned, in which the answer alone is replaced,
    where the evaluator read it, and marked: under ``tcva`` in a dict, in ``response_metadata["tcva"]``
    of a message; see `ServedAnswer.to_dict`. Messages keep their id.

    With ``"raise"``, use ``with_retry(retry_if_exception_type=(BelowThresholdError,))`` or
    ``with_fallbacks(..., exceptions_to_handle=(BelowThresholdError,))`` on the chain. In ``batch``,
    LangChain's ``with_retry`` may mix up rows; ``RunnableLambda(retried.invoke,
    afunc=retried.ainvoke)`` retries each row by itself.

    Args:
        evaluator: An evaluator, also configured or wrapped.
        on_fail: What is done with an answer that fails. By claims, with the evaluator's
            ``claim_threshold``: ``"flag"`` serves it whole with its claims marked, ``"remove"`` without
            those below. By its score: ``"refuse"`` serves `refusal` in its place, ``"raise"`` raises
            `BelowThresholdError`.
        refusal: The text in place of an answer that is refused, or of which no claim is left.
        allow_unscored: Let all answers without a score pass: without contexts, too long to judge,
            or with a failed judge. In a conversation, the turns with a score decide.

    Returns:
        The step.

    Raises:
        InvalidValueError: An argument is of the wrong kind, or ``on_fail`` acts on claims and the
            evaluator judges none.

    >>> from tcva_adapters.langchain import TCVAEvaluator
    >>> step = gate(TCVAEvaluator("lexical"), on_fail="remove")
    >>> docs = ["We open at nine."]
    >>> step.invoke({"answer": "We open at nine. Bananas ripen in bags.", "context": docs})["answer"]
    'We open at nine.'
    """
    return Gate(
        evaluator, on_fail=on_fail, refusal=refusal, allow_unscored=allow_unscored
    )
