"""What holds in every view of every report: it opens quietly, fits, prints, and says no nonsense."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.conftest import Opener
from tests.support.browser import Watched
from tests.support.reports import CONTENTS, example_content

Reports = Callable[[str], Path]

NONSENSE = re.compile(r"\b(NaN|undefined|null|Infinity|\[object \w+\])\b")
WIDTHS = (400, 800, 2500)
NAMES = sorted(CONTENTS.keys() - {"hostile"})


def links_of(page: Watched) -> list[str]:
    """The addresses of all views: those of the menu, and one of a single sample."""
    links: list[str] = page.page.locator("nav a").evaluate_all("all => all.map(a => a.hash)")
    samples = page.call("() => tcvaReport.figures.samples.ids")
    return [*links, f"#view=sample&sample={quote(samples[0])}"] if samples else links


def too_wide(page: Watched) -> list[str]:
    """What stands out of the window to the right, where the page can be scrolled there."""
    found: list[str] = page.call(
        """() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          const out = [...document.querySelectorAll("body *")].filter(
            each => each.getBoundingClientRect().right > width + 1);
          return out.slice(-3).map(each => `${each.tagName}.${each.getAttribute("class")}`)
            .concat(`page ${document.documentElement.scrollWidth} of ${width}`);
        }"""
    )
    return found


@pytest.mark.parametrize("name", NAMES)
def test_says_no_nonsense_and_fits(name: str, reports: Reports, open_report: Opener) -> None:
    page = open_report(reports(name))
    for link in links_of(page):
        page.page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(link)
        assert page.page.locator("h1").count() == 1
        shown = page.page.locator("body").inner_text()
        assert NONSENSE.findall(shown) == [], f"{name} {link}"
        for width in WIDTHS:
            page.page.set_viewport_size({"width": width, "height": 900})
            page.settled()
            assert too_wide(page) == [], f"{name} {link} at {width}"


def test_prints(reports: Reports, open_report: Opener, tmp_path: Path) -> None:
    page = open_report(reports("example"))
    for number, link in enumerate(links_of(page)):
        page.goto(link)
        page.page.emulate_media(media="print")
        page.settled()
        file = tmp_path / f"{number}.pdf"
        page.page.pdf(path=file, format="A4")
        assert file.read_bytes().startswith(b"%PDF"), link
        # The dial's controls do nothing on paper; its settings are said instead.
        assert not page.page.locator("input[type=range]").first.is_visible(), link
        page.page.emulate_media(media="screen")


def test_dark_and_light_by_the_system_and_by_hand(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"))
    ground = "() => getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        page.page.emulate_media(color_scheme=scheme)
        page.settled()
        seen[scheme] = page.call(ground)
    assert seen["light"] != seen["dark"]
    page.page.get_by_role(
        "button", name=re.compile("light|dark|theme|colours", re.IGNORECASE)
    ).click()
    page.settled()
    assert page.call(ground) == seen["light"]


def test_levels_are_words_where_there_is_no_colour(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"), "#view=sample&sample=medical-003")
    words = page.page.locator("main").inner_text().lower()
    claims = example_content().runs[0].assessments["medical-003"].claims
    for level in {claim.verdict for claim in claims} - {None}:
        assert str(level) in words
    page.page.emulate_media(forced_colors="active")
    page.settled()
    assert page.page.locator("main").inner_text().lower() == words
