"""Scores and decisions of the report's page beside those of the library.

Run: python -m benchmarks.report_parity
The built page is opened in a browser and asked by the functions that it draws with, for 2,000 random
rows of counts: whole, uniform, of panels, fractional, and fused of three judges of which some have
nothing. Decisions are compared at every threshold of three decimals, and at every score that the
rows have at T = 0.5, where scores are fractions and ties are real. A tie with the last bit of an
exponential (another T, a geometric mean of judges) is an accident of one machine's library, and no
threshold that anybody writes; there 1e-12 is what is promised.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.aggregation import PENALTIES, sweep
from tcva_adapters.core.temperature import Bounds, exponent_within
from tcva_adapters.core.verdicts import SCHEMES, FloatArray, WeightScheme
from tcva_adapters.report.content import settings_of
from tcva_adapters.results.settings import ScoringConfig
from tests.support.browser import Watched, launched, opened
from tests.support.reports import small_report

TEMPERATURES: Final = np.round(np.arange(10, 101) / 100, 2)
_SCORES: Final = """([rows, settings, temperatures]) => {
  const found = new Float64Array(rows.length * temperatures.length);
  temperatures.forEach((temperature, column) =>
    tcvaReport.score(rows, { ...settings, temperature }).forEach((score, row) => {
      found[row * temperatures.length + column] = score;
    }));
  let text = "";
  const bytes = new Uint8Array(found.buffer);
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  }
  return btoa(text);
}"""


@dataclass(frozen=True)
class Rows:
    """Rows of one kind.

    Attributes:
        kind: What they are.
        counts: Shape (N, judges, 5).
    """

    kind: str
    counts: FloatArray

    def as_json(self) -> list[list[list[float] | None]]:
        """As the page's data block has them: null where an additional judge has nothing."""
        return [
            [row if i == 0 or any(row) else None for i, row in enumerate(by_judge)]
            for by_judge in self.counts.tolist()
        ]


def kinds_of_rows(seed: int = 0) -> Iterator[Rows]:
    """2,000 rows."""
    rng = np.random.default_rng(seed)

    def verdicts(size: int, most: int = 12) -> FloatArray:
        shares = rng.dirichlet([0.7] * 5, size)
        return rng.multinomial(rng.integers(1, most + 1, size), shares).astype(np.float64)

    yield Rows("whole", verdicts(600)[:, None])
    uniform = np.zeros((100, 5))
    uniform[np.arange(100), np.arange(100) % 5] = rng.integers(1, 21, 100)
    yield Rows("uniform", uniform[:, None])
    # Three panel judges' votes on up to eight claims, a third each.
    votes = np.zeros((400, 5))
    for row in votes:
        for _ in range(rng.integers(1, 9)):
            np.add.at(row, rng.integers(0, 5, 3), 1 / 3)
    yield Rows("panel", votes[:, None])
    shares = rng.dirichlet([0.5] * 5, 400) * rng.integers(1, 9, (400, 1))
    shares[rng.random(shares.shape) < 0.2] = 0.0
    shares[~shares.any(axis=1), 0] = 1.0
    yield Rows("fractional", shares[:, None])
    fused = np.stack([verdicts(500, 6) for _ in range(3)], axis=1)
    fused[:, 1:][rng.random((500, 2)) < 0.2] = 0.0
    yield Rows("fused", fused)


def settings() -> Iterator[ScoringConfig]:
    """The grid of schemes and penalties, then what else a run may have."""
    for scheme, penalty in product(SCHEMES.values(), PENALTIES):
        yield ScoringConfig(scheme=scheme, penalty=penalty)
        yield ScoringConfig(scheme=scheme, penalty=penalty, eps=0.05, floor="always")
    for weights in [(1, 0.75, 0.5, 0.5, 0.1), (0.9, 0.9, 0.3, 0.3, 0.3), (1, 1, 1, 0, 0)]:
        custom = WeightScheme.resolve(weights)
        yield from (ScoringConfig(scheme=custom, penalty=penalty) for penalty in PENALTIES)
    plain = ScoringConfig(eps=1e-12)
    yield plain.changed(fuse_weights=(2.0, 1.0, 0.5))
    yield plain.changed(fuse_weights=(1.0, 1.0, 0.0))
    yield plain.changed(bounds=Bounds(-20.0, 1.0, 0.1, 1.0))
    yield plain.changed(bounds=Bounds(0.5, 30.0, 0.0, 1.4), floor="always")


