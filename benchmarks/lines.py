"""Lines of code in the package: without docstrings, comments and blank lines.

Run: python -m benchmarks.lines [FOLDER]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
_LONGEST = 80


def code_lines(source: str) -> set[int]:
    """The numbers of the lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        # A text that stands alone is a docstring, of a module, class, function or attribute.
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def long_functions(source: str) -> list[tuple[str, int]]:
    """Functions over 80 lines, signature and docstring included, each with its length."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > _LONGEST:
                found.append((node.name, length))
    return found


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "tcva_adapters")
    rooms: Counter[str] = Counter()
    long = []
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.pyi")]):
        source = path.read_text(encoding="utf-8")
        parts = path.relative_to(root).parts
        rooms[parts[0] if len(parts) > 1 else "(top)"] += len(code_lines(source))
        long += [f"{path}: {name} has {length} lines" for name, length in long_functions(source)]
    for room, count in rooms.most_common():
        print(f"{room:12} {count:6}")
    print(f"{'all':12} {sum(rooms.values()):6} lines of code")
    print(f"functions over {_LONGEST} lines: {len(long)}")
    print(*long, sep="\n")


if __name__ == "__main__":
    main()
