"""Every sentence that a command, an error, a column or the report's page can print, with its place.

Texts of the package are read from its syntax trees: literals with a blank, names of columns, tables
and arguments, and the docstrings of commands, which are their help. What is filled in stands as {}.
Texts of the page are read from ``web/src``; README and docs by line, without their code. What only a
model reads is left out, and so are errors that click and pydantic word, and other texts of one word.

Run: python -m benchmarks.sentences [PATH...] [--check]
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_TO_MODELS: Final = ("judges/prompts.py", "ccrs/question.py")
# Words that mean nothing to a reader of this field, and parts of sentences that nobody understood.
_FORBIDDEN: Final = re.compile(
    r"(?i)\b(told|tells?[\w ]{,9} apart|voices?|proofs?|fence[ds]?|wordings?|places|spilled|sure|trials?"
    r"|graded|worth|watch|ours|beside|leads?|handed|belongings?|brought|kept|mend(ed|s)?|jury|dials?"
    r"|house|passages?|native metrics?|by itself|otherwise than by|elsewhere|from chance"
    r"|since (this|the|\{\})|(the|of|no) judged(?= *([.,;:)]|$)))\b|^judged$|^passes from\b"
)
# Texts of prompts, which are part of every stored key.
_ALLOWED: Final = ("criteria.py passages", "metrics.py passages")
_PATHS: Final = [
    *map(Path, ("tcva_adapters", "web/src", "README.md", "CONTRIBUTING.md", "docs"))
]
_NAMED: Final = {"Column": 1, "Table": 1, "argument": 9, "option": 9}
_INLINE: Final = re.compile(r"</?(?:a|b|bdi|code|em|kbd|span|strong)\b[^>]*>")
_SHOWN: Final = re.compile(
    r'\b(?:title|label|placeholder|alt)="([^"]+)"|>([^<>]+)(?=<|$)'
)

Found = tuple[int, str]


def of_python(source: str) -> Iterator[Found]:
    """The texts of a module with their lines."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name(name), given) if name in _NAMED:
                yield from (
                    word for each in given[: _NAMED[name]] for word in _words(each)
                )
            case ast.GeneratorExp() | ast.ListComp() if "Column(" in ast.unparse(
                node.elt
            ):
                yield from _words(node.generators[0].iter)
            case ast.FunctionDef() if "Example: tcva" in (
                said := ast.get_docstring(node) or ""
            ):
                yield node.body[0].lineno, said
    yield from _literals(tree)


def _words(node: ast.AST) -> Iterator[Found]:
    """Texts of one word: `_literals` finds the others."""
    for each in ast.walk(node):
        if re.fullmatch(r"[^\W\d]\S*", text := str(getattr(each, "value", ""))):
            yield getattr(each, "lineno", 1), text.replace("_", " ")


def _literals(node: ast.AST, *, inside: bool = False) -> Iterator[Found]:
    text = _literal(node)
    if text and not inside and " " in text.strip():
        yield getattr(node, "lineno", 1), text
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Expr) and isinstance(child, ast.Constant)):
            yield from _literals(child, inside=text is not None)


def _literal(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_literal(part) or "{}" for part in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            both = _literal(left), _literal(right)
            return (
                None if both == (None, None) else "".join(side or "{}" for side in both)
            )
    return None


def of_script(source: str) -> Iterator[Found]:
    """The quoted texts of a module of the page, and what its templates show."""
    found: list[tuple[int, str]] = []
    _code(source, 0, found)
    for at, text in sorted(found):
        shown = (
            of_html(text)
            if "<" in text
            else [(1, text)]
            if re.search(r"\w \w", text)
            else ()
        )
        yield from ((source.count("\n", 0, at) + line, each) for line, each in shown)


def _code(source: str, at: int, found: list[Found]) -> int:
    """Gathers the texts from here to the end of a block; returns where it ends."""
    token = re.compile(
        r"//[^\n]*|/\*.*?\*/|([\"'])((?:\\.|(?!\1).)*)\1|[`{}]", re.DOTALL
    )
    while match := token.search(source, at):
        at = match.end()
        if match[0] == "}":
            break
        if match[0] in "{`":
            at = (_code if match[0] == "{" else _template)(source, at, found)
        elif match[2]:
            found.append((match.start(), match[2]))
    return at


def _template(source: str, start: int, found: list[Found]) -> int:
    at, text = start, ""
    while match := re.compile(r"((?:\\.|(?!\$\{)[^`\\])*)(`|\$\{)", re.DOTALL).match(
        source, at
    ):
        at, text = match.end(), text + match[1]
        if match[2] == "`":
            break
        at = _code(source, inner := at, found)
        text += "{" + "\n" * source.count("\n", inner, at) + "}"
    found.append((start, text))
    return at


def of_html(source: str) -> Iterator[Found]:
    """What a page shows, and the texts of its attributes; script and style are left out."""
    source = _INLINE.sub("", source)
    for match in _SHOWN.finditer(source):
        if re.search("[a-z]", text := match[1] or match[2]):
            yield source.count("\n", 0, match.start()) + 1, text


def of_markdown(source: str) -> Iterator[Found]:
    """The lines of a page without its code and the addresses of its links."""
    text = re.sub(
        r"(?ms)^```.*?^```$|^>>>.*?$", lambda code: "\n" * code[0].count("\n"), source
    )
    for number, line in enumerate(text.splitlines(), start=1):
        yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "{}", line)


_READERS: Final = {".py": of_python, ".js": of_script, ".md": of_markdown}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", nargs="*", type=Path, default=_PATHS)
    parser.add_argument(
        "--check", action="store_true", help="fail where a forbidden word stands"
    )
    asked = parser.parse_args()
    count, wanted = 0, _FORBIDDEN if asked.check else re.compile("")
    for path in sorted(p for root in asked.path for p in [root, *root.rglob("*")]):
        if path.suffix not in _READERS or path.as_posix().endswith(_TO_MODELS):
            continue
        for line, text in _READERS[path.suffix](path.read_text(encoding="utf-8")):
            found = wanted.search(flat := " ".join(text.split()))
            if found and not (
                asked.check and f"{path.name} {found[0].lower()}" in _ALLOWED
            ):
                count += 1
                print(f"{path}:{line}: {f'[{found[0]}] ' if asked.check else ''}{flat}")
    print(f"{count} {'forbidden' if asked.check else 'sentences'}", file=sys.stderr)
    sys.exit(bool(asked.check and count))


if __name__ == "__main__":
    main()
