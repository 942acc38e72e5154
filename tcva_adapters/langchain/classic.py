"""TCVA where langchain-classic takes a string evaluator."""

from __future__ import annotations

from typing import Any

from langchain_classic.evaluation.schema import StringEvaluator

from tcva_adapters._adapter.evaluator import require
from tcva_adapters.evaluator import Frozen, Scorer
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
        self._scorer: Scorer[Any] = scorer
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

    def _evaluate_strings(self, **given: Any) -> dict[str, Any]:
        return dict(self.evaluator.invoke(*self._asked(given)))

    async def _aevaluate_strings(self, **given: Any) -> dict[str, Any]:
        return dict(await self.evaluator.ainvoke(*self._asked(given)))

    def _asked(self, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        """What is judged, and the part of the arguments that is meant for the run."""
        required, record = (
            self._scorer.required,
            {**given, "response": given["prediction"]},
        )
        if (
            "contexts" not in record
            and "contexts" in required
            and "reference" not in required
        ):
            record["contexts"] = record.pop("reference", None)
        config = {
            name: given.get(name) or None for name in ("callbacks", "tags", "metadata")
        }
        return record, config
