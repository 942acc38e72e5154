"""The frameworks and the optional packages: names and requirements, and nothing imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Requirement:
    """An optional package.

    Attributes:
        distribution: Its name for pip.
        module: What is imported to see that it works.
        oldest: The oldest version that will do.
        extra: The extra of tcva-adapters that installs it.
        tested: Distributions with the versions that were seen to work together.
        known_faults: Texts in an error of its import, each with an install hint of its own.
        data: A folder of data files in it, which may be there and not be read.
        reads_data: Python that reads them, without loading any down where they are there.
    """

    distribution: str
    module: str
    oldest: tuple[int, ...]
    extra: str
    tested: str = ""
    known_faults: Mapping[str, str] = field(default_factory=dict)
    data: str = ""
    reads_data: str = ""

    @property
    def install_hint(self) -> str:
        """The command that installs it, and the one that installs what was seen to work.

        >>> Requirement("rich", "rich", (13,), "nice", "rich==14.3.4").install_hint
        "pip install 'tcva-adapters[nice]', or the tested versions: pip install rich==14.3.4"
        """
        hint = f"pip install 'tcva-adapters[{self.extra}]'"
        return f"{hint}, or the tested versions: pip install {self.tested}" if self.tested else hint

    def hint_for(self, fault: str) -> str:
        """The install hint for an import that failed with this error."""
        found = (hint for mark, hint in self.known_faults.items() if mark in fault)
        return next(found, self.install_hint)


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework that has an adapter.

    Attributes:
        name: Of the adapter's folder.
        title: As texts and tables show it.
        llm_package: The package that the classes of its LLM objects come from.
        requirement: What every module of the adapter needs.
        parts: What single modules of the adapter need beyond that.
        metrics: Its own metrics, each with the fields of a sample that it looks at.
        grounding: That of its metrics which judges an answer against its contexts.
        thresholds: From where on a score of them passes by the framework's default, where that is
            not 0.5.
        scales: Lowest and highest possible score of those whose scale is not [0, 1].
        with_embeddings: Those of them that need embeddings as well as a judge.
        lexical: Those of them whose prompts the adapter's ``LexicalLLM`` answers.
    """

    name: str
    title: str
    llm_package: str
    requirement: Requirement
    metrics: Mapping[str, tuple[str, ...]]
    grounding: str = "faithfulness"
    parts: Mapping[str, Requirement] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    with_embeddings: frozenset[str] = frozenset()
    lexical: frozenset[str] = frozenset({"faithfulness"})

    @property
    def package(self) -> str:
        """The adapter."""
        return f"tcva_adapters.{self.name}"

    @property
    def metrics_need(self) -> Requirement:
        """The package that its own metrics are in."""
        return self.parts.get("native", self.requirement)


_I, _R, _C, _REF = "input", "response", "contexts", "reference"

_LANGCHAIN: Final = Requirement(
    "langchain-core",
    "langchain_core.runnables.base",
    (1, 7),
    "langchain",
    "langchain-core==1.7.2",
)
_CLASSIC: Final = Requirement(
    "langchain-classic",
    "langchain_classic.evaluation",
    (1, 0),
    "langchain-classic",
    "langchain-classic==1.0.8",
)
_AGENTS: Final = Requirement(
    "langchain", "langchain.agents.middleware", (1, 4), "langchain-agents", "langchain==1.4.7"
)
_LLAMAINDEX: Final = Requirement(
    "llama-index-core",
    "llama_index.core",
    (0, 14, 21),
    "llamaindex",
    "llama-index-core==0.14.25",
    {
        # nltk reads no file that has a second name, and uv gives its cache's files a second one.
        "refusing multiply-linked file": "install it with copies in place of hard links: "
        "UV_LINK_MODE=copy uv pip install --reinstall llama-index-core"
    },
    data="llama_index/core/_static/nltk_cache",
    reads_data="from llama_index.core.utils import globals_helper; globals_helper.stopwords",
)
_RAGAS: Final = Requirement(
    "ragas",
    "ragas",
    (0, 4, 3),
    "ragas",
    "ragas==0.4.3 langchain-community==0.4.1 instructor==1.17.0",
    MappingProxyType(
        {
            "langchain_community.chat_models.vertexai": (
                "pip install 'langchain-community>=0.4,<0.4.2': ragas 0.4.3 imports a module that "
                "langchain-community 0.4.2 removed"
            )
        }
    ),
)
_DEEPEVAL: Final = Requirement("deepeval", "deepeval", (4, 3), "deepeval", "deepeval==4.3.1")

FRAMEWORKS: Final[Mapping[str, Framework]] = MappingProxyType(
    {
        framework.name: framework
        for framework in (
            Framework(
                "ragas",
                "RAGAS",
                "ragas",
                _RAGAS,
                {
                    "faithfulness": (_I, _R, _C),
                    "context_recall": (_I, _C, _REF),
                    "factual_correctness": (_R, _REF),
                    "answer_relevancy": (_I, _R),
                    "legacy_faithfulness": (_I, _R, _C),
                },
                lexical=frozenset({"faithfulness", "legacy_faithfulness"}),
                with_embeddings=frozenset({"answer_relevancy"}),
            ),
            Framework(
                "deepeval",
                "DeepEval",
                "deepeval",
                _DEEPEVAL,
                {
                    "faithfulness": (_R, _C),
                    "answer_relevancy": (_I, _R),
                    "contextual_recall": (_C, _REF),
                },
            ),
            Framework(
                "llamaindex",
                "LlamaIndex",
                "llama_index",
                _LLAMAINDEX,
                {
                    "faithfulness": (_R, _C),
                    "answer_relevancy": (_I, _R),
                    "correctness": (_I, _R, _REF),
                },
                thresholds={"correctness": 4.0},
                scales={"correctness": (1.0, 5.0)},
            ),
            Framework(
                "langchain",
                "LangChain",
                "langchain_core",
                _LANGCHAIN,
                {
                    "labeled_criteria": (_I, _R, _REF),
                    "context_qa": (_I, _R, _C),
                },
                grounding="context_qa",
                lexical=frozenset({"context_qa", "labeled_criteria"}),
                parts={
                    "classic": _CLASSIC,
                    "native": _CLASSIC,
                    "offline": _CLASSIC,
                    "middleware": _AGENTS,
                },
            ),
        )
    }
)
"""By name, in the order in which tables show them."""

MATPLOTLIB: Final = Requirement("matplotlib", "matplotlib", (3, 9), "plots")

RAY: Final = Requirement("ray", "ray.data", (2, 60), "ray", "ray==2.60.0")

REQUIREMENTS: Final = (
    Requirement("openai", "openai", (3,), "openai"),
    Requirement("aiohttp", "aiohttp", (3, 10, 11), "aiohttp"),
    _LANGCHAIN,
    _AGENTS,
    _CLASSIC,
    _LLAMAINDEX,
    _RAGAS,
    _DEEPEVAL,
    Requirement("scipy", "scipy", (1, 13), "stats"),
    MATPLOTLIB,
    Requirement("pyarrow", "pyarrow", (17,), "parquet"),
    RAY,
)
"""Every optional package."""

NO_TELEMETRY: Final = MappingProxyType(
    {
        "RAGAS_DO_NOT_TRACK": "true",
        "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
        "DEEPEVAL_DISABLE_DOTENV": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
)
"""Environment that keeps other packages from phoning home and from reading .env files."""
