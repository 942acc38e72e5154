"""What each adapter loads when, and what is said when its framework cannot be loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import pytest

from tcva_adapters.errors import MissingDependencyError

FRAMEWORKS = {
    *("llama_index", "langchain_core", "langchain", "langchain_classic"),
    *("ragas", "deepeval", "openai"),
}
# Of each adapter: names whose use loads the framework, and what is loaded then. DeepEval itself
# loads openai; RAGAS itself loads all that it can find: nothing may be added to it.
ADAPTERS = {
    "langchain": ("TCVAEvaluator TCVARunEvaluator gate as_judge_model", {"langchain_core"}),
    "llamaindex": ("TCVAEvaluator LexicalLLM score_framework_metric", {"llama_index"}),
    "deepeval": ("TCVAMetric LexicalLLM score_framework_metric", {"deepeval", "openai"}),
    "ragas": ("TCVAMetric LexicalLLM score_framework_metric", set[str]()),
}

OLD_RAGAS = """import importlib.metadata, types
importlib.metadata.version = lambda _: '0.3.9'
sys.modules['ragas'] = types.ModuleType('ragas')"""


def without(module: str) -> str:
    return f"sys.modules[{module!r}] = None"


def version(number: str) -> str:
    return f"import importlib.metadata as m; m.version = lambda _: {number!r}"


def python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ADAPTERS)
def test_importing_an_adapter_loads_nothing_until_a_name_is_used(folder: str) -> None:
    names, loads = ADAPTERS[folder]
    first = "import ragas" if folder == "ragas" else ""  # before the look at what is ours
    done = python(
        f"import sys, tcva_adapters.{folder} as adapter\n"
        f"print(*sys.modules)\n{first}\n"
        f"theirs = set(sys.modules) if {first!r} else set()\n"
        f"for name in {names.split()}: getattr(adapter, name)\n"
        "print(*set(sys.modules) - theirs)"
    )
    before, after = (
        {name.partition(".")[0] for name in line.split()} for line in done.stdout.splitlines()
    )
    assert before.isdisjoint(FRAMEWORKS)
    if first:
        after -= {"ragas", "langchain_core", "openai"}  # parts of what is loaded already
    assert after & FRAMEWORKS == loads


NO_VERTEX = without("langchain_community.chat_models.vertexai")
CANNOT = "cannot be imported (ModuleNotFoundError"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imported", "spoil", "said"),
    [
        ("langchain.TCVAEvaluator", without("langchain_core"), f"langchain-core {CANNOT}"),
        ("langchain.TCVAStringEvaluator", without("langchain_classic"), f"langchain-classic {CANNOT}"),
        ("langchain.TCVAMiddleware", without("langchain"), f"langchain {CANNOT}"),
        ("llamaindex.TCVAEvaluator", without("wrapt"), f"llama-index-core {CANNOT}"),
        ("deepeval.TCVAMetric", without("jinja2"), f"deepeval {CANNOT}"),
        ("deepeval.TCVAMetric", version("3.9.9"), "deepeval 3.9.9 is too old, 4.3 is needed"),
        ("ragas.TCVAMetric", NO_VERTEX, f"ragas {CANNOT}"),
        ("ragas.TCVAMetric", OLD_RAGAS, "ragas 0.3.9 is too old, 0.4.3 is needed"),
    ],
)  # fmt: skip
def test_an_unusable_framework_is_an_import_error_with_the_way_out(
    imported: str, spoil: str, said: str
) -> None:
    folder, _, name = imported.partition(".")
    done = python(f"import sys\n{spoil}\nfrom tcva_adapters.{folder} import {name}")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"tcva_adapters.errors.MissingDependencyError: {said}")
    assert f"pip install 'tcva-adapters[{folder}" in last
    assert issubclass(MissingDependencyError, ImportError)


@pytest.mark.parametrize("folder", ADAPTERS)
def test_every_public_name_is_there_and_described(folder: str) -> None:
    package = import_module(f"tcva_adapters.{folder}")
    for name in package.__all__:
        assert name in dir(package)
        assert (getattr(package, name).__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = package.nonesuch
