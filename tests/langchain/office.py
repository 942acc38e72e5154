"""The question about the office as chains hand it on."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any, Final

from langchain_core.documents import Document
from langsmith.schemas import Run

from tests.support.office import PASSAGE, QUERY, RESPONSE

RECORD: Final[dict[str, Any]] = {
    "question": QUERY,
    "answer": RESPONSE,
    "context": [Document(PASSAGE)],
}


def run_of(inputs: dict[str, Any], outputs: dict[str, Any]) -> Run:
    """A run as LangSmith keeps it."""
    return Run(
        id=uuid.uuid4(),
        name="chain",
        start_time=datetime.now(UTC),
        run_type="chain",
        trace_id=uuid.uuid4(),
        inputs=inputs,
        outputs=outputs,
        session_id=uuid.uuid4(),
    )
