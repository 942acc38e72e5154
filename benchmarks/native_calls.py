"""Judge calls per sample, ours through the four adapters beside the frameworks' own metrics.

Counted by a scripted HTTP server on 127.0.0.1, on the same samples. It answers the prompts of the
native metrics with the lexical judge's verdicts: their scores mean little, the number of calls is
what is measured. Every method must have a score for every sample, or the run fails.

Run: python -m benchmarks.native_calls
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported

# isort: split
import openai
from deepeval.metrics import AnswerRelevancyMetric, FaithfulnessMetric, HallucinationMetric
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase
from langchain_classic.evaluation import load_evaluator
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from llama_index.core.evaluation import FaithfulnessEvaluator, RelevancyEvaluator
from llama_index.core.evaluation import faithfulness as li_faithfulness
from llama_index.core.evaluation import relevancy as li_relevancy
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from ragas import evaluate
from ragas.llms import llm_factory
from ragas.metrics.collections import ContextRecall, FactualCorrectness, Faithfulness

from tcva_adapters import Sample
from tcva_adapters import deepeval as ours_deepeval
from tcva_adapters import langchain as ours_langchain
from tcva_adapters import llamaindex as ours_llamaindex
from tcva_adapters import ragas as ours_ragas
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import JudgeError
from tcva_adapters.ragas.offline import KNOWN_PROMPTS as RAGAS_PROMPTS
from tests.ragas.entry import dataset_of
from tests.support import server as scripted
from tests.support.server import Body, Scripted, ScriptedServer, auto_judge

KINDS = ("full_support", "half_support", "contradiction", "mixed", "list")
OURS = "ours"

Method = Callable[[Sample], float | None]

_LLAMAINDEX_STARTS = tuple(
    template.get_template().partition("{")[0]
    for template in (li_faithfulness.DEFAULT_EVAL_TEMPLATE, li_relevancy.DEFAULT_EVAL_TEMPLATE)
)


def native_reply(prompt: str) -> str | None:
    """An answer in the format that a native metric's prompt asks for; None for other prompts."""
    if prompt.startswith(_LLAMAINDEX_STARTS):
        return "YES"
    asks: list[Callable[[], str]] = [
        lambda: str(ours_deepeval.LexicalLLM().generate(prompt)),
        lambda: str(ours_langchain.LexicalLLM().invoke([HumanMessage(prompt)]).text),
    ]
    asks += [
        lambda model=known.prompt.output_model: (  # type: ignore[misc]  # mypy gives a default in a lambda no type
            ours_ragas.LexicalLLM().generate(prompt, model).model_dump_json()
        )
        for known in RAGAS_PROMPTS
    ]
    for ask in asks:
        try:
            return ask()
        except JudgeError:
            continue
    return None


def answer(body: Body, number: int, *, otherwise: str | None = None) -> Scripted:
    """Our own requests by their numbered claims, the native ones by their prompts.

    Args:
        body: The request.
        number: Its number.
        otherwise: The reply to any other prompt, which is an error without it.
    """
    content = body["messages"][-1]["content"]
    prompt = content if isinstance(content, str) else content[0]["text"]
    is_ours = "<<<CLAIM" in prompt
    text = (auto_judge(body, number) if is_ours else native_reply(prompt)) or otherwise
    if text is None:
        return scripted.error(400, f"a prompt that is not known: {prompt[:60]!r}")
    # Connections are not kept: clients outlive the event loops that RAGAS runs them in, and would
    # send a request again where the connection belongs to a loop that is gone.
    return replace(scripted.reply(text), headers={"Connection": "close"})


