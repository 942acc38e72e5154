"""The base of TCVA and CCRS, which adapters and batches are written against.

A scorer turns a sample into questions to judges, and their answers into a result; `runner` asks.
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
    Mapping,
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
from tcva_adapters.samples.sample import Sample, is_one

_TEXTS = ("input", "response", "contexts", "reference")
_WAYS_OUT = {
    "Sample": "evaluate(sample) judges one, evaluate_many([sample]) a list",
    "Conversation": "evaluate_conversation(conversation) judges one",
    "SampleFile": "give its samples: read.samples",
    "DataFrame": "[Sample.from_record(row) for row in frame.to_dict('records')] makes samples of one",
}
"""Ways out for a single object where several samples are expected, by its type."""
_USUAL_WAY_OUT = (
    "read_samples(path).samples reads a file, Sample.from_record(record) a mapping"
)


class Frozen:
    """Refuses to set what would not be used: what is built does not change.

    Attributes:
        settable: What may be set all the same, because a framework does.
        changes: How else a setting is changed; ``{name}`` stands for it.
        _is_built: Set by a constructor at its end.
    """

    settable: ClassVar[Collection[str]] = ()
    changes: ClassVar[str] = "use changed({name}=...), which returns a copy"
    _is_built = False

    def __setattr__(self, name: str, value: object) -> None:
        # Underlined are the framework's own, and what typing sets on a generic class.
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
        name: The name of columns and feedback: the subject, and every setting that is not the default.
        subject: What is scored, e.g. ``faithfulness``.
        title: The name for readers, with the same settings.
        judge_name: The name of the judge in results.
        required: The fields that a sample must have.
        is_local: Whether all judging is computing in this process.
        shown: Further fields that the judge sees if a sample has them.
        threshold: The lowest score that passes.
        arguments: The arguments that build an equal scorer, with the same judge and store.
    """

    name: str
    subject: str
    title: str
    judge_name: str
    is_local: bool
    required: tuple[str, ...]
    shown: tuple[str, ...]
    threshold: float
    arguments: Mapping[str, Any]

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Everything that can change a score, as a text that is equal where it is equal."""

    @abstractmethod
    def unscored(
        self,
        reason: Reason,
        detail: str,
        sample: Sample | None = None,
    ) -> R_co:
        """The result of a sample that cannot be judged.

        Args:
            reason: Why, in a word.
            detail: Why, in a sentence.
            sample: The sample, as far as there is one.
        """

    def changed(self, **arguments: Any) -> Self:
        """A copy with other arguments, which shares judge and store.

        Raises:
            InvalidValueError: A setting is unknown or cannot be used.
        """
        return type(self)(**{**self.arguments, **arguments})

    @property
    def quiet(self) -> Self:
        """The same without events, where results are parts: a conversation's turns, a table's rows."""
        return self.changed(events=False) if self.events else self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it as its arguments; another process connects to judge and store anew.

        Raises:
            InvalidValueError: One of them cannot be pickled.
        """
        for name, value in self.arguments.items():
            try:
                # Functions and classes without a name of a module are left to those who can pickle
                # them (Ray).
                with suppress(pickle.PicklingError, AttributeError):
                    pickle.dumps(value)
            except TypeError as error:
                # Not as it prints itself: that may hold a key.
                raise InvalidValueError(
                    f"{name} ({type(value).__name__}) of this {type(self).__name__} cannot be sent "
                    f"to another process: {error}; build it there, or pass the judge by name, e.g. "
                    "'openai:MODEL'"
                ) from error
        return partial(type(self), **self.arguments), ()

    def __copy__(self) -> Self:
        """Itself: it is frozen."""
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Itself likewise; clients and stores cannot be copied."""
        return self

    def missing(self, sample: Sample) -> tuple[str, ...]:
        """The required fields that a sample does not have."""
        return tuple(name for name in self.required if getattr(sample, name) is None)

    def require(self, sample: object) -> Sample:
        """The sample as it is.

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
            if checked.metadata:
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
        once. After twenty failures with the same reason and no success, the remaining samples get
        it without a call; once a call succeeded, only after twenty in a row that hold for every
        call (a wrong key).

        Args:
            samples: What to judge.
            progress: Show a bar on a terminal, and a line every ten seconds in a log; by default the
                bar alone.

        Raises:
            InvalidSampleError: One of them is no `Sample`, or this is one sample, or a data frame.
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
            samples: What to judge; read in this thread. Errors of the iterable are raised after the
                results of all earlier samples.
            progress: As for `evaluate_many`.
            total: The number of samples, for the progress; by default their length, if they have one.

        Raises:
            InvalidSampleError: One of them is no `Sample`; likewise after those before it.
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
    """A sample as it is.

    Raises:
        InvalidSampleError: It is something else.
    """
    if not isinstance(sample, Sample):
        kind = type(sample).__name__
        raise InvalidSampleError(
            f"expected a Sample, got {kind}; try Sample.from_record or evaluate_conversation"
        )
    return sample


def checked_samples(samples: Iterable[object]) -> Iterator[Sample]:
    """Samples as they are, one by one.

    Raises:
        InvalidSampleError: This is a single sample, mapping or table, or one of them is no `Sample`.
    """
    if is_one(samples):
        kind = type(samples).__name__
        raise InvalidSampleError(
            f"expected several samples, got one {kind}; {_WAYS_OUT.get(kind, _USUAL_WAY_OUT)}"
        )
    return map(checked_sample, samples)
