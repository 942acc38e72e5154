"""A real browser, and a page that nothing happens in unseen: requests, errors, dialogs."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Dialog,
    Page,
    Request,
    sync_playwright,
)

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
HINT: Final = "no browser: install Chromium (on Debian `apt-get install chromium`), or name one in TCVA_BROWSER"


def find_browser() -> str | None:
    """The program that TCVA_BROWSER names, or the first known one on PATH."""
    named = os.environ.get("TCVA_BROWSER")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launched() -> Iterator[Browser]:
    """The browser, headless; its sandbox needs a user other than root."""
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=options
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page opened from disk, and what it did that a report must not do.

    Attributes:
        page: The page.
        address: That of its file.
        faults: Requests beyond the file itself, messages of the console, errors, dialogs, and
            what the content security policy stopped.
    """

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", self._requested)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on(
            "console", lambda message: self.faults.append(f"console: {message.text}")
        )
        self.page.on("dialog", self._asked)

    def _requested(self, request: Request) -> None:
        # Downloads of labels are made in the page and never leave it.
        if request.url.partition("#")[0] != self.address and not request.url.startswith(
            "blob:"
        ):
            self.faults.append(f"request: {request.url}")

    def _asked(self, dialog: Dialog) -> None:
        # A browser asks this itself before labels are lost, where the page says they would be.
        if dialog.type != "beforeunload":
            self.faults.append(f"dialog: {dialog.message}")
        dialog.accept()

    def goto(self, link: str = "") -> None:
        """Open the page, or a place in it (`#view=...`), as from another program."""
        self.page.goto("about:blank")
        self.page.goto(self.address + link)
        self.settled()

    def settled(self) -> None:
        """Wait until what was asked for is drawn: two frames, since a store may draw in the next."""
        twice = "requestAnimationFrame(() => requestAnimationFrame(done))"
        self.page.evaluate(f"() => new Promise(done => {twice})")

    def value(self, selector: str) -> float:
        """The full number behind a figure that the page shows rounded."""
        return float(
            self.page.locator(selector).first.get_attribute("data-value") or "nan"
        )

    def call(self, code: str, argument: Any = None) -> Any:
        """What some JavaScript gives."""
        return self.page.evaluate(code, argument)


def opened(context: BrowserContext, file: Path, link: str = "") -> Watched:
    """A report in a new tab."""
    watched = Watched(context.new_page(), file.resolve().as_uri())
    watched.page.add_init_script(
        "addEventListener('securitypolicyviolation',"
        " e => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))"
    )
    watched.goto(link)
    return watched
