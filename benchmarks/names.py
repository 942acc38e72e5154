"""Habits that make code slow to enter, counted by room of the package.

Variables with a name that says nothing of what they hold, `Any`, dicts that are built only to be splatted
into a call of the same function, lines that the formatter must skip, and our own modules imported by a string.

Run: python -m benchmarks.names [FOLDER]
"""

import ast
import sys
from collections import Counter
from pathlib import Path
from typing import Final

VAGUE: Final = frozenset({"found", "of", "said", "each", "given", "own", "how", "them"})
_HABITS: Final = ("vague names", "Any", "splats", "fmt: skip", "import by string")


def vague_names(tree: ast.AST) -> list[str]:
    """Every use of a variable or parameter whose name is vague."""
    nodes = [*ast.walk(tree)]
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    names += [node.arg for node in nodes if isinstance(node, ast.arg)]
    return [name for name in names if name in VAGUE]


def _is_dict(value: ast.expr | None) -> bool:
    match value:
        case ast.Dict() | ast.DictComp() | ast.Call(func=ast.Name(id="dict")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _is_dict(body) or _is_dict(orelse)
        case ast.BinOp(left=left, right=right):
            return _is_dict(left) or _is_dict(right)
    return False


def splats(tree: ast.AST) -> int:
    """The calls that splat a dict built in the same function, where named arguments would do."""
    calls = set[ast.keyword]()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        nodes = [*ast.walk(function)]
        dicts = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign | ast.AnnAssign) and _is_dict(node.value)
            for target in (
                node.targets if isinstance(node, ast.Assign) else [node.target]
            )
            if isinstance(target, ast.Name)
        }
        for call in nodes:
            if not isinstance(call, ast.Call):
                continue
            for argument in call.keywords:
                is_named = (
                    isinstance(argument.value, ast.Name) and argument.value.id in dicts
                )
                if argument.arg is None and (is_named or _is_dict(argument.value)):
                    calls.add(argument)
    return len(calls)


def imports_by_string(tree: ast.AST) -> int:
    """The calls of `import_module` that name a module of the package, or build such a name."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = [ast.unparse(call.func) for call in calls]
    return sum(
        name.endswith("import_module") and "tcva_adapters" in ast.unparse(call)
        for name, call in zip(functions, calls, strict=True)
    )


def main() -> None:
    package = Path(sys.argv[1] if len(sys.argv) > 1 else "tcva_adapters")
    rooms: dict[str, Counter[str]] = {}
    words: Counter[str] = Counter()
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        folder, *rest = path.relative_to(package).parts
        room = rooms.setdefault(folder if rest else "top modules", Counter())
        names = vague_names(tree)
        words.update(names)
        room["vague names"] += len(names)
        room["Any"] += sum(
            isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(tree)
        )
        room["splats"] += splats(tree)
        room["fmt: skip"] += source.count("# fmt: ")
        room["import by string"] += imports_by_string(tree)

    print(f"{'room':14}", *(f"{habit:>16}" for habit in _HABITS))
    total = sum(rooms.values(), Counter[str]())
    for name, room in [*rooms.items(), ("all", total)]:
        print(f"{name:14}", *(f"{room[habit]:16}" for habit in _HABITS))
    print("names:", ", ".join(f"{word} {count}" for word, count in words.most_common()))


if __name__ == "__main__":
    main()
