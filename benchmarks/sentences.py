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
_DOCSTRINGS: Final = Path("docs/reference")  # made of docstrings
# Words that mean nothing to a reader of this field, and parts of sentences that nobody understood.
_FORBIDDEN: Final = re.compile(
    r"(?i)\b(told|tells?[\w ]{,9} apart|voices?|proofs?|fence[ds]?|wordings?|places|spilled|sure|trials?"
    r"|graded|worth|watch|ours|beside|leads?|handed|belongings?|brought|kept|mend(ed|s)?|jury|dials?"
    r"|house|native metrics?|by itself|otherwise than by|from chance"
    r"|since (this|the|\{\})|(the|of|no) judged(?= *([.,;:)]|$)))\b|^judged$|^passes from\b"
)
_PATHS: Final = [
    *map(Path, ("tcva_adapters", "web/src", "README.md", "CONTRIBUTING.md", "docs"))
]
_NAMED: Final = {"Column": 1, "Table": 1, "argument": 9, "option": 9}
_INLINE: Final = re.compile(r"</?(?:a|b|bdi|code|em|kbd|span|strong)\b[^>]*>")
_SHOWN: Final = re.compile(
    r'\b(?:title|label|placeholder|alt)="([^"]+)"|>([^<>]+)(?=<|$)'
)

PlacedText = tuple[int, str]


def of_python(source: str) -> Iterator[PlacedText]:
    """The texts of a module with their lines."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name(name), arguments) if name in _NAMED:
                for argument in arguments[: _NAMED[name]]:
                    yield from _words(argument)
            case ast.GeneratorExp() | ast.ListComp() if "Column(" in ast.unparse(
                node.elt
            ):
                yield from _words(node.generators[0].iter)
            case ast.FunctionDef():
                docstring = ast.get_docstring(node) or ""
                if "Example: tcva" in docstring:
                    yield node.body[0].lineno, docstring
    yield from _literals(tree)


def _words(node: ast.AST) -> Iterator[PlacedText]:
    """Texts of one word: `_literals` finds the others."""
    for child in ast.walk(node):
        text = str(getattr(child, "value", ""))
        if re.fullmatch(r"[^\W\d]\S*", text):
            yield getattr(child, "lineno", 1), text.replace("_", " ")


def _literals(node: ast.AST, *, inside: bool = False) -> Iterator[PlacedText]:
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
            sides = [_literal(left), _literal(right)]
            if sides != [None, None]:
                return "".join(side or "{}" for side in sides)
    return None


def of_script(source: str) -> Iterator[PlacedText]:
    """The quoted texts of a module of the page, and what its templates show."""
    texts: list[tuple[int, str]] = []
    _code(source, 0, texts)
    for start, text in sorted(texts):
        first_line = source.count("\n", 0, start)
        if "<" in text:
            for line, shown in of_html(text):
                yield first_line + line, shown
        elif re.search(r"\w \w", text):
            yield first_line + 1, text


def _code(source: str, at: int, texts: list[PlacedText]) -> int:
    """Gather the texts from here to the end of a block; return where it ends."""
    token = re.compile(
        r"//[^\n]*|/\*.*?\*/|([\"'])((?:\\.|(?!\1).)*)\1|[`{}]", re.DOTALL
    )
    while match := token.search(source, at):
        at = match.end()
        if match[0] == "}":
            break
        if match[0] in "{`":
            gather = _code if match[0] == "{" else _template
            at = gather(source, at, texts)
        elif match[2]:
            texts.append((match.start(), match[2]))
    return at


def _template(source: str, start: int, texts: list[PlacedText]) -> int:
    """Gather a template from here, with {} for each of its fields; return where it ends."""
    piece = re.compile(r"((?:\\.|(?!\$\{)[^`\\])*)(`|\$\{)", re.DOTALL)
    at = start
    text = ""
    while match := piece.match(source, at):
        at = match.end()
        text += match[1]
        if match[2] == "`":
            break
        field = at
        at = _code(source, field, texts)
        text += "{" + "\n" * source.count("\n", field, at) + "}"
    texts.append((start, text))
    return at


def of_html(source: str) -> Iterator[PlacedText]:
    """What a page shows, and the texts of its attributes; script and style are left out."""
    source = _INLINE.sub("", source)
    for match in _SHOWN.finditer(source):
        text = match[1] or match[2]
        if re.search("[a-z]", text):
            yield source.count("\n", 0, match.start()) + 1, text


def of_markdown(source: str) -> Iterator[PlacedText]:
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
    arguments = parser.parse_args()
    is_check = arguments.check
    wanted = _FORBIDDEN if is_check else re.compile("")
    count = 0
    for path in sorted(p for root in arguments.path for p in [root, *root.rglob("*")]):
        if path.suffix not in _READERS or path.as_posix().endswith(_TO_MODELS):
            continue
        if path.parent == _DOCSTRINGS:
            continue
        for line, text in _READERS[path.suffix](path.read_text(encoding="utf-8")):
            sentence = " ".join(text.split())
            match = wanted.search(sentence)
            if match is None:
                continue
            count += 1
            word = f"[{match[0]}] " if is_check else ""
            print(f"{path}:{line}: {word}{sentence}")
    print(f"{count} {'forbidden' if is_check else 'sentences'}", file=sys.stderr)
    sys.exit(bool(is_check and count))


if __name__ == "__main__":
    main()
