"""What holds in every view of every report: it opens quietly, fits, is accessible, prints, and says no nonsense."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.conftest import Opener, Reports
from tests.support.browser import Watched
from tests.support.reports import CONTENTS

NONSENSE = re.compile(r"\b(NaN|undefined|null|Infinity|\[object \w+\])\b")
NOTHING = "#view=no&sample=no&conversation=no&T=9&scheme=__proto__&penalty=y&threshold=-3&run=z&method=w&level=q&meta.x=1&sort=v&scores=u&claim=0&%%%"
NAMES = sorted(CONTENTS.keys() - {"hostile"})
AXE = Path(__file__).resolve().parents[2] / "web/node_modules/axe-core/axe.min.js"


def links_of(page: Watched) -> list[str]:
    """The addresses of all views: those of the menu, and one of a single sample and conversation."""
    menu = page.page.get_by_role("navigation", name="Views")
    links: list[str] = menu.locator("a").evaluate_all("all => all.map(a => a.hash)")
    samples = page.call("() => tcvaReport.figures.samples.ids")
    conversations = page.call(
        "() => tcvaReport.figures.samples.conversations.map(([id]) => id)"
    )
    links += [f"#view=sample&sample={quote(name)}" for name in samples[:1]]
    links += [f"{link}&answer=served" for link in links[-1:] if samples]
    return links + [
        f"#view=conversation&conversation={quote(name)}" for name in conversations[:1]
    ]


def too_wide(page: Watched) -> list[str]:
    """What stands out of the window to the right, where the page can be scrolled there."""
    found: list[str] = page.call(
        """() => {
          const { clientWidth: width, scrollWidth } = document.documentElement;
          const out = [...document.querySelectorAll("body *")].filter(
            each => each.getBoundingClientRect().right > width + 1);
          return scrollWidth <= width ? [] : ["page", ...out.map(each => each.outerHTML.slice(0, 80))];
        }"""
    )
    return found


def violations(page: Watched) -> list[str]:
    """What axe-core calls serious or critical, with where it is."""
    page.call(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.call(
        "async () => (await axe.run(document)).violations"
    )
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"][:3]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_says_no_nonsense_and_fits(
    name: str, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports(name), NOTHING)
    for link in links_of(page):
        page.page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(link)
        assert page.page.locator("h1").count() == 1
        assert NONSENSE.findall(page.page.locator("body").inner_text()) == [], (
            f"{name} {link}"
        )
        for width in (400, 800, 2500):
            page.page.set_viewport_size({"width": width, "height": 900})
            page.settled()
            assert too_wide(page) == [], f"{name} {link} at {width}"


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core: run `make web`")
@pytest.mark.parametrize(
    "name",
    ["example", "two runs", "judges", "ccrs", "gate", "conversations", "criteria"],
)
def test_is_accessible_light_and_dark(
    name: str, reports: Reports, open_report: Opener
) -> None:
    page = open_report(reports(name))
    found, grounds = {}, set()
    for scheme in ("light", "dark"):
        page.page.emulate_media(color_scheme=scheme)
        for link in links_of(page):
            page.goto(link)
            found[scheme, link] = violations(page)
        grounds.add(page.call("() => getComputedStyle(document.body).backgroundColor"))
    assert {link: each for link, each in found.items() if each} == {}
    assert len(grounds) == 2
    page.page.emulate_media(
        media="print"
    )  # what turns nothing on paper is said instead
    assert (
        page.page.locator(".printed").count()
        == page.page.locator("form.settings").count()
    )
    assert not page.page.locator("input[type=range]").filter(visible=True).count()
