"""Register for the judges which adapter reads the LLM objects of which framework.

An adapter is imported with the first LLM object of its framework; by then the user has imported the
framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcva_adapters.judges.llm_objects import LLM_READERS

if TYPE_CHECKING:
    from tcva_adapters.models.judge_model import JudgeModel


def _read_deepeval(llm: object) -> JudgeModel | None:
    from tcva_adapters.deepeval.llm import as_judge_model  # noqa: PLC0415  # loads DeepEval

    return as_judge_model(llm)


def _read_langchain(llm: object) -> JudgeModel | None:
    from tcva_adapters.langchain.llm import as_judge_model  # noqa: PLC0415  # loads LangChain

    return as_judge_model(llm)


def _read_llamaindex(llm: object) -> JudgeModel | None:
    from tcva_adapters.llamaindex.llm import as_judge_model  # noqa: PLC0415  # loads LlamaIndex

    return as_judge_model(llm)


def _read_ragas(llm: object) -> JudgeModel | None:
    from tcva_adapters.ragas.llm import as_judge_model  # noqa: PLC0415  # loads RAGAS

    return as_judge_model(llm)


LLM_READERS.update(
    deepeval=_read_deepeval,
    langchain_core=_read_langchain,
    llama_index=_read_llamaindex,
    ragas=_read_ragas,
)
