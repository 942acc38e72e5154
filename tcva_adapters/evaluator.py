"""The base of TCVA and CCRS, which adapters and batches use.

A scorer turns a sample into questions to judges, and their answers into a result; `runner` asks the
questions.
"""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import (
    AsyncGenerator,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Sized,
)
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.progress import progress_of
from tcva_adapters.results.judgement import Reason
from tcva_adapters.results.protocol import Scored
from tcva_adapters.runner.questions import Evaluation, R_co
from tcva_adapters.runner.running import Runner
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.sample import Sample, is_one

_TEXTS = ("input", "response", "contexts", "reference")
_WAYS_OUT = {
    "Sample": "evaluate(sample) judges one, evaluate_many([sample]) a list",
    "Conversation": "evaluate_conversation(conversation) judges one",
    "SampleFile": "give its samples: read.samples",
    "DataFrame": "[Sample.from_record(row) for row in frame.to_dict('records')] makes samples of one",
}
"""Advice for a single object in place of several samples, by the object's type."""
_USUAL_WAY_OUT = (
    "read_samples(path).samples reads a file, Sample.from_record(record) a mapping"
)


class Frozen:
    """The base of objects whose attributes cannot be set once they are built.

    Attributes:
        settable: The names that may be set all the same, because a framework sets them.
        changes: How a setting is changed instead, for a message; ``{name}`` stands for its name.
        _is_built: Whether the object is built; a constructor sets it at its end.
    """

    settable: ClassVar[Collection[str]] = ()
    changes: ClassVar[str] = "use changed({name}=...), which returns a copy"
    _is_built = False

    def __setattr__(self, name: str, value: object) -> None:
        # Frameworks, and typing on a generic class, set names that begin with "_".
        if self._is_built and name not in self.settable and not name.startswith("_"):
            raise InvalidValueError(
                f"{name}={value!r:.80} cannot be set on a built {type(self).__name__}; "
                f"{self.changes.format(name=name)}"
            )
        super().__setattr__(name, value)


