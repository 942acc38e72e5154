"""Files import each other in one direction, and never by a string."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tcva_adapters

PACKAGE = Path(tcva_adapters.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {_name(path): path for path in FILES}


def _imports(path: Path) -> set[str]:
    """The modules of the package that a file imports anywhere, also within its functions."""
    imported = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            imported.update(members & MODULES.keys() or {node.module})
    return (imported & MODULES.keys()) - {_name(path)}


def test_no_file_imports_itself_by_way_of_others() -> None:
    # Imports for types alone count too.
    graph = {name: _imports(path) for name, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_circle_would_be_found() -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"c"}, "c": {"a"}}).prepare()
    assert "tcva_adapters.errors" in _imports(MODULES["tcva_adapters.lazy"])


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_a_file_imports_no_module_of_the_package_by_a_string(path: Path) -> None:
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and "import_module" in ast.unparse(call.func):
            assert "tcva_adapters" not in ast.unparse(call), ast.unparse(call)
