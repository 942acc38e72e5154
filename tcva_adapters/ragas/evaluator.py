"""TCVAMetric: five-level verdicts and the dial in RAGAS' `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from operator import is_
from pathlib import Path
from typing import Any, ClassVar, Final

from langchain_core.callbacks import Callbacks
from ragas.callbacks import ChainType, new_group
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricOutputType, MetricType, MetricWithLLM, SingleTurnMetric
from ragas.prompt import PromptMixin, PydanticPrompt
from ragas.run_config import RunConfig

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.core.aggregation import Floor
from tcva_adapters.core.kernel import Penalty
from tcva_adapters.core.verdicts import WeightScheme
from tcva_adapters.errors import InvalidSampleError, InvalidValueError, JudgeError
from tcva_adapters.judging.judge import MAX_CLAIMS, ClaimsMode, Judge, ModelJudge
from tcva_adapters.judging.resolve import resolve_judge
from tcva_adapters.models.protocol import ModelReply
from tcva_adapters.models.request import JudgeRequest
from tcva_adapters.ragas.model import calls_traced_by, lexical_or
from tcva_adapters.ragas.names import check_name, default_name
from tcva_adapters.ragas.prompts import CriterionText, check_prompts, texts_of, with_texts
from tcva_adapters.ragas.results import (
    COLUMNS,
    JUDGEMENT,
    TCVAJudgement,
    TCVAScore,
    not_judged,
    sample_of,
)
from tcva_adapters.results.assessment import Reason
from tcva_adapters.results.config import FromConfig
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import GEOMETRIC, Fusion, HumanScale
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.tcva import TCVA

_OPTIONS: Final = (
    "temperature",
    "threshold",
    "scheme",
    "penalty",
    "eps",
    "floor",
    "on_unscored",
    "store",
    "fuse",
    "fusion",
    "mapping",
)

_PROMPTS: Final = (
    "wording_prompt",
    "fully_prompt",
    "mostly_prompt",
    "partial_prompt",
    "minor_prompt",
    "none_prompt",
)


class _NoModelYet:
    """Stands in for the LLM that ``evaluate(llm=...)`` brings, so that options are checked now."""

    name = "none"
    parameters: Final[dict[str, Any]] = {}

    def complete(self, request: JudgeRequest) -> ModelReply:
        """Refused."""
        del request
        msg = "the metric has no LLM; pass llm=... to the metric or to evaluate()"
        raise JudgeError(msg, fatal=True)

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        """Refused likewise."""
        return self.complete(request)


@dataclass(repr=False, eq=False)
class TCVAMetric(FromConfig, MetricWithLLM, SingleTurnMetric):
    """Judges claims on five levels and scores them on the dial, in ``evaluate`` and ``aevaluate``.

    Attributes:
        name: The column in the result; by default ``tcva_``, the criterion's name, and in brackets
            every setting that is not the usual one: ``tcva_faithfulness(T=0.2)``.
        llm: The judge: a RAGAS LLM of either family, ``"lexical"``, ``"openai:MODEL"``, or another
            framework's LLM object. By default what ``evaluate(llm=...)`` is given.
        criterion: A built-in name (``faithfulness``, ``answer_relevancy``, ``correctness``,
            ``completeness``, ``context_recall``) or a `Criterion`.
        temperature: Strictness in [0.1, 1.0], low is strict; or ``strict``, ``balanced``,
            ``lenient``.
        threshold: A score passes from here on.
        scheme: Weights of the levels: a scheme, its name, or five numbers.
        penalty: ``paper``, ``ramped``, ``absolute`` or ``off``.
        eps: Floor under the weights at exponents that are not positive.
        floor: ``paper`` or ``always``.
        on_unscored: Score for samples that have none of their own; None leaves them NaN.
        claims: ``split`` (sentences, one call) or ``llm`` (asked of the judge, two calls).
        max_claims: Most claims per sample.
        store: A path or a `VerdictStore`: judgements made before are served from it.
        fuse: A further judge, or several, whose scores are fused with the first one's.
        fusion: The mean that fuses them, geometric by default.
        mapping: From scores to a human scale, for ``Result.human_score``.

    Raises:
        InvalidValueError: A setting is out of range or unknown; raised when built.
        MissingDependencyError: The judge's package is not installed.

    >>> metric = TCVAMetric(llm="lexical")
    >>> metric.name, sorted(metric.required_columns["SINGLE_TURN"])
    ('tcva_faithfulness', ['response', 'retrieved_contexts'])
    """

    sees_metadata: ClassVar[bool] = False

    llm: Any = None
    output_type: MetricOutputType | None = MetricOutputType.CONTINUOUS
    _: KW_ONLY
    criterion: Criterion | str = "faithfulness"
    temperature: float | str = 0.5
    threshold: float = 0.5
    scheme: WeightScheme | str | Sequence[float] = WeightScheme.DEFAULT
    penalty: Penalty = "paper"
    eps: float = 1e-9
    floor: Floor = "paper"
    on_unscored: float | None = None
    claims: ClaimsMode = "split"
    max_claims: int = MAX_CLAIMS
    store: VerdictStore | str | Path | None = None
    fuse: Any = None
    fusion: Fusion = GEOMETRIC
    mapping: HumanScale | None = None
    wording_prompt: CriterionText = field(init=False)
    fully_prompt: CriterionText = field(init=False)
    mostly_prompt: CriterionText = field(init=False)
    partial_prompt: CriterionText = field(init=False)
    minor_prompt: CriterionText = field(init=False)
    none_prompt: CriterionText = field(init=False)

    def __post_init__(self) -> None:
        columns: Any = self._required_columns
        if not isinstance(columns, dict):
            # RAGAS' own first field, which a positional judge would fill unseen.
            msg = f"pass the judge by name: TCVAMetric(llm={columns!r})"
            raise InvalidValueError(msg)
        output: Any = self.output_type
        if not isinstance(output, MetricOutputType | None):
            msg = f"output_type={output!r}; a score is MetricOutputType.CONTINUOUS"
            raise InvalidValueError(msg)
        self._tcva = self._build(self.criterion)
        # Resolved once, so that a store is opened once and texts have one criterion to belong to.
        # Not so fused judges: built anew with the rest, they follow the texts too.
        self.store, self.criterion = self._tcva.store, self._tcva.criterion
        self._criterion = criterion = self._tcva.criterion
        for name, prompt in zip(_PROMPTS, texts_of(criterion), strict=True):
            setattr(self, name, prompt)
        shown = (name for name in criterion.shows if name not in criterion.required)
        self.required_columns = {
            MetricType.SINGLE_TURN: {
                *(COLUMNS[name] for name in criterion.required),
                *(f"{COLUMNS[name]}:optional" for name in shown),
            }
        }
        self._built_with, self._built_for = self._judges(), self._settings(criterion)

    @property  # type: ignore[misc]  # RAGAS has a plain field of a dataclass here
    def name(self) -> str:
        """The column in the result; without a name given it follows the settings.

        Raises:
            InvalidValueError: A setting cannot be used; or the name set is no text, or blank.
        """
        return self._name or default_name(self.tcva)

    @name.setter
    def name(self, name: str) -> None:
        self._name = check_name(name)

    def init(self, run_config: RunConfig) -> None:
        """Called by ``evaluate`` with its LLM in place, before anything is judged.

        Raises:
            InvalidValueError: The LLM is nothing that can judge, or an option cannot be used.
            ValueError: There is no LLM.
        """
        super().init(run_config)
        _ = self.tcva

    def _build(self, criterion: Criterion | str) -> TCVA:
        options = {name: getattr(self, name) for name in _OPTIONS}
        judge = _judge(self.llm, self.claims, self.max_claims)
        return TCVA(criterion, judge=judge, **options)

    def _settings(self, criterion: Criterion) -> tuple[Any, ...]:
        options = (getattr(self, name) for name in _OPTIONS)
        return (criterion, self.claims, self.max_claims, *options)

    def _judges(self) -> tuple[Any, ...]:
        return (self.llm, *(self.fuse if isinstance(self.fuse, list | tuple) else [self.fuse]))

    def __repr__(self) -> str:
        return f"TCVAMetric(name={self.name!r}, tcva={self.tcva!r})"

    @property
    def tcva(self) -> TCVA:
        """The `TCVA` behind the metric, with the LLM, options and prompts that it has now.

        Raises:
            InvalidValueError: The LLM is nothing that can judge, a prompt or an option cannot be
                used, or another criterion was set, which needs other columns.
        """
        if self.criterion is not self._criterion:
            msg = f"the criterion was changed to {self.criterion!r}; build a new metric with it"
            raise InvalidValueError(msg)
        criterion = with_texts(self._criterion, [getattr(self, name) for name in _PROMPTS])
        settings = self._settings(criterion)
        # RAGAS' LLM objects are equal where only their models differ, so equal is not enough.
        judges = self._judges()
        same = len(judges) == len(self._built_with) and all(map(is_, judges, self._built_with))
        if not same or settings != self._built_for:
            # A new object: judgements under way keep what they began with.
            self._tcva = self._build(criterion)
            self._built_with, self._built_for = judges, settings
        return self._tcva

    def _get_prompts(self) -> dict[str, PydanticPrompt[Any, Any]]:
        # RAGAS looks through all attributes, and would resolve the judge on its way.
        return {name: getattr(self, name) for name in _PROMPTS}

    def set_prompts(self, **prompts: Any) -> None:
        """Change texts of the criterion: the wording, or what a level means.

        Raises:
            InvalidValueError: Not a text of a criterion, or one with examples.
            ValueError: No prompt has this name.
        """
        check_prompts(prompts)
        super().set_prompts(**prompts)  # type: ignore[no-untyped-call]  # RAGAS has no types here

    def save_prompts(self, path: str) -> None:
        """Write the texts; the files are named after the criterion, or as the metric was named.

        Raises:
            ValueError: There is no such directory.
            FileExistsError: They were written there before.
        """
        PromptMixin.save_prompts(self._of_any_setting(), path)

    def load_prompts(
        self, path: str, language: str | None = None
    ) -> dict[str, PydanticPrompt[Any, Any]]:
        """Read texts for `set_prompts`.

        Raises:
            ValueError: There is no such directory.
            FileNotFoundError: No texts of this criterion, or none in this language, are there.
        """
        texts: dict[str, PydanticPrompt[Any, Any]]
        texts = PromptMixin.load_prompts(self._of_any_setting(), path, language)
        return texts

    def _of_any_setting(self) -> TCVAMetric:
        # Texts belong to the criterion: one setting of the dial can read what another wrote.
        other = copy(self)
        other.name = self._name or f"tcva_{self._criterion.name}"
        return other

    def single_turn_score(self, sample: SingleTurnSample, callbacks: Callbacks = None) -> float:
        """Score one sample without an event loop: it also works where one is running.

        Raises:
            InvalidSampleError: A field that the criterion needs is missing (a ValueError).
            JudgeError: The judge failed.
        """
        sample = self._only_required_columns_single_turn(sample)
        inputs = sample.to_dict()
        metadata = {"type": ChainType.METRIC}
        run, group = new_group(self.name, inputs, callbacks or [], metadata=metadata)
        tcva = self.tcva
        judgement, group = self._open(sample, group)
        try:
            with calls_traced_by(group):
                result = tcva.evaluate(sample_of(sample.to_dict()))
        except InvalidSampleError as error:
            result = not_judged(tcva, error)
        judgement.on_chain_end({"output": [TCVAJudgement.of(result)]})
        try:
            score = _score(result)
        except Exception as error:
            run.on_chain_error(error)
            raise
        run.on_chain_end({"output": score})
        return score

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: Callbacks) -> float:
        tcva = self.tcva
        judgement, group = self._open(sample, callbacks)
        try:
            with calls_traced_by(group):
                result = await tcva.aevaluate(sample_of(sample.to_dict()))
        except InvalidSampleError as error:
            result = not_judged(tcva, error)
        judgement.on_chain_end({"output": [TCVAJudgement.of(result)]})
        return _score(result)

    def _open(self, sample: SingleTurnSample, callbacks: Callbacks) -> tuple[Any, Any]:
        return new_group(
            JUDGEMENT,
            inputs={"data": sample},
            callbacks=callbacks,
            metadata={"type": ChainType.RAGAS_PROMPT},
        )


def _judge(llm: Any, claims: ClaimsMode, max_claims: int) -> Judge:
    if llm is None:
        return ModelJudge(_NoModelYet(), claims=claims, max_claims=max_claims)
    return resolve_judge(lexical_or(llm), claims=claims, max_claims=max_claims)


def _score(result: Result) -> TCVAScore:
    """The score, or the exception that RAGAS turns into NaN, or raises where it is told to."""
    unscored = result.unscored
    if unscored is not None and unscored.reason is Reason.MISSING_FIELD:
        raise InvalidSampleError(unscored.detail)
    if unscored is not None and unscored.reason.is_failure:
        raise JudgeError(result.reason, reason=unscored.reason.value, fatal=unscored.fatal)
    return TCVAScore(result)
