"""TCVA where langchain-classic takes a string evaluator."""

from __future__ import annotations

from typing import Any

from langchain_classic.evaluation.schema import StringEvaluator

from tcva_adapters._adapter.evaluator import require
from tcva_adapters.evaluator import Frozen, Scorer
from tcva_adapters.langchain.evaluator import ScorerEvaluator, scorer_of


class TCVAStringEvaluator(Frozen, StringEvaluator):
    """Takes the place of the evaluators that ``load_evaluator`` makes.

    Returns ``score``, ``value`` and ``reasoning`` as they do, and the rest of the evaluator's
    output, so `result_of` reads it. Where the scorer looks at contexts, they are given as
    ``contexts=[...]``, or as ``reference=`` in the manner of the context-QA evaluators. Profiles go
    by ``metadata=``, which is the run's metadata as well.

    Args:
        evaluator: The evaluator.

    Raises:
        InvalidValueError: This is no evaluator, or one in a wrapper that hides its scorer.
    """

    changes = "build another one"

    def __init__(self, evaluator: ScorerEvaluator) -> None:
        scorer: Any = scorer_of(evaluator)
        needed = "a TCVAEvaluator is needed, bare or with with_config or configurable_fields"
        require(scorer is not None, "evaluator", evaluator, needed)
        self._scorer: Scorer[Any] = scorer
        self.evaluator = evaluator
        self._is_built = True

    @property
    def evaluation_name(self) -> str:
        """What is scored, and each unusual setting."""
        return self._scorer.name

    @property
    def requires_input(self) -> bool:
        """Whether there is no score without the question."""
        return "input" in self._scorer.required

    @property
    def requires_reference(self) -> bool:
        """Whether there is no score without the reference answer."""
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
        required, record = self._scorer.required, {**given, "response": given["prediction"]}
        if "contexts" not in record and "contexts" in required and "reference" not in required:
            record["contexts"] = record.pop("reference", None)
        config = {name: given.get(name) or None for name in ("callbacks", "tags", "metadata")}
        return record, config
