"""2 000 samples through each adapter while every fifth answer of the server is a fault.

The server on 127.0.0.1 answers each prompt of ours by rule, or with one of 18 faults of
`tests.support.faults`, drawn from the prompt and from how often it came. Every sample makes two
claims of which one is held by its passage, so that each right score is the same number and none
is 0. Paid is a sample for which at least one usable answer left the server.

Run: python -m benchmarks.soak [samples [concurrency ...]]
"""

from __future__ import annotations

import asyncio
import faulthandler
import io
import logging
import math
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported

# isort: split
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from langchain_core.runnables import RunnablePassthrough
from llama_index.core.async_utils import asyncio_run
from llama_index.core.evaluation import BatchEvalRunner
from ragas import RunConfig

from tcva_adapters import TCVA, Result, Sample, Verdict, aggregate, clear_shared
from tcva_adapters import deepeval as for_deepeval
from tcva_adapters import langchain as for_langchain
from tcva_adapters import llamaindex as for_llamaindex
from tcva_adapters import ragas as for_ragas
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.deepeval.entry import case_of, own_loop
from tests.ragas.entry import dataset_of
from tests.support.faults import MODES, FaultServer, for_share, prompt_of
from tests.support.server import Body, auto_judge

SAMPLES = 2000
CONCURRENCIES = (32, 500)
SHARE = 0.2
KINDS = (
    *("status 400", "status 403", "status 404", "status 429", "status 500", "echo 500"),
    *("500 not found", "html", "content null", "prose", "cut off", "deep nesting"),
    *("reset", "reset half way", "bad gzip", "drip", "logprobs null token", "usage 10**400"),
)
RETRIES = 1
TIMEOUT = 20.0
HUNG = 900.0
"""Seconds after which a run counts as hung: everything stops with a traceback of all threads."""

EXPECTED = aggregate([Verdict.FULLY, Verdict.NONE])
_NUMBER = re.compile(r"Note (\d+) says")

Way = Callable[[Sequence[Sample], Any, int], Sequence[Result | None]]


def samples(number: int) -> list[Sample]:
    """Two claims each, of which the passage holds the first."""
    return [
        Sample(
            id=str(i),
            input="What is known of the doors?",
            response=f"Note {i} says that door {i} opens at nine. A {i} foot dragon sleeps there.",
            contexts=(f"Note {i} says that door {i} opens at nine. It is painted green.",),
        )
        for i in range(number)
    ]


@dataclass
class Paid:
    """Chooses the faults, and notes for which samples a usable answer left the server."""

    share: float
    samples: set[int] = field(default_factory=set)
    faults: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._chosen = for_share(self.share, KINDS)

    def __call__(self, body: Body, attempt: int) -> str | None:
        """The fault of one request, if any."""
        name = self._chosen(body, attempt)
        found = _NUMBER.search(prompt_of(body))
        if name is not None:
            self.faults[name] += 1
        if found and (name is None or MODES[name].expected == "scored"):
            self.samples.add(int(found[1]))
        return name


def plain(data: Sequence[Sample], model: Any, concurrency: int) -> Sequence[Result]:
    return TCVA(judge=model, max_concurrency=concurrency).evaluate_many(data)


def awaited(data: Sequence[Sample], model: Any, concurrency: int) -> Sequence[Result]:
    return asyncio.run(TCVA(judge=model, max_concurrency=concurrency).aevaluate_many(data))


def ragas(data: Sequence[Sample], model: Any, concurrency: int) -> Sequence[Result | None]:
    from ragas import evaluate  # noqa: PLC0415  # named as DeepEval's

    found: Any = evaluate(
        dataset_of(data),
        [metric := for_ragas.TCVAMetric(llm=model)],
        run_config=RunConfig(max_workers=concurrency),
        show_progress=False,
        allow_nest_asyncio=False,
    )
    return _known(for_ragas.results_of(found, metric.name))


def deepeval(data: Sequence[Sample], model: Any, concurrency: int) -> Sequence[Result | None]:
    from deepeval.evaluate import evaluate  # noqa: PLC0415  # named as RAGAS'

    metric: Any = for_deepeval.TCVAMetric(model=model)
    with own_loop():
        found = evaluate(
            [case_of(sample) for sample in data],
            [metric],
            async_config=AsyncConfig(max_concurrent=concurrency),
            display_config=DisplayConfig(print_results=False, show_indicator=False),
            cache_config=CacheConfig(use_cache=False, write_cache=False),
        )
    return _known(for_deepeval.results_of(found, metric.name))


