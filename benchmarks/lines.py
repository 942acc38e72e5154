"""Lines of code of the package by room, beside the budgets in pyproject.toml: `make lines`.

Without docstrings, comments and blank lines. Fails above the ceiling that stands there; functions longer
than 80 lines are named.

Run: python -m benchmarks.lines
"""

import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Final

_PACKAGE: Final = Path("tcva_adapters")
_NO_CODE: Final = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"}
_LONGEST: Final = 80
_OTHER: Final = "in no room"


def lines_of(source: str) -> int:
    """The lines of code of a module."""
    said, lines = set[int](), set[int]()
    for node in ast.walk(ast.parse(source)):
        match node:  # texts that stand alone: those of modules, classes, functions and attributes
            case ast.Expr(value=ast.Constant(value=str())):
                said.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] not in _NO_CODE and token.start[0] not in said:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def long_functions(source: str) -> list[str]:
    """Functions that are too long, signature and docstring included."""
    nodes = ast.walk(ast.parse(source))
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = [(n.name, (n.end_lineno or n.lineno) - n.lineno + 1) for n in functions]
    return [f"{name} has {length} lines" for name, length in lengths if length > _LONGEST]


def room_of(path: Path, rooms: dict[str, Any]) -> str:
    """The room whose folder or module this is; the longest of several."""
    name = path.relative_to(_PACKAGE).as_posix()
    places = {place: room for room, settings in rooms.items() for place in settings["holds"]}
    held = [place for place in places if f"{name}/".startswith(f"{place}/")]
    return places[max(held, key=len)] if held else _OTHER


def main() -> None:
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["tcva"]
    rooms, ceiling = settings["lines"]["rooms"], settings["lines"]["ceiling"]
    lines: Counter[str] = Counter()
    long = []
    for path in sorted([*_PACKAGE.rglob("*.py"), *_PACKAGE.rglob("*.pyi")]):
        source = path.read_text(encoding="utf-8")
        lines[room_of(path, rooms)] += lines_of(source)
        long += [f"{path}: {found}" for found in long_functions(source)]
    print(f"{'room':28} budget  lines")
    for room in [*rooms, *(set(lines) - set(rooms))]:
        print(f"{room:28} {rooms.get(room, {}).get('budget', 0):6} {lines[room]:6}")
    print(f"{'all':28} {ceiling:6} {lines.total():6}")
    print(f"functions over {_LONGEST} lines: {len(long)}", *long, sep="\n")
    if lines.total() > ceiling:
        sys.exit(f"{lines.total()} lines of code; the ceiling is {ceiling}")


if __name__ == "__main__":
    main()