def library(counts: FloatArray, scoring: ScoringConfig, temperatures: FloatArray) -> FloatArray:
    """Scores, shape (rows, temperatures)."""
    judges = [sweep(counts[:, j], temperatures, **scoring.options) for j in range(counts.shape[1])]
    return scoring.joined(judges)


def fitting(rows: Rows, scoring: ScoringConfig) -> bool:
    """Whether the fusion's weights, where it has some, are as many as there are judges."""
    weights = scoring.fuse_weights
    return weights is None or len(weights) == rows.counts.shape[1]


def passed(scores: FloatArray, thresholds: FloatArray) -> npt.NDArray[np.int64]:
    """How many of the thresholds each score reaches."""
    return np.searchsorted(thresholds, scores, side="right").astype(np.int64)


def _thresholds(rows: Rows, scoring: ScoringConfig) -> FloatArray:
    """Three decimals, and the rows' own scores where these are fractions."""
    typed = np.arange(1001) / 1000
    if rows.counts.shape[1] > 1 or exponent_within(0.5, scoring.bounds) != 1.0:
        return typed
    return np.unique([*typed, *library(rows.counts, scoring, np.array([0.5])).ravel()])


@dataclass
class Compared:
    """What was found so far.

    Attributes:
        scores: How many scores were compared.
        ties: How many of them equal one of the thresholds.
        largest: The largest difference.
        decisions: How many decisions were compared.
        differing: How many of them differ.
    """

    scores: int = 0
    ties: int = 0
    largest: float = 0.0
    decisions: int = 0
    differing: int = 0

    def compare(self, page: Watched, rows: Rows, scoring: ScoringConfig) -> None:
        """Scores at all temperatures, and the decisions at all thresholds."""
        bounds = scoring.bounds
        inside = (bounds.t_min <= TEMPERATURES) & (bounds.t_max >= TEMPERATURES)
        temperatures = TEMPERATURES[inside]
        wanted = library(rows.counts, scoring, temperatures)
        sent = page.call(_SCORES, [rows.as_json(), settings_of(scoring), temperatures.tolist()])
        found = np.frombuffer(base64.b64decode(sent)).reshape(wanted.shape)
        thresholds = _thresholds(rows, scoring)
        self.scores += wanted.size
        self.ties += int(np.isin(wanted, thresholds).sum())
        self.largest = max(self.largest, float(np.abs(found - wanted).max()))
        self.decisions += wanted.size * len(thresholds)
        differing = np.abs(passed(found, thresholds) - passed(wanted, thresholds))
        self.differing += int(differing.sum())


def main() -> None:
    kinds = list(kinds_of_rows())
    total = sum(len(rows.counts) for rows in kinds)
    with TemporaryDirectory() as folder, launched() as browser:
        page = opened(browser.new_context(), small_report(Path(folder)))
        every = Compared()
        for rows in kinds:
            of_kind = Compared()
            for scoring in settings():
                if fitting(rows, scoring):
                    of_kind.compare(page, rows, scoring)
            print(
                f"{rows.kind}: {len(rows.counts)} rows, {of_kind.scores} scores, largest difference "
                f"{of_kind.largest:.1e}; {of_kind.differing} of {of_kind.decisions} decisions differ ({of_kind.ties} "
                "scores tie with a threshold)"
            )
            every.largest = max(every.largest, of_kind.largest)
            every.differing += of_kind.differing
    print(
        f"{total} rows x {len(TEMPERATURES)} temperatures x {len(list(settings()))} settings: largest "
        f"difference {every.largest:.1e} (target <= 1e-12), {every.differing} decisions differ "
        "(target 0)"
    )


if __name__ == "__main__":
    main()
