"""Citations and passages of an answer, where each framework shows the details of a result."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import Any

import pytest

import tests.deepeval.entry as deepeval_entry
import tests.langchain.entry as langchain_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import TCVA, Sample, deepeval, langchain, llamaindex, ragas
from tcva_adapters.streaming import AnswerStream
from tcva_adapters.text.quotes import Passages
from tests.support.scripted import ScriptedModel, verdict_json

PASSAGES = ("The office opens at nine.", "Parking is free for visitors.")
SAMPLE = Sample(
    input="When?",
    response="The office opens at nine [1]. Parking is free for visitors [1].",
    contexts=PASSAGES,
)


def _deepeval(sample: Sample, **options: Any) -> Any:
    metric = deepeval.TCVAMetric(model="lexical", **options)
    metric.measure(deepeval_entry.case_of(sample))
    return json.loads(metric.verbose_logs or "")


def _ragas(sample: Sample, **options: Any) -> Any:
    metric = ragas.TCVAMetric(llm="lexical", **options)
    (trace,) = ragas_entry.evaluated([metric], sample).traces[0].values()
    return trace["tcva_judgement"]["output"]


def _collections(sample: Sample, **options: Any) -> Any:
    metric = ragas.TCVACollectionMetric(llm="lexical", **options)
    score = metric.score(**ragas_entry.turn(sample).to_dict())
    assert score.traces is not None
    return score.traces["output"]


def _langchain(sample: Sample, **options: Any) -> Any:
    (record,) = langchain_entry.records([sample])
    return langchain.TCVAEvaluator("lexical", **options).invoke(record)


def _llamaindex(sample: Sample, **options: Any) -> Any:
    evaluator = llamaindex.TCVAEvaluator("lexical", **options)
    evaluation = evaluator.evaluate(
        sample.input,
        sample.response,
        sample.contexts and [*sample.contexts],
        reference=sample.reference,
    )
    again = type(evaluation).model_validate_json(evaluation.model_dump_json())
    assert again.model_dump() == evaluation.model_dump()
    return evaluation.model_dump(exclude_none=True)


SHOWN = [_deepeval, _ragas, _collections, _langchain, _llamaindex]
each_framework = pytest.mark.parametrize("shown", SHOWN)


@each_framework
def test_each_framework_shows_the_use_of_passages(shown: Callable[..., Any]) -> None:
    result = TCVA(judge="lexical").evaluate(SAMPLE)
    expected = json.loads(json.dumps([*map(asdict, result.passages())]))
    assert [use["claims"] for use in expected] == [[0], [1]]
    assert shown(SAMPLE)["passages"] == expected


@each_framework
def test_each_framework_shows_the_citations(shown: Callable[..., Any]) -> None:
    citations = TCVA(judge="lexical").evaluate(SAMPLE).citations().to_dict()
    assert shown(SAMPLE)["citations"] == json.loads(json.dumps(citations))
    outcomes = [part["outcome"] for part in citations["parts"]]
    assert outcomes == ["confirmed", "elsewhere"]
    plain = SAMPLE.model_copy(update={"response": "The office opens at nine."})
    assert "citations" not in shown(plain)


async def _ragas_alone(sample: Sample) -> object:
    turn = ragas_entry.turn(sample)
    return await ragas.TCVAMetric(llm="lexical").single_turn_ascore(turn)


async def _collection(sample: Sample) -> object:
    metric = ragas.TCVACollectionMetric(llm="lexical")
    return await metric.ascore(**ragas_entry.turn(sample).to_dict())


async def _collections_batch(sample: Sample) -> object:
    metric = ragas.TCVACollectionMetric(llm="lexical")
    return await metric.abatch_score([ragas_entry.turn(sample).to_dict()])


async def _metric(sample: Sample) -> object:
    metric = deepeval.TCVAMetric(model="lexical")
    await metric.a_measure(deepeval_entry.case_of(sample))
    return metric.verbose_logs


async def _chain(sample: Sample) -> object:
    (record,) = langchain_entry.records([sample])
    return await langchain.TCVAEvaluator("lexical").ainvoke(record)


async def _evaluation(sample: Sample) -> object:
    evaluator = llamaindex.TCVAEvaluator("lexical")
    return await evaluator.aevaluate(sample.input, sample.response, sample.contexts)


async def _stream(sample: Sample) -> object:
    async def chunks() -> AsyncIterator[str]:
        yield sample.response or ""

    judge = TCVA(judge="lexical", require_citations=True)
    stream = AnswerStream(judge, sample)
    return [part async for part in stream.achunks(chunks())]


ASYNC = [_ragas_alone, _collection, _collections_batch, _metric, _chain, _evaluation, _stream]  # fmt: skip


@pytest.fixture(name="prepared")
def prepared_in(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads in which passages are prepared."""
    threads: list[str] = []
    prepare = Passages.__init__

    def __init__(self: Passages, texts: Any) -> None:  # noqa: N807  # the same
        threads.append(threading.current_thread().name)
        prepare(self, texts)

    monkeypatch.setattr(Passages, "__init__", __init__)
    return threads


@pytest.mark.parametrize("judge", ASYNC)
def test_long_contexts_are_prepared_once_and_outside_of_the_loop(
    judge: Callable[[Sample], Any], prepared: list[str]
) -> None:
    filling = [f"In {judge.__name__} line {n} is of no use." for n in range(1000)]
    contexts = (*PASSAGES, " ".join(filling))
    asyncio.run(judge(SAMPLE.model_copy(update={"contexts": contexts})))
    assert prepared == ["tcva-work"]


def test_the_evidence_check_and_all_views_share_the_passages(
    prepared: list[str],
) -> None:
    contexts = (*PASSAGES, "The evidence check has its passages.")
    replies = [(1, "fully", "opens at nine"), (2, "fully", "free for visitors")]
    model = ScriptedModel([verdict_json(*replies)])
    asked = SAMPLE.model_copy(update={"contexts": contexts})
    result = TCVA(judge=model, require_citations=True).evaluate(asked)
    assert [len(use.claims) for use in result.passages()] == [1, 1, 0]
    assert len(result.citations().parts) == 2
    assert len(result.supported().removed) == 1
    assert len(prepared) == 1


@each_framework
def test_nothing_is_shown_where_nothing_is_known(shown: Callable[..., Any]) -> None:
    for sample, options in (
        (SAMPLE, {"criterion": "answer_relevancy"}),
        (SAMPLE.model_copy(update={"response": "Hello!"}), {}),
        (SAMPLE.model_copy(update={"contexts": ()}), {}),
    ):
        assert {"passages", "citations"}.isdisjoint(shown(sample, **options))
