"""The question about the office as chains hand it on."""

from __future__ import annotations

from typing import Any, Final

from langchain_core.documents import Document

from tests.support.office import PASSAGE, QUERY, RESPONSE

RECORD: Final[dict[str, Any]] = {
    "question": QUERY,
    "answer": RESPONSE,
    "context": [Document(PASSAGE)],
}
