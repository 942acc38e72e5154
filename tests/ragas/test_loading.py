"""What is loaded when, and what is said when RAGAS cannot be."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tcva_adapters.ragas
from tcva_adapters.errors import MissingDependencyError

FRAMEWORKS = {"llama_index", "langchain_core", "langchain", "ragas", "deepeval", "openai"}
NEEDED = {"ragas", "langchain_core", "openai"}  # RAGAS imports the latter two itself

OLD = """import importlib.metadata, types
importlib.metadata.version = lambda _: '0.3.9'
sys.modules['ragas'] = types.ModuleType('ragas')"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )


def test_importing_the_adapter_loads_nothing_until_a_name_is_used() -> None:
    done = python(
        "import sys, tcva_adapters.ragas as adapter\n"
        "print(*sys.modules)\n"
        "import ragas; theirs = set(sys.modules)\n"
        "adapter.TCVAMetric, adapter.LexicalLLM, adapter.score_native\n"
        "print(*set(sys.modules) - theirs)"
    )
    before, ours = (
        {name.partition(".")[0] for name in line.split()} for line in done.stdout.splitlines()
    )
    assert before.isdisjoint(FRAMEWORKS)
    assert ours & FRAMEWORKS <= NEEDED


@pytest.mark.parametrize(
    ("spoil", "said", "way_out"),
    [
        ("sys.modules['ragas'] = None", "cannot be imported (ModuleNotFoundError", "ragas==0.4.3"),
        (
            "sys.modules['langchain_community.chat_models.vertexai'] = None",
            "cannot be imported (ModuleNotFoundError",
            "'langchain-community>=0.4,<0.4.2'",
        ),
        (
            OLD,
            "0.3.9 is too old, 0.4.3 is needed",
            "'tcva-adapters[ragas]'",
        ),
    ],
    ids=["missing", "broken by another", "too old"],
)
def test_an_unusable_framework_is_an_import_error_with_the_way_out(
    spoil: str, said: str, way_out: str
) -> None:
    done = python(f"import sys\n{spoil}\nfrom tcva_adapters.ragas import TCVAMetric")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("tcva_adapters.errors.MissingDependencyError: ragas")
    assert said in last
    assert way_out in last
    assert issubclass(MissingDependencyError, ImportError)


@pytest.mark.parametrize("name", tcva_adapters.ragas.__all__)
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert name in dir(tcva_adapters.ragas)
    assert (getattr(tcva_adapters.ragas, name).__doc__ or "").strip()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        tcva_adapters.ragas.nonesuch
