"""Texts that try to break out of their place stay texts, in every view."""

from urllib.parse import quote

from tests.browser.conftest import Opener, Reports
from tests.browser.test_every_view import links_of, too_wide
from tests.hostile.corpus import TEXTS

# What the page itself is made of; anything else came out of a text.
FOREIGN = "img, iframe, object, embed, base, link:not([rel=icon]), plaintext, xmp, [onerror], [onmouseover], [onfocus]"


def test_every_view_and_every_sample(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("hostile"))
    scripts = page.page.locator("script").count()
    for link in links_of(page):
        for width in (1280, 400):
            page.page.set_viewport_size({"width": width, "height": 900})
            page.goto(link)
            assert page.page.locator(FOREIGN).count() == 0, link
            assert too_wide(page) == [], f"{link} at {width}"
    samples = page.call("() => tcvaReport.figures.samples.ids")
    assert len(samples) == len(TEXTS)
    for name in samples:
        page.page.evaluate(
            "hash => { location.hash = hash }", f"#view=sample&sample={quote(name)}"
        )
        page.settled()
        assert page.page.locator("h1").count() == 1
        assert page.page.locator(FOREIGN).count() == 0, name
        assert page.page.locator("script").count() == scripts
    shown = page.page.locator("main").inner_text()
    assert "The data ends here" in shown  # the last one, so the loop did open samples


def test_a_policy_stands_in_the_file(reports: Reports, open_report: Opener) -> None:
    page = open_report(reports("example"))
    # It holds: a script that is added all the same does not run.
    page.call(
        """() => { const script = document.createElement("script");
          script.textContent = "window.ran = true"; document.body.append(script); script.remove(); }"""
    )
    assert page.call("() => window.ran") is None
    blocked = [fault for fault in page.faults if "script-src" in fault]
    assert len(blocked) == len(page.faults) > 0
    page.faults.clear()
