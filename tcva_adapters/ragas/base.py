"""The base of the metrics of both families of RAGAS."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Generic, Self

from tcva_adapters._adapter.evaluator import check_scorer, check_settings, require
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.evaluator import Frozen, Scorer
from tcva_adapters.judges.resolve import is_lexical
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tcva_adapters.ragas.llm import inner_llm
from tcva_adapters.results.settings import TCVASettings
from tcva_adapters.runner.questions import R
from tcva_adapters.tcva import TCVA


class NoLLM:
    """Stands in for the LLM of ``evaluate(llm=...)``, so that settings are checked early."""

    name = "none"
    parameters: ClassVar[Arguments] = {}

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Raise the error for a metric without an LLM."""
        del request
        raise JudgeError(
            "the metric has no LLM: pass llm=... to the metric or to evaluate()",
            fatal=True,
        )

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """The same, awaited."""
        return self.complete(request)


class ScorerBase(Frozen, Generic[R]):
    """The base of the metrics of both families.

    Attributes:
        scorer: The scorer, with the metric's LLM.
        name: The column in the result: as given, or the scorer's name.
    """

    settable: ClassVar[tuple[str, ...]] = ("name",)
    scorer: Scorer[R]
    name: str
    _llm: Any

    def _build(self, scorer: Scorer[R], llm: object, name: str | None) -> None:
        check_scorer(self, scorer)
        _check_name(name)
        self._use(scorer, llm)
        self.name = name or scorer.name
        self._is_built = True

    def _build_tcva(
        self,
        criterion: Criterion | str,
        llm: object,
        name: str | None,
        settings: Arguments,
    ) -> None:
        """Build with a `TCVA` of these settings, which is made after all checks, as it opens the store."""
        check_settings(self, settings, TCVASettings.model_fields)
        _check_name(name)
        tcva: Any = TCVA(criterion, judge=_judge_of(llm), **settings)
        self._build(tcva, llm, name)

    def _use(self, scorer: Scorer[R], llm: object) -> None:
        """Score with a scorer from now on.

        Raises:
            InvalidValueError: It has profiles.
        """
        require(
            getattr(scorer, "profiles", None) is None,
            "scorer",
            scorer,
            "one without profiles, because RAGAS' samples have no metadata",
        )
        vars(self).update(scorer=scorer, _llm=llm)

    @property
    def llm(self) -> Any:
        """The LLM as it was given, or the scorer's own; None if there is none yet.

        Raises:
            InvalidValueError: What is set cannot judge, or does not fit a setting.
        """
        return self._llm

    @llm.setter
    def llm(self, llm: object) -> None:
        self._use(self.scorer.changed(judge=_judge_of(llm)), llm)
        if guarantee := self.scorer.arguments.get("guarantee"):
            guarantee.warned_of.clear()  # RAGAS sets it where a run begins

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, scorer={self.scorer!r})"

    def changed(self, **settings: Any) -> Self:
        """A copy with another ``llm`` or other settings; it shares judge and store.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        check_settings(self, settings, self.scorer.arguments)
        llm = self._llm
        if "llm" in settings:
            llm = settings.pop("llm")
            settings["judge"] = _judge_of(llm)
        scorer = self.scorer.changed(**settings)
        other = copy(self)
        other._use(scorer, llm)  # noqa: SLF001  # of this class
        if self.name == self.scorer.name:
            other.name = scorer.name
        return other


def llm_of(scorer: object) -> object:
    """Return the LLM that a scorer asks, for RAGAS to set retries and waits; else its judge."""
    judge = getattr(scorer, "judge", None) or getattr(scorer, "rater", scorer)
    return getattr(getattr(judge, "model", None), "llm", judge)


def _judge_of(llm: object) -> object:
    """Return the judge that a scorer gets for an LLM."""
    if llm is None:
        return NoLLM()
    return "lexical" if is_lexical(inner_llm(llm)) else llm


def _check_name(name: str | None) -> None:
    require(
        isinstance(name, str | None) and not (name or "").isspace(),
        "name",
        name,
        "a text, or None for the default name",
    )
