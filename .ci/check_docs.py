"""What a built site must have: every public name in its reference, and nothing from elsewhere.

Run: python .ci/check_docs.py build/docs
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from sphinx.util.inventory import InventoryFile

PACKAGE = Path("tcva_adapters")
STUB = re.compile(r"^from (?P<home>\S+) import (?P<names>\([^)]*\)|.+)$", re.MULTILINE)
# What a browser fetches by itself: not the links that a reader follows.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|data|srcset)=[\"']?(?P<by>(?:https?:)?//[^\"'\s>]+)"
    r"|<link\b[^>]*?\brel=[\"']?(?:stylesheet|preload|icon|preconnect)[^>]*?\bhref=[\"']?(?P<link>(?:https?:)?//[^\"'\s>]+)"
    r"|(?:@import\s+|url\()[\"']?(?P<css>(?:https?:)?//[^\"')\s]+)",
    re.IGNORECASE,
)


def public_names() -> Iterator[tuple[str, str]]:
    """The names of every package with a stub, each as it is imported and as it is defined."""
    for stub in sorted(PACKAGE.glob("**/__init__.pyi")):
        package = ".".join(stub.parent.parts)
        for found in STUB.finditer(stub.read_text(encoding="utf-8")):
            for name in re.findall(r"(\w+) as \1", found["names"]):
                if not name.startswith("__"):
                    yield f"{package}.{name}", f"{found['home']}.{name}"


def faults_of_reference(site: Path) -> Iterator[str]:
    """The public names without an entry."""
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    entries = {name for kind in inventory.data.values() for name in kind}
    for public, home in public_names():
        if not {public, home} & entries:
            yield f"{public} is not in docs/api"


def faults_of_commands(site: Path) -> Iterator[str]:
    """A page of commands without their help."""
    page = (site / "api/commands.html").read_text(encoding="utf-8")
    if "Usage: tcva evaluate" not in page:
        yield "api/commands.html lacks the help of tcva evaluate"


def faults_of_pages(site: Path) -> Iterator[str]:
    """What pages and style sheets load from elsewhere."""
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        for found in LOADED.finditer(path.read_text(encoding="utf-8")):
            yield f"{path} loads {found['by'] or found['link'] or found['css']}"


def main() -> None:
    """Ends with the faults, or says that there are none."""
    site = Path(sys.argv[1])
    faults = [
        *faults_of_reference(site),
        *faults_of_commands(site),
        *faults_of_pages(site),
    ]
    if faults:
        sys.exit("\n".join(faults))
    pages = sum(1 for _ in site.rglob("*.html"))
    names = sum(1 for _ in public_names())
    print(
        f"{pages} pages, {names} public names in the reference, nothing loaded from elsewhere"
    )


if __name__ == "__main__":
    main()
