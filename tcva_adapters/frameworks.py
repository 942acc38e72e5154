"""The frameworks and the optional packages: names and requirements, and nothing imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_KNOWN_FAULTS: Final = {
    "langchain_community.chat_models.vertexai": (
        "pip install 'langchain-community>=0.4,<0.4.2': ragas 0.4.3 imports a module that "
        "langchain-community 0.4.2 removed"
    ),
    # nltk reads no file that has a second name, and uv gives its cache's files a second one.
    "refusing multiply-linked file": (
        "install it with copies in place of hard links: "
        "UV_LINK_MODE=copy uv pip install --reinstall llama-index-core"
    ),
}
"""Texts in the error of an import, each with a way out of its own."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """An optional package.

    Attributes:
        distribution: Its name for pip.
        module: What is imported to see that it works.
        oldest: The oldest version that will do.
        extra: The extra of tcva-adapters that installs it.
        tested: Distributions with the versions that were seen to work together.
        probe: Python that shows what an import alone does not.
    """

    distribution: str
    module: str
    oldest: tuple[int, ...]
    extra: str
    tested: str = ""
    probe: str = ""

    def hint(self, fault: str = "") -> str:
        """The command that installs it, and the one that installs what was seen to work.

        Args:
            fault: The error of its import, of which a better way out may be known.

        >>> Requirement("rich", "rich", (13,), "nice", "rich==14.3.4").hint()
        "pip install 'tcva-adapters[nice]', or the tested versions: pip install rich==14.3.4"
        """
        known = next((hint for mark, hint in _KNOWN_FAULTS.items() if mark in fault), "")
        tested = f", or the tested versions: pip install {self.tested}" if self.tested else ""
        return known or f"pip install 'tcva-adapters[{self.extra}]'{tested}"


LANGCHAIN: Final = Requirement(
    "langchain-core", "langchain_core.runnables.base", (1, 7), "langchain", "langchain-core==1.7.2"
)
CLASSIC: Final = Requirement(
    "langchain-classic",
    "langchain_classic.evaluation",
    (1, 0),
    "langchain-classic",
    "langchain-classic==1.0.8",
)
AGENTS: Final = Requirement(
    "langchain", "langchain.agents.middleware", (1, 4), "langchain-agents", "langchain==1.4.7"
)
LLAMAINDEX: Final = Requirement(
    "llama-index-core",
    "llama_index.core",
    (0, 14, 21),
    "llamaindex",
    "llama-index-core==0.14.25",
    probe="from llama_index.core.utils import globals_helper; globals_helper.stopwords",
)
RAGAS: Final = Requirement(
    "ragas",
    "ragas",
    (0, 4, 3),
    "ragas",
    "ragas==0.4.3 langchain-community==0.4.1 instructor==1.17.0",
)
DEEPEVAL: Final = Requirement("deepeval", "deepeval", (4, 3), "deepeval", "deepeval==4.3.1")
MATPLOTLIB: Final = Requirement("matplotlib", "matplotlib", (3, 9), "plots")
RAY: Final = Requirement("ray", "ray.data", (2, 60), "ray", "ray==2.60.0")

REQUIREMENTS: Final = (
    Requirement("openai", "openai", (3,), "openai"),
    Requirement("aiohttp", "aiohttp", (3, 10, 11), "aiohttp"),
    LANGCHAIN,
    AGENTS,
    CLASSIC,
    LLAMAINDEX,
    RAGAS,
    DEEPEVAL,
    Requirement("scipy", "scipy", (1, 13), "stats"),
    MATPLOTLIB,
    Requirement("pyarrow", "pyarrow", (17,), "parquet"),
    RAY,
)
"""Every optional package."""

NEEDS: Final[Mapping[str, Requirement]] = {
    "tcva_adapters.plots": MATPLOTLIB,
    "tcva_adapters.ragas": RAGAS,
    "tcva_adapters.deepeval": DEEPEVAL,
    "tcva_adapters.llamaindex": LLAMAINDEX,
    "tcva_adapters.langchain": LANGCHAIN,
    "tcva_adapters.langchain.classic": CLASSIC,
    "tcva_adapters.langchain.native": CLASSIC,
    "tcva_adapters.langchain.offline": CLASSIC,
    "tcva_adapters.langchain.middleware": AGENTS,
}
"""What every module of a folder needs, and what single modules need beyond that."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A framework's own metric.

    Attributes:
        needs: The fields of a sample that it looks at.
        threshold: From where on a score passes by the framework's default.
        scale: The lowest and the highest possible score.
        is_lexical: Whether the adapter's ``LexicalLLM`` answers its prompts.
        compares_embeddings: Whether it needs embeddings as well as a judge.
    """

    needs: tuple[str, ...]
    threshold: float = 0.5
    scale: tuple[float, float] = (0.0, 1.0)
    is_lexical: bool = False
    compares_embeddings: bool = False


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework that has an adapter.

    Attributes:
        name: Of the adapter's folder.
        title: As texts and tables show it.
        llm_package: The package that the classes of its LLM objects come from.
        metrics: Its own metrics.
        grounding: That of its metrics which judges an answer against its contexts.
    """

    name: str
    title: str
    llm_package: str
    metrics: Mapping[str, Metric]
    grounding: str = "faithfulness"

    @property
    def package(self) -> str:
        """The adapter."""
        return f"tcva_adapters.{self.name}"

    @property
    def metrics_need(self) -> Requirement:
        """The package that its own metrics are in."""
        return NEEDS.get(f"{self.package}.native", NEEDS[self.package])


_I, _R, _C, _REF = "input", "response", "contexts", "reference"

_FRAMEWORKS: Final = (
    Framework(
        "ragas",
        "RAGAS",
        "ragas",
        {
            "faithfulness": Metric((_I, _R, _C), is_lexical=True),
            "context_recall": Metric((_I, _C, _REF)),
            "factual_correctness": Metric((_R, _REF)),
            "answer_relevancy": Metric((_I, _R), compares_embeddings=True),
            "legacy_faithfulness": Metric((_I, _R, _C), is_lexical=True),
        },
    ),
    Framework(
        "deepeval",
        "DeepEval",
        "deepeval",
        {
            "faithfulness": Metric((_R, _C), is_lexical=True),
            "answer_relevancy": Metric((_I, _R)),
            "contextual_recall": Metric((_C, _REF)),
        },
    ),
    Framework(
        "llamaindex",
        "LlamaIndex",
        "llama_index",
        {
            "faithfulness": Metric((_R, _C), is_lexical=True),
            "answer_relevancy": Metric((_I, _R)),
            "correctness": Metric((_I, _R, _REF), threshold=4.0, scale=(1.0, 5.0)),
        },
    ),
    Framework(
        "langchain",
        "LangChain",
        "langchain_core",
        {
            "labeled_criteria": Metric((_I, _R, _REF)),
            "context_qa": Metric((_I, _R, _C), is_lexical=True),
        },
        grounding="context_qa",
    ),
)

FRAMEWORKS: Final[Mapping[str, Framework]] = {each.name: each for each in _FRAMEWORKS}
"""By name, in the order in which tables show them."""

NO_TELEMETRY: Final = {
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Environment that keeps other packages from phoning home and from reading .env files."""