def llamaindex(data: Sequence[Sample], model: Any, concurrency: int) -> Sequence[Result | None]:
    runner = BatchEvalRunner({"tcva": for_llamaindex.TCVAEvaluator(model)}, workers=concurrency)
    found = asyncio_run(
        runner.aevaluate_response_strs(
            queries=[sample.input or "" for sample in data],
            response_strs=[sample.response or "" for sample in data],
            contexts_list=[list(sample.contexts or ()) for sample in data],
        )
    )
    return _known(map(for_llamaindex.result_of, found["tcva"]))


def langchain(data: Sequence[Sample], model: Any, concurrency: int) -> Sequence[Result | None]:
    chain = RunnablePassthrough.assign(tcva=for_langchain.TCVAEvaluator(model))
    records = [
        {"question": each.input, "answer": each.response, "context": list(each.contexts or ())}
        for each in data
    ]
    outputs = asyncio.run(chain.abatch(records, {"max_concurrency": concurrency}))
    return _known(for_langchain.result_of(output["tcva"]) for output in outputs)


def _known(results: Iterable[Any]) -> Sequence[Result | None]:
    return [result if isinstance(result, Result) else None for result in results]


WAYS: dict[str, Way] = {
    "TCVA.evaluate_many": plain,
    "TCVA.aevaluate_many": awaited,
    "RAGAS evaluate": ragas,
    "DeepEval evaluate": deepeval,
    "LlamaIndex BatchEvalRunner": llamaindex,
    "LangChain abatch": langchain,
}


@dataclass(frozen=True)
class Soaked:
    """What came of one run.

    Attributes:
        accounted: Samples with a score, or with a reason for having none.
        right: Samples with the score that they must have.
        zeros: Samples with the score 0, which none deserves.
        wrong: Samples with any other score.
        lost: Samples without a score although a usable answer left the server.
        requests: What the server was asked.
        faults: How many of its answers were faults.
        seconds: What it took.
    """

    accounted: int
    right: int
    zeros: int
    wrong: int
    lost: int
    requests: int
    faults: int
    seconds: float


def soaked(way: Way, number: int, concurrency: int) -> Soaked:
    """One run through one entry point, with a server of its own."""
    clear_shared()
    data, paid, started = samples(number), Paid(SHARE), time.perf_counter()
    with FaultServer(auto_judge, paid) as server, _watched():
        model = OpenAICompatibleModel(
            "m",
            base_url=server.base_url,
            timeout=TIMEOUT,
            max_retries=RETRIES,
            max_concurrency=concurrency,
        )
        with quietly():
            results = way(data, model, concurrency)
        seconds, requests = time.perf_counter() - started, server.count
    scores = [None if result is None else result.score for result in results]
    explained = sum(
        result is not None and (result.unscored is not None or result.score is not None)
        for result in results
    )
    right = sum(score is not None and math.isclose(score, EXPECTED) for score in scores)
    zeros = scores.count(0.0)
    return Soaked(
        accounted=explained if len(results) == number else -1,
        right=right,
        zeros=zeros,
        wrong=sum(score is not None for score in scores) - right - zeros,
        lost=sum(scores[i] is None for i in paid.samples),
        requests=requests,
        faults=paid.faults.total(),
        seconds=seconds,
    )


@contextmanager
def quietly() -> Iterator[None]:
    """Without what frameworks print and log about every failure."""
    logging.disable()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def _watched() -> Iterator[None]:
    # Not to where what frameworks print is caught.
    faulthandler.dump_traceback_later(HUNG, exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def main() -> None:
    number, *concurrencies = map(int, sys.argv[1:] or (SAMPLES,))
    warnings.simplefilter("ignore")  # a warning per fault is what the frameworks do
    is_bad = False
    print(f"{number} samples, {SHARE:.0%} faults of {len(KINDS)} kinds, {RETRIES} retry")
    print(f"{'':<28}{'':>4}  accounted  scored  silent 0  wrong  paid, lost  faults  seconds")
    for name, way in WAYS.items():
        for concurrency in concurrencies or CONCURRENCIES:
            got = soaked(way, number, concurrency)
            is_bad |= got.accounted != number or bool(got.zeros or got.wrong or got.lost)
            print(
                f"{name:<28}{concurrency:>4} {got.accounted:>10} {got.right:>7} {got.zeros:>9}"
                f" {got.wrong:>6} {got.lost:>11} {got.faults:>7} {got.seconds:>8.1f}",
                flush=True,
            )
    sys.exit(is_bad)


if __name__ == "__main__":
    main()
