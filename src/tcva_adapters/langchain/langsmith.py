"""TCVA in LangSmith's `evaluate` and `aevaluate`, and under the calling convention of openevals."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from langsmith import Client
from langsmith.evaluation import EvaluationResult, RunEvaluator
from langsmith.run_helpers import get_tracing_context, tracing_context
from langsmith.schemas import Example, Run

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.langchain.evaluator import TCVAEvaluator, TCVAOutput
from tcva_adapters.langchain.inputs import run_record


class TCVARunEvaluator(RunEvaluator):
    """Judges runs for ``evaluate(..., evaluators=[...])`` and `aevaluate`.

    Judged is the run's output together with the example's input; the example's outputs give the
    reference, and the contexts where the run returns none. The feedback's ``metadata`` is the
    evaluator's whole output, so `result_of` reads it back; ``comment`` is the reason. What
    cannot be judged is feedback too, without a score and marked as an error.

    Args:
        evaluator: The evaluator.
        key: Name of the feedback; by default ``tcva_`` and the criterion.
        mapper: Turns a run and its example into what the evaluator takes, for outputs with names
            that are not known.
    """

    def __init__(
        self,
        evaluator: TCVAEvaluator,
        *,
        key: str | None = None,
        mapper: Callable[[Run, Example | None], Any] | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.key = key or default_key(evaluator)
        self.mapper = mapper or _record

    @property
    def feedback_keys(self) -> list[str]:
        """The name of the feedback; LangSmith shows errors under it."""
        return [self.key]

    def evaluate_run(
        self,
        run: Run,
        example: Example | None = None,
        evaluator_run_id: uuid.UUID | None = None,  # noqa: ARG002  # LangSmith passes it by name
    ) -> EvaluationResult:
        """Judge one run."""
        with _no_leak():
            return EvaluationResult(
                **_feedback(self.key, lambda: self.evaluator.invoke(self.mapper(run, example)))
            )

    async def aevaluate_run(
        self,
        run: Run,
        example: Example | None = None,
        evaluator_run_id: uuid.UUID | None = None,  # noqa: ARG002  # as above
    ) -> EvaluationResult:
        """The same, awaited."""
        with _no_leak():
            return EvaluationResult(
                **await _afeedback(
                    self.key, lambda: self.evaluator.ainvoke(self.mapper(run, example))
                )
            )


def create_tcva_judge(
    evaluator: TCVAEvaluator, *, feedback_key: str | None = None
) -> Callable[..., dict[str, Any]]:
    """A function as `openevals` makes them, also for LangSmith's `evaluate`.

    It takes ``inputs``, ``outputs``, ``reference_outputs`` and ``context`` by name and returns
    ``key``, ``score``, ``comment`` and ``metadata`` (the evaluator's output, see `result_of`).

    Args:
        evaluator: The evaluator.
        feedback_key: Name of the feedback; by default ``tcva_`` and the criterion.
    """
    key = feedback_key or default_key(evaluator)

    def tcva_judge(
        *,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        context: Any = None,
        **_: Any,
    ) -> dict[str, Any]:
        record = _with_context(run_record(inputs, outputs, reference_outputs), context)
        with _no_leak():
            return _feedback(key, lambda: evaluator.invoke(record))

    return tcva_judge


def create_async_tcva_judge(
    evaluator: TCVAEvaluator, *, feedback_key: str | None = None
) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    """The same as `create_tcva_judge`, as a coroutine function for `aevaluate`."""
    key = feedback_key or default_key(evaluator)

    async def tcva_judge(
        *,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        context: Any = None,
        **_: Any,
    ) -> dict[str, Any]:
        record = _with_context(run_record(inputs, outputs, reference_outputs), context)
        with _no_leak():
            return await _afeedback(key, lambda: evaluator.ainvoke(record))

    return tcva_judge


def local_client() -> Client:
    """A client that sends nothing, for ``evaluate(..., upload_results=False, client=...)``.

    Without it LangSmith asks its server for its version, and posts the runs of targets that are
    Runnables or, with `aevaluate`, any target's, in spite of ``upload_results=False``.
    """
    return _LocalClient(api_url="http://127.0.0.1", api_key="none", auto_batch_tracing=False)


class _LocalClient(Client):
    def create_run(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing."""

    def update_run(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing."""


def default_key(evaluator: TCVAEvaluator) -> str:
    """The name of an evaluator's feedback where none is given."""
    return f"tcva_{evaluator.criterion_name}"


@contextmanager
def _no_leak() -> Iterator[None]:
    """Keep the judge's call from being posted where the user said ``upload_results=False``.

    LangSmith then traces in the mode "local", which langchain-core takes for plain true and posts.
    """
    if get_tracing_context()["enabled"] == "local":
        with tracing_context(enabled=False):
            yield
    else:
        yield


def _feedback(key: str, judge: Callable[[], TCVAOutput]) -> dict[str, Any]:
    try:
        return _as_feedback(key, judge())
    except InvalidSampleError as error:
        return _as_error(key, error)


async def _afeedback(key: str, judge: Callable[[], Awaitable[TCVAOutput]]) -> dict[str, Any]:
    try:
        return _as_feedback(key, await judge())
    except InvalidSampleError as error:
        return _as_error(key, error)


def _as_feedback(key: str, output: TCVAOutput) -> dict[str, Any]:
    feedback: dict[str, Any] = {
        "key": key,
        "score": output["score"],
        "value": output["value"],
        "comment": output["reasoning"],
        "metadata": dict(output),
    }
    return feedback if output["score"] is not None else {**feedback, "extra": {"error": True}}


def _as_error(key: str, error: InvalidSampleError) -> dict[str, Any]:
    # Raised from a plain function, it would leave no feedback at all.
    return {"key": key, "score": None, "comment": str(error), "extra": {"error": True}}


def _record(run: Run, example: Example | None) -> dict[str, Any]:
    if example is None:
        return run_record(run.inputs, run.outputs or {}, None)
    return run_record(example.inputs or {}, run.outputs or {}, example.outputs)


def _with_context(record: dict[str, Any], context: Any) -> dict[str, Any]:
    return record if context is None else {**record, "contexts": context}
