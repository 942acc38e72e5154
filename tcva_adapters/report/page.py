"""The page: the built asset with the figures and texts of one report in it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any, Final

from tcva_adapters.report.plain import inert_json

OURS: Final = re.compile(rb"<!doctype html><!-- tcva-adapters report ")
"""How a report begins."""

_PLACES: Final = (
    "<title>TCVA report</title>",
    '<script type="application/json" id="figures"></script>',
    '<script type="application/jsonl" id="details"></script>',
)
_END: Final = "</script>"


def page_of(figures: dict[str, Any], details: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """The page, piece by piece.

    The data stand in blocks that a browser does not run, so the policy of the page, which holds
    the digest of its code, stays as it is.

    Args:
        figures: See `figures_of`.
        details: See `detail_lines`.
    """
    asset = (files(__package__) / "page.html").read_text(encoding="utf-8")
    for place in _PLACES:
        before, asset = asset.split(place)
        yield before.encode()
        yield from (text.encode() for text in _filled(place, figures, details))
    yield asset.encode()


def _filled(
    place: str, figures: dict[str, Any], details: Iterable[dict[str, Any]]
) -> Iterator[str]:
    if place == _PLACES[0]:
        yield f"<title>{_title(figures['title'])}</title>"
        return
    yield place.removesuffix(_END)
    if place == _PLACES[1]:
        yield inert_json(figures)
    else:
        for number, line in enumerate(details):
            yield f"\n{inert_json(line)}" if number else inert_json(line)
    yield _END


def _title(text: str) -> str:
    return html.escape(text.encode(errors="replace").decode())
