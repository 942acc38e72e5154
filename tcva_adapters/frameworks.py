"""The frameworks and the optional packages: names and requirements; imports none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """An optional package.

    Attributes:
        distribution: Its name for pip.
        module: What is imported to see that it works.
        oldest: The oldest version that will do.
        extra: The extra of tcva-adapters that installs it.
    """

    distribution: str
    module: str
    oldest: tuple[int, ...]
    extra: str


_REQUIREMENTS = (
    Requirement("openai", "openai", (3,), "openai"),
    Requirement("aiohttp", "aiohttp", (3, 10, 11), "aiohttp"),
    Requirement("langchain-core", "langchain_core.runnables.base", (1, 7), "langchain"),
    Requirement("langchain", "langchain.agents.middleware", (1, 4), "langchain-agents"),
    Requirement(
        "langchain-classic", "langchain_classic.evaluation", (1, 0), "langchain-classic"
    ),
    Requirement("llama-index-core", "llama_index.core", (0, 14, 21), "llamaindex"),
    Requirement("ragas", "ragas", (0, 4, 3), "ragas"),
    Requirement("deepeval", "deepeval", (4, 3), "deepeval"),
    Requirement("scipy", "scipy", (1, 13), "stats"),
    Requirement("matplotlib", "matplotlib", (3, 9), "plots"),
    Requirement("pyarrow", "pyarrow", (17,), "parquet"),
    Requirement("onnxruntime", "onnxruntime", (1, 19), "nli"),
    Requirement("opentelemetry-api", "opentelemetry._logs", (1, 35), "otel"),
    Requirement("ray", "ray.data", (2, 60), "ray"),
    Requirement("inspect-ai", "inspect_ai.scorer", (0, 3, 285), "inspect"),
)
REQUIREMENTS = {needed.extra: needed for needed in _REQUIREMENTS}
"""Every optional package, by the extra that installs it."""

NEEDS: Mapping[str, Requirement] = {
    **{
        f"tcva_adapters.{name}": REQUIREMENTS[name]
        for name in ("ragas", "deepeval", "llamaindex", "langchain")
    },
    "tcva_adapters.langchain.classic": REQUIREMENTS["langchain-classic"],
    "tcva_adapters.langchain.own_metrics": REQUIREMENTS["langchain-classic"],
    "tcva_adapters.langchain.offline": REQUIREMENTS["langchain-classic"],
    "tcva_adapters.langchain.middleware": REQUIREMENTS["langchain-agents"],
}
"""The packages that every module of a folder needs, and those that single modules need as well."""


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """A framework's own metric.

    Attributes:
        needs: The fields of a sample that it looks at.
        criterion: The built-in one that it stands for; empty for an older twin of another metric.
        calls: The calls that it takes for a sample with an answer of a sentence or two.
        threshold: The lowest score that passes by the framework's default.
        scale: The lowest and the highest possible score.
        is_lexical: Whether the adapter's ``LexicalLLM`` answers its prompts.
        compares_embeddings: Whether it needs embeddings as well as a judge.
    """

    needs: tuple[str, ...]
    criterion: str = ""
    calls: int = 1
    threshold: float = 0.5
    scale: tuple[float, float] = (0.0, 1.0)
    is_lexical: bool = False
    compares_embeddings: bool = False


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework that has an adapter.

    Attributes:
        name: The name of the adapter's folder.
        title: The name in texts and tables.
        metrics: Its own metrics.
        grounding: Its metric that judges an answer against its contexts.
    """

    name: str
    title: str
    metrics: Mapping[str, MetricEntry]
    grounding: str = "faithfulness"

    @property
    def package(self) -> str:
        """The name of the adapter's package."""
        return f"tcva_adapters.{self.name}"

    @property
    def metrics_need(self) -> Requirement:
        """The package that its own metrics are in."""
        return NEEDS.get(f"{self.package}.own_metrics", NEEDS[self.package])


_FRAMEWORKS = (
    Framework(
        "ragas",
        "RAGAS",
        {
            "faithfulness": MetricEntry(
                ("input", "response", "contexts"),
                "faithfulness",
                2,
                is_lexical=True,
            ),
            "context_recall": MetricEntry(
                ("input", "contexts", "reference"), "context_recall"
            ),
            "factual_correctness": MetricEntry(
                ("response", "reference"), "correctness", 4
            ),
            "answer_relevancy": MetricEntry(
                ("input", "response"), "answer_relevancy", 3, compares_embeddings=True
            ),
            "legacy_faithfulness": MetricEntry(
                ("input", "response", "contexts"), calls=2, is_lexical=True
            ),
        },
    ),
    Framework(
        "deepeval",
        "DeepEval",
        {
            "faithfulness": MetricEntry(
                ("response", "contexts"), "faithfulness", 4, is_lexical=True
            ),
            "answer_relevancy": MetricEntry(
                ("input", "response"), "answer_relevancy", 3
            ),
            "contextual_recall": MetricEntry(
                ("contexts", "reference"), "context_recall", 2
            ),
        },
    ),
    Framework(
        "llamaindex",
        "LlamaIndex",
        {
            "faithfulness": MetricEntry(
                ("response", "contexts"), "faithfulness", is_lexical=True
            ),
            "answer_relevancy": MetricEntry(("input", "response"), "answer_relevancy"),
            "correctness": MetricEntry(
                ("input", "response", "reference"),
                "correctness",
                threshold=4.0,
                scale=(1.0, 5.0),
            ),
        },
    ),
    Framework(
        "langchain",
        "LangChain",
        {
            "labeled_criteria": MetricEntry(
                ("input", "response", "reference"), "correctness"
            ),
            "context_qa": MetricEntry(
                ("input", "response", "contexts"), "faithfulness", is_lexical=True
            ),
        },
        grounding="context_qa",
    ),
)

FRAMEWORKS: Mapping[str, Framework] = {
    framework.name: framework for framework in _FRAMEWORKS
}
"""The frameworks by name, in the order in which tables show them."""

NO_TELEMETRY = {
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Environment that keeps other packages from phoning home and from reading .env files."""
