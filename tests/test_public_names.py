"""The reference of docs/api beside the names that the packages offer."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import tcva_adapters
from tcva_adapters.frameworks import REQUIREMENTS

REFERENCE = Path(__file__).parents[1] / "docs" / "api"
PACKAGES = ("", "compare", "report", "batches", "scale", "ccrs")
ADAPTERS = ("langchain", "llamaindex", "ragas", "deepeval")

DIRECTIVE = re.compile(
    r"^\.\. auto(module|class|function|data|exception):: ([\w.]+)\n((?:   :.*\n)*)",
    re.MULTILINE,
)


def offered(module: ModuleType) -> list[str]:
    """The names of a package, or those that a module itself defines."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    ]
    names: list[str] = getattr(module, "__all__", own)
    return names


def documented(adapter: str | None = None) -> Iterator[tuple[str, object]]:
    """Each entry of the reference with what it describes; of an adapter, those of its page."""
    for page in sorted(REFERENCE.glob("*.rst")):
        # Inspect is no package for development.
        others = {*ADAPTERS, "inspect"}
        if page.stem in others if adapter is None else page.stem != adapter:
            continue
        for kind, target, options in DIRECTIVE.findall(page.read_text("utf-8")):
            if kind != "module":
                home, _, name = target.rpartition(".")
                yield target, getattr(import_module(home), name)
                continue
            module = import_module(target)
            listed = re.search(r":members:(.*)", options)
            assert listed, f"{page.name}: {target} has no members"
            left_out = re.search(r":exclude-members:(.*)", options)
            names = re.findall(r"\w+", listed[1]) or offered(module)
            for name in names:
                if left_out is None or name not in left_out[1]:
                    yield f"{target}.{name}", getattr(module, name)


@pytest.mark.parametrize("package", [*PACKAGES, *ADAPTERS])
def test_the_reference_lists_each_public_name_once(package: str) -> None:
    adapter = package if package in ADAPTERS else None
    if adapter is not None:
        pytest.importorskip(REQUIREMENTS[adapter].module)
    module = import_module(f"tcva_adapters.{package}".rstrip("."))
    reference = [*documented(adapter)]
    for name in {*module.__all__} - {"__version__"}:
        value = getattr(module, name)
        entries = [entry for entry, described in reference if described is value]
        assert len(entries) == 1, f"{name}: {entries}"


def test_what_every_suite_needs_stands_at_the_top() -> None:
    names = {"Judge", "Bounds", "VerdictStore", "OpenAICompatibleModel"}
    names |= {"read_samples", "read_result", "read_results", "write_results"}
    names |= {"aggregate", "aggregate_counts"}
    assert names <= {*dir(tcva_adapters)}


def test_the_reference_lists_the_statistics_that_users_call() -> None:
    stats = import_module("tcva_adapters.stats")
    files = {path.stem for path in Path(stats.__path__[0]).glob("*.py")}
    named = {*re.findall(r"`(\w+)`", stats.__doc__ or "")} & files
    page = (REFERENCE / "stats.rst").read_text("utf-8")
    listed = re.findall(
        r"^\.\. auto\w+:: tcva_adapters\.stats\.(\w+)", page, re.MULTILINE
    )
    assert {*listed} == named
