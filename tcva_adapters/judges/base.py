"""The interface of judges, and the assessments of judges that call no model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, get_args, runtime_checkable

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import JudgeError
from tcva_adapters.judges.unscored import blank_field, nothing_to_score, why_unscored
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.judgement import Usage
from tcva_adapters.results.settings import JudgeConfig, VerdictForm
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import split_claims

VERDICT_FORMS: tuple[VerdictForm, ...] = get_args(VerdictForm)

MAX_CLAIMS: int = JudgeConfig.default("max_claims")
"""Samples with more claims are not sent to a model."""


@runtime_checkable
class Judge(Protocol):
    """Anything that turns a sample into an assessment.

    A subclass has a name, a version and `assess`, and may have the rest; any object with all of
    these members is a judge, too.

    >>> from tcva_adapters import TCVA, Assessment, Judge, Sample
    >>> class Verbatim(Judge):
    ...     name = prompt_version = "verbatim/1"
    ...     def assess(self, sample, criterion):
    ...         is_copy = sample.response in sample.contexts
    ...         return Assessment.from_verdicts(["fully" if is_copy else "none"])
    >>> TCVA(judge=Verbatim()).evaluate(Sample(response="Open.", contexts=["Open."])).score
    1.0
    """

    @property
    def name(self) -> str:
        """Name with version or model, as assessments carry it."""

    @property
    def prompt_version(self) -> str:
        """Version of the prompt or the algorithm."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Everything else that can change its verdicts, as JSON values; holds no secrets."""
        return {}

    @property
    def is_local(self) -> bool:
        """True for one that computes in this process: threads would not make it faster."""
        return True

    def check(self, criterion: Criterion) -> None:  # noqa: ARG002  # any will do
        """Raise InvalidValueError for a criterion that this judge cannot judge by."""
        return  # mypy takes an empty body for an abstract one

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample. Failures are values: this does not raise for a bad reply."""

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same, awaited; by default in another thread."""
        return await asyncio.to_thread(self.assess, sample, criterion)


def texts_against(sample: Sample, criterion: Criterion) -> tuple[str, ...]:
    """The texts that claims are held against, one or several."""
    value = getattr(sample, criterion.against)
    return value if isinstance(value, tuple) else (value,)


def computed(
    judge: Judge,
    sample: Sample,
    criterion: Criterion,
    verdicts_on: Callable[[list[str], tuple[str, ...]], Sequence[ClaimVerdict]],
    *,
    form: str = "",
) -> Assessment:
    """The assessment of a judge that asks nobody.

    Args:
        judge: The judge.
        sample: What is judged.
        criterion: By what.
        verdicts_on: The verdicts on these claims by these passages. Its `JudgeError` is the reason
            of an unscored sample.
        form: Of the verdicts, see `Assessment`.

    Raises:
        InvalidValueError: The judge cannot judge by the criterion.
    """
    judge.check(criterion)
    started = time.perf_counter()
    claims: Sequence[ClaimVerdict] = ()
    texts = split_claims(sample.field(criterion.claims) or "")
    unscored = blank_field(sample, criterion, texts)
    if unscored is None:
        try:
            claims = verdicts_on(texts, texts_against(sample, criterion))
            unscored = nothing_to_score(claims)
        except JudgeError as error:
            unscored = why_unscored(error)
    return Assessment(
        criterion=criterion.name,
        judge=judge.name,
        prompt_version=judge.prompt_version,
        claims=tuple(claims),
        unscored=unscored,
        form=form,
        usage=Usage(seconds=time.perf_counter() - started),
        sample_id=sample.id,
        metadata=sample.metadata,
    )
