"""A gate that lets answers through, stops them, or takes their unsupported claims out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, ClassVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableSerializable,
    ensure_config,
)
from pydantic import ConfigDict, SkipValidation

from tcva_adapters._adapter.evaluator import require
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.evaluator import Frozen
from tcva_adapters.langchain.answers import (
    answer_paths,
    claim_scorer,
    sample_in,
    with_answer,
)
from tcva_adapters.langchain.evaluator import (
    ScorerEvaluator,
    check_evaluator,
    evaluator_in,
)
from tcva_adapters.langchain.results import (
    TCVAOutput,
    as_output,
    at_gate,
    result_of,
)
from tcva_adapters.langchain.streams import AnswerChunks
from tcva_adapters.results.settings_base import check
from tcva_adapters.serving import REFUSAL, OnFail, serve


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
    """A step that judges an answer, and passes on what may be served; `gate` makes one.

    Attributes:
        evaluator: The evaluator; for this and the following, see `gate`.
        on_fail: What is done with an answer that fails; a run can configure it.
        refusal: The text in place of an answer that is refused.
        allow_unscored: Whether answers without a score pass.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")
    changes: ClassVar = "build a new one"
    _is_built: ClassVar = True  # type: ignore[misc]  # from the start: pydantic sets nothing

    evaluator: Annotated[Runnable[Any, TCVAOutput], SkipValidation]
    on_fail: OnFail = "raise"
    refusal: str = REFUSAL
    allow_unscored: bool = False
    name: str | None = "tcva_gate"

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
        return self._call_with_config(self._serve, input, config, **kwargs)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """The same, awaited."""
        return await self._acall_with_config(self._aserve, input, config, **kwargs)

    def transform(
        self,
        input: Iterator[Any],  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Serve an answer while it is written; see `gate`.

        Raises:
            BelowThresholdError: As for `invoke`; what was sent before stays.
            InvalidSampleError: As for `invoke`, or the judge's fields came after the answer.
            InvalidValueError: As for `invoke`.
        """
        return self._transform_stream_with_config(
            input, self._transform, config, **kwargs
        )

    def atransform(
        self,
        input: AsyncIterator[Any],  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """The same, awaited."""
        return self._atransform_stream_with_config(
            input, self._atransform, config, **kwargs
        )

    def serve(self, value: Any, output: TCVAOutput) -> Any:
        """Return what may be served of a value that was judged.

        Args:
            value: The output of a chain or an agent.
            output: The evaluator's output for it.

        Raises:
            BelowThresholdError: The answer does not pass, with ``on_fail="raise"``.
            InvalidSampleError: The answer cannot be replaced.
        """
        if self.on_fail == "raise":
            output = self.as_cited(value, output)
            decision = output if self.allow_unscored else at_gate(output)
            if decision["passed"] is False:
                raise BelowThresholdError(value, decision)
            return value
        read = partial(sample_in, self._configured())
        sample = read(value)
        served = serve(
            result_of(output),
            self.on_fail,
            refusal=self.refusal,
            allow_unscored=self.allow_unscored,
            sample=sample,
        )
        paths = answer_paths(value, read)
        text = None if served.text == sample.response else served.text
        return with_answer(value, paths, text, served.to_dict())

    def as_cited(self, value: Any, output: TCVAOutput) -> TCVAOutput:
        """Return an output in which wrong marks count, where ``require_citations`` asks for it."""
        if "require_citations" not in output.get("scoring", {}):
            return output
        sample = sample_in(self._configured(), value)
        return as_output(result_of(output).as_cited(sample))

    def _configured(self) -> ScorerEvaluator | None:
        """Return the evaluator as the run under way configures it."""
        return evaluator_in(self.evaluator, ensure_config())

    def _check_place(self, value: Any) -> None:
        """Refuse to flag an answer that has no place for marks.

        Raises:
            InvalidValueError: It has none.
        """
        last = value[-1] if isinstance(value, list) else value
        has_place = isinstance(value, Mapping) or isinstance(last, BaseMessage)
        if self.on_fail == "flag" and not has_place:
            raise InvalidValueError(
                f"on_fail='flag' has no place for marks in a {type(last).__name__}; give the gate a "
                "dict (RunnablePassthrough.assign keeps all fields) or a message, or use "
                "on_fail='remove'"
            )

    def _serve(self, value: Any) -> Any:
        self._check_place(value)
        return self.serve(value, self.evaluator.invoke(value))

    async def _aserve(self, value: Any) -> Any:
        self._check_place(value)
        return self.serve(value, await self.evaluator.ainvoke(value))

    def _chunks(self) -> AnswerChunks:
        evaluator = None if self.allow_unscored else self._configured()
        return AnswerChunks(evaluator, self.on_fail, self.refusal)

    def _transform(self, chunks: Iterator[Any]) -> Iterator[Any]:
        answer = self._chunks()
        texts = answer.texts(chunks)
        next(texts, None)
        if answer.stream is None:
            yield self._serve(answer.value)
            return
        self._check_place(answer.value)
        for part in answer.stream.chunks(texts):
            yield from answer.served(part.text, {"marks": [*part.marks]})
        yield from self._end(answer)

    async def _atransform(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        answer = self._chunks()
        texts = answer.atexts(chunks)
        await anext(texts, None)
        if answer.stream is None:
            yield await self._aserve(answer.value)
            return
        self._check_place(answer.value)
        async with aclosing(answer.stream.achunks(texts)) as parts:
            async for part in parts:
                for chunk in answer.served(part.text, {"marks": [*part.marks]}):
                    yield chunk
        for chunk in self._end(answer):
            yield chunk

    def _end(self, answer: AnswerChunks) -> list[Any]:
        """Return the last chunks, with the marks of the whole answer.

        Raises:
            BelowThresholdError: The answer fails, with ``on_fail="raise"``.
        """
        served: Any = answer.stream and answer.stream.served
        if self.on_fail == "raise" and served.failed:
            raise BelowThresholdError(answer.value, at_gate(as_output(served.result)))
        # The marks of claims came with these.
        return answer.served("", {**served.to_dict(), "marks": []})


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
    of a message; see `ServedAnswer.to_dict`. Messages keep their id. With another text, an agent's
    ``structured_response`` becomes None.

    In streams the answer is served while it is written, claim by claim. There ``"raise"`` and ``"refuse"``
    send what stands before the first claim below ``claim_threshold``, and hold the rest to the end: if
    the whole answer passes, it is sent, too; if not, `BelowThresholdError` is raised, or ``refusal``
    replaces it. The text is held until the fields that the judge needs, such as contexts, are
    there; if they never come, the scorer is no `TCVA`, the evaluator has a ``mapper`` (which may take
    another answer from a longer text), or with ``allow_unscored``, the answer is served whole at its
    end.

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
    check_evaluator(evaluator)
    require(
        on_fail in {"raise", "refuse"}
        or claim_scorer(evaluator_in(evaluator)) is not None,
        f"the evaluator for on_fail={on_fail!r}",
        evaluator,
        "a TCVAEvaluator, also with with_config or configurable_fields",
    )
    return Gate(
        evaluator=evaluator,
        on_fail=check(OnFail, "on_fail", on_fail),
        refusal=check(str, "refusal", refusal),
        allow_unscored=check(bool, "allow_unscored", allow_unscored),
    )
