"""Ids of contexts are read from every form, seen by no judge, and refused where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumps
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode
from ragas.dataset_schema import SingleTurnSample

from tcva_adapters import TCVA, Sample, read_samples
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.langchain.samples import as_sample
from tcva_adapters.llamaindex import TCVAEvaluator
from tcva_adapters.models.store_keys import verdict_key
from tcva_adapters.ragas.samples import as_sample as ragas_sample

TEXTS = ("We open at nine.", "Entry is free.")
DOCUMENTS = [
    Document(TEXTS[0], id="hours"),
    Document(TEXTS[1], metadata={"id": "price"}),
]
NODES = [
    NodeWithScore(node=TextNode(text=text, id_=name))
    for text, name in zip(TEXTS, ("hours", "price"), strict=True)
]

FORMS: list[dict[str, Any]] = [
    {"contexts": [*TEXTS], "context_ids": ["hours", "price"]},
    {"retrieved_contexts": [*TEXTS], "retrieved_context_ids": ["hours", "price"]},
    {"contexts": str([*TEXTS]), "context_ids": "['hours', 'price']"},
    {
        "documents": [
            {"id": "hours", "text": TEXTS[0]},
            {"id": "price", "text": TEXTS[1]},
        ]
    },
    {"source_documents": [json.loads(dumps(document)) for document in DOCUMENTS]},
    {"source_documents": DOCUMENTS},
    {"source_nodes": [node.to_dict() for node in NODES]},
    {"source_nodes": NODES},
    {"inputs": {"contexts": [*TEXTS], "context_ids": ["hours", "price"]}},
]


@pytest.mark.parametrize("record", FORMS)
def test_ids_are_read_from_each_form(record: dict[str, Any]) -> None:
    sample = Sample.from_record(record)
    assert (sample.contexts, sample.context_ids) == (TEXTS, ("hours", "price"))
    assert not sample.metadata


def test_adapters_hand_ids_on() -> None:
    assert as_sample({"docs": DOCUMENTS}).context_ids == ("hours", "price")
    row = SingleTurnSample(
        response="Entry is free.",
        retrieved_contexts=[*TEXTS],
        retrieved_context_ids=[7, "price"],
    )
    tcva = TCVA(judge="lexical")
    assert ragas_sample(tcva, row).context_ids == ("7", "price")
    evaluator = TCVAEvaluator(llm="lexical")
    response = Response("Entry is free.", source_nodes=NODES)
    judged = evaluator.evaluate_response(response=response).result.sample
    assert judged is not None
    assert judged.context_ids == ("hours", "price")
    other = evaluator.evaluate_response(response=response, contexts=["Entry is free."])
    assert other.result.sample is not None
    assert other.result.sample.context_ids == ()


def test_a_field_that_does_not_fit_stays_metadata() -> None:
    """RAGAS' metrics of ids need no texts, so rows may have ids alone, or of other passages."""
    for contexts in ({}, {"retrieved_contexts": ["One."]}):
        row = {"answer": "Yes.", "retrieved_context_ids": [1, 2], **contexts}
        sample = Sample.from_record(row)
        assert sample.context_ids == ()
        assert sample.metadata == {"retrieved_context_ids": [1, 2]}
    row = {"answer": "Yes.", "contexts": [*TEXTS]}
    assert Sample.from_record(row).context_ids == ()


@pytest.mark.parametrize(
    "record",
    [
        {"contexts": [*TEXTS], "context_ids": ["hours"]},
        {"contexts": [], "context_ids": "['hours', 'price']"},
        {"outputs": {"contexts": [*TEXTS], "context_ids": ["a", "b", "c"]}},
    ],
)
def test_another_number_of_context_ids_is_an_error(record: dict[str, Any]) -> None:
    with pytest.raises(InvalidSampleError, match=r"got \d ids for \d contexts"):
        Sample.from_record({"answer": "Yes.", **record})


def test_so_it_is_in_a_column_that_is_named() -> None:
    record = {"contexts": [*TEXTS], "names": ["hours"]}
    with pytest.raises(InvalidSampleError, match="got 1 ids for 2 contexts"):
        Sample.from_record(record, {"names": "context_ids"})
    unknown = Sample.from_record({"answer": "Yes.", "context_ids": ["hours"]})
    assert unknown.metadata == {"context_ids": ["hours"]}


def test_too_few_ids_are_refused() -> None:
    with pytest.raises(InvalidSampleError, match="got 1 ids for 2 contexts"):
        Sample(contexts=TEXTS, context_ids=("hours",))


def test_a_document_without_an_id_has_an_empty_one() -> None:
    documents = [Document(TEXTS[0]), Document(TEXTS[1], id="price")]
    assert as_sample({"docs": documents}).context_ids == ("", "price")


def test_no_judge_sees_them_and_no_key_has_them() -> None:
    plain = Sample(response="Entry is free.", contexts=TEXTS)
    named = plain.model_copy(update={"context_ids": ("hours", "price")})
    judge = LexicalJudge()
    keys = {verdict_key(sample, FAITHFULNESS, judge) for sample in (plain, named)}
    assert len(keys) == 1


def test_files_have_them(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(FORMS[0]))
    [sample] = read_samples(path).samples
    assert sample.context_ids == ("hours", "price")
