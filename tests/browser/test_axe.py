"""axe-core finds nothing serious in any view, light and dark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.browser.conftest import Opener
from tests.browser.test_every_view import links_of
from tests.support.browser import Watched

AXE = Path(__file__).resolve().parents[2] / "web/node_modules/axe-core/axe.min.js"

needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="no axe-core: run `make web` (it needs node and npm)"
)


def violations(page: Watched) -> list[str]:
    """Serious and critical ones, with where they are."""
    page.call(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.call("async () => (await axe.run(document)).violations")
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"][:3]
    ]


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["example", "two runs", "fixed only", "judges", "all unscored", "ccrs"]
)
def test_nothing_serious(
    name: str,
    scheme: Literal["light", "dark"],
    reports: Callable[[str], Path],
    open_report: Opener,
) -> None:
    page = open_report(reports(name))
    page.page.emulate_media(color_scheme=scheme)
    found = {}
    for link in links_of(page):
        page.goto(link)
        found[link] = violations(page)
    assert {link: each for link, each in found.items() if each} == {}