class Scorer(Frozen, Evaluation[R_co]):
    """The base of `TCVA` and `CCRS`: something that scores samples.

    Settings never change: `changed` returns a copy with other settings.

    Attributes:
        subject: What is scored, e.g. ``faithfulness``.
        title: The name for readers, with the settings that are not the defaults.
        judge_name: The name of the judge in results.
        required: The fields that a sample must have.
        is_local: Whether all judges compute in this process.
        shown: Further fields that the judge sees if a sample has them.
        threshold: The lowest score that passes.
        arguments: The arguments that build an equal scorer, with the same judge and store.
    """

    subject: str
    title: str
    judge_name: str
    is_local: bool
    required: tuple[str, ...]
    shown: tuple[str, ...]
    threshold: float
    arguments: Fields

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A text of everything that can change a score, equal where all of it is equal."""

    @abstractmethod
    def unscored(
        self,
        reason: Reason,
        detail: str,
        sample: Sample | None = None,
    ) -> R_co:
        """Make the result of a sample that cannot be judged.

        Args:
            reason: The reason, in a word.
            detail: The reason, in a sentence.
            sample: The sample; None where there is none.
        """

    def changed(self, **arguments: Any) -> Self:
        """Make a copy with other arguments, which shares judge and store.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        return type(self)(**{**self.arguments, **arguments})

    @property
    def quiet(self) -> Self:
        """A scorer without events, for results that are parts: turns of a conversation, rows of a table."""
        return self.changed(events=False) if self.events else self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments alone; another process connects to judge and store anew.

        Raises:
            InvalidValueError: An argument cannot be pickled.
        """
        for name, value in self.arguments.items():
            try:
                # Functions and classes that no module names are left to picklers that can
                # pickle them (Ray).
                with suppress(pickle.PicklingError, AttributeError):
                    pickle.dumps(value)
            except TypeError as error:
                # The value itself is not shown, as it may hold a key.
                raise InvalidValueError(
                    f"{name} ({type(value).__name__}) of this {type(self).__name__} cannot be sent "
                    f"to another process: {error}; build it there, or pass the judge by name, e.g. "
                    "'openai:MODEL'"
                ) from error
        return partial(type(self), **self.arguments), ()

    def __copy__(self) -> Self:
        """Return the scorer itself, as it is frozen."""
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Return the scorer itself, as clients and stores cannot be copied."""
        return self

    def missing(self, sample: Sample) -> tuple[str, ...]:
        """The required fields that a sample does not have."""
        return tuple(name for name in self.required if getattr(sample, name) is None)

    def require(self, sample: object) -> Sample:
        """Return a sample as it is, once it is known to have the required fields.

        Raises:
            InvalidSampleError: It is no `Sample`, or lacks a required field.
        """
        checked = checked_sample(sample)
        missing = self.missing(checked)
        if missing:
            whose = f"sample {checked.id!r}" if checked.id else "a sample"
            texts = [name for name in _TEXTS if getattr(checked, name) is not None]
            fields = ", ".join([*texts, *checked.metadata]) or "no field"
            msg = f"{lacks(whose, missing, self.subject)}; it has {fields:.200}"
            if "turn" in checked.metadata and "reference" in missing:
                msg += "; give each turn a row with conversation, turn and reference"
            elif checked.metadata:
                msg += f"; a command reads another name by --map NAME={missing[0]}"
            raise InvalidSampleError(msg)
        return checked

    def evaluate(self, sample: Sample) -> R_co:
        """Judge one sample, in this thread.

        Raises:
            InvalidSampleError: It lacks a required field. Every later failure gives an unscored
                result with a reason.
        """
        return Runner(self).result(self.require(sample))

    async def aevaluate(self, sample: Sample) -> R_co:
        """The same, awaited."""
        return await Runner(self).aresult(self.require(sample))

    def evaluate_many(
        self, samples: Iterable[Sample], *, progress: bool | None = None
    ) -> list[R_co]:
        """Judge many samples; returns one result per sample, in order, whatever fails.

        A sample without a required field is unscored (``missing_field``). Equal samples are judged
        once.

        After twenty failures with the same reason and no success among them, the remaining samples
        get this reason without a call. Once a call has succeeded, only failures that every call
        would meet count (a wrong key).

        Args:
            samples: The samples to judge.
            progress: Whether to show a bar on a terminal, and a line every ten seconds in a log; by
                default the bar alone.

        Raises:
            InvalidSampleError: One of them is no `Sample`, or a single sample or a data frame is given.
        """
        checked = [*checked_samples(samples)]
        return list(self.iter_evaluate(checked, progress=progress))

    async def aevaluate_many(
        self, samples: Iterable[Sample], *, progress: bool | None = None
    ) -> list[R_co]:
        """The same, awaited, with at most ``max_concurrency`` judgements under way."""
        checked = [*checked_samples(samples)]
        return [
            result async for result in self.aiter_evaluate(checked, progress=progress)
        ]

    def iter_evaluate(
        self,
        samples: Iterable[Sample],
        *,
        progress: bool | None = None,
        total: int | None = None,
    ) -> Generator[R_co]:
        """Judge samples one by one; yields one result per sample, in order, as soon as it is there.

        Samples are read as results are taken: at most 32 ahead for each judgement that may run at
        the same time (``max_concurrency``); with the lexical judge one, or 64 with a store. Memory
        does not grow with the number of samples, which may be infinite. Otherwise it behaves as
        `evaluate_many`; equal samples are judged once if they are among the last 4096.

        A model's judgement is in the store before its result is yielded; the lexical judge's
        judgements are stored 64 at a time. Closing the iterator starts no further judgement; calls
        that are running end normally.

        Args:
            samples: The samples to judge; read in this thread. Errors of the iterable are raised after
                the results of all earlier samples.
            progress: As for `evaluate_many`.
            total: The number of samples, for the progress; by default their length, if they have one.

        Raises:
            InvalidSampleError: One of them is no `Sample`; raised after the results of those before it.
        """
        with progress_of("judging", _total(samples, total), progress) as batch:
            yield from Runner(self, batch).stream(checked_samples(samples))

    async def aiter_evaluate(
        self,
        samples: Iterable[Sample],
        *,
        progress: bool | None = None,
        total: int | None = None,
    ) -> AsyncGenerator[R_co]:
        """The same, awaited.

        Closing it (``contextlib.aclosing``) cancels the calls under way, as does cancelling
        the task that awaits it.
        """
        with progress_of("judging", _total(samples, total), progress) as batch:
            stream = Runner(self, batch).astream(checked_samples(samples))
            async with aclosing(stream) as results:
                async for result in results:
                    yield result


AnyScorer: TypeAlias = Scorer[Scored]
"""A scorer, whatever it scores by."""


def _total(samples: object, total: int | None) -> int | None:
    return len(samples) if total is None and isinstance(samples, Sized) else total


def lacks(whose: str, missing: Iterable[str], subject: str) -> str:
    """Say which fields a sample lacks.

    >>> lacks("sample 'a'", ["contexts"], "faithfulness")
    "sample 'a' has no contexts, which faithfulness needs"
    """
    return f"{whose} has no {' and no '.join(missing)}, which {subject} needs"


def checked_sample(sample: object) -> Sample:
    """Return a sample as it is.

    Raises:
        InvalidSampleError: It is no `Sample`.
    """
    if not isinstance(sample, Sample):
        kind = type(sample).__name__
        raise InvalidSampleError(
            f"expected a Sample, got {kind}; try Sample.from_record or evaluate_conversation"
        )
    return sample


def checked_samples(samples: Iterable[object]) -> Iterator[Sample]:
    """Return samples as they are, each checked when it is taken.

    Raises:
        InvalidSampleError: A single sample, mapping or table is given, or one of them is no `Sample`.
    """
    if is_one(samples):
        kind = type(samples).__name__
        raise InvalidSampleError(
            f"expected several samples, got one {kind}; {_WAYS_OUT.get(kind, _USUAL_WAY_OUT)}"
        )
    return map(checked_sample, samples)
