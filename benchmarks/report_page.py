"""How fast the report's page is, how large it is, and its scores beside those of the library.

Run: python -m benchmarks.report_page
Times are a browser's own: from the move of the temperature until the frame that shows it was handed over
(the second animation frame behind it, so a frame that costs nothing counts 17 to 33 ms), and from the start
of the navigation until the page takes a move. The page's own functions then score 2,000 random rows of
counts, whole, of panels and of fused judges, under every weight scheme and penalty. A decision is
compared at every threshold of three decimals.
"""

import statistics
import sys
from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from playwright.sync_api import Browser

from tcva_adapters import aggregate_counts
from tcva_adapters.core.aggregation import PENALTIES
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import SCHEMES, FloatArray
from tcva_adapters.report.page_data import settings_of
from tcva_adapters.results.scoring import ScoringConfig
from tests.support.browser import Watched, launched, opened
from tests.support.reports import random_content, small_report, write_page

SAMPLES: Final = 10_000
MOVES: Final = 50
GRID: Final = np.round(np.arange(10, 101) / 100, 2)
THRESHOLDS: Final = np.arange(1001) / 1000

_MOVES: Final = """async moves => {
  const slider = document.querySelector("input[type=range]");
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  for (let move = 0; move < moves; move++) {
    await frame();
    const start = performance.now();
    slider.value = 0.1 + ((move * 37) % 91) / 100;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await frame();
    await frame();
    times.push(performance.now() - start);
  }
  return times;
}"""
_SCORES: Final = """([rows, settings, temperatures]) => temperatures.map(temperature =>
  tcvaReport.score(rows, { ...settings, temperature }).map(score => score ?? NaN))"""


def time_to_open(page: Watched) -> float:
    """Milliseconds until the page is drawn and has taken a first move."""
    page.page.goto("about:blank")
    page.page.goto(page.address, wait_until="commit")
    page.page.locator("input[type=range]").wait_for()
    page.call(_MOVES, 1)
    return float(page.call("() => performance.now()"))


def print_times(browser: Browser, file: Path) -> None:
    page = opened(browser.new_context(viewport={"width": 1280, "height": 900}), file)
    print(f"open: {statistics.median(time_to_open(page) for _ in range(5)):.0f} ms")
    links = page.page.locator("nav a").evaluate_all(
        "links => links.map(link => link.hash)"
    )
    for view in [link.split("view=")[1].split("&")[0] for link in links]:
        page.goto(f"#view={view}")
        if page.page.locator("input[type=range]").count():
            times = page.call(_MOVES, MOVES)
            took = f"{statistics.median(times):.0f} ms, slowest {max(times):.0f} ms"
            print(f"temperature to repaint in {view}: {took}")


def random_rows() -> Iterator[FloatArray]:
    """Counts of shape (rows, judges, 5): whole, thirds of a panel, and of three fused judges."""
    rng = np.random.default_rng(0)

    def verdicts(size: int) -> FloatArray:
        shares = rng.dirichlet([0.7] * 5, size)
        return rng.multinomial(rng.integers(1, 13, size), shares).astype(np.float64)

    yield verdicts(1000)[:, None]
    yield (verdicts(500) / 3)[:, None]
    yield np.stack([verdicts(500) for _ in range(3)], axis=1)


def compare(
    page: Watched, counts: FloatArray, scoring: ScoringConfig
) -> tuple[float, int, int]:
    """The largest difference of scores, how many decisions differ, and how many there are."""
    judges = [
        aggregate_counts(counts[:, j], GRID, **scoring.options)
        for j in range(counts.shape[1])
    ]
    wanted = scoring.fuse_scores(judges)
    sent = page.call(_SCORES, [counts.tolist(), settings_of(scoring), GRID.tolist()])
    found = np.array(sent, dtype=np.float64).T
    reached = [np.searchsorted(THRESHOLDS, s, side="right") for s in (found, wanted)]
    differ = int(np.abs(reached[0] - reached[1]).sum())
    return float(np.abs(found - wanted).max()), differ, wanted.size * len(THRESHOLDS)


def print_parity(browser: Browser, folder: Path) -> None:
    page = opened(browser.new_context(), small_report(folder))
    every = [
        ScoringConfig(scheme=s, penalty=p)
        for s, p in product(SCHEMES.values(), PENALTIES)
    ]
    every += [ScoringConfig(bounds=Bounds(-20.0, 1.0, 0.1, 1.0))]
    found = [
        compare(page, counts, scoring) for counts in random_rows() for scoring in every
    ]
    largest, differ, decisions = (column for column in zip(*found, strict=True))
    found_apart = f"{sum(differ)} differ; scores differ by {max(largest):.0e} at most"
    print(f"{sum(decisions)} decisions, {found_apart}")
    if sum(differ) or max(largest) > 1.5e-12:  # a unit of the twelfth digit
        sys.exit("the page does not compute as the library does")


def main() -> None:
    bare = len((files("tcva_adapters.report") / "page.html").read_bytes())
    print(f"page without data: {bare / 1000:.0f} kB (at most 145)")
    with TemporaryDirectory() as name, launched() as browser:
        folder = Path(name)
        big = write_page(random_content(SAMPLES), folder / "big.html")
        print(
            f"{SAMPLES} samples, the texts of 5000: {big.stat().st_size / 1e6:.1f} MB"
        )
        print_times(browser, big)
        print_parity(browser, folder)


if __name__ == "__main__":
    main()
