"""How fast the report's page is with 10,000 samples, and how large it is.

Run: python -m benchmarks.report_page
Times are a browser's own: from the move of the slider until the frame that shows it was handed over
(the second animation frame behind it, so a frame that costs nothing counts 17 to 33 ms), and from
the start of the navigation until the page stands and takes a move. The size with all framework
metrics is that of a comparison of the package's samples, judged by the lexical judge.
"""

from __future__ import annotations

import statistics
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tcva_adapters import report
from tcva_adapters.cli.settings import silence_frameworks
from tcva_adapters.compare.run import Run
from tests.support.browser import Watched, launched, opened
from tests.support.reports import random_content, write_page

SAMPLES: Final = 10_000
MOVES: Final = 50
EXAMPLES: Final = Path(__file__).resolve().parents[1] / "tcva_adapters/data/samples.jsonl"

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


def time_to_open(page: Watched) -> float:
    """Seconds until the page is drawn and has taken a first move."""
    page.page.goto("about:blank")
    page.page.goto(page.address, wait_until="commit")
    page.page.locator("input[type=range]").wait_for()
    page.call(_MOVES, 1)
    milliseconds: float = page.call("() => performance.now()")
    return milliseconds / 1000


def views_of(page: Watched) -> list[str]:
    """The names of the views in the menu."""
    links = page.page.locator("nav a").evaluate_all("links => links.map(link => link.hash)")
    return [link.split("view=")[1].split("&")[0] for link in links]


def main() -> None:
    failed = False

    def told(what: str, found: float, unit: str, target: float) -> None:
        nonlocal failed
        failed |= found > target
        print(f"{what}: {found:.0f} {unit} (target <= {target:.0f} {unit})")

    bare = len((files("tcva_adapters.report") / "page.html").read_bytes())
    told("page without data", bare / 1000, "kB", 130)
    with TemporaryDirectory() as name:
        folder = Path(name)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            silence_frameworks()
            table = Run(EXAMPLES, {"judge": "lexical"}).table()
        written = report.write(table, folder / "all.html")
        told("57 samples with all framework metrics", written.size / 1000, "kB", 1500)
        big = write_page(random_content(SAMPLES), folder / "big.html")
        print(f"{SAMPLES} samples, the texts of 5000: {big.stat().st_size / 1e6:.1f} MB")
        with launched() as browser:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = opened(context, big)
            told("open", 1000 * statistics.median(time_to_open(page) for _ in range(5)), "ms", 2000)
            for view in views_of(page):
                page.goto(f"#view={view}")
                if not page.page.locator("input[type=range]").count():
                    continue  # nothing there follows the temperature
                times = page.call(_MOVES, MOVES)
                what = (
                    f"slider to repaint in {view}, median of {MOVES} (slowest {max(times):.0f} ms)"
                )
                told(what, statistics.median(times), "ms", 50)
    if failed:
        sys.exit("a target was missed")


if __name__ == "__main__":
    main()
