"""The names under which the frameworks keep what a sample holds."""

from __future__ import annotations

from typing import Final

_NAMES: Final = {
    "id": "id sample_id name uid",
    "input": "input user_input question query prompt",
    "response": (
        "response actual_output actualOutput answer output prediction result completion "
        "generated_answer"
    ),
    "contexts": (
        "contexts retrieved_contexts retrieval_context retrievalContext context source_documents "
        "documents source_nodes"
    ),
    "reference": (
        "reference expected_output expectedOutput ground_truth reference_answer ground_truths "
        "expected"
    ),
}
ALIASES: Final = {field: tuple(names.split()) for field, names in _NAMES.items()}
"""Field names of RAGAS, DeepEval, LangChain and LlamaIndex; where several occur, the first wins."""
