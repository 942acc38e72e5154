"""TCVA where langchain-classic takes a string evaluator."""

from __future__ import annotations

from typing import Any

from langchain_classic.evaluation.schema import StringEvaluator

from tcva_adapters._adapter.evaluator import require
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.evaluator import AnyScorer, Frozen
from tcva_adapters.langchain.evaluator import ScorerEvaluator, scorer_of


class TCVAStringEvaluator(Frozen, StringEvaluator):
    """A string evaluator, as ``load_evaluator`` returns them.

    It returns ``score``, ``value`` and ``reasoning`` as they do, and the rest of the evaluator's
    output, so `result_of` reads it. Pass contexts as ``contexts=[...]``, or as ``reference=`` like
    LangChain's context-QA evaluators. ``metadata=`` selects a profile and is also the run's
    metadata.

    Args:
        evaluator: The evaluator.

    Raises:
        InvalidValueError: This is not an evaluator, or a wrapper hides its scorer.
    """

    changes = "build a new one"

    def __init__(self, evaluator: ScorerEvaluator) -> None:
        scorer: Any = scorer_of(evaluator)
        needed = "a TCVAEvaluator, also with with_config or configurable_fields"
        require(scorer is not None, "evaluator", evaluator, needed)
        self._scorer: AnyScorer = scorer
        self.evaluator = evaluator
        self._is_built = True

    @property
    def evaluation_name(self) -> str:
        """The criterion, and every setting that differs from its default."""
        return self._scorer.name

    @property
    def requires_input(self) -> bool:
        """Whether the criterion needs the question."""
        return "input" in self._scorer.required

    @property
    def requires_reference(self) -> bool:
        """Whether the criterion needs the reference answer."""
        return "reference" in self._scorer.required

    def _check_evaluation_args(
        self, reference: str | None = None, input_: str | None = None
    ) -> None:
        """Leave it to the scorer, which names the missing field.

        The inherited check also warns of fields that are given without being required; here they
        serve the judge as orientation.
        """

    def _evaluate_strings(self, **arguments: Any) -> Arguments:
        return dict(self.evaluator.invoke(self._record(arguments), _config(arguments)))

    async def _aevaluate_strings(self, **arguments: Any) -> Arguments:
        return dict(
            await self.evaluator.ainvoke(self._record(arguments), _config(arguments))
        )

    def _record(self, arguments: Arguments) -> Arguments:
        """Make the evaluator's input from the arguments."""
        record = {**arguments, "response": arguments["prediction"]}
        required = self._scorer.required
        takes_contexts = "contexts" in required and "reference" not in required
        if takes_contexts and "contexts" not in record:
            record["contexts"] = record.pop("reference", None)
        return record


def _config(arguments: Arguments) -> Any:
    """Return the part of the arguments that is meant for the run."""
    return {
        name: arguments.get(name) or None for name in ("callbacks", "tags", "metadata")
    }
