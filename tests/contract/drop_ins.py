"""One sample through each drop-in, by the framework's own call, with any judge and any settings."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, Final

from tcva_adapters import Result, Sample


def by_langchain(judge: Any, sample: Sample, **options: Any) -> Result:
    module: Any = import_module("tcva_adapters.langchain")
    record = {"answer": sample.response, "context": list(sample.contexts or ())}
    found: Result = module.result_of(module.TCVAEvaluator(judge, **options).invoke(record))
    return found


def by_llamaindex(judge: Any, sample: Sample, **options: Any) -> Result:
    module: Any = import_module("tcva_adapters.llamaindex")
    evaluator = module.TCVAEvaluator(judge, **options)
    seen = evaluator.evaluate(sample.input, sample.response, sample.contexts)
    found: Result = seen.result
    return found


def by_ragas(judge: Any, sample: Sample, **options: Any) -> Result:
    module: Any = import_module("tcva_adapters.ragas")
    ragas: Any = import_module("ragas")
    row = ragas.SingleTurnSample(
        user_input=sample.input,
        response=sample.response,
        retrieved_contexts=list(sample.contexts or ()),
    )
    dataset = ragas.EvaluationDataset([row])
    metric = module.TCVAMetric(llm=judge, **options)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        done = ragas.evaluate(dataset, [metric], show_progress=False)
    found: list[Result] = module.results_of(done)
    return found[0]


def by_ragas_collections(judge: Any, sample: Sample, **options: Any) -> Result:
    module: Any = import_module("tcva_adapters.ragas")
    scored = module.TCVACollectionMetric(judge, **options).score(
        sample.input, sample.response, list(sample.contexts or ())
    )
    found: Result = scored.result
    return found


def by_deepeval(judge: Any, sample: Sample, **options: Any) -> Result:
    module: Any = import_module("tcva_adapters.deepeval")
    metric = module.TCVAMetric(model=judge, **options)
    case = import_module("deepeval.test_case").LLMTestCase(
        input=sample.input,
        actual_output=sample.response,
        retrieval_context=list(sample.contexts or ()),
    )
    metric.measure(case)
    found: Result = metric.result
    return found


DROP_INS: Final = [by_langchain, by_llamaindex, by_ragas, by_ragas_collections, by_deepeval]
