"""The same samples in the files that frameworks and tools themselves write."""

import json
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pandas as pd  # type: ignore[import-untyped]  # it comes without types
import pytest
from deepeval.dataset import EvaluationDataset as DeepEvalDataset
from deepeval.evaluate.types import EvaluationResult as DeepEvalResult
from deepeval.evaluate.types import TestResult as DeepEvalCase
from deepeval.test_run.test_run import TestRun as DeepEvalRun
from langchain_core.load import dumpd
from langchain_core.messages import messages_to_dict
from langsmith.schemas import Example
from llama_index.core.evaluation import EvaluationResult as LlamaIndexResult

from tcva_adapters import Conversation, Sample
from tcva_adapters.compare import read_scores
from tcva_adapters.samples.reader import read_samples
from tests.deepeval.entry import case_of
from tests.langchain.entry import messages_of as _said
from tests.ragas.entry import dataset_of

Samples = Sequence[Sample]
FIELDS: Final = {"input", "actual_output", "retrieval_context"}
Writer = Callable[[Path, Samples], None]


def _passages(sample: Sample) -> list[str]:
    return list(sample.contexts or ())


def _texts(sample: Sample) -> dict[str, Any]:
    outputs = {"answer": sample.response, "contexts": _passages(sample)}
    return {"inputs": {"question": sample.input}, "outputs": outputs}


def _jsonl(path: Path, records: list[Any]) -> None:
    path.write_text(
        "".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8"
    )


def plain(path: Path, samples: Samples) -> None:
    """Our own field names, one record a line: what the others are compared with."""
    _jsonl(path, [sample.model_dump() for sample in samples])


def _ragas(samples: Samples) -> pd.DataFrame:
    # What `evaluate(...).to_pandas()` puts beside its scores.
    return dataset_of(samples).to_pandas().assign(faithfulness=0.5)


def _talks(samples: Samples) -> list[Conversation]:
    return [Conversation(turns=(sample,)) for sample in samples]


def _ragas_talk(path: Path, samples: Samples) -> None:
    dataset_of(_talks(samples)).to_jsonl(path)


def _deepeval_run(samples: Samples) -> dict[str, Any]:
    cases = [
        {
            "name": s.id or "",
            "input": s.input,
            "actualOutput": s.response,
            "order": order,
        }
        | {"retrievalContext": _passages(s)}
        for order, s in enumerate(samples)
    ]
    run = DeepEvalRun.model_validate(
        {"testCases": cases, "hyperparameters": {"model": "m"}}
    )
    return run.model_dump(by_alias=True, exclude_none=True)


def _deepeval_latest(path: Path, samples: Samples) -> None:
    path.write_text(
        json.dumps({"testRunData": _deepeval_run(samples)}), encoding="utf-8"
    )


def _deepeval_returned(path: Path, samples: Samples) -> None:
    rest: Any = {"success": True, "metrics_data": [], "conversational": False}
    results = [
        DeepEvalCase(name=s.id or "", **case_of(s).model_dump(include=FIELDS), **rest)
        for s in samples
    ]
    returned = DeepEvalResult(
        test_results=results, confident_link=None, test_run_id=None
    )
    path.write_text(returned.model_dump_json(), encoding="utf-8")


def _deepeval_dataset(path: Path, samples: Samples) -> None:
    dataset = DeepEvalDataset()
    for sample in samples:
        dataset.add_test_case(case_of(sample))
    kind: Any = path.suffix[1:]
    with redirect_stdout(StringIO()):  # it says where it saved
        dataset.save_as(kind, str(path.parent), path.stem, include_test_cases=True)


def _runs(samples: Samples) -> list[dict[str, Any]]:
    return [
        {"id": s.id, "name": "RunnableSequence", "run_type": "chain", **_texts(s)}
        | {"reference_outputs": {"answer": "Something else."}}
        for s in samples
    ]


def _examples(path: Path, samples: Samples) -> None:
    examples = [
        Example(id=uuid4(), dataset_id=uuid4(), **_texts(sample)) for sample in samples
    ]
    path.write_text(
        json.dumps([e.model_dump(mode="json") for e in examples]), encoding="utf-8"
    )


def _cells_of_objects(path: Path, samples: Samples) -> None:
    pd.DataFrame(_runs(samples)).to_csv(path, index=False)


def _dotted_columns(path: Path, samples: Samples) -> None:
    pd.json_normalize(_runs(samples)).to_csv(path, index=False)


def _llamaindex(samples: Samples) -> list[LlamaIndexResult]:
    return [
        LlamaIndexResult(
            query=s.input,
            response=s.response,
            contexts=_passages(s),
            score=1.0,
            passing=True,
        )
        for s in samples
    ]


def _batch(path: Path, samples: Samples) -> None:
    results = {"faithfulness": [each.model_dump() for each in _llamaindex(samples)]}
    path.write_text(json.dumps(results), encoding="utf-8")


