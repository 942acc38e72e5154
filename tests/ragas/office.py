"""The question about the office in RAGAS' `evaluate`, and as one of its rows."""

from __future__ import annotations

import warnings
from typing import Any, Final

from langchain_core.language_models import FakeListChatModel
from ragas import RunConfig, SingleTurnSample, evaluate
from ragas.dataset_schema import EvaluationResult
from ragas.metrics._faithfulness import Faithfulness

from tcva_adapters import Sample
from tcva_adapters.ragas import LexicalLLM
from tests.ragas.entry import dataset_of
from tests.support.office import SAMPLE

COLUMN: Final = "tcva_faithfulness"


class Counted(FakeListChatModel):
    """A scripted model that says how many tokens it used."""

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(*args, **kwargs)
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return result.model_copy(update={"llm_output": {"token_usage": usage}})

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        del kwargs
        return self._generate(args[0])


def evaluated(metrics: list[Any], *samples: Sample, **kwargs: Any) -> EvaluationResult:
    """What `evaluate` returns, for the one sample where no others are given."""
    kwargs.setdefault("run_config", RunConfig(max_retries=1))
    with warnings.catch_warnings():
        # RAGAS announces the end of its main function and of its LangChain wrapper on every use.
        for ends in (r"a?evaluate\(\)", "LangchainLLMWrapper"):
            warnings.filterwarnings("ignore", f"{ends} is deprecated", DeprecationWarning)
        found = evaluate(
            dataset_of(samples or (SAMPLE,)),
            metrics=metrics,
            show_progress=False,
            allow_nest_asyncio=False,
            **kwargs,
        )
    assert isinstance(found, EvaluationResult)
    return found


def native_faithfulness() -> Faithfulness:
    """RAGAS' own metric, offline."""
    llm: Any = LexicalLLM()  # RAGAS' annotation lacks the newer family, which it takes
    return Faithfulness(llm=llm)


def turn(sample: Sample = SAMPLE) -> SingleTurnSample:
    """The sample as one of RAGAS' rows."""
    found = dataset_of([sample]).samples[0]
    assert isinstance(found, SingleTurnSample)
    return found
