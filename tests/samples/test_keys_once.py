"""A key that occurs twice in one object is an error that names it, and never a value lost in silence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.compare import read_scores
from tcva_adapters.deepeval import results_of
from tcva_adapters.errors import TCVAError, UnreadableInputError
from tcva_adapters.result_reader import read_result
from tcva_adapters.samples.json_values import loads
from tcva_adapters.samples.reader import read_samples

GOOD = '{"id": "1", "question": "Q?", "answer": "A.", "contexts": ["C."]}'
SAMPLES = {
    "response": '{"response": "a", "response": "b"}',
    "answer": '{"answer": "a", "question": "Q?", "answer": "a"}',
    "contexts": '{"answer": "a", "contexts": ["x"], "contexts": []}',
    "id": '{"id": 1, "answer": "a", "id": 2}',
    "content": '{"messages": [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "a", "content": "b"}]}',
    "role": '{"messages": [{"role": "user", "role": "assistant", "content": "a"}, {"role": "user", "content": "Q?"}]}',
    "q": '{"inputs": {"q": "x", "q": "y"}, "outputs": {"answer": "a"}}',
    "domain": '{"answer": "a", "metadata": {"deep": [[{"domain": 1, "domain": 2}]]}}',
    "page_content": '{"answer": "a", "contexts": [{"page_content": "x", "page_content": "y"}]}',
    "outputs": '{"inputs": {"question": "Q?"}, "outputs": {"answer": "a"}, "outputs": {"answer": "b"}}',
    "": '{"answer": "a", "": 1, "": 2}',
    "é": '{"answer": "a", "\\u00e9": 1, "é": 2}',
}
JSON: dict[str, Callable[[str], str]] = {
    "list": lambda line: f"[{GOOD},\n {line}]",
    "samples": lambda line: f'{{"samples": [{GOOD},\n {line}]}}',
    "one": lambda line: line,
}


@pytest.mark.parametrize("key", SAMPLES)
def test_a_line_with_a_key_twice_is_refused(key: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{GOOD}\n{SAMPLES[key]}\n{GOOD}\n", encoding="utf-8")
    with pytest.raises(
        UnreadableInputError, match=f"line 2: .*the key '{key}' occurs twice"
    ):
        read_samples(path)
    read = read_samples(path, skip_bad=True)
    assert (read.lines, [line for line, _ in read.bad]) == ([1, 3], [2])


@pytest.mark.parametrize("layout", JSON)
@pytest.mark.parametrize("key", SAMPLES)
def test_a_document_with_a_key_twice_is_refused(
    key: str, layout: str, tmp_path: Path
) -> None:
    path = tmp_path / "in.json"
    path.write_text(JSON[layout](SAMPLES[key]), encoding="utf-8")
    with pytest.raises(
        UnreadableInputError, match=f"in.json: .*the key '{key}' occurs twice in"
    ):
        read_samples(path)


@pytest.mark.parametrize(
    "key", ["score", "claims", "verdict", "scoring", "sample_id", "temperature"]
)
def test_a_result_with_a_key_twice_is_refused(key: str, tmp_path: Path) -> None:
    result = TCVA(judge="lexical").evaluate(Sample.from_record(json.loads(GOOD)))
    text = result.to_json()
    twice = text.replace(f'"{key}": ', f'"{key}": null, "{key}": ', 1)
    assert Result.from_json(text) == result
    path = tmp_path / "judged.jsonl"
    path.write_text(f"{text}\n{twice}\n", encoding="utf-8")
    readers: list[Callable[[], Any]] = [
        *(
            lambda: Result.from_json(twice),
            lambda: read_result(twice),
            lambda: read_scores(path),
        ),
    ]
    for read in readers:
        with pytest.raises(TCVAError, match=f"the key '{key}' occurs twice"):
            read()


def test_a_test_run_of_deepeval_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(
        '{"testRunData": {"testCases": [], "testCases": []}}', encoding="utf-8"
    )
    for read in (lambda: results_of(str(path)), lambda: read_scores(path)):
        with pytest.raises(
            UnreadableInputError, match="the key 'testCases' occurs twice"
        ):
            read()


def test_nan_and_infinite_numbers_in_json_are_refused() -> None:
    for text in ("1e999", "[-1e999]", "NaN", "Infinity", '"\\ud800"'):
        with pytest.raises(ValueError, match="not JSON"):
            loads(text)
    assert loads('{"a": {"a": 1.5}, "b": [{"a": 1}, {"a": 2}]}')["a"] == {"a": 1.5}
