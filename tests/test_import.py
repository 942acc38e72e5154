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


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import tcva_adapters").isdisjoint(HEAVY | {"numpy"})


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
import importlib
for module in {CORE_MODULES!r}:
    importlib.import_module(module)
import tcva_adapters
from tcva_adapters import WeightScheme, aggregate, exponent, flip_temperature, sweep
for name in {CORE_NAMES!r}:
    getattr(tcva_adapters, name)
assert 0 < aggregate(["fully", "partial", "none"], temperature=0.9) < 1
assert exponent(0.5) < exponent(0.9)
assert sweep([[2, 1, 0, 0, 0]], [0.2, 0.9], scheme=WeightScheme.DEFAULT).shape == (1, 2)
assert flip_temperature(["fully", "partial"], 0.5) is not None
"""
    )
    assert "numpy" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tcva_adapters", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == tcva_adapters.__version__


def test_a_lexical_judgement_loads_no_framework() -> None:
    loaded = loaded_after(
        "from tcva_adapters import TCVA, Sample\n"
        "TCVA().evaluate(Sample(response='It is open.', contexts=['It is open.']))"
    )
    assert loaded.isdisjoint(HEAVY - {"pydantic"})


COMMAND = "from tcva_adapters.cli.app import run; run({arguments!r})"


def test_the_list_of_commands_loads_none_of_them() -> None:
    loaded = loaded_after(COMMAND.format(arguments=["--help"]))
    assert loaded.isdisjoint((HEAVY - {"typer", "rich"}) | {"numpy", "asyncio"})


def test_a_command_loads_what_it_needs(tmp_path: Path) -> None:
    samples = tmp_path / "samples.jsonl"
    samples.write_text('{"response": "It is open.", "contexts": ["It is open."]}\n')
    arguments = ["evaluate", str(samples), "-o", str(tmp_path / "judged.jsonl")]
    script = f"import sys\n{COMMAND.format(arguments=arguments)}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {name.partition(".")[0] for name in loaded}.isdisjoint(
        HEAVY - {"typer", "rich", "pydantic"}
    )
    rooms = {name.split(".")[1] for name in loaded if name.startswith("tcva_adapters.")}
    assert rooms.isdisjoint({"ccrs", "langchain", "llamaindex", "ragas", "deepeval"})
    parts = ("calibration", "existing", "paper", "systems", "views")
    assert loaded.isdisjoint(f"tcva_adapters.compare.{part}" for part in parts)


def test_every_public_name_is_there_and_described() -> None:
    for name in dir(tcva_adapters):
        assert (getattr(tcva_adapters, name).__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = tcva_adapters.nonesuch  # type: ignore[attr-defined]  # that is the point
