"""Scores of several methods on the same samples: a tidy table, and the matrix made of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class Row:
    """What one method said about one sample.

    Attributes:
        sample: The sample's id.
        method: The method's name, e.g. ``tcva T=0.5`` or ``ragas faithfulness``.
        score: On the method's own scale; None where there is none.
        unscored: Why there is no score; empty where there is one.
        calls: Calls of a model; None where nobody counted.
        input_tokens: As the model reported them; None where it did not.
        output_tokens: The same for the reply.
        seconds: Time that the judgement took; None where it was not measured.
    """

    sample: str
    method: str
    score: float | None
    unscored: str = ""
    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class ScoreTable:
    """The same scores as a matrix.

    Attributes:
        samples: Ids, one per row of ``scores``, each once.
        methods: Names, one per column, each once.
        scores: Shape (samples, methods); nan where there is no score.
        human: One per sample, nan where nobody rated; None where there are none at all.

    Raises:
        InvalidValueError: Shapes that do not fit, or a name that occurs twice.

    >>> rows = [Row("a", "ours", 0.5), Row("a", "theirs", 1.0), Row("b", "ours", None, "refusal")]
    >>> ScoreTable.of(rows).scores.tolist()
    [[0.5, 1.0], [nan, nan]]
    """

    samples: tuple[str, ...]
    methods: tuple[str, ...]
    scores: FloatArray
    human: FloatArray | None = None

    def __post_init__(self) -> None:
        for kind, names in (("sample", self.samples), ("method", self.methods)):
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                msg = f"the {kind} {twice!r} occurs twice; each needs a name of its own"
                raise InvalidValueError(msg)
        if self.scores.shape != (len(self.samples), len(self.methods)):
            msg = (
                f"scores have the shape {self.scores.shape} for {len(self.samples)} samples and "
                f"{len(self.methods)} methods"
            )
            raise InvalidValueError(msg)
        if self.human is not None and self.human.shape != (len(self.samples),):
            msg = f"human ratings have the shape {self.human.shape} for {len(self.samples)} samples"
            raise InvalidValueError(msg)

    @classmethod
    def of(cls, rows: Iterable[Row], human: Mapping[str, float] | None = None) -> ScoreTable:
        """From tidy rows, samples and methods in the order of their first row.

        Args:
            rows: At most one per sample and method.
            human: Human ratings by sample id.

        Raises:
            InvalidValueError: Two rows for one sample and method.
        """
        samples: dict[str, int] = {}
        methods: dict[str, int] = {}
        given, at_sample, at_method = array("d"), array("q"), array("q")
        for row in rows:
            at_sample.append(samples.setdefault(row.sample, len(samples)))
            at_method.append(methods.setdefault(row.method, len(methods)))
            given.append(np.nan if row.score is None else row.score)
        scores = np.full((len(samples), len(methods)), np.nan)
        cells = np.asarray(at_sample) * len(methods) + np.asarray(at_method)
        _, firsts = np.unique(cells, return_index=True)
        if len(firsts) < len(cells):
            twice = int(np.setdiff1d(np.arange(len(cells)), firsts)[0])
            sample, method = [*samples][at_sample[twice]], [*methods][at_method[twice]]
            msg = (
                f"two rows for sample {sample!r} and method {method!r}; give the scores "
                "of another run another name"
            )
            raise InvalidValueError(msg)
        scores.flat[cells] = given
        ratings = None
        if human is not None:
            ratings = np.array([human.get(sample, np.nan) for sample in samples])
        return cls(tuple(samples), tuple(methods), scores, ratings)

    def column(self, method: str) -> FloatArray:
        """One method's scores, shape (samples,).

        Raises:
            InvalidValueError: No such method.
        """
        if method not in self.methods:
            msg = f"no method {method!r}; there are {', '.join(self.methods)}"
            raise InvalidValueError(msg)
        scores: FloatArray = self.scores[:, self.methods.index(method)]
        return scores

    def common(self, methods: Sequence[str] | None = None) -> ScoreTable:
        """The samples on which all of these methods (and humans, if there are any ratings) have a score."""
        wanted = tuple(self.methods if methods is None else methods)
        scores = np.stack([self.column(method) for method in wanted], axis=1)
        needed = scores if self.human is None else np.column_stack([scores, self.human])
        whole = np.flatnonzero(np.isfinite(needed).all(axis=1))
        ratings = None if self.human is None else self.human[whole]
        return ScoreTable(tuple(self.samples[i] for i in whole), wanted, scores[whole], ratings)
