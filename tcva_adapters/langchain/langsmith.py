"""TCVA in LangSmith's `evaluate` and `aevaluate`, and under the calling convention of openevals."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

from langchain_core.runnables import Runnable
from langsmith import Client
from langsmith.evaluation import EvaluationResult, RunEvaluator
from langsmith.run_helpers import get_tracing_context, tracing_context
from langsmith.schemas import Example, Run

from tcva_adapters._adapter.evaluator import require
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.evaluator import Frozen
from tcva_adapters.langchain.evaluator import NAME, Mapper, ScorerEvaluator, scorer_of
from tcva_adapters.langchain.results import as_feedback
from tcva_adapters.results.settings_base import check
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json


def _key(evaluator: ScorerEvaluator, option: str, name: str | None) -> str:
    """Return the feedback's name: the one that was passed, or the scorer's."""
    check(NAME, option, name)
    scorer = scorer_of(evaluator)
    key = name or (scorer.name if scorer else "")
    require(
        isinstance(evaluator, Runnable) and bool(key),
        "evaluator",
        evaluator,
        f"a TCVAEvaluator (pass {option}= if a wrapper hides it)",
    )
    return key


@contextmanager
def _feedback(key: str) -> Iterator[Json]:
    """Collect the feedback of a judgement in the block, or of an input that cannot be judged."""
    feedback: Json = {}
    # With ``upload_results=False`` LangSmith traces in the mode "local", which
    # langchain-core takes for true: it would post the judge's call.
    is_local = get_tracing_context()["enabled"] == "local"
    with tracing_context(enabled=False) if is_local else nullcontext():
        try:
            yield feedback
        except InvalidSampleError as error:
            # If a plain function raised it, there would be no feedback at all.
            feedback |= {
                "key": key,
                "score": None,
                "comment": str(error),
                "extra": {"error": True},
            }


class TCVARunEvaluator(Frozen, RunEvaluator):
    """Judges runs for ``evaluate(..., evaluators=[...])`` and `aevaluate`.

    The question comes from the example's inputs, the answer from the run's outputs, the contexts
    from the run or else from the example's outputs, the reference from the example's outputs. The
    example's metadata selects a profile. The feedback has the evaluator's whole output, so
    `result_of` reads it back; ``comment`` is the reason. A run that cannot be judged, for example
    because it failed, gets feedback without a score that is marked as an error.

    Args:
        evaluator: The evaluator.
        key: Name of the feedback; by default the scorer's name, which has the criterion and every
            setting that differs from its default.
        mapper: A function of a run and its example that returns the evaluator's input, for field
            names that are not known.

    Raises:
        InvalidValueError: An argument is of the wrong kind, or no key is given and a wrapper hides
            the evaluator's scorer.
    """

    changes = "build a new one"

    def __init__(
        self,
        evaluator: ScorerEvaluator,
        *,
        key: str | None = None,
        mapper: Callable[[Run, Example | None], Any] | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.key = _key(evaluator, "key", key)
        self.mapper = check(Mapper, "mapper", mapper)
        self._is_built = True

    @property
    def feedback_keys(self) -> list[str]:
        """The name of the feedback; LangSmith shows errors under it."""
        return [self.key]

    def evaluate_run(
        self,
        run: Run,
        example: Example | None = None,
        *_: object,
        **__: object,
    ) -> EvaluationResult:
        """Judge one run."""
        with _feedback(self.key) as feedback:
            feedback.update(
                as_feedback(self.key, self.evaluator.invoke(self._record(run, example)))
            )
        return EvaluationResult(**feedback)

    async def aevaluate_run(
        self,
        run: Run,
        example: Example | None = None,
        *_: object,
        **__: object,
    ) -> EvaluationResult:
        """The same, awaited."""
        with _feedback(self.key) as feedback:
            feedback.update(
                as_feedback(
                    self.key, await self.evaluator.ainvoke(self._record(run, example))
                )
            )
        return EvaluationResult(**feedback)

    def _record(self, run: Run, example: Example | None) -> Any:
        if self.mapper is not None:
            return self.mapper(run, example)
        if run.error:  # the example's outputs could be scored all the same
            # The first line of the error is without its traceback.
            raise InvalidSampleError(f"the run failed: {run.error.splitlines()[0]}")
        return _record_of(
            inputs=run.inputs if example is None else example.inputs,
            outputs=run.outputs,
            reference_outputs=None if example is None else example.outputs,
            example=example,
        )


def _record_of(
    *,
    inputs: Any = None,
    outputs: Any = None,
    reference_outputs: Any = None,
    context: Any = None,
    metadata: Fields | None = None,
    example: Example | None = None,
    **_: object,
) -> Json:
    """Turn the arguments of a judge in the style of openevals into the record of a run."""
    return {
        "inputs": inputs,
        "outputs": outputs,
        "reference_outputs": reference_outputs,
        "contexts": context,
        "metadata": metadata if example is None else example.metadata,
    }


def create_tcva_judge(
    evaluator: ScorerEvaluator, *, feedback_key: str | None = None
) -> Callable[..., Json]:
    """Make a judge function like those of ``openevals``, also for LangSmith's `evaluate`.

    It takes ``inputs``, ``outputs``, ``reference_outputs`` and ``context`` by name and returns
    ``key``, ``score``, ``comment`` and ``metadata`` (the evaluator's output, see `result_of`).
    ``metadata``, or that of the ``example`` that LangSmith passes, selects a profile.

    Args:
        evaluator: The evaluator.
        feedback_key: Name of the feedback; by default the scorer's.

    Raises:
        InvalidValueError: As for `TCVARunEvaluator`.
    """
    key = _key(evaluator, "feedback_key", feedback_key)

    @wraps(_record_of, assigned=())  # LangSmith reads from the signature what to pass
    def tcva_judge(**arguments: Any) -> Json:
        with _feedback(key) as feedback:
            feedback.update(as_feedback(key, evaluator.invoke(_record_of(**arguments))))
        return feedback

    return tcva_judge


def create_async_tcva_judge(
    evaluator: ScorerEvaluator, *, feedback_key: str | None = None
) -> Callable[..., Coroutine[Any, Any, Json]]:
    """The same as `create_tcva_judge`, as a coroutine function for `aevaluate`."""
    key = _key(evaluator, "feedback_key", feedback_key)

    @wraps(_record_of, assigned=())  # as above
    async def tcva_judge(**arguments: Any) -> Json:
        with _feedback(key) as feedback:
            feedback.update(
                as_feedback(key, await evaluator.ainvoke(_record_of(**arguments)))
            )
        return feedback

    return tcva_judge


def local_client() -> Client:
    """Make a client that sends nothing, for ``evaluate(..., upload_results=False, client=...)``.

    Without it, LangSmith contacts its server even with ``upload_results=False``: it asks for the
    server's version and posts the runs of Runnable targets, with `aevaluate` those of any target.
    """
    return _LocalClient(
        api_url="http://127.0.0.1",
        api_key="none",
        auto_batch_tracing=False,
    )


class _LocalClient(Client):
    def create_run(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing."""

    def update_run(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing."""
