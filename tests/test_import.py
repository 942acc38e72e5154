"""Importing the package is cheap and loads no framework."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tcva_adapters

HEAVY = {
    *("pydantic", "openai", "langchain_core", "langchain", "llama_index", "ragas", "deepeval"),
    *("scipy", "typer", "rich", "json_repair", "pandas", "pyarrow"),
}


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import tcva_adapters").isdisjoint(HEAVY | {"numpy"})


def test_the_core_needs_numpy_only() -> None:
    loaded = loaded_after("from tcva_adapters import aggregate; aggregate(['fully'])")
    assert "numpy" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_a_lexical_judgement_loads_no_framework() -> None:
    loaded = loaded_after(
        "from tcva_adapters import TCVA, Sample\n"
        "TCVA().evaluate(Sample(response='It is open.', contexts=['It is open.']))"
    )
    assert loaded.isdisjoint(HEAVY - {"pydantic", "json_repair"})


@pytest.mark.parametrize("name", dir(tcva_adapters))
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert (getattr(tcva_adapters, name).__doc__ or "").strip()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        tcva_adapters.nonesuch  # type: ignore[attr-defined]  # that is the point
