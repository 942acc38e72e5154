"""Write texts of samples, models and files so that Markdown does not interpret them."""

from __future__ import annotations

import re

from tcva_adapters.console import visible

_RUN = re.compile("`+")
# Marks with a meaning in Markdown, and what GitHub links anywhere outside of code.
_MARKS = re.compile(r"([\\`*_\[\]<>#|~$&])")
_LINKED = re.compile(
    r"[@#]|://|www\.|gh-\d|\b[0-9a-f]{7,}\b|:[\w+-]+:|\[\[", re.IGNORECASE
)
_BARS = re.compile(r"\\*\|")


def markdown_code(text: str, *, in_table: bool = False) -> str:
    r"""Write any text as a code span in one line, which GitHub and GitLab do not interpret.

    >>> print(markdown_code("a ``b`` @you"), markdown_code("a|b", in_table=True), markdown_code(" "))
    ```a ``b`` @you``` `a\|b` (empty)
    """
    line = " ".join(visible(text).replace("\N{ZERO WIDTH SPACE}", " ").split())
    if not line:
        return "(empty)"
    longest = max((len(run) for run in _RUN.findall(line)), default=0)
    marks = "`" * (longest + 1)
    gap = " " if line[0] == "`" or line[-1] == "`" else ""
    if in_table:
        # A backslash before a bar would cancel the bar's own backslash.
        line = _BARS.sub(r"\\|", line)
    return f"{marks}{gap}{line}{gap}{marks}"


def markdown_text(text: str, *, in_table: bool = False) -> str:
    r"""Write a text without marks that Markdown interprets, as code if it would become a link.

    >>> print(markdown_text("a*b"), markdown_text("ask @you"))
    a\*b `ask @you`
    """
    if _LINKED.search(text):
        return markdown_code(text, in_table=in_table)
    return _MARKS.sub(r"\\\1", " ".join(visible(text).split()))
