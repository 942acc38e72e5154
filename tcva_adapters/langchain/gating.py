"""A gate that stops weak answers, and a guard that has them written again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from typing_extensions import TypedDict

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import InvalidSampleError, TCVAError
from tcva_adapters.langchain.evaluator import check_evaluator, require
from tcva_adapters.langchain.results import TCVAOutput, result_of
from tcva_adapters.langchain.samples import run_record
from tcva_adapters.results.settings import check, check_count

_GOOD: Final = frozenset({Verdict.FULLY, Verdict.MOSTLY})


class BelowThresholdError(TCVAError, ValueError):
    """An answer did not pass a gate.

    Attributes:
        value: What the gate was given.
        output: What the evaluator said about it.
    """

    def __init__(self, value: Any, output: TCVAOutput) -> None:
        super().__init__(output["reasoning"])
        self.value = value
        self.output = output

    def __reduce__(self) -> tuple[Any, ...]:
        # By itself an exception is copied and pickled with its message as only argument.
        return type(self), (self.value, self.output), vars(self)

    @property
    def result(self) -> Any:
        """The result, to be seen at any setting; see `result_of`."""
        return result_of(self.output)


class GuardOutput(TypedDict):
    """The best attempt of a `guard`: the chain's output, its judgement, the number of attempts."""

    output: Any
    tcva: TCVAOutput
    attempts: int


def gate(
    evaluator: Runnable[Any, TCVAOutput], *, allow_unscored: bool = False
) -> Runnable[Any, Any]:
    """A step that hands on what it is given, if it passes.

    Made for ``with_retry(retry_if_exception_type=(BelowThresholdError,))`` on the chain before it,
    and for ``with_fallbacks(..., exceptions_to_handle=(BelowThresholdError,))``. In ``batch``
    LangChain's ``with_retry`` confuses rows; ``RunnableLambda(retried.invoke,
    afunc=retried.ainvoke)`` retries each row by itself.

    Args:
        evaluator: An evaluator, configured or wrapped as you like.
        allow_unscored: Let pass what has no score: refusals, empty contexts, failed judges.

    Returns:
        The step; it raises `BelowThresholdError`.

    Raises:
        InvalidValueError: An argument is of the wrong kind.
    """
    check_evaluator(evaluator)
    check(bool, "allow_unscored", allow_unscored)

    def checked(value: Any, output: TCVAOutput) -> Any:
        if output["passed"] or (allow_unscored and output["passed"] is None):
            return value
        raise BelowThresholdError(value, output)

    def judge(value: Any, config: RunnableConfig) -> Any:
        return checked(value, evaluator.invoke(value, config))

    async def ajudge(value: Any, config: RunnableConfig) -> Any:
        return checked(value, await evaluator.ainvoke(value, config))

    return RunnableLambda(judge, afunc=ajudge, name="tcva_gate")


def guard(
    chain: Runnable[Any, Any], evaluator: Runnable[Any, TCVAOutput], *, max_attempts: int = 3
) -> Runnable[Any, GuardOutput]:
    """Have a chain answer again until its answer passes; the best attempt is returned.

    From the second attempt on, the chain's input has the judge's complaints under ``feedback``,
    which is empty at first, so a prompt may contain ``{feedback}``. The judge sees the
    chain's input together with its output.

    Args:
        chain: Takes a mapping; returns a text, a message, or a mapping with the answer.
        evaluator: An evaluator, configured or wrapped as you like.
        max_attempts: How often the chain may answer, at least once.

    Raises:
        InvalidValueError: `max_attempts` is no whole number from 1 on, or an argument is of the
            wrong kind.
    """
    needed = "a Runnable is needed; RunnableLambda makes one of a function"
    require(isinstance(chain, Runnable), "chain", chain, needed)
    check_evaluator(evaluator)
    check_count("max_attempts", max_attempts)

    def run(value: Any, config: RunnableConfig) -> GuardOutput:
        attempts = _Attempts(value, max_attempts)
        while attempts.go_on:
            output = chain.invoke(attempts.next_input, config)
            attempts.add(output, evaluator.invoke(run_record(value, output, None), config))
        return attempts.best

    async def arun(value: Any, config: RunnableConfig) -> GuardOutput:
        attempts = _Attempts(value, max_attempts)
        while attempts.go_on:
            output = await chain.ainvoke(attempts.next_input, config)
            record = run_record(value, output, None)
            attempts.add(output, await evaluator.ainvoke(record, config))
        return attempts.best

    return RunnableLambda(run, afunc=arun, name="tcva_guard")


class _Attempts:
    """The attempts of one guarded run; it asks nobody, so sync and async share it."""

    def __init__(self, value: Any, most: int) -> None:
        if not isinstance(value, Mapping):
            msg = f"a guarded chain takes a mapping, to which feedback is added; got {value!r:.80}"
            raise InvalidSampleError(msg)
        self._value = value
        self._left = most
        self._done: list[tuple[Any, TCVAOutput]] = []
        self.go_on = True

    @property
    def next_input(self) -> dict[str, Any]:
        return {**self._value, "feedback": complaints(self._done[-1][1]) if self._done else ""}

    def add(self, output: Any, seen: TCVAOutput) -> None:
        self._done.append((output, seen))
        self._left -= 1
        why = result_of(seen).unscored
        is_hopeless = why is not None and why.fatal
        self.go_on = not (seen["passed"] or is_hopeless) and self._left > 0

    @property
    def best(self) -> GuardOutput:
        def score(attempt: tuple[Any, TCVAOutput]) -> float:
            found = attempt[1]["score"]
            return -1.0 if found is None else found

        output, seen = max(self._done, key=score)  # the first of equals
        return {"output": output, "tcva": seen, "attempts": len(self._done)}


def complaints(output: TCVAOutput) -> str:
    """What to tell a model about its answer: the score, and each claim that is not supported."""
    weak = [
        f'- "{claim.claim}" [{claim.verdict}] {claim.reason}'.rstrip()
        for claim in result_of(output).claims
        if claim.verdict is not None and claim.verdict not in _GOOD
    ]
    return "\n".join(["The answer was judged too weak:", *weak]) if weak else output["reasoning"]
