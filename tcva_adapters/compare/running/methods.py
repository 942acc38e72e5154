"""The frameworks' own metrics as methods of a comparison: what each needs, and how it is run."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Final

from tcva_adapters.criteria import FIELDS
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.frameworks import FRAMEWORKS, Framework, Metric
from tcva_adapters.judges.base import digest
from tcva_adapters.models.prompted import Prompted
from tcva_adapters.models.protocol import JudgeModel
from tcva_adapters.results.framework_score import FrameworkScore
from tcva_adapters.samples.sample import Sample

ALL: Final = "all"
_KEY_VERSION: Final = 1
"""Changes when scores cached before are no longer the same: another key, or other bridges."""


@dataclass(frozen=True)
class Method:
    """One framework's own metric.

    Attributes:
        framework: One of `FRAMEWORKS`.
        metric: The metric's name there.
    """

    framework: str
    metric: str

    @property
    def name(self) -> str:
        """As tables show it, e.g. ``ragas faithfulness``."""
        return f"{self.framework} {self.metric}"

    @property
    def known(self) -> Metric:
        """What is known of it."""
        return FRAMEWORKS[self.framework].metrics.get(self.metric, Metric(FIELDS))

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields of a sample that the metric looks at; all where that is not known."""
        return self.known.needs

    @property
    def threshold(self) -> float:
        """From where on a score passes by the framework's own default; 0.5 where it has none."""
        return self.known.threshold

    @property
    def compares_embeddings(self) -> bool:
        """Whether it needs more than a judge."""
        return self.known.compares_embeddings

    @cached_property
    def version(self) -> str:
        """The framework's distribution with its version."""
        distribution = FRAMEWORKS[self.framework].metrics_need.distribution
        try:
            return f"{distribution} {version(distribution)}"
        except PackageNotFoundError:  # a source tree on the path
            return distribution

    def lacking(self, sample: Sample) -> str:
        """Why a sample cannot be scored without asking anybody; empty where it can."""
        missing = [field for field in self.needs if getattr(sample, field) is None]
        if not missing:
            return ""
        return f"the sample has no {' and no '.join(missing)}, which {self.name} needs"

    def key(self, sample: Sample, judge: str, parameters: Mapping[str, Any]) -> str:
        """The key of a judgement: a SHA-256 over everything that can change it.

        Of the sample, the fields that the metric looks at; its id and metadata do not count.

        Args:
            sample: What is judged.
            judge: The judge's name, with its version or model.
            parameters: Whatever else changes its replies; JSON values.

        Raises:
            InvalidValueError: A parameter is no JSON value.
        """
        parts = {
            "key_version": _KEY_VERSION,
            "method": self.name,
            "version": self.version,
            "judge": judge,
            "parameters": dict(parameters),
            "sample": {field: getattr(sample, field) for field in self.needs},
        }
        return digest(parts)

    async def score(
        self, sample: Sample, llm: Any, *, seconds: float | None = None
    ) -> FrameworkScore:
        """Run the metric, unmodified; what fails is the ``error`` of its score.

        Args:
            sample: A sample that has what the metric needs.
            llm: The framework's LLM, from `llm_of`.
            seconds: After which a metric that waits is given up; None waits for ever. One that
                blocks the event loop cannot be given up.
        """
        task = asyncio.current_task()
        try:
            async with asyncio.timeout(seconds) as limit:
                return _usable(
                    await _adapter(self.framework).ascore_framework_metric(self.metric, sample, llm)
                )
        except TimeoutError as error:
            found: BaseException | str = error
            if limit.expired():
                found = f"TimeoutError: no score after {seconds:g} seconds"
        except asyncio.CancelledError as error:
            if task is not None and task.cancelling():
                raise
            found = error  # something inside the metric was cancelled, and not this run
        except (Exception, SystemExit) as error:  # noqa: BLE001  # one metric on one sample must not stop the rest
            found = error
        text = found if isinstance(found, str) else f"{type(found).__name__}: {found}"
        return FrameworkScore(self.metric, None, error=text)


def _usable(score: Any) -> FrameworkScore:
    """The same with a finite score or none.

    Raises:
        TypeError: It is no score, or holds something else than a number.
    """
    if not isinstance(score, FrameworkScore):
        msg = f"the metric returned {score!r}"
        raise TypeError(msg)
    value: Any = score.score
    if value is None:
        return score
    if isinstance(value, str | bytes):
        msg = f"the metric returned {value!r}"
        raise TypeError(msg)
    number = float(value)
    if not math.isfinite(number):
        return replace(score, score=None, error=f"the metric returned {number:g}")
    return replace(score, score=number)


