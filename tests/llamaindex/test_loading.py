"""What is loaded when, and what is said when LlamaIndex cannot be."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tcva_adapters.llamaindex
from tcva_adapters.errors import MissingDependencyError

FRAMEWORKS = {"llama_index", "langchain_core", "langchain", "ragas", "deepeval", "openai"}


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_the_adapter_loads_nothing_until_a_name_is_used() -> None:
    done = python(
        "import sys, tcva_adapters.llamaindex as adapter\n"
        "print(*sys.modules)\n"
        "adapter.TCVAEvaluator, adapter.LexicalLLM, adapter.score_native\n"
        "print(*sys.modules)"
    )
    before, after = (
        {name.partition(".")[0] for name in line.split()} for line in done.stdout.splitlines()
    )
    assert before.isdisjoint(FRAMEWORKS)
    assert after & FRAMEWORKS == {"llama_index"}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("sys.modules['llama_index'] = None", "cannot be imported (ModuleNotFoundError"),
        ("sys.modules['wrapt'] = None", "cannot be imported (ModuleNotFoundError"),
        (
            "import importlib.metadata as m; m.version = lambda _: '0.13.6'",
            "0.13.6 is too old, 0.14.20 is needed",
        ),
    ],
    ids=["missing", "broken by another", "too old"],
)
def test_an_unusable_framework_is_an_import_error_with_the_way_out(spoil: str, said: str) -> None:
    code = f"import sys\n{spoil}\nfrom tcva_adapters.llamaindex import TCVAEvaluator"
    done = python(code)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("tcva_adapters.errors.MissingDependencyError: llama-index-core")
    assert said in last
    assert "'tcva-adapters[llamaindex]'" in last
    assert "llama-index-core==0.14.25" in last
    assert issubclass(MissingDependencyError, ImportError)


@pytest.mark.parametrize("name", tcva_adapters.llamaindex.__all__)
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert name in dir(tcva_adapters.llamaindex)
    assert (getattr(tcva_adapters.llamaindex, name).__doc__ or "").strip()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        tcva_adapters.llamaindex.nonesuch
