"""The size of the package in syntax nodes, by room: `make size`.

Docstrings are not counted. Fails above the limit on nodes in pyproject.toml. Lines of code (without
docstrings, comments and blank lines), nodes a line and functions of more than 80 lines of code are for
information, since layout is free.

Run: python -m benchmarks.size
"""

import ast
import io
import statistics
import sys
import textwrap
import tokenize
import tomllib
from collections import Counter
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path("tcva_adapters")
_NO_CODE: Final = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"}
_LONGEST: Final = 80
_TOP: Final = "top modules"


def is_docstring(node: ast.AST) -> bool:
    """Whether a node is a text that stands alone: of a module, class, function or attribute."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def nodes_of(source: str) -> int:
    """The syntax nodes of a module; a docstring has two, its statement and its text."""
    nodes = [*ast.walk(ast.parse(source))]
    return len(nodes) - 2 * sum(map(is_docstring, nodes))


def lines_of(source: str) -> int:
    """The lines of code of a module."""
    documented, lines = set[int](), set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and is_docstring(node):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if (
            tokenize.tok_name[token.type] not in _NO_CODE
            and token.start[0] not in documented
        ):
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def long_functions(source: str) -> list[str]:
    """Functions with too many lines of code, their signature included."""
    nodes = ast.walk(ast.parse(source))
    functions = [
        n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = [
        (function.name, lines_of(textwrap.dedent(text)))
        for function in functions
        if (text := ast.get_source_segment(source, function, padded=True))
    ]
    return [
        f"{name} has {length} lines" for name, length in lengths if length > _LONGEST
    ]


def room_of(path: Path) -> str:
    """The folder of the package that a module stands in."""
    folder, *rest = path.relative_to(_PACKAGE).parts
    return folder if rest else _TOP


def main() -> None:
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))[
        "tool"
    ]["tcva"]
    limit = settings["most_nodes"]
    nodes: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    long: list[str] = []
    all_lines: list[str] = []
    for path in sorted([*_PACKAGE.rglob("*.py"), *_PACKAGE.rglob("*.pyi")]):
        source = path.read_text(encoding="utf-8")
        room = room_of(path)
        all_lines += [line.rstrip() for line in source.splitlines() if line.strip()]
        lines[room] += lines_of(source)
        if path.suffix == ".py":
            nodes[room] += nodes_of(source)
        long += [f"{path}: {function}" for function in long_functions(source)]

    widths = [len(line) for line in all_lines]
    print(f"{'room':14}  nodes  lines  nodes a line")
    for room, count in [*nodes.most_common(), ("all", nodes.total())]:
        room_lines = lines.total() if room == "all" else lines[room]
        print(f"{room:14} {count:6} {room_lines:6} {count / room_lines:13.1f}")
    print(f"limit on nodes: {limit}")
    print(f"characters a line, median: {statistics.median(widths):.0f}")
    print(f"functions over {_LONGEST} lines: {len(long)}", *long, sep="\n")
    if nodes.total() > limit:
        sys.exit(f"{nodes.total()} syntax nodes; the limit is {limit}")


if __name__ == "__main__":
    main()