def llm_of(framework: str, model: JudgeModel | Prompted | None) -> Any:
    """A framework's LLM out of a judge model; None stands for the lexical judge."""
    if model is None:
        return _adapter(framework).LexicalLLM()
    adapter = import_module(f"tcva_adapters.{framework}.llm")
    return adapter.from_judge_model(model)


def choose(
    frameworks: Sequence[str],
    metrics: Sequence[str] | None = None,
    *,
    is_lexical: bool = False,
) -> tuple[list[Method], list[str]]:
    """The methods of a comparison. Imports the frameworks, which takes seconds.

    Args:
        frameworks: Names of `FRAMEWORKS`; ``all`` takes those that are installed.
        metrics: ``metric`` (of every framework that has it) or ``framework.metric``; None takes
            all that a judge model is enough for.
        is_lexical: Whether the lexical judge stands for a model; metrics whose prompts it cannot
            answer are left out.

    Returns:
        The methods, framework by framework, and in sentences what was left out.

    Raises:
        InvalidValueError: No framework, an unknown framework or metric, or one that needs more
            than a judge.
        MissingDependencyError: A framework is not installed or cannot be imported.
    """
    known, notes = _installed(frameworks)
    found = [Method(name, metric) for name in known for metric in _metrics_of(name)]
    usable = [method for method in found if not method.compares_embeddings]
    if metrics is None:
        left = (method.name for method in found if method.compares_embeddings)
        notes += [f"{name} is left out: {_NO_EMBEDDINGS}" for name in left]
        return _answered(usable, notes) if is_lexical else (usable, notes)
    for wanted in metrics:
        fitting = [method for method in found if wanted in _names(method)]
        if not fitting:
            options = ", ".join(f"{method.framework}.{method.metric}" for method in usable)
            msg = f"no metric {wanted!r} in {', '.join(known)}; there are {options}"
            raise InvalidValueError(msg)
        if all(method.compares_embeddings for method in fitting):
            msg = f"{fitting[0].name}: {_NO_EMBEDDINGS}"
            raise InvalidValueError(msg)
    chosen = [m for m in usable if any(wanted in _names(m) for wanted in metrics)]
    return _answered(chosen, notes) if is_lexical else (chosen, notes)


def _answered(methods: Iterable[Method], notes: list[str]) -> tuple[list[Method], list[str]]:
    """The methods whose prompts the lexical judge answers; one note names the others."""
    methods = list(methods)
    kept = [each for each in methods if each.known.is_lexical]
    left = ", ".join(each.name for each in methods if each not in kept)
    note = f"left out, as the lexical judge cannot answer their prompts: {left}"
    return kept, [*notes, note] if left else notes


_NO_EMBEDDINGS: Final = (
    "it compares embeddings, which a judge does not have; import its scores instead"
)


def _names(method: Method) -> tuple[str, ...]:
    return method.metric, f"{method.framework}.{method.metric}", method.name


def _installed(frameworks: Iterable[str]) -> tuple[list[str], list[str]]:
    wanted = list(dict.fromkeys(frameworks))
    unknown = next((name for name in wanted if name not in FRAMEWORKS and name != ALL), None)
    if not wanted or unknown is not None:
        what = "no framework is named" if unknown is None else f"unknown framework {unknown!r}"
        msg = f"{what}; known are {', '.join(FRAMEWORKS)}, or {ALL}"
        raise InvalidValueError(msg)
    known: list[str] = []
    notes: list[str] = []
    for name in FRAMEWORKS if ALL in wanted else wanted:
        try:
            _require(FRAMEWORKS[name])
        except MissingDependencyError as error:
            if ALL not in wanted:
                raise
            notes.append(f"{name} is left out: {error}")
        else:
            known.append(name)
    return known, notes


def is_installed(framework: Framework) -> bool:
    """Whether the package of its own metrics is there; nothing is imported to find out."""
    return find_spec(framework.metrics_need.module.partition(".")[0]) is not None


def _require(framework: Framework) -> None:
    if not is_installed(framework):
        msg = (
            f"{framework.name} is not installed: pip install "
            f"'tcva-adapters[{framework.metrics_need.extra}]', or leave it out of --with"
        )
        raise MissingDependencyError(msg)
    _metrics_of(framework.name)  # the adapter says what is wrong with what is installed


def _metrics_of(name: str) -> list[str]:
    return list(_adapter(name).framework_metrics())


def _adapter(name: str) -> Any:
    return import_module(f"tcva_adapters.{name}")
