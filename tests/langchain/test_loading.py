"""What is loaded when, and what is said when LangChain cannot be."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tcva_adapters.langchain

FRAMEWORKS = {
    "llama_index",
    "langchain_core",
    "langchain",
    "langchain_classic",
    "ragas",
    "deepeval",
}


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_the_adapter_loads_nothing_until_a_name_is_used() -> None:
    done = python(
        "import sys, tcva_adapters.langchain as adapter\n"
        "print(*sys.modules)\n"
        "adapter.TCVAEvaluator, adapter.TCVARunEvaluator, adapter.guard, adapter.as_judge_model\n"
        "print(*sys.modules)"
    )
    before, after = (
        {name.partition(".")[0] for name in line.split()} for line in done.stdout.splitlines()
    )
    assert before.isdisjoint(FRAMEWORKS)
    assert after & FRAMEWORKS == {"langchain_core"}


@pytest.mark.parametrize(
    ("name", "spoil", "said", "pin"),
    [
        (
            "TCVAEvaluator",
            "sys.modules['langchain_core'] = None",
            "langchain-core cannot be imported (ModuleNotFoundError",
            "langchain-core==1.7.2",
        ),
        (
            "TCVAEvaluator",
            "sys.modules['langsmith'] = None",
            "langchain-core cannot be imported (ModuleNotFoundError",
            "langchain-core==1.7.2",
        ),
        (
            "TCVAEvaluator",
            "import importlib.metadata as m; m.version = lambda _: '0.3.79'",
            "langchain-core 0.3.79 is too old, 1.7 is needed",
            "langchain-core==1.7.2",
        ),
        (
            "TCVAStringEvaluator",
            "sys.modules['langchain_classic'] = None",
            "langchain-classic cannot be imported",
            "langchain-classic==1.0.8",
        ),
        (
            "TCVAMiddleware",
            "sys.modules['langchain'] = None",
            "langchain cannot be imported",
            "langchain==1.4.7",
        ),
    ],
    ids=["missing", "broken by another", "too old", "no classic", "no agents"],
)
def test_an_unusable_framework_is_an_import_error_with_the_way_out(
    name: str, spoil: str, said: str, pin: str
) -> None:
    done = python(f"import sys\n{spoil}\nfrom tcva_adapters.langchain import {name}")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("tcva_adapters.errors.MissingDependencyError: langchain")
    assert said in last
    assert "'tcva-adapters[langchain]'" in last
    assert pin in last


@pytest.mark.parametrize("name", tcva_adapters.langchain.__all__)
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert name in dir(tcva_adapters.langchain)
    assert (getattr(tcva_adapters.langchain, name).__doc__ or "").strip()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        tcva_adapters.langchain.nonesuch