class ServerLLM(CustomLLM):
    """A LlamaIndex LLM on an OpenAI-compatible server."""

    base_url: str

    @property
    def metadata(self) -> LLMMetadata:
        """What LlamaIndex wants to know."""
        return LLMMetadata(model_name="m")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """One request per prompt."""
        del formatted, kwargs
        with openai.OpenAI(base_url=self.base_url, api_key="none", max_retries=0) as client:
            done = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": prompt}]
            )
        return CompletionResponse(text=done.choices[0].message.content or "", raw=done)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Not used here."""
        raise NotImplementedError


def langchain_methods(url: str) -> dict[str, Method]:
    """LangChain: its chat model for OpenAI-compatible servers."""
    llm: Any = ChatOpenAI(model="m", base_url=url, api_key="none", max_retries=0)  # type: ignore[arg-type]  # it takes a plain text too
    tcva = ours_langchain.TCVAEvaluator(llm)
    cot_qa: Any = load_evaluator("cot_qa", llm=llm)  # type: ignore[arg-type]  # or the name
    labeled: Any = load_evaluator("labeled_criteria", llm=llm, criteria="correctness")  # type: ignore[arg-type]  # as above

    def native(evaluator: Any, sample: Sample, reference: str) -> Any:
        return evaluator.evaluate_strings(
            prediction=sample.response, input=sample.input, reference=reference
        )["score"]

    return {
        f"{OURS}: LangChain TCVAEvaluator": lambda s: tcva.invoke(s.model_dump())["score"],
        "LangChain cot_qa": lambda s: native(cot_qa, s, "\n\n".join(s.contexts or ())),
        "LangChain labeled_criteria (correctness)": lambda s: native(labeled, s, s.reference or ""),
    }


def llamaindex_methods(url: str) -> dict[str, Method]:
    """LlamaIndex: the LLM of this script, its package for OpenAI not being installed."""
    llm = ServerLLM(base_url=url)

    def run(evaluator: Any, sample: Sample) -> Any:
        return evaluator.evaluate(
            query=sample.input, response=sample.response, contexts=[*(sample.contexts or ())]
        ).score

    evaluators = {
        f"{OURS}: LlamaIndex TCVAEvaluator": ours_llamaindex.TCVAEvaluator(llm),
        "LlamaIndex FaithfulnessEvaluator": FaithfulnessEvaluator(llm=llm),
        "LlamaIndex RelevancyEvaluator": RelevancyEvaluator(llm=llm),
    }
    return {name: lambda s, e=e: run(e, s) for name, e in evaluators.items()}  # type: ignore[misc]  # mypy gives a default in a lambda no type


def ragas_methods(url: str) -> dict[str, Method]:
    """RAGAS: its factory's LLM on the asynchronous OpenAI client, as its documentation has it."""
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    llm = llm_factory("m", client=client)
    # Each for itself, but for the three: they would take each other's judgements.
    tcva = ours_ragas.TCVAMetric(llm=llm, share=False)
    collection = ours_ragas.TCVACollectionMetric(llm, share=False)
    three = ours_ragas.tcva_metrics([0.2, 0.5, 0.9], llm=llm)
    faithful, recall = Faithfulness(llm=llm), ContextRecall(llm=llm)
    factual = FactualCorrectness(llm=llm)

    def evaluated(sample: Sample, *metrics: Any) -> float:
        found: Any = evaluate(dataset_of([sample]), metrics=[*metrics], show_progress=False)
        return float(found.scores[0][metrics[0].name])

    def row(sample: Sample) -> dict[str, Any]:
        said = {"user_input": sample.input, "response": sample.response}
        return {**said, "retrieved_contexts": [*(sample.contexts or ())]}

    return {
        f"{OURS}: RAGAS TCVAMetric in evaluate()": lambda s: evaluated(s, tcva),
        f"{OURS}: RAGAS, three temperatures": lambda s: evaluated(s, *three),
        f"{OURS}: RAGAS TCVACollectionMetric": lambda s: collection.score(**row(s)).value,
        "RAGAS Faithfulness": lambda s: faithful.score(**row(s)).value,
        "RAGAS ContextRecall": lambda s: (
            recall.score(
                user_input=s.input,
                retrieved_contexts=[*(s.contexts or ())],
                reference=s.reference,
            ).value
        ),
        "RAGAS FactualCorrectness": lambda s: (
            factual.score(response=s.response, reference=s.reference).value
        ),
    }


def deepeval_methods(url: str) -> dict[str, Method]:
    """DeepEval: its own class for OpenAI-compatible servers."""
    llm = LocalModel(model="m", base_url=url, api_key="none")

    def run(metric: Any, sample: Sample) -> Any:
        contexts: Any = [*(sample.contexts or ())]
        case = LLMTestCase(
            input=sample.input or "",
            actual_output=sample.response,
            retrieval_context=contexts,
            context=contexts,
        )
        return metric.measure(case, _show_indicator=False)

    options: dict[str, Any] = {"model": llm, "async_mode": False}
    metrics = {
        f"{OURS}: DeepEval TCVAMetric": ours_deepeval.TCVAMetric(**options),
        "DeepEval FaithfulnessMetric": FaithfulnessMetric(**options),
        "DeepEval FaithfulnessMetric, no reason": FaithfulnessMetric(
            **options, include_reason=False
        ),
        "DeepEval AnswerRelevancyMetric": AnswerRelevancyMetric(**options),
        "DeepEval HallucinationMetric": HallucinationMetric(**options),
    }
    return {name: lambda s, m=m: run(m, s) for name, m in metrics.items()}  # type: ignore[misc]  # mypy gives a default in a lambda no type


def chosen() -> list[Sample]:
    """The first sample of each kind that has everything that any of the methods needs."""
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    complete = [s for s in samples if s.input and s.response and s.contexts and s.reference]
    return [next(s for s in complete if s.metadata["kind"] == kind) for kind in KINDS]


def main() -> None:
    samples = chosen()
    # RAGAS announces the end of evaluate(), DeepEval another direction of a score.
    warnings.simplefilter("ignore", DeprecationWarning)
    failed = []
    print(f"{len(samples)} samples: {', '.join(s.id or '-' for s in samples)}\n")
    print(f"{'method':<42} {'calls per sample':>16}  {'min-max':>7}  scored")
    with ScriptedServer(answer) as server:
        url = server.base_url
        groups = [langchain_methods, llamaindex_methods, ragas_methods, deepeval_methods]
        methods = {name: run for group in groups for name, run in group(url).items()}
        for name in sorted(methods, key=lambda name: not name.startswith(OURS)):
            calls, scored = [], 0
            for sample in samples:
                before = server.count
                score = methods[name](sample)
                calls.append(server.count - before)
                scored += score is not None and score == score  # noqa: PLR0124  # NaN is no score
            mean = sum(calls) / len(calls)
            span = f"{min(calls)}-{max(calls)}"
            print(f"{name:<42} {mean:>16.2f}  {span:>7}  {scored}/{len(samples)}")
            if scored < len(samples):
                failed.append(name)
    print(
        "\nThe server answers native prompts with the lexical judge's verdicts (LlamaIndex's with"
        '\na fixed "YES"): it is about the number of calls, not about scores. LlamaIndex has no'
        "\nOpenAI package installed here: its LLM is a CustomLLM of this script that posts to the"
        "\nserver. All contexts fit into one window; refining over more would add calls to"
        "\nLlamaIndex's two."
    )
    if failed:
        sys.exit(f"without a score for every sample: {', '.join(failed)}")


if __name__ == "__main__":
    main()
