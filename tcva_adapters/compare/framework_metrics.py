"""The installed frameworks' own faithfulness metrics, unmodified, with the lexical judge as LLM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from tcva_adapters.results.native import NativeScore
from tcva_adapters.samples.sample import Sample


@dataclass(frozen=True, slots=True)
class OfflineNative:
    """One framework's metric that judges an answer against its context.

    Attributes:
        name: As tables show it.
        needs: The module that must be installed.
        adapter: Our folder of that framework.
        metric: The metric's name there.
    """

    name: str
    needs: str
    adapter: str
    metric: str


OFFLINE_NATIVES: Final = (
    OfflineNative("RAGAS faithfulness", "ragas", "ragas", "faithfulness"),
    OfflineNative("DeepEval faithfulness", "deepeval", "deepeval", "faithfulness"),
    OfflineNative("LlamaIndex faithfulness", "llama_index", "llamaindex", "faithfulness"),
    OfflineNative("LangChain context_qa", "langchain_classic", "langchain", "context_qa"),
)


def installed_natives() -> Iterator[OfflineNative]:
    """Those whose framework is installed; nothing is imported to find out."""
    return (native for native in OFFLINE_NATIVES if find_spec(native.needs) is not None)


def score_offline(native: OfflineNative, samples: Sequence[Sample]) -> list[NativeScore]:
    """The metric's scores, one per sample; what fails on a sample is the ``error`` of its score.

    Raises:
        MissingDependencyError: The framework is installed but cannot be imported.
    """
    folder = f"tcva_adapters.{native.adapter}"
    score_native = import_module(f"{folder}.native").score_native
    llm = import_module(f"{folder}.offline").LexicalLLM()
    return [score_native(native.metric, sample, llm) for sample in samples]
