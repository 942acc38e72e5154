"""The list of samples, read as a reader would who scrolls through all of it."""

from tests.support.browser import Watched

_ROWS = """async () => {
  const grid = document.querySelector("[role=grid]");
  const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const found = new Map();
  for (let top = 0; ; top += grid.clientHeight / 2) {
    grid.scrollTop = top;
    await frame();
    for (const row of grid.querySelectorAll("[role=row]")) {
      const cells = [...row.querySelectorAll("[role=gridcell]")].map(cell =>
        cell.querySelector("[data-sample]")?.dataset.sample ?? cell.innerText.trim());
      if (cells.length) found.set(Number(row.getAttribute("aria-rowindex")), cells);
    }
    if (top >= grid.scrollHeight) break;
  }
  grid.scrollTop = 0;
  await frame();
  return [...found].sort(([a], [b]) => a - b).map(([, cells]) => cells);
}"""


def headings(page: Watched) -> list[str]:
    """Of the columns."""
    texts: list[str] = page.page.locator(
        "[role=grid] [role=columnheader]"
    ).all_inner_texts()
    return [text.replace("▾", "").replace("▴", "").strip() for text in texts]


def rows(page: Watched) -> list[dict[str, str]]:
    """All rows in their order, each cell by its column's heading, in one line; of a sample the id alone."""
    names = headings(page)
    found: list[list[str]] = page.call(_ROWS)
    return [
        dict(zip(names, (" ".join(c.split()) for c in row), strict=True))
        for row in found
    ]


def ids(page: Watched) -> list[str]:
    """The samples in their order."""
    return [row["Sample"] for row in rows(page)]
