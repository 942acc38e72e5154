"""A browser per module: one for all would leave its event loop running under other tests."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.support.browser import HINT, Watched, find_browser, launched, opened
from tests.support.reports import CONTENTS, MOST, write_page

Opener = Callable[..., Watched]
Reports = Callable[[str], Path]
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser takes a second for each test. The hook sees the items of all folders."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if find_browser() is None:
        if os.environ.get("TCVA_BROWSER_TESTS") == "required":
            pytest.fail(HINT)
        pytest.skip(HINT)
    with launched() as found:
        yield found


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    made.set_default_timeout(10_000)
    yield made
    made.close()


@pytest.fixture
def open_report(context: BrowserContext) -> Iterator[Opener]:
    """Opens reports in tabs; after the test none of them may have done what a report must not do."""
    tabs: list[Watched] = []

    def open_one(file: Path, link: str = "") -> Watched:
        tabs.append(opened(context, file, link))
        return tabs[-1]

    yield open_one
    assert [fault for tab in tabs for fault in tab.faults] == []


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Reports by name, each written once a module."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def report(name: str) -> Path:
        return write_page(
            CONTENTS[name](), folder / f"{name}.html", most=MOST.get(name, 5000)
        )

    return report
