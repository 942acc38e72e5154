"""Code of the package by room, beside the budgets in pyproject.toml: lines, characters, syntax nodes.

Lines without docstrings, comments and blank ones; the characters of what is left, without the white
space between; the nodes of the syntax tree. Fails above the ceiling on lines that stands there.

Run: python -m benchmarks.lines
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

_PACKAGE: Final = Path("tcva_adapters")
_NO_CODE: Final = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
_LONGEST: Final = 80
_OTHER: Final = "in no room"


class Size(NamedTuple):
    """How much code there is."""

    lines: int
    characters: int
    nodes: int


def size_of(source: str) -> Size:
    """The code of a module without what is said about it."""
    tree = ast.parse(source)
    said = list(_docstrings(tree))
    of_no_count = {
        line for text in said for line in range(text.lineno, (text.end_lineno or text.lineno) + 1)
    }
    lines: set[int] = set()
    characters = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE and token.start[0] not in of_no_count:
            lines.update(range(token.start[0], token.end[0] + 1))
            characters += len(token.string)
    nodes = sum(1 for _ in ast.walk(tree)) - 2 * len(said)
    return Size(len(lines), characters, nodes)


def _docstrings(tree: ast.AST) -> Iterator[ast.Expr]:
    """Texts that stand alone: those of modules, classes, functions and attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield node


def long_functions(source: str) -> list[tuple[str, int]]:
    """Functions over 80 lines, signature and docstring included, each with its length."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > _LONGEST:
                found.append((node.name, length))
    return found


def room_of(path: Path, rooms: dict[str, Any]) -> str:
    """The room whose folder or module this is; the longest of several."""
    name = path.relative_to(_PACKAGE).as_posix()
    found = [
        (len(place), room)
        for room, settings in rooms.items()
        for place in settings["holds"]
        if name == place or name.startswith(f"{place}/")
    ]
    return max(found, default=(0, _OTHER))[1]


def main() -> None:
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["tcva"]
    rooms, ceiling = settings["lines"]["rooms"], settings["lines"]["ceiling"]
    halves: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: dict[str, Counter[str]] = {room: Counter() for room in rooms}
    long = []
    for path in sorted([*_PACKAGE.rglob("*.py"), *_PACKAGE.rglob("*.pyi")]):
        source = path.read_text(encoding="utf-8")
        room = room_of(path, rooms)
        sizes.setdefault(room, Counter()).update(size_of(source)._asdict())
        long += [f"{path}: {name} has {length} lines" for name, length in long_functions(source)]
    print(f"{'room':28} budget  lines  characters  nodes")
    for room, size in sizes.items():
        budget, half = rooms.get(room, {}).get("budget", 0), rooms.get(room, {}).get("half", "")
        size["budget"] = budget
        for part in (half, "all"):
            halves[part].update(size)
        print(_row(room, size))
    print()
    for part, size in halves.items():
        print(_row(part or _OTHER, size))
    print(f"functions over {_LONGEST} lines: {len(long)}", *long, sep="\n")
    if halves["all"]["lines"] > ceiling:
        sys.exit(f"{halves['all']['lines']} lines of code; the ceiling is {ceiling}")


def _row(name: str, size: Counter[str]) -> str:
    return (
        f"{name:28} {size['budget']:6} {size['lines']:6} {size['characters']:11} {size['nodes']:6}"
    )


if __name__ == "__main__":
    main()
