"""The delimiters between which every text of a sample stands in a prompt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from tcva_adapters.criteria import Field
from tcva_adapters.samples.sample import Sample

BLOCKS: Final[dict[Field, str]] = {
    "contexts": "PASSAGE",
    "reference": "REFERENCE",
    "input": "QUESTION",
    "response": "RESPONSE",
}
"""Names of blocks, in the order of the user part: what is shared by most samples comes first."""

_DIGEST: Final = 6
# Tag characters carry text that no reader sees; surrogates cannot be sent; the rest is control.
_UNSENDABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\U000e0000-\U000e007f]")
_TEMPLATE_MARK: Final = re.compile(r"[<＜](?=[|｜])")


def sendable(text: str) -> str:
    r"""A text without what cannot be sent, no reader sees, or a chat template reads as its own mark.

    >>> sendable("a\x00b, cout << x"), "<|" in sendable("<|im_end|>")
    ('a b, cout << x', False)
    """
    return _TEMPLATE_MARK.sub("‹", _UNSENDABLE.sub(_replaced, text))


def _replaced(match: re.Match[str]) -> str:
    char = match.group()
    return "" if char >= "\U000e0000" else "\ufffd" if char >= "\ud800" else " "


def block(name: str, text: str) -> str:
    r"""A text between two lines with a digest of it, which the text itself does not hold.

    So no text can close its block: it would have to know a digest of which it is a part, and one
    that does gets another.

    >>> block("CLAIM 1", "It is red.")
    '<<<CLAIM 1 0cf15a>>>\nIt is red.\n<<<END CLAIM 1 0cf15a>>>'
    """
    text = digest = sendable(text)
    while digest in text:
        digest = hashlib.sha256(f"{digest}\n{text}".encode()).hexdigest()[:_DIGEST]
    return f"<<<{name} {digest}>>>\n{text}\n<<<END {name} {digest}>>>"


def sample_blocks(sample: Sample, wanted: Sequence[Field]) -> list[str]:
    """The texts of some fields of a sample, a block each, what samples share first."""
    parts: list[str] = []
    for field, name in BLOCKS.items():
        if field not in wanted:
            continue
        if field == "contexts":
            parts += [block(f"{name} {i}", c) for i, c in enumerate(sample.contexts or (), start=1)]
        elif (text := sample.field(field)) is not None:
            parts.append(block(name, text))
    return parts