def _openai_talk(path: Path, samples: Samples) -> None:
    talks = [
        [
            {"role": "system", "content": "Answer from the passages."},
            {"role": "user", "content": [{"type": "text", "text": s.input}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            *(
                {"role": "tool", "tool_call_id": "1", "content": text}
                for text in _passages(s)
            ),
            {"role": "assistant", "content": s.response},
        ]
        for s in samples
    ]
    _jsonl(path, [{"messages": talk} for talk in talks])


WRITERS: Final[dict[str, tuple[str, Writer]]] = {
    "RAGAS to_csv": ("a.csv", lambda p, s: _ragas(s).to_csv(p)),
    "RAGAS to_csv without index": (
        "a.csv",
        lambda p, s: _ragas(s).to_csv(p, index=False),
    ),
    "RAGAS to_csv, semicolons": ("a.csv", lambda p, s: _ragas(s).to_csv(p, sep=";")),
    "RAGAS to_csv, tabs": ("a.tsv", lambda p, s: _ragas(s).to_csv(p, sep="\t")),
    "RAGAS to_parquet": ("a.parquet", lambda p, s: _ragas(s).to_parquet(p)),
    "RAGAS to_json": ("a.json", lambda p, s: _ragas(s).to_json(p)),
    "RAGAS to_json, records": (
        "a.json",
        lambda p, s: _ragas(s).to_json(p, orient="records"),
    ),
    "RAGAS to_json, table": (
        "a.json",
        lambda p, s: _ragas(s).to_json(p, orient="table"),
    ),
    "RAGAS conversations": ("a.jsonl", _ragas_talk),
    "DeepEval latest test run": ("a.json", _deepeval_latest),
    "DeepEval evaluate(...) as JSON": ("a.json", _deepeval_returned),
    "DeepEval dataset, csv": ("a.csv", _deepeval_dataset),
    "DeepEval dataset, jsonl": ("a.jsonl", _deepeval_dataset),
    "DeepEval dataset, json": ("a.json", _deepeval_dataset),
    "LangSmith runs, jsonl": ("a.jsonl", lambda p, s: _jsonl(p, _runs(s))),
    "LangSmith runs, csv of objects": ("a.csv", _cells_of_objects),
    "LangSmith runs, dotted csv": ("a.csv", _dotted_columns),
    "LangSmith examples, json": ("a.json", _examples),
    "LlamaIndex batch, json": ("a.json", _batch),
    "LlamaIndex results, csv": (
        "a.csv",
        lambda p, s: pd.DataFrame(
            [each.model_dump() for each in _llamaindex(s)]
        ).to_csv(p),
    ),
    "OpenAI messages": ("a.jsonl", _openai_talk),
    "LangChain messages": (
        "a.jsonl",
        lambda p, s: _jsonl(
            p, [{"messages": messages_to_dict(_said(t))} for t in _talks(s)]
        ),
    ),
    "LangChain messages, dumpd": (
        "a.jsonl",
        lambda p, s: _jsonl(
            p, [{"outputs": {"messages": dumpd(_said(t))}} for t in _talks(s)]
        ),
    ),
}
"""By name: the file, and what writes it."""


SAMPLES = [
    Sample(
        input='Who wrote "Notes"?',
        response="It's Ada;\nshe wrote them, in 1843.",
        contexts=[
            "It's Ada who wrote them.",
            "Both ' and \" here, [1], {x}, ...",
            "A line\nbreak, a \\ backslash, \\n, \ttab, caf\u00e9 \u6f22 \U0001f600 \u2028 \x07",
            "",
        ],
    ),
    Sample(input="When?", response="In 1843.", contexts=["[1] The notes are of 1843."]),
    Sample(
        input="Where?", response="In London.", contexts=["['quoted']", "word " * 400]
    ),
]


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_the_frameworks_hold_the_same_samples(
    tmp_path: Path, name: str
) -> None:
    file, write = WRITERS[name]
    write(tmp_path / file, SAMPLES)
    found = read_samples(tmp_path / file).samples
    wanted = [(s.input, s.response, s.contexts) for s in SAMPLES]
    assert [(s.input, s.response, s.contexts) for s in found] == wanted


def test_scores_of_these_files_find_their_samples(tmp_path: Path) -> None:
    """The same answer to the same question twice: only the contexts tell which is meant."""
    twins = [*SAMPLES, SAMPLES[0].model_copy(update={"contexts": ("Something else.",)})]
    for file, write in (
        found for name, found in WRITERS.items() if name.startswith("RAGAS to")
    ):
        write(tmp_path / file, twins)
        table = read_scores(tmp_path / file, samples=twins)
        assert table.samples == ("row-1", "row-2", "row-3", "row-4")
        assert "on 4 of 4 samples" in table.notes[0]
