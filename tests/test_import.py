"""Importing the package is cheap and loads no framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import pytest

import tcva_adapters
import tcva_adapters.core

HEAVY = {
    *("pydantic", "openai", "langchain_core", "langchain", "llama_index", "ragas", "deepeval"),
    *("scipy", "typer", "rich", "json_repair", "pandas", "pyarrow"),
}

CORE_MODULES = [
    f"tcva_adapters.core.{found.name}" for found in iter_modules(tcva_adapters.core.__path__)
]
CORE_NAMES = [
    name
    for name in dir(tcva_adapters)
    if getattr(getattr(tcva_adapters, name), "__module__", "").startswith("tcva_adapters.core")
]


def python(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loaded_after(code: str) -> set[str]:
    printed = python(f"import sys\n{code}\nprint(*sys.modules)")
    return {name.partition(".")[0] for name in printed.split()}


COMMAND = "from tcva_adapters.cli.app import run; run({arguments!r})"
JUDGE = """from tcva_adapters import TCVA, Sample
TCVA(judge='lexical').evaluate(Sample(response='It is open.', contexts=['It is open.']))"""


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import tcva_adapters", HEAVY | {"numpy"}),
        (JUDGE, HEAVY - {"pydantic"}),
        (COMMAND.format(arguments=["--help"]), HEAVY - {"typer", "rich"} | {"numpy", "asyncio"}),
    ],
    ids=["import", "lexical", "help"],
)
def test_what_is_not_needed_is_not_loaded(code: str, absent: set[str]) -> None:
    assert loaded_after(code).isdisjoint(absent)


def test_the_core_needs_numpy_only() -> None:
    """Every public name of the core, where nothing but numpy and the standard library is installed."""
    loaded = loaded_after(
        f"""
class NumpyAlone:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {{"numpy", "tcva_adapters", *sys.stdlib_module_names}}:
            raise ModuleNotFoundError(f"{{name}} is not installed", name=name)

sys.meta_path.insert(0, NumpyAlone())
import importlib, tcva_adapters
for module in {CORE_MODULES!r}:
    importlib.import_module(module)
for name in {CORE_NAMES!r}:
    getattr(tcva_adapters, name)
assert 0 < tcva_adapters.aggregate(["fully", "partial", "none"], temperature=0.9) < 1
"""
    )
    assert "numpy" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_module_is_the_command() -> None:
    code = "import runpy, sys; sys.argv[1:] = ['--version']; runpy.run_module('tcva_adapters')"
    assert python(code).strip() == tcva_adapters.__version__


def test_a_command_loads_what_it_needs(tmp_path: Path) -> None:
    samples = tmp_path / "samples.jsonl"
    samples.write_text('{"response": "It is open.", "contexts": ["It is open."]}\n')
    arguments = ["evaluate", str(samples), "-o", str(tmp_path / "judged.jsonl")]
    done = python(f"import sys\n{COMMAND.format(arguments=arguments)}\nprint(*sys.modules)")
    loaded = set(done.splitlines()[-1].split())
    tops = {name.partition(".")[0] for name in loaded}
    assert tops.isdisjoint(HEAVY - {"typer", "rich", "pydantic"})
    rooms = {name.split(".")[1] for name in loaded if name.startswith("tcva_adapters.")}
    assert rooms.isdisjoint({"ccrs", "langchain", "llamaindex", "ragas", "deepeval"})
    parts = ("calibration", "existing", "paper", "systems", "views")
    assert loaded.isdisjoint(f"tcva_adapters.compare.{part}" for part in parts)


def test_every_public_name_is_there_and_described() -> None:
    for name in dir(tcva_adapters):
        assert (getattr(tcva_adapters, name).__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = tcva_adapters.nonesuch  # type: ignore[attr-defined]  # that is the point
