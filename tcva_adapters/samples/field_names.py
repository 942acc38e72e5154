"""The names that frameworks give the fields of a sample, and where each is looked for."""

from __future__ import annotations

from collections.abc import Iterable

_NAMES = {
    "id": "id sample_id name uid",
    "input": "input user_input question query prompt inputs",
    "response": (
        "response actual_output actualOutput answer output prediction result completion "
        "generated_answer outputs"
    ),
    "contexts": (
        "contexts retrieved_contexts retrieval_context retrievalContext context source_documents "
        "documents source_nodes"
    ),
    "reference": (
        "reference expected_output expectedOutput ground_truth reference_answer expected "
        "reference_outputs reference_output"
    ),
}
ALIASES = {field: tuple(names.split()) for field, names in _NAMES.items()}
"""Field names of RAGAS, DeepEval, LangChain and LlamaIndex; where several occur, the first wins."""

GROUPS = {
    "id": "",
    "input": "inputs input outputs output",
    "response": "outputs output",
    "contexts": "outputs output inputs input reference_outputs reference",
    "reference": "reference_outputs reference outputs output inputs input",
}
"""In which nested objects each field is looked for, in this order; the first two are its own."""


def _inside(groups: str, names: Iterable[str]) -> list[str]:
    return [f"{group}.{name}" for group in groups.split() for name in names]


PLACES = {
    field: [*names, *_inside(GROUPS[field], names)] for field, names in ALIASES.items()
}
PLACES["reference"] += _inside("reference_outputs reference", ALIASES["response"])
"""Where each field is looked for, in this order."""

KNOWN = {"messages", *(name for names in ALIASES.values() for name in names)}
OFTEN_ELSE = ("name", "expected")
"""Names that often mean something else: only a text under them is a field."""
